/* Draws random points and moves them onto the position constraints, first in double precision, then
 * in balls, with a proof (sample.h). */
#include "analyse/balls/sample.h"

#include "linalg/linalg.h"

#include <arb_mat.h>

enum { TRIES = 40, NEWTON_STEPS = 60 };

/* ---- curves ---- */

void hmi_curve_init(hmi_curve *curve, const hmi_forms *forms, size_t orders, slong precision)
{
    *curve = (hmi_curve){.size = forms->n + 1,
                         .orders = orders,
                         .signals = forms->signals,
                         .inputs = forms->model->inputs.count,
                         .precision = precision};
    curve->z = _arb_vec_init((slong)(curve->size * orders));
    curve->X = _arb_vec_init((slong)(curve->size * orders));
    curve->signal = _arb_vec_init((slong)(3 * curve->signals + 1));
}

void hmi_curve_clear(hmi_curve *curve)
{
    if (!curve->z)
        return;
    _arb_vec_clear(curve->z, (slong)(curve->size * curve->orders));
    _arb_vec_clear(curve->X, (slong)(curve->size * curve->orders));
    _arb_vec_clear(curve->signal, (slong)(3 * curve->signals + 1));
    curve->z = NULL;
}

/* u(t) = u0 + u1 (t - t0) + u2 (t - t0)^2 / 2 along t(s). */
static void fill_signal(const hmi_curve *curve, uint32_t signal, int derivative, arb_ptr out,
                        size_t k)
{
    arb_srcptr u = curve->signal + 3 * signal, t = curve->z + (curve->size - 1) * curve->orders;
    arb_zero(out);
    if (k == 0) {
        arb_set(out, u + derivative);
        return;
    }
    if (derivative == 0) {
        arb_dot(out, NULL, 0, t + 1, 1, t + (k - 1), -1, (slong)k - 1, curve->precision);
        arb_mul(out, out, u + 2, curve->precision);
        arb_mul_2exp_si(out, out, -1);
    }
    if (derivative < 2)
        arb_addmul(out, u + derivative + 1, t + k, curve->precision);
}

void hmi_curve_fill(const hmi_curve *curve, hmi_series *jet, size_t k)
{
    for (size_t i = 0; i < jet->leaves.count; i++) {
        const hmi_series_leaf *leaf = &jet->leaves.data[i];
        arb_ptr out = hmi_series_leaf_value(jet, i, k);
        switch (leaf->kind) {
        case HMI_SYM_TIME:
            arb_set(out, curve->z + (curve->size - 1) * curve->orders + k);
            break;
        case HMI_SYM_COORD:
            arb_set(out, curve->z + leaf->index * curve->orders + k);
            break;
        case HMI_SYM_VELOCITY:
            arb_set(out, curve->X + leaf->index * curve->orders + k);
            break;
        case HMI_SYM_INPUT:
        case HMI_SYM_INPUT_RATE:
        case HMI_SYM_INPUT_RATE2:
            fill_signal(curve, leaf->index, (int)(leaf->kind - HMI_SYM_INPUT), out, k);
            break;
        case HMI_SYM_STATE:
            fill_signal(curve, (uint32_t)curve->inputs + leaf->index, 0, out, k);
            break;
        default:
            arb_indeterminate(out);
            break;
        }
    }
}

void hmi_curve_evaluate(const hmi_curve *point, hmi_series *jet, slong precision)
{
    hmi_series_start(jet, 1, precision);
    hmi_curve_fill(point, jet, 0);
    hmi_series_extend(jet, 0);
}

/* ---- the sampler ---- */

double hmi_sampler_random(hmi_sampler *sampler)
{
    return ((double)(hmi_random_bits(&sampler->random) >> 34) + 0.5) * 0x1p-29 - 1;
}

static hm_status take_memory(hmi_sampler *s)
{
    hmi_arena *arena = &s->forms->arena;
    int n = (int)s->forms->n, p = (int)s->rows;
    size_t size = s->forms->n + 1;
    s->center = hmi_arena_alloc(arena, size * sizeof(double));
    s->near = hmi_arena_alloc(arena, size * sizeof(double));
    s->velocity = hmi_arena_alloc(arena, size * sizeof(double));
    s->step = hmi_arena_alloc(arena, size * sizeof(double));
    s->A = hmi_arena_alloc(arena, (s->rows * s->forms->n + 1) * sizeof(double));
    s->phi = hmi_arena_alloc(arena, (s->rows + 1) * sizeof(double));
    s->doubles = hmi_arena_alloc(arena, (hmi_cod_doubles(n, p) + 1) * sizeof(double));
    s->ints = hmi_arena_alloc(arena, (hmi_cod_ints(n, p) + 1) * sizeof(int));
    return s->center && s->near && s->velocity && s->step && s->A && s->phi && s->doubles && s->ints
               ? HM_OK
               : HM_ERR_NOMEM;
}

