/* Differentiates the equations and solves them again for the derivatives of q'' and z'. */
#include "base/argument.h"
#include "dynamics/sim/motion_derivatives.h"

#include "linalg/linalg.h"

/* ---- memory ---- */

static bool allocate(hmi_slopes *s, hmi_arena *arena, const hm_system *system)
{
    size_t n = system->derived.n, m = system->derived.constraints.count;
    size_t free = s->jacobian->columns.free, inputs = system->model->inputs.count;
    bool failed = false;
    s->work = hmi_arena_doubles(arena, s->jacobian->tape.work_size, &failed);
    s->params = hmi_arena_doubles(arena, system->model->params.count, &failed);
    s->inputs = hmi_arena_doubles(arena, 3 * inputs * free, &failed);
    s->force = hmi_arena_doubles(arena, free * n, &failed);
    s->constraint = hmi_arena_doubles(arena, free * m, &failed);
    s->dqdd = hmi_arena_doubles(arena, free * n, &failed);
    s->dlambda = hmi_arena_doubles(arena, free * m, &failed);
    s->reaction = hmi_arena_doubles(arena, free * n, &failed);
    s->rates = hmi_arena_doubles(arena, free * system->model->states.count, &failed);
    s->by_reaction = hmi_arena_doubles(arena, n * n, &failed);
    s->by_multiplier = hmi_arena_doubles(arena, n * m, &failed);
    s->feedback = hmi_arena_doubles(arena, n * m, &failed);
    s->acceleration = hmi_arena_doubles(arena, n, &failed);
    s->lambda = hmi_arena_doubles(arena, m, &failed);
    s->right_n = hmi_arena_doubles(arena, n, &failed);
    s->pivots = hmi_arena_alloc(arena, n * sizeof *s->pivots);
    failed |= !s->pivots;
    s->moved = hmi_arena_doubles(arena, 2 * n + system->model->states.count, &failed);
    s->right = hmi_arena_doubles(arena, m, &failed);
    return !failed;
}

hm_status hmi_sim_prepare_derivatives(hm_sim *sim, hmi_jacobian_kind kind)
{
    const hm_system *system = sim->system;
    if (!sim->dense.dynamics)
        return HM_ERR_LIMIT;
    if (!sim->extras.derivatives) {
        sim->extras.derivatives = hmi_alloc(sim->system->allocator,
                                            sizeof *sim->extras.derivatives);
        if (!sim->extras.derivatives)
            return HM_ERR_NOMEM;
        *sim->extras.derivatives = (hmi_sim_derivatives){0};
        hmi_arena_init(&sim->extras.derivatives->arena, sim->system->allocator);
    }
    hmi_slopes *s = &sim->extras.derivatives->by[kind];
    if (s->right)
        return HM_OK;
    bool held = kind == HMI_JACOBIAN_DISCRETE && sim->tapes.held; /* values, not slopes alone */
    const hmi_derived *equations = held ? sim->tapes.held : &system->derived;
    hm_status status = s->jacobian ? HM_OK : hmi_jacobian_create(equations, kind, &s->jacobian);
    if (status == HM_OK && !allocate(s, &sim->extras.derivatives->arena, system)) {
        s->right = NULL;
        status = HM_ERR_NOMEM;
    }
    return status;
}

void hmi_sim_derivatives_destroy(hmi_sim_derivatives *derivatives)
{
    if (!derivatives)
        return;
    const hm_allocator *allocator = derivatives->arena.allocator;
    for (int kind = 0; kind < HMI_JACOBIAN_KINDS; kind++)
        hmi_jacobian_destroy(derivatives->by[kind].jacobian);
    hmi_arena_release(&derivatives->arena);
    hmi_free(allocator, derivatives, sizeof *derivatives);
}

/* ---- the tape ---- */

const double *hmi_sim_run_slopes(hm_sim *sim, const hmi_point *at, hmi_jacobian_kind kind,
                                 const double *acceleration, const double *lambda)
{
    hmi_slopes *s = &sim->extras.derivatives->by[kind];
    size_t size = sim->system->model->params.count * sizeof *s->params;
    hmi_tape_values values = hmi_sim_values(sim, at);
    values.by_kind[HMI_SYM_ACCELERATION] = acceleration;
    values.by_kind[HMI_SYM_MATRIX] = lambda;
    if (!s->prepared || (size && memcmp(s->params, sim->given.params, size) != 0)) {
        if (size)
            memcpy(s->params, sim->given.params, size);
        hmi_tape_prepare(&s->jacobian->tape, &values, s->work);
        s->prepared = true;
    }
    hmi_tape_run(&s->jacobian->tape, &values, s->work);
    return hmi_tape_outputs(&s->jacobian->tape, s->work);
}

