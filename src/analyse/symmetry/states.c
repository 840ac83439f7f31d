/* Draws random states and solves for their accelerations in balls (states.h). */
#include "analyse/symmetry/states.h"

#include "analyse/balls/kkt.h"

enum { TRIES = 20, NEWTON_STEPS = 40, MOST_COORDINATES = 60 };
enum { LAST_STEP = 30 }; /* log2 of Newton's last step is below LAST_STEP - precision */

/* ---- what is evaluated ---- */

const char *hmi_states_refusal(const hm_system *system)
{
    const hmi_derived *d = &system->derived;
    const uint16_t signals = HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_INPUT_RATE) |
                             HMI_DEP(HMI_SYM_INPUT_RATE2) | HMI_DEP(HMI_SYM_STATE);
    if (d->n > MOST_COORDINATES)
        return "the model has more than 60 coordinates";
    if (d->servos.count)
        return "the model has servos";
    if (d->force_symbols)
        return "forces depend on reactions";
    for (size_t k = 0; k < d->constraints.count; k++)
        if (hmi_deps(&d->graph, system->model->constraints.data[k].residual) & signals)
            return "a constraint uses an input or a state";
    return NULL;
}

static hm_status add_root(hmi_states *s, hmi_series *jet, hmi_expr e)
{
    hmi_graph *graph = &s->forms->graph;
    hmi_expr given = hmi_input_defaults_apply(&s->inputs, graph, e);
    if (given == HMI_NONE && e != HMI_NONE)
        return graph->status != HM_OK ? graph->status : HM_ERR_LIMIT;
    return hmi_series_add(jet, given);
}

static hm_status add_roots(hmi_states *s, hmi_series *jet, const hmi_expr *list, size_t count)
{
    hm_status status = HM_OK;
    for (size_t i = 0; i < count && status == HM_OK; i++)
        status = add_root(s, jet, list ? list[i] : HMI_NONE);
    return status;
}

static hm_status add_equations(hmi_states *s)
{
    const hmi_derived *d = s->derived;
    hm_status status = add_roots(s, &s->kinematics, d->constraints.velocity_residual, s->rows);
    if (status == HM_OK)
        status = add_roots(s, &s->kinematics, d->constraints.A.value.data,
                           d->constraints.A.value.count);
    if (status == HM_OK)
        status = add_roots(s, &s->motion, d->M.value.data, d->M.value.count);
    if (status == HM_OK)
        status = add_roots(s, &s->motion, d->Q, s->n);
    if (status == HM_OK)
        status = add_roots(s, &s->motion, d->C, s->n);
    if (status == HM_OK)
        status = add_roots(s, &s->motion, d->constraints.b, s->rows);
    if (status == HM_OK)
        status = add_roots(s, &s->motion, d->state_rates, s->extra);
    s->side = s->motion.roots.count;
    if (status == HM_OK && s->sampler->side != HMI_NONE)
        status = add_root(s, &s->motion, s->sampler->side);
    s->first_watched = s->motion.roots.count;
    return status;
}

hm_status hmi_states_init(hmi_states *s, hmi_sampler *sampler, slong precision)
{
    hmi_forms *forms = sampler->forms;
    const hmi_derived *d = &forms->system->derived;
    *s = (hmi_states){.sampler = sampler,
                      .forms = forms,
                      .derived = d,
                      .n = forms->n,
                      .rows = forms->m,
                      .extra = forms->model->states.count,
                      .reach = 1,
                      .precision = precision};
    hmi_arena_init(&s->arena, forms->allocator);
    hmi_input_defaults_init(&s->inputs, forms->allocator, d);
    hmi_series_init(&s->kinematics, forms->allocator, forms->model, &forms->graph);
    hmi_series_init(&s->motion, forms->allocator, forms->model, &forms->graph);
    hmi_curve_init(&s->point, forms, 1, precision);
    s->v = _arb_vec_init((slong)s->n);
    s->acceleration = _arb_vec_init((slong)s->n);
    s->lambda = _arb_vec_init((slong)s->rows);
    s->z = _arb_vec_init((slong)s->extra);
    s->z_rate = _arb_vec_init((slong)s->extra);
    s->chosen = hmi_arena_alloc(&s->arena, (s->rows + 1) * sizeof *s->chosen);
    s->pivot = hmi_arena_alloc(&s->arena, (s->rows + 1) * sizeof *s->pivot);
    return s->chosen && s->pivot ? add_equations(s) : HM_ERR_NOMEM;
}

