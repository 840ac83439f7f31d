/* Contacts without friction, and the equations of modes that are given. */
#include "dynamics/contact/solver.h"

#include "linalg/dense.h"
#include "linalg/lcp.h"
#include "linalg/linalg.h"

/* Of the equations in units of compliances. */
#define RANK_TOLERANCE 1e-11

/* ---- memory ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

hm_status hmi_contact_solver_create(hmi_arena *arena, int size, int frictions,
                                    hmi_contact_solver **out)
{
    bool failed = false;
    size_t n = (size_t)size + 1, f = (size_t)frictions + 1;
    hmi_contact_solver *s = hmi_arena_alloc(arena, sizeof *s);
    if (!s)
        return HM_ERR_NOMEM;
    *out = s;
    s->most = size;
    s->most_frictions = frictions;
    s->doubles = hmi_arena_doubles(
        arena, larger(hmi_lcp_doubles(size), hmi_cod_doubles(size, size)) + 1, &failed);
    s->ints = hmi_arena_alloc(arena, (larger(hmi_lcp_ints(size), hmi_cod_ints(size, size)) + 1) *
                                         sizeof(int));
    s->K = hmi_arena_doubles(arena, n * n, &failed);
    s->y = hmi_arena_doubles(arena, n, &failed);
    s->solution = hmi_arena_doubles(arena, n, &failed);
    s->list = hmi_arena_alloc(arena, n * sizeof(int));
    s->units = hmi_arena_doubles(arena, n, &failed);
    s->null = hmi_arena_doubles(arena, frictions ? n * n : 1, &failed);
    s->choice_H = hmi_arena_doubles(arena, frictions ? n * n : 1, &failed);
    s->choice_y = hmi_arena_doubles(arena, n, &failed);
    s->choice_g = hmi_arena_doubles(arena, n, &failed);
    s->choice_next = hmi_arena_doubles(arena, n, &failed);
    s->choice_slope = hmi_arena_doubles(arena, n, &failed);
    s->choice_mean = hmi_arena_doubles(arena, n, &failed);
    s->chosen = hmi_arena_doubles(arena, n, &failed);
    s->x = hmi_arena_doubles(arena, n, &failed);
    s->w = hmi_arena_doubles(arena, n, &failed);
    s->closed = hmi_arena_alloc(arena, n);
    s->mode = hmi_arena_alloc(arena, f * sizeof *s->mode);
    s->slip = hmi_arena_doubles(arena, 2 * f, &failed);
    s->presses = hmi_arena_doubles(arena, f, &failed);
    s->digit = hmi_arena_alloc(arena, (n + f) * sizeof(int));
    s->best_x = hmi_arena_doubles(arena, n, &failed);
    s->best_w = hmi_arena_doubles(arena, n, &failed);
    s->best_closed = hmi_arena_alloc(arena, n);
    s->best_mode = hmi_arena_alloc(arena, f * sizeof *s->best_mode);
    s->best_slip = hmi_arena_doubles(arena, 2 * f, &failed);
    bool good = !failed && s->ints && s->list && s->closed && s->mode && s->digit &&
                s->best_closed && s->best_mode;
    return good ? HM_OK : HM_ERR_NOMEM;
}

/* ---- given modes ---- */

/* The directions whose w is zero: closed normals, and tangents that stick. */
static int list_unknowns(const hmi_contact_problem *p, const hmi_contact_modes *m, int *list)
{
    int count = 0;
    for (int i = 0; i < p->normals; i++)
        if (m->closed[i])
            list[count++] = i;
    for (int j = 0; j < p->frictions; j++)
        for (int k = 0; k < p->friction[j].count && m->mode[j] == HMI_FRICTION_STICK; k++)
            list[count++] = p->friction[j].first + k;
    return count;
}

/* column := accelerations by a unit force along direction c, with the friction that slides on it */
static void column_of(const hmi_contact_problem *p, const hmi_contact_modes *m, int c,
                      double *column)
{
    for (int i = 0; i < p->size; i++)
        column[i] = p->W[hmi_area(i, p->size) + (size_t)c];
    for (int j = 0; j < p->frictions; j++) {
        const hmi_friction_item *f = &p->friction[j];
        if (f->normal != c || m->mode[j] != HMI_FRICTION_SLIP)
            continue;
        for (int k = 0; k < f->count; k++)
            for (int i = 0; i < p->size; i++)
                column[i] -= f->muk * m->presses[j] * m->slip[2 * j + k] *
                             p->W[hmi_area(i, p->size) + (size_t)(f->first + k)];
    }
}

static void spread(const hmi_contact_problem *p, const hmi_contact_modes *m, int count,
                   const int *list, const double *solution, double *x, double *w)
{
    hmi_zero(p->size, x);
    for (int j = 0; j < count; j++)
        x[list[j]] = solution[j];
    for (int j = 0; j < p->frictions; j++) {
        const hmi_friction_item *f = &p->friction[j];
        for (int k = 0; k < f->count && m->mode[j] == HMI_FRICTION_SLIP; k++)
            x[f->first + k] = -f->muk * m->presses[j] * x[f->normal] * m->slip[2 * j + k];
    }
    for (int i = 0; i < p->size; i++)
        w[i] = p->w0[i] + hmi_dot(p->size, p->W + hmi_area(i, p->size), x);
}