/* to (free x rows) += weight d(block)/ds, inputs by the chain rule; constraint forces held fixed.
 * weights, by row; NULL: 1. */
static void gather_weighted(const hmi_slopes *s, hmi_block b, const double *weights, double *to)
{
    const hmi_jacobian_block *block = &s->jacobian->block[b];
    const double *value = hmi_tape_outputs(&s->jacobian->tape, s->work) + block->partial;
    const hmi_columns *columns = &s->jacobian->columns;
    size_t free = columns->free, inputs_end = columns->start[HMI_SYM_REACTION];
    for (size_t i = 0; i < block->rows; i++)
        for (size_t k = block->start[i]; k < block->start[i + 1]; k++) {
            size_t c = block->column[k];
            double t = weights ? weights[i] : 1;
            if (c < free) {
                to[c * block->rows + i] += t * value[k];
            } else if (c < inputs_end) {
                const double *du = s->inputs + (c - free) * free;
                for (size_t d = 0; d < free; d++)
                    to[d * block->rows + i] += t * value[k] * du[d];
            }
        }
}

static void gather(const hmi_slopes *s, hmi_block b, double *to)
{
    gather_weighted(s, b, NULL, to);
}

static void clear(double *x, size_t count)
{
    memset(x, 0, count * sizeof *x);
}

/* Defaults of inputs by the directions. Row c of `inputs` belongs to column free + c. */
static void gather_inputs(const hm_sim *sim, hmi_slopes *s)
{
    const hmi_jacobian_block *block = &s->jacobian->block[HMI_BLOCK_INPUT];
    const double *value = hmi_tape_outputs(&s->jacobian->tape, s->work) + block->partial;
    size_t free = s->jacobian->columns.free, inputs = sim->system->model->inputs.count;
    clear(s->inputs, 3 * inputs * free);
    for (size_t i = 0; i < block->rows; i++)
        for (size_t k = block->start[i]; k < block->start[i + 1]; k++)
            if (block->column[k] < free && !sim->given.input_set[i % inputs])
                s->inputs[i * free + block->column[k]] = value[k];
}

/* to (n x count) += d(Q or C)/d(constraint forces of a kind) */
static void gather_law(const hmi_slopes *s, hmi_block b, hmi_symbol_kind kind, size_t count,
                       double *to)
{
    const hmi_jacobian_block *block = &s->jacobian->block[b];
    const double *value = hmi_tape_outputs(&s->jacobian->tape, s->work) + block->partial;
    for (size_t i = 0; i < block->rows; i++)
        for (size_t k = block->start[i]; k < block->start[i + 1]; k++) {
            size_t j;
            if (hmi_jacobian_column(s->jacobian, kind, count, block->column[k], &j))
                to[i * count + j] += value[k];
        }
}

static bool stabilised(const double *gains)
{
    return gains && (gains[0] != 0 || gains[1] != 0);
}

/* What Baumgarte's b takes of the residuals of a row: position rows 2a phi' + b^2 phi, velocity rows
 * a psi. */
static double share(const hm_sim *sim, size_t row, hmi_block b, const double *gains)
{
    hm_level level = sim->system->model->constraints.data[row].level;
    if (b == HMI_BLOCK_POSITION)
        return level == HM_LEVEL_POSITION ? gains[1] * gains[1] : 0;
    return level == HM_LEVEL_POSITION ? 2 * gains[0] : gains[0];
}

static void gather_constraints(const hm_sim *sim, hmi_slopes *s, const double *gains)
{
    size_t m = sim->system->derived.constraints.count;
    clear(s->constraint, s->jacobian->columns.free * m);
    gather(s, HMI_BLOCK_CONSTRAINT, s->constraint);
    for (int b = HMI_BLOCK_POSITION; b <= HMI_BLOCK_VELOCITY && stabilised(gains); b++) {
        for (size_t k = 0; k < m; k++)
            s->right[k] = -share(sim, k, (hmi_block)b, gains);
        gather_weighted(s, (hmi_block)b, s->right, s->constraint);
    }
}

