/* The series of the motion, order by order: right sides, the solve, coefficients of the state. */
#include "integrate/taylor/taylor.h"

#include "integrate/ode/ledger.h"
#include "integrate/ode/residuals.h"
#include "linalg/dense.h"

#include <string.h>

/* ---- one order ---- */

/* Segment of one order, with its sums where k > 0. */
static void run(hmi_taylor *T, hmi_taylor_code code, int k, double *out)
{
    const hmi_jet_program *program = &T->program[code];
    if (k > 0)
        hmi_jet_execute(&T->jet, program, k, &(hmi_jet_ends){.values = out});
    else if (program->segment)
        hmi_jet_run(&T->jet, program->segment, 0);
}

/* Inputs that a program holds are constant; the others go by their defaults. */
static void run_inputs(hmi_taylor *T, int k)
{
    const hm_sim *sim = T->sim;
    size_t count = sim->system->model->inputs.count;
    const uint32_t *out = T->jet.outputs.data + T->inputs.output;
    run(T, HMI_TAYLOR_INPUTS, k, NULL);
    for (size_t i = 0; i < T->jet.symbols.count; i++) {
        const hmi_jet_symbol *s = &T->jet.symbols.data[i];
        if (s->kind < HMI_SYM_INPUT || s->kind > HMI_SYM_INPUT_RATE2)
            continue;
        size_t derivative = (size_t)(s->kind - HMI_SYM_INPUT);
        double x = hmi_jet_get(&T->jet, out[derivative * count + s->index], k);
        if (sim->given.input_set[s->index])
            x = k == 0 ? sim->given.inputs[derivative][s->index] : 0;
        hmi_jet_put(&T->jet, s->row, k, x);
    }
}

/* Orders 0 and 1; the others come by links. */
static void load_state(hmi_taylor *T, int k, const double *y)
{
    for (size_t i = 0; i < T->ode->size; i++)
        hmi_jet_put(&T->jet, T->links[i].row, k, y[i]);
}

/* The tapes, and right sides of the first motion. */
static void run_tapes(hmi_taylor *T, int k)
{
    if (T->has_inputs)
        run_inputs(T, k);
    run(T, HMI_TAYLOR_MAIN, k, T->right);
    if (T->has_residuals)
        run(T, HMI_TAYLOR_RESIDUALS, k, NULL);
}

/* Baumgarte's terms of row i at order k, as in ode.c. */
static double drift_term(const hmi_taylor *T, size_t i, int k)
{
    const hmi_ode *ode = T->ode;
    const hmi_residuals *r = ode->residuals;
    const uint32_t *out = T->jet.outputs.data + T->residuals.output;
    double rate = ode->baumgarte[0], stiffness = ode->baumgarte[1] * ode->baumgarte[1];
    double position = hmi_jet_get(&T->jet, out[i], k);
    double velocity = hmi_jet_get(&T->jet, out[r->count + i], k);
    if (r->level[i] == HM_LEVEL_POSITION)
        return 2 * rate * velocity + stiffness * position;
    return r->level[i] == HM_LEVEL_VELOCITY ? rate * velocity : 0;
}

/* T->right of order k; of the first motion run_tapes has begun it. */
static void assemble(hmi_taylor *T, const hmi_taylor_motion *m, int k)
{
    const hmi_dynamics_layout *at = &T->sim->system->at;
    double *right = T->right;
    if (k > 0 && m != T->motion)
        run(T, HMI_TAYLOR_SECOND, k, right);
    for (size_t i = 0; k == 0 && i < T->n + T->m; i++)
        right[i] = T->jet.memory[m->right[i].value];
    for (size_t i = 0; m->with_C && i < T->n; i++)
        right[i] += hmi_jet_get(&T->jet, T->out[at->C + i], k);
    for (size_t i = 0; T->has_residuals && i < T->m; i++)
        right[T->n + i] -= drift_term(T, i, k);
}

static void keep_answer(hmi_taylor *T, const hmi_taylor_motion *m, int k)
{
    for (size_t i = 0; i < T->n; i++)
        hmi_jet_put(&T->jet, m->a[i], k, m->answer[i]);
    for (size_t i = 0; i < T->m; i++)
        hmi_jet_put(&T->jet, m->mu[i], k, -m->answer[T->n + i]);
}

