/* Is the motion well posed? This looks at the initial state and at ranks along a short run; lipschitz.c
 * looks for functions that are not Lipschitz. The initial state comes first, since random points are
 * drawn around it.
 * Verified: test/unit/analyse/test_wellposed.c
 */
#include "dynamics/sim/sim.h"
#include "dynamics/sim/evaluation.h"
#include "analyse/classify/analysis.h"
#include "linalg/linalg.h"

#include <hamel/run.h>

#include <math.h>
#include <string.h>

enum { RUN_STEPS = 200, RUN_SAMPLES = 20, MOST_SVD = 120 };

/* ---- ranks ---- */

/* Singular values of A with rows of unit length: the smallest of the first `rank`, which is the
 * distance to the nearest matrix of lower rank [Eckart and Young 1936]. */
static hm_status rank_distance(hmi_analysis *a, const hm_evaluation *at, double *distance)
{
    size_t n = at->A.columns, m = at->A.rows;
    double *A = hmi_alloc(a->allocator, (m * n + m + m * m + 1) * sizeof *A);
    double *sigma = A + m * n, *V = sigma + m;
    if (!A)
        return HM_ERR_NOMEM;
    hm_matrix_dense(&at->A, A);
    for (size_t i = 0; i < m; i++) {
        double length = hmi_norm((int)n, A + i * n);
        for (size_t j = 0; j < n && length > 0; j++)
            A[i * n + j] /= length;
    }
    hmi_svd((int)n, (int)m, A, sigma, V);
    *distance = at->rank_A > 0 && (size_t)at->rank_A <= m ? sigma[at->rank_A - 1] : 0;
    hmi_free(a->allocator, A, (m * n + m + m * m + 1) * sizeof *A);
    return HM_OK;
}

static hm_status look_at_state(hmi_analysis *a, hm_sim *sim, hm_status *solved, double *distance,
                               hm_evaluation *at)
{
    const hm_evaluate_options options = {.formulation = HM_FORMULATION_AUTO, .compare = false};
    *solved = hm_sim_evaluate(sim, &options, at);
    if (*solved == HM_OK && at->rows_vanish)
        *solved = hmi_sim_refuse_vanished(sim, at);
    *distance = 0;
    if (*solved == HM_ERR_NOMEM)
        return *solved;
    bool known = at->solved && at->A.rows > 0 && at->A.rows <= MOST_SVD &&
                 at->A.columns <= MOST_SVD;
    return known ? rank_distance(a, at, distance) : HM_OK;
}

/* ---- the initial state ---- */

static hm_status copy_moves(hmi_analysis *a, const hm_moved *moved, size_t count)
{
    hm_wellposedness *w = &a->shown.wellposedness;
    const char **name = hmi_arena_alloc(&a->arena, (count + 1) * sizeof *name);
    double *to = hmi_arena_alloc(&a->arena, (count + 1) * sizeof *to);
    if (!name || !to)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        to[i] = moved[i].to;
        name[i] = hmi_arena_text(&a->arena, moved[i].name, strlen(moved[i].name));
        if (!name[i])
            return HM_ERR_NOMEM;
    }
    w->moved_name = name;
    w->moved_to = to;
    w->moved_count = count;
    return HM_OK;
}

static hm_status settle(hmi_analysis *a, hm_sim *sim)
{
    const hm_moved *moved = NULL;
    size_t count = 0;
    hm_wellposedness *w = &a->shown.wellposedness;
    if (a->model->keep_initial) {
        w->kept = true; /* run as it is */
        return HM_OK;
    }
    hm_status status = hm_sim_make_consistent(sim, false, &moved, &count);
    w->consistent = status == HM_OK;
    if (status == HM_OK)
        status = copy_moves(a, moved, count);
    else if (status != HM_ERR_NOMEM) {
        w->message = "the initial state cannot be made consistent";
        status = HM_OK;
    }
    return status;
}

/* Notes the ranks at one state of the run; *good is false where they cannot be found. */
static hm_status look_along(hmi_analysis *a, hm_sim *probe, double t, bool *good)
{
    hm_wellposedness *w = &a->shown.wellposedness;
    hm_evaluation at;
    hm_status solved;
    double distance;
    hmi_sim_set_state(probe, t, a->q0, a->v0, a->z0);
    hm_status status = look_at_state(a, probe, &solved, &distance, &at);
    *good = status == HM_OK && solved == HM_OK && at.solved;
    if (!*good)
        return status;
    w->run_end = t;
    w->rank_lowest = at.rank_A < w->rank_lowest ? at.rank_A : w->rank_lowest;
    w->rank_highest = at.rank_A > w->rank_highest ? at.rank_A : w->rank_highest;
    w->unique_acceleration &= at.unique_acceleration || at.velocity_determined;
    if (distance < w->distance_lowest * (1 - 1e-9)) {
        w->distance_lowest = distance;
        w->distance_time = t;
    }
    return HM_OK;
}

