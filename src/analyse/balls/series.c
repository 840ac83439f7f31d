/* The recurrences that extend the series of every slot by one order.
 *
 * A slot is one series. Operations of the graph whose recurrence needs a second series (sin needs
 * cos, atan needs 1/(1 + x^2)) get further slots. With x' the derivative by s, the recurrences are
 *     y' = w x'     y_k = (1/k) sum_{j=1..k} j x_j w_{k-j}        [Griewank & Walther 2008, 13.2]
 * where w may be a later slot, since only its lower orders are used.
 */
#include "analyse/balls/series_slots.h"
#include "base/text.h"

#include <math.h>

void hmi_series_init(hmi_series *jet, const hm_allocator *allocator, const hm_model *model,
                     const hmi_graph *graph)
{
    *jet = (hmi_series){.allocator = allocator, .graph = graph, .model = model};
}

static void release_values(hmi_series *jet)
{
    if (jet->value)
        _arb_vec_clear(jet->value, (slong)jet->value_count);
    if (jet->slope)
        _arb_vec_clear(jet->slope, (slong)jet->slope_count);
}

void hmi_series_release(hmi_series *jet)
{
    release_values(jet);
    hmi_array_release(jet->allocator, &jet->slots);
    hmi_array_release(jet->allocator, &jet->leaves);
    hmi_array_release(jet->allocator, &jet->slot_of);
    hmi_array_release(jet->allocator, &jet->stack);
    hmi_array_release(jet->allocator, &jet->roots);
    *jet = (hmi_series){.allocator = jet->allocator};
}

void hmi_series_start(hmi_series *jet, size_t orders, slong precision)
{
    release_values(jet);
    jet->orders = orders;
    jet->precision = precision;
    jet->failed = false;
    jet->value_count = jet->slots.count * orders;
    jet->value = _arb_vec_init((slong)jet->value_count);
    jet->slope_count = jet->slopes * orders;
    jet->slope = _arb_vec_init((slong)jet->slope_count);
}

/* ---- numbers ---- */

/* Is it p/q pi with a small ratio, as pi/2 and 2*pi/3 are after folding? */
static bool multiple_of_pi(double value, long *p, long *q)
{
    const double pi = acos(-1.0);
    for (*q = 1; *q <= 360; (*q)++) {
        double over = round(value * (double)*q / pi);
        if (over == 0 || fabs(over) > 3600)
            continue;
        *p = (long)over;
        if (over * pi / (double)*q == value || over / (double)*q * pi == value)
            return true;
    }
    return false;
}

/* Is it a number as people write them, with at most 15 digits? Then exactly these digits are
 * meant. */
static bool is_decimal(double value, char text[HMI_NUMBER_TEXT])
{
    int digits = 0;
    for (const char *c = hmi_number_text(value, text); *c && *c != 'e'; c++)
        digits += *c >= '0' && *c <= '9' && !(digits == 0 && *c == '0');
    return digits <= 15;
}

bool hmi_series_exact(const hmi_constant *c)
{
    long p, q;
    char text[HMI_NUMBER_TEXT];
    return c->denominator || is_decimal(c->value, text) || multiple_of_pi(c->value, &p, &q);
}

/* ---- order by order ---- */

static arb_ptr series(const hmi_series *jet, uint32_t slot)
{
    return jet->value + (size_t)slot * jet->orders;
}

arb_ptr hmi_series_leaf_value(hmi_series *jet, size_t leaf, size_t k)
{
    return series(jet, jet->leaves.data[leaf].slot) + k;
}

arb_srcptr hmi_series_root(const hmi_series *jet, size_t root, size_t k)
{
    return series(jet, jet->roots.data[root]) + k;
}

static void constant_value(hmi_series *jet, hmi_expr e, arb_t out)
{
    long p, q;
    char text[HMI_NUMBER_TEXT];
    const hmi_constant *c = hmi_constant_of(jet->graph, e);
    if (c->denominator) {
        arb_set_si(out, c->numerator);
        arb_div_si(out, out, c->denominator, jet->precision);
    } else if (is_decimal(c->value, text)) {
        arb_set_str(out, text, jet->precision);
    } else if (multiple_of_pi(c->value, &p, &q)) {
        arb_const_pi(out, jet->precision);
        arb_mul_si(out, out, p, jet->precision);
        arb_div_si(out, out, q, jet->precision);
    } else {
        arb_set_d(out, c->value);
    }
}

