/* Follows one curve through one point as power series.
 *
 * With W the chosen rows, P their pivot columns and F the free ones,
 *     W X = 0, X_F = u        ->  X_P = -W_P^-1 W_F u
 *     H W + G dz_F = gamma    ->  H = gamma_P W_P^-1,   G = gamma_F - H W_F
 * hold order by order for series: known lower orders go to the right-hand side.
 */
#include "analyse/integrability/transport.h"

#include <assert.h>
#include <string.h>

/* Positions end with the space: where t is none of them, no form knows it. */
static inline bool fit(const hmi_transport *tr)
{
    for (size_t i = 0; i < tr->rows + tr->targets; i++) {
        const hmi_form *f = tr->form[i];
        if ((f->count && f->at[f->count - 1] >= tr->size) ||
            (f->gradient_count && f->gradient_at[f->gradient_count - 1] >= tr->size))
            return false;
    }
    return true;
}

static hm_status add_forms(hmi_transport *tr)
{
    hm_status status = HM_OK;
    for (size_t i = 0; i < tr->rows + tr->targets; i++) {
        const hmi_form *form = tr->form[i];
        tr->w_start[i] = tr->jet.roots.count;
        for (size_t k = 0; status == HM_OK && k < form->count; k++)
            status = hmi_series_add(&tr->jet, form->value[k]);
    }
    tr->components = hmi_series_so_far(&tr->jet);
    for (size_t i = 0; i < tr->targets; i++) {
        const hmi_form *form = tr->form[tr->rows + i];
        tr->g_start[i] = tr->jet.roots.count;
        for (size_t k = 0; status == HM_OK && k < form->gradient_count; k++)
            status = hmi_series_add(&tr->jet, form->gradient[k]);
    }
    return status;
}

hm_status hmi_transport_init(hmi_transport *tr, hmi_sampler *sampler, const hmi_form *const *rows,
                             size_t row_count, const hmi_form *const *targets, size_t target_count,
                             size_t size)
{
    hmi_forms *forms = sampler->forms;
    size_t all = row_count + target_count;
    *tr = (hmi_transport){.sampler = sampler,
                          .forms = forms,
                          .rows = row_count,
                          .targets = target_count,
                          .size = size};
    hmi_arena_init(&tr->arena, forms->allocator);
    hmi_series_init(&tr->jet, forms->allocator, forms->model, &forms->graph);
    tr->form = hmi_arena_alloc(&tr->arena, (all + 1) * sizeof *tr->form);
    tr->w_start = hmi_arena_alloc(&tr->arena, (all + 1) * sizeof(size_t));
    tr->g_start = hmi_arena_alloc(&tr->arena, (target_count + 1) * sizeof(size_t));
    tr->chosen = hmi_arena_alloc(&tr->arena, (row_count + 1) * sizeof(size_t));
    tr->pivot = hmi_arena_alloc(&tr->arena, (row_count + 1) * sizeof(size_t));
    tr->freed = hmi_arena_alloc(&tr->arena, (size + 1) * sizeof(size_t));
    tr->is_free = hmi_arena_alloc(&tr->arena, size + 1);
    if (!tr->form || !tr->w_start || !tr->g_start || !tr->chosen || !tr->pivot || !tr->freed ||
        !tr->is_free)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < all; i++)
        tr->form[i] = i < row_count ? rows[i] : targets[i - row_count];
    assert(fit(tr));
    hm_status status = add_forms(tr);
    tr->inexact = tr->jet.inexact || sampler->jet.inexact;
    return status;
}

static void forget_point(hmi_transport *tr)
{
    if (tr->has_inverse)
        arb_mat_clear(tr->inverse);
    tr->has_inverse = false;
    hmi_curve_clear(&tr->point);
}

void hmi_transport_release(hmi_transport *tr)
{
    if (!tr->forms)
        return;
    forget_point(tr);
    hmi_series_release(&tr->jet);
    hmi_arena_release(&tr->arena);
    tr->forms = NULL;
}

