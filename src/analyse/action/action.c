/* hm_sim_action: levels of the motion until its integrals agree, then what is said about them. */
#include "analyse/action/action.h"
#include "base/argument.h"
#include "linalg/dense.h"

#include <math.h>

enum { LAST_LEVEL = 7, MOST_MODES = 50 };

/* The result with its memory. */
typedef struct action_result {
    hm_action action;        /* first: hm_action_destroy is given this */
    const hm_system *system; /* shared: its memory is where this comes from */
    hmi_arena arena;
} action_result;

hm_action_options hm_action_options_default(const hm_model *model)
{
    return (hm_action_options){.run = hm_run_options_default(model), .modes = 1, .tolerance = 1e-9};
}

void hm_action_destroy(hm_action *action)
{
    action_result *r = (action_result *)action;
    if (!r)
        return;
    const hm_system *system = r->system;
    hmi_arena_release(&r->arena);
    hmi_free(system->allocator, r, sizeof *r);
    hm_system_destroy((hm_system *)system);
}

/* ---- which paths can be varied ---- */

static bool inputs_follow_coordinates(const hm_system *system)
{
    const uint16_t moving = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY);
    for (size_t i = 0; i < system->model->inputs.count; i++)
        if (hmi_deps(&system->derived.graph, system->derived.input_values[0][i]) & moving)
            return true;
    return false;
}

/* Why there are no varied paths; "" where there are. */
static const char *why_none(const hmi_action_job *job)
{
    const hm_model *model = job->system->model;
    if (job->options->modes == 0)
        return "none were asked for";
    if (job->n > HMI_MOST_VARIED)
        return "there are more than 30 coordinates";
    if (model->has_contacts)
        return "one-sided or conditional constraints let the set of constraints change";
    if (inputs_follow_coordinates(job->system))
        return "inputs depend on coordinates";
    for (size_t k = 0; k < job->m; k++)
        if (job->system->derived.constraints.velocity_residual[k] == HMI_NONE)
            return "a constraint on accelerations says nothing of displacements";
    return "";
}

/* ---- levels ---- */

/* Figures of a path: S and the variations. */
typedef struct level_figures {
    double S, scale;
    hm_maupertuis maupertuis;
    hm_variation *variations;
} level_figures;

static hm_status find_figures(hmi_action_job *job, const hmi_action_path *path, bool keep,
                              level_figures *out)
{
    out->S = out->scale = 0;
    for (size_t k = 0; k < path->points; k++) {
        out->S += path->weight[k] * path->L[k];
        out->scale += path->weight[k] * fabs(path->L[k]);
    }
    hmi_maupertuis(path, &out->maupertuis);
    return job->vary ? hmi_vary_path(job, path, keep, out->variations) : HM_OK;
}

static void set_error(hm_action_figure *fine, const hm_action_figure *coarse)
{
    fine->error = fabs(fine->value - coarse->value);
}

static void compare_paths(hm_varied_path *fine, const hm_varied_path *coarse)
{
    set_error(&fine->delta_S, &coarse->delta_S);
    set_error(&fine->dalembert, &coarse->dalembert);
    set_error(&fine->reaction_work, &coarse->reaction_work);
}

static bool is_settled(const hm_varied_path *path, double tolerance)
{
    double error = fmax(path->delta_S.error,
                        fmax(path->dalembert.error, path->reaction_work.error));
    return error <= tolerance * path->scale;
}

