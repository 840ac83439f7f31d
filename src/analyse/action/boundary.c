/* The vakonomic motion between two points: L + mu g is stationary among paths with given ends  [Flannery 2005, (53)]
 *
 * Multiple shooting for y = (q, q', mu). The unknowns are y at the ends of the segments; the equations are that each
 * segment, run by the vakonomic system (compare/vakonomic.c), ends where the next begins, that q has the given ends,
 * and that g = 0 at the start. Newton's method with steps that reduce the misfit; the linear systems are solved with
 * least norm, since multipliers of exact constraints are free by constants, and ends that lie on positions'
 * constraints do not give independent conditions. The first guess is the motion itself with mu = 0: in mu the
 * equations are linear.
 * Verified: test/tool/action.sh
 */
#include "analyse/action/shooting.h"
#include "linalg/dense.h"

#include <math.h>

static const double wanted = 1e-9; /* misfit, relative to the sizes of the unknowns */

/* ---- what has none ---- */

static const char *why_none(const hmi_action_job *job)
{
    const hm_model *model = job->system->model;
    if (job->m == 0)
        return "there are no constraints: the motion itself is stationary";
    if (model->servos.count)
        return "the multiplier rule has no place for servos";
    if (job->system->derived.force_symbols || job->system->derived.has_nonideal)
        return "force laws that use reactions, and non-ideal constraints, have no multiplier rule";
    if (model->states.count)
        return "auxiliary states have no multiplier rule";
    if (model->has_contacts)
        return "one-sided or conditional constraints are not varied";
    for (size_t k = 0; k < job->m; k++)
        if (job->system->derived.constraints.velocity_residual[k] == HMI_NONE)
            return "a constraint on accelerations has no multiplier rule";
    return job->n > HMI_MOST_VARIED ? "there are more than 30 coordinates" : "";
}

/* ---- results ---- */

/* S of the motion found, by this many panels; keep: q at the points (or NULL). */
static hm_status integrate_action(hmi_shooting *x, size_t panels, double *S, double *keep)
{
    const hmi_gauss *gauss = &x->job->gauss;
    double start = x->t[0], h = (x->t[x->segments] - start) / (double)panels;
    size_t segment = x->segments; /* none is being run */
    hm_status status = HM_OK;
    *S = 0;
    for (size_t k = 0; k < panels * HMI_GAUSS_POINTS && status == HM_OK; k++) {
        size_t panel = k / HMI_GAUSS_POINTS, i = k % HMI_GAUSS_POINTS;
        double t = start + h * ((double)panel + gauss->c[i]);
        status = hmi_shooting_follow(x, &segment, t);
        if (status != HM_OK)
            break;
        const hmi_point at = {t, x->other->state.q, x->other->state.v, x->job->z0};
        *S += h * gauss->b[i] * hmi_path_lagrangian(x->job, &at);
        if (keep)
            hmi_copy((int)x->n, at.q, keep + k * x->n);
    }
    return status;
}

static hm_status describe(hmi_shooting *x, const hmi_action_path *path, hm_vakonomic_motion *out)
{
    bool failed = false;
    double coarse, *q = hmi_arena_doubles(x->job->results, path->points * x->n, &failed);
    double *mu = hmi_arena_doubles(x->job->results, x->k, &failed);
    double *v = hmi_arena_doubles(x->job->results, x->n, &failed);
    size_t *row = hmi_arena_alloc(x->job->results, (x->k + 1) * sizeof *row);
    if (failed || !row)
        return HM_ERR_NOMEM;
    hm_status status = integrate_action(x, path->panels / 2, &coarse, NULL);
    x->violation = 0;
    if (status == HM_OK)
        status = integrate_action(x, path->panels, &out->S.value, q);
    out->S.error = fabs(out->S.value - coarse);
    for (size_t k = 0; k < path->points * x->n; k++)
        q[k] = isfinite(q[k]) ? q[k] : 0;
    for (size_t k = 0; k < path->points; k++) {
        double sum = 0;
        for (size_t i = 0; i < x->n; i++)
            sum += pow(q[k * x->n + i] - path->q[k * x->n + i], 2);
        out->distance = fmax(out->distance, sqrt(sum));
    }
    hmi_copy((int)x->n, x->y + x->n, v);
    hmi_copy((int)x->k, x->y + 2 * x->n, mu);
    for (size_t k = 0; k < x->k; k++)
        row[k] = hm_comparison_mu_row(x->comparison, k);
    out->q = q;
    out->mu = mu;
    out->v = v;
    out->row = row;
    out->violation = x->violation;
    return status;
}

/* ---- the iteration ---- */

/* y + part * step where the misfit falls; false: nowhere. */
static bool try_steps(hmi_shooting *x, double *misfit)
{
    for (double part = 1; part > 1e-3; part /= 2) {
        for (size_t i = 0; i < x->unknowns; i++)
            x->trial[i] = x->y[i] + part * x->scale[i % x->dim] * x->step[i];
        double now = hmi_shooting_misfit(x, x->trial, x->residual);
        if (now < (1 - 0.1 * part) * *misfit || now <= wanted) {
            hmi_copy((int)x->unknowns, x->trial, x->y);
            *misfit = now;
            return true;
        }
    }
    return false;
}

static hm_status iterate(hmi_shooting *x, hm_vakonomic_motion *out)
{
    double misfit = hmi_shooting_misfit(x, x->y, x->residual);
    while (out->iterations < 60 && misfit > wanted) {
        out->iterations++;
        hm_status status = hmi_shooting_newton(x);
        if (status != HM_OK)
            return status;
        if (!try_steps(x, &misfit))
            break;
    }
    out->residual = misfit;
    out->found = misfit <= wanted;
    if (!out->found)
        out->message =
            isfinite(misfit)
                ? "Newton's method did not find one: its steps no longer reduce the misfit"
                : "the vakonomic equations cannot be followed along the motion";
    return HM_OK;
}

hm_status hmi_vakonomic_between(hmi_action_job *job, const hmi_action_path *path,
                                hm_vakonomic_motion *out)
{
    hmi_shooting x;
    *out = (hm_vakonomic_motion){.message = why_none(job), .residual = NAN, .S = {NAN, NAN}};
    if (*out->message)
        return HM_OK;
    hm_status status = hmi_shooting_init(&x, job, path);
    if (status == HM_OK) {
        out->k = x.k;
        out->segments = x.segments;
        status = iterate(&x, out);
    }
    if (status == HM_OK && out->found)
        status = describe(&x, path, out);
    hmi_shooting_release(&x);
    return status;
}