/* ---- the point ---- */

static void dense_row(const hmi_transport *tr, size_t i, arb_ptr row)
{
    const hmi_form *form = tr->form[i];
    _arb_vec_zero(row, (slong)tr->size);
    for (size_t k = 0; k < form->count; k++)
        arb_set(row + form->at[k], hmi_series_root(&tr->jet, tr->w_start[i] + k, 0));
}

static hm_status choose_rows(hmi_transport *tr)
{
    hmi_echelon e;
    hmi_dependence verdict = HMI_DEPENDENT;
    hm_status status = hmi_echelon_init(&e, tr->forms->allocator, tr->size,
                                        tr->rows < tr->size ? tr->rows : tr->size, tr->precision,
                                        tr->inexact);
    if (status != HM_OK)
        return status;
    arb_ptr row = _arb_vec_init((slong)tr->size);
    tr->rank = 0;
    for (size_t i = 0; i < tr->rows && verdict != HMI_UNDECIDED; i++) {
        dense_row(tr, i, row);
        verdict = hmi_echelon_add(&e, row, 1);
        if (verdict == HMI_INDEPENDENT && tr->rank < e.rank) {
            tr->chosen[tr->rank] = i;
            tr->pivot[tr->rank] = e.pivot[tr->rank];
            tr->rank++;
        }
    }
    tr->zero = e.zero;
    tr->nonzero = e.nonzero;
    _arb_vec_clear(row, (slong)tr->size);
    hmi_echelon_release(&e);
    return verdict == HMI_UNDECIDED ? HM_ERR_LIMIT : HM_OK;
}

static void list_free(hmi_transport *tr)
{
    size_t count = 0;
    memset(tr->is_free, true, tr->size);
    for (size_t i = 0; i < tr->rank; i++)
        tr->is_free[tr->pivot[i]] = false;
    for (size_t j = 0; j < tr->size; j++)
        if (tr->is_free[j])
            tr->freed[count++] = j;
}

/* Inverts by plain elimination, which, unlike arb_mat_inv, keeps the exact zeros of the structure;
 * chains of bodies have many. */
static bool invert_sparse(arb_mat_t inverse, const arb_mat_t square, slong precision)
{
    slong n = arb_mat_nrows(square), *order = flint_malloc((size_t)n * sizeof *order);
    arb_mat_t factors, identity;
    arb_mat_init(factors, n, n);
    arb_mat_init(identity, n, n);
    arb_mat_one(identity);
    bool good = arb_mat_lu_classical(order, factors, square, precision);
    if (good)
        arb_mat_solve_lu_precomp(inverse, order, factors, identity, precision);
    arb_mat_clear(factors);
    arb_mat_clear(identity);
    flint_free(order);
    return good;
}

/* W_P^-1; false where the balls do not allow it. */
static bool invert(hmi_transport *tr)
{
    slong rank = (slong)tr->rank;
    arb_mat_t square;
    arb_ptr row = _arb_vec_init((slong)tr->size);
    arb_mat_init(square, rank, rank);
    arb_mat_init(tr->inverse, rank, rank);
    tr->has_inverse = true;
    for (slong i = 0; i < rank; i++) {
        dense_row(tr, tr->chosen[i], row);
        for (slong j = 0; j < rank; j++)
            arb_set(arb_mat_entry(square, i, j), row + tr->pivot[j]);
    }
    bool good = rank == 0 || invert_sparse(tr->inverse, square, tr->precision);
    arb_mat_clear(square);
    _arb_vec_clear(row, (slong)tr->size);
    return good;
}

static void extend_components(hmi_transport *tr, const hmi_curve *curve, size_t k)
{
    hmi_curve_fill(curve, &tr->jet, k);
    hmi_series_extend_part(&tr->jet, k, (hmi_series_part){0}, tr->components);
}