void hmi_states_release(hmi_states *s)
{
    if (!s->forms)
        return;
    _arb_vec_clear(s->v, (slong)s->n);
    _arb_vec_clear(s->acceleration, (slong)s->n);
    _arb_vec_clear(s->lambda, (slong)s->rows);
    _arb_vec_clear(s->z, (slong)s->extra);
    _arb_vec_clear(s->z_rate, (slong)s->extra);
    hmi_curve_clear(&s->point);
    hmi_series_release(&s->kinematics);
    hmi_series_release(&s->motion);
    hmi_input_defaults_release(&s->inputs);
    hmi_arena_release(&s->arena);
    s->forms = NULL;
}

hm_status hmi_states_watch(hmi_states *s, hmi_expr e)
{
    hm_status status = add_root(s, &s->motion, e);
    s->watched += status == HM_OK;
    return status;
}

bool hmi_states_inexact(const hmi_states *s)
{
    return s->kinematics.inexact || s->motion.inexact || s->sampler->jet.inexact;
}

arb_srcptr hmi_states_value(const hmi_states *s, size_t k, size_t derivative)
{
    return hmi_series_root(&s->motion, s->first_watched + k, derivative);
}

/* ---- leaves ---- */

/* Order 0 is the state, order 1 its rate along the motion. */
static void fill_leaf(const hmi_states *s, const hmi_series_leaf *leaf, size_t order, arb_ptr out)
{
    switch (leaf->kind) {
    case HMI_SYM_TIME:
        order ? arb_one(out) : arb_set(out, s->point.z + s->n);
        break;
    case HMI_SYM_COORD:
        arb_set(out, order ? s->v + leaf->index : s->point.z + leaf->index);
        break;
    case HMI_SYM_VELOCITY:
        arb_set(out, (order ? s->acceleration : s->v) + leaf->index);
        break;
    case HMI_SYM_STATE:
        arb_set(out, (order ? s->z_rate : s->z) + leaf->index);
        break;
    default:
        arb_indeterminate(out);
        break;
    }
}

static void evaluate(const hmi_states *s, hmi_series *jet, size_t order)
{
    for (size_t i = 0; i < jet->leaves.count; i++)
        fill_leaf(s, &jet->leaves.data[i], order, hmi_series_leaf_value(jet, i, order));
    hmi_series_extend(jet, order);
}

/* ---- velocities ---- */

/* Row i of A as last evaluated. */
static void take_row(const hmi_states *s, size_t i, arb_ptr row)
{
    const hmi_expr_matrix *A = &s->derived->constraints.A;
    _arb_vec_zero(row, (slong)s->n);
    for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
        arb_set(row + A->column.data[k], hmi_series_root(&s->kinematics, s->rows + k, 0));
}

/* The independent rows and their columns. */
static hm_status choose_rows(hmi_states *s)
{
    hmi_echelon echelon;
    size_t most = s->rows < s->n ? s->rows : s->n;
    hm_status status = hmi_echelon_init(&echelon, s->forms->allocator, s->n, most, s->precision,
                                        hmi_states_inexact(s));
    s->rank = 0;
    if (status != HM_OK)
        return status;
    arb_ptr row = _arb_vec_init((slong)s->n);
    for (size_t i = 0; i < s->rows && s->rank < most; i++) {
        take_row(s, i, row);
        if (hmi_echelon_add(&echelon, row, 1) != HMI_INDEPENDENT)
            continue;
        s->chosen[s->rank] = i;
        s->pivot[s->rank] = echelon.pivot[s->rank];
        s->rank++;
    }
    _arb_vec_clear(row, (slong)s->n);
    hmi_echelon_release(&echelon);
    return HM_OK;
}

