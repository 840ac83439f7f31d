/* How far rounding may have led a tape's outputs away from what the formulas say.
 *
 * A running error analysis: every place of the work vector has, beside its value, a bound of the
 * distance between that value and the one that exact arithmetic would have given. An operation passes
 * on the errors of its operands, by its slope at the worst point within them, and adds its own
 * rounding (expr/graph/math.h says how much). Where terms cancel the bound stays as large as they
 * were: an entry that is 0 on paper and 1.4e-17 in numbers has a bound above 1.4e-17.
 *
 * What is given has an error, too: a decimal that a person wrote, or a state that was computed, is
 * known to half a unit in its last place. Numbers that are short in binary (3, 0.25) are exact.
 * A comparison is taken as the numbers decide it; the bound is one for that branch. It is infinite
 * where a division or a logarithm cannot be told from one of zero.
 * Verified: test/unit/compile/test_rounding.c
 */
#ifndef HMI_COMPILE_TAPE_ROUNDING_H
#define HMI_COMPILE_TAPE_ROUNDING_H

#include "compile/tape/tape.h"

/* The error of a number that was given: 0, or half a unit in the last place. */
double hmi_given_error(double value);
/* The error of value = op(x, y, z), from those of the operands. */
double hmi_op_error(hmi_op op, const double operand[3], const double error[3], double value);

/* The error of an expression of constants and parameters, from those of the parameters. The walk is
 * the caller's, for many expressions of one graph. */
HM_MUST_CHECK hm_status hmi_expression_error(hmi_walk *walk, const hmi_graph *graph, hmi_expr e,
                                             const double *params, const double *param_errors,
                                             double *error);

/* Errors of symbols that are known better or less well than hmi_given_error says; NULL: of none of
 * that kind. */
typedef struct hmi_tape_errors {
    const double *by_kind[HMI_SYM_KIND_COUNT];
} hmi_tape_errors;

/* error[work_size] := bounds for all places, those of the outputs at output_slot. The work vector is
 * computed anew, to the same bits; it has been prepared with these values. */
void hmi_tape_bound(const hmi_tape *tape, const hmi_tape_values *values,
                    const hmi_tape_errors *errors, double *work, double *error);

#endif
