/* From the numbers of the tapes to the answer: the solve behind hm_sim_evaluate, and what is said
 * when there is none. */
#include "dynamics/sim/compiled.h"
#include "dynamics/sim/large.h"
#include "dynamics/sim/sim.h"
#include "dynamics/sim/dirac.h"
#include "dynamics/sim/motion.h"

#include <math.h>
#include <string.h>

hm_evaluate_options hm_evaluate_options_default(void)
{
    return (hm_evaluate_options){.formulation = HM_FORMULATION_AUTO, .compare = true};
}

/* ---- memory ---- */

/* Flags of the actuated coordinates; rows point into the dense matrix. */
static bool prepare_servos(hm_sim *sim)
{
    const hm_model *model = sim->system->model;
    size_t n = sim->system->derived.n, row = 0;
    sim->servos = hmi_arena_alloc(&sim->arena, (model->servos.count + 1) * sizeof *sim->servos);
    if (!sim->servos)
        return false;
    for (size_t s = 0; s < model->servos.count; s++) {
        const hmi_servo_group *group = &model->servos.data[s];
        bool *actuated = hmi_arena_alloc(&sim->arena, n + 1);
        size_t first = row;
        if (!actuated)
            return false;
        for (size_t i = 0; i < group->actuated_count; i++)
            actuated[group->actuated[i]] = true;
        while (row < model->servo_rows.count && model->servo_rows.data[row].servo == s)
            row++;
        const double *out = hmi_tape_outputs(sim->dynamics_tape, sim->dynamics_work);
        bool lyapunov = group->law == HMI_LAW_LYAPUNOV;
        sim->servos[s] = (hmi_servo){
            .rows = (int)(row - first),
            .A = sim->servo_A + first * n,
            .b = out + sim->system->at.servo_b + first,
            .b_free = lyapunov ? out + sim->system->at.servo_b_free + first : NULL,
            .actuated = actuated,
        };
    }
    return true;
}

/* The servos' right sides are read where the dynamics tape writes them. */
static void follow_tape(hm_sim *sim, const double *old)
{
    const double *out = hmi_tape_outputs(sim->dynamics_tape, sim->dynamics_work);
    for (size_t s = 0; s < sim->system->model->servos.count && sim->servos; s++) {
        hmi_servo *servo = &sim->servos[s];
        servo->b = out + (servo->b - old);
        if (servo->b_free)
            servo->b_free = out + (servo->b_free - old);
    }
}

void hmi_sim_use_tapes(hm_sim *sim, const hmi_tape *dynamics, double *dynamics_work,
                       const hmi_tape *law, double *law_work, const double *modes)
{
    const double *old = hmi_tape_outputs(sim->dynamics_tape, sim->dynamics_work);
    sim->dynamics_tape = dynamics ? dynamics : &sim->system->dynamics;
    sim->dynamics_work = dynamics ? dynamics_work : sim->own_dynamics_work;
    sim->law_tape = law ? law : &sim->system->law;
    sim->law_work = law ? law_work : sim->own_law_work;
    sim->modes = modes;
    sim->motion = dynamics ? NULL : sim->own_motion; /* a run brings one that knows the modes */
    sim->by_motion = false;
    sim->prepared = false;
    follow_tape(sim, old);
}

void hmi_sim_use_inputs(hm_sim *sim, const hmi_tape *inputs, double *inputs_work)
{
    sim->inputs_tape = inputs ? inputs : &sim->system->inputs;
    sim->inputs_work = inputs ? inputs_work : sim->own_inputs_work;
    sim->prepared = false;
}

hm_status hmi_sim_prepare_solve(hm_sim *sim)
{
    const hmi_derived *d = &sim->system->derived;
    const hm_model *model = sim->system->model;
    size_t n = d->n, m = d->constraints.count, servo_rows = model->servo_rows.count;
    if (n > HM_MOST_DENSE || m > 4 * HM_MOST_DENSE)
        return HM_OK;
    sim->M = hmi_arena_alloc(&sim->arena, n * n * sizeof *sim->M);
    sim->A = hmi_arena_alloc(&sim->arena, (m * n + 1) * sizeof *sim->A);
    sim->servo_A = hmi_arena_alloc(&sim->arena, (servo_rows * n + 1) * sizeof *sim->servo_A);
    sim->v_given = hmi_arena_alloc(&sim->arena, n * sizeof *sim->v_given);
    if (!sim->M || !sim->A || !sim->servo_A || !sim->v_given || !prepare_servos(sim))
        return HM_ERR_NOMEM;
    const hmi_dynamics_size size = {.n = (int)n,
                                    .m = (int)m,
                                    .servos = (int)model->servos.count,
                                    .servo_rows = (int)servo_rows,
                                    .compare = true};
    return hmi_dynamics_create(sim->system->allocator, &size, &sim->dynamics);
}

