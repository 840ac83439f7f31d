/* Runs the compiled constraint problem: M, then G lambda = r by a banded or sparse factor, then q''. */
#include "dynamics/large/compiled.h"

#include "dynamics/large/dependent_rows.h"
#include "linalg/tolerances.h"

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
    double *band;             /* a copy of G that is factored; NULL: factored in place */
    hmi_ldlt_sparse ldlt;     /* where G is not banded */
    hmi_dependent_rows rows;
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
    compiled->band = schur->banded && !schur->fresh
                         ? hmi_arena_doubles(arena, (schur->width + 1) * schur->m, &failed)
                         : NULL;
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

/* The band to be factored: G itself, where every run writes it anew. */
static double *take_band(const hmi_compiled *compiled, double *out)
{
    const hmi_block_schur *schur = compiled->schur;
    double *G = out + schur->at.gram;
    if (!compiled->band)
        return G;
    memcpy(compiled->band, G, (schur->width + 1) * schur->m * sizeof *G);
    return compiled->band;
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
                                    .band = compiled->band ? compiled->band : G,
                                    .inverse = schur->banded ? compiled->inverse
                                                             : compiled->ldlt.inverse};
    hmi_dependent_rows_confirm(&compiled->rows, &factor, shape, M, A);
}