/* Takes steps, and looks at the sample times that each step passes. */
static hm_status step_along(hmi_analysis *a, hm_sim *sim, hm_sim *probe, double start, double end)
{
    int sample = 1;
    bool good = true;
    hm_status status = HM_OK;
    for (int k = 0; status == HM_OK && good && k < RUN_STEPS && sample <= RUN_SAMPLES; k++) {
        status = hm_sim_step(sim);
        while (status == HM_OK && good && sample <= RUN_SAMPLES) {
            double t = start + (end - start) * sample / RUN_SAMPLES;
            if (t > hm_sim_time(sim))
                break;
            status = hm_sim_interpolate(sim, t, a->q0, a->v0, a->z0);
            if (status == HM_OK)
                status = look_along(a, probe, t, &good);
            sample++;
        }
    }
    return status;
}

/* Ranks in the first tenth of the run; what stops it is no matter of this, and what it would say is
 * for `run` to say. */
static hm_status follow_run(hmi_analysis *a, hm_sim *sim, hm_sim *probe)
{
    hm_run_options options = hm_run_options_default(a->model);
    hm_status status = hm_sim_start(sim, &options);
    if (status == HM_OK)
        status = step_along(a, sim, probe, options.start,
                            options.start + (options.end - options.start) / 10);
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

/* Do position and velocity constraints hold? */
static bool holds(const hmi_analysis *a, const hm_evaluation *at)
{
    double worst = 0;
    for (size_t i = 0; i < a->model->constraints.count; i++)
        worst = fmax(worst, fmax(fabs(at->position_residual[i]), fabs(at->velocity_residual[i])));
    return worst < 1e-9;
}

static void take_initial(hmi_analysis *a, const hm_evaluation *at, double distance)
{
    hm_wellposedness *w = &a->shown.wellposedness;
    if (w->kept)
        w->consistent = holds(a, at);
    w->known = at->solved;
    w->rank_M = at->rank_M;
    w->rank_A = w->rank_lowest = w->rank_highest = at->rank_A;
    w->definite = at->definite;
    w->semidefinite = at->semidefinite;
    w->unique_acceleration = at->unique_acceleration || at->velocity_determined;
    w->unique_multipliers = at->unique_multipliers;
    w->gram_condition = at->gram_condition;
    w->distance = w->distance_lowest = distance;
    w->distance_time = w->run_end = at->t;
}

/* Why there is no motion: what the evaluation said. */
static hm_status take_reason(hmi_analysis *a, const hm_sim *probe, hm_status solved)
{
    const hm_diagnostic *said = hm_context_diagnostic(hm_sim_context(probe), 0);
    const char *reason = said ? said->message : hm_status_text(solved);
    a->shown.wellposedness.message = hmi_analysis_text(a, "%s", reason);
    return a->shown.wellposedness.message ? HM_OK : HM_ERR_NOMEM;
}

static hm_status with_sims(hmi_analysis *a, hm_sim *sim, hm_sim *probe)
{
    size_t n = a->model->coords.count, z = a->model->states.count;
    double distance;
    hm_status solved;
    hm_evaluation at;
    hm_status status = settle(a, sim);
    if (status != HM_OK)
        return status;
    hm_sim_state(sim, a->q0, a->v0, a->z0);
    a->t0 = hm_sim_time(sim);
    hmi_sim_set_state(probe, a->t0, a->q0, a->v0, a->z0);
    status = look_at_state(a, probe, &solved, &distance, &at);
    if (status == HM_OK && solved != HM_OK)
        status = take_reason(a, probe, solved);
    hmi_context_take(a->context, hm_sim_context(sim));
    hmi_context_take(a->context, hm_sim_context(probe));
    if (status != HM_OK)
        return status;
    take_initial(a, &at, distance);
    double *kept = hmi_arena_alloc(&a->arena, (2 * n + z + 1) * sizeof *kept);
    if (!kept)
        return HM_ERR_NOMEM;
    hmi_copy((int)(2 * n + z), a->q0, kept);
    const hm_wellposedness *w = &a->shown.wellposedness;
    if (solved == HM_OK && at.solved && (w->consistent || w->kept) && n <= HM_MOST_CLASSIFIED)
        status = follow_run(a, sim, probe);
    hmi_copy((int)(2 * n + z), kept, a->q0);
    return status;
}

hm_status hmi_analyse_start(hmi_analysis *a)
{
    hm_sim *sim = NULL, *probe = NULL;
    size_t n = a->model->coords.count, z = a->model->states.count;
    a->q0 = hmi_arena_alloc(&a->arena, (2 * n + z + 1) * sizeof(double));
    if (!a->q0)
        return HM_ERR_NOMEM;
    a->v0 = a->q0 + n;
    a->z0 = a->v0 + n;
    hm_model_initial(a->model, a->q0, a->v0, a->z0);
    hm_status status = hm_sim_create(a->system, &sim);
    if (status == HM_OK)
        status = hm_sim_create(a->system, &probe);
    if (status == HM_OK)
        status = with_sims(a, sim, probe);
    hm_sim_destroy(probe);
    hm_sim_destroy(sim);
    return status;
}