/* ---- laws that use constraint forces ---- */

static int evaluate_law(void *user, const hmi_reactions *reactions, double *Q, double *C)
{
    hm_sim *sim = user;
    size_t n = sim->system->derived.n;
    hmi_tape_values values = hmi_sim_values(sim);
    values.by_kind[HMI_SYM_REACTION] = reactions->reaction;
    values.by_kind[HMI_SYM_MULTIPLIER] = reactions->multiplier;
    values.by_kind[HMI_SYM_TOTAL_REACTION] = reactions->total_reaction;
    values.by_kind[HMI_SYM_TOTAL_MULTIPLIER] = reactions->total_multiplier;
    hmi_tape_run(sim->law_tape, &values, sim->law_work);
    const double *out = hmi_tape_outputs(sim->law_tape, sim->law_work);
    memcpy(Q, out, n * sizeof *Q);
    memcpy(C, out + n, n * sizeof *C);
    for (size_t i = 0; i < 2 * n; i++)
        if (!isfinite(out[i]))
            return 1;
    return 0;
}

/* ---- what went wrong, in the user's words ---- */

/* "x'' - 2 y''": a direction in words. */
static void describe_direction(hmi_text *text, const hm_model *model, const double *direction,
                               size_t n)
{
    bool first = true;
    for (size_t i = 0; i < n; i++) {
        double size = fabs(direction[i]);
        if (size < 1e-10)
            continue;
        bool negative = direction[i] < 0;
        hmi_text_add(text, first ? negative ? "-" : "" : negative ? " - " : " + ");
        if (fabs(size - 1) > 1e-9)
            hmi_text_addf(text, "%.6g ", size);
        hmi_text_addf(text, "%s''", hm_model_coordinate_name(model, i));
        first = false;
    }
}

/* Do inertias along the direction change with the coordinates, so that they vanish here only? */
static bool inertia_moves(const hm_sim *sim, const double *direction)
{
    const hmi_expr_matrix *M = &sim->system->derived.M;
    for (size_t i = 0; i < M->rows; i++)
        for (size_t k = M->start[i]; k < M->start[i + 1]; k++)
            if ((fabs(direction[i]) > 1e-10 || fabs(direction[M->column.data[k]]) > 1e-10) &&
                (hmi_deps(&sim->system->derived.graph, M->value.data[k]) & HMI_DEP(HMI_SYM_COORD)))
                return true;
    return false;
}

static void report_undetermined(const hm_sim *sim, const hmi_verdict *verdict)
{
    const hm_model *model = sim->system->model;
    size_t n = sim->system->derived.n;
    for (int k = 0; k < verdict->undetermined; k++) {
        hmi_text text;
        hmi_text_init(&text, sim->system->allocator);
        const double *direction = verdict->directions + (size_t)k * n;
        describe_direction(&text, model, direction, n);
        hmi_error(model->context, hmi_no_span,
                  inertia_moves(sim, direction)
                      ? "M must be nonsingular on the motions that the constraints allow: are the "
                        "coordinates singular here, as angles whose axes coincide are? Start "
                        "elsewhere, or take others, such as a quaternion"
                      : "M must be nonsingular on the motions that the constraints allow: is a "
                        "kinetic energy or a mass missing?",
                  "the motion is not determined along %s", hmi_text_view(&text));
        hmi_text_release(&text);
    }
    if (verdict->law_solutions == 0)
        hmi_error(model->context, hmi_no_span, NULL,
                  "the force law that uses total reactions has no solution at this state");
    else if (verdict->law_solutions > 1)
        hmi_error(model->context, hmi_no_span, NULL,
                  "the force law that uses total reactions has several solutions at this state");
    else if (verdict->undetermined == 0)
        hmi_error(model->context, hmi_no_span, NULL,
                  "the equations of motion cannot be met at this state");
}

