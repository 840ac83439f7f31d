/* Interval arithmetic: the operations of the table on enclosures of values and rates. */
#include "compile/tape/interval.h"

#include "expr/graph/graph.h"
#include "expr/graph/math.h"
#include "expr/graph/table.h"

/* ---- arithmetic ------------------------------------------------------------------------------ */

static hmi_interval exactly(double x)
{
    return (hmi_interval){x, x};
}

static hmi_interval negated(hmi_interval x)
{
    return (hmi_interval){-x.hi, -x.lo};
}

hmi_interval hmi_interval_add(hmi_interval x, hmi_interval y)
{
    return hmi_interval_widen(x.lo + y.lo, x.hi + y.hi);
}

hmi_interval hmi_interval_sub(hmi_interval x, hmi_interval y)
{
    return hmi_interval_widen(x.lo - y.hi, x.hi - y.lo);
}

/* 0 times infinity is 0 here: an unbounded interval has finite members only. */
static double product(double x, double y)
{
    return x == 0 || y == 0 ? 0 : x * y;
}

hmi_interval hmi_interval_mul(hmi_interval x, hmi_interval y)
{
    double a = product(x.lo, y.lo), b = product(x.lo, y.hi);
    double c = product(x.hi, y.lo), d = product(x.hi, y.hi);
    return hmi_interval_widen(fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)));
}

hmi_interval hmi_interval_square(hmi_interval x)
{
    double lo = x.lo * x.lo, hi = x.hi * x.hi;
    hmi_interval y = hmi_interval_widen(hmi_interval_has(x, 0) ? 0 : fmin(lo, hi), fmax(lo, hi));
    y.lo = fmax(y.lo, 0);
    return y;
}

static hmi_interval reciprocal(hmi_interval x)
{
    return hmi_interval_has(x, 0) ? hmi_everything : hmi_interval_widen(1 / x.hi, 1 / x.lo);
}

hmi_interval hmi_interval_div(hmi_interval x, hmi_interval y)
{
    return hmi_interval_has(y, 0) ? hmi_everything : hmi_interval_mul(x, reciprocal(y));
}

/* ---- functions of one variable --------------------------------------------------------------- */

/* Of a function that grows. */
static hmi_interval rising(double (*function)(double), hmi_interval x)
{
    return hmi_interval_widen(function(x.lo), function(x.hi));
}

/* Does [lo, hi] hold phase + k period for some whole k? Rounding decides for yes. */
static bool holds_multiple(hmi_interval x, double phase, double period)
{
    double first = (x.lo - phase) / period, last = (x.hi - phase) / period;
    double slack = 4 * 0x1p-52 * (1 + fmax(fabs(first), fabs(last)));
    return floor(last + slack) >= ceil(first - slack);
}

#define PI 3.14159265358979323846

static hmi_interval sine_range(hmi_interval x, double shift)
{
    if (!(x.hi - x.lo < 2 * PI) || !(fmax(fabs(x.lo), fabs(x.hi)) < 1e12))
        return (hmi_interval){-1, 1};
    hmi_sincos lo = hmi_math_sincos(x.lo), hi = hmi_math_sincos(x.hi);
    double a = shift == 0 ? lo.sine : lo.cosine, b = shift == 0 ? hi.sine : hi.cosine;
    hmi_interval y = hmi_interval_widen(fmin(a, b), fmax(a, b));
    if (holds_multiple(x, 0.5 * PI - shift, 2 * PI))
        y.hi = 1;
    if (holds_multiple(x, -0.5 * PI - shift, 2 * PI))
        y.lo = -1;
    return (hmi_interval){fmax(y.lo, -1), fmin(y.hi, 1)};
}

void hmi_enclose_sincos(hmi_enclosure x, hmi_enclosure *sine, hmi_enclosure *cosine)
{
    hmi_interval s = sine_range(x.value, 0), c = sine_range(x.value, 0.5 * PI);
    *sine = (hmi_enclosure){s, hmi_interval_mul(c, x.rate)};
    *cosine = (hmi_enclosure){c, hmi_interval_mul(negated(s), x.rate)};
}

static hmi_enclosure nothing_known(void)
{
    return (hmi_enclosure){hmi_everything, hmi_everything};
}

