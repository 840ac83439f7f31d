/* The series of the motion by its momenta.
 *
 * M, and with it Q and b, come from p = dL/dq' by derivatives that a series does not need:
 *     p' = F + A^T lambda,   psi = 0,      F = dL/dq + impressed forces,  psi = phi' or psi,
 * and at order k, with the coefficients of q up to k and of v up to k - 1,
 *     p_k = M_0 v_k + p*_k,   psi_k = A_0 v_k + psi*_k,        p*, psi*: with v_k = 0,
 * so that  v_k = tau/k a_{k-1}  has
 *     M_0 a_{k-1} - A_0^T lambda_{k-1} = F_{k-1} + Sum_{j>=1} A_j^T lambda_{k-1-j} - k/tau p*_k,
 *     A_0 a_{k-1}                      = -k/tau psi*_k.
 * Jets of p, psi, F and A^T mu take the place of those of M, Q, A, b and of the sums over M_j a_{k-j} and
 * A_j a_{k-j}: less than half the convolutions in most models. An order is in two halves (compile/jet/jet.h):
 * p*, psi*; then v_k and all the rest. The series of -lambda stands one order late, mu_k = -lambda_{k-1},
 * mu_0 = 0: then A^T mu = d(mu.psi)/dv with mu_k = 0 is at order k the sum over lambda above.
 *
 * Sines and cosines of coordinates follow from products with their rates (hmi_jet_sincos_by_rate).
 *
 * Not for: inputs, branches that switch, Baumgarte's terms, works of constraint forces, masses that do
 * not come from a Lagrangian, constraints on accelerations.
 * Verified: test/unit/integrate/test_taylor.c
 */
#include "integrate/ode/ledger.h"
#include "integrate/taylor/taylor.h"
#include "linalg/dense.h"

#include <string.h>

/* ---- what it is for ---- */

static bool has_plain_masses(const hmi_derived *d)
{
    for (size_t k = 0; k < d->model->mass.count; k++)
        if (hmi_deps(&d->graph, d->model->mass.data[k].value) & ~HMI_DEP(HMI_SYM_PARAM))
            return false;
    return true;
}

bool hmi_taylor_has_momenta(const hmi_ode *ode)
{
    const hm_sim *sim = ode->sim;
    const hmi_derived *d = &sim->system->derived;
    const hmi_ledger *ledger = ode->ledger;
    if (sim->solve.series_options && !sim->solve.series_options->momenta)
        return false;
    if (sim->tapes.dynamics != &sim->system->dynamics || sim->system->model->inputs.count ||
        ode->residuals || d->servos.count || d->force_symbols || !has_plain_masses(d))
        return false;
    for (size_t k = 0; k < d->constraints.count; k++)
        if (d->constraints.velocity_residual[k] == HMI_NONE)
            return false;
    return !ledger || (ledger->count == ledger->tape_count &&
                       !hmi_tape_uses(&ledger->tape, HMI_SYM_ACCELERATION));
}

/* ---- rows ---- */

/* The rates of coordinates that the series has: sines and cosines of these take the short way. */
static void set_rates(hmi_taylor *T)
{
    hmi_jet *jet = &T->jet;
    const hmi_taylor_momenta *p = &T->momenta;
    for (size_t i = 0; i < T->n; i++)
        hmi_jet_set_rate(jet, p->q[hmi_taylor_coordinate(T, i)], p->late[i]);
    hmi_jet_set_rate(jet, hmi_jet_row_of(jet, HMI_SYM_TIME, 0), jet->one);
}

static hm_status add_rows(hmi_taylor *T)
{
    hmi_jet *jet = &T->jet;
    hmi_taylor_momenta *p = &T->momenta;
    bool failed = false;
    p->q = hmi_taylor_take(T, T->coordinates, sizeof *p->q, &failed);
    p->z = hmi_taylor_take(T, T->ode->states, sizeof *p->z, &failed);
    p->push = hmi_taylor_take(T, T->n, sizeof *p->push, &failed);
    p->late = hmi_taylor_take(T, T->n + T->m, sizeof *p->late, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < T->coordinates; i++)
        p->q[i] = hmi_jet_row_of(jet, HMI_SYM_COORD, (uint32_t)i);
    for (size_t i = 0; i < T->n; i++) {
        p->late[i] = hmi_jet_row_of(jet, HMI_SYM_VELOCITY, hmi_taylor_coordinate(T, i));
        p->push[i] = hmi_jet_new_row(jet, false);
    }
    for (size_t i = 0; i < T->ode->states; i++)
        p->z[i] = hmi_jet_row_of(jet, HMI_SYM_STATE, (uint32_t)i);
    for (size_t i = 0; i < T->m; i++)
        p->late[T->n + i] = hmi_jet_row_of(jet, HMI_SYM_MULTIPLIER, (uint32_t)i);
    set_rates(T);
    return jet->status;
}

