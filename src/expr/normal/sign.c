/* The sign of a polynomial as it reads: does a minus go in front? */
#include "expr/normal/poly.h"

static size_t sorted_factors(const hmi_normal *s, hmi_monomial m, hmi_display_factor *out,
                             size_t most)
{
    size_t count = 0;
    for (; count < m.count && count < most; count++)
        out[count] = (hmi_display_factor){s->atoms.data[m.factors[count].atom].e,
                                          m.factors[count].power};
    hmi_display_sort_factors(s->graph, out, count);
    return count;
}

enum { MOST_COMPARED = 32 };

static const hmi_poly_term *first_shown(const hmi_normal *s, const hmi_poly *a)
{
    hmi_display_factor best[MOST_COMPARED], other[MOST_COMPARED];
    const hmi_poly_term *first = &a->terms[0];
    size_t best_count = sorted_factors(s, first->monomial, best, MOST_COMPARED);
    for (uint32_t i = 1; i < a->count; i++) {
        size_t count = sorted_factors(s, a->terms[i].monomial, other, MOST_COMPARED);
        if (hmi_display_compare_terms(s->graph, other, count, best, best_count) >= 0)
            continue;
        first = &a->terms[i];
        best_count = count;
        for (size_t k = 0; k < count; k++)
            best[k] = other[k];
    }
    return first;
}

bool hmi_poly_is_negative(hmi_normal *s, const hmi_poly *a)
{
    uint32_t negative = 0;
    for (uint32_t i = 0; i < a->count; i++)
        negative += a->terms[i].coefficient.n < 0;
    if (2 * negative != a->count)
        return 2 * negative > a->count;
    return a->count && first_shown(s, a)->coefficient.n < 0;
}

bool hmi_poly_reads_negative(hmi_normal *s, const hmi_poly *a)
{
    bool one_of_two = a->count == 2 &&
                      (a->terms[0].coefficient.n < 0) != (a->terms[1].coefficient.n < 0);
    return !one_of_two && hmi_poly_is_negative(s, a);
}
