/* hm_sim_evaluate: every quantity of the theory at the present state. */
#include "base/argument.h"
#include "dynamics/sim/dirac.h"
#include "dynamics/sim/evaluation.h"
#include "dynamics/sim/contacts.h"
#include "dynamics/sim/rounding.h"

#include <math.h>
#include <string.h>

hm_evaluate_options hm_evaluate_options_default(void)
{
    return (hm_evaluate_options){.formulation = HM_FORMULATION_AUTO, .compare = true};
}

/* ---- views ---- */

static hm_matrix matrix_view(const hmi_expr_matrix *pattern, const double *values, bool lower)
{
    return (hm_matrix){.rows = pattern->rows,
                       .columns = pattern->columns,
                       .row_start = pattern->start,
                       .column = pattern->column.data,
                       .value = values,
                       .lower = lower};
}

static void view_dynamics(const hm_sim *sim, hm_evaluation *out)
{
    const hm_system *system = sim->system;
    const hmi_derived *d = &system->derived;
    const double *values = hmi_tape_outputs(sim->tapes.dynamics, sim->tapes.dynamics_work);
    out->M = matrix_view(&d->M, values + system->at.M, true);
    out->A = matrix_view(&d->constraints.A, values + system->at.A, false);
    out->Q = values + system->at.Q;
    out->b = values + system->at.b;
    out->C = values + system->at.C;
    out->servo_A = matrix_view(&d->servos.A, values + system->at.servo_A, false);
    out->servo_b = values + system->at.servo_b;
    out->state_rates = values + system->at.state_rates;
}

static void view_report(const hm_sim *sim, hm_evaluation *out)
{
    const hm_system *system = sim->system;
    const hmi_report_layout *at = &system->report_at;
    const double *values = hmi_tape_outputs(&system->report, sim->tapes.report_work);
    out->position_residual = values + at->position_residual;
    out->velocity_residual = values + at->velocity_residual;
    out->momentum = values + at->momentum;
    out->has_total = system->derived.total != HMI_NONE;
    out->has_energy = system->derived.kinetic != HMI_NONE;
    out->kinetic = values[at->kinetic];
    out->potential = values[at->potential];
    out->total = values[at->total];
    out->power.impressed = values[at->impressed];
    out->power.dissipation = values[at->dissipation];
    out->power.gyroscopic = values[at->gyroscopic];
    out->power.explicit_time = values[at->explicit_time];
}

static bool all_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void view_answer(const hm_sim *sim, const hmi_solution *s, const double *v,
                        hm_evaluation *out)
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
    out->evidence_M = verdict->evidence_M;
    out->evidence_A = verdict->evidence_A;
    out->evidence_MA = verdict->evidence_MA;
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
    out->power.ideal = dot(s->Qi, v, n);
    out->power.nonideal = dot(s->Qni, v, n);
    for (size_t k = 0; s->u && k < sim->system->model->servos.count; k++)
        out->power.servo += dot(s->u + k * n, v, n);
}

/* ---- the dense solve ---- */

static void report_not_finite(const hm_sim *sim, const hmi_point *at)
{
    const hmi_tape_values values = hmi_sim_values(sim, at);
    hmi_system_report_not_finite(sim->system, &values, sim->context);
}

static hmi_options solve_options(const hm_evaluate_options *options)
{
    hmi_options chosen = hmi_options_default();
    chosen.formulation = options->formulation;
    chosen.effort = options->compare ? HMI_COMPARE : HMI_VERDICT;
    return chosen;
}

/* The answer put back into what it must satisfy. */
static void report_checks(hm_sim *sim, const hmi_question *ask, const hmi_solution *solution,
                          hm_evaluation *out)
{
    hmi_checks checks;
    hmi_dynamics_check(sim->dense.dynamics, &ask->equations, solution, &checks);
    out->check.constraint = checks.constraint;
    out->check.balance = checks.balance;
    out->check.ideal = checks.ideal;
    out->check.work = checks.work;
    out->check.projection = checks.projection;
    out->gram_condition = solution->verdict.gram_condition;
}

/* A degenerate Lagrangian: are the velocities determined where the accelerations are not? Then at->v
 * becomes them, and the forces are found there. Where this does not succeed everything is as it was. */