static void report_inconsistent(const hm_sim *sim, const hmi_verdict *verdict)
{
    const hm_model *model = sim->system->model;
    for (size_t k = 0; verdict->inconsistent && k < model->constraints.count; k++)
        if (verdict->inconsistent[k])
            hmi_error(model->context, model->constraints.data[k].span, NULL,
                      "constraint '%s' contradicts the constraints before it by %.6g",
                      model->constraints.data[k].name, verdict->discrepancy[k]);
    for (size_t k = 0; verdict->servo_residual && k < model->servo_rows.count; k++)
        if (!verdict->servo_reached && fabs(verdict->servo_residual[k]) > 1e-9)
            hmi_error(model->context, model->servo_rows.data[k].row.span,
                      "name other coordinates after 'by'",
                      "the actuators cannot enforce servo '%s': %.6g is out of reach",
                      model->servo_rows.data[k].row.name, verdict->servo_residual[k]);
}

/* A law may not use a multiplier that is not unique. */
static hm_status check_multipliers(const hm_sim *sim, const hmi_verdict *verdict)
{
    const hm_system *system = sim->system;
    hm_status status = HM_OK;
    for (size_t k = 0; verdict->multiplier_unique && k < system->derived.constraints.count; k++)
        if (system->multiplier_used[k] && !verdict->multiplier_unique[k]) {
            hmi_error(system->model->context, system->model->constraints.data[k].span,
                      "use reaction(x), which is unique",
                      "multiplier(%s) is used in a force law, but it is not unique: the constraint "
                      "depends on others",
                      system->model->constraints.data[k].name);
            status = HM_ERR_UNDETERMINED;
        }
    return status;
}

static void report_failure(const hm_sim *sim, hm_status status, const hmi_verdict *verdict)
{
    hm_context *context = sim->system->model->context;
    size_t errors = context->errors;
    if (status == HM_ERR_UNDETERMINED)
        report_undetermined(sim, verdict);
    else if (status == HM_ERR_INCONSISTENT)
        report_inconsistent(sim, verdict);
    if (context->errors == errors)
        hmi_error(context, hmi_no_span, NULL, "%s", hm_status_text(status));
}

/* ---- the solve ---- */

/* Stored entries into a dense matrix. Entries that are structurally zero stay zero from creation,
 * so only the stored ones are written. */
static void scatter(const hmi_expr_matrix *pattern, const double *values, bool symmetric,
                    double *dense)
{
    size_t columns = pattern->columns;
    for (size_t i = 0; i < pattern->rows; i++)
        for (size_t k = pattern->start[i]; k < pattern->start[i + 1]; k++) {
            size_t j = pattern->column.data[k];
            dense[i * columns + j] = values[k];
            if (symmetric)
                dense[j * columns + i] = values[k];
        }
}

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void view_answer(const hm_sim *sim, const hmi_solution *s, hm_evaluation *out)
{
    size_t n = sim->system->derived.n;
    const hmi_verdict *verdict = &s->verdict;
    out->solved = true;
    out->Q = s->Q;
    out->C = s->C;
    out->formulation = hm_formulation_name(s->formulation);
    out->formulations = s->formulations;
    out->disagreement = s->disagreement;
    out->rank_M = verdict->rank_M;
    out->rank_A = verdict->rank_A;
    out->rank_MA = verdict->rank_MA;
    out->unique_acceleration = verdict->unique_acceleration;
    out->unique_multipliers = verdict->unique_multipliers;
    out->definite = verdict->mass == HMI_DEFINITE;
    out->semidefinite = verdict->mass != HMI_INDEFINITE;
    out->redundant = verdict->redundant;
    out->discrepancy = verdict->discrepancy;
    out->a = s->a;
    out->e = s->e;
    out->Qi = s->Qi;
    out->Qni = s->Qni;
    out->Qc = s->Qc;
    out->qdd = s->qdd;
    out->lambda = s->lambda;
    out->u = s->u;
    out->power.ideal = dot(s->Qi, sim->v, n);
    out->power.nonideal = dot(s->Qni, sim->v, n);
    for (size_t k = 0; s->u && k < sim->system->model->servos.count; k++)
        out->power.servo += dot(s->u + k * n, sim->v, n);
}

static hmi_options solve_options(const hm_evaluate_options *options)
{
    hmi_options chosen = hmi_options_default();
    chosen.formulation = options->formulation;
    chosen.effort = options->compare ? HMI_COMPARE : HMI_VERDICT;
    return chosen;
}

