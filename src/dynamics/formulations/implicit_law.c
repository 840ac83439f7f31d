/* Laws in the total reaction are implicit: told -> Q, C -> motion -> multipliers closes a loop,
 *     F(told) = multipliers(told) - told = 0,
 * solved by Newton's method with difference quotients. A law may have no value at zero reactions, or at others
 * (creep laws, roots and quotients of reactions), so it is started from
 *   the reaction of the ideal problem,
 *   the reaction at the last state,
 *   the ideal problem again, the law coming in by and by (continuation),
 *   the ideal reaction with every pattern of signs, where small ones are enlarged.
 * Where a verdict is asked for all of them are tried: such laws have |told| in them, so that there may be further
 * solutions, or none (Painleve 1895).
 * Verified: test/unit/dynamics/test_law.c
 */
#include "dynamics/formulations/laws.h"

/* F := multipliers(told) - told */
static bool defect(hmi_law_loop *p, const double *told, double *F)
{
    if (!hmi_tell_law(p, told))
        return false;
    hmi_move_under(p->d, p->u);
    hmi_read_told(p, F);
    hmi_axpy(p->size, -1, told, F);
    return true;
}

/* A column of dF/dtold by a difference to one side, or to the other where the law has no value. */
static bool slope(hmi_law_loop *p, double *told, const double *F, int j, double width,
                  double *column)
{
    double kept = told[j];
    for (int side = 1; side >= -1; side -= 2) {
        told[j] = kept + side * width;
        double step = told[j] - kept;
        bool good = defect(p, told, column);
        told[j] = kept;
        for (int i = 0; good && i < p->size; i++)
            column[i] = (column[i] - F[i]) / step;
        if (good)
            return true;
    }
    return false;
}

/* J := dF/dtold, row-major */
static bool differences(hmi_law_loop *p, double *told, const double *F, double scale, double *J)
{
    size_t mark = p->d->scratch_used;
    double *column = hmi_take(p->d, (size_t)p->size);
    bool good = true;
    for (int j = 0; good && j < p->size; j++) {
        good = slope(p, told, F, j, 1e-7 * fmax(fabs(told[j]), 1e-3 * scale), column);
        for (int i = 0; good && i < p->size; i++)
            J[hmi_area(i, p->size) + (size_t)j] = column[i];
    }
    p->d->scratch_used = mark;
    return good;
}

/* Tries told + t step for t = 1, 1/2, ..., and keeps the best of the first seven that have a value; false when
 * none is better. */
static bool search_line(hmi_law_loop *p, double *told, double *F, const double *step)
{
    enum { MOST_TRIALS = 7, MOST_HALVINGS = 30 };
    size_t mark = p->d->scratch_used, size = (size_t)p->size;
    double *trial = hmi_take(p->d, size), *G = hmi_take(p->d, size);
    double *best = hmi_take(p->d, size), least = hmi_max_abs(p->size, F), t = 1;
    bool better = false;
    hmi_copy(p->size, told, best);
    for (int k = 0, tried = 0; k < MOST_HALVINGS && tried < MOST_TRIALS; k++, t /= 2) {
        hmi_copy(p->size, told, trial);
        hmi_axpy(p->size, t, step, trial);
        if (!defect(p, trial, G))
            continue;
        tried++;
        if (!(hmi_max_abs(p->size, G) < least))
            continue;
        least = hmi_max_abs(p->size, G);
        hmi_copy(p->size, trial, best);
        hmi_copy(p->size, G, F);
        better = true;
        if (k == 0)
            break;
    }
    hmi_copy(p->size, best, told);
    p->d->scratch_used = mark;
    return better;
}

/* Newton's method from `told`; true when the loop closes to rounding. */
static bool close_loop(hmi_law_loop *p, double *told, double scale)
{
    size_t mark = p->d->scratch_used, size = (size_t)p->size;
    double *F = hmi_take(p->d, size), *step = hmi_take(p->d, size),
           *J = hmi_take(p->d, size * size);
    int *pivots = p->d->law_ints;
    bool good = defect(p, told, F);
    for (int k = 0; good && k < 40; k++) {
        if (hmi_max_abs(p->size, F) <= 1e-14 * fmax(scale, hmi_max_abs(p->size, told)))
            break;
        if (!differences(p, told, F, scale, J) || !hmi_lu(p->size, J, pivots, 1e-300))
            break;
        for (int i = 0; i < p->size; i++)
            step[i] = -F[i];
        hmi_lu_solve(p->size, J, pivots, step);
        if (!hmi_all_finite(p->size, step) || !search_line(p, told, F, step))
            break;
    }
    good = good && hmi_max_abs(p->size, F) <= 1e-10 * fmax(scale, hmi_max_abs(p->size, told));
    p->d->scratch_used = mark;
    return good;
}

