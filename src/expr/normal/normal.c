/* The entry points of normal.h that take an expression: its normal form, and whether it is zero. */
#include "expr/normal/poly.h"

hmi_expr hmi_normal_form(hmi_normal *s, hmi_expr e)
{
    if (e == HMI_NONE || !hmi_normal_begin(s) || !hmi_normal_convert(s, e))
        return HMI_NONE;
    return hmi_normal_tidy(s, hmi_normal_best(s, e, 0));
}

/* A numerator that vanishes once negative powers are cleared and sums of angles split. */
bool hmi_fraction_is_zero(hmi_normal *s, const hmi_fraction *fraction)
{
    const hmi_poly *a = fraction->numerator;
    hmi_monomial low, inverse;
    if (a->count == 0)
        return true;
    if (!hmi_poly_content(s, a, HMI_CONTENT_LOWEST, &low) ||
        !hmi_monomial_mul(s, hmi_monomial_one, low, -1, &inverse))
        return false;
    a = hmi_poly_reduce(s, hmi_poly_scale(s, a, hmi_coefficient_one, inverse));
    if (a && a->count)
        a = hmi_poly_split_angles(s, a);
    hmi_normal_forgive(s);
    return a && a->count == 0;
}

bool hmi_normal_is_zero(hmi_normal *s, hmi_expr e)
{
    if (e == HMI_NONE || !hmi_normal_begin(s) || !hmi_normal_convert(s, e))
        return false;
    const hmi_normal_entry *record = hmi_normal_entry_of(s, e);
    return record && record->fraction && hmi_fraction_is_zero(s, record->fraction);
}
