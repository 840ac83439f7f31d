/* Axes: see axis.h. Ticks are at multiples of 1, 2 or 5 times a power of ten.
 * Verified: test/unit/output/test_axis.c
 */
#include "output/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void hmi_power_of_ten(int exponent, char text[HMI_TICK_TEXT])
{
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    snprintf(plain, sizeof plain, "%d", exponent);
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

/* Labels are (tick - offset) / 10^exponent with a fixed number of decimals. */
typedef struct notation {
    double offset;
    int exponent, decimals;
} notation;

static notation choose_notation(const hmi_axis *axis, double step)
{
    double size = fmax(fabs(axis->low), fabs(axis->high));
    int largest = (int)floor(log10(size) + 1e-9), finest = (int)floor(log10(step) + 1e-9);
    notation n = {0};
    if (largest - finest >= 6) { /* 1.0000012, 1.0000014: show what differs */
        double grid = pow(10, finest + 3);
        n.offset = round(axis->low / grid) * grid;
        largest = finest + 3;
    }
    if (largest >= 5 || finest <= -5 || (n.offset != 0 && finest < -2))
        n.exponent = largest >= 5 && n.offset == 0 ? largest : finest <= -5 ? largest : 0;
    n.decimals = n.exponent - finest > 0 ? n.exponent - finest : 0;
    return n;
}

static void label_ticks(hmi_axis *axis, double step)
{
    notation n = choose_notation(axis, step);
    double unit = pow(10, n.exponent);
    for (int i = 0; i < axis->ticks; i++) {
        double value = (axis->tick[i] - n.offset) / unit;
        char *label = axis->label[i];
        if (fabs(value) < 1e-9 * fabs(step / unit))
            value = 0;
        snprintf(label, HMI_TICK_TEXT, "%s%.*f", value < 0 ? "−" : "", n.decimals, fabs(value));
        for (char *c = label; *c; c++)
            if (*c == ',')
                *c = '.'; /* the host's locale */
    }
    axis->factor[0] = '\0';
    char power[HMI_TICK_TEXT];
    hmi_power_of_ten(n.exponent, power);
    if (n.exponent != 0)
        snprintf(axis->factor, HMI_TICK_TEXT, "×%.24s", power);
    if (n.offset != 0) {
        size_t used = strlen(axis->factor);
        snprintf(axis->factor + used, HMI_TICK_TEXT - used, "%s%s%.9g", used ? " " : "",
                 n.offset < 0 ? "−" : "+", fabs(n.offset));
    }
}

/* ---- ticks ---- */

static void place_ticks(hmi_axis *axis, double step)
{
    double slack = 1e-9 * step;
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
        hmi_power_of_ten((int)axis->tick[i], axis->label[i]);
}

double hmi_axis_place(const hmi_axis *axis, double value)
{
    double x = axis->log ? log10(value) : value;
    return (x - axis->low) / (axis->high - axis->low) * axis->length;
}