static hm_status try_dirac(hm_sim *sim, hmi_point *at, hmi_question *ask,
                           const hmi_options *options, hmi_solution *solution)
{
    hmi_dirac_velocity velocity;
    if (sim->system->derived.force_symbols || sim->system->model->servos.count)
        return HM_ERR_UNDETERMINED;
    hm_status status = hmi_sim_prepare_derivatives(sim, HMI_JACOBIAN_STATE);
    if (status != HM_OK)
        return status == HM_ERR_NOMEM ? status : HM_ERR_UNDETERMINED;
    status = hmi_sim_determine_velocity(sim, at, sim->last.qdd, &velocity);
    if (status == HM_OK)
        at->v = sim->dense.velocity;
    hmi_sim_evaluate(sim, at);
    hmi_sim_pose(sim, at, ask);
    if (hmi_sim_pose_errors(sim, at, ask) != HM_OK)
        return HM_ERR_NOMEM;
    hm_status solved = hmi_dynamics_solve(sim->dense.dynamics, &ask->equations, options, solution);
    return status == HM_OK && (solved == HM_OK || solution->verdict.solvable) ? HM_OK
                                                                              : HM_ERR_UNDETERMINED;
}

/* At the point just evaluated. Where the Lagrangian is degenerate at->v becomes what was found. */
static hm_status solve_dense(hm_sim *sim, hmi_point *at, const hm_evaluate_options *options,
                             hm_evaluation *out)
{
    hmi_question ask;
    hmi_sim_pose(sim, at, &ask);
    hm_status status = hmi_sim_pose_errors(sim, at, &ask);
    if (status != HM_OK)
        return status;
    const hmi_options chosen = solve_options(options);
    hmi_solution solution;
    status = hmi_dynamics_solve(sim->dense.dynamics, &ask.equations, &chosen, &solution);
    if (status == HM_ERR_USAGE) {
        hmi_error(sim->context, hmi_no_span, NULL,
                  "formulation '%s' does not apply here: its mass matrix must be definite",
                  hm_formulation_name(chosen.formulation));
        return status;
    }
    if (status == HM_ERR_UNDETERMINED && solution.verdict.undetermined > 0) {
        status = try_dirac(sim, at, &ask, &chosen, &solution);
        if (status == HM_ERR_NOMEM)
            return status;
        out->velocity_determined = status == HM_OK;
    }
    hmi_sim_keep_forces(sim, at, &solution);
    view_answer(sim, &solution, at->v, out);
    report_checks(sim, &ask, &solution, out);
    if (out->velocity_determined) {
        out->qdd = NULL; /* free along what M does not see */
        out->formulation = hm_formulation_name(HM_FORMULATION_DIRAC);
    }
    if (status == HM_OK)
        return hmi_sim_check_multipliers(sim, &solution.verdict);
    if (status == HM_ERR_NUMERIC && ask.equations.law) {
        report_not_finite(sim, at);
        return status;
    }
    hmi_sim_report_failure(sim, status, &solution.verdict);
    return status;
}

/* Contacts: which rows hold, and what friction does. */
static hm_status decide_contacts(hm_sim *sim, const hmi_point *at, hm_evaluation *out)
{
    hmi_contacts *c = sim->contacts;
    hm_status status = hmi_contacts_evaluate(c, at);
    out->absent = c->left_out;
    out->contact_count = hmi_contacts_show(c, &out->contacts);
    if (status != HM_OK && (c->solutions != 1 || c->trouble)) {
        hmi_contacts_report(c);
        return HM_ERR_UNDETERMINED;
    }
    return HM_OK; /* else the solve says what is wrong */
}

/* Total multipliers of contacts push, also where they are not unique. */
static void keep_contact_forces(hm_sim *sim)
{
    const hmi_contacts *c = sim->contacts;
    for (size_t i = 0; i < c->m; i++)
        if (sim->system->model->constraints.data[i].one_sided)
            sim->last.total_multiplier[i] = c->holds[i] ? c->force[i] : 0;
}

/* ---- large systems ---- */

static hm_status refuse(const hm_sim *sim, const char *format, const char *what)
{
    hmi_error(sim->context, hmi_no_span, NULL, format, what, HM_MOST_DENSE);
    return HM_ERR_LIMIT;
}

