/* Ranks of the matrices K over curves and points, and tests of single forms (flag.h). */
#include "analyse/integrability/flag.h"

#include "analyse/integrability/transport.h"

#include <math.h>
#include <string.h>

void hmi_evidence_note(hmi_evidence *evidence, const hmi_transport *tr)
{
    evidence->zero = fmax(evidence->zero, tr->zero);
    evidence->nonzero = fmin(evidence->nonzero, tr->nonzero);
    evidence->proved &= tr->point.proved;
    evidence->points++;
}

hmi_evidence hmi_no_evidence(void)
{
    return (hmi_evidence){.zero = -INFINITY, .nonzero = INFINITY, .proved = true};
}

/* ---- what is zero in K ---- */

/* log2 of the terms that the d omega of a target is made of. */
static double turning_scale(const hmi_transport *tr, size_t target)
{
    double scale = -INFINITY;
    size_t i = tr->rows + target;
    for (size_t a = 0; a < tr->form[i]->count; a++)
        scale = fmax(scale, hmi_log2_above(hmi_series_root(&tr->jet, tr->w_start[i] + a, 1)));
    for (size_t a = 0; a < tr->form[i]->gradient_count; a++)
        scale = fmax(scale, hmi_log2_above(hmi_series_root(&tr->jet, tr->g_start[target] + a, 0)));
    return scale;
}

/* log2 of the target itself: what all of d omega is zero against, where its terms are zero without being
 * written as 0, as those of log(exp(y)) - y are. */
static double form_scale(const hmi_transport *tr, size_t target)
{
    double scale = -INFINITY;
    size_t i = tr->rows + target;
    for (size_t a = 0; a < tr->form[i]->count; a++)
        scale = fmax(scale, hmi_log2_above(hmi_series_root(&tr->jet, tr->w_start[i] + a, 0)));
    return scale;
}

/* Makes entries that are zero to the tolerance exactly so: relative to `scale`, or to `whole` where the ball
 * holds 0. false: some are undecided. */
static bool clean(hmi_transport *tr, arb_ptr entries, size_t count, double scale, double whole,
                  hmi_evidence *evidence)
{
    double tolerance = hmi_zero_tolerance(tr->precision, tr->inexact);
    double exact = hmi_zero_tolerance(tr->precision, false);
    for (size_t i = 0; i < count; i++) {
        double above = hmi_log2_above(entries + i);
        bool holds_zero = arb_contains_zero(entries + i);
        if (arb_is_zero(entries + i))
            continue;
        if (above <= scale + tolerance && (tr->inexact || holds_zero)) {
            evidence->zero = fmax(evidence->zero, above - scale);
            arb_zero(entries + i);
        } else if (holds_zero && above <= whole + exact) {
            evidence->zero = fmax(evidence->zero, above - whole);
            arb_zero(entries + i);
        } else if (holds_zero || !arb_is_finite(entries + i)) {
            return false;
        } else {
            evidence->nonzero = fmin(evidence->nonzero, hmi_log2_below(entries + i) - scale);
        }
    }
    return true;
}

/* One block of K for every level; false: more bits are needed. */
static bool clean_levels(hmi_transport *tr, arb_ptr K, size_t levels, hmi_evidence *evidence)
{
    size_t freed = tr->size - tr->rank, block = tr->targets * freed;
    for (size_t target = 0; target < tr->targets; target++)
        if (!clean(tr, K + target * freed, freed, turning_scale(tr, target), form_scale(tr, target),
                   evidence))
            return false;
    for (size_t level = 1; level < levels; level++) {
        double scale = -INFINITY, whole = -INFINITY;
        for (size_t target = 0; target < tr->targets; target++) {
            scale = fmax(scale, turning_scale(tr, target));
            whole = fmax(whole, form_scale(tr, target));
        }
        for (size_t i = 0; i < block; i++)
            scale = fmax(scale, hmi_log2_above(K + level * block + i));
        if (!clean(tr, K + level * block, block, scale, whole, evidence))
            return false;
    }
    return true;
}