/* After the components of this order, and the velocity. */
static void extend_gradients(hmi_transport *tr, const hmi_curve *curve, size_t k)
{
    hmi_curve_fill(curve, &tr->jet, k);
    hmi_series_extend_part(&tr->jet, k, tr->components, hmi_series_so_far(&tr->jet));
}

hm_status hmi_transport_point(hmi_transport *tr, slong precision)
{
    forget_point(tr);
    tr->precision = precision;
    hmi_curve_init(&tr->point, tr->forms, 1, precision);
    for (int tries = 0; tries < 20; tries++) {
        hm_status status = hmi_sample(tr->sampler, &tr->point);
        if (status != HM_OK)
            return status;
        hmi_series_start(&tr->jet, 1, precision);
        extend_components(tr, &tr->point, 0);
        if (!tr->jet.failed) {
            status = choose_rows(tr);
            list_free(tr);
            return status == HM_OK && !invert(tr) ? HM_ERR_LIMIT : status;
        }
        hmi_sample_reject(tr->sampler);
    }
    return HM_ERR_NUMERIC;
}

/* ---- the curve ---- */

typedef struct journey {
    hmi_transport *tr;
    hmi_curve curve;
    size_t levels, freed;
    arb_ptr u;    /* freed x levels: the controls */
    arb_ptr H, K; /* targets x rank x levels, targets x freed x levels */
    size_t *used; /* targets of them: scratch */
} journey;

/* Order k of X: rows times X vanish, X_F = u. */
static void next_velocity(journey *j, size_t k)
{
    hmi_transport *tr = j->tr;
    hmi_curve *c = &j->curve;
    arb_ptr rhs = _arb_vec_init((slong)tr->rank + 1);
    for (size_t b = 0; b < j->freed; b++)
        arb_set(c->X + tr->freed[b] * c->orders + k, j->u + b * j->levels + k);
    for (size_t i = 0; i < tr->rank; i++)
        arb_zero(c->X + tr->pivot[i] * c->orders + k);
    for (size_t i = 0; i < tr->rank; i++) {
        const hmi_form *form = tr->form[tr->chosen[i]];
        for (size_t a = 0; a < form->count; a++)
            arb_dot(rhs + i, rhs + i, 1,
                    hmi_series_root(&tr->jet, tr->w_start[tr->chosen[i]] + a, 0), 1,
                    c->X + form->at[a] * c->orders + k, -1, (slong)k + 1, tr->precision);
    }
    for (size_t i = 0; i < tr->rank; i++)
        arb_dot(c->X + tr->pivot[i] * c->orders + k, NULL, 0, tr->inverse->rows[i], 1, rhs, 1,
                (slong)tr->rank, tr->precision);
    _arb_vec_clear(rhs, (slong)tr->rank + 1);
}

/* gamma = X(omega) - dg, order k, of one target. */
static void turning(journey *j, size_t target, size_t k, arb_ptr gamma)
{
    hmi_transport *tr = j->tr;
    const hmi_form *form = tr->form[tr->rows + target];
    size_t w = tr->w_start[tr->rows + target];
    _arb_vec_zero(gamma, (slong)tr->size);
    for (size_t a = 0; a < form->count; a++)
        arb_mul_ui(gamma + form->at[a], hmi_series_root(&tr->jet, w + a, k + 1), k + 1,
                   tr->precision);
    for (size_t a = 0; a < form->gradient_count; a++)
        arb_sub(gamma + form->gradient_at[a], gamma + form->gradient_at[a],
                hmi_series_root(&tr->jet, tr->g_start[target] + a, k), tr->precision);
}

/* gamma -= H_i W_i over orders 1..k of W, so that H of order k - order is known, for all targets.
 * Row by row, since the H_i of all targets stay in the cache, but not all W. */