static void function_value(hmi_op op, arb_t y, const arb_t x, slong precision)
{
    switch (op) {
    case HMI_SIN:
        arb_sin(y, x, precision);
        break;
    case HMI_COS:
        arb_cos(y, x, precision);
        break;
    case HMI_SINH:
        arb_sinh(y, x, precision);
        break;
    case HMI_COSH:
        arb_cosh(y, x, precision);
        break;
    case HMI_TAN:
        arb_tan(y, x, precision);
        break;
    case HMI_TANH:
        arb_tanh(y, x, precision);
        break;
    case HMI_ATAN:
        arb_atan(y, x, precision);
        break;
    case HMI_ASIN:
        arb_asin(y, x, precision);
        break;
    default:
        arb_acos(y, x, precision);
        break;
    }
}

/* (1/k) sum_{j=1..last} j x_j w_{k-j}, added to out (or subtracted); slope has the j x_j. */
static void add_integral(arb_t out, arb_srcptr slope, arb_srcptr w, size_t k, size_t last,
                         bool minus, slong precision)
{
    arb_t sum;
    arb_init(sum);
    arb_dot(sum, NULL, 0, slope + 1, 1, w + (k - 1), -1, (slong)last, precision);
    arb_div_ui(sum, sum, k, precision);
    if (minus)
        arb_sub(out, out, sum, precision);
    else
        arb_add(out, out, sum, precision);
    arb_clear(sum);
}

/* The same with x itself. */
static void add_weighted(arb_t out, arb_srcptr x, arb_srcptr w, size_t k, size_t last, bool minus,
                         slong precision)
{
    arb_ptr slope = _arb_vec_init((slong)last + 1);
    for (size_t j = 1; j <= last; j++)
        arb_mul_ui(slope + j, x + j, j, precision);
    add_integral(out, slope, w, k, last, minus, precision);
    _arb_vec_clear(slope, (slong)last + 1);
}

static arb_ptr slope_of(const hmi_series *jet, uint32_t slot)
{
    return jet->slope + (jet->slots.data[slot].slope - 1) * jet->orders;
}

/* y' = w x', with a minus sign for cos and the other functions whose derivative has one. */
static void integral_order(hmi_series *jet, const hmi_series_slot *slot, arb_ptr y, size_t k)
{
    if (k == 0)
        function_value((hmi_op)slot->c, y, series(jet, slot->a), jet->precision);
    else
        add_integral(y + k, slope_of(jet, slot->a), series(jet, slot->b), k, k, slot->c == HMI_COS,
                     jet->precision);
}

/* atan2(y, x)' = (x y' - y x') / (x^2 + y^2). The slot w of 1/(x^2 + y^2) stands before this one
 * and is known to order k. */
static void angle_order(hmi_series *jet, const hmi_series_slot *slot, arb_ptr out, size_t k)
{
    arb_srcptr y = series(jet, slot->a), x = series(jet, slot->b), w = series(jet, slot->c);
    if (k == 0) {
        arb_atan2(out, y, x, jet->precision);
        return;
    }
    arb_ptr wx = _arb_vec_init((slong)k), wy = _arb_vec_init((slong)k);
    for (size_t j = 0; j < k; j++) {
        arb_dot(wx + j, NULL, 0, w, 1, x + j, -1, (slong)j + 1, jet->precision);
        arb_dot(wy + j, NULL, 0, w, 1, y + j, -1, (slong)j + 1, jet->precision);
    }
    add_weighted(out + k, y, wx, k, k, false, jet->precision);
    add_weighted(out + k, x, wy, k, k, true, jet->precision);
    _arb_vec_clear(wx, (slong)k);
    _arb_vec_clear(wy, (slong)k);
}

/* y = x^p: x y' = p y x'. */
static void power_order(hmi_series *jet, const hmi_series_slot *slot, arb_ptr y, size_t k)
{
    arb_srcptr x = series(jet, slot->a), p = series(jet, slot->b);
    arb_t factor, term;
    if (k == 0) {
        arb_pow(y, x, p, jet->precision);
        return;
    }
    arb_init(factor);
    arb_init(term);
    for (size_t j = 1; j <= k; j++) {
        arb_mul_ui(factor, p, j, jet->precision);
        arb_sub_ui(factor, factor, k - j, jet->precision);
        arb_mul(term, x + j, y + (k - j), jet->precision);
        arb_addmul(y + k, factor, term, jet->precision);
    }
    arb_div_ui(y + k, y + k, k, jet->precision);
    arb_div(y + k, y + k, x, jet->precision);
    arb_clear(factor);
    arb_clear(term);
}

