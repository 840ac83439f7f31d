/* Exact coefficients of polynomials: arithmetic of ratios, from decimals and back to them. */
#include "expr/normal/poly.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const hmi_coefficient hmi_coefficient_one = {1, 1, false};

static hmi_coefficient too_large(hmi_normal *s)
{
    s->exceeded = true;
    return hmi_coefficient_one;
}

/* Room is left for a sign change, so that -INT64_MIN never happens. */
static bool fits(int64_t x)
{
    return x > -(INT64_C(1) << 62) && x < INT64_C(1) << 62;
}

static hmi_coefficient lowest_terms(hmi_normal *s, int64_t n, int64_t d, bool decimal)
{
    if (!fits(n) || !fits(d))
        return too_large(s);
    int64_t g = hmi_gcd(n, d);
    if (d < 0)
        g = -g;
    return (hmi_coefficient){n / g, d / g, decimal && n != 0};
}

hmi_coefficient hmi_coefficient_add(hmi_normal *s, hmi_coefficient a, hmi_coefficient b)
{
    int64_t g = hmi_gcd(a.d, b.d), left, right, n, d;
    if (__builtin_mul_overflow(a.n, b.d / g, &left) ||
        __builtin_mul_overflow(b.n, a.d / g, &right) || __builtin_add_overflow(left, right, &n) ||
        __builtin_mul_overflow(a.d, b.d / g, &d))
        return too_large(s);
    return lowest_terms(s, n, d, a.decimal || b.decimal);
}

hmi_coefficient hmi_coefficient_mul(hmi_normal *s, hmi_coefficient a, hmi_coefficient b)
{
    /* Crosswise first: what cancels then does not overflow. */
    int64_t left = hmi_gcd(a.n, b.d), right = hmi_gcd(b.n, a.d), n, d;
    if (__builtin_mul_overflow(a.n / left, b.n / right, &n) ||
        __builtin_mul_overflow(a.d / right, b.d / left, &d))
        return too_large(s);
    return lowest_terms(s, n, d, a.decimal || b.decimal);
}

hmi_coefficient hmi_coefficient_inverse(hmi_coefficient a)
{
    if (a.n < 0)
        return (hmi_coefficient){-a.d, -a.n, a.decimal};
    return (hmi_coefficient){a.d, a.n, a.decimal};
}

hmi_coefficient hmi_coefficient_negate(hmi_coefficient a)
{
    a.n = -a.n;
    return a;
}

/* 9.81 was written as 981/100: taken at its word, 3*0.1 - 0.3 is zero. */
static bool from_decimal(double value, hmi_coefficient *out)
{
    enum { MOST_DIGITS = 12, MOST_DECIMALS = 15 };
    char buffer[HMI_NUMBER_TEXT];
    const char *p = hmi_number_text(value, buffer);
    int64_t digits = 0, scale = 1;
    int digit_count = 0, decimals = 0;
    bool negative = *p == '-', after_point = false;
    for (p += negative; (*p >= '0' && *p <= '9') || *p == '.'; p++) {
        after_point = after_point || *p == '.';
        if (*p == '.')
            continue;
        digits = digits * 10 + (*p - '0');
        decimals += after_point;
        if (digits != 0 && ++digit_count > MOST_DIGITS)
            return false;
    }
    if (*p == 'e')
        decimals -= atoi(p + 1);
    else if (*p != '\0')
        return false; /* inf, nan */
    if (decimals < 0 || decimals > MOST_DECIMALS)
        return false;
    while (decimals--)
        scale *= 10;
    int64_t g = hmi_gcd(digits, scale);
    *out = (hmi_coefficient){(negative ? -digits : digits) / g, scale / g, true};
    return true;
}

/* The ratio p/q with q up to 5000 of which the double is the nearest, by continued fractions: what
 * 0.5/0.7 was folded to is 5/7 again. Of all doubles one in about 10^9 is near such a ratio by chance,
 * and is then equal to it for every evaluation, too. */
static bool from_ratio(double value, hmi_coefficient *out)
{
    enum { MOST_STEPS = 12, MOST_DENOMINATOR = 5000 };
    double x = fabs(value), rest = x;
    int64_t p = 1, q = 0, last_p = 0, last_q = 1;
    if (!(x > 1e-6 && x < 1e6))
        return false;
    for (int i = 0; i < MOST_STEPS; i++) {
        int64_t whole = (int64_t)rest, next_p = whole * p + last_p, next_q = whole * q + last_q;
        if (next_q > MOST_DENOMINATOR || next_p > INT32_MAX)
            return false;
        last_p = p, last_q = q, p = next_p, q = next_q;
        if ((double)p / (double)q == x) {
            *out = (hmi_coefficient){value < 0 ? -p : p, q, true};
            return true;
        }
        rest = 1 / (rest - (double)whole);
        if (!(rest < MOST_DENOMINATOR * 1e3))
            return false;
    }
    return false;
}

bool hmi_coefficient_of(const hmi_constant *constant, hmi_coefficient *out)
{
    if (!constant->denominator)
        return from_decimal(constant->value, out) || from_ratio(constant->value, out);
    *out = (hmi_coefficient){constant->numerator, constant->denominator, false};
    return true;
}

static bool has_only_two_and_five(int64_t x)
{
    while (x % 2 == 0)
        x /= 2;
    while (x % 5 == 0)
        x /= 5;
    return x == 1;
}

void hmi_coefficient_shown(hmi_coefficient c, double *over, double *under)
{
    int64_t n = c.n < 0 ? -c.n : c.n;
    *over = (double)n;
    *under = (double)c.d;
    if (!c.decimal || c.d == 1)
        return; /* 1/0.2 is 5 */
    if (has_only_two_and_five(c.d)) {
        *over /= *under;
        *under = 1;
    } else if (has_only_two_and_five(n)) {
        *under /= *over;
        *over = 1;
    }
}
