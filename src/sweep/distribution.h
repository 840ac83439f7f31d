/* Distributions of random values, by the inverse of their distribution function: one uniform number makes
 * one value, so that independent numbers and Sobol's sequence are used alike. */
#ifndef HMI_SWEEP_DISTRIBUTION_H
#define HMI_SWEEP_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>

typedef enum hmi_distribution_kind {
    HMI_DISTRIBUTION_UNIFORM,    /* a, b */
    HMI_DISTRIBUTION_NORMAL,     /* mean, deviation */
    HMI_DISTRIBUTION_LOGNORMAL,  /* mean and deviation of the logarithm */
    HMI_DISTRIBUTION_TRIANGULAR, /* a, mode, b */
    HMI_DISTRIBUTION_DISCRETE,   /* any number of values, equally likely */
    HMI_DISTRIBUTIONS
} hmi_distribution_kind;

typedef struct hmi_distribution {
    hmi_distribution_kind kind;
    size_t count;
    const double *argument;
} hmi_distribution;

/* By name; false: there is none called so. `count`: how many arguments it takes, 0 for any number. */
bool hmi_distribution_find(const char *name, size_t length, hmi_distribution_kind *kind,
                           size_t *count);
/* What is wrong with the arguments, or NULL. */
const char *hmi_distribution_fault(const hmi_distribution *d);
/* The value below which a part u of all values lies; 0 < u < 1. */
double hmi_distribution_value(const hmi_distribution *d, double u);

#endif
