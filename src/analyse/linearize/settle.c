/* What kind of state is it, and does its matrix stay the same along the motion? (job.h) */
#include "analyse/linearize/job.h"

#include "analyse/linearize/smoothness.h"
#include "base/text.h"
#include "linalg/dense.h"

#include <math.h>

/* ---- the period ---- */

enum { LOOKS = 12 };

/* Times that have no period in common. */
static double spread_time(int k, double T)
{
    return T * fmod(0.381966 + 0.6180339887498949 * k, 1);
}

static hm_status rates_and_slopes(hmi_job *j, double t, const double *x, double *J, double *rate)
{
    size_t n = j->r.n;
    const hmi_point at = {t, x, x + n, x + 2 * n};
    hm_status status = hmi_sim_jacobian(j->sim, &at, NULL, J);
    if (status == HM_OK) {
        hmi_copy((int)n, j->sim->last.qdd, rate);
        hmi_copy((int)j->r.states, hmi_sim_state_rates(j->sim), rate + n);
    }
    return status;
}

static double largest_difference(size_t count, const double *a, const double *b)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* Are the equations the same a time T later, with what moves uniformly moved on? */
static hm_status repeats(hmi_job *j, double T, const double *rate, bool *same)
{
    size_t rows = j->r.n + j->r.states, entries = rows * (j->r.size + 1);
    hmi_arena arena;
    bool failed = false;
    hmi_arena_init(&arena, j->r.arena.allocator);
    double *J = hmi_arena_doubles(&arena, 2 * entries + 2 * rows, &failed);
    double *x = hmi_arena_doubles(&arena, j->r.size, &failed);
    hm_status status = failed ? HM_ERR_NOMEM : HM_OK;
    *same = true;
    for (int k = 0; k < LOOKS && *same && status == HM_OK; k++) {
        double *later = J + entries, *f = later + entries, s = spread_time(k, T);
        hmi_copy((int)j->r.size, j->x, x);
        hmi_axpy((int)j->r.n, s, rate, x);
        status = rates_and_slopes(j, j->t + s, x, J, f);
        hmi_axpy((int)j->r.n, T, rate, x);
        if (status == HM_OK)
            status = rates_and_slopes(j, j->t + s + T, x, later, f + rows);
        if (status != HM_OK)
            break;
        double size = hmi_max_abs((int)entries, J), force = hmi_max_abs((int)rows, f);
        *same = largest_difference(entries, J, later) <= 1e-8 * size &&
                largest_difference(rows, f, f + rows) <= 1e-8 * (force + size);
    }
    hmi_arena_release(&arena);
    return status == HM_ERR_NOMEM ? status : HM_OK;
}

/* How t and what moves enter; a period that was given counts where the equations repeat after it. */
static hm_status read_time(hmi_job *j, const double *rate)
{
    double given = j->options->period;
    hm_status status = hmi_find_time_use(j->sim, rate, &j->use);
    if (status != HM_OK || !(given > 0))
        return status;
    bool same = false;
    status = repeats(j, given, rate, &same);
    j->use.course = same ? HMI_COURSE_PERIODIC : HMI_COURSE_OTHER;
    j->use.timed |= !same;
    j->use.period = same ? given : 0;
    if (!same)
        j->no_multipliers = "the equations do not repeat after the given period";
    return status;
}

hm_status hmi_period_of_motions(hmi_job *j, double *period)
{
    hmi_arena arena;
    bool failed = false;
    hmi_arena_init(&arena, j->r.arena.allocator);
    const double *nothing = hmi_arena_doubles(&arena, j->r.n, &failed);
    hm_status status = failed ? HM_ERR_NOMEM : read_time(j, nothing);
    hmi_arena_release(&arena);
    *period = j->use.course == HMI_COURSE_PERIODIC ? j->use.period : 0;
    return status;
}

/* ---- along a motion at rest ---- */

static hm_status start_look(hmi_job *j)
{
    bool failed = false;
    size_t area = j->kept.count * j->kept.count;
    j->look = (hmi_reference_look){.kept = j->kept.count};
    j->look.change = hmi_arena_doubles(&j->r.arena, area, &failed);
    j->look.noise = hmi_arena_doubles(&j->r.arena, area, &failed);
    return failed ? HM_ERR_NOMEM : HM_OK;
}