/* The motion at the point, with forces. */
static hm_status solve_motion(hm_sim *sim, const hmi_point *at, hmi_jacobian_kind kind,
                              const double *gains, hmi_solution *solution)
{
    const hmi_slopes *s = &sim->extras.derivatives->by[kind];
    hmi_sim_evaluate(sim, at);
    if (stabilised(gains)) {
        const double *values = hmi_sim_run_slopes(sim, at, kind, NULL, NULL);
        double *b = hmi_sim_dynamics(sim) + sim->system->at.b;
        for (size_t k = 0; k < sim->system->derived.constraints.count; k++)
            for (int c = HMI_BLOCK_POSITION; c <= HMI_BLOCK_VELOCITY; c++)
                b[k] -= share(sim, k, (hmi_block)c, gains) *
                        values[s->jacobian->block[c].value + k];
    }
    return hmi_sim_accelerate_here(sim, at, solution);
}

/* ---- laws ---- */

/* The motion without C: M a0 = Q + A^T lambda0, A a0 = A q''. */
static hm_status ideal_motion(hm_sim *sim, hmi_slopes *s, const double *Q, const double *qdd)
{
    int n = (int)sim->system->derived.n, m = (int)sim->system->derived.constraints.count;
    hmi_matvec(m, n, sim->dense.A, qdd, s->right);
    const hmi_directions motion = {.count = 1, .force = Q, .constraint = s->right};
    return hmi_dynamics_derivative(sim->dense.dynamics, &motion, s->acceleration, s->lambda);
}

/* dqdd, dlambda and dQi/ds of the problem without C. Leaves dQi/ds in `reaction`. */
static hm_status differentiate_ideal(hm_sim *sim, const hmi_point *at, hmi_jacobian_kind kind,
                                     hmi_slopes *s, const double *gains)
{
    size_t n = sim->system->derived.n, m = sim->system->derived.constraints.count;
    size_t free = s->jacobian->columns.free;
    hmi_sim_run_slopes(sim, at, kind, s->acceleration, s->lambda);
    clear(s->force, free * n);
    clear(s->reaction, free * n);
    gather(s, HMI_BLOCK_FORCE, s->force);
    gather(s, HMI_BLOCK_REACTION, s->reaction);
    gather_constraints(sim, s, gains);
    const hmi_directions all = {.count = (int)free, .force = s->force, .constraint = s->constraint};
    hm_status status = hmi_dynamics_derivative(sim->dense.dynamics, &all, s->dqdd, s->dlambda);
    for (size_t d = 0; d < free; d++)
        hmi_mul_transposed((int)m, (int)n, 1, sim->dense.A, s->dlambda + d * m,
                           s->reaction + d * n);
    return status;
}

/* force += dC/d(reaction) dQi/ds + dC/d(multiplier) dlambda/ds */
static void add_ideal_law(hm_sim *sim, hmi_slopes *s)
{
    size_t n = sim->system->derived.n, m = sim->system->derived.constraints.count;
    clear(s->by_reaction, n * n);
    clear(s->by_multiplier, n * m);
    gather_law(s, HMI_BLOCK_NONIDEAL, HMI_SYM_REACTION, n, s->by_reaction);
    gather_law(s, HMI_BLOCK_NONIDEAL, HMI_SYM_MULTIPLIER, m, s->by_multiplier);
    for (size_t d = 0; d < s->jacobian->columns.free; d++)
        for (size_t i = 0; i < n; i++)
            s->force[d * n + i] += hmi_dot((int)n, s->by_reaction + i * n, s->reaction + d * n) +
                                   hmi_dot((int)m, s->by_multiplier + i * m, s->dlambda + d * m);
}

/* feedback = d(Q + C)/d lambda with total_reaction = A^T lambda; force += its part at fixed lambda */
static void add_total_law(hm_sim *sim, hmi_slopes *s)
{
    size_t n = sim->system->derived.n, m = sim->system->derived.constraints.count;
    size_t free = s->jacobian->columns.free;
    clear(s->by_reaction, n * n);
    clear(s->feedback, n * m);
    clear(s->reaction, free * n);
    for (int b = HMI_BLOCK_FORCE; b <= HMI_BLOCK_NONIDEAL; b++) {
        gather_law(s, (hmi_block)b, HMI_SYM_TOTAL_REACTION, n, s->by_reaction);
        gather_law(s, (hmi_block)b, HMI_SYM_TOTAL_MULTIPLIER, m, s->feedback);
    }
    gather(s, HMI_BLOCK_REACTION, s->reaction);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < m; k++)
            s->feedback[i * m + k] += hmi_dot((int)n, s->by_reaction + i * n, sim->dense.A + k * n);
        for (size_t d = 0; d < free; d++)
            s->force[d * n + i] += hmi_dot((int)n, s->by_reaction + i * n, s->reaction + d * n);
    }
}

/* ---- the derivative ---- */

static bool uses_total(const hm_sim *sim)
{
    return sim->system->derived.force_symbols &
           (HMI_DEP(HMI_SYM_TOTAL_REACTION) | HMI_DEP(HMI_SYM_TOTAL_MULTIPLIER));
}