/* ---- levels at one point ---- */

/* Levels that are made complete by further curves; deeper ones are those of a single curve. */
enum { MOST_COMPLETED = 10 };

typedef struct levels {
    hmi_transport *tr;
    size_t *target_of; /* by chosen row */
    size_t *kept;      /* targets that are chosen rows, count of them */
    size_t count;
    size_t most; /* levels that may be needed */
    size_t *rho; /* rank of K_0 .. K_l, most of them */
    size_t depth;
    size_t final;
    hmi_evidence *evidence;
} levels;

/* Adds the columns of one block to the echelon; HM_ERR_LIMIT: undecided. */
static hm_status add_block(const levels *l, hmi_echelon *e, arb_srcptr block)
{
    size_t freed = l->tr->size - l->tr->rank;
    arb_ptr column = _arb_vec_init((slong)l->count + 1);
    hmi_dependence verdict = HMI_DEPENDENT;
    for (size_t b = 0; b < freed && verdict != HMI_UNDECIDED && e->rank < l->count; b++) {
        for (size_t i = 0; i < l->count; i++)
            arb_set(column + i, block + l->kept[i] * freed + b);
        verdict = hmi_echelon_add(e, column, 1);
    }
    _arb_vec_clear(column, (slong)l->count + 1);
    l->evidence->zero = fmax(l->evidence->zero, e->zero);
    l->evidence->nonzero = fmin(l->evidence->nonzero, e->nonzero);
    return verdict == HMI_UNDECIDED ? HM_ERR_LIMIT : HM_OK;
}

/* Follows one curve for `depth` levels. */
static hm_status run_curve(const levels *l, size_t depth, arb_ptr K)
{
    hm_status status = hmi_transport_curve(l->tr, depth, l->target_of, K);
    if (status == HM_OK && !clean_levels(l->tr, K, depth, l->evidence))
        status = HM_ERR_LIMIT;
    return status;
}

static hm_status open_echelon(const levels *l, hmi_echelon *e)
{
    return hmi_echelon_init(e, l->tr->forms->allocator, l->count, l->count, l->tr->precision,
                            l->tr->inexact);
}

/* The rank of K_0 .. K_depth-1 of one curve; *stable: the last level added nothing, or the rank is
 * full. */
static hm_status rank_along(const levels *l, size_t depth, arb_srcptr K, size_t *rank, bool *stable)
{
    hmi_echelon e;
    size_t block = l->tr->targets * (l->tr->size - l->tr->rank);
    hm_status status = open_echelon(l, &e);
    *stable = false;
    for (size_t k = 0; status == HM_OK && k < depth && !*stable; k++) {
        size_t before = e.rank;
        status = add_block(l, &e, K + k * block);
        *stable = e.rank == before || e.rank == l->count;
    }
    *rank = e.rank;
    hmi_echelon_release(&e);
    return status;
}

/* Adds level k of further curves until one adds nothing. */
static hm_status saturate(const levels *l, hmi_echelon *e, size_t k)
{
    size_t block = l->tr->targets * (l->tr->size - l->tr->rank);
    size_t before = SIZE_MAX;
    hm_status status = HM_OK;
    arb_ptr K = _arb_vec_init((slong)((k + 1) * block) + 1);
    while (status == HM_OK && e->rank < l->final && e->rank != before) {
        before = e->rank;
        status = run_curve(l, k + 1, K);
        if (status == HM_OK)
            status = add_block(l, e, K + k * block);
    }
    _arb_vec_clear(K, (slong)((k + 1) * block) + 1);
    return status;
}

