/* hm_sim_linearize: searches for the state, finds out what kind of state it is, and gives matrix,
 * eigenvalues, multipliers and verdict. The parts are in search.c, settle.c and judge.c. */
#include <hamel/linearize.h>

#include "dynamics/sim/sim.h"
#include "base/argument.h"
#include "analyse/linearize/job.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

hm_linearize_options hm_linearize_options_default(void)
{
    return (hm_linearize_options){.tolerance = 1e-8};
}

const char *hm_stability_text(hm_stability stability)
{
    return stability == HM_STABILITY_STABLE      ? "stable"
           : stability == HM_STABILITY_MARGINAL  ? "marginal"
           : stability == HM_STABILITY_UNSTABLE  ? "unstable"
           : stability == HM_STABILITY_UNDECIDED ? "undecided"
                                                 : "unknown";
}

const char *hm_rest_text(hm_rest rest)
{
    return rest == HM_REST_EQUILIBRIUM ? "equilibrium"
           : rest == HM_REST_STEADY    ? "steady motion"
           : rest == HM_REST_RELATIVE  ? "relative equilibrium"
           : rest == HM_REST_PERIODIC  ? "periodic motion"
           : rest == HM_REST_NONE      ? "neither"
                                       : "unknown";
}

const char *hm_time_dependence_text(hm_time_dependence dependence)
{
    return dependence == HM_TIME_DEPENDENCE_PERIODIC ? "periodic"
           : dependence == HM_TIME_DEPENDENCE_NONE   ? "none"
           : dependence == HM_TIME_DEPENDENCE_OTHER  ? "other"
                                                     : "unknown";
}

void hm_linearization_destroy(hm_linearization *face)
{
    hmi_linearization *l = (hmi_linearization *)face;
    if (!l)
        return;
    const hm_allocator *allocator = l->allocator;
    const hm_system *system = l->system;
    hmi_arena_release(&l->arena);
    hmi_free(allocator, l, sizeof *l);
    hm_system_destroy((hm_system *)system);
}

/* ---- results ---- */

static const char *copy_name(hmi_job *j, size_t variable)
{
    const char *name = hmi_reduction_name(j->sim, variable);
    return name ? hmi_arena_text(&j->out->arena, name, strlen(name)) : NULL;
}

static const double *copy_doubles(hmi_job *j, const double *from, size_t count)
{
    double *to = hmi_arena_alloc(&j->out->arena, (count + 1) * sizeof *to);
    if (to)
        hmi_copy((int)count, from, to);
    return to;
}

static hm_status take_state(hmi_job *j)
{
    hm_linearization *face = &j->out->face;
    face->t = j->t;
    face->n = j->r.n;
    face->states = j->r.states;
    face->q = copy_doubles(j, j->x, j->r.n);
    face->v = copy_doubles(j, j->x + j->r.n, j->r.n);
    face->z = copy_doubles(j, j->x + 2 * j->r.n, j->r.states);
    face->iterations = j->search.iterations;
    double rate = face->rest == HM_REST_RELATIVE   ? j->relative.residual
                  : face->rest == HM_REST_PERIODIC ? j->floquet.closure
                                                   : hmi_kept_rate(&j->r, &j->kept);
    face->residual = fmax(rate, hmi_max_abs((int)(2 * j->r.m), j->r.residual));
    return face->q && face->v && face->z ? HM_OK : HM_ERR_NOMEM;
}

static hm_status take_names(hmi_job *j)
{
    hm_linearization *face = &j->out->face;
    size_t d = j->r.dimension, dropped = d - j->kept.count, at = 0;
    const char **names = hmi_arena_alloc(&j->out->arena, (d + 1) * sizeof *names);
    const char **others = hmi_arena_alloc(&j->out->arena, (dropped + 1) * sizeof *others);
    bool good = names && others;
    for (size_t k = 0, i = 0; k < d && good; k++) {
        const char *name = copy_name(j, j->r.independent[k]);
        good = name != NULL;
        if (i < j->kept.count && j->kept.index[i] == k)
            names[i++] = name;
        else
            others[at++] = name;
    }
    face->names = names;
    face->dropped = others;
    face->dropped_count = dropped;
    face->dimension = j->kept.count;
    return good ? HM_OK : HM_ERR_NOMEM;
}

