/* Sines and cosines whose argument has a rate among the rows: hmi_jet_sincos_by_rate.
 *
 * Coordinates and their sums have one. The rate of beta + Theta is beta' + Theta', which a model with
 * rotating bodies computes for their velocities, and so it computes w sin x and w cos x. Coefficients
 * k - 1 of these products give those of order k of cos x and sin x, without convolutions of their own.
 */
#include "compile/jet/code.h"

#define NO_ROW   HMI_JET_NO_PLACE
#define TABLE(o) ((uint32_t)(HMI_TAPE_FIRST_OF_TABLE + (o)))
/* Sums that are nested deeper take the ordinary recurrence. */
enum { MOST_DEPTH = 32 };

void hmi_jet_set_rate(hmi_jet *jet, uint32_t row, uint32_t rate)
{
    const hmi_jet_rate link = {row, rate};
    if (!hmi_array_push(jet->allocator, &jet->rates, link))
        jet->status = HM_ERR_NOMEM;
}

static const hmi_jet_code *definition(const hmi_jet *jet, uint32_t row)
{
    for (size_t i = jet->zero.count; i > 0; i--)
        if (jet->zero.data[i - 1].dst == row)
            return &jet->zero.data[i - 1];
    return NULL;
}

static uint32_t rate_of(hmi_jet *jet, uint32_t x, int depth);

/* x y with one constant factor. */
static uint32_t rate_of_product(hmi_jet *jet, uint32_t x, uint32_t y, int depth)
{
    bool x_fixed = jet->constant.data[x], y_fixed = jet->constant.data[y];
    if (!x_fixed && !y_fixed)
        return NO_ROW;
    if (x_fixed && y_fixed)
        return jet->zero_row;
    uint32_t rate = rate_of(jet, x_fixed ? y : x, depth);
    return rate == NO_ROW ? NO_ROW : hmi_jet_apply(jet, HMI_MUL, x_fixed ? x : y, rate, 0);
}

static uint32_t sum(hmi_jet *jet, uint32_t x, uint32_t y)
{
    if (x == NO_ROW || y == NO_ROW)
        return NO_ROW;
    if (x == jet->zero_row || y == jet->zero_row)
        return x == jet->zero_row ? y : x;
    return hmi_jet_apply(jet, HMI_ADD, x, y, 0);
}

static uint32_t difference(hmi_jet *jet, uint32_t x, uint32_t y)
{
    if (x == NO_ROW || y == NO_ROW)
        return NO_ROW;
    if (y == jet->zero_row)
        return x;
    return x == jet->zero_row ? hmi_jet_apply(jet, HMI_NEG, y, 0, 0)
                              : hmi_jet_apply(jet, HMI_SUB, x, y, 0);
}

static uint32_t rate_of_code(hmi_jet *jet, const hmi_jet_code *code, int depth)
{
    const hmi_jet_code c = *code; /* the list may move */
    switch (c.op) {
    case TABLE(HMI_ADD):
        return sum(jet, rate_of(jet, c.a, depth), rate_of(jet, c.b, depth));
    case TABLE(HMI_SUB):
        return difference(jet, rate_of(jet, c.a, depth), rate_of(jet, c.b, depth));
    case TABLE(HMI_NEG):
        return difference(jet, jet->zero_row, rate_of(jet, c.a, depth));
    case TABLE(HMI_MUL):
        return rate_of_product(jet, c.a, c.b, depth);
    case HMI_TAPE_MUL_ADD:
        return sum(jet, rate_of_product(jet, c.a, c.b, depth), rate_of(jet, c.c, depth));
    case HMI_TAPE_MUL_SUB:
        return difference(jet, rate_of_product(jet, c.a, c.b, depth), rate_of(jet, c.c, depth));
    case HMI_TAPE_SUB_MUL:
        return difference(jet, rate_of(jet, c.c, depth), rate_of_product(jet, c.a, c.b, depth));
    default:
        return NO_ROW;
    }
}

/* The row of x'; NO_ROW where none is known. */
static uint32_t rate_of(hmi_jet *jet, uint32_t x, int depth)
{
    if (jet->status != HM_OK || depth > MOST_DEPTH)
        return NO_ROW;
    if (jet->constant.data[x])
        return jet->zero_row;
    for (size_t i = 0; i < jet->rates.count; i++)
        if (jet->rates.data[i].row == x)
            return jet->rates.data[i].rate;
    const hmi_jet_code *code = definition(jet, x);
    return code ? rate_of_code(jet, code, depth + 1) : NO_ROW;
}

bool hmi_jet_make_sincos_by_rate(hmi_jet *jet, uint32_t x, uint32_t sine, uint32_t cosine)
{
    bool wanted = jet->options.sincos_by_rate && jet->rates.count;
    uint32_t w = wanted ? rate_of(jet, x, 0) : NO_ROW;
    if (w == NO_ROW)
        return false;
    const hmi_jet_sincos_by_rate pair = {sine, cosine, w, hmi_jet_apply(jet, HMI_MUL, sine, w, 0),
                                         hmi_jet_apply(jet, HMI_MUL, cosine, w, 0)};
    if (jet->status != HM_OK || !hmi_array_push(jet->allocator, &jet->sincos_by_rate, pair))
        jet->status = HM_ERR_NOMEM;
    return true;
}

bool hmi_jet_is_rate_product(const hmi_jet *jet, uint32_t x, uint32_t y)
{
    for (size_t i = 0; i < jet->sincos_by_rate.count; i++) {
        const hmi_jet_sincos_by_rate *t = &jet->sincos_by_rate.data[i];
        bool x_is_one = x == t->sine || x == t->cosine, y_is_one = y == t->sine || y == t->cosine;
        if ((x_is_one && y == t->w) || (y_is_one && x == t->w))
            return true;
    }
    return false;
}