static hm_status add_tapes(hmi_taylor *T)
{
    hm_status status = hmi_jet_add(&T->jet, &T->momenta.tape, T->momenta.work, &T->momenta.all);
    T->out = T->jet.outputs.data + T->momenta.all.output;
    T->time_row = hmi_jet_row_of(&T->jet, HMI_SYM_TIME, 0);
    T->reads_time = true;
    return status;
}

static void add_link(hmi_taylor *T, hmi_jet_link_kind kind, uint32_t row, uint32_t source,
                     size_t at)
{
    T->links[T->link_count++] = (hmi_jet_link){row, source, (uint32_t)at, kind};
}

/* What an order hands to the next one; forces first, whose rows may be overwritten by the others. */
static hm_status add_links(hmi_taylor *T)
{
    const size_t none = HMI_JET_NO_PLACE;
    hmi_jet *jet = &T->jet;
    const hmi_taylor_momenta *p = &T->momenta;
    size_t states = T->ode->states, nq = T->coordinates;
    bool failed = false;
    T->links = hmi_taylor_take(T, nq + T->n + states + T->works + 2 * jet->sincos_by_rate.count,
                               sizeof *T->links, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < T->n; i++)
        add_link(T, HMI_JET_COPY_LINK, p->push[i], T->out[p->force + i], none);
    for (size_t i = 0; i < T->works; i++)
        add_link(T, HMI_JET_RATE_LINK, HMI_JET_NO_PLACE, T->out[p->power + i],
                 T->width - T->works + i);
    for (size_t i = 0; i < nq; i++)
        add_link(T, HMI_JET_RATE_LINK, p->q[i], T->out[p->velocity + i], i);
    for (size_t i = 0; i < states; i++)
        add_link(T, HMI_JET_RATE_LINK, p->z[i], T->out[p->rates + i], nq + T->n + i);
    for (size_t i = 0; i < jet->sincos_by_rate.count; i++) {
        const hmi_jet_sincos_by_rate *turn = &jet->sincos_by_rate.data[i];
        add_link(T, HMI_JET_RATE_LINK, turn->sine, turn->by_cosine, none);
        add_link(T, HMI_JET_MINUS_LINK, turn->cosine, turn->by_sine, none);
    }
    return jet->status;
}

/* ---- halves, sums ---- */

/* The first half has p*, psi* and the sum over lambda. */
static hm_status split(hmi_taylor *T, bool *vanishes)
{
    bool failed = false;
    uint32_t *second = hmi_taylor_take(T, T->link_count, sizeof *second, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < T->link_count; i++)
        second[i] = T->links[i].source;
    const hmi_jet_halves halves = {.late = T->momenta.late,
                                   .late_count = T->n + T->m,
                                   .from_zero = T->m,
                                   .first = T->out,
                                   .first_count = T->momenta.force,
                                   .second = second,
                                   .second_count = T->link_count,
                                   .vanishes = vanishes};
    return hmi_jet_split(&T->jet, &halves, &T->momenta.first, &T->momenta.second);
}

static uint32_t place_of(const hmi_taylor *T, const bool *vanishes, size_t output)
{
    return vanishes[output] ? HMI_JET_NO_PLACE : hmi_jet_place(&T->jet, T->out[output]);
}

static hm_status add_sums(hmi_taylor *T, const bool *vanishes)
{
    bool failed = false;
    size_t n = T->n, m = T->m;
    hmi_jet_list *right = T->momenta.right = hmi_taylor_take(T, n + m, sizeof *right, &failed);
    for (size_t i = 0; i < n + m && !failed; i++) {
        uint32_t value = i < n ? T->momenta.push[i] : T->jet.zero_row;
        right[i] = (hmi_jet_list){.value = hmi_jet_place(&T->jet, value),
                                  .less = i < n ? place_of(T, vanishes, T->momenta.reaction + i)
                                                : HMI_JET_NO_PLACE,
                                  .rise = place_of(T, vanishes, i)};
    }
    return failed ? HM_ERR_NOMEM : T->jet.status;
}

hm_status hmi_taylor_add_momenta(hmi_taylor *T)
{
    bool failed = false;
    T->motions = 1;
    T->momenta.used = true;
    bool *vanishes = hmi_taylor_take(T, 2 * T->n + T->m, sizeof *vanishes, &failed);
    hm_status status = failed ? HM_ERR_NOMEM : hmi_taylor_compile_momentum_tape(T);
    if (status == HM_OK)
        status = hmi_taylor_place(T);
    if (status == HM_OK)
        status = add_rows(T);
    if (status == HM_OK)
        status = add_tapes(T);
    if (status == HM_OK)
        status = add_links(T);
    if (status == HM_OK)
        status = split(T, vanishes);
    return status == HM_OK ? add_sums(T, vanishes) : status;
}