/* ---- inputs and outputs ---- */

static const char *const *copy_names(hmi_job *j, const char *const *from, size_t count)
{
    const char **to = hmi_arena_alloc(&j->out->arena, (count + 1) * sizeof *to);
    for (size_t k = 0; k < count && to; k++)
        if (!(to[k] = hmi_arena_text(&j->out->arena, from[k], strlen(from[k]))))
            return NULL;
    return to;
}

static const double *unless_zero(const double *matrix, size_t count)
{
    return hmi_max_abs((int)count, matrix) > 0 ? matrix : NULL;
}

static void show_ports(hm_linearization *face, const hmi_port_matrices *from)
{
    size_t by = face->dimension * face->input_count,
           through = face->output_count * face->input_count;
    if (face->input_count) {
        face->B = from->B[0];
        face->B_rate = unless_zero(from->B[1], by);
        face->B_rate2 = unless_zero(from->B[2], by);
    }
    if (face->output_count)
        face->C = from->C;
    if (through) {
        face->D = from->D[0];
        face->D_rate = unless_zero(from->D[1], through);
        face->D_rate2 = unless_zero(from->D[2], through);
    }
}

/* The state may have been left by the search for families: it is updated. */
static hm_status take_ports(hmi_job *j)
{
    hm_linearization *face = &j->out->face;
    hmi_port_matrices matrices;
    face->input_count = j->ports.inputs;
    face->output_count = j->ports.outputs;
    face->inputs = copy_names(j, j->options->inputs, j->ports.inputs);
    face->outputs = copy_names(j, j->options->outputs, j->ports.outputs);
    if (!face->inputs || !face->outputs)
        return HM_ERR_NOMEM;
    if ((!j->ports.inputs && !j->ports.outputs) || !face->A)
        return HM_OK;
    if (face->rest == HM_REST_RELATIVE) {
        hmi_error(j->sim->context, hmi_no_span, "--keep linearises in the given coordinates",
                  "inputs and outputs are not worked out in the moving frame of a relative "
                  "equilibrium");
        return HM_ERR_USAGE;
    }
    hm_status status = hmi_reduction_update(&j->r, j->t, j->x);
    if (status == HM_OK)
        status = hmi_ports_compute(&j->ports, &j->r, &j->kept, &j->out->arena, &matrices);
    if (status == HM_OK)
        show_ports(face, &matrices);
    return status;
}

/* ---- failures ---- */

/* Where the accelerations are finite and their derivatives are not: by which variable of which. */
static void report_slope(hmi_job *j)
{
    size_t n = j->r.n, width = j->r.size + 1;
    for (size_t i = 0; i < n + j->r.states; i++)
        for (size_t k = 0; k < j->r.size; k++)
            if (!isfinite(j->r.J[i * width + k])) {
                hmi_error(j->sim->context, hmi_no_span, "--at gives another state",
                          "the motion has no derivative at this state: that of the rate of %s by "
                          "%s is not finite",
                          hmi_reduction_name(j->sim, n + i), hmi_reduction_name(j->sim, k));
                return;
            }
    hmi_error(j->sim->context, hmi_no_span, "--at gives another state",
              "the motion has no derivative at this state");
}

/* Nothing fails without a word. A search has had its own. */
static void report_failure(hmi_job *j, hm_status status)
{
    hm_context *context = j->sim->context;
    size_t n = j->r.n;
    if (status == HM_ERR_UNDETERMINED || status == HM_ERR_INCONSISTENT)
        hmi_error(context, hmi_no_span, "hamel eval shows the equations at this state",
                  "the accelerations are not determined at this state");
    if (status != HM_ERR_NUMERIC || hm_context_error_count(context) > 0)
        return;
    const hmi_point at = {j->t, j->x, j->x + n, j->x + 2 * n};
    if (hmi_sim_accelerate(j->sim, &at, NULL) == HM_OK) {
        report_slope(j);
        return;
    }
    const hmi_tape_values values = hmi_sim_values(j->sim, &at);
    hmi_system_report_not_finite(j->sim->system, &values, context);
}

/* ---- the job ---- */

