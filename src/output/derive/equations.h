/* The equations of a derivation as lines, in the style of a terminal or of LaTeX.
 *
 * Both formats show the same quantities in the same order and differ in how a line begins and ends,
 * and in how a name becomes an index: Q[x] = ... against Q_{x} &= ... \\. A style is a table of
 * these differences; format_text.c and format_latex.c own one each, and add what only they have
 * (titles, brackets, remarks).
 */
#ifndef HMI_OUTPUT_DERIVE_EQUATIONS_H
#define HMI_OUTPUT_DERIVE_EQUATIONS_H

#include "output/derive/derivation.h"

struct hmi_equation_style {
    const char *indent, *line_end;
    const char *equals;                       /* between the sides of an equation */
    const char *index, *comma, *index_end;    /* around the names after a letter */
    const char *colon;                        /* after the name of a constraint */
    const char *input, *state, *servo;        /* before names of these */
    const char *lambda, *Qi, *Qni;            /* letters */
    const char *lambda_formula, *Qni_formula; /* lines, where there are no closed forms */
    bool levels;                              /* the level of a constraint is written after it */
    void (*name)(hmi_report *report, const char *name); /* of a constraint */
    void (*wrap)(hmi_text *text, size_t start);         /* breaks the line that starts there */
};

/* Begins a line; where it starts, for the functions that end it. */
size_t hmi_line_begin(hmi_report *report);
void hmi_line_end(hmi_report *report, size_t start);
/* ... = e */
void hmi_line_equals(hmi_report *report, size_t start, hmi_expr e);

void hmi_write_coordinate(hmi_report *report, size_t i, int dots);
/* letter[x] = e for the coordinates x; letter = 0 where nothing is shown. */
void hmi_write_vector(hmi_report *report, const char *letter, const hmi_expr *list, bool zeros);
/* letter[name] = e, for a constraint. */
void hmi_write_row_value(hmi_report *report, const char *letter, const char *name, hmi_expr e);
/* letter[row, x] = e for the stored entries that are not 0. */
void hmi_write_entries(hmi_report *report, const char *letter, const hmi_expr_matrix *pattern,
                       const hmi_expr *values, bool rows_are_constraints);
/* An entry of a matrix, of a symmetric one of which the lower triangle is stored. */
hmi_expr hmi_entry_of(const hmi_derivation_view *view, const hmi_expr_matrix *pattern,
                      const hmi_expr *values, bool symmetric, size_t i, size_t j);

/* Inputs with their defaults and auxiliary states with their rates. */
void hmi_write_signals(hmi_report *report);
/* T, V, L and D, those that the model has. */
void hmi_write_energies(hmi_report *report);
/* Constraints and servos as residual = 0. */
void hmi_write_residuals(hmi_report *report);
/* name:  row of A times q'' = b */
void hmi_write_standard_row(hmi_report *report, const char *name, const hmi_expr_matrix *A,
                            const hmi_expr *values, size_t i, hmi_expr b);
/* The same for all servos. */
void hmi_write_servo_rows(hmi_report *report);
/* Multipliers, Qi, C and Qni: closed forms, or formulas in the matrices. */
void hmi_write_reactions(hmi_report *report);
/* Closed forms of q''; nothing where there are none. */
void hmi_write_accelerations(hmi_report *report);
/* The parts of expressions that have names. */
void hmi_write_parts(hmi_report *report);

#endif