static hm_status solve_sparsely(hm_sim *sim, const hmi_point *at,
                                const hm_evaluate_options *options, bool least_norm,
                                hm_evaluation *out)
{
    const char *refusal = hmi_large_refusal(sim->system);
    hmi_question ask;
    const hmi_large_equations equations = hmi_sim_large_equations(sim, at, &ask);
    hmi_solution solution;
    if (refusal)
        return refuse(sim, "%s are not supported beyond %d coordinates", refusal);
    if (options->formulation != HM_FORMULATION_AUTO && options->formulation != HM_FORMULATION_KKT)
        return refuse(sim, "formulation '%s' is not available beyond %d coordinates",
                      hm_formulation_name(options->formulation));
    hm_status status = hmi_sim_accelerate_large(sim, at, &solution);
    if (status != HM_OK && status != HM_ERR_INCONSISTENT) {
        hmi_large_explain(sim->solve.large, status, sim->context);
        return status;
    }
    hm_status verdict = hmi_large_describe(sim->solve.large, &equations, &solution, at->v,
                                           sim->context, least_norm, out);
    if (verdict == HM_ERR_NOMEM || verdict == HM_ERR_LIMIT)
        return verdict;
    if (verdict == HM_OK)
        hmi_sim_keep_forces(sim, at, &solution); /* multipliers have minimum norm now */
    if (status == HM_OK && options->compare && hmi_sim_has_compiled(sim)) {
        const hmi_tape_values values = hmi_sim_values(sim, at);
        hmi_large_compare(sim->solve.large, sim->solve.compiled, &values, sim->last.qdd, out);
    }
    return status == HM_OK ? HM_OK : verdict;
}

hm_status hmi_sim_solve_large(hm_sim *sim, const hmi_point *at, const hm_evaluate_options *options,
                              hm_evaluation *out)
{
    return solve_sparsely(sim, at, options, true, out);
}

/* ---- evaluation ---- */

/* Q and C of a law that uses constraint forces are judged where these are known: in the solve. */
static bool equations_are_finite(const hm_sim *sim)
{
    const hmi_dynamics_layout *at = &sim->system->at;
    const double *values = hmi_tape_outputs(sim->tapes.dynamics, sim->tapes.dynamics_work);
    if (!sim->system->derived.force_symbols)
        return all_finite(values, at->count);
    return all_finite(values, at->Q) && all_finite(values + at->A, at->C - at->A) &&
           all_finite(values + at->servo_A, at->count - at->servo_A);
}

static bool report_is_finite(const hm_sim *sim)
{
    const hmi_report_layout *at = &sim->system->report_at;
    const double *values = hmi_tape_outputs(&sim->system->report, sim->tapes.report_work);
    size_t power = at->impressed; /* of Q: it is found again after the solve */
    if (!sim->system->derived.force_symbols)
        return all_finite(values, at->outputs);
    return all_finite(values, power) && all_finite(values + power + 1, at->outputs - power - 1);
}

void hmi_sim_clear_unsolved(hm_sim *sim)
{
    const hm_model *model = sim->system->model;
    const hmi_derived *d = &sim->system->derived;
    const uint16_t unknown = HMI_DEP(HMI_SYM_ACCELERATION) | HMI_DEP_FORCES;
    double *outputs = sim->tapes.report_work + sim->system->report.output_slot +
                      sim->system->report_at.outputs;
    for (size_t i = 0; i < model->outputs.count; i++)
        if (hmi_deps(&d->graph, d->outputs[i]) & unknown)
            outputs[i] = NAN;
}

/* Bounds of entries are known where the dense solve was asked with them. */
static hm_status check_vanished(hm_sim *sim, const hmi_point *at, bool sparse, hm_evaluation *out)
{
    const double *error = NULL;
    if (sim->dense.dynamics && !sparse)
        error = sim->rounding.dynamics + sim->tapes.dynamics->output_slot + sim->system->at.A;
    if (sim->dense.dynamics && sparse) {
        hm_status status = hmi_sim_bound(sim, at, &error);
        if (status != HM_OK)
            return status;
        error += sim->system->at.A;
    }
    return hmi_sim_check_vanished(sim, at, error, out);
}

