/* What every test includes: cmocka with the headers it needs first, and comparisons of vectors. */
#ifndef TEST_SUPPORT_CHECK_H
#define TEST_SUPPORT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>

double max_norm(size_t n, const double *x);

/* |actual - expected|_max / max(1, |expected|_max); infinite where something is not finite. */
double scaled_error(size_t n, const double *actual, const double *expected);

/* Fails the test, naming `what` and the worst component, where the scaled error exceeds the
 * tolerance. Returns the error. */
double check_close(const char *what, size_t n, const double *actual, const double *expected,
                   double tolerance);
double check_number(const char *what, double actual, double expected, double tolerance);

/* Random numbers that are the same everywhere (splitmix64). */
typedef struct random_source {
    uint64_t state;
} random_source;
double random_between(random_source *random, double low, double high);
void random_fill(random_source *random, double low, double high, size_t n, double *x);

#endif