static hm_status complete_levels(levels *l, size_t depth, arb_srcptr A, size_t second, arb_srcptr B)
{
    hmi_echelon e;
    size_t block = l->tr->targets * (l->tr->size - l->tr->rank);
    hm_status status = open_echelon(l, &e);
    for (size_t k = 0; status == HM_OK && k < depth && e.rank < l->final; k++) {
        status = add_block(l, &e, A + k * block);
        size_t before = e.rank;
        if (status == HM_OK && e.rank < l->final && k < second)
            status = add_block(l, &e, B + k * block);
        if (status == HM_OK && e.rank != before && e.rank < l->final)
            status = saturate(l, &e, k);
        l->rho[l->depth++] = e.rank;
    }
    hmi_echelon_release(&e);
    return status;
}

/* The flag at the point of the transport. */
static hm_status find_levels(levels *l)
{
    size_t block = l->tr->targets * (l->tr->size - l->tr->rank), depth = 1;
    bool stable = false;
    hm_status status = HM_OK;
    l->depth = 0;
    while (status == HM_OK && !stable) {
        size_t room = depth * block + 1;
        arb_ptr A = _arb_vec_init((slong)room), B = _arb_vec_init((slong)room);
        status = run_curve(l, depth, A);
        if (status == HM_OK)
            status = rank_along(l, depth, A, &l->final, &stable);
        size_t second = depth < MOST_COMPLETED ? depth : MOST_COMPLETED;
        if (status == HM_OK && stable && l->final > 0)
            status = run_curve(l, second, B);
        if (status == HM_OK && stable)
            status = complete_levels(l, depth, A, second, B);
        _arb_vec_clear(A, (slong)room);
        _arb_vec_clear(B, (slong)room);
        if (l->tr->size - l->tr->rank == 2 && depth == 4)
            depth = l->most; /* growth by one dimension per level will probably go on to the end */
        depth *= depth < 4 ? 2 : 3;
        depth = depth < l->most ? depth : l->most;
    }
    return status;
}

/* ---- over several points ---- */

static hm_status take_memory(hmi_arena *arena, size_t rows, levels *l, hmi_flag *flag)
{
    l->target_of = hmi_arena_alloc(arena, (rows + 1) * sizeof(size_t));
    l->kept = hmi_arena_alloc(arena, (rows + 1) * sizeof(size_t));
    l->rho = hmi_arena_alloc(arena, (2 * rows + 4) * sizeof(size_t));
    flag->growth = hmi_arena_alloc(arena, (2 * rows + 4) * sizeof(size_t));
    flag->independent = hmi_arena_alloc(arena, rows + 1);
    flag->in_span = hmi_arena_alloc(arena, rows + 1);
    flag->outside = hmi_arena_alloc(arena, (rows + 1) * sizeof(double));
    return l->target_of && l->kept && l->rho && flag->growth && flag->independent &&
                   flag->in_span && flag->outside
               ? HM_OK
               : HM_ERR_NOMEM;
}

/* Which chosen rows are targets, and which target each is. */
static void match_targets(levels *l, const size_t *target_row)
{
    const hmi_transport *tr = l->tr;
    l->count = 0;
    for (size_t i = 0; i < tr->rank; i++) {
        l->target_of[i] = SIZE_MAX;
        for (size_t k = 0; k < tr->targets; k++)
            if (target_row[k] == tr->chosen[i]) {
                l->target_of[i] = k;
                l->kept[l->count++] = k;
            }
    }
    l->most = l->count + 1;
}

static bool larger_growth(const hmi_flag *flag, const levels *l)
{
    size_t D = l->tr->size - l->tr->rank;
    for (size_t k = 0; k < l->depth && k + 1 < flag->levels; k++)
        if (D + l->rho[k] != flag->growth[k + 1])
            return D + l->rho[k] > flag->growth[k + 1];
    return false;
}