static bool uses_ideal(const hm_sim *sim)
{
    return sim->system->derived.force_symbols &
           (HMI_DEP(HMI_SYM_REACTION) | HMI_DEP(HMI_SYM_MULTIPLIER));
}

/* Rows of q'' and z' from the directions. */
static hm_status write_rows(const hm_sim *sim, const hmi_slopes *s, double *J)
{
    size_t n = sim->system->derived.n, states = sim->system->model->states.count;
    size_t free = s->jacobian->columns.free;
    for (size_t d = 0; d < free; d++) {
        for (size_t i = 0; i < n; i++)
            J[i * free + d] = s->dqdd[d * n + i];
        for (size_t i = 0; i < states; i++)
            J[(n + i) * free + d] = s->rates[d * states + i];
    }
    return hmi_all_finite((int)((n + states) * free), J) ? HM_OK : HM_ERR_NUMERIC;
}

static hm_status differentiate(hm_sim *sim, const hmi_point *at, hmi_jacobian_kind kind,
                               const double *gains, double *J)
{
    hmi_slopes *s = &sim->extras.derivatives->by[kind];
    size_t n = sim->system->derived.n, free = s->jacobian->columns.free;
    hmi_solution solution;
    hm_status status = solve_motion(sim, at, kind, gains, &solution);
    if (status != HM_OK)
        return status;
    hmi_sim_run_slopes(sim, at, kind, sim->last.qdd, sim->last.total_multiplier);
    gather_inputs(sim, s);
    if (uses_ideal(sim)) {
        status = ideal_motion(sim, s, solution.Q, sim->last.qdd);
        if (status == HM_OK)
            status = differentiate_ideal(sim, at, kind, s, gains);
        if (status != HM_OK)
            return status;
        hmi_sim_run_slopes(sim, at, kind, sim->last.qdd, sim->last.total_multiplier);
    }
    clear(s->force, free * n);
    gather(s, HMI_BLOCK_FORCE, s->force);
    gather(s, HMI_BLOCK_NONIDEAL, s->force);
    gather_constraints(sim, s, gains);
    clear(s->rates, free * s->jacobian->block[HMI_BLOCK_STATE].rows);
    gather(s, HMI_BLOCK_STATE, s->rates);
    if (uses_ideal(sim))
        add_ideal_law(sim, s);
    if (uses_total(sim))
        add_total_law(sim, s);
    const hmi_directions all = {.count = (int)free,
                                .force = s->force,
                                .constraint = s->constraint,
                                .feedback = uses_total(sim) ? s->feedback : NULL};
    status = hmi_dynamics_derivative(sim->dense.dynamics, &all, s->dqdd, NULL);
    return status == HM_OK ? write_rows(sim, s, J) : status;
}

/* ---- differences, where the chain rule is not worked out ---- */

/* A point that may be moved, in the memory of the derivatives. */
typedef struct moving_point {
    hmi_point at;
    double *q, *v, *z;
} moving_point;

static moving_point copy_point(const hm_sim *sim, const hmi_point *at, double *memory)
{
    size_t n = sim->system->derived.n, states = sim->system->model->states.count;
    moving_point p = {.q = memory, .v = memory + n, .z = memory + 2 * n};
    memcpy(p.q, at->q, n * sizeof *memory);
    memcpy(p.v, at->v, n * sizeof *memory);
    memcpy(p.z, at->z, states * sizeof *memory);
    p.at = (hmi_point){at->t, p.q, p.v, p.z};
    return p;
}

static double *variable(hm_sim *sim, moving_point *p, hmi_jacobian_kind kind, size_t d)
{
    size_t n = sim->system->derived.n, states = sim->system->model->states.count;
    size_t inputs = sim->system->model->inputs.count;
    if (kind == HMI_JACOBIAN_PARAM)
        return &sim->given.params[d];
    if (kind == HMI_JACOBIAN_INPUT)
        return &sim->given.inputs[d / inputs][d % inputs];
    if (d < 2 * n)
        return d < n ? &p->q[d] : &p->v[d - n];
    return d < 2 * n + states ? &p->z[d - 2 * n] : &p->at.t;
}

