/* Finds which powers there are, evaluates them and integrates them to works. */
#include "integrate/ode/ledger.h"
#include "integrate/ode/gauss.h"

#include "dynamics/sim/motion.h"

#include <string.h>

/* ---- which powers are there? ---- */

static bool vanishes(const hmi_graph *g, hmi_expr e)
{
    return e == HMI_NONE || (hmi_is_const(g, e) && hmi_constant_of(g, e)->value == 0);
}

enum { NOT_HOMOGENEOUS = -1, MOST_VISITS = 10000 };

/* The degree of e as a homogeneous function of the velocities, as far as its form shows it. */
static int degree_in_velocities(const hmi_graph *g, hmi_expr e, int *visits)
{
    if (e == HMI_NONE || !(hmi_deps(g, e) & HMI_DEP(HMI_SYM_VELOCITY)))
        return 0;
    if (++*visits > MOST_VISITS)
        return NOT_HOMOGENEOUS;
    hmi_op op = hmi_op_of(g, e);
    if (hmi_op_arity(op) == 0)
        return 1;
    int a = degree_in_velocities(g, hmi_operand(g, e, 0), visits);
    if (op == HMI_NEG || a == NOT_HOMOGENEOUS)
        return a;
    int b = hmi_op_arity(op) > 1 ? degree_in_velocities(g, hmi_operand(g, e, 1), visits) : 0;
    if (b == NOT_HOMOGENEOUS)
        return b;
    if (op == HMI_ADD || op == HMI_SUB)
        return a == b ? a : NOT_HOMOGENEOUS;
    if (op == HMI_MUL)
        return a + b;
    return op == HMI_DIV && b == 0 ? a : NOT_HOMOGENEOUS;
}

/* Ideal forces do no work where A q' = 0 follows from the constraints, on which drift control keeps
 * the motion: at position level without time; at velocity level where psi is homogeneous of some
 * degree k in q', since A q' = k psi (Euler). Of other rows it is not known here. */
static bool ideal_forces_work(const hm_system *system, bool kept)
{
    const hm_model *model = system->model;
    const hmi_rows *rows = &system->derived.constraints;
    for (size_t k = 0; k < model->constraints.count; k++) {
        const hmi_constraint *row = &model->constraints.data[k];
        int visits = 0;
        bool homogeneous = kept && row->level == HM_LEVEL_VELOCITY &&
                           degree_in_velocities(&system->derived.graph, rows->velocity_residual[k],
                                                &visits) > 0;
        if (!homogeneous && (row->level != HM_LEVEL_POSITION || row->rheonomic))
            return true;
    }
    return false;
}

static void use(hmi_ledger *ledger, hmi_power kind)
{
    ledger->kind[ledger->count++] = kind;
}

hmi_expr hmi_ledger_expression(const hmi_ledger *ledger, const hm_system *system, size_t k)
{
    const hmi_derived *d = &system->derived;
    const hmi_expr powers[] = {d->power.impressed, d->power.dissipation, d->power.gyroscopic,
                               d->power.explicit_time};
    return powers[ledger->kind[k]];
}

hm_status hmi_ledger_compile(hmi_ledger *ledger, const hmi_graph *graph, const hmi_expr *list,
                             hmi_arena *arena)
{
    hmi_tape_release(&ledger->tape);
    ledger->tape = (hmi_tape){0};
    return hmi_run_tape(&ledger->tape, graph, list, ledger->tape_count, arena, &ledger->work);
}

static void find_powers(hmi_ledger *ledger, const hm_system *system, bool kept)
{
    const hmi_derived *d = &system->derived;
    for (int k = 0; k <= HMI_POWER_EXPLICIT_TIME; k++) {
        use(ledger, (hmi_power)k);
        if (vanishes(&d->graph, hmi_ledger_expression(ledger, system, ledger->count - 1)))
            ledger->count--;
    }
    ledger->tape_count = ledger->count;
    if (ideal_forces_work(system, kept))
        use(ledger, HMI_POWER_IDEAL);
    bool nonideal = d->has_nonideal || system->model->frictions.count > 0;
    if (nonideal)
        use(ledger, HMI_POWER_NONIDEAL);
    if (system->model->servos.count)
        use(ledger, HMI_POWER_SERVO);
    ledger->needs_solution = nonideal || system->model->servos.count > 0;
}

