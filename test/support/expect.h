/* Expectations written into a model file as comments, so that a model and what is known of it stand
 * together. One a line:
 *
 *   # expect at T ± TOLERANCE [with NAME=VALUE, ...]: WHAT = VALUE, WHAT = VALUE, ... [-- NOTE]
 *   # expect conserved ± TOLERANCE [with ...]: WHAT, WHAT, ... [-- NOTE]
 *   # expect event ± TOLERANCE [with ...]: NAME = TIME (its first) ... [-- NOTE]
 *   # expect impact ± TOLERANCE [with ...]: ROW = TIME (its first) ... [-- NOTE]
 *   # expect accumulation ± TOLERANCE [with ...]: ROW = LIMIT (its first) ... [-- NOTE]
 *   # expect violation ± TOLERANCE [with ...]             the largest over the run
 *   # expect balance ± TOLERANCE [with ...]               of the energy ledger, over the run
 *   # expect method [with ...]: NAME
 *   # expect says [with ...]: TEXT                        a warning, or the run's message
 *   # expect class [with ...]: CONSTRAINT = nonholonomic, ...      as `hamel check` classifies it
 *   # expect growth [with ...]: 2, 3                      of the directions by Lie brackets
 *   # expect freedom [with ...]: 2, 3                     in velocity, in configuration
 *   # expect symmetry [with ...]: NAME = conserved, NAME = not conserved       its momentum
 *   # expect other "WITH" ± TOLERANCE [with ...]: x'' = VALUE, difference = VALUE, ...
 *                 accelerations at the initial state of `hamel compare --with WITH`, the wrong ones
 *   # expect eigenvalue ± TOLERANCE [with ...]: VALUE, [REAL, IMAGINARY], ...
 *
 * WHAT is a coordinate x, x' or x'', an output or state, energy, kinetic, potential, multiplier(ROW)
 * or reaction(x). VALUE, TIME and T are expressions of parameters. Tolerances are absolute.
 * `with` overrides parameters, or sets rtol, atol, method, drift, step, formulation of the run.
 * A line "# Source: ..." is what the validation table cites.
 *
 * Every comparison is one record of the validation table (docs/validation.md) where the environment
 * variable HAMEL_VALIDATION names a file: scripts/validation. */
#ifndef TEST_SUPPORT_EXPECT_H
#define TEST_SUPPORT_EXPECT_H

#include <stddef.h>

/* Checks every expectation of a file, path relative to the source folder; returns how many there
 * were, and fails the test at the first that is not met. */
size_t expect_file(const char *path);

/* One comparison: fails the test where |actual - expected| > tolerance. */
typedef struct comparison {
    const char *model, *file, *source, *quantity, *note;
    double expected, actual, tolerance;
} comparison;
void expect_compare(const comparison *one);

#endif