/* A value and a derivative by the operand, with the operand's rate. */
static hmi_enclosure chain(hmi_interval value, hmi_interval slope, hmi_enclosure x)
{
    return (hmi_enclosure){value, hmi_interval_mul(slope, x.rate)};
}

static hmi_enclosure tangent(hmi_enclosure x)
{
    if (!(x.value.hi - x.value.lo < PI) || holds_multiple(x.value, 0.5 * PI, PI))
        return nothing_known();
    hmi_interval t = rising(hmi_math_tan, x.value);
    return chain(t, hmi_interval_add(exactly(1), hmi_interval_square(t)), x);
}

static hmi_enclosure square_root(hmi_enclosure x)
{
    if (x.value.lo < 0)
        return nothing_known();
    hmi_interval r = rising(sqrt, x.value);
    r.lo = fmax(r.lo, 0);
    if (x.value.lo == 0)
        return (hmi_enclosure){r, hmi_everything};
    return chain(r, hmi_interval_div(exactly(0.5), r), x);
}

static hmi_enclosure logarithm(hmi_enclosure x)
{
    return x.value.lo <= 0 ? nothing_known()
                           : chain(rising(hmi_math_log, x.value), reciprocal(x.value), x);
}

/* asin and acos: 1/sqrt(1 - x^2) times a sign. */
static hmi_enclosure arc(hmi_enclosure x, bool cosine)
{
    if (x.value.lo <= -1 || x.value.hi >= 1)
        return nothing_known();
    hmi_interval value = cosine ? hmi_interval_widen(hmi_math_acos(x.value.hi),
                                                     hmi_math_acos(x.value.lo))
                                : rising(hmi_math_asin, x.value);
    hmi_interval rest = hmi_interval_sub(exactly(1), hmi_interval_square(x.value));
    if (rest.lo <= 0)
        return (hmi_enclosure){value, hmi_everything};
    hmi_interval slope = reciprocal(rising(sqrt, rest));
    return chain(value, cosine ? negated(slope) : slope, x);
}

static hmi_enclosure arc_tangent(hmi_enclosure x)
{
    hmi_interval slope = reciprocal(hmi_interval_add(exactly(1), hmi_interval_square(x.value)));
    return chain(rising(hmi_math_atan, x.value), slope, x);
}

static hmi_interval cosh_range(hmi_interval x)
{
    double lo = hmi_math_cosh(x.lo), hi = hmi_math_cosh(x.hi);
    hmi_interval y = hmi_interval_widen(hmi_interval_has(x, 0) ? 1 : fmin(lo, hi), fmax(lo, hi));
    y.lo = fmax(y.lo, 1);
    return y;
}

static hmi_enclosure hyperbolic_tangent(hmi_enclosure x)
{
    hmi_interval t = rising(hmi_math_tanh, x.value);
    hmi_interval slope = hmi_interval_sub(exactly(1), hmi_interval_square(t));
    slope = (hmi_interval){fmax(slope.lo, 0), fmin(slope.hi, 1)};
    return chain(t, slope, x);
}

static hmi_enclosure exponential(hmi_enclosure x)
{
    hmi_interval e = rising(hmi_math_exp, x.value);
    e.lo = fmax(e.lo, 0);
    return chain(e, e, x);
}

static hmi_enclosure absolute(hmi_enclosure x)
{
    if (x.value.lo >= 0)
        return x;
    if (x.value.hi <= 0)
        return (hmi_enclosure){negated(x.value), negated(x.rate)};
    double most = fmax(fabs(x.rate.lo), fabs(x.rate.hi)); /* a kink: any slope in [-1, 1] */
    return (hmi_enclosure){{0, fmax(-x.value.lo, x.value.hi)}, {-most, most}};
}

/* ---- powers ---------------------------------------------------------------------------------- */

static hmi_interval whole_power_range(hmi_interval x, double n)
{
    double lo = hmi_powi(x.lo, n), hi = hmi_powi(x.hi, n), slack = fabs(n) * 2 * 0x1p-53;
    bool even = fmod(n, 2) == 0;
    if (n < 0 && hmi_interval_has(x, 0))
        return hmi_everything;
    double least = even && n > 0 && hmi_interval_has(x, 0) ? 0 : fmin(lo, hi);
    double most = fmax(lo, hi);
    if (!(least <= most))
        return hmi_everything;
    return hmi_interval_widen(least - slack * fabs(least), most + slack * fabs(most));
}