void hmi_sim_scatter(hm_sim *sim)
{
    const hmi_derived *d = &sim->system->derived;
    const double *values = hmi_tape_outputs(sim->dynamics_tape, sim->dynamics_work);
    scatter(&d->M, values + sim->system->at.M, true, sim->M);
    scatter(&d->constraints.A, values + sim->system->at.A, false, sim->A);
    scatter(&d->servos.A, values + sim->system->at.servo_A, false, sim->servo_A);
}

void hmi_sim_pose(hm_sim *sim, hmi_question *ask)
{
    const hm_system *system = sim->system;
    const uint16_t symbols = system->derived.force_symbols;
    const double *values = hmi_tape_outputs(sim->dynamics_tape, sim->dynamics_work);
    const hmi_derived *d = &system->derived;
    hmi_sim_scatter(sim);
    ask->law = (hmi_law){
        .evaluate = evaluate_law,
        .user = sim,
        .uses_ideal = symbols & (HMI_DEP(HMI_SYM_REACTION) | HMI_DEP(HMI_SYM_MULTIPLIER)),
        .uses_total = symbols &
                      (HMI_DEP(HMI_SYM_TOTAL_REACTION) | HMI_DEP(HMI_SYM_TOTAL_MULTIPLIER)),
    };
    ask->equations = (hmi_equations){
        .M = sim->M,
        .Q = values + system->at.Q,
        .A = sim->A,
        .b = values + system->at.b,
        .C = d->has_nonideal ? values + system->at.C : NULL,
        .law = symbols ? &ask->law : NULL,
        .servos = sim->servos,
        .servo_count = (int)system->model->servos.count,
    };
}

static void keep_forces(hm_sim *sim, const hmi_solution *s)
{
    size_t n = sim->system->derived.n, m = sim->system->derived.constraints.count;
    memcpy(sim->qdd, s->qdd, n * sizeof *sim->qdd);
    memcpy(sim->reaction, s->Qi, n * sizeof *sim->reaction);
    if (m) {
        memcpy(sim->multiplier, s->lambda, m * sizeof *sim->multiplier);
        memcpy(sim->total_multiplier, s->total_lambda, m * sizeof *sim->total_multiplier);
    }
    for (size_t i = 0; i < n; i++)
        sim->total_reaction[i] = s->Qc[i] - s->C[i];
}

hm_status hmi_sim_accelerate(hm_sim *sim, hmi_solution *solution)
{
    if (!solution && hmi_fast_accelerate(sim))
        return HM_OK;
    if (!solution && sim->motion && sim->formulation == HM_FORMULATION_AUTO) {
        hmi_sim_refresh(sim);
        if (hmi_sim_motion_run(sim, sim->motion, &sim->t, sim->q, sim->v, sim->z)) {
            hmi_sim_motion_copy(sim->motion->out, sim->system->derived.n, sim->qdd);
            sim->by_motion = true;
            return HM_OK;
        }
    }
    hm_sim_evaluate_fast(sim);
    return hmi_sim_accelerate_here(sim, solution);
}

hm_status hmi_sim_accelerate_here(hm_sim *sim, hmi_solution *solution)
{
    hmi_question ask;
    hmi_solution local;
    if (!sim->dynamics)
        return hmi_large_accelerate(sim, solution);
    hmi_sim_pose(sim, &ask);
    if (!solution && !ask.equations.C && !ask.equations.law && ask.equations.servo_count == 0 &&
        sim->formulation == HM_FORMULATION_AUTO)
        return hmi_accelerate(sim->dynamics, sim->M, ask.equations.Q, sim->A, ask.equations.b,
                              sim->qdd, NULL);
    hmi_options options = hmi_options_default();
    options.formulation = sim->formulation;
    options.rank_tolerance = sim->rank_tolerance;
    hm_status status = hmi_dynamics_solve(sim->dynamics, &ask.equations, &options, &local);
    if (status == HM_ERR_USAGE)
        return status;
    keep_forces(sim, &local);
    if (solution)
        *solution = local;
    return status;
}

/* Where there is no motion tape yet, or it does not serve here. */
__attribute__((noinline)) static hm_status accelerate_otherwise(hm_sim *sim, double *qdd)
{
    if (!sim->own_motion_tried) {
        hm_status made = hmi_sim_motion_create(sim, NULL, &sim->own_motion);
        if (made != HM_OK)
            return made;
        sim->own_motion_tried = true;
    }
    if (!sim->motion)
        sim->motion = sim->own_motion;
    hm_status status = hmi_sim_accelerate(sim, NULL);
    if (status != HM_ERR_LIMIT)
        memcpy(qdd, sim->qdd, sim->system->derived.n * sizeof *qdd);
    if (status == HM_OK && sim->by_motion && sim->system->model->inputs.count == 0)
        sim->motion->own = sim->version;
    return status;
}

