/* The motion, run from its start to every Gauss point in turn. */
#include "analyse/action/action.h"
#include "linalg/dense.h"

#include <math.h>

enum { FIRST_PANELS = 16 };

/* ---- memory ---- */

static hm_status take_memory(hmi_action_job *job, unsigned level, hmi_action_path *path)
{
    bool failed = false;
    size_t n = path->n = job->n, m = path->m = job->m;
    hmi_arena_init(&path->arena, job->allocator);
    path->panels = (size_t)FIRST_PANELS << level;
    size_t points = path->points = path->panels * HMI_GAUSS_POINTS;
    double **by_point[] = {&path->t, &path->weight, &path->L, &path->E, &path->T};
    double **vectors[] = {&path->q, &path->v,  &path->dL_dq, &path->p,
                          &path->F, &path->Qi, &path->dE_dq, &path->dE_dv};
    double **matrices[] = {&path->A, &path->A_rate, &path->g_q};
    for (size_t i = 0; i < sizeof by_point / sizeof *by_point; i++)
        *by_point[i] = hmi_arena_doubles(&path->arena, points, &failed);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = hmi_arena_doubles(&path->arena, points * n, &failed);
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        *matrices[i] = hmi_arena_doubles(&path->arena, job->vary ? points * m * n : 1, &failed);
    path->units = hmi_arena_doubles(&path->arena, n, &failed);
    return failed ? HM_ERR_NOMEM : HM_OK;
}

void hmi_path_release(hmi_action_path *path)
{
    if (path->arena.allocator)
        hmi_arena_release(&path->arena);
}

/* ---- a point ---- */

/* The outputs of the tape at the sim's present state. */
static const double *run_tape(hmi_action_job *job, const double *qdd)
{
    hmi_tape_values values = hmi_sim_values(job->sim, hmi_sim_present(job->sim));
    values.by_kind[HMI_SYM_ACCELERATION] = qdd;
    hmi_tape_prepare(&job->tape.tape, &values, job->tape.work);
    hmi_tape_run(&job->tape.tape, &values, job->tape.work);
    return hmi_tape_outputs(&job->tape.tape, job->tape.work);
}

double hmi_path_lagrangian(hmi_action_job *job, const hmi_point *at)
{
    hmi_sim_refresh(job->sim, at);
    hmi_tape_values values = hmi_sim_values(job->sim, at);
    if (!values.by_kind[HMI_SYM_ACCELERATION])
        values.by_kind[HMI_SYM_ACCELERATION] = job->sim->last.qdd;
    hmi_tape_prepare(&job->tape.tape, &values, job->tape.work);
    hmi_tape_run(&job->tape.tape, &values, job->tape.work);
    return hmi_tape_outputs(&job->tape.tape, job->tape.work)[0];
}

/* F: impressed forces, found as Q + bias, with those that constraints and servos add. */
static void take_forces(hmi_action_path *path, const hm_evaluation *at, const double *bias,
                        size_t groups, size_t point)
{
    size_t n = path->n;
    double *F = path->F + point * n, *Qi = path->Qi + point * n;
    for (size_t i = 0; i < n; i++) {
        F[i] = at->Q[i] + bias[i] + (at->Qni ? at->Qni[i] : 0);
        Qi[i] = at->Qi ? at->Qi[i] : 0;
        for (size_t k = 0; at->u && k < groups; k++)
            F[i] += at->u[k * n + i];
    }
}

static void take_powers(hmi_action_path *path, const hm_evaluation *at, double weight)
{
    const double power[7] = {at->power.impressed,    at->power.dissipation, at->power.gyroscopic,
                             at->power.ideal,        at->power.nonideal,    at->power.servo,
                             at->power.explicit_time};
    for (int k = 0; k < 7; k++)
        path->power[k] += weight * fabs(power[k]);
}

