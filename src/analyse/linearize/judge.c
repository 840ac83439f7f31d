/* Matrix, eigenvalues, multipliers, their errors, and what they say about stability (job.h).
 *
 * A matrix has errors beside rounding: the state was found by a search and is off by about another
 * Newton step, and its entries were solved for. Both are measured: the matrix is computed again at
 * the state moved by that step, and at states that differ by rounding. An eigenvalue whose real part
 * is within its error of zero has none that anything follows from.
 * Verified: test/physics/test_verdicts.c, test/physics/test_floquet.c
 */
#include "analyse/linearize/job.h"

#include "analyse/linearize/smoothness.h"
#include "base/random.h"
#include "base/text.h"
#include "linalg/dense.h"

#include <math.h>

/* ---- the matrix and its error ---- */

/* The same for relative equilibria: the frame belongs to the state. It is that of j->x afterwards. */
static hm_status relative_matrix_at(hmi_job *j, const double *x, const double *change, double *A,
                                    bool *same)
{
    hm_status status = hmi_reduction_update_like(&j->r, &j->probe, j->t, x);
    if (status == HM_OK)
        hmi_relative_equilibrium_update_near(&j->relative, change);
    *same = status == HM_OK;
    for (size_t k = 0; k < j->kept.count && *same; k++)
        *same = !j->relative.out[j->kept.index[k]];
    if (*same)
        hmi_relative_equilibrium_matrix(&j->relative, A);
    hm_status again = hmi_reduction_update(&j->r, j->t, j->x);
    if (again == HM_OK)
        again = hmi_relative_equilibrium_update(&j->relative);
    return status == HM_ERR_NOMEM ? status : again;
}

/* The matrix of y at another state, `same` where it is over the same variables. */
static hm_status matrix_at(hmi_job *j, double *x, const double *change, double *A, bool *same)
{
    hm_status status = hmi_reduction_restore(&j->probe, j->t, x);
    if (status == HM_OK)
        status = hmi_reduction_update_like(&j->probe, &j->r, j->t, x);
    *same = status == HM_OK;
    if (!*same)
        return status;
    if (j->out->face.rest != HM_REST_RELATIVE) {
        hmi_kept_matrix(&j->probe, &j->kept, A);
        return HM_OK;
    }
    return relative_matrix_at(j, x, change, A, same);
}

/* A small step from the state, and that of omega of a relative equilibrium. */
typedef struct state_change {
    double *dx;
    double *omega; /* NULL: none */
} state_change;

