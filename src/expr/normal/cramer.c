/* Closed forms of small linear systems by Cramer's rule.
 *
 * Determinants are expanded over subsets of columns: the minor of the first k rows and a set of k
 * columns comes from those of k - 1 rows, so n 2^(n-1) products do, and nothing is ever divided.
 * That matters: quotients that elimination (Bareiss) proves exact are so only up to
 * sin^2 + cos^2 = 1, which a division of polynomials does not see.
 */
#include "expr/normal/poly.h"

typedef const hmi_fraction *entry;

/* A matrix with one column replaced; column SIZE_MAX: none. */
typedef struct matrix {
    size_t n;
    entry at[HMI_SYMBOLIC_MOST][HMI_SYMBOLIC_MOST];
    size_t replaced;
    entry column[HMI_SYMBOLIC_MOST];
} matrix;

static entry entry_at(const matrix *a, size_t row, size_t column)
{
    return column == a->replaced ? a->column[row] : a->at[row][column];
}

static bool is_zero(entry a)
{
    return a->numerator->count == 0;
}

static size_t size_of_set(unsigned set)
{
    size_t size = 0;
    for (; set; set &= set - 1)
        size++;
    return size;
}

/* The minor of a set of columns, expanded by its last row. */
static entry expand_minor(hmi_normal *s, const matrix *a, unsigned set, const entry *minors)
{
    size_t row = size_of_set(set) - 1, position = 0;
    entry sum = hmi_fraction_of(s, s->zero);
    for (size_t column = 0; column < a->n && sum; column++) {
        if (!(set & 1u << column))
            continue;
        entry x = entry_at(a, row, column), rest = minors[set & ~(1u << column)];
        hmi_coefficient sign = {(row + position++) % 2 ? -1 : 1, 1, false};
        if (!is_zero(x) && !is_zero(rest))
            sum = hmi_fraction_add(s, sum, hmi_fraction_mul(s, x, rest), sign);
    }
    return sum;
}

static entry determinant(hmi_normal *s, const matrix *a)
{
    entry minors[1 << HMI_SYMBOLIC_MOST];
    minors[0] = hmi_fraction_of(s, s->one);
    for (unsigned set = 1; minors[0] && set < 1u << a->n; set++)
        if (!(minors[set] = expand_minor(s, a, set, minors)))
            return NULL;
    return minors[0] ? minors[(1u << a->n) - 1] : NULL;
}

static hm_status failure(const hmi_normal *s)
{
    hm_status status = hmi_normal_status(s);
    return status != HM_OK ? status : HM_ERR_LIMIT;
}

static entry fraction_of_expr(hmi_normal *s, hmi_expr e)
{
    if (e == HMI_NONE || !hmi_normal_convert(s, e))
        return NULL;
    const hmi_normal_entry *record = hmi_normal_entry_of(s, e);
    return record ? record->fraction : NULL;
}

static bool load(hmi_normal *s, matrix *a, size_t n, const hmi_expr *entries)
{
    *a = (matrix){.n = n, .replaced = SIZE_MAX};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (!(a->at[i][k] = fraction_of_expr(s, entries[i * n + k])))
                return false;
    return true;
}

/* A numerator that vanishes once negative powers are cleared and sums of angles split. */
static bool vanishes(hmi_normal *s, const hmi_fraction *fraction)
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

static hm_status load_with_determinant(hmi_normal *s, matrix *a, size_t n, const hmi_expr *entries,
                                       entry *det, hmi_expr *shown)
{
    if (n == 0 || n > HMI_SYMBOLIC_MOST)
        return HM_ERR_LIMIT;
    if (!hmi_normal_begin(s) || !load(s, a, n, entries) || !(*det = determinant(s, a)))
        return failure(s);
    if (vanishes(s, *det))
        *det = hmi_fraction_of(s, s->zero);
    *shown = *det ? hmi_normal_tidy(s, hmi_fraction_display(s, *det)) : HMI_NONE;
    return *shown != HMI_NONE ? HM_OK : failure(s);
}

static hm_status solve_column(hmi_normal *s, matrix *a, entry inverse, hmi_expr *x, size_t stride)
{
    for (size_t i = 0; i < a->n; i++) {
        a->replaced = i;
        entry quotient = hmi_fraction_mul(s, determinant(s, a), inverse);
        hmi_expr e = quotient ? hmi_normal_tidy(s, hmi_fraction_display(s, quotient)) : HMI_NONE;
        if (e == HMI_NONE)
            return failure(s);
        x[i * stride] = e;
    }
    return HM_OK;
}

/* Column by column, each with the limit of work of one call. */
static hm_status solve_all(hmi_normal *s, matrix *a, entry inverse, size_t columns,
                           const hmi_expr *rhs, hmi_expr *x)
{
    for (size_t k = 0; k < columns; k++) {
        s->work = 0;
        for (size_t i = 0; i < a->n; i++)
            if (!(a->column[i] = fraction_of_expr(s, rhs[i * columns + k])))
                return failure(s);
        hm_status status = solve_column(s, a, inverse, x + k, columns);
        if (status != HM_OK)
            return status;
    }
    return HM_OK;
}

hm_status hmi_symbolic_solve(hmi_normal *s, size_t n, const hmi_expr *entries, size_t columns,
                             const hmi_expr *rhs, hmi_expr *out, hmi_expr *det)
{
    matrix a;
    entry d;
    hmi_expr shown;
    hm_status status = load_with_determinant(s, &a, n, entries, &d, &shown);
    if (status == HM_OK && is_zero(d)) {
        if (det)
            *det = s->graph->zero;
        return HM_ERR_NUMERIC;
    }
    entry inverse = status == HM_OK ? hmi_fraction_inverse(s, d) : NULL;
    size_t count = n * columns;
    hmi_expr *x = inverse ? hmi_normal_alloc(s, (count + 1) * sizeof *x) : NULL;
    if (!x)
        return status != HM_OK ? status : failure(s);
    status = solve_all(s, &a, inverse, columns, rhs, x);
    if (status != HM_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        out[i] = x[i];
    if (det)
        *det = shown;
    return HM_OK;
}
