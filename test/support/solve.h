/* Small dense linear systems for tests, independent of src/linalg: Gauss with partial pivoting in
 * long double, so that what a test computes from M and Q adds nothing to the error it looks for. */
#ifndef TEST_SUPPORT_SOLVE_H
#define TEST_SUPPORT_SOLVE_H

#include <stdbool.h>
#include <stddef.h>

/* x with A x = b, A row-major n x n. False where a pivot is zero. */
bool solve_dense(size_t n, const double *A, const double *b, double *x);

/* out = b - A x, A row-major m x n. */
void subtract_product(size_t m, size_t n, const double *b, const double *A, const double *x,
                      double *out);

#endif