/* E += weight |A(x + dx) - A(x)| */
static hm_status add_difference(hmi_job *j, const state_change *to, double weight, const double *A,
                                double *E)
{
    size_t d = j->out->face.dimension;
    hmi_arena arena;
    bool failed = false, same = false;
    hmi_arena_init(&arena, j->r.arena.allocator);
    double *x = hmi_arena_doubles(&arena, j->r.size, &failed);
    double *moved = hmi_arena_doubles(&arena, d * d, &failed);
    hm_status status = failed ? HM_ERR_NOMEM : HM_OK;
    if (status == HM_OK) {
        hmi_copy((int)j->r.size, j->x, x);
        hmi_axpy((int)j->r.size, 1, to->dx, x);
        status = hmi_reduction_update_like(&j->probe, &j->r, j->t, j->x);
        if (status == HM_OK)
            status = matrix_at(j, x, to->omega, moved, &same);
    }
    for (size_t i = 0; i < d * d && same; i++)
        E[i] += weight * fabs(moved[i] - A[i]);
    hmi_arena_release(&arena);
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

static hm_status state_error(hmi_job *j, const state_change *error)
{
    const hm_linearization *face = &j->out->face;
    hmi_zero((int)j->r.size, error->dx);
    if (face->rest == HM_REST_RELATIVE)
        return hmi_relative_equilibrium_error(&j->relative, error->dx, error->omega);
    if (face->rest == HM_REST_EQUILIBRIUM || face->rest == HM_REST_STEADY)
        return hmi_rest_error(&j->r, &j->kept, face->family, error->dx);
    return HM_OK;
}

/* E = what rounding makes of the entries. */
static hm_status start_error(hmi_job *j, double *E)
{
    size_t d = j->r.dimension, count = j->kept.count;
    hmi_arena arena;
    bool failed = false;
    hmi_arena_init(&arena, j->r.arena.allocator);
    double *all = hmi_arena_doubles(&arena, d * d, &failed);
    if (!failed) {
        hmi_reduction_rounding(&j->r, all);
        if (j->out->face.rest == HM_REST_RELATIVE)
            hmi_relative_equilibrium_rounding(&j->relative, all, E);
        else
            for (size_t i = 0; i < count * count; i++)
                E[i] = all[j->kept.index[i / count] * d + j->kept.index[i % count]];
    }
    hmi_arena_release(&arena);
    return failed ? HM_ERR_NOMEM : HM_OK;
}

static hm_status find_error(hmi_job *j, const double *A, double *E, const state_change *error)
{
    hmi_random random = {20261121};
    size_t d = j->out->face.dimension;
    /* What was seen along the motion counts where it was seen of these variables. */
    const double *noise = j->constant && j->look.kept == d && j->out->face.rest != HM_REST_RELATIVE
                              ? j->look.noise
                              : NULL;
    hm_status status = start_error(j, E);
    if (status == HM_OK)
        status = add_difference(j, error, 4, A, E);
    for (int k = 0; k < 2 && status == HM_OK; k++) {
        for (size_t i = 0; i < j->r.size; i++)
            error->dx[i] = 8 * HMI_EPSILON * fabs(j->x[i]) * hmi_random_between(&random, -1, 1);
        status = add_difference(j, &(state_change){error->dx, NULL}, 2, A, E);
    }
    for (size_t i = 0; i < d; i++) { /* derivatives by differences have about ten digits */
        double size = hmi_sim_jacobian_is_exact(j->sim) ? 0 : hmi_max_abs((int)d, A + i * d);
        for (size_t k = 0; k < d; k++)
            E[i * d + k] += 1e-9 * size + (noise ? noise[i * d + k] : 0);
    }
    return status;
}

/* ---- eigenvalues ---- */

static hm_status take_eigenvalues(hmi_job *j, double *A, const state_change *off)
{
    hm_linearization *face = &j->out->face;
    hmi_spectrum spectrum;
    size_t d = face->dimension;
    bool failed = false;
    double *E = hmi_arena_doubles(&j->r.arena, d * d, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    hm_status status = find_error(j, A, E, off);
    if (status == HM_OK)
        status = hmi_spectrum_of(&spectrum, &j->out->arena, d, A, E);
    if (status != HM_OK)
        return status;
    face->A = A;
    face->re = spectrum.re;
    face->im = spectrum.im;
    face->error = spectrum.error;
    face->modes_re = spectrum.modes_re;
    face->modes_im = spectrum.modes_im;
    return HM_OK;
}

static hm_status take_matrix(hmi_job *j, double *A)
{
    hm_linearization *face = &j->out->face;
    if (face->rest == HM_REST_RELATIVE) {
        hmi_relative_equilibrium_matrix(&j->relative, A);
        return hmi_relative_equilibrium_family(&j->relative, A, &face->family);
    }
    hmi_kept_matrix(&j->r, &j->kept, A);
    bool rests = face->rest == HM_REST_EQUILIBRIUM || face->rest == HM_REST_STEADY;
    if (!rests || !j->constant)
        return HM_OK;
    return hmi_family_dimension(&j->r, &j->kept, j->drop, &face->family);
}

/* ---- multipliers ---- */

/* Falling modulus, pairs together. */
static void sort_multipliers(hmi_spectrum *s)
{
    for (size_t i = 1; i < s->size; i++)
        for (size_t k = i; k > 0; k--) {
            double before = hypot(s->re[k - 1], s->im[k - 1]), now = hypot(s->re[k], s->im[k]);
            if (before >= now)
                break;
            double *lists[3] = {s->re, s->im, s->error};
            for (int l = 0; l < 3; l++) {
                double kept = lists[l][k];
                lists[l][k] = lists[l][k - 1];
                lists[l][k - 1] = kept;
            }
        }
}

static hm_status take_multipliers(hmi_job *j)
{
    hm_linearization *face = &j->out->face;
    size_t d = face->dimension;
    bool failed = false;
    hmi_spectrum spectrum;
    double *Phi = hmi_arena_doubles(&j->r.arena, d * d, &failed);
    double *E = hmi_arena_doubles(&j->r.arena, d * d, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    if (hmi_floquet_kept(&j->floquet, Phi, E) != HM_OK) {
        j->no_multipliers = "coordinates that were left out act on the others (--keep keeps them)";
        return HM_OK;
    }
    hm_status status = hmi_spectrum_of(&spectrum, &j->out->arena, d, Phi, E);
    if (status == HM_ERR_NUMERIC) {
        j->no_multipliers = "the multipliers could not be computed";
        return HM_OK;
    }
    if (status != HM_OK)
        return status;
    sort_multipliers(&spectrum);
    face->multiplier_re = spectrum.re;
    face->multiplier_im = spectrum.im;
    face->multiplier_error = spectrum.error;
    return HM_OK;
}

/* ---- the verdict ---- */

static void judge_signs(hm_linearization *face, bool growing, bool neutral)
{
    face->stability = growing   ? HM_STABILITY_UNSTABLE
                      : neutral ? HM_STABILITY_MARGINAL
                                : HM_STABILITY_STABLE;
}

/* How many eigenvalues are nearer to 0 than this one. */
static size_t place_from_zero(const hm_linearization *face, size_t k)
{
    size_t place = 0;
    double own = hypot(face->re[k], face->im[k]);
    for (size_t i = 0; i < face->dimension; i++) {
        double other = hypot(face->re[i], face->im[i]);
        place += other < own || (other == own && i < k);
    }
    return place;
}

/* Zero eigenvalues that belong to a family of states at rest do not decide: where the others have
 * negative real parts the state is stable (Lyapunov-Malkin), and a disturbed motion settles on a
 * neighbour. A family of f states makes f eigenvalues exactly zero: the f nearest to it. */
static void judge_eigenvalues(hm_linearization *face)
{
    bool growing = false, neutral = false;
    face->zeros = 0;
    for (size_t k = 0; k < face->dimension; k++) {
        double error = face->error[k];
        bool of_family = place_from_zero(face, k) < face->family;
        face->zeros += of_family || hypot(face->re[k], face->im[k]) <= error;
        growing |= !of_family && face->re[k] > error;
        neutral |= !of_family && fabs(face->re[k]) <= error;
    }
    judge_signs(face, growing, neutral);
}

/* A motion that could begin later has a multiplier 1: the one nearest to it. */
static void judge_multipliers(hm_linearization *face, bool shifts)
{
    bool growing = false, neutral = false;
    size_t nearest = face->dimension;
    double least = INFINITY;
    for (size_t k = 0; k < face->dimension && shifts; k++) {
        double distance = hypot(face->multiplier_re[k] - 1, face->multiplier_im[k]);
        if (distance < least) {
            least = distance;
            nearest = k;
        }
    }
    for (size_t k = 0; k < face->dimension; k++) {
        double size = hypot(face->multiplier_re[k], face->multiplier_im[k]);
        growing |= k != nearest && size - 1 > face->multiplier_error[k];
        neutral |= k != nearest && fabs(size - 1) <= face->multiplier_error[k];
    }
    judge_signs(face, growing, neutral);
}

static const char *undecided_reason(const hmi_job *j)
{
    const hm_linearization *face = &j->out->face;
    if (face->rest == HM_REST_NONE)
        return j->use.timed && j->at_instant
                   ? "t is in the equations, and the state is at rest at this instant only"
                   : "the state is neither at rest nor steady";
    if (j->no_multipliers)
        return j->no_multipliers;
    if (j->use.no_common)
        return "the equations change with frequencies that have no common period";
    return j->use.timed ? "the equations depend on t, and no period can be read from them"
                        : "the matrix changes along the motion, and no period can be read from it";
}

static void judge(hmi_job *j)
{
    hm_linearization *face = &j->out->face;
    bool rests = face->rest != HM_REST_NONE && face->rest != HM_REST_PERIODIC;
    judge_eigenvalues(face);
    if (rests && j->constant)
        return;
    if (face->rest != HM_REST_NONE && face->multiplier_re) {
        judge_multipliers(face, face->rest == HM_REST_PERIODIC && !j->use.timed);
        return;
    }
    face->stability = HM_STABILITY_UNDECIDED;
    face->reason = undecided_reason(j);
}

static void take_time(hmi_job *j)
{
    hm_linearization *face = &j->out->face;
    bool rests = face->rest == HM_REST_EQUILIBRIUM || face->rest == HM_REST_STEADY;
    face->time = face->rest == HM_REST_RELATIVE || (rests && j->constant) ? HM_TIME_DEPENDENCE_NONE
                 : j->use.course == HMI_COURSE_PERIODIC && (j->use.timed || rests)
                     ? HM_TIME_DEPENDENCE_PERIODIC
                 : j->use.course == HMI_COURSE_STILL || !(j->use.timed || rests)
                     ? HM_TIME_DEPENDENCE_NONE
                     : HM_TIME_DEPENDENCE_OTHER;
    if (face->time == HM_TIME_DEPENDENCE_PERIODIC || face->multiplier_re)
        face->period = j->use.period;
}

/* ---- no derivative ---- */

static hm_status report_kink(hmi_job *j, const char *kink)
{
    hm_linearization *face = &j->out->face;
    hmi_text text;
    hmi_text_init(&text, j->out->allocator);
    hmi_text_addf(&text, "%s has no derivative at this state", kink);
    face->reason = text.failed ? NULL
                               : hmi_arena_text(&j->out->arena, hmi_text_view(&text), text.length);
    hmi_text_release(&text);
    face->stability = HM_STABILITY_UNDECIDED;
    return face->reason ? HM_OK : HM_ERR_NOMEM;
}

hm_status hmi_job_judge(hmi_job *j)
{
    hm_linearization *face = &j->out->face;
    size_t d = face->dimension;
    bool failed = false;
    const char *kink = NULL;
    double *A = hmi_arena_doubles(&j->out->arena, d * d, &failed);
    state_change off;
    off.dx = hmi_arena_doubles(&j->r.arena, j->r.size, &failed);
    off.omega = hmi_arena_doubles(&j->r.arena, j->relative.count, &failed);
    double *spread = hmi_arena_doubles(&j->r.arena, j->r.size, &failed);
    hm_status status = failed ? HM_ERR_NOMEM : state_error(j, &off);
    for (size_t k = 0; k < j->r.size && status == HM_OK; k++)
        spread[k] = fabs(off.dx[k]);
    if (status == HM_OK)
        status = hmi_find_kink(&j->r, &j->probe, spread, &j->r.arena, &kink);
    if (status != HM_OK || kink)
        return status == HM_OK ? report_kink(j, kink) : status;
    status = take_matrix(j, A);
    if (status == HM_OK)
        status = state_error(j, &off);
    if (status == HM_OK)
        status = take_eigenvalues(j, A, &off);
    if (status == HM_OK && j->floquet.ref && !j->no_multipliers)
        status = take_multipliers(j);
    if (status == HM_OK) {
        judge(j);
        take_time(j);
    }
    return status;
}
