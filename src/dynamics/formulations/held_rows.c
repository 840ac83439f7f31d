/* Rows that hold, gathered from many that do not: contacts of a model are mostly open.
 *
 * A workspace made for `rows` rows of the model, of which at most m hold at a time, works on those m
 * alone: M, A_held, b_held. Rows that do not hold cost nothing, and there may be thousands of them.
 * What comes in and goes out belongs to all rows of the model: A and b are gathered on the way in,
 * multipliers spread on the way out, with 0 for rows that do not hold.
 * Verified: test/tool/discs.sh, test/physics/test_contact_runs.c
 */
#include "dynamics/formulations/workspace.h"

/* ---- which rows ---- */

static void hold(hmi_dynamics *d, const bool *left_out)
{
    hmi_held_rows *held = &d->held;
    d->m = 0;
    held->overfull = false;
    for (int i = 0; i < d->held.all && !held->overfull; i++) {
        if (left_out && left_out[i])
            continue;
        held->overfull = d->m == d->size.m;
        if (!held->overfull)
            held->row[d->m++] = i;
    }
    hmi_saddle_place(&d->saddle, d->n, d->m, false, d->scratch);
    d->saddle.left_out = d->left_out; /* none of them */
}

void hmi_dynamics_leave_out(hmi_dynamics *d, const bool *rows)
{
    if (d->held.gathers) {
        hold(d, rows);
        return;
    }
    for (int i = 0; i < d->m; i++)
        d->left_out[i] = rows && rows[i];
}

/* ---- the way in ---- */

static const double *gather_matrix(const hmi_dynamics *d, const double *all, double *to)
{
    if (!all)
        return NULL;
    for (int k = 0; k < d->m; k++)
        hmi_copy(d->n, all + hmi_area(d->held.row[k], d->n), to + hmi_area(k, d->n));
    return to;
}

const double *hmi_gather_vector(const hmi_dynamics *d, const double *all, double *to)
{
    if (!all || !d->held.gathers)
        return all;
    for (int k = 0; k < d->m; k++)
        to[k] = all[d->held.row[k]];
    return to;
}

/* The law knows the rows of the model. */
static int ask_law(void *user, const hmi_reactions *told, double *Q, double *C)
{
    hmi_dynamics *d = user;
    hmi_held_rows *held = &d->held;
    hmi_reactions all = *told;
    hmi_spread_multipliers(d, told->multiplier, held->reactions[0]);
    hmi_spread_multipliers(d, told->total_multiplier, held->reactions[1]);
    all.multiplier = held->reactions[0];
    all.total_multiplier = held->reactions[1];
    return held->asked->evaluate(held->asked->user, &all, Q, C);
}

hmi_equations hmi_gather_rows(hmi_dynamics *d, const hmi_equations *equations)
{
    hmi_held_rows *held = &d->held;
    hmi_equations e = *equations;
    if (!held->gathers)
        return e;
    e.A = gather_matrix(d, e.A, held->A);
    e.b = hmi_gather_vector(d, e.b, held->b);
    e.A_error = gather_matrix(d, e.A_error, held->A_error);
    e.b_error = hmi_gather_vector(d, e.b_error, held->b_error);
    if (e.law) {
        held->asked = e.law;
        held->law = *e.law;
        held->law.evaluate = ask_law;
        held->law.user = d;
        e.law = &held->law;
    }
    return e;
}

/* ---- the way out ---- */

void hmi_spread_multipliers(const hmi_dynamics *d, const double *held, double *all)
{
    hmi_zero(d->held.all, all);
    for (int k = 0; held && k < d->m; k++)
        all[d->held.row[k]] = held[k];
}

static const double *spread(const hmi_dynamics *d, int place, const double *held)
{
    if (held)
        hmi_spread_multipliers(d, held, d->held.of_model[place]);
    return held ? d->held.of_model[place] : NULL;
}

static const bool *spread_flags(const hmi_dynamics *d, int place, const bool *held, bool other)
{
    bool *all = d->held.flags_of_model[place];
    for (int i = 0; held && i < d->held.all; i++)
        all[i] = other;
    for (int k = 0; held && k < d->m; k++)
        all[d->held.row[k]] = held[k];
    return held ? all : NULL;
}

void hmi_spread_rows(hmi_dynamics *d, hmi_solution *s)
{
    hmi_verdict *v = &s->verdict;
    if (!d->held.gathers)
        return;
    s->lambda = spread(d, 0, s->lambda);
    s->total_lambda = spread(d, 1, s->total_lambda);
    s->e = spread(d, 2, s->e);
    v->discrepancy = spread(d, 3, v->discrepancy);
    v->residual = spread(d, 4, v->residual);
    v->redundant = spread_flags(d, 0, v->redundant, false);
    v->inconsistent = spread_flags(d, 1, v->inconsistent, false);
    v->multiplier_unique = spread_flags(d, 2, v->multiplier_unique, true);
}

/* Rows of B and columns of B^+, from the last one on: none is overwritten before it was moved. */
void hmi_spread_geometry(const hmi_dynamics *d, const hmi_geometry *g)
{
    int n = d->n, all = d->held.all;
    if (!d->held.gathers)
        return;
    for (int i = all - 1, k = d->m - 1; i >= 0 && g->B; i--) {
        bool holds = k >= 0 && d->held.row[k] == i;
        double *to = g->B + hmi_area(i, n);
        if (holds && k != i)
            hmi_copy(n, g->B + hmi_area(k, n), to);
        else if (!holds)
            hmi_zero(n, to);
        k -= holds;
    }
    for (int j = n - 1; j >= 0 && g->B_plus; j--)
        for (int i = all - 1, k = d->m - 1; i >= 0; i--) {
            bool holds = k >= 0 && d->held.row[k] == i;
            g->B_plus[hmi_area(j, all) + (size_t)i] = holds
                                                          ? g->B_plus[hmi_area(j, d->m) + (size_t)k]
                                                          : 0;
            k -= holds;
        }
}