/* phi of every position row, then its gradient, row by row. */
static hm_status fill_jet(hmi_sampler *s)
{
    hmi_forms *forms = s->forms;
    hm_status status = HM_OK;
    for (size_t i = 0; status == HM_OK && i < s->rows; i++)
        status = hmi_series_add(&s->jet, forms->rows[s->row[i]].residual);
    for (size_t i = 0; i < s->rows; i++) {
        const hmi_form *form = &forms->rows[s->row[i]].form;
        for (size_t k = 0; status == HM_OK && k < form->count; k++)
            status = hmi_series_add(&s->jet, form->value[k]);
    }
    return status;
}

hm_status hmi_sampler_init(hmi_sampler *s, hmi_forms *forms, const double *q0, double t0)
{
    *s = (hmi_sampler){.forms = forms, .random = {20261116}, .spread = 1, .side = HMI_NONE};
    hmi_series_init(&s->jet, forms->allocator, forms->model, &forms->graph);
    hmi_series_init(&s->side_jet, forms->allocator, forms->model, &forms->graph);
    s->row = hmi_arena_alloc(&forms->arena, (forms->m + 1) * sizeof *s->row);
    if (!s->row)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < forms->m; k++)
        if (forms->rows[k].closed)
            s->row[s->rows++] = k;
    hm_status status = take_memory(s);
    if (status == HM_OK)
        status = fill_jet(s);
    for (size_t i = 0; status == HM_OK && i < forms->n; i++) {
        s->center[i] = q0[i];
        s->velocity[i] = 0;
    }
    if (status == HM_OK)
        s->center[forms->n] = t0;
    return status;
}

void hmi_sampler_release(hmi_sampler *s)
{
    if (s->forms) {
        hmi_series_release(&s->jet);
        hmi_series_release(&s->side_jet);
    }
    s->forms = NULL;
}

hm_status hmi_sampler_move(hmi_sampler *s, const double *state, double spread, hmi_expr side,
                           int sign)
{
    const uint16_t known = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_PARAM);
    hmi_forms *forms = s->forms;
    s->center[forms->n] = state[0];
    for (size_t i = 0; i < forms->n; i++) {
        s->center[i] = state[1 + i];
        s->velocity[i] = state[1 + forms->n + i];
    }
    s->spread = spread;
    s->side = sign ? side : HMI_NONE;
    s->sign = sign;
    s->side_of_point = sign && !(hmi_deps(&forms->graph, side) & ~known);
    hmi_series_release(&s->side_jet);
    hmi_series_init(&s->side_jet, forms->allocator, forms->model, &forms->graph);
    return s->side_of_point ? hmi_series_add(&s->side_jet, side) : HM_OK;
}

/* ---- onto the position constraints ---- */

/* d phi_i / dq as a dense row. *next is the first root of it in the jet, `rows` for the first row,
 * and is moved to that of the next row. */
static void gradient_row(const hmi_sampler *s, size_t i, size_t *next, arb_ptr row)
{
    const hmi_form *form = &s->forms->rows[s->row[i]].form;
    _arb_vec_zero(row, (slong)s->forms->n);
    for (size_t k = 0; k < form->count; k++, (*next)++)
        if (form->at[k] < s->forms->n)
            arb_set(row + form->at[k], hmi_series_root(&s->jet, *next, 0));
}

static double to_double(const arb_t x)
{
    return arf_get_d(arb_midref(x), ARF_RND_NEAR);
}

/* Puts the Newton step of minimum norm into s->step and returns its length. */
static double newton_step(hmi_sampler *s)
{
    hmi_cod cod;
    int n = (int)s->forms->n, p = (int)s->rows;
    size_t next = s->rows;
    arb_ptr row = _arb_vec_init(n);
    for (size_t i = 0; i < s->rows; i++) {
        double *A = s->A + i * (size_t)n;
        gradient_row(s, i, &next, row);
        for (int j = 0; j < n; j++)
            A[j] = to_double(row + j);
        double length = hmi_norm(n, A);
        s->phi[i] = length > 0 ? -to_double(hmi_series_root(&s->jet, i, 0)) / length : 0;
        for (int j = 0; j < n && length > 0; j++)
            A[j] /= length;
    }
    _arb_vec_clear(row, n);
    hmi_cod_factor(&cod, n, p, s->A, n < p ? n : p, 1e-9, s->doubles, s->ints);
    hmi_cod_solve_transposed(&cod, s->phi, s->step);
    return hmi_norm(n, s->step);
}