/* Where nothing has a period: so far as what moves turns by a few radians, and t by as much. */
static double look_time(const hmi_job *j, int k)
{
    static const double turns[LOOKS] = {0.37,  -0.81, 1.93,  0.013, -5.1, 7.7,
                                        -13.3, 29,    -0.11, 61,    -170, 1000};
    double fastest = hmi_max_abs((int)j->r.n, j->r.rate);
    if (j->use.course == HMI_COURSE_PERIODIC)
        return spread_time(k, j->use.period);
    return turns[k] / (fastest > j->options->tolerance ? fastest : 1);
}

static hm_status look_along(hmi_job *j, bool at_rest)
{
    hm_status status = start_look(j);
    if (status == HM_OK)
        status = hmi_reference_init(&j->reference, &j->r, &j->kept, j->options->tolerance);
    if (status == HM_OK)
        status = read_time(j, j->reference.rate);
    bool still = j->use.course == HMI_COURSE_STILL;
    int count = still && at_rest ? 0 : still ? 3 : LOOKS;
    for (int k = 0; k < count && status == HM_OK; k++)
        status = hmi_reference_look_at(&j->reference, look_time(j, k), &j->look);
    j->constant = still || (!j->look.changed && !j->look.failed &&
                            (j->use.course == HMI_COURSE_PERIODIC || !j->use.timed));
    return status;
}

/* ---- at rest, steady ---- */

static hm_status settle_at_rest(hmi_job *j)
{
    double tolerance = j->options->tolerance;
    hmi_choose_kept(&j->r, false, &j->kept);
    /* Dependent variables count, too: constraints that move with t carry them along. */
    bool at_rest = hmi_max_abs((int)j->r.size, j->r.rate) <= tolerance;
    j->drop = j->options->ignorable == HM_IGNORABLE_DROP ||
              (j->options->ignorable == HM_IGNORABLE_WHEN_MOVING && !at_rest);
    hmi_choose_kept(&j->r, j->drop, &j->kept);
    bool candidate = at_rest ||
                     (j->drop && j->kept.count > 0 && hmi_kept_rate(&j->r, &j->kept) <= tolerance);
    hm_status status = HM_OK;
    bool rests = false;
    if (candidate) {
        status = look_along(j, at_rest);
        rests = status == HM_OK && j->look.rate <= 10 * tolerance;
    }
    if (rests)
        j->out->face.rest = at_rest && j->look.motion <= 10 * tolerance ? HM_REST_EQUILIBRIUM
                                                                        : HM_REST_STEADY;
    j->at_instant = candidate && !rests;
    if (!rests && j->options->ignorable != HM_IGNORABLE_DROP) {
        hmi_reference_release(&j->reference);
        j->drop = false;
        hmi_choose_kept(&j->r, false, &j->kept);
    }
    return status;
}

/* ---- relative equilibria ---- */

/* "x' = 1 - 2*y, ...": the velocity of the moving frame. */
static const char *frame_text(hmi_job *j)
{
    const hmi_relative_equilibrium *rel = &j->relative;
    size_t n = j->r.n;
    double largest = hmi_max_abs((int)rel->unknowns, rel->moving);
    hmi_text text;
    hmi_text_init(&text, j->out->allocator);
    for (size_t i = 0; i < n; i++) {
        bool begun = false;
        for (size_t k = 0; k <= n && (k == 0 || rel->unknowns > n); k++) {
            double c = rel->moving[k == 0 ? i : n + i * n + k - 1];
            if (fabs(c) <= 1e-9 * largest)
                continue;
            if (!begun)
                hmi_text_addf(&text, "%s%s = ", text.length ? ", " : "",
                              hmi_reduction_name(j->sim, n + i));
            hmi_text_addf(&text, "%s%.10g",
                          !begun  ? c < 0 ? "-" : ""
                          : c < 0 ? " - "
                                  : " + ",
                          fabs(c));
            if (k > 0)
                hmi_text_addf(&text, "*%s", hmi_reduction_name(j->sim, k - 1));
            begun = true;
        }
    }
    const char *kept = text.failed
                           ? NULL
                           : hmi_arena_text(&j->out->arena, hmi_text_view(&text), text.length);
    hmi_text_release(&text);
    return kept;
}

