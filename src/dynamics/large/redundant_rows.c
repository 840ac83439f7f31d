/* Finds the null space of A^T from the rows that the sparse solve dropped, and what follows from it. */
#include "dynamics/large/redundant_rows.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

bool hmi_large_rows_init(hmi_large_rows *r, hmi_arena *arena, size_t m)
{
    *r = (hmi_large_rows){.m = m};
    hmi_arena_init(&r->memory, arena->allocator);
    r->redundant = hmi_arena_alloc(arena, m + 1);
    bool failed = !r->redundant;
    r->discrepancy = hmi_arena_doubles(arena, m, &failed);
    r->w = hmi_arena_doubles(arena, m, &failed);
    return !failed;
}

void hmi_large_rows_release(hmi_large_rows *r)
{
    hmi_arena_release(&r->memory);
}

static bool make_room(hmi_large_rows *r, size_t dropped)
{
    if (dropped <= r->room)
        return true;
    r->N = hmi_arena_alloc(&r->memory, dropped * r->m * sizeof *r->N);
    r->gram = hmi_arena_alloc(&r->memory, (dropped + 2) * dropped * sizeof *r->gram);
    r->room = r->N && r->gram ? dropped : 0;
    return r->room;
}

/* ---- the null space of A^T ---- */

/* Row k of N: a dropped row less the combination of kept rows that it is. */
static void find_dependencies(hmi_large_rows *r, hmi_sparse_solver *solver)
{
    double *row = r->N;
    for (size_t i = 0; i < r->m; i++) {
        if (!hmi_sparse_is_dropped(solver, i))
            continue;
        (void)hmi_sparse_angle(solver, i, row);
        for (size_t k = 0; k < r->m; k++)
            row[k] = fabs(row[k]) > 1e-9 ? -row[k] : 0;
        row[i] = 1;
        row += r->m;
    }
}

static void swap_rows(double *x, double *y, size_t m)
{
    for (size_t i = 0; i < m; i++) {
        double kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

/* Reduced echelon form from the last column backwards; pivot columns are the redundant rows. */
static void find_redundant(hmi_large_rows *r, size_t count)
{
    size_t done = 0, m = r->m;
    for (size_t c = m; c-- > 0 && done < count;) {
        size_t best = done;
        for (size_t k = done; k < count; k++)
            if (fabs(r->N[k * m + c]) > fabs(r->N[best * m + c]))
                best = k;
        double pivot = r->N[best * m + c];
        if (fabs(pivot) < 1e-7)
            continue;
        swap_rows(r->N + best * m, r->N + done * m, m);
        double *own = r->N + done * m;
        for (size_t i = 0; i < m; i++)
            own[i] /= pivot;
        for (size_t k = 0; k < count; k++) {
            double t = r->N[k * m + c];
            for (size_t i = 0; k != done && t != 0 && i < m; i++)
                r->N[k * m + i] -= t * own[i];
        }
        r->redundant[c] = true;
        done++;
    }
}

/* l -= N^T (N N^T)^-1 N l */
static void take_minimum_norm(hmi_large_rows *r, size_t count, double *l)
{
    double *G = r->gram, *x = G + count * count;
    for (size_t i = 0; i < count; i++) {
        x[i] = 0;
        for (size_t c = 0; c < r->m; c++)
            x[i] += r->N[i * r->m + c] * l[c];
        for (size_t k = 0; k <= i; k++) {
            double sum = 0;
            for (size_t c = 0; c < r->m; c++)
                sum += r->N[i * r->m + c] * r->N[k * r->m + c];
            G[i * count + k] = G[k * count + i] = sum;
        }
    }
    int n = (int)count;
    if (!hmi_cholesky(n, G, 1e-14))
        return;
    hmi_lower_solve(n, G, x);
    hmi_lower_solve_transposed(n, G, x);
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < r->m; c++)
            l[c] -= r->N[i * r->m + c] * x[i];
}

/* ---- contradictions ---- */

/* N b must vanish: each dependency, with the pivot of N as the row that contradicts those before. */
static hm_status find_discrepancies(hmi_large_rows *r, const hm_model *model, hm_context *context,
                                    hmi_sparse_solver *solver, const double *qdd, const double *b)
{
    double largest = 0, size;
    hm_status status = HM_OK;
    for (size_t i = 0; i < r->m; i++) {
        (void)hmi_sparse_miss(solver, i, b, qdd, &size);
        largest = fmax(largest, size);
    }
    for (size_t i = 0; i < r->m; i++) {
        if (!hmi_sparse_is_dropped(solver, i))
            continue;
        double miss = hmi_sparse_miss(solver, i, b, qdd, &size);
        r->discrepancy[i] = miss;
        if (fabs(miss) <= HMI_CONTRADICTION * largest + HMI_CONTRADICTION_FLOOR)
            continue;
        double angle = hmi_sparse_angle(solver, i, r->w);
        bool dependent = angle <= 1e-9;
        hmi_error(context, model->constraints.data[i].span, NULL,
                  dependent ? "constraint '%s' contradicts others by %.6g"
                            : "constraint '%s' is nearly dependent on others, which the sparse "
                              "solver cannot resolve; it is violated by %.6g",
                  model->constraints.data[i].name, miss);
        status = dependent ? HM_ERR_INCONSISTENT : HM_ERR_NUMERIC;
    }
    return status;
}

hm_status hmi_large_rows_judge(hmi_large_rows *r, const hm_model *model, hm_context *context,
                               hmi_sparse_solver *solver, const double *qdd, double *lambda,
                               double *total, hm_evaluation *out)
{
    size_t dropped = r->m - hmi_sparse_rank(solver);
    memset(r->redundant, 0, r->m + 1);
    memset(r->discrepancy, 0, r->m * sizeof *r->discrepancy);
    out->redundant = r->redundant;
    out->discrepancy = r->discrepancy;
    if (dropped == 0)
        return HM_OK;
    if (dropped > HMI_MOST_DEPENDENT || !lambda) {
        for (size_t i = 0; i < r->m; i++)
            r->redundant[i] = hmi_sparse_is_dropped(solver, i);
        if (lambda)
            hmi_note(
                context, hmi_no_span, NULL,
                "more than %d rows are redundant: which ones depends on the order of elimination, "
                "and their multipliers are set to 0",
                HMI_MOST_DEPENDENT);
    } else {
        if (!make_room(r, dropped))
            return HM_ERR_NOMEM;
        find_dependencies(r, solver);
        find_redundant(r, dropped);
        take_minimum_norm(r, dropped, lambda);
        take_minimum_norm(r, dropped, total);
    }
    return find_discrepancies(r, model, context, solver, qdd, out->b);
}