hm_status hmi_ledger_init(hmi_ledger *ledger, hm_sim *sim, bool kept, hmi_arena *arena)
{
    const hmi_derived *d = &sim->system->derived;
    hmi_expr list[HMI_POWERS];
    *ledger = (hmi_ledger){.tape = ledger->tape, .total = ledger->total};
    if (d->total == HMI_NONE)
        return HM_OK;
    find_powers(ledger, sim->system, kept);
    for (size_t k = 0; k < ledger->tape_count; k++)
        list[k] = hmi_ledger_expression(ledger, sim->system, k);
    hm_status status = hmi_run_tape(&ledger->tape, &d->graph, list, ledger->tape_count, arena,
                                    &ledger->work);
    size_t width = 2 * d->n + sim->system->model->states.count + HMI_MOST_WORKS;
    bool failed = false;
    ledger->state = hmi_arena_doubles(arena, width, &failed);
    ledger->rates = hmi_arena_doubles(arena, width, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    if (status != HM_OK)
        return status;
    return hmi_run_tape(&ledger->total, &d->graph, &d->total, 1, arena, &ledger->total_work);
}

void hmi_ledger_release(hmi_ledger *ledger)
{
    hmi_tape_release(&ledger->tape);
    hmi_tape_release(&ledger->total);
}

void hmi_ledger_prepare(hmi_ledger *ledger, hm_sim *sim)
{
    const hmi_tape_values values = hmi_sim_values(sim, hmi_sim_present(sim));
    if (!ledger->work)
        return;
    hmi_tape_prepare(&ledger->tape, &values, ledger->work);
    hmi_tape_prepare(&ledger->total, &values, ledger->total_work);
}

double hmi_ledger_total(hmi_ledger *ledger, hm_sim *sim, const hmi_point *at)
{
    if (!ledger->total_work)
        return 0;
    hmi_sim_refresh(sim, at);
    const hmi_tape_values values = hmi_sim_values(sim, at);
    hmi_tape_run(&ledger->total, &values, ledger->total_work);
    return hmi_tape_outputs(&ledger->total, ledger->total_work)[0];
}

/* ---- powers ---- */

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* q'.(M q'' - Q), of ideal constraints alone */
static double power_of_reactions(hm_sim *sim, const hmi_point *at)
{
    const hmi_expr_matrix *M = &sim->system->derived.M;
    if (sim->last.stale)
        hmi_sim_evaluate(sim, at);
    const double *values = hmi_sim_dynamics(sim), *entry = values + sim->system->at.M;
    double sum = -dot(at->v, values + sim->system->at.Q, M->rows);
    for (size_t i = 0; i < M->rows; i++)
        for (size_t k = M->start[i]; k < M->start[i + 1]; k++) {
            size_t j = M->column.data[k];
            sum += entry[k] * at->v[i] * sim->last.qdd[j];
            if (j != i)
                sum += entry[k] * at->v[j] * sim->last.qdd[i];
        }
    return sum;
}

static double power_of_servos(const hm_sim *sim, const hmi_point *at, const hmi_solution *solution)
{
    size_t n = sim->system->derived.n;
    double sum = 0;
    for (size_t k = 0; solution->u && k < sim->system->model->servos.count; k++)
        sum += dot(solution->u + k * n, at->v, n);
    return sum;
}

static double power_of(hm_sim *sim, const hmi_point *at, hmi_power kind,
                       const hmi_solution *solution)
{
    size_t n = sim->system->derived.n;
    switch (kind) {
    case HMI_POWER_IDEAL:
        return solution ? dot(solution->Qi, at->v, n) : power_of_reactions(sim, at);
    case HMI_POWER_NONIDEAL:
        return solution ? dot(solution->Qni, at->v, n) : 0;
    case HMI_POWER_SERVO:
        return solution ? power_of_servos(sim, at, solution) : 0;
    default:
        return 0;
    }
}

void hmi_ledger_powers(hmi_ledger *ledger, hm_sim *sim, const hmi_point *at,
                       const hmi_solution *solution, double *power)
{
    if (sim->last.by_motion && !solution) {
        const hmi_sim_motion *motion = sim->motion.used;
        memcpy(power, motion->out + motion->program.at.powers, ledger->count * sizeof *power);
        return;
    }
    if (ledger->tape_count) {
        const hmi_tape_values values = hmi_sim_values(sim, at);
        hmi_tape_run(&ledger->tape, &values, ledger->work);
        memcpy(power, hmi_tape_outputs(&ledger->tape, ledger->work),
               ledger->tape_count * sizeof *power);
    }
    for (size_t k = ledger->tape_count; k < ledger->count; k++)
        power[k] = power_of(sim, at, ledger->kind[k], solution);
}

/* ---- work ---- */

void hmi_ledger_integrate(hmi_ledger *ledger, hmi_stepper *s, double *work)
{
    const double *power = ledger->rates + s->size;
    double h = s->t - s->t_old;
    long evaluations = s->ode->evaluations;
    for (int i = 0; i < 4; i++) {
        double t = s->t_old + hmi_gauss_nodes[i] * h;
        s->method->interpolate(s, t, ledger->state);
        if (hmi_ode_evaluate_all(s->ode, t, ledger->state, ledger->rates) != HM_OK)
            continue;
        for (size_t k = 0; k < ledger->count; k++)
            work[k] += h * hmi_gauss_weights[i] * power[k];
    }
    s->ode->evaluations = evaluations; /* counted are those of the method */
}

hm_ledger hmi_ledger_view(const hmi_ledger *ledger, const double *work, double reset,
                          double impacts)
{
    double by_kind[HMI_POWERS] = {0};
    for (size_t k = 0; k < ledger->count; k++)
        by_kind[ledger->kind[k]] = work[k];
    return (hm_ledger){
        .impressed = by_kind[HMI_POWER_IMPRESSED],
        .dissipation = by_kind[HMI_POWER_DISSIPATION],
        .gyroscopic = by_kind[HMI_POWER_GYROSCOPIC],
        .ideal = by_kind[HMI_POWER_IDEAL],
        .nonideal = by_kind[HMI_POWER_NONIDEAL],
        .servo = by_kind[HMI_POWER_SERVO],
        .explicit_time = by_kind[HMI_POWER_EXPLICIT_TIME],
        .reset = reset,
        .impacts = impacts,
    };
}

double hmi_ledger_sum(const hmi_ledger *ledger, const double *work)
{
    double sum = 0;
    for (size_t k = 0; k < ledger->count; k++)
        sum += work[k];
    return sum;
}