/* Errors of the finer level. true: they are within the tolerance. */
static bool compare_levels(const hmi_action_job *job, level_figures *fine,
                           const level_figures *coarse)
{
    double tolerance = job->options->tolerance;
    bool settled = fabs(fine->S - coarse->S) <= tolerance * fine->scale;
    set_error(&fine->maupertuis.abbreviated, &coarse->maupertuis.abbreviated);
    set_error(&fine->maupertuis.twice_T, &coarse->maupertuis.twice_T);
    set_error(&fine->maupertuis.modified, &coarse->maupertuis.modified);
    for (size_t k = 0; job->vary && k < job->n * job->options->modes; k++) {
        hm_variation *v = &fine->variations[k];
        compare_paths(&v->displaced, &coarse->variations[k].displaced);
        compare_paths(&v->possible, &coarse->variations[k].possible);
        /* The nearest possible path is not as well conditioned as the displaced one. */
        settled = settled && is_settled(&v->displaced, tolerance) &&
                  is_settled(&v->possible, 100 * tolerance);
    }
    return settled;
}

/* Durations at the energy of the motion: only where that is constant and nothing ever comes to rest. */
static void settle_durations(hmi_action_job *job, const hmi_action_path *path, level_figures *fine)
{
    double least = INFINITY, largest = 0;
    for (size_t k = 0; k < path->points; k++) {
        least = fmin(least, path->T[k]);
        largest = fmax(largest, path->T[k]);
    }
    bool defined = fine->maupertuis.conservative && fine->maupertuis.homogeneous &&
                   least > 1e-6 * largest;
    for (size_t k = 0; job->vary && !defined && k < job->n * job->options->modes; k++)
        fine->variations[k].displaced.duration_change =
            fine->variations[k].possible.duration_change = NAN;
}