/* Ranks at special points are smaller: the largest found are those of generic points. */
static void take_levels(hmi_flag *flag, const levels *l)
{
    const hmi_transport *tr = l->tr;
    size_t reached = flag->levels ? flag->growth[flag->levels - 1] : 0;
    bool first = flag->levels == 0, more = tr->size - tr->rank + l->final > reached;
    if (!first && (tr->rank < flag->rank || (!more && !larger_growth(flag, l))))
        return;
    flag->rank = tr->rank;
    flag->levels = 1;
    flag->growth[0] = tr->size - tr->rank;
    for (size_t k = 0; k < l->depth; k++)
        if (flag->growth[0] + l->rho[k] > flag->growth[flag->levels - 1])
            flag->growth[flag->levels++] = flag->growth[0] + l->rho[k];
    flag->integrable = tr->rank - l->final;
    memset(flag->independent, 0, tr->rows);
    for (size_t i = 0; i < tr->rank; i++)
        flag->independent[tr->chosen[i]] = true;
}

/* K_0 of a target is zero: d omega lies in the span of the rows. Also of dependent targets. */
static hm_status find_spans(levels *l, const size_t *target_row, hmi_flag *flag)
{
    size_t freed = l->tr->size - l->tr->rank, block = l->tr->targets * freed;
    arb_ptr K = _arb_vec_init((slong)block + 1);
    hm_status status = run_curve(l, 1, K);
    for (size_t k = 0; status == HM_OK && k < l->tr->targets; k++)
        for (size_t b = 0; b < freed; b++) {
            double size = fabs(arf_get_d(arb_midref(K + k * freed + b), ARF_RND_NEAR));
            flag->in_span[target_row[k]] &= arb_is_zero(K + k * freed + b);
            flag->outside[target_row[k]] = fmax(flag->outside[target_row[k]], size);
        }
    _arb_vec_clear(K, (slong)block + 1);
    return status;
}

/* Finds the flag at one point, with as many bits as it takes. Every other point starts with twice
 * the bits, so that what is tiny but not zero is noticed. */
static hm_status one_point(levels *l, const size_t *target_row, slong bits, hmi_flag *flag)
{
    hm_status status = HM_ERR_LIMIT;
    for (; status == HM_ERR_LIMIT && bits <= 2 * HMI_MOST_BITS; bits *= 2) {
        status = hmi_transport_point(l->tr, bits);
        if (status == HM_OK)
            match_targets(l, target_row);
        if (status == HM_OK)
            status = find_levels(l);
        if (status == HM_OK)
            status = find_spans(l, target_row, flag);
        if (status == HM_ERR_NUMERIC) {
            hmi_sample_reject(l->tr->sampler);
            status = HM_ERR_LIMIT; /* another point */
        }
    }
    if (status != HM_OK)
        return status == HM_ERR_NOMEM ? status : HM_ERR_NUMERIC;
    take_levels(flag, l);
    hmi_evidence_note(l->evidence, l->tr);
    return HM_OK;
}

int hmi_points_for(size_t size)
{
    return size > 30 ? 2 : HMI_POINTS;
}

/* Where nothing is integrable, everything was proved nonzero, and a large set needs no second
 * point. */
static bool settled(const hmi_flag *flag)
{
    return flag->dimension > 30 && flag->levels > MOST_COMPLETED && flag->integrable == 0;
}

hm_status hmi_flag_find(hmi_sampler *sampler, const size_t *rows, size_t count, bool with_time,
                        hmi_flag *flag)
{
    hmi_forms *forms = sampler->forms;
    hmi_transport tr = {0};
    levels l = {.tr = &tr, .evidence = &flag->evidence};
    *flag = (hmi_flag){.dimension = forms->n + with_time, .evidence = hmi_no_evidence()};
    hm_status status = take_memory(&forms->arena, count, &l, flag);
    const hmi_form **form = hmi_arena_alloc(&forms->arena, 2 * (count + 1) * sizeof *form);
    size_t *target_row = hmi_arena_alloc(&forms->arena, (count + 1) * sizeof *target_row);
    size_t targets = 0;
    slong bits = HMI_BITS + 6 * (slong)flag->dimension;
    if (status != HM_OK || !form || !target_row)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        form[i] = &forms->rows[rows[i]].form;
        flag->in_span[i] = true;
        if (!forms->rows[rows[i]].closed)
            target_row[targets++] = i;
    }
    for (size_t k = 0; k < targets; k++)
        form[count + k] = form[target_row[k]];
    status = hmi_transport_init(&tr, sampler, form, count, form + count, targets, flag->dimension);
    for (int k = 0; status == HM_OK && k < hmi_points_for(flag->dimension) && !(k && settled(flag));
         k++)
        status = one_point(&l, target_row, bits << (k & 1), flag);
    hmi_transport_release(&tr);
    return status;
}

