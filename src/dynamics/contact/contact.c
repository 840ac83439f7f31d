/* Contacts without friction, and the equations of modes that are given. */
#include "dynamics/contact/solver.h"

#include "linalg/dense.h"
#include "linalg/lcp.h"
#include "linalg/linalg.h"

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

bool hmi_contact_held(hmi_contact_solver *s, const hmi_contact_problem *p,
                      const hmi_contact_modes *m, double *x, double *w)
{
    hmi_cod cod;
    int count = list_unknowns(p, m, s->list);
    double largest = 0;
    for (int j = 0; j < count; j++) {
        column_of(p, m, s->list[j], w);
        for (int i = 0; i < count; i++)
            s->K[hmi_area(j, count) + (size_t)i] = w[s->list[i]];
        largest = fmax(largest, hmi_norm(count, s->K + hmi_area(j, count)));
    }
    for (int i = 0; i < count; i++)
        s->y[i] = -p->w0[s->list[i]];
    if (count) {
        hmi_cod_factor(&cod, count, count, s->K, count, 1e-12 * largest, s->doubles, s->ints);
        hmi_cod_solve(&cod, s->y, s->solution);
    }
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