static void set_point(hmi_curve *point, const double *z)
{
    for (size_t i = 0; i < point->size; i++)
        arb_set_d(point->z + i * point->orders, z[i]);
}

/* Newton's method in double precision; false where it does not converge. */
static bool newton(hmi_sampler *s, hmi_curve *point)
{
    int n = (int)s->forms->n;
    for (int k = 0; k < NEWTON_STEPS; k++) {
        set_point(point, s->near);
        hmi_curve_evaluate(point, &s->jet, 64);
        if (s->jet.failed)
            return false;
        double length = newton_step(s), size = 1 + hmi_norm(n, s->near);
        if (!isfinite(length))
            return false;
        hmi_axpy(n, length > 0.5 * size ? 0.5 * size / length : 1, s->step, s->near);
        if (length < 1e-11 * size) {
            set_point(point, s->near);
            return true;
        }
    }
    return false;
}

/* ---- in balls ---- */

/* The square system of the independent rows and their pivot columns. */
typedef struct pivots {
    size_t rank;
    size_t *row, *column; /* rank each */
} pivots;

/* The Jacobian of the chosen rows and columns, and their residuals unless that is NULL. */
static void fill_system(hmi_sampler *s, const pivots *p, arb_mat_t jacobian, arb_mat_t residual)
{
    size_t next = s->rows, at = 0;
    arb_ptr row = _arb_vec_init((slong)s->forms->n);
    for (size_t i = 0; i < s->rows; i++) {
        gradient_row(s, i, &next, row);
        if (at >= p->rank || p->row[at] != i)
            continue;
        for (size_t j = 0; j < p->rank; j++)
            arb_set(arb_mat_entry(jacobian, (slong)at, (slong)j), row + p->column[j]);
        if (residual)
            arb_set(arb_mat_entry(residual, (slong)at, 0), hmi_series_root(&s->jet, i, 0));
        at++;
    }
    _arb_vec_clear(row, (slong)s->forms->n);
}

static hm_status choose_pivots(hmi_sampler *s, slong precision, pivots *p)
{
    hmi_echelon echelon;
    size_t next = s->rows, n = s->forms->n;
    hm_status status = hmi_echelon_init(&echelon, s->forms->allocator, n, s->rows < n ? s->rows : n,
                                        precision, true);
    if (status != HM_OK)
        return status;
    arb_ptr row = _arb_vec_init((slong)n);
    for (size_t i = 0; i < s->rows; i++) {
        gradient_row(s, i, &next, row);
        if (hmi_echelon_add(&echelon, row, 1) == HMI_INDEPENDENT && p->rank < echelon.rank) {
            p->row[p->rank] = i;
            p->column[p->rank] = echelon.pivot[p->rank];
            p->rank++;
        }
    }
    _arb_vec_clear(row, (slong)n);
    hmi_echelon_release(&echelon);
    return HM_OK;
}

/* Newton steps on the pivot coordinates, midpoints only. */
static bool polish(hmi_sampler *s, const pivots *p, hmi_curve *point)
{
    slong rank = (slong)p->rank;
    arb_mat_t jacobian, residual;
    bool good = true;
    arb_mat_init(jacobian, rank, rank);
    arb_mat_init(residual, rank, 1);
    for (slong bits = 40; good && bits < 4 * point->precision; bits *= 2) {
        hmi_curve_evaluate(point, &s->jet, point->precision + 20);
        fill_system(s, p, jacobian, residual);
        good = !s->jet.failed &&
               arb_mat_approx_solve(residual, jacobian, residual, point->precision + 20);
        for (slong j = 0; good && j < rank; j++) {
            arb_ptr z = point->z + p->column[j] * point->orders;
            arb_sub(z, z, arb_mat_entry(residual, j, 0), point->precision + 20);
            mag_zero(arb_radref(z));
        }
    }
    arb_mat_clear(jacobian);
    arb_mat_clear(residual);
    return good;
}

/* Krawczyk: with y the midpoint, C about J(y)^-1 and Z the box about y,
 *     K = y - C phi(y) + (I - C J(Z)) (Z - y)
 * inside Z proves a solution in K.                        [Neumaier 1990, Interval Methods, 5.1] */