static hmi_enclosure whole_power(hmi_enclosure x, double n)
{
    if (n == 0)
        return (hmi_enclosure){exactly(1), exactly(0)};
    hmi_interval slope = hmi_interval_mul(exactly(n), whole_power_range(x.value, n - 1));
    return chain(whole_power_range(x.value, n), slope, x);
}

/* x^y = exp(y log x) for x > 0; a constant exponent above 1 is smooth enough at x = 0. */
static hmi_enclosure power(hmi_enclosure x, hmi_enclosure y)
{
    bool constant = y.value.lo == y.value.hi && y.rate.lo == 0 && y.rate.hi == 0;
    double n = y.value.lo;
    if (constant && n == floor(n) && fabs(n) < 1e9)
        return whole_power(x, n);
    if (x.value.lo > 0) {
        hmi_enclosure l = logarithm(x);
        hmi_enclosure exponent = {
            hmi_interval_mul(y.value, l.value),
            hmi_interval_add(hmi_interval_mul(y.rate, l.value), hmi_interval_mul(y.value, l.rate))};
        return exponential(exponent);
    }
    if (!constant || n <= 0 || x.value.lo < 0)
        return nothing_known();
    hmi_interval value = {0, hmi_interval_widen(0, hmi_math_pow(x.value.hi, n)).hi};
    if (n < 1)
        return (hmi_enclosure){value, hmi_everything};
    double slope = n * hmi_math_pow(x.value.hi, n - 1);
    return chain(value, hmi_interval_widen(0, slope), x);
}

/* ---- functions of two variables -------------------------------------------------------------- */

static hmi_enclosure divide(hmi_enclosure x, hmi_enclosure y)
{
    hmi_interval value = hmi_interval_div(x.value, y.value);
    hmi_interval up = hmi_interval_sub(x.rate, hmi_interval_mul(value, y.rate));
    return (hmi_enclosure){value, hmi_interval_div(up, y.value)};
}

static hmi_enclosure angle(hmi_enclosure y, hmi_enclosure x)
{
    hmi_interval square = hmi_interval_add(hmi_interval_square(x.value),
                                           hmi_interval_square(y.value));
    hmi_interval up = hmi_interval_sub(hmi_interval_mul(x.value, y.rate),
                                       hmi_interval_mul(y.value, x.rate));
    if (x.value.lo <= 0 && hmi_interval_has(y.value, 0)) /* the cut, where the value jumps */
        return (hmi_enclosure){{-PI - 1e-15, PI + 1e-15}, hmi_everything};
    double a = hmi_math_atan2(y.value.lo, x.value.lo), b = hmi_math_atan2(y.value.lo, x.value.hi);
    double c = hmi_math_atan2(y.value.hi, x.value.lo), d = hmi_math_atan2(y.value.hi, x.value.hi);
    hmi_interval value = hmi_interval_widen(fmin(fmin(a, b), fmin(c, d)),
                                            fmax(fmax(a, b), fmax(c, d)));
    return (hmi_enclosure){value, hmi_interval_div(up, square)};
}

static hmi_enclosure multiply(hmi_enclosure x, hmi_enclosure y)
{
    return (hmi_enclosure){
        hmi_interval_mul(x.value, y.value),
        hmi_interval_add(hmi_interval_mul(x.rate, y.value), hmi_interval_mul(x.value, y.rate))};
}

static hmi_enclosure length(hmi_enclosure x, hmi_enclosure y)
{
    hmi_enclosure square = {
        hmi_interval_add(hmi_interval_square(x.value), hmi_interval_square(y.value)),
        hmi_interval_add(hmi_interval_mul(x.value, x.rate), hmi_interval_mul(y.value, y.rate))};
    square.rate = hmi_interval_mul(exactly(2), square.rate);
    square.value.lo = fmax(square.value.lo, 0);
    return square_root(square);
}

/* ---- conditions: 0, 1, or not decided -------------------------------------------------------- */