/* The short way: machine code at the sim's own state. All else is apart, so that few registers are
 * saved. */
hm_status hm_sim_accelerate(hm_sim *sim, double *qdd)
{
    const hmi_sim_motion *motion = sim->motion;
    if (motion && sim->prepared && sim->formulation == HM_FORMULATION_AUTO &&
        motion->own == sim->version) {
        hmi_tape_run(&motion->program.tape, &motion->values, motion->work);
        if (hmi_sim_motion_answers(motion)) {
            hmi_sim_motion_copy(motion->out, sim->system->derived.n, qdd);
            return HM_OK;
        }
    }
    return accelerate_otherwise(sim, qdd);
}

const double *hmi_sim_state_rates(const hm_sim *sim)
{
    if (sim->by_motion)
        return sim->motion->out + sim->motion->program.rates;
    return hmi_tape_outputs(sim->dynamics_tape, sim->dynamics_work) + sim->system->at.state_rates;
}

/* The answer put back into what it must satisfy. */
static void report_checks(hm_sim *sim, const hmi_question *ask, const hmi_solution *solution,
                          hm_evaluation *out)
{
    hmi_checks checks;
    hmi_dynamics_check(sim->dynamics, &ask->equations, solution, &checks);
    out->check.constraint = checks.constraint;
    out->check.balance = checks.balance;
    out->check.ideal = checks.ideal;
    out->check.work = checks.work;
    out->check.projection = checks.projection;
    out->gram_condition = solution->verdict.gram_condition;
}

/* A degenerate Lagrangian: are the velocities determined where the accelerations are not? Then they
 * are put into the sim and the forces are found at them. Where this does not succeed everything
 * is as it was. */
static hm_status try_dirac(hm_sim *sim, hmi_question *ask, const hmi_options *options,
                           hmi_solution *solution)
{
    hmi_dirac_velocity velocity;
    size_t n = sim->system->derived.n;
    if (sim->system->derived.force_symbols || sim->system->model->servos.count)
        return HM_ERR_UNDETERMINED;
    hm_status status = hmi_sim_prepare_derivatives(sim, HMI_JACOBIAN_STATE);
    if (status != HM_OK)
        return status == HM_ERR_NOMEM ? status : HM_ERR_UNDETERMINED;
    memcpy(sim->v_given, sim->v, n * sizeof *sim->v);
    status = hmi_sim_determine_velocity(sim, sim->qdd, &velocity);
    if (status != HM_OK)
        memcpy(sim->v, sim->v_given, n * sizeof *sim->v);
    hm_sim_evaluate_fast(sim);
    hmi_sim_pose(sim, ask);
    hm_status solved = hmi_dynamics_solve(sim->dynamics, &ask->equations, options, solution);
    return status == HM_OK && (solved == HM_OK || solution->verdict.solvable) ? HM_OK
                                                                              : HM_ERR_UNDETERMINED;
}

hm_status hmi_sim_solve(hm_sim *sim, const hm_evaluate_options *options, hm_evaluation *out)
{
    hmi_question ask;
    hmi_sim_pose(sim, &ask);
    const hmi_options chosen = solve_options(options);
    hmi_solution solution;
    hm_status status = hmi_dynamics_solve(sim->dynamics, &ask.equations, &chosen, &solution);
    if (status == HM_ERR_USAGE) {
        hmi_error(sim->system->model->context, hmi_no_span, NULL,
                  "formulation '%s' does not apply here: its mass matrix must be definite",
                  hm_formulation_name(chosen.formulation));
        return status;
    }
    if (status == HM_ERR_UNDETERMINED && solution.verdict.undetermined > 0) {
        status = try_dirac(sim, &ask, &chosen, &solution);
        if (status == HM_ERR_NOMEM)
            return status;
        out->velocity_determined = status == HM_OK;
    }
    keep_forces(sim, &solution);
    view_answer(sim, &solution, out);
    report_checks(sim, &ask, &solution, out);
    if (out->velocity_determined) {
        out->qdd = NULL; /* free along what M does not see */
        out->formulation = hm_formulation_name(HM_FORMULATION_DIRAC);
    }
    if (status == HM_OK)
        return check_multipliers(sim, &solution.verdict);
    report_failure(sim, status, &solution.verdict);
    return status;
}