static void sqrt_order(arb_srcptr x, arb_ptr y, size_t k, slong precision)
{
    if (k == 0) {
        arb_sqrt(y, x, precision);
        return;
    }
    arb_dot(y + k, x + k, 1, y + 1, 1, y + (k - 1), -1, (slong)k - 1, precision);
    arb_div(y + k, y + k, y, precision);
    arb_mul_2exp_si(y + k, y + k, -1);
}

/* exp, log */
static void growth_order(hmi_op op, arb_srcptr x, arb_ptr y, size_t k, slong precision)
{
    if (op == HMI_EXP) {
        if (k == 0)
            arb_exp(y, x, precision);
        else
            add_weighted(y + k, x, y, k, k, false, precision);
        return;
    }
    if (k == 0) {
        arb_log(y, x, precision);
        return;
    }
    arb_set(y + k, x + k); /* x y' = x' */
    add_weighted(y + k, y, x, k, k - 1, true, precision);
    arb_div(y + k, y + k, x, precision);
}

static void divide_order(arb_srcptr a, arb_srcptr b, arb_ptr y, size_t k, slong precision)
{
    arb_dot(y + k, a + k, 1, y, 1, b + k, -1, (slong)k, precision);
    arb_div(y + k, y + k, b, precision);
}

/* -1, 0, 1 where a < b, equal, greater for certain; else the jet fails. */
static int compare(hmi_series *jet, arb_srcptr a, arb_srcptr b)
{
    if (arb_lt(a, b))
        return -1;
    if (arb_gt(a, b))
        return 1;
    if (!arb_eq(a, b))
        jet->failed = true;
    return 0;
}

static bool truth(hmi_series *jet, arb_srcptr a)
{
    if (arb_contains_zero(a) && !arb_is_zero(a))
        jet->failed = true;
    return !arb_contains_zero(a);
}

/* Comparisons and logic: numbers that do not change along the curve. */
static void logic_order(hmi_series *jet, const hmi_series_slot *slot, arb_ptr y, size_t k)
{
    arb_srcptr a = series(jet, slot->a), b = series(jet, slot->b);
    bool value = false;
    if (k > 0) {
        arb_zero(y + k);
        return;
    }
    switch (slot->op) {
    case HMI_LT:
        value = compare(jet, a, b) < 0;
        break;
    case HMI_LE:
        value = compare(jet, a, b) <= 0;
        break;
    case HMI_EQ:
        value = compare(jet, a, b) == 0;
        break;
    case HMI_AND:
        value = truth(jet, a) && truth(jet, b);
        break;
    case HMI_OR:
        value = truth(jet, a) || truth(jet, b);
        break;
    default:
        value = !truth(jet, a);
        break;
    }
    arb_set_si(y, value);
}

/* abs, sign, min, max, if: the branch at order 0 holds for all. */
static void branch_order(hmi_series *jet, const hmi_series_slot *slot, arb_ptr y, size_t k)
{
    arb_srcptr a = series(jet, slot->a), b = series(jet, slot->b);
    arb_t zero;
    arb_init(zero);
    switch (slot->op) {
    case HMI_ABS:
        arb_mul_si(y + k, a + k, compare(jet, a, zero), jet->precision);
        break;
    case HMI_SIGN:
        arb_set_si(y + k, k == 0 ? compare(jet, a, zero) : 0);
        break;
    case HMI_MIN:
        arb_set(y + k, compare(jet, b, a) < 0 ? b + k : a + k);
        break;
    case HMI_MAX:
        arb_set(y + k, compare(jet, a, b) < 0 ? b + k : a + k);
        break;
    default:
        arb_set(y + k, truth(jet, a) ? b + k : series(jet, slot->c) + k);
        break;
    }
    arb_clear(zero);
}

/* floor and ceil, off their jumps. */
static void step_order(hmi_series *jet, const hmi_series_slot *slot, arb_ptr y, size_t k)
{
    arb_srcptr a = series(jet, slot->a);
    if (k > 0) {
        arb_zero(y + k);
        return;
    }
    if (slot->op == HMI_FLOOR)
        arb_floor(y, a, jet->precision);
    else
        arb_ceil(y, a, jet->precision);
    jet->failed |= !arb_is_int(y);
}