/* force[n] := A^T lambda at order k */
static void find_reaction(hmi_taylor *T, const hmi_taylor_motion *m, hmi_taylor_code code, int k,
                          double *force)
{
    if (k > 0)
        run(T, code, k, force);
    else
        hmi_zero((int)T->n, force);
    for (size_t j = 0; j < T->m; j++)
        hmi_axpy((int)T->n, -hmi_jet_get(&T->jet, m->mu[j], k), T->solver.A + j * T->n, force);
}

/* v.F at order k: the sum of the list is without v_0 and comes with a minus sign. */
static double power_of(hmi_taylor *T, hmi_taylor_code code, int k)
{
    const hmi_jet_list *list = T->program[code].lists;
    double sum = 0;
    if (k > 0)
        run(T, code, k, &sum);
    sum = -sum;
    for (uint32_t i = list->first; i < list->end; i++) {
        const hmi_jet_pair *p = &T->jet.pairs.data[i];
        sum += T->jet.memory[p->x] * T->jet.memory[p->y + (k > 0)];
    }
    return sum;
}

/* Rows of Qi, and of Qni = C + A^T lambda - Qi. */
static void find_reactions(hmi_taylor *T, int k)
{
    find_reaction(T, &T->motion[T->motions - 1], HMI_TAYLOR_REACTION, k, T->turning);
    for (size_t i = 0; i < T->n; i++)
        hmi_jet_put(&T->jet, T->ideal[i], k, T->turning[i]);
    if (!T->nonideal)
        return;
    find_reaction(T, &T->motion[0], HMI_TAYLOR_ALL_REACTION, k, T->turning);
    for (size_t i = 0; i < T->n; i++)
        hmi_jet_put(&T->jet, T->nonideal[i], k,
                    hmi_jet_get(&T->jet, T->out[T->sim->system->at.C + i], k) + T->turning[i] -
                        hmi_jet_get(&T->jet, T->ideal[i], k));
}

/* Powers of order k. */
static void find_powers(hmi_taylor *T, int k, double *power)
{
    const hmi_ledger *ledger = T->ode->ledger;
    const uint32_t *out = T->jet.outputs.data + T->powers.output;
    if (T->has_powers)
        run(T, HMI_TAYLOR_POWERS, k, NULL);
    if (T->ideal)
        find_reactions(T, k);
    for (size_t i = 0; i < T->works; i++) {
        if (i < ledger->tape_count)
            power[i] = hmi_jet_get(&T->jet, out[i], k);
        else if (ledger->kind[i] == HMI_POWER_IDEAL)
            power[i] = power_of(T, HMI_TAYLOR_IDEAL, k);
        else
            power[i] = power_of(T, HMI_TAYLOR_NONIDEAL, k);
    }
}

/* Rates of order 0: those of the state, then the powers. */
static void find_rates(hmi_taylor *T, double *f)
{
    for (size_t i = 0; i < T->ode->size; i++)
        f[i] = hmi_jet_get(&T->jet, T->links[i].source, 0);
    if (T->works)
        find_powers(T, 0, f + T->ode->size);
}

/* ---- order 0 ---- */

static void scatter(const hmi_taylor *T)
{
    const hm_system *system = T->sim->system;
    const hmi_expr_matrix *M = &system->derived.M, *A = &system->derived.constraints.A;
    for (size_t i = 0; i < M->rows; i++)
        for (size_t k = M->start[i]; k < M->start[i + 1]; k++) {
            double x = hmi_jet_get(&T->jet, T->out[system->at.M + k], 0);
            T->M[i * T->n + M->column.data[k]] = x;
            T->M[M->column.data[k] * T->n + i] = x;
        }
    for (size_t i = 0; i < A->rows; i++)
        for (size_t k = A->start[i]; k < A->start[i + 1]; k++)
            T->solver.A[i * T->n + A->column.data[k]] = hmi_jet_get(&T->jet,
                                                                    T->out[system->at.A + k], 0);
}