static bool inside(arb_mat_t C, arb_mat_t J, arb_mat_t residual, arb_mat_t box, slong precision)
{
    slong rank = arb_mat_nrows(C);
    arb_mat_t product, move;
    bool proved = true;
    arb_mat_init(product, rank, rank);
    arb_mat_init(move, rank, 1);
    arb_mat_mul(product, C, J, precision);
    arb_mat_neg(product, product);
    for (slong i = 0; i < rank; i++)
        arb_add_ui(arb_mat_entry(product, i, i), arb_mat_entry(product, i, i), 1, precision);
    arb_mat_mul(move, product, box, precision);
    arb_mat_mul(residual, C, residual, precision);
    arb_mat_sub(move, move, residual, precision);
    for (slong i = 0; i < rank; i++)
        proved = proved &&
                 arb_contains_interior(arb_mat_entry(box, i, 0), arb_mat_entry(move, i, 0));
    arb_mat_clear(product);
    arb_mat_clear(move);
    return proved;
}

static bool prove(hmi_sampler *s, const pivots *p, hmi_curve *point)
{
    slong rank = (slong)p->rank, precision = point->precision + 20;
    arb_mat_t C, J, residual, box;
    arb_mat_init(C, rank, rank);
    arb_mat_init(J, rank, rank);
    arb_mat_init(residual, rank, 1);
    arb_mat_init(box, rank, 1);
    hmi_curve_evaluate(point, &s->jet, precision);
    fill_system(s, p, J, residual);
    bool proved = arb_mat_approx_inv(C, J, precision);
    for (slong j = 0; j < rank; j++) {
        arb_ptr z = point->z + p->column[j] * point->orders;
        arb_ptr radius = arb_mat_entry(box, j, 0);
        mag_set_d_2exp_fmpz(arb_radref(radius), 1, ARF_EXPREF(arb_midref(z)));
        mag_mul_2exp_si(arb_radref(radius), arb_radref(radius), 40 - point->precision);
        if (arf_is_special(arb_midref(z)))
            mag_set_ui_2exp_si(arb_radref(radius), 1, 40 - point->precision);
        mag_set(arb_radref(z), arb_radref(radius));
    }
    hmi_curve_evaluate(point, &s->jet, precision);
    fill_system(s, p, J, NULL);
    proved = proved && !s->jet.failed && inside(C, J, residual, box, precision);
    arb_mat_clear(C);
    arb_mat_clear(J);
    arb_mat_clear(residual);
    arb_mat_clear(box);
    return proved;
}

static hm_status settle(hmi_sampler *s, hmi_curve *point, bool *found)
{
    size_t size = (s->rows + 1) * sizeof(size_t);
    pivots p = {0, hmi_alloc(s->forms->allocator, size), hmi_alloc(s->forms->allocator, size)};
    hm_status status = p.row && p.column ? HM_OK : HM_ERR_NOMEM;
    hmi_curve_evaluate(point, &s->jet, point->precision);
    if (status == HM_OK)
        status = choose_pivots(s, point->precision, &p);
    *found = status == HM_OK && polish(s, &p, point);
    if (*found)
        point->proved = prove(s, &p, point);
    hmi_free(s->forms->allocator, p.row, size);
    hmi_free(s->forms->allocator, p.column, size);
    return status;
}

/* ---- drawing ---- */

static void draw(hmi_sampler *s, hmi_curve *point, double spread)
{
    for (size_t i = 0; i < point->size; i++)
        s->near[i] = s->center[i] +
                     spread * (0.6 + 0.4 * fabs(s->center[i])) * hmi_sampler_random(s);
    for (size_t i = 0; i < 3 * point->signals; i++)
        arb_set_d(point->signal + i, hmi_sampler_random(s));
    set_point(point, s->near);
}

/* Is the point on the side that is asked for? */
static bool on_side(hmi_sampler *s, const hmi_curve *point)
{
    if (!s->side_of_point)
        return true;
    hmi_curve_evaluate(point, &s->side_jet, point->precision);
    arb_srcptr value = hmi_series_root(&s->side_jet, 0, 0);
    return s->sign > 0 ? arb_is_positive(value) : arb_is_negative(value);
}

void hmi_sample_reject(hmi_sampler *s)
{
    s->spread *= 0.8;
}

hm_status hmi_sample(hmi_sampler *s, hmi_curve *point)
{
    bool found = false;
    double spread = s->spread;
    hm_status status = HM_OK;
    for (int k = 0; k < TRIES && !found && status == HM_OK; k++, spread *= 0.7) {
        draw(s, point, spread);
        found = point->proved = s->rows == 0;
        if (!found && newton(s, point))
            status = settle(s, point, &found);
        found = found && on_side(s, point);
    }
    return status == HM_OK && !found ? HM_ERR_NUMERIC : status;
}
