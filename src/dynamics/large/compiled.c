/* Runs the compiled constraint problem: M, then G lambda = r by a banded or sparse factor, then q''. */
#include "dynamics/large/compiled.h"

#include "dynamics/large/dependent_rows.h"
#include "linalg/tolerances.h"

#include <math.h>
#include <string.h>

/* Where the rank-revealing solve takes over. Both matrices lose digits where M has pivots to speak of;
 * where rows shift M the answer is put to the test. */
static double well_conditioned(const hmi_block_schur *schur)
{
    return schur->diagonal || schur->shifted ? HMI_WELL_CONDITIONED : HMI_BOTH_WELL_CONDITIONED;
}

struct hmi_compiled {
    const hmi_block_schur *schur;
    double *work;
    double *lambda, *inverse; /* m, in the order of G's rows */
    double *band;             /* a copy of G that is factored, where not in place */
    hmi_ldlt_sparse ldlt;     /* where G is not banded */
    hmi_dependent_rows rows;
    double *kept,
        *still; /* n: q'' while drift control uses its place, and q'' without constraints */
};

/* More entries than this in L, and the fill is such that dense algebra does as well. */
static size_t most_fill(const hmi_block_schur *schur)
{
    return 1000 * (schur->m + 1000);
}

hm_status hmi_compiled_create(const hmi_block_schur *schur, hmi_arena *arena, hmi_compiled **out)
{
    bool failed = false;
    hmi_compiled *compiled = hmi_arena_alloc(arena, sizeof *compiled);
    if (!compiled)
        return HM_ERR_NOMEM;
    compiled->schur = schur;
    compiled->work = hmi_arena_doubles(arena, schur->code.work_size, &failed);
    compiled->inverse = hmi_arena_doubles(arena, schur->m, &failed);
    compiled->band = schur->banded
                         ? hmi_arena_doubles(arena, (schur->width + 1) * schur->m, &failed)
                         : NULL;
    compiled->kept = hmi_arena_doubles(arena, schur->n, &failed);
    compiled->still = hmi_arena_doubles(arena, schur->n, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    compiled->lambda = schur->m ? hmi_array_code_input(&schur->code, HMI_SYM_MATRIX, compiled->work)
                                : NULL;
    hm_status status = HM_OK;
    if (!schur->banded) {
        const hmi_lower G = {schur->m, schur->start, schur->column};
        status = hmi_ldlt_sparse_init(&compiled->ldlt, arena->allocator, arena, &G,
                                      most_fill(schur));
    }
    if (status == HM_OK && !hmi_dependent_rows_init(&compiled->rows, arena, schur,
                                                    schur->banded ? NULL : &compiled->ldlt))
        status = HM_ERR_NOMEM;
    *out = status == HM_OK ? compiled : NULL;
    return status == HM_ERR_LIMIT ? HM_OK : status;
}

void hmi_compiled_prepare(hmi_compiled *compiled, const hmi_tape_values *values)
{
    hmi_array_code_prepare(&compiled->schur->code, values, compiled->work);
}

double *hmi_compiled_acceleration(const hmi_compiled *compiled)
{
    const hmi_block_schur *schur = compiled->schur;
    return hmi_array_code_outputs(&schur->code, compiled->work) + schur->at.acceleration;
}

const double *hmi_compiled_state_rates(const hmi_compiled *compiled)
{
    const hmi_block_schur *schur = compiled->schur;
    return hmi_array_code_outputs(&schur->code, compiled->work) + schur->at.state_rates;
}

static bool mass_is_good(const hmi_compiled *compiled, const double *out)
{
    const hmi_block_schur_layout *at = &compiled->schur->at;
    bool good = true;
    for (size_t k = 0; k < at->check_count; k++)
        good &= out[at->checks + k] > well_conditioned(compiled->schur);
    return good;
}

static bool all_finite(const double *x, size_t count, size_t step)
{
    double sum = 0;
    for (size_t k = 0; k < count; k += step)
        sum += x[k] * 0;
    return sum == 0;
}

static double *copy_band(const hmi_compiled *compiled, const double *out)
{
    const hmi_block_schur *schur = compiled->schur;
    memcpy(compiled->band, out + schur->at.gram, (schur->width + 1) * schur->m * sizeof *out);
    return compiled->band;
}

/* The band to be factored: G itself, where every run writes it anew. */
static double *take_band(const hmi_compiled *compiled, double *out)
{
    return compiled->schur->fresh ? out + compiled->schur->at.gram : copy_band(compiled, out);
}

/* lambda from G lambda = right */
static bool find_multipliers(hmi_compiled *compiled, double *out)
{
    const hmi_block_schur *schur = compiled->schur;
    double *x = compiled->lambda;
    if (schur->banded) {
        if (!hmi_band_solve(schur->m, schur->width, take_band(compiled, out), compiled->inverse,
                            well_conditioned(schur), out + schur->at.right, x))
            return false;
    } else {
        memcpy(x, out + schur->at.right, schur->m * sizeof *x);
        hmi_pivoting pivoting = {.refuse = well_conditioned(schur)};
        if (!hmi_ldlt_sparse_factor(&compiled->ldlt, out + schur->at.gram, &pivoting))
            return false;
        hmi_ldlt_sparse_solve(&compiled->ldlt, x);
    }
    /* what is not finite in a tridiagonal solve reaches both ends of it */
    size_t step = schur->banded && schur->width == 1 && schur->m > 1 ? schur->m - 1 : 1;
    return all_finite(x, schur->m, step);
}

/* The same where rows depend on others: those are dropped. */
static bool find_some_multipliers(hmi_compiled *compiled, double *out)
{
    const hmi_block_schur *schur = compiled->schur;
    hmi_dependent_rows *rows = &compiled->rows;
    double *x = compiled->lambda, *G = out + schur->at.gram, least = well_conditioned(schur);
    if (schur->banded) {
        G = take_band(compiled, out);
        if (!hmi_band_factor_dropping(schur->m, schur->width, G, compiled->inverse, least,
                                      HMI_GRAM_DROP, out + schur->at.right, x) ||
            !hmi_dependent_rows_agree(rows, compiled->inverse, x, G, NULL))
            return false;
        hmi_band_backward(schur->m, schur->width, G, compiled->inverse, x);
    } else {
        hmi_pivoting pivoting = {.may_drop = rows->may_drop, .drop = HMI_GRAM_DROP};
        memcpy(x, out + schur->at.right, schur->m * sizeof *x);
        if (!hmi_ldlt_sparse_factor(&compiled->ldlt, G, &pivoting) || pivoting.smallest <= least)
            return false;
        hmi_ldlt_sparse_forward(&compiled->ldlt, x);
        if (!hmi_dependent_rows_agree(rows, compiled->ldlt.inverse, x, G, schur->start))
            return false;
        hmi_ldlt_sparse_backward(&compiled->ldlt, x);
    }
    return all_finite(x, schur->m, 1);
}

/* A q'' = b in the rows that shift M. */
static bool rows_are_met(const hmi_compiled *compiled, const double *out)
{
    const hmi_block_schur *schur = compiled->schur;
    bool good = true;
    for (size_t k = 0; k < schur->shifted; k++)
        good &= out[schur->at.met + k] >= 0;
    return good;
}

bool hmi_compiled_run(hmi_compiled *compiled, const hmi_tape_values *values)
{
    const hmi_block_schur *schur = compiled->schur;
    hmi_tape_values all = *values;
    all.by_kind[HMI_SYM_MATRIX] = compiled->lambda;
    hmi_array_code_run(&schur->code, &all, compiled->work);
    double *out = hmi_array_code_outputs(&schur->code, compiled->work);
    compiled->rows.doubtful = false;
    if (!mass_is_good(compiled, out))
        return false;
    if (!(compiled->rows.allowed ? find_some_multipliers(compiled, out)
                                 : find_multipliers(compiled, out))) {
        compiled->rows.allowed = true; /* the next time */
        return false;
    }
    if (compiled->rows.allowed && compiled->rows.dropped == 0)
        compiled->rows.allowed = false;
    hmi_array_code_run_late(&schur->code, &all, compiled->work);
    return rows_are_met(compiled, out);
}

bool hmi_compiled_doubts(const hmi_compiled *compiled)
{
    return compiled->rows.doubtful;
}

void hmi_compiled_confirm(hmi_compiled *compiled, const hmi_sparse_shape *shape, const double *M,
                          const double *A)
{
    const hmi_block_schur *schur = compiled->schur;
    const double *G = hmi_array_code_outputs(&schur->code, compiled->work) + schur->at.gram;
    const hmi_gram_factor factor = {.schur = schur,
                                    .ldlt = schur->banded ? NULL : &compiled->ldlt,
                                    .band = schur->fresh ? G : compiled->band,
                                    .inverse = schur->banded ? compiled->inverse
                                                             : compiled->ldlt.inverse};
    hmi_dependent_rows_confirm(&compiled->rows, &factor, shape, M, A);
}

/* ---- drift control ---- */

/* x := what is left of the right side by rows before; the factor stays. */
static bool factor_gram(hmi_compiled *compiled, double *out)
{
    const hmi_block_schur *schur = compiled->schur;
    double least = well_conditioned(schur);
    if (schur->banded)
        return hmi_band_factor_dropping(schur->m, schur->width, copy_band(compiled, out),
                                        compiled->inverse, least, HMI_GRAM_DROP,
                                        out + schur->at.right, compiled->lambda);
    hmi_pivoting pivoting = {.may_drop = compiled->rows.may_drop, .drop = HMI_GRAM_DROP};
    return hmi_ldlt_sparse_factor(&compiled->ldlt, out + schur->at.gram, &pivoting) &&
           pivoting.smallest > least;
}

/* Rows that were dropped must be known to follow from others. */
static bool dropped_are_known(const hmi_compiled *compiled)
{
    const double *inverse = compiled->schur->banded ? compiled->inverse : compiled->ldlt.inverse;
    for (size_t k = 0; k < compiled->schur->m; k++)
        if (inverse[k] == 0 && !compiled->rows.confirmed[k])
            return false;
    return true;
}

/* Both parts, with lambda as it is: the late one may overwrite what it has from the early one. */
static double *run_both(hmi_compiled *compiled, const hmi_tape_values *values)
{
    hmi_tape_values all = *values;
    all.by_kind[HMI_SYM_MATRIX] = compiled->lambda;
    hmi_array_code_run(&compiled->schur->code, &all, compiled->work);
    hmi_array_code_run_late(&compiled->schur->code, &all, compiled->work);
    return hmi_compiled_acceleration(compiled);
}

/* q'' is affine in lambda: that without multipliers is what is to be subtracted. */
bool hmi_compiled_factor(hmi_compiled *compiled, const hmi_tape_values *values)
{
    const hmi_block_schur *schur = compiled->schur;
    double *qdd = hmi_compiled_acceleration(compiled);
    double *out = hmi_array_code_outputs(&schur->code, compiled->work);
    memcpy(compiled->kept, qdd, schur->n * sizeof *qdd);
    memset(compiled->lambda, 0, schur->m * sizeof *compiled->lambda);
    memcpy(compiled->still, run_both(compiled, values), schur->n * sizeof *qdd);
    memcpy(qdd, compiled->kept, schur->n * sizeof *qdd);
    return mass_is_good(compiled, out) && factor_gram(compiled, out) && dropped_are_known(compiled);
}

static void solve_gram(hmi_compiled *compiled)
{
    const hmi_block_schur *schur = compiled->schur;
    double *x = compiled->lambda;
    if (!schur->banded) {
        hmi_ldlt_sparse_solve(&compiled->ldlt, x);
        return;
    }
    const double *G = compiled->band;
    for (size_t k = 0; k < schur->m; k++)
        for (size_t d = 1; d <= schur->width && d <= k; d++)
            x[k] -= G[d * schur->m + k] * x[k - d];
    hmi_band_backward(schur->m, schur->width, G, compiled->inverse, x);
}

/* lambda is made large beside what is subtracted, so that no digits are lost. */
bool hmi_compiled_project(hmi_compiled *compiled, const hmi_tape_values *values, const double *r,
                          double *d)
{
    const hmi_block_schur *schur = compiled->schur;
    double *qdd = hmi_compiled_acceleration(compiled), *x = compiled->lambda, largest = 0;
    memcpy(compiled->kept, qdd, schur->n * sizeof *qdd);
    for (size_t k = 0; k < schur->m; k++)
        largest = fmax(largest, fabs(r[schur->order[k]]));
    double scale = largest > 0 ? 1e6 / largest : 1;
    for (size_t k = 0; k < schur->m; k++)
        x[k] = scale * r[schur->order[k]];
    solve_gram(compiled);
    bool good = isfinite(scale) && all_finite(x, schur->m, 1);
    (void)run_both(compiled, values);
    for (size_t i = 0; i < schur->n; i++)
        d[i] = (qdd[i] - compiled->still[i]) / scale;
    memcpy(qdd, compiled->kept, schur->n * sizeof *qdd);
    return good && all_finite(d, schur->n, 1);
}