hm_status hmi_path_take(hmi_action_job *job, hmi_action_path *path, size_t point)
{
    size_t n = path->n, mn = path->m * n;
    hm_evaluation at = {0};
    hm_evaluate_options options = hm_evaluate_options_default();
    options.compare = false;
    options.formulation = job->options->run.formulation;
    hm_status status = hm_sim_evaluate(job->sim, &options, &at);
    if (status != HM_OK)
        return status;
    const double *out = run_tape(job, at.qdd ? at.qdd : job->sim->last.qdd);
    path->t[point] = at.t;
    path->L[point] = *out++;
    hmi_copy((int)n, at.q, path->q + point * n);
    hmi_copy((int)n, at.v, path->v + point * n);
    hmi_copy((int)n, out, path->dL_dq + point * n);
    hmi_copy((int)n, out + n, path->p + point * n);
    take_forces(path, &at, out + 2 * n, hm_model_servo_group_count(job->system->model), point);
    hmi_copy((int)n, out + 3 * n, path->dE_dq + point * n);
    hmi_copy((int)n, out + 4 * n, path->dE_dv + point * n);
    if (job->vary) {
        hmi_copy((int)mn, out + 5 * n, path->A + point * mn);
        hmi_copy((int)mn, out + 5 * n + mn, path->A_rate + point * mn);
        hmi_copy((int)mn, out + 5 * n + 2 * mn, path->g_q + point * mn);
    }
    path->E[point] = at.has_total ? at.total : NAN;
    path->T[point] = at.has_energy ? at.kinetic : NAN;
    take_powers(path, &at, path->weight[point]);
    return HM_OK;
}

/* ---- the run ---- */

hm_run_options hmi_path_options(const hmi_action_job *job, unsigned level)
{
    hm_run_options o = job->options->run;
    double finer = pow(10, -(double)level);
    o.on_frame = NULL;
    o.on_progress = NULL;
    o.rtol = fmax(o.rtol * finer, fmin(o.rtol, 1e-14));
    o.atol *= finer;
    o.step = ldexp(o.step, -(int)level);
    return o;
}

/* Units of the coordinates, in which projections are orthogonal: square roots of their inertias. */
static hm_status find_units(hmi_action_job *job, hmi_action_path *path)
{
    size_t n = path->n;
    bool failed = false;
    hm_evaluation at = {0};
    double *M = hmi_arena_doubles(&path->arena, n * n, &failed);
    hm_status status = failed ? HM_ERR_NOMEM : hm_sim_evaluate(job->sim, NULL, &at);
    if (status != HM_OK)
        return status;
    hm_matrix_dense(&at.M, M);
    for (size_t i = 0; i < n; i++)
        path->units[i] = M[i * n + i] > 0 ? sqrt(M[i * n + i]) : 1;
    return HM_OK;
}

/* The motion to a time. A `stop` event before it is an end that was not asked for. */
static hm_status advance(hmi_action_job *job, double t)
{
    hm_run_result result;
    hm_status status = hm_sim_advance(job->sim, t);
    if (hm_sim_result(job->sim, &result) != HM_OK)
        return status != HM_OK ? status : HM_ERR_NUMERIC;
    if (status != HM_OK || result.status == HM_RUN_EVENT) {
        hmi_error(job->sim->context, hmi_no_span, "choose an earlier end with --to",
                  "the motion ends at t = %.9g, before the end of the path: %s", result.t_end,
                  result.message);
        return status != HM_OK ? status : HM_ERR_NUMERIC;
    }
    if (job->vary && (result.impact_count || result.work.reset != 0)) {
        job->vary = false;
        job->out->no_variations = "the motion has impacts, or events that set values";
    }
    return HM_OK;
}

static hm_status start_run(hmi_action_job *job, unsigned level, hm_run_options *options)
{
    *options = hmi_path_options(job, level);
    hmi_sim_set_state(job->sim, options->start, job->q0, job->v0, job->z0);
    return hm_sim_start(job->sim, options);
}

hm_status hmi_path_sample(hmi_action_job *job, unsigned level, hmi_action_path *path)
{
    hm_run_options o;
    *path = (hmi_action_path){0};
    hm_status status = take_memory(job, level, path);
    if (status == HM_OK)
        status = start_run(job, level, &o);
    if (status == HM_OK)
        status = find_units(job, path);
    if (status != HM_OK)
        return status;
    path->start = o.start;
    path->h = (o.end - o.start) / (double)path->panels;
    for (size_t k = 0; k < path->points && status == HM_OK; k++) {
        size_t panel = k / HMI_GAUSS_POINTS, i = k % HMI_GAUSS_POINTS;
        path->weight[k] = path->h * job->gauss.b[i];
        status = advance(job, o.start + path->h * ((double)panel + job->gauss.c[i]));
        if (status == HM_OK)
            status = hmi_path_take(job, path, k);
    }
    return status == HM_OK ? advance(job, o.end) : status;
}
