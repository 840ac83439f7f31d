/* Slopes of a law by the reactions it is told: central differences of widths h, h/4, ..., extrapolated to h = 0,
 * of which the entry with the least estimated error is taken (Ridders 1982). Where the law is straight the widest
 * one is right to rounding; near a kink only those that do not reach across it agree.
 * Verified: test/unit/dynamics/test_servo_law.c
 */
#include "dynamics/formulations/laws.h"

enum { LEVELS = 7 };

/* The table of one direction: 2n values (Q, C) for every entry of the last row. */
typedef struct table {
    int count; /* 2n */
    int rows;  /* filled so far */
    double *entry[LEVELS], *before[LEVELS];
    double *best, error;
} table;

/* difference[2n] := ((Q, C)(told + h e_j) - (Q, C)(told - h e_j)) / 2h; false without a value. */
static bool central(hmi_law_loop *p, double *told, int j, double h, double *difference)
{
    hmi_dynamics *d = p->d;
    int n = d->n;
    double kept = told[j], above = kept + h, below = kept - h;
    told[j] = above;
    bool good = hmi_tell_law(p, told);
    hmi_copy(n, d->motion.Q, difference);
    hmi_copy(n, d->motion.C, difference + n);
    told[j] = below;
    good = good && hmi_tell_law(p, told);
    told[j] = kept;
    hmi_axpy(n, -1, d->motion.Q, difference);
    hmi_axpy(n, -1, d->motion.C, difference + n);
    for (int i = 0; i < 2 * n; i++)
        difference[i] /= above - below;
    return good;
}

static double distance(int count, const double *x, const double *y)
{
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* The new row entry[0] is given; the others follow, and the best so far is kept. */
static void extrapolate(table *t)
{
    double factor = 1;
    if (t->rows == 0)
        hmi_copy(t->count, t->entry[0], t->best);
    for (int k = 1; k <= t->rows; k++) {
        factor *= 16;
        for (int i = 0; i < t->count; i++)
            t->entry[k][i] = (factor * t->entry[k - 1][i] - t->before[k - 1][i]) / (factor - 1);
        double error = fmax(distance(t->count, t->entry[k], t->entry[k - 1]),
                            distance(t->count, t->entry[k], t->before[k - 1]));
        if (error <= t->error) {
            t->error = error;
            hmi_copy(t->count, t->entry[k], t->best);
        }
    }
    for (int k = 0; k <= t->rows; k++) {
        double *kept = t->before[k];
        t->before[k] = t->entry[k];
        t->entry[k] = kept;
    }
    t->rows++;
}

static void lay_out(hmi_dynamics *d, table *t, double *best)
{
    *t = (table){.count = 2 * d->n, .best = best, .error = INFINITY};
    for (int k = 0; k < LEVELS; k++) {
        t->entry[k] = hmi_take(d, (size_t)t->count);
        t->before[k] = hmi_take(d, (size_t)t->count);
    }
}

bool hmi_law_slopes(hmi_law_loop *p, double *told, double scale, double *slopes)
{
    hmi_dynamics *d = p->d;
    bool good = true;
    for (int j = 0; good && j < p->size; j++) {
        size_t mark = d->scratch_used;
        table t;
        lay_out(d, &t, slopes + hmi_area(j, 2 * d->n));
        double h = 0.05 * fmax(fabs(told[j]), 1e-3 * scale);
        for (int level = 0; level < LEVELS; level++, h /= 4) {
            if (central(p, told, j, h, t.entry[0]))
                extrapolate(&t);
            else
                t.rows = 0; /* widths must follow each other */
        }
        good = isfinite(t.error);
        d->scratch_used = mark;
    }
    return good && hmi_tell_law(p, told);
}