hm_status hmi_taylor_begin(hmi_taylor *T, double t, const double *y, double *f)
{
    hm_sim *sim = T->sim;
    if (T->momenta.used)
        return hmi_taylor_begin_momenta(T, t, y, f);
    T->ode->evaluations++;
    const hmi_point at = hmi_ode_point(T->ode, t, y);
    hmi_sim_refresh(sim, &at); /* parameters and held inputs may have changed */
    hmi_jet_begin(&T->jet);
    load_state(T, 0, y);
    if (T->reads_time)
        hmi_jet_put(&T->jet, T->time_row, 0, t);
    for (size_t i = 0; i < T->jet.symbols.count; i++)
        if (T->jet.symbols.data[i].kind == HMI_SYM_MODE)
            hmi_jet_put(&T->jet, T->jet.symbols.data[i].row, 0,
                        sim->tapes.modes[T->jet.symbols.data[i].index]);
    run_tapes(T, 0);
    scatter(T);
    for (int k = T->motions - 1; k >= 0; k--) {
        double *answer = T->motion[k].answer;
        assemble(T, &T->motion[k], 0);
        hm_status status = HM_OK;
        if (k == T->motions - 1)
            status = hmi_taylor_factor(&T->solver, T->M, T->right, answer);
        else
            hmi_taylor_solve(&T->solver, T->right, answer);
        if (status != HM_OK)
            return status;
        keep_answer(T, &T->motion[k], 0);
    }
    find_rates(T, f);
    return hmi_all_finite((int)T->width, f) ? HM_OK : HM_ERR_NUMERIC;
}

/* ---- the series ---- */

/* Order 1 of the state, and of time. */
static void start_series(hmi_taylor *T, const double *y, const double *f)
{
    double *first = T->Y + T->width;
    memcpy(T->Y, y, T->width * sizeof *y);
    for (size_t i = 0; i < T->width; i++)
        first[i] = T->tau * f[i];
    load_state(T, 1, first);
    if (T->reads_time)
        hmi_jet_put(&T->jet, T->time_row, 1, T->tau);
}

/* Works of order k + 1; the powers need the answer of order k. */
static void add_works(hmi_taylor *T, int k, double divisor, double *next)
{
    double power[HMI_MOST_WORKS];
    find_powers(T, k, power);
    for (size_t i = 0; i < T->works; i++)
        next[T->ode->size + i] = power[i] / divisor;
}

/* Right sides and answers of order k, powers, and works of the next. */
static void find_answers(hmi_taylor *T, int k, double *next)
{
    run_tapes(T, k);
    for (int i = 0; i < T->motions; i++) {
        hmi_taylor_motion *motion = &T->motion[i];
        assemble(T, motion, k);
        hmi_taylor_solve(&T->solver, T->right, motion->answer);
        if (i > 0 || T->works)
            keep_answer(T, motion, k);
    }
    if (T->works)
        add_works(T, k, T->jet.scale[HMI_JET_LINK], next);
}

/* Coefficients k + 1 of the state from k. */
static void raise_order(hmi_taylor *T, int k)
{
    const hmi_jet_ends ends = {.values = T->motion[0].answer,
                               .next = T->Y + (size_t)(k + 1) * T->width,
                               .scratch = T->scratch,
                               .matrix = T->solver.saddle.K};
    hmi_jet_begin_order(&T->jet, k);
    T->jet.scale[HMI_JET_LINK] = (k + 1) / T->tau;
    if (T->solver.saddle.inverted && T->program[HMI_TAYLOR_WHOLE].entry) {
        hmi_jet_execute(&T->jet, &T->program[HMI_TAYLOR_WHOLE], k, &ends);
    } else {
        find_answers(T, k, ends.next);
        hmi_jet_execute(&T->jet, &T->program[HMI_TAYLOR_KEEP], k, &ends);
    }
    if (T->reads_time)
        hmi_jet_put(&T->jet, T->time_row, 1, 0);
}

void hmi_taylor_expand(hmi_taylor *T, const double *y, const double *f)
{
    if (T->momenta.used) {
        hmi_taylor_raise_momenta(T, y);
        return;
    }
    start_series(T, y, f);
    for (int k = 1; k < T->order; k++)
        raise_order(T, k);
}

void hmi_taylor_clear(hmi_taylor *T)
{
    hmi_jet_clear(&T->jet);
    T->cleared = true;
}
