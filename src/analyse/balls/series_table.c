/* Tables of the model in series of balls. A sample may lie anywhere, outside of the table or on a piece that
 * is flat by chance, and the verdicts are about all states: so a cubic polynomial without anything
 * special about it stands for the table (expr/graph/table.h). */
#include "analyse/balls/series_slots.h"

#include "expr/graph/table.h"

static arb_srcptr values(const hmi_series *jet, uint32_t slot)
{
    return jet->value + (size_t)slot * jet->orders;
}

/* power[p] := the series of x^p up to order k, for p = 0 .. 3. */
static void find_powers(arb_srcptr x, size_t k, slong precision, arb_ptr power[4])
{
    slong count = (slong)k + 1;
    arb_one(power[0]);
    for (slong i = 0; i < count; i++)
        arb_set(power[1] + i, x + i);
    for (int p = 2; p < 4; p++)
        for (slong i = 0; i < count; i++)
            arb_dot(power[p] + i, NULL, 0, power[p - 1], 1, power[1] + i, -1, i + 1, precision);
}

/* y_k of sum c[p][q] u^p w^q. */
static void sum_terms(const double c[16], arb_ptr u[4], arb_ptr w[4], size_t k, slong precision,
                      arb_ptr y)
{
    arb_t factor, term;
    arb_init(factor);
    arb_init(term);
    arb_zero(y);
    for (int i = 0; i < 16; i++) {
        if (c[i] == 0)
            continue;
        arb_dot(term, NULL, 0, u[i / 4], 1, w[i % 4] + k, -1, (slong)k + 1, precision);
        arb_set_d(factor, c[i]);
        arb_addmul(y, factor, term, precision);
    }
    arb_clear(factor);
    arb_clear(term);
}

void hmi_series_table(hmi_series *jet, const hmi_series_slot *slot, arb_ptr y, size_t k)
{
    bool two = slot->op == HMI_TABLE2;
    const arb_srcptr x[2] = {values(jet, slot->a), values(jet, slot->b)};
    arb_srcptr address = two ? values(jet, slot->c) : x[1];
    arb_ptr memory = _arb_vec_init((slong)(8 * (k + 1))), power[2][4];
    double c[16];
    for (int i = 0; i < 8; i++)
        power[i / 4][i % 4] = memory + (size_t)i * (k + 1);
    hmi_table_stand_in(hmi_table_view_at(arf_get_d(arb_midref(address), ARF_RND_NEAR)), c);
    find_powers(x[0], k, jet->precision, power[0]);
    if (two)
        find_powers(x[1], k, jet->precision, power[1]);
    else
        arb_one(power[1][0]);
    sum_terms(c, power[0], power[1], k, jet->precision, y + k);
    _arb_vec_clear(memory, (slong)(8 * (k + 1)));
}
