/* Chooses the ticks of an axis and writes their labels. Ticks are at multiples of 1, 2 or 5 times a
 * power of ten.
 * Verified: test/unit/output/test_axis.c
 */
#include "base/text.h"
#include "output/plot/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "10" with a superscript exponent, in UTF-8. */
static void power_of_ten(int exponent, char text[HMI_TICK_TEXT])
{
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    hmi_snprintf(plain, sizeof plain, "%d", exponent);
    strcpy(text, "10");
    for (const char *c = plain; *c; c++)
        strcat(text, *c == '-' ? "⁻" : digit[*c - '0']);
}

/* The smallest of 1, 2, 5 times a power of ten that is at least x. */
static double nice_above(double x)
{
    double power = pow(10, floor(log10(x)));
    static const double steps[] = {1, 2, 5, 10};
    for (int i = 0; i < 3; i++)
        if (x <= steps[i] * power * (1 + 1e-9))
            return steps[i] * power;
    return 10 * power;
}

/* A range that differs from nothing only by rounding is a constant and is shown as one. */
static void make_readable(double *low, double *high)
{
    if (!isfinite(*low) || !isfinite(*high)) {
        *low = 0;
        *high = 1;
    }
    if (*low > *high) {
        double swap = *low;
        *low = *high;
        *high = swap;
    }
    double size = fmax(fabs(*low), fabs(*high));
    if (size < 1e-300) {
        *low = -1;
        *high = 1;
    } else if (*high - *low < 1e-7 * size) {
        double middle = *low + (*high - *low) / 2;
        *low = middle - 0.1 * size;
        *high = middle + 0.1 * size;
    }
}

/* ---- labels ---- */

/* Labels are (tick - offset) / 10^exponent with a fixed number of decimals. The offset is a
 * multiple of 10^grain. */
typedef struct notation {
    double offset;
    int grain, exponent, decimals;
} notation;

/* The power of ten of its first digit. */
static int magnitude(double x)
{
    return (int)floor(log10(fabs(x)) + 1e-9);
}

/* 10^power, exactly where that is possible */
static double ten_to(int power)
{
    return power < 0 ? 1 / pow(10, -power) : pow(10, power);
}

/* The multiple of 10^grain in the middle of the axis, or below it in size. */
static double round_number(const hmi_axis *axis, int grain)
{
    double unit = ten_to(grain), near = round((axis->low + axis->high) / 2 / unit) * unit;
    double nearer_zero = trunc(axis->low / unit) * unit;
    return near >= axis->low && near <= axis->high ? near : nearer_zero;
}

/* 1.0000012, 1.0000014: what differs is shown. The roundest offset that leaves two digits, as in
 * 12, 14. */
static double choose_offset(const hmi_axis *axis, int largest, int finest, int *grain)
{
    double most = 100 * ten_to(finest);
    for (*grain = largest;; --*grain) {
        double offset = round_number(axis, *grain);
        if (*grain <= finest ||
            (fabs(axis->low - offset) < most && fabs(axis->high - offset) < most))
            return offset;
    }
}

static notation choose_notation(const hmi_axis *axis, double step)
{
    double size = fmax(fabs(axis->low), fabs(axis->high));
    int largest = magnitude(size), finest = magnitude(step);
    notation n = {0};
    if (largest - finest >= 6) {
        n.offset = choose_offset(axis, largest, finest, &n.grain);
        largest = magnitude(fmax(fabs(axis->low - n.offset), fabs(axis->high - n.offset)));
    }
    if (largest >= 5 || finest <= (n.offset != 0 ? -4 : -5))
        n.exponent = largest;
    n.decimals = n.exponent - finest > 0 ? n.exponent - finest : 0;
    return n;
}

/* "1000", "0.25", "1.25×10⁹" */
static void write_round_number(double value, int grain, char text[48])
{
    char power[HMI_TICK_TEXT], digits[HMI_TICK_TEXT];
    int first = magnitude(value);
    if (first >= -3 && first < 7) {
        hmi_snprintf(text, 48, "%.*f", grain < 0 ? -grain : 0, value);
        return;
    }
    power_of_ten(first, power);
    double mantissa = value / ten_to(first);
    hmi_snprintf(digits, sizeof digits, "%.*f", first > grain ? first - grain : 0, mantissa);
    if (fabs(mantissa - 1) < 1e-12)
        hmi_snprintf(text, 48, "%.24s", power);
    else
        hmi_snprintf(text, 48, "%.20s×%.24s", digits, power);
}