/* column (n + states values, `step` apart) += t (q'', z') with the variable moved by h */
static hm_status add_moved(hm_sim *sim, const hmi_point *at, double *x, double h, double t,
                           double *column, size_t step)
{
    size_t n = sim->system->derived.n, states = sim->system->model->states.count;
    double kept = *x;
    *x += h;
    sim->tapes.prepared = false;
    hm_status status = hmi_sim_accelerate(sim, at, NULL);
    const double *rates = hmi_sim_state_rates(sim);
    for (size_t i = 0; i < n; i++)
        column[i * step] += t * sim->last.qdd[i];
    for (size_t i = 0; i < states; i++)
        column[(n + i) * step] += t * rates[i];
    *x = kept;
    sim->tapes.prepared = false;
    return status;
}

/* (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h */
static hm_status difference(hm_sim *sim, const hmi_point *at, hmi_jacobian_kind kind, double *J)
{
    static const double moves[4] = {-2, -1, 1, 2}, weights[4] = {1, -8, 8, -1};
    const hmi_slopes *s = &sim->extras.derivatives->by[kind];
    size_t free = s->jacobian->columns.free;
    size_t rows = sim->system->derived.n + sim->system->model->states.count;
    moving_point p = copy_point(sim, at, s->moved);
    hm_status status = HM_OK;
    clear(J, rows * free);
    for (size_t d = 0; d < free && status == HM_OK; d++) {
        double *x = variable(sim, &p, kind, d);
        double h = hmi_power_of_two(1 / (1e-3 * fmax(fabs(*x), 1e-2)));
        for (int k = 0; k < 4 && status == HM_OK; k++)
            status = add_moved(sim, &p.at, x, moves[k] * h, weights[k] / (12 * h), J + d, free);
    }
    hm_status last = hmi_sim_accelerate(sim, at, NULL);
    return status == HM_OK ? last : status;
}

bool hmi_sim_jacobian_is_exact(const hm_sim *sim)
{
    return sim->system->model->servos.count == 0 && !(uses_ideal(sim) && uses_total(sim));
}

static hm_status derive(hm_sim *sim, const hmi_point *at, hmi_jacobian_kind kind,
                        const double *gains, double *J)
{
    hm_status status = hmi_sim_prepare_derivatives(sim, kind);
    if (status != HM_OK)
        return status;
    return hmi_sim_jacobian_is_exact(sim) ? differentiate(sim, at, kind, gains, J)
                                          : difference(sim, at, kind, J);
}

hm_status hmi_sim_jacobian(hm_sim *sim, const hmi_point *at, const double *gains, double *J)
{
    return derive(sim, at, HMI_JACOBIAN_STATE, gains, J);
}

hm_status hmi_sim_input_jacobian(hm_sim *sim, const hmi_point *at, double *J)
{
    return derive(sim, at, HMI_JACOBIAN_INPUT, NULL, J);
}

hm_status hm_sim_param_derivatives(hm_sim *sim, double *derivative)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && !sim->in_callback && (derivative),
                 "a place for the answer is needed; no call from a callback of the sim");
    return derive(sim, hmi_sim_present(sim), HMI_JACOBIAN_PARAM, NULL, derivative);
}

static hm_status residuals_by(hm_sim *sim, const hmi_point *at, hmi_jacobian_kind kind,
                              double *residual, double *C)
{
    static const hmi_block blocks[2] = {HMI_BLOCK_POSITION, HMI_BLOCK_VELOCITY};
    hm_status status = hmi_sim_prepare_derivatives(sim, kind);
    if (status != HM_OK)
        return status;
    hmi_slopes *s = &sim->extras.derivatives->by[kind];
    size_t m = sim->system->derived.constraints.count, free = s->jacobian->columns.free;
    hmi_sim_refresh(sim, at);
    const double *out = hmi_sim_run_slopes(sim, at, kind, sim->last.qdd,
                                           sim->last.total_multiplier);
    gather_inputs(sim, s);
    for (size_t k = 0; k < 2; k++) {
        hmi_copy((int)m, out + s->jacobian->block[blocks[k]].value, residual + k * m);
        if (!C)
            continue;
        clear(s->constraint, free * m);
        gather(s, blocks[k], s->constraint);
        for (size_t i = 0; i < m; i++)
            for (size_t d = 0; d < free; d++)
                C[(k * m + i) * free + d] = s->constraint[d * m + i];
    }
    return hmi_all_finite((int)(2 * m), residual) ? HM_OK : HM_ERR_NUMERIC;
}

hm_status hmi_sim_residual_jacobian(hm_sim *sim, const hmi_point *at, double *residual, double *C)
{
    return residuals_by(sim, at, HMI_JACOBIAN_STATE, residual, C);
}

hm_status hmi_sim_residual_by_inputs(hm_sim *sim, const hmi_point *at, double *residual, double *C)
{
    return residuals_by(sim, at, HMI_JACOBIAN_INPUT, residual, C);
}