/* The motion itself, for who draws it. */
static hm_status keep_path(hmi_action_job *job, const hmi_action_path *path)
{
    bool failed = false;
    hm_action *out = job->out;
    size_t n = path->n;
    double *t = hmi_arena_doubles(job->results, path->points, &failed);
    double *q = hmi_arena_doubles(job->results, path->points * n, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    hmi_copy((int)path->points, path->t, t);
    hmi_copy((int)(path->points * n), path->q, q);
    out->t = t;
    out->q = q;
    out->samples = path->points;
    out->panels = path->panels;
    return HM_OK;
}

/* The finer level becomes the result. */
static hm_status finish(hmi_action_job *job, const hmi_action_path *path, level_figures *fine,
                        const level_figures *coarse)
{
    hm_action *out = job->out;
    hm_status status = HM_OK;
    out->S = (hm_action_figure){fine->S, fabs(fine->S - coarse->S)};
    out->S_scale = fine->scale;
    if (job->vary) { /* once more, with the paths themselves */
        level_figures again = {.variations = fine->variations};
        status = find_figures(job, path, true, &again);
        (void)compare_levels(job, fine, coarse);
    }
    settle_durations(job, path, fine);
    out->maupertuis = fine->maupertuis;
    out->variations = fine->variations;
    out->variation_count = job->vary ? job->n * job->options->modes : 0;
    if (status == HM_OK)
        status = keep_path(job, path);
    if (status == HM_OK && out->variation_count)
        status = hmi_judge_principles(job);
    if (status == HM_OK && out->vakonomic)
        status = hmi_vakonomic_between(job, path, (hm_vakonomic_motion *)out->vakonomic);
    return status;
}

static hm_status refine(hmi_action_job *job, level_figures *coarse, level_figures *fine)
{
    hm_status status = HM_OK;
    for (unsigned level = 0; status == HM_OK; level++) {
        hmi_action_path path;
        level_figures was = *coarse;
        *coarse = *fine;
        *fine = was;
        status = hmi_path_sample(job, level, &path);
        if (status == HM_OK)
            status = find_figures(job, &path, false, fine);
        bool last = level > 0 && (compare_levels(job, fine, coarse) || level == LAST_LEVEL);
        if (status == HM_OK && last)
            status = finish(job, &path, fine, coarse);
        hmi_path_release(&path);
        if (last)
            break;
    }
    return status;
}

/* ---- the call ---- */

static hm_status take_memory(hmi_action_job *job, level_figures levels[2])
{
    bool failed = false;
    size_t count = job->n * job->options->modes + 1;
    job->q0 = hmi_arena_doubles(job->results, job->n, &failed);
    job->v0 = hmi_arena_doubles(job->results, job->n, &failed);
    job->z0 = hmi_arena_doubles(job->results, job->system->model->states.count, &failed);
    for (int i = 0; i < 2; i++) {
        levels[i].variations = hmi_arena_alloc(job->results, count * sizeof(hm_variation));
        failed = failed || !levels[i].variations;
    }
    if (job->options->vakonomic) {
        job->out->vakonomic = hmi_arena_alloc(job->results, sizeof(hm_vakonomic_motion));
        failed = failed || !job->out->vakonomic;
    }
    return failed ? HM_ERR_NOMEM : HM_OK;
}

/* The start: the present state, on the constraints. */
static hm_status find_start(hmi_action_job *job)
{
    hm_run_options o = hmi_path_options(job, 0);
    hm_run_result result;
    hm_status status = hm_sim_start(job->sim, &o);
    if (status != HM_OK)
        return status;
    hm_sim_state(job->sim, job->q0, job->v0, job->z0);
    job->t0 = o.start;
    status = hm_sim_result(job->sim, &result);
    job->out->method = status == HM_OK
                           ? hmi_arena_text(job->results, result.method, strlen(result.method))
                           : NULL;
    return status == HM_OK && !job->out->method ? HM_ERR_NOMEM : status;
}

static hm_status work(hmi_action_job *job)
{
    level_figures levels[2] = {{.S = 0}, {.S = 0}};
    hm_status status = take_memory(job, levels);
    hmi_gauss_init(&job->gauss);
    job->out->no_variations = why_none(job);
    job->vary = !*job->out->no_variations;
    if (status == HM_OK)
        status = hmi_path_tape_init(&job->tape, job->system, job->results);
    if (status == HM_OK)
        status = find_start(job);
    if (status == HM_OK)
        status = refine(job, &levels[0], &levels[1]);
    hmi_path_tape_release(&job->tape);
    return status;
}

static bool options_make_sense(const hm_sim *sim, const hm_action_options *o)
{
    return o->modes <= MOST_MODES && o->tolerance > 0 && o->tolerance < 1 &&
           isfinite(o->run.start) && isfinite(o->run.end) && o->run.end > o->run.start &&
           (!o->end || hmi_values_finite(o->end, sim->system->derived.n));
}

hm_status hm_sim_action(hm_sim *sim, const hm_action_options *options, hm_action **action)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && action && !sim->in_callback,
                 "a sim and a place for the result are needed");
    hm_action_options defaults = hm_action_options_default(sim->system->model);
    const hm_action_options *o = options ? options : &defaults;
    *action = NULL;
    HMI_ARGUMENT(sim->context, options_make_sense(sim, o),
                 "a positive length of time, at most 50 modes, a tolerance below 1 and a finite "
                 "end are needed");
    const hm_system *system = sim->system;
    if (system->derived.total == HMI_NONE) {
        hmi_error(sim->context, hmi_no_span, "give `kinetic` or `lagrangian`",
                  "there is no Lagrangian: entries of `mass` are not constant");
        return HM_ERR_USAGE;
    }
    action_result *r = hmi_alloc(system->allocator, sizeof *r);
    if (!r)
        return HM_ERR_NOMEM;
    *r = (action_result){.system = system};
    hmi_share(&system->references);
    hmi_arena_init(&r->arena, system->allocator);
    r->action = (hm_action){.n = system->derived.n,
                            .m = system->derived.constraints.count,
                            .t_start = o->run.start,
                            .t_end = o->run.end};
    hmi_action_job job = {.sim = sim,
                          .system = system,
                          .options = o,
                          .allocator = system->allocator,
                          .out = &r->action,
                          .results = &r->arena,
                          .n = r->action.n,
                          .m = r->action.m};
    hm_status status = work(&job);
    if (status == HM_OK)
        *action = &r->action;
    else
        hm_action_destroy(&r->action);
    return status;
}