static void subtract_row(journey *j, size_t i, size_t k, arb_ptr gamma)
{
    hmi_transport *tr = j->tr;
    const hmi_form *form = tr->form[tr->chosen[i]];
    size_t first = tr->w_start[tr->chosen[i]], used = 0;
    for (size_t target = 0; target < tr->targets; target++)
        if (!_arb_vec_is_zero(j->H + (target * tr->rank + i) * j->levels, (slong)k))
            j->used[used++] = target;
    for (size_t a = 0; a < form->count && used; a++) {
        arb_srcptr w = hmi_series_root(&tr->jet, first + a, 1); /* there is one, since k > 0 */
        for (size_t u = 0; u < used; u++) {
            arb_srcptr h = j->H + (j->used[u] * tr->rank + i) * j->levels;
            arb_ptr to = gamma + j->used[u] * tr->size + form->at[a];
            arb_dot(to, to, 1, w, 1, h + (k - 1), -1, (slong)k, tr->precision);
        }
    }
}

/* Order k of H and K_0 of one target, whose gamma lacks the order 0 of W. */
static void finish_target(journey *j, size_t target, size_t k, arb_ptr gamma)
{
    hmi_transport *tr = j->tr;
    arb_ptr H = j->H + target * tr->rank * j->levels;
    for (size_t p = 0; p < tr->rank; p++)
        for (size_t i = 0; i < tr->rank && !arb_is_zero(gamma + tr->pivot[p]); i++)
            arb_addmul(H + i * j->levels + k, gamma + tr->pivot[p],
                       arb_mat_entry(tr->inverse, (slong)p, (slong)i), tr->precision);
    for (size_t i = 0; i < tr->rank; i++) { /* the pivot columns would become 0 */
        const hmi_form *form = tr->form[tr->chosen[i]];
        if (arb_is_zero(H + i * j->levels + k))
            continue;
        for (size_t a = 0; a < form->count; a++)
            if (tr->is_free[form->at[a]])
                arb_submul(gamma + form->at[a], H + i * j->levels + k,
                           hmi_series_root(&tr->jet, tr->w_start[tr->chosen[i]] + a, 0),
                           tr->precision);
    }
    for (size_t b = 0; b < j->freed; b++)
        arb_set(j->K + (target * j->freed + b) * j->levels + k, gamma + tr->freed[b]);
}

/* Order k of H and K_0; gamma: targets x size. */
static void next_matrices(journey *j, size_t k, arb_ptr gamma)
{
    hmi_transport *tr = j->tr;
    for (size_t target = 0; target < tr->targets; target++)
        turning(j, target, k, gamma + target * tr->size);
    for (size_t i = 0; i < tr->rank; i++)
        subtract_row(j, i, k, gamma);
    for (size_t target = 0; target < tr->targets; target++)
        finish_target(j, target, k, gamma + target * tr->size);
}

static bool follow(journey *j)
{
    hmi_transport *tr = j->tr;
    hmi_curve *c = &j->curve;
    arb_ptr gamma = _arb_vec_init((slong)(tr->targets * tr->size) + 1);
    hmi_series_start(&tr->jet, j->levels + 1, tr->precision);
    extend_components(tr, c, 0);
    for (size_t k = 0; k < j->levels && !tr->jet.failed; k++) {
        next_velocity(j, k);
        extend_gradients(tr, c, k);
        for (size_t i = 0; i < c->size; i++)
            arb_div_ui(c->z + i * c->orders + k + 1, c->X + i * c->orders + k, k + 1,
                       tr->precision);
        extend_components(tr, c, k + 1);
        next_matrices(j, k, gamma);
    }
    _arb_vec_clear(gamma, (slong)(tr->targets * tr->size) + 1);
    return !tr->jet.failed;
}

/* K := K' - H K, losing one order; `left` orders are kept. H is restricted to chosen rows that are
 * targets: the others are position rows, whose K is 0. */
