/* Axes: a range that is nice to read, its ticks and their labels. */
#ifndef HMI_OUTPUT_PLOT_AXIS_H
#define HMI_OUTPUT_PLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum { HMI_MOST_TICKS = 24, HMI_TICK_TEXT = 32, HMI_FACTOR_TEXT = 80 };

typedef struct hmi_axis {
    bool log; /* low, high, tick: decimal logarithms */
    double low, high;
    double length; /* on the page */
    int ticks;
    double tick[HMI_MOST_TICKS];
    char label[HMI_MOST_TICKS][HMI_TICK_TEXT];
    char factor[HMI_FACTOR_TEXT]; /* to be read after each label, "×10⁻⁶ + 1000"; or "" */
} hmi_axis;

/* For values from low to high (in any order; equal or non-finite values give a readable axis, too), on
 * `length` units with about `spacing` between ticks. widen: round outward to ticks. */
void hmi_axis_make(hmi_axis *axis, double low, double high, double length, double spacing,
                   bool widen);
/* The same for positive values on a logarithmic axis, by whole decades. */
void hmi_axis_make_log(hmi_axis *axis, double low, double high, double length, double spacing);

/* 0 at low, length at high. */
double hmi_axis_place(const hmi_axis *axis, double value);

#endif
