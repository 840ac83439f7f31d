/* Where numbers stop being trusted: the constants of rank decisions, each with its reason. All of them
 * are relative to what they are compared with, so that no decision depends on units. */
#ifndef HMI_LINALG_TOLERANCES_H
#define HMI_LINALG_TOLERANCES_H

#include "linalg/dense.h"

/* ---- direct solves (saddle.c, compile/solve, the motion tape) ---- */

/* A pivot of M or of the Gram matrix, relative to the diagonal element it is the remainder of. Below it
 * five digits are lost (the Gram matrix squares the condition), and a rank-revealing solve is better. */
#define HMI_WELL_CONDITIONED 1e-5
/* The same where pivots of M and of the Gram matrix both lose digits: the product is about the above. */
#define HMI_BOTH_WELL_CONDITIONED 3e-3
/* What may be left of A a = b, relative to the terms of the row, */
#define HMI_ROW_MET 1e-11
/* or relative to |row| |a| in the metric of the masses, for rows whose terms are rounding errors; */
#define HMI_ROW_MET_NATURALLY 1e-14
/* compiled code adds the two allowances instead, and its bound of |row| |a| is rougher. */
#define HMI_ROW_MET_COMPILED 1e-13

/* ---- rank-revealing solves (dynamics/formulations) ---- */

/* The sine of the angle below which a row depends on others: the rounding errors of a decomposition of
 * this size, with a factor to be safe. */
static inline double hmi_rank_tolerance(int rows, int cols)
{
    return 100 * (rows > cols ? rows : cols) * HMI_EPSILON;
}

/* A pivot of M with a diagonal of about 1: below it M counts as singular. */
static inline double hmi_mass_tolerance(int n)
{
    return 8 * n * HMI_EPSILON;
}

/* Cholesky pivots of M above this prove that M is positive; smaller ones may be rounding errors blown up
 * by a leading block, and pivoting decides. */
#define HMI_SURELY_POSITIVE 1e-6
/* A pivot of a whole system whose rank is known from elsewhere: only what is plainly 0 is refused. */
#define HMI_NO_PIVOT (0.01 * HMI_EPSILON)
/* Right sides of rows that depend on each other contradict each other beyond this part of the largest,
 * plus this much where all are 0. */
#define HMI_CONTRADICTION       1e-9
#define HMI_CONTRADICTION_FLOOR 1e-12
/* A pivot of a large sparse system, relative to the terms it is the difference of: below it the row
 * depends on others. (Squares of sines: an angle of 3e-6.) */
#define HMI_SPARSE_DROP 1e-11
/* The same in a compiled solve, whose other pivots are well conditioned; what is dropped is confirmed
 * without squaring. */
#define HMI_GRAM_DROP 1e-10

/* ---- rows watched along a motion (integrate/rank) ---- */

/* At the start of a run: the sine of the angle below which a row follows from others; */
#define HMI_DEPENDENT_AT_START 1e-10
/* along the motion, where the state is a little beside the constraints. */
#define HMI_DEPENDENT_SINE 1e-8
/* A row so short, as a part of its largest length so far, holds nothing any more. */
#define HMI_RANK_SHORT 1e-6

#endif