hm_status hmi_taylor_compile_momenta(hmi_taylor *T)
{
    hmi_taylor_momenta *p = &T->momenta;
    hmi_jet_program rise = {.segment = &p->first, .lists = p->right, .list_count = T->n + T->m};
    hm_status status = hmi_taylor_compile(T, HMI_TAYLOR_RISE, &rise);
    rise.matrix_size = rise.list_count;
    rise.given = p->late;
    rise.given_count = T->n + T->m;
    rise.negated = T->n;
    rise.scaled = true;
    T->program[HMI_TAYLOR_RISE_WHOLE] = rise;
    bool inverted = T->n + T->m <= HMI_SADDLE_MOST_INVERTED;
    if (status == HM_OK && inverted)
        status = hmi_taylor_compile(T, HMI_TAYLOR_RISE_WHOLE, &rise);
    const hmi_jet_program complete = {
        .segment = &p->second, .handoff = true, .links = T->links, .link_count = T->link_count};
    if (status == HM_OK)
        status = hmi_taylor_compile(T, HMI_TAYLOR_COMPLETE, &complete);
    rise.second = complete.segment;
    rise.handoff = rise.closed = true;
    rise.links = complete.links;
    rise.link_count = complete.link_count;
    return status == HM_OK && inverted ? hmi_taylor_compile(T, HMI_TAYLOR_ORDER, &rise) : status;
}

/* ---- order 0 ---- */

static void scatter(const hmi_taylor *T, const double *values)
{
    const hm_system *system = T->sim->system;
    const hmi_expr_matrix *M = &system->derived.M, *A = &system->derived.constraints.A;
    for (size_t i = 0; i < M->rows; i++)
        for (size_t k = M->start[i]; k < M->start[i + 1]; k++) {
            size_t j = M->column.data[k];
            T->M[i * T->n + j] = T->M[j * T->n + i] = values[system->at.M + k];
        }
    for (size_t i = 0; i < A->rows; i++)
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
            T->solver.A[i * T->n + A->column.data[k]] = values[system->at.A + k];
}

hm_status hmi_taylor_begin_momenta(hmi_taylor *T, double t, const double *y, double *f)
{
    const hmi_dynamics_layout *at = &T->sim->system->at;
    size_t n = T->n;
    double *answer = T->motion[0].answer;
    T->momenta.t = t;
    if (T->given_velocities.used)
        return hmi_taylor_begin_given(T, t, y, f);
    T->ode->evaluations++;
    const hmi_point here = hmi_ode_point(T->ode, t, y);
    hmi_sim_evaluate(T->sim, &here);
    const double *values = hmi_sim_dynamics(T->sim);
    scatter(T, values);
    memcpy(T->right, values + at->Q, n * sizeof *T->right);
    if (T->m)
        memcpy(T->right + n, values + at->b, T->m * sizeof *T->right);
    for (size_t i = 0; T->sim->system->derived.has_nonideal && i < n; i++)
        T->right[i] += values[at->C + i];
    hm_status status = hmi_taylor_factor(&T->solver, T->M, T->right, answer);
    if (status != HM_OK)
        return status;
    memcpy(f, y + n, n * sizeof *f);
    memcpy(f + n, answer, n * sizeof *f);
    if (T->ode->states)
        memcpy(f + 2 * n, values + at->state_rates, T->ode->states * sizeof *f);
    if (T->works)
        hmi_ledger_powers(T->ode->ledger, T->sim, &here, NULL, f + T->ode->size);
    return hmi_all_finite((int)T->width, f) ? HM_OK : HM_ERR_NUMERIC;
}

/* Order 0: all of it where parameters have changed, since the last series or the one that was cleared. */
static void find_values(hmi_taylor *T)
{
    if (T->momenta.version == T->sim->tapes.version && !T->cleared) {
        hmi_jet_run_moving(&T->jet);
        return;
    }
    const hmi_tape_values values = hmi_sim_values(T->sim, hmi_sim_present(T->sim));
    hmi_tape_prepare(&T->momenta.tape, &values, T->momenta.work);
    T->momenta.version = T->sim->tapes.version;
    T->cleared = false;
    hmi_jet_begin(&T->jet);
    hmi_jet_run(&T->jet, &T->momenta.all, 0);
    hmi_jet_run(&T->jet, &T->momenta.first, 0);
}