/* ---- single forms ---- */

typedef hm_status (*point_test)(hmi_transport *tr, bool *holds, hmi_evidence *evidence);

/* Makes a test at every point with enough bits. What fails at one point is false. */
static hm_status at_points(hmi_transport *tr, point_test test, bool *holds, hmi_evidence *evidence)
{
    *holds = true;
    for (int k = 0; k < hmi_points_for(tr->size); k++) {
        hm_status status = HM_ERR_LIMIT;
        for (slong bits = HMI_BITS; status == HM_ERR_LIMIT && bits <= HMI_MOST_BITS; bits *= 2) {
            status = hmi_transport_point(tr, bits);
            if (status == HM_OK)
                status = test(tr, holds, evidence);
            if (status == HM_ERR_NUMERIC) {
                hmi_sample_reject(tr->sampler);
                status = HM_ERR_LIMIT;
            }
        }
        if (status != HM_OK)
            return status == HM_ERR_NOMEM ? status : HM_ERR_NUMERIC;
        hmi_evidence_note(evidence, tr);
    }
    return HM_OK;
}

static hm_status closed_here(hmi_transport *tr, bool *closed, hmi_evidence *evidence)
{
    size_t freed = tr->size - tr->rank;
    arb_ptr K = _arb_vec_init((slong)freed + 1);
    hm_status status = hmi_transport_curve(tr, 1, NULL, K);
    if (status == HM_OK && !clean(tr, K, freed, turning_scale(tr, 0), form_scale(tr, 0), evidence))
        status = HM_ERR_LIMIT;
    if (status == HM_OK)
        *closed &= _arb_vec_is_zero(K, (slong)freed);
    _arb_vec_clear(K, (slong)freed + 1);
    return status;
}

static hm_status depends_here(hmi_transport *tr, bool *depends, hmi_evidence *evidence)
{
    (void)evidence;
    *depends &= tr->rank == 0 || tr->chosen[tr->rank - 1] + 1 < tr->rows;
    return HM_OK;
}

/* Rows, then the form itself as a row (own) or as a target. */
static hm_status test_form(hmi_sampler *sampler, const hmi_form *form, const size_t *rows,
                           size_t count, bool own, point_test test, bool *holds,
                           hmi_evidence *evidence)
{
    hmi_forms *forms = sampler->forms;
    hmi_transport tr = {0};
    *evidence = hmi_no_evidence();
    const hmi_form **list = hmi_arena_alloc(&forms->arena, (count + 2) * sizeof *list);
    if (!list)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        list[i] = &forms->rows[rows[i]].form;
    list[count] = form;
    hm_status status = hmi_transport_init(&tr, sampler, list, count + own, &form, !own,
                                          forms->n + 1);
    if (status == HM_OK)
        status = at_points(&tr, test, holds, evidence);
    hmi_transport_release(&tr);
    return status;
}

hm_status hmi_form_is_closed(hmi_sampler *sampler, const hmi_form *form, const size_t *rows,
                             size_t count, bool *closed, hmi_evidence *evidence)
{
    return test_form(sampler, form, rows, count, false, closed_here, closed, evidence);
}

hm_status hmi_form_depends(hmi_sampler *sampler, const hmi_form *form, const size_t *rows,
                           size_t count, bool *depends, hmi_evidence *evidence)
{
    return test_form(sampler, form, rows, count, true, depends_here, depends, evidence);
}