static void slot_order(hmi_series *jet, const hmi_series_slot *slot, arb_ptr y, size_t k)
{
    arb_srcptr a = slot->op == SLOT_CONST ? NULL : series(jet, slot->a);
    arb_srcptr b = slot->op == SLOT_CONST ? NULL : series(jet, slot->b);
    slong precision = jet->precision;
    switch (slot->op) {
    case SLOT_CONST:
        constant_value(jet, slot->a, y);
        break;
    case SLOT_INTEGRAL:
        integral_order(jet, slot, y, k);
        break;
    case SLOT_ANGLE:
        angle_order(jet, slot, y, k);
        break;
    case SLOT_POWER:
        power_order(jet, slot, y, k);
        break;
    case HMI_ADD:
        arb_add(y + k, a + k, b + k, precision);
        break;
    case HMI_SUB:
        arb_sub(y + k, a + k, b + k, precision);
        break;
    case HMI_NEG:
        arb_neg(y + k, a + k);
        break;
    case HMI_MUL:
        arb_dot(y + k, NULL, 0, a, 1, b + k, -1, (slong)k + 1, precision);
        break;
    case HMI_DIV:
        divide_order(a, b, y, k, precision);
        break;
    case HMI_SQRT:
        sqrt_order(a, y, k, precision);
        break;
    case HMI_EXP:
    case HMI_LOG:
        growth_order((hmi_op)slot->op, a, y, k, precision);
        break;
    case HMI_ABS:
    case HMI_SIGN:
    case HMI_MIN:
    case HMI_MAX:
    case HMI_SELECT:
        branch_order(jet, slot, y, k);
        break;
    case HMI_FLOOR:
    case HMI_CEIL:
        step_order(jet, slot, y, k);
        break;
    case HMI_TABLE:
    case HMI_TABLE2:
        hmi_series_table(jet, slot, y, k);
        break;
    default:
        logic_order(jet, slot, y, k);
        break;
    }
}

hmi_series_part hmi_series_so_far(const hmi_series *jet)
{
    return (hmi_series_part){jet->slots.count, jet->roots.count};
}

void hmi_series_extend_part(hmi_series *jet, size_t k, hmi_series_part first, hmi_series_part end)
{
    for (size_t i = first.slots; i < end.slots; i++) {
        const hmi_series_slot *slot = &jet->slots.data[i];
        if (slot->op != SLOT_LEAF && !(k > 0 && slot->constant))
            slot_order(jet, slot, series(jet, (uint32_t)i), k);
        if (slot->slope)
            arb_mul_ui(slope_of(jet, (uint32_t)i) + k, series(jet, (uint32_t)i) + k, k,
                       jet->precision);
    }
    for (size_t i = first.roots; i < end.roots; i++)
        jet->failed |= !arb_is_finite(hmi_series_root(jet, i, k));
}

void hmi_series_extend(hmi_series *jet, size_t k)
{
    hmi_series_extend_part(jet, k, (hmi_series_part){0}, hmi_series_so_far(jet));
}

/* ---- at one state ---- */

static void fill_state(hmi_series *jet, const hmi_series_state *at)
{
    for (size_t i = 0; i < jet->leaves.count; i++) {
        const hmi_series_leaf *leaf = &jet->leaves.data[i];
        double value = leaf->kind == HMI_SYM_TIME       ? at->t
                       : leaf->kind == HMI_SYM_COORD    ? at->q[leaf->index]
                       : leaf->kind == HMI_SYM_VELOCITY ? at->v[leaf->index]
                       : leaf->kind == HMI_SYM_STATE    ? at->z[leaf->index]
                                                        : 0;
        arb_set_d(hmi_series_leaf_value(jet, i, 0), value);
    }
}

hm_status hmi_series_value(const hm_allocator *allocator, const hm_model *model,
                           const hmi_graph *graph, hmi_expr e, const hmi_series_state *at,
                           double *value)
{
    hmi_series jet;
    hmi_series_init(&jet, allocator, model, graph);
    hm_status status = hmi_series_add(&jet, e);
    *value = NAN;
    if (status == HM_OK) {
        hmi_series_start(&jet, 1, 96);
        fill_state(&jet, at);
        hmi_series_extend(&jet, 0);
        if (arb_is_finite(hmi_series_root(&jet, 0, 0)))
            *value = arf_get_d(arb_midref(hmi_series_root(&jet, 0, 0)), ARF_RND_NEAR);
    }
    hmi_series_release(&jet);
    return status;
}
