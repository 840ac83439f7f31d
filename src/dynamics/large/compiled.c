/* Runs the compiled constraint problem: M, then G lambda = r by a banded or sparse factor, then q''. */
#include "dynamics/large/compiled.h"

#include "linalg/sparse.h"
#include "linalg/tolerances.h"

#include <string.h>

/* Where the rank-revealing solve takes over. Both matrices lose digits where M has pivots to speak of. */
static double well_conditioned(const hmi_block_schur *schur)
{
    return schur->diagonal ? HMI_WELL_CONDITIONED : HMI_BOTH_WELL_CONDITIONED;
}

struct hmi_compiled {
    const hmi_block_schur *schur;
    double *work;
    double *lambda, *inverse; /* m, in the order of G's rows */
    hmi_ldlt_sparse ldlt;     /* where G is not banded */
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

/* lambda from G lambda = right; G is overwritten where banded. */
static bool find_multipliers(hmi_compiled *compiled, double *out)
{
    const hmi_block_schur *schur = compiled->schur;
    double *x = compiled->lambda, sum = 0;
    if (schur->banded) {
        if (!hmi_band_solve(schur->m, schur->width, out + schur->at.gram, compiled->inverse,
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
    for (size_t k = 0; k < schur->m; k += step)
        sum += x[k] * 0;
    return sum == 0; /* all finite */
}

bool hmi_compiled_run(hmi_compiled *compiled, const hmi_tape_values *values)
{
    const hmi_block_schur *schur = compiled->schur;
    hmi_tape_values all = *values;
    all.by_kind[HMI_SYM_MATRIX] = compiled->lambda;
    hmi_array_code_run(&schur->code, &all, compiled->work);
    double *out = hmi_array_code_outputs(&schur->code, compiled->work);
    if (!mass_is_good(compiled, out) || !find_multipliers(compiled, out))
        return false;
    hmi_array_code_run_late(&schur->code, &all, compiled->work);
    return true;
}