static hmi_enclosure truth(bool certainly, bool possibly)
{
    if (certainly == possibly)
        return (hmi_enclosure){exactly(certainly), exactly(0)};
    return (hmi_enclosure){{0, 1}, hmi_everything};
}

static bool certain(hmi_enclosure x)
{
    return !hmi_interval_has(x.value, 0);
}

static bool possible(hmi_enclosure x)
{
    return x.value.lo != 0 || x.value.hi != 0;
}

static hmi_enclosure select(hmi_enclosure condition, hmi_enclosure x, hmi_enclosure y)
{
    if (certain(condition))
        return x;
    if (!possible(condition))
        return y;
    return (hmi_enclosure){hmi_interval_hull(x.value, y.value), hmi_everything};
}

/* The smaller of both; where that is not decided, of either: a kink. */
static hmi_enclosure minimum(hmi_enclosure x, hmi_enclosure y)
{
    if (x.value.hi <= y.value.lo)
        return x;
    if (y.value.hi <= x.value.lo)
        return y;
    return (hmi_enclosure){{fmin(x.value.lo, y.value.lo), fmin(x.value.hi, y.value.hi)},
                           hmi_interval_hull(x.rate, y.rate)};
}

static hmi_enclosure opposite(hmi_enclosure x)
{
    return (hmi_enclosure){negated(x.value), negated(x.rate)};
}

static hmi_enclosure sign(hmi_enclosure x)
{
    if (certain(x))
        return (hmi_enclosure){exactly(x.value.lo > 0 ? 1 : -1), exactly(0)};
    return possible(x) ? (hmi_enclosure){{-1, 1}, hmi_everything}
                       : (hmi_enclosure){exactly(0), exactly(0)};
}

/* floor and ceil: constant between their jumps. */
static hmi_enclosure step(hmi_op op, hmi_enclosure x)
{
    double lo = hmi_op_value(op, x.value.lo, 0, 0), hi = hmi_op_value(op, x.value.hi, 0, 0);
    return (hmi_enclosure){{lo, hi}, lo == hi ? exactly(0) : hmi_everything};
}

/* ---- tables of the model ---- */

static hmi_interval table_range(const hmi_table_view *view, hmi_enclosure x, hmi_enclosure y,
                                bool *jumps)
{
    const double lo[2] = {x.value.lo, y.value.lo}, hi[2] = {x.value.hi, y.value.hi};
    double range[2];
    *jumps = false;
    if (!view)
        return exactly(0);
    if (!hmi_table_bounds(view, lo, hi, range, jumps))
        return hmi_everything;
    return hmi_interval_widen(range[0], range[1]);
}

/* A derivative that jumps within has no rate. */
static hmi_enclosure table(const hmi_table_view *view, hmi_enclosure x, hmi_enclosure y)
{
    bool jumps, of_slope;
    hmi_enclosure result = {table_range(view, x, y, &jumps), exactly(0)};
    for (int k = 0; k < view->table->arguments; k++) {
        const hmi_interval slope = table_range(hmi_table_slope(view, k), x, y, &of_slope);
        const hmi_interval rate = k == 0 ? x.rate : y.rate;
        result.rate = hmi_interval_add(result.rate, hmi_interval_mul(slope, rate));
    }
    if (jumps)
        result.rate = hmi_everything;
    return result;
}

/* Places in tables are whole numbers while a piece is held, but for the widening of what they are computed
 * from; between two of them only while something slides on a knot. False: it may be several. */
static bool is_place(hmi_interval x, double *place)
{
    double middle = 0.5 * (x.lo + x.hi), whole = nearbyint(middle);
    *place = fabs(middle - whole) < 1e-9 ? whole : middle;
    return x.hi - x.lo < 1e-9;
}

static hmi_enclosure lookup(hmi_op op, hmi_enclosure x, hmi_enclosure y, hmi_enclosure z)
{
    double place[2] = {0, y.value.lo};
    if (!is_place(x.value, &place[0]) || (op == HMI_LOOKUP2 && !is_place(y.value, &place[1])))
        return nothing_known();
    double value = hmi_op_value(op, place[0], place[1], z.value.lo);
    return (hmi_enclosure){exactly(value), exactly(0)};
}

/* ---- the table ------------------------------------------------------------------------------- */