/* Coefficients 0 of all rows at the state of the last begin, and 1 of those that follow from them. */
static void start_series(hmi_taylor *T, const double *y)
{
    hmi_jet *jet = &T->jet;
    size_t nq = T->coordinates;
    for (size_t i = 0; i < T->width; i++)
        T->Y[i] = y[T->place[i]];
    for (size_t i = 0; i < nq; i++)
        hmi_jet_put(jet, T->momenta.q[i], 0, T->Y[i]);
    for (size_t i = 0; i < T->n; i++)
        hmi_jet_put(jet, T->momenta.late[i], 0, T->Y[nq + i]);
    for (size_t i = 0; i < T->ode->states; i++)
        hmi_jet_put(jet, T->momenta.z[i], 0, T->Y[nq + T->n + i]);
    hmi_jet_put(jet, T->time_row, 0, T->momenta.t);
    hmi_jet_put(jet, T->time_row, 1, T->tau);
    find_values(T);
    for (size_t i = 0; i < T->link_count; i++) {
        const hmi_jet_link *link = &T->links[i];
        double x = hmi_jet_get(jet, link->source, 0);
        if (link->kind != HMI_JET_COPY_LINK)
            x *= link->kind == HMI_JET_MINUS_LINK ? -T->tau : T->tau;
        if (link->row != HMI_JET_NO_PLACE)
            hmi_jet_put(jet, link->row, 1, x);
        if (link->at != HMI_JET_NO_PLACE)
            T->Y[T->width + link->at] = x;
    }
}

/* ---- the orders above ---- */

/* v_k, mu_k. */
static void find_velocities(hmi_taylor *T, int k, const hmi_jet_ends *ends)
{
    if (T->solver.saddle.inverted && T->program[HMI_TAYLOR_RISE_WHOLE].entry) {
        hmi_jet_execute(&T->jet, &T->program[HMI_TAYLOR_RISE_WHOLE], k, ends);
        return;
    }
    hmi_jet_execute(&T->jet, &T->program[HMI_TAYLOR_RISE], k, &(hmi_jet_ends){.values = T->right});
    hmi_taylor_solve(&T->solver, T->right, ends->values);
    hmi_jet_give(&T->jet, &T->program[HMI_TAYLOR_RISE_WHOLE], ends);
}

/* All of order k but the last, of which v is enough. */
static void raise_order(hmi_taylor *T, int k, const hmi_jet_ends *ends)
{
    if (k == T->order) {
        find_velocities(T, k, ends);
    } else if (T->solver.saddle.inverted && T->program[HMI_TAYLOR_ORDER].entry &&
               !T->program[HMI_TAYLOR_ORDER].closed) {
        hmi_jet_execute(&T->jet, &T->program[HMI_TAYLOR_ORDER], k, ends);
    } else {
        find_velocities(T, k, ends);
        hmi_jet_execute(&T->jet, &T->program[HMI_TAYLOR_COMPLETE], k, ends);
    }
}

/* Orders one by one; begun: the inner sums of the last one are there. */
static void raise_slowly(hmi_taylor *T, int first, bool begun, hmi_jet_ends ends)
{
    double *scale = T->jet.scale, rate = 1 / T->tau; /* a power of two: nothing is rounded */
    for (int k = first; k <= T->order; k++) {
        if (!begun)
            hmi_jet_begin_order(&T->jet, k);
        scale[HMI_JET_K] = k;
        scale[HMI_JET_LINK] = (k + 1) * rate;
        scale[HMI_JET_GIVEN] = k * rate;
        scale[HMI_JET_RISE] = k * rate;
        raise_order(T, k, &ends);
        hmi_jet_put(&T->jet, T->time_row, 1, 0);
        ends.now += T->width;
        ends.next += T->width;
    }
}

void hmi_taylor_raise_momenta(hmi_taylor *T, const double *y)
{
    const hmi_jet_program *whole = &T->program[HMI_TAYLOR_ORDER];
    hmi_jet_ends ends = {.values = T->motion[0].answer,
                         .now = T->Y + T->width + T->coordinates,
                         .next = T->Y + 2 * T->width,
                         .scratch = T->scratch,
                         .matrix = T->solver.saddle.K};
    start_series(T, y);
    if (!T->solver.saddle.inverted || !hmi_jet_runs_orders(&T->jet, whole) || T->order < 3) {
        raise_slowly(T, 1, false, ends);
        return;
    }
    hmi_jet_set_unit(&T->jet, T->tau);
    hmi_jet_begin_orders(&T->jet);
    hmi_jet_execute_orders(&T->jet, whole, 1, 2, &ends, T->width);
    hmi_jet_put(&T->jet, T->time_row, 1, 0);
    ends.now += T->width;
    ends.next += T->width;
    hmi_jet_execute_orders(&T->jet, whole, 2, T->order, &ends, T->width);
    ends.now += (size_t)(T->order - 2) * T->width;
    ends.next += (size_t)(T->order - 2) * T->width;
    raise_slowly(T, T->order, true, ends);
}