/* v := v - (pivot columns of A)^-1 residual; log2 of the step's size, NaN where there is none. */
static double correct_velocity(hmi_states *s)
{
    slong rank = (slong)s->rank;
    double size = -INFINITY;
    arb_mat_t jacobian, residual;
    arb_ptr row = _arb_vec_init((slong)s->n);
    arb_mat_init(jacobian, rank, rank);
    arb_mat_init(residual, rank, 1);
    for (slong i = 0; i < rank; i++) {
        take_row(s, s->chosen[i], row);
        arb_set(arb_mat_entry(residual, i, 0), hmi_series_root(&s->kinematics, s->chosen[i], 0));
        for (slong j = 0; j < rank; j++)
            arb_set(arb_mat_entry(jacobian, i, j), row + s->pivot[j]);
    }
    bool solved = arb_mat_approx_solve(residual, jacobian, residual, s->precision);
    for (slong j = 0; solved && j < rank; j++) {
        arb_ptr v = s->v + s->pivot[j];
        size = fmax(size, hmi_log2_above(arb_mat_entry(residual, j, 0)));
        arb_sub(v, v, arb_mat_entry(residual, j, 0), s->precision);
        mag_zero(arb_radref(v));
    }
    arb_mat_clear(jacobian);
    arb_mat_clear(residual);
    _arb_vec_clear(row, (slong)s->n);
    return solved ? size : NAN;
}

/* Newton has converged: balls wide enough to hold the exact velocities, so that what vanishes on
 * the constraint manifold contains zero. */
static void enclose_velocities(hmi_states *s)
{
    mag_t slack;
    mag_init(slack);
    mag_set_ui_2exp_si(slack, 1, LAST_STEP + 10 - s->precision);
    for (size_t j = 0; j < s->rank; j++)
        arb_add_error_mag(s->v + s->pivot[j], slack);
    mag_clear(slack);
}

/* Do the rows of A depend on velocities? Where they do not, a better velocity leaves them as they
 * are. */
static bool rows_move(const hmi_states *s)
{
    const hmi_expr_matrix *A = &s->derived->constraints.A;
    uint16_t deps = 0;
    for (size_t k = 0; k < A->value.count; k++)
        deps |= hmi_deps(&s->derived->graph, A->value.data[k]);
    return deps & HMI_DEP(HMI_SYM_VELOCITY);
}

/* Random velocities, those of the pivot columns such that the velocity rows hold. */
static hm_status draw_velocities(hmi_states *s, bool *found)
{
    for (size_t i = 0; i < s->n; i++)
        arb_set_d(s->v + i, s->sampler->velocity[i] + s->reach * hmi_sampler_random(s->sampler));
    *found = s->rows == 0;
    s->rank = 0;
    for (int k = 0; k < NEWTON_STEPS && !*found; k++) {
        hmi_series_start(&s->kinematics, 1, s->precision);
        evaluate(s, &s->kinematics, 0);
        if (s->kinematics.failed)
            return HM_OK;
        hm_status status = k == 0 || rows_move(s) ? choose_rows(s) : HM_OK;
        if (status != HM_OK)
            return status;
        double size = correct_velocity(s);
        if (isnan(size) || size > 40)
            return HM_OK;
        *found = size < LAST_STEP - (double)s->precision;
    }
    if (*found)
        enclose_velocities(s);
    return HM_OK;
}

/* ---- accelerations ---- */

/* The equations with the independent rows, as last evaluated. */
typedef struct equations {
    arb_mat_t M, A, F, b; /* F = Q + C */
} equations;