static void points_for_commas(char *text)
{
    for (; *text; text++)
        if (*text == ',')
            *text = '.'; /* the host's locale */
}

static void write_factor(hmi_axis *axis, const notation *n)
{
    char power[HMI_TICK_TEXT], offset[48] = "";
    power_of_ten(n->exponent, power);
    if (n->offset != 0)
        write_round_number(fabs(n->offset), n->grain, offset);
    hmi_snprintf(axis->factor, sizeof axis->factor, "%s%.24s%s%s%.47s", n->exponent ? "×" : "",
                 n->exponent ? power : "", n->exponent && n->offset != 0 ? " " : "",
                 n->offset == 0  ? ""
                 : n->offset < 0 ? "− "
                                 : "+ ",
                 offset);
    points_for_commas(axis->factor);
}

static void label_ticks(hmi_axis *axis, double step)
{
    notation n = choose_notation(axis, step);
    double unit = ten_to(n.exponent), zero = 0.5 * pow(10, -n.decimals);
    for (int i = 0; i < axis->ticks; i++) {
        double value = (axis->tick[i] - n.offset) / unit;
        const char *sign = value < 0 && -value >= zero ? "−" : "";
        hmi_snprintf(axis->label[i], HMI_TICK_TEXT, "%s%.*f", sign, n.decimals, fabs(value));
        points_for_commas(axis->label[i]);
    }
    write_factor(axis, &n);
}

/* ---- ticks ---- */

static void place_ticks(hmi_axis *axis, double step)
{
    double size = fmax(fabs(axis->low), fabs(axis->high));
    double slack = 1e-9 * step + 1e-15 * size; /* as k*step is rounded */
    axis->ticks = 0;
    for (double k = ceil((axis->low - slack) / step); axis->ticks < HMI_MOST_TICKS; k++) {
        double tick = k * step;
        if (tick > axis->high + slack)
            return;
        axis->tick[axis->ticks++] = tick == 0 ? 0 : tick;
    }
}

void hmi_axis_make(hmi_axis *axis, double low, double high, double length, double spacing,
                   bool widen)
{
    make_readable(&low, &high);
    double wanted = fmin(fmax(length / spacing, 1.5), HMI_MOST_TICKS - 4);
    double step = nice_above((high - low) / wanted);
    if (widen) { /* to the next tick where it is near; else leave a little air */
        double air = 0.04 * (high - low);
        double under = floor(low / step + 1e-9) * step, over = ceil(high / step - 1e-9) * step;
        low = low - under <= 0.35 * step ? under : low - air;
        high = over - high <= 0.35 * step ? over : high + air;
    }
    *axis = (hmi_axis){.low = low, .high = high, .length = length};
    place_ticks(axis, step);
    label_ticks(axis, step);
}

void hmi_axis_make_log(hmi_axis *axis, double low, double high, double length, double spacing)
{
    if (!(low > 0) || !isfinite(high) || high < low) {
        low = 0.1;
        high = 1;
    }
    if (high > 1e-16)
        low = fmax(low, 1e-17); /* below is rounding */
    double from = floor(log10(low) + 1e-9), to = ceil(log10(high) - 1e-9);
    if (to - from < 1)
        to = from + 1;
    double wanted = fmin(fmax(length / spacing, 1.5), HMI_MOST_TICKS - 4);
    double step = fmax(1, ceil((to - from) / wanted));
    *axis = (hmi_axis){.log = true, .low = from, .high = to, .length = length};
    place_ticks(axis, step);
    for (int i = 0; i < axis->ticks; i++)
        power_of_ten((int)axis->tick[i], axis->label[i]);
}

double hmi_axis_place(const hmi_axis *axis, double value)
{
    double x = axis->log ? log10(value) : value;
    return (x - axis->low) / (axis->high - axis->low) * axis->length;
}