/* s->K := the equations of the listed unknowns, column by column, rows and columns in units of the compliance
 * of their directions: a tolerance means the same for all of them. */
static void set_up(hmi_contact_solver *s, const hmi_contact_problem *p, const hmi_contact_modes *m,
                   int count, double *column)
{
    for (int i = 0; i < count; i++) {
        double d = p->W[hmi_area(s->list[i], p->size) + (size_t)s->list[i]];
        s->units[i] = d > 0 ? 1 / sqrt(d) : 1;
    }
    for (int j = 0; j < count; j++) {
        column_of(p, m, s->list[j], column);
        for (int i = 0; i < count; i++)
            s->K[hmi_area(j, count) + (size_t)i] = s->units[i] * s->units[j] * column[s->list[i]];
    }
}

/* Columns in the units of the forces themselves: their norm is what is made small. */
static void take_units_off(hmi_contact_solver *s, int count)
{
    for (int j = 0; j < count; j++)
        for (int i = 0; i < count; i++)
            s->K[hmi_area(j, count) + (size_t)i] /= s->units[j];
}

/* s->null := forces along all directions that change nothing in the equations. */
static void find_null(hmi_contact_solver *s, const hmi_contact_problem *p,
                      const hmi_contact_modes *m, const hmi_cod *cod, double *unused)
{
    int count = cod->cols;
    s->free = p->frictions ? count - cod->rank : 0;
    for (int k = 0; k < s->free; k++) {
        double *d = s->null + hmi_area(k, p->size);
        hmi_cod_null(cod, k, s->solution);
        spread(p, m, count, s->list, s->solution, d, unused);
    }
}

static void solve_listed(hmi_contact_solver *s, const hmi_contact_problem *p,
                         const hmi_contact_modes *m, int count, double *column)
{
    hmi_cod cod;
    set_up(s, p, m, count, column);
    hmi_cod_factor(&cod, count, count, s->K, count, RANK_TOLERANCE, s->doubles, s->ints);
    bool whole = cod.rank == count;
    if (!whole) { /* once more, for the least norm of forces as they are */
        int rank = cod.rank;
        set_up(s, p, m, count, column);
        take_units_off(s, count);
        hmi_cod_factor(&cod, count, count, s->K, rank, 0, s->doubles, s->ints);
        find_null(s, p, m, &cod, column);
    }
    for (int i = 0; i < count; i++)
        s->y[i] = -p->w0[s->list[i]] * s->units[i];
    hmi_cod_solve(&cod, s->y, s->solution);
    for (int i = 0; i < count && whole; i++)
        s->solution[i] *= s->units[i];
}

bool hmi_contact_held(hmi_contact_solver *s, const hmi_contact_problem *p,
                      const hmi_contact_modes *m, double *x, double *w)
{
    int count = list_unknowns(p, m, s->list);
    s->free = 0;
    if (count)
        solve_listed(s, p, m, count, w);
    spread(p, m, count, s->list, s->solution, x, w);
    bool good = true;
    for (int i = 0; i < count; i++)
        good = good && fabs(w[s->list[i]]) <= 100 * p->noise[s->list[i]];
    return good;
}

/* ---- without friction ---- */

/* Two-sided normals are for friction; here all are one-sided. */
static void solve_normals(hmi_contact_solver *s, const hmi_contact_problem *p,
                          hmi_contact_answer *a)
{
    int n = p->normals;
    hmi_lcp_result result = hmi_lcp_solve(n, p->W, p->w0, p->noise, s->x, s->doubles, s->ints);
    for (int i = 0; i < n; i++) {
        s->w[i] = p->w0[i] + hmi_dot(n, p->W + hmi_area(i, n), s->x);
        s->closed[i] = s->x[i] > 0 || s->w[i] <= p->noise[i];
    }
    bool *open = s->best_closed; /* free memory here */
    for (int i = 0; i < n; i++)
        open[i] = !s->closed[i];
    if (result == HMI_LCP_SOLVED)
        hmi_least_forces(n, p->W, NULL, open, s->x, s->doubles, s->ints);
    a->solutions = result == HMI_LCP_SOLVED ? 1 : 0;
    a->complete = result != HMI_LCP_GAVE_UP;
}

void hmi_contact_solve(hmi_contact_solver *s, const hmi_contact_problem *p, hmi_contact_answer *a)
{
    *a = (hmi_contact_answer){
        .x = s->x, .w = s->w, .closed = s->closed, .mode = s->mode, .slip = s->slip};
    if (p->frictions)
        hmi_contact_combine(s, p, a);
    else
        solve_normals(s, p, a);
}