static void derive_K(journey *j, size_t left, const size_t *target_of)
{
    hmi_transport *tr = j->tr;
    size_t per = j->freed * j->levels, L = j->levels;
    arb_ptr next = _arb_vec_init((slong)(tr->targets * per) + 1);
    for (size_t target = 0; target < tr->targets; target++)
        for (size_t b = 0; b + 1 < j->freed; b++) { /* K X_F = 0: the last column follows */
            arb_ptr out = next + target * per + b * L;
            for (size_t k = 0; k < left; k++)
                arb_mul_ui(out + k, j->K + target * per + b * L + k + 1, k + 1, tr->precision);
            for (size_t i = 0; i < tr->rank; i++) {
                if (target_of[i] == SIZE_MAX)
                    continue;
                arb_srcptr h = j->H + (target * tr->rank + i) * L;
                arb_srcptr y = j->K + target_of[i] * per + b * L;
                if (_arb_vec_is_zero(h, (slong)left) || _arb_vec_is_zero(y, (slong)left))
                    continue;
                for (size_t k = 0; k < left; k++)
                    arb_dot(out + k, out + k, 1, h, 1, y + k, -1, (slong)k + 1, tr->precision);
            }
        }
    _arb_vec_swap(j->K, next, (slong)(tr->targets * per));
    _arb_vec_clear(next, (slong)(tr->targets * per) + 1);
}

hm_status hmi_transport_curve(hmi_transport *tr, size_t levels, const size_t *target_of, arb_ptr K)
{
    journey j = {.tr = tr, .levels = levels, .freed = tr->size - tr->rank};
    size_t block = tr->targets * j.freed;
    hmi_curve_init(&j.curve, tr->forms, levels + 1, tr->precision);
    for (size_t i = 0; i < j.curve.size; i++)
        arb_set(j.curve.z + i * j.curve.orders, tr->point.z + i);
    _arb_vec_set(j.curve.signal, tr->point.signal, (slong)(3 * j.curve.signals));
    j.u = _arb_vec_init((slong)(j.freed * levels) + 1);
    j.H = _arb_vec_init((slong)(tr->targets * tr->rank * levels) + 1);
    j.K = _arb_vec_init((slong)(block * levels) + 1);
    j.used = flint_malloc((tr->targets + 1) * sizeof *j.used);
    for (size_t i = 0; i < j.freed * levels; i++)
        arb_set_d(j.u + i, hmi_sampler_random(tr->sampler));
    bool good = follow(&j);
    for (size_t level = 0; good && level < levels; level++) {
        for (size_t i = 0; i < block; i++)
            arb_set(K + level * block + i, j.K + i * levels);
        if (level + 1 < levels)
            derive_K(&j, levels - level - 1, target_of);
    }
    _arb_vec_clear(j.u, (slong)(j.freed * levels) + 1);
    _arb_vec_clear(j.H, (slong)(tr->targets * tr->rank * levels) + 1);
    _arb_vec_clear(j.K, (slong)(block * levels) + 1);
    flint_free(j.used);
    hmi_curve_clear(&j.curve);
    return good ? HM_OK : HM_ERR_NUMERIC;
}

void hmi_transport_velocity(hmi_transport *tr)
{
    journey j = {.tr = tr, .curve = tr->point, .levels = 1, .freed = tr->size - tr->rank};
    j.u = _arb_vec_init((slong)j.freed + 1);
    for (size_t b = 0; b < j.freed; b++) {
        arb_set_d(j.u + b, hmi_sampler_random(tr->sampler));
        if (tr->freed[b] == tr->forms->n)
            arb_one(j.u + b);
    }
    next_velocity(&j, 0);
    arb_ptr clock = j.curve.X + tr->forms->n * j.curve.orders;
    if (!arb_is_one(clock) && !arb_contains_zero(clock)) { /* t was a pivot: the rate of t is 1 */
        for (size_t i = 0; i < tr->forms->n; i++)
            arb_div(j.curve.X + i * j.curve.orders, j.curve.X + i * j.curve.orders, clock,
                    tr->precision);
        arb_one(clock);
    }
    _arb_vec_clear(j.u, (slong)j.freed + 1);
}