static hm_status describe(hmi_job *j)
{
    hm_status status = hmi_job_settle(j);
    if (status == HM_OK)
        status = take_state(j);
    if (status == HM_OK)
        status = take_names(j);
    if (status == HM_OK)
        status = hmi_job_judge(j);
    return status == HM_OK ? take_ports(j) : status;
}

static hmi_linearization *new_linearization(const hm_system *system)
{
    const hm_allocator *allocator = system->allocator;
    hmi_linearization *l = hmi_alloc(allocator, sizeof *l);
    if (l) {
        hmi_share(&system->references);
        *l = (hmi_linearization){.system = system, .allocator = allocator};
        hmi_arena_init(&l->arena, allocator);
    }
    return l;
}

/* Memory, and the sim's present state as the array x. */
static hm_status begin(hmi_job *j)
{
    const hmi_point *at = hmi_sim_present(j->sim);
    size_t n = j->r.n;
    bool failed = false;
    j->t = at->t;
    j->x = hmi_arena_doubles(&j->r.arena, j->r.size, &failed);
    j->kept.index = hmi_arena_alloc(&j->r.arena, (j->r.size + 1) * sizeof *j->kept.index);
    if (failed || !j->kept.index)
        return HM_ERR_NOMEM;
    hmi_copy((int)n, at->q, j->x);
    hmi_copy((int)n, at->v, j->x + n);
    hmi_copy((int)j->r.states, at->z, j->x + 2 * n);
    return HM_OK;
}

static hm_status linearize(hmi_job *j)
{
    size_t n = j->r.n;
    hm_status status = hmi_ports_find(&j->ports, &j->r.arena, j->sim, j->options);
    if (status == HM_OK)
        status = begin(j);
    if (status != HM_OK)
        return status;
    status = j->options->find ? hmi_job_search(j) : hmi_reduction_update(&j->r, j->t, j->x);
    if (j->options->find) /* what the search is asked for: the sim is left there */
        hmi_sim_set_state(j->sim, j->t, j->x, j->x + n, j->x + 2 * n);
    if (status == HM_OK)
        status = describe(j);
    if (status != HM_OK)
        report_failure(j, status);
    return status;
}

static void release(hmi_job *j)
{
    hmi_relative_equilibrium_release(&j->relative);
    hmi_reference_release(&j->reference);
    hmi_reduction_release(&j->probe);
    hmi_reduction_release(&j->r);
}

static bool options_are_valid(const hm_linearize_options *o)
{
    if (!o)
        return true;
    bool good = o->tolerance >= 0 && isfinite(o->tolerance) && o->period >= 0 &&
                isfinite(o->period) && (unsigned)o->ignorable <= HM_IGNORABLE_KEEP &&
                (o->hold || o->hold_count == 0);
    for (size_t i = 0; good && i < o->hold_count; i++)
        good = o->hold[i] != NULL;
    return good;
}

hm_status hm_sim_linearize(hm_sim *sim, const hm_linearize_options *options, hm_linearization **out)
{
    HMI_ARGUMENT(sim ? sim->context : NULL,
                 sim && out && !sim->in_callback && options_are_valid(options),
                 "a tolerance, a period and names that make sense are needed; no call from a "
                 "callback of the sim");
    const hm_linearize_options standard = hm_linearize_options_default();
    if (sim->system->model->has_contacts) {
        hmi_error(sim->context, hmi_no_span, NULL,
                  "models with one-sided, switched or rubbing constraints are not linearised");
        return HM_ERR_USAGE;
    }
    if (!sim->dense.dynamics) {
        hmi_error(sim->context, hmi_no_span, NULL,
                  "systems with more than %d coordinates are not linearised", HM_MOST_DENSE);
        return HM_ERR_USAGE;
    }
    hmi_job j = {.sim = sim, .options = options ? options : &standard};
    hm_status status = hmi_reduction_init(&j.r, sim), probe = hmi_reduction_init(&j.probe, sim);
    status = status == HM_OK ? probe : status;
    j.out = status == HM_OK ? new_linearization(sim->system) : NULL;
    if (status == HM_OK && !j.out)
        status = HM_ERR_NOMEM;
    if (status == HM_OK)
        status = linearize(&j);
    release(&j);
    if (status == HM_OK)
        *out = &j.out->face;
    else if (j.out)
        hm_linearization_destroy(&j.out->face);
    return status;
}
