/* The compiled solve of large sparse systems: see compiled.h. */
#include "dynamics/sim/compiled.h"

#include "linalg/sparse.h"
#include "linalg/tolerances.h"

#include <string.h>

/* Where the rank-revealing solve takes over. Both matrices lose digits where M has pivots to speak of. */
static double well_conditioned(const hmi_block_schur *schur)
{
    return schur->diagonal ? HMI_WELL_CONDITIONED : HMI_BOTH_WELL_CONDITIONED;
}

struct hmi_fast {
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

/* The state and q'' of the sim are where the code reads and writes them. */
static void share_memory(hm_sim *sim, struct hmi_fast *fast)
{
    const hmi_array_code *code = &fast->schur->code;
    sim->fast = fast;
    sim->q = hmi_array_code_input(code, HMI_SYM_COORD, fast->work);
    sim->v = hmi_array_code_input(code, HMI_SYM_VELOCITY, fast->work);
    sim->qdd = hmi_array_code_outputs(code, fast->work) + fast->schur->at.acceleration;
}

hm_status hmi_fast_create(hm_sim *sim)
{
    const hmi_block_schur *schur = sim->system->schur;
    if (!schur)
        return HM_OK;
    struct hmi_fast *fast = hmi_arena_alloc(&sim->arena, sizeof *fast);
    if (!fast)
        return HM_ERR_NOMEM;
    fast->schur = schur;
    fast->work = hmi_arena_alloc(&sim->arena, (schur->code.work_size + 1) * sizeof *fast->work);
    fast->inverse = hmi_arena_alloc(&sim->arena, (schur->m + 1) * sizeof *fast->inverse);
    if (!fast->work || !fast->inverse)
        return HM_ERR_NOMEM;
    fast->lambda = schur->m ? hmi_array_code_input(&schur->code, HMI_SYM_MATRIX, fast->work) : NULL;
    hm_status status = HM_OK;
    if (!schur->banded) {
        const hmi_lower G = {schur->m, schur->start, schur->column};
        status = hmi_ldlt_sparse_init(&fast->ldlt, sim->system->allocator, &sim->arena, &G,
                                      most_fill(schur));
    }
    if (status == HM_OK)
        share_memory(sim, fast);
    return status == HM_ERR_LIMIT ? HM_OK : status;
}

void hmi_fast_prepare(hm_sim *sim, const hmi_tape_values *values)
{
    if (sim->fast)
        hmi_array_code_prepare(&sim->fast->schur->code, values, sim->fast->work);
}

static bool mass_is_good(const struct hmi_fast *fast, const double *out)
{
    const hmi_block_schur_layout *at = &fast->schur->at;
    bool good = true;
    for (size_t k = 0; k < at->check_count; k++)
        good &= out[at->checks + k] > well_conditioned(fast->schur);
    return good;
}

/* lambda from G lambda = right; G is overwritten where banded. */
static bool find_multipliers(struct hmi_fast *fast, double *out)
{
    const hmi_block_schur *schur = fast->schur;
    double *x = fast->lambda, sum = 0;
    if (schur->banded) {
        if (!hmi_band_solve(schur->m, schur->width, out + schur->at.gram, fast->inverse,
                            well_conditioned(schur), out + schur->at.right, x))
            return false;
    } else {
        memcpy(x, out + schur->at.right, schur->m * sizeof *x);
        hmi_pivoting pivoting = {.refuse = well_conditioned(schur)};
        if (!hmi_ldlt_sparse_factor(&fast->ldlt, out + schur->at.gram, &pivoting))
            return false;
        hmi_ldlt_sparse_solve(&fast->ldlt, x);
    }
    /* what is not finite in a tridiagonal solve reaches both ends of it */
    size_t step = schur->banded && schur->width == 1 && schur->m > 1 ? schur->m - 1 : 1;
    for (size_t k = 0; k < schur->m; k += step)
        sum += x[k] * 0;
    return sum == 0; /* all finite */
}

bool hmi_fast_accelerate(hm_sim *sim)
{
    struct hmi_fast *fast = sim->fast;
    if (!fast || sim->formulation != HM_FORMULATION_AUTO ||
        sim->dynamics_tape != &sim->system->dynamics)
        return false;
    const hmi_block_schur *schur = fast->schur;
    hmi_sim_refresh(sim);
    hmi_tape_values values = hmi_sim_values(sim);
    values.by_kind[HMI_SYM_MATRIX] = fast->lambda;
    hmi_array_code_run(&schur->code, &values, fast->work);
    double *out = hmi_array_code_outputs(&schur->code, fast->work);
    if (!mass_is_good(fast, out) || !find_multipliers(fast, out))
        return false;
    hmi_array_code_run_late(&schur->code, &values, fast->work);
    size_t states = sim->system->model->states.count;
    if (states)
        memcpy(hmi_sim_dynamics(sim) + sim->system->at.state_rates, out + schur->at.state_rates,
               states * sizeof *out);
    sim->stale = true;
    return true;
}