/* May the sparse solve answer for the dense one at the point just evaluated? */
static hm_status try_sparse(hm_sim *sim, const hmi_point *at, const hm_evaluate_options *options,
                            bool *good)
{
    hmi_question ask;
    if (!sim->dense.dynamics || sim->contacts || hmi_large_refusal(sim->system) ||
        options->formulation != HM_FORMULATION_AUTO ||
        !(sim->solve.compiled || hmi_large_pays(sim->system, true)))
        return HM_OK;
    hm_status status = hmi_sim_prepare_large(sim);
    if (status != HM_OK)
        return status == HM_ERR_LIMIT ? HM_OK : status;
    const hmi_large_equations equations = hmi_sim_large_equations(sim, at, &ask);
    *good = hmi_large_accelerate(sim->solve.large, &equations, sim->last.qdd);
    return HM_OK;
}

static hm_status evaluate(hm_sim *sim, const hm_evaluate_options *options, bool sparse_first,
                          hm_evaluation *out)
{
    const hm_system *system = sim->system;
    hm_evaluate_options chosen = options ? *options : hm_evaluate_options_default();
    bool sparse = !sim->dense.dynamics;
    hmi_point at = *hmi_sim_present(sim);
    hmi_sim_evaluate(sim, &at);
    hmi_sim_run_report(sim, &at);
    *out = (hm_evaluation){.t = at.t,
                           .q = at.q,
                           .v = at.v,
                           .z = at.z,
                           .inputs = sim->given.inputs[0],
                           .disagreement = -1};
    view_dynamics(sim, out);
    view_report(sim, out);
    if (!equations_are_finite(sim) || !report_is_finite(sim)) {
        report_not_finite(sim, &at);
        return HM_ERR_NUMERIC;
    }
    hm_status status = sim->contacts ? decide_contacts(sim, &at, out) : HM_OK;
    if (status != HM_OK)
        return status;
    if (sparse_first)
        status = try_sparse(sim, &at, &chosen, &sparse);
    if (status != HM_OK)
        return status;
    status = sparse ? solve_sparsely(sim, &at, &chosen, !sparse_first, out)
                    : solve_dense(sim, &at, &chosen, out);
    if (sim->contacts && status == HM_OK)
        keep_contact_forces(sim);
    if (status == HM_OK && !out->velocity_determined && !sim->contacts)
        status = check_vanished(sim, &at, sparse, out);
    if (out->velocity_determined) { /* energies at the velocities found */
        out->v = at.v;
        hmi_sim_run_report(sim, &at);
        view_report(sim, out);
    }
    if (out->solved && sim->contacts) { /* rows that do not hold do not count */
        size_t rows = 0;
        for (size_t i = 0; i < sim->contacts->m; i++)
            rows += sim->contacts->holds[i];
        out->unique_multipliers = out->rank_A == (int)rows;
    }
    sim->last.energy[HMI_QUANTITY_TOTAL] = out->total;
    const double *report = hmi_sim_run_report(sim, &at); /* outputs may use q'' and forces */
    out->power.impressed = report[system->report_at.impressed];
    out->outputs = report + system->report_at.outputs;
    out->drawings = report + system->report_at.drawings;
    if (!out->solved)
        hmi_sim_clear_unsolved(sim);
    return status;
}

hm_status hm_sim_evaluate(hm_sim *sim, const hm_evaluate_options *options, hm_evaluation *out)
{
    HMI_ARGUMENT(sim ? sim->context : NULL,
                 sim && !sim->in_callback &&
                     (out && (!options || (unsigned)options->formulation < HMI_FORMULATIONS)),
                 "a place for the answer and a formulation that exists are needed; no call from a "
                 "callback of the sim");
    return evaluate(sim, options, false, out);
}

hm_status hmi_sim_evaluate_quickly(hm_sim *sim, const hm_evaluate_options *options,
                                   hm_evaluation *out)
{
    return evaluate(sim, options, true, out);
}

void hm_matrix_dense(const hm_matrix *matrix, double *dense)
{
    if (!matrix || !dense)
        return;
    memset(dense, 0, matrix->rows * matrix->columns * sizeof *dense);
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t k = matrix->row_start[i]; k < matrix->row_start[i + 1]; k++) {
            size_t j = matrix->column[k];
            dense[i * matrix->columns + j] = matrix->value[k];
            if (matrix->lower)
                dense[j * matrix->columns + i] = matrix->value[k];
        }
}