/* From the ideal problem (told: its reaction) to the law, in steps that become shorter where one fails. */
static bool follow_shares(hmi_law_loop *p, double *told, double scale)
{
    size_t mark = p->d->scratch_used;
    double *trial = hmi_take(p->d, (size_t)p->size), done = 0, width = 0.125;
    const double least = 1.0 / 4096;
    while (done < 1 && width >= least) {
        hmi_copy(p->size, told, trial);
        p->share = fmin(1, done + width);
        if (close_loop(p, trial, scale)) {
            hmi_copy(p->size, trial, told);
            done = p->share;
            width *= 2;
        } else {
            width /= 2;
        }
    }
    p->share = 1;
    p->d->scratch_used = mark;
    return done >= 1;
}

/* told := multipliers of the reactions at the last state; false where there are none. */
static bool recall(hmi_law_loop *p, double *told)
{
    hmi_dynamics *d = p->d;
    const double *forces[2] = {p->ideal ? p->e->last_reaction : NULL,
                               p->total ? p->e->last_total_reaction : NULL};
    size_t mark = d->scratch_used;
    double *scaled = hmi_take(d, (size_t)d->n);
    double *part = told;
    bool known = false;
    hmi_zero(p->size, told);
    for (int k = 0; k < 2; k++) {
        if (forces[k] && hmi_all_finite(d->n, forces[k]) && hmi_max_abs(d->n, forces[k]) > 0) {
            hmi_times(d->n, forces[k], d->D, scaled);
            hmi_row_multipliers(d, scaled, part);
            known = true;
        }
        part += (k == 0 ? p->ideal : p->total) ? d->rank : 0;
    }
    d->scratch_used = mark;
    return known;
}

/* The starts in their order: 0 the ideal one (or the caller's), 1 the last state, 2 the continuation, then
 * patterns of signs. *more: false when there are none left. */
static bool solve_from(hmi_law_loop *p, int k, const double *base, double scale, double *told,
                       bool *more)
{
    enum { IDEAL, LAST, CONTINUATION, PATTERNS };
    *more = true;
    hmi_copy(p->size, base, told);
    switch (k) {
    case IDEAL:
        return close_loop(p, told, scale);
    case LAST:
        return recall(p, told) && close_loop(p, told, scale);
    case CONTINUATION:
        return follow_shares(p, told, scale);
    default:
        *more = hmi_choose_start(p, k - PATTERNS + 1, base, scale, told);
        return *more && close_loop(p, told, scale);
    }
}

/* Solves the loop, counts solutions from all starts (or stops at the first). A start or a step
 * where the law cannot be evaluated leads nowhere; others may. */
static void search_solutions(hmi_law_loop *p, const double *base, double scale, bool all,
                             double *told, hmi_verdict *verdict)
{
    size_t mark = p->d->scratch_used;
    double *trial = hmi_take(p->d, (size_t)p->size);
    bool more = true;
    verdict->law_solutions = verdict->law_starts = 0;
    for (int k = 0; more && verdict->law_solutions < (all ? 2 : 1); k++) {
        bool found = solve_from(p, k, base, scale, trial, &more);
        verdict->law_starts += more;
        if (!found)
            continue;
        if (verdict->law_solutions == 0) {
            hmi_copy(p->size, trial, told);
            verdict->law_solutions = 1;
        } else if (hmi_told_differ(p->size, trial, told, fmax(scale, hmi_max_abs(p->size, told)))) {
            verdict->law_solutions = 2;
        }
    }
    p->d->scratch_used = mark;
}

hm_status hmi_close_law(hmi_law_loop *p, const double *start, hmi_effort effort,
                        hmi_verdict *verdict)
{
    size_t mark = p->d->scratch_used, size = (size_t)p->size;
    double *base = hmi_take(p->d, size), *told = hmi_take(p->d, size), *F = hmi_take(p->d, size);
    double scale = hmi_ideal_start(p, base);
    if (start)
        hmi_copy(p->size, start, base);
    hmi_copy(p->size, base, told);
    search_solutions(p, base, scale, effort >= HMI_VERDICT, told, verdict);
    bool good = defect(p, told, F); /* the motion with what was found */
    p->d->scratch_used = mark;
    if (!good)
        return HM_ERR_NUMERIC;
    return verdict->law_solutions == 1 ? HM_OK : HM_ERR_UNDETERMINED;
}