/* Tried where the state is neither at rest nor steady: does it move along a symmetry? */
static hm_status settle_relative(hmi_job *j)
{
    hm_linearization *face = &j->out->face;
    hm_status status = hmi_relative_equilibrium_init(&j->relative, &j->r);
    if (status != HM_OK || j->relative.count == 0)
        return status;
    status = hmi_relative_equilibrium_update(&j->relative);
    if (status != HM_OK || !(j->relative.residual <= j->options->tolerance)) {
        hm_status again = hmi_reduction_update(&j->r, j->t, j->x); /* A as it was */
        return status == HM_OK ? again : status;
    }
    face->rest = HM_REST_RELATIVE;
    face->symmetries = j->relative.count;
    face->frame = frame_text(j);
    j->constant = true; /* symmetries are looked for only where t is not in the equations */
    j->kept.count = 0;
    for (size_t k = 0; k < j->r.dimension; k++)
        if (!j->relative.out[k])
            j->kept.index[j->kept.count++] = k;
    return face->frame ? HM_OK : HM_ERR_NOMEM;
}

/* ---- periodic ---- */

/* Multipliers, and for a motion that is not at rest whether it comes back; why not, where it fails. */
static hm_status follow_period(hmi_job *j, bool at_rest)
{
    bool may = false;
    hm_status status = hmi_may_switch(j->sim, !at_rest, &may);
    if (status == HM_OK && may) {
        j->no_multipliers = "functions that are not smooth may switch along the motion";
        return HM_OK;
    }
    if (status == HM_OK)
        status = hmi_floquet_init(&j->floquet, &j->r.arena, &j->reference);
    if (status != HM_OK)
        return status;
    j->floquet.at_rest = at_rest;
    j->floquet.period = j->use.period;
    status = hmi_floquet_compute(&j->floquet);
    if (status == HM_ERR_NOMEM)
        return status;
    if (status != HM_OK)
        j->no_multipliers = status == HM_ERR_LIMIT
                                ? "one period takes more steps than are allowed"
                                : "the deviations cannot be followed over one period";
    return HM_OK;
}

/* Does the state belong to a motion of the period of the equations? */
static hm_status settle_periodic(hmi_job *j)
{
    double period = 0, size = 1;
    hm_status status = hmi_period_of_motions(j, &period);
    if (status != HM_OK || !(period > 0) || j->kept.count == 0 ||
        !(j->use.timed || j->options->period > 0))
        return status;
    bool drop = j->options->ignorable != HM_IGNORABLE_KEEP;
    hmi_reference_release(&j->reference);
    hmi_choose_kept(&j->r, drop, &j->kept);
    status = hmi_reference_init(&j->reference, &j->r, &j->kept, INFINITY);
    if (status == HM_OK)
        status = follow_period(j, false);
    for (size_t k = 0; k < j->r.size; k++)
        size = fmax(size, fabs(j->x[k]));
    if (status == HM_OK && !j->no_multipliers &&
        j->floquet.closure <= 10 * j->options->tolerance * size) {
        j->out->face.rest = HM_REST_PERIODIC;
        j->drop = drop;
        return HM_OK;
    }
    j->floquet.ref = NULL;
    hmi_reference_release(&j->reference);
    hmi_choose_kept(&j->r, j->drop, &j->kept);
    return status;
}

hm_status hmi_job_settle(hmi_job *j)
{
    hm_linearization *face = &j->out->face;
    hm_status status = settle_at_rest(j);
    if (status == HM_OK && face->rest == HM_REST_NONE && j->options->ignorable != HM_IGNORABLE_KEEP)
        status = settle_relative(j);
    if (status == HM_OK && face->rest == HM_REST_NONE)
        status = settle_periodic(j);
    bool given = j->options->period > 0 && face->rest != HM_REST_RELATIVE;
    bool rests = face->rest == HM_REST_EQUILIBRIUM || face->rest == HM_REST_STEADY;
    if (status == HM_OK && rests && (!j->constant || given) && j->use.course == HMI_COURSE_PERIODIC)
        status = follow_period(j, true);
    return status;
}