static void take_equations(const hmi_states *s, equations *eq)
{
    const hmi_expr_matrix *M = &s->derived->M;
    const hmi_series *jet = &s->motion;
    size_t n = s->n, Q = M->value.count, b = Q + 2 * n;
    arb_mat_init(eq->M, (slong)n, (slong)n);
    arb_mat_init(eq->A, (slong)s->rank, (slong)n);
    arb_mat_init(eq->F, (slong)n, 1);
    arb_mat_init(eq->b, (slong)s->rank, 1);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = M->start[i]; k < M->start[i + 1]; k++) {
            slong j = (slong)M->column.data[k];
            arb_set(arb_mat_entry(eq->M, (slong)i, j), hmi_series_root(jet, k, 0));
            arb_set(arb_mat_entry(eq->M, j, (slong)i), hmi_series_root(jet, k, 0));
        }
        arb_add(arb_mat_entry(eq->F, (slong)i, 0), hmi_series_root(jet, Q + i, 0),
                hmi_series_root(jet, Q + n + i, 0), s->precision);
    }
    for (size_t r = 0; r < s->rank; r++) {
        take_row(s, s->chosen[r], eq->A->rows[r]);
        arb_set(arb_mat_entry(eq->b, (slong)r, 0), hmi_series_root(jet, b + s->chosen[r], 0));
    }
}

static void release_equations(equations *eq)
{
    arb_mat_clear(eq->M);
    arb_mat_clear(eq->A);
    arb_mat_clear(eq->F);
    arb_mat_clear(eq->b);
}

static bool accelerate(hmi_states *s)
{
    equations eq;
    arb_mat_t qdd, lambda;
    take_equations(s, &eq);
    arb_mat_init(qdd, (slong)s->n, 1);
    arb_mat_init(lambda, (slong)s->rank, 1);
    bool solved = hmi_kkt_solve(eq.M, eq.A, eq.F, eq.b, qdd, lambda, s->precision);
    _arb_vec_zero(s->lambda, (slong)s->rows);
    for (size_t i = 0; solved && i < s->n; i++)
        arb_set(s->acceleration + i, arb_mat_entry(qdd, (slong)i, 0));
    for (size_t r = 0; solved && r < s->rank; r++)
        arb_set(s->lambda + s->chosen[r], arb_mat_entry(lambda, (slong)r, 0));
    arb_mat_clear(qdd);
    arb_mat_clear(lambda);
    release_equations(&eq);
    return solved;
}

/* Is the state on the side that the sampler is asked for? */
static bool on_side(const hmi_states *s)
{
    if (s->sampler->side == HMI_NONE)
        return true;
    arb_srcptr value = hmi_series_root(&s->motion, s->side, 0);
    return s->sampler->sign > 0 ? arb_is_positive(value) : arb_is_negative(value);
}

/* The state is drawn; false where something has no value there. */
static bool follow_motion(hmi_states *s)
{
    size_t rates = s->derived->M.value.count + 2 * s->n + s->rows;
    hmi_series_start(&s->motion, 2, s->precision);
    evaluate(s, &s->motion, 0);
    if (s->motion.failed || !on_side(s) || !accelerate(s))
        return false;
    for (size_t k = 0; k < s->extra; k++)
        arb_set(s->z_rate + k, hmi_series_root(&s->motion, rates + k, 0));
    evaluate(s, &s->motion, 1);
    return !s->motion.failed;
}

hm_status hmi_states_draw(hmi_states *s)
{
    for (int k = 0; k < TRIES; k++) {
        bool found = false;
        hm_status status = hmi_sample(s->sampler, &s->point);
        if (status != HM_OK)
            return status;
        for (size_t i = 0; i < s->extra; i++)
            arb_set_d(s->z + i, hmi_sampler_random(s->sampler));
        status = draw_velocities(s, &found);
        if (status != HM_OK)
            return status;
        if (found && follow_motion(s))
            return HM_OK;
        s->reach *= s->sampler->side == HMI_NONE ? 1 : 0.7; /* nearer, where a side is asked for */
        hmi_sample_reject(s->sampler);
    }
    return HM_ERR_NUMERIC;
}