static hmi_enclosure condition(hmi_op op, hmi_enclosure x, hmi_enclosure y, hmi_enclosure z)
{
    switch (op) {
    case HMI_LT:
        return truth(x.value.hi < y.value.lo, x.value.lo < y.value.hi);
    case HMI_LE:
        return truth(x.value.hi <= y.value.lo, x.value.lo <= y.value.hi);
    case HMI_EQ:
        return truth(x.value.lo == y.value.hi && x.value.hi == y.value.lo,
                     x.value.lo <= y.value.hi && y.value.lo <= x.value.hi);
    case HMI_AND:
        return truth(certain(x) && certain(y), possible(x) && possible(y));
    case HMI_OR:
        return truth(certain(x) || certain(y), possible(x) || possible(y));
    case HMI_NOT:
        return truth(!possible(x), !certain(x));
    case HMI_SELECT:
        return select(x, y, z);
    default:
        return nothing_known();
    }
}

static hmi_enclosure function_of_one(hmi_op op, hmi_enclosure x)
{
    hmi_enclosure sine, cosine;
    switch (op) {
    case HMI_NEG:
        return opposite(x);
    case HMI_SQRT:
        return square_root(x);
    case HMI_SIN:
        hmi_enclose_sincos(x, &sine, &cosine);
        return sine;
    case HMI_COS:
        hmi_enclose_sincos(x, &sine, &cosine);
        return cosine;
    case HMI_TAN:
        return tangent(x);
    case HMI_ASIN:
        return arc(x, false);
    case HMI_ACOS:
        return arc(x, true);
    case HMI_ATAN:
        return arc_tangent(x);
    case HMI_SINH:
        return chain(rising(hmi_math_sinh, x.value), cosh_range(x.value), x);
    case HMI_COSH:
        return chain(cosh_range(x.value), rising(hmi_math_sinh, x.value), x);
    case HMI_TANH:
        return hyperbolic_tangent(x);
    case HMI_EXP:
        return exponential(x);
    case HMI_LOG:
        return logarithm(x);
    case HMI_ABS:
        return absolute(x);
    case HMI_SIGN:
        return sign(x);
    case HMI_FLOOR:
    case HMI_CEIL:
        return step(op, x);
    default:
        return nothing_known();
    }
}

static bool is_bounded(hmi_enclosure x)
{
    return isfinite(x.value.lo) && isfinite(x.value.hi);
}

hmi_enclosure hmi_enclose_op(int op, hmi_enclosure x, hmi_enclosure y, hmi_enclosure z)
{
    /* An operand without bounds may have no value at all: nothing follows from it. */
    if (op != HMI_SELECT && !(is_bounded(x) && (hmi_op_arity((hmi_op)op) < 2 || is_bounded(y))))
        return nothing_known();
    switch ((hmi_op)op) {
    case HMI_ADD:
        return (hmi_enclosure){hmi_interval_add(x.value, y.value),
                               hmi_interval_add(x.rate, y.rate)};
    case HMI_SUB:
        return (hmi_enclosure){hmi_interval_sub(x.value, y.value),
                               hmi_interval_sub(x.rate, y.rate)};
    case HMI_MUL:
        return multiply(x, y);
    case HMI_DIV:
        return divide(x, y);
    case HMI_POW:
        return power(x, y);
    case HMI_POWI:
        return whole_power(x, y.value.lo);
    case HMI_ATAN2:
        return angle(x, y);
    case HMI_HYPOT:
        return length(x, y);
    case HMI_MIN:
        return minimum(x, y);
    case HMI_MAX:
        return opposite(minimum(opposite(x), opposite(y)));
    case HMI_TABLE:
        return table(hmi_table_view_at(y.value.lo), x, y);
    case HMI_TABLE2:
        return table(hmi_table_view_at(z.value.lo), x, y);
    case HMI_LOOKUP:
    case HMI_LOOKUP2:
        return lookup((hmi_op)op, x, y, z);
    case HMI_LT:
    case HMI_LE:
    case HMI_EQ:
    case HMI_AND:
    case HMI_OR:
    case HMI_NOT:
    case HMI_SELECT:
        return condition((hmi_op)op, x, y, z);
    default:
        return function_of_one((hmi_op)op, x);
    }
}
