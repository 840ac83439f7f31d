/* Formats that leave the solve to the linear algebra of their language: assignments of M, Q, A, b, C and
 * of rates, energies and outputs to arrays of that language.
 *
 * These formats have no laws that use constraint forces, which need the solve inside: refused by name.
 */
#ifndef HMI_OUTPUT_EXPORT_SCRIPT_H
#define HMI_OUTPUT_EXPORT_SCRIPT_H

#include "output/export/export.h"

/* How a language writes symbols and entries of arrays. */
typedef struct hmi_script_style {
    hmi_code_dialect dialect;
    const char *param;   /* printf format of a parameter's identifier: "p.%s" */
    const char *entry;   /* of a 1-based entry: "%s(%zu)" */
    const char *element; /* of an element of a matrix, 1-based row and column: "%s(%zu,%zu)" */
    const char *zero_entry,
        *zero_element; /* the same from 0 where the language counts so; else NULL */
    const char *force; /* what Q is called; NULL: Q */
    bool skip_zeros;   /* arrays are cleared before, zeros are not assigned */
} hmi_script_style;

/* Arrays of a state: coordinates q, velocities v, auxiliary states z, inputs u, du, ddu. */
void hmi_script_equations(hmi_export *x, const hmi_script_style *style);
/* Inputs, equations and rates of states in one go. */
void hmi_script_everything(hmi_export *x, const hmi_script_style *style);
/* Entries of one list: "NAME(1) = ...". */
void hmi_script_list(hmi_export *x, const hmi_script_style *style, const char *array,
                     const hmi_expr *values, size_t count);
/* Inputs as the model says: u, du, ddu. */
void hmi_script_inputs(hmi_export *x, const hmi_script_style *style);
/* The values of parameters: "NAME = ..." with the format of parameters. */
void hmi_script_params(hmi_export *x, const hmi_script_style *style);
/* "FORMAT" with each value of a list, separated by `between`. */
void hmi_script_numbers(hmi_export *x, const hmi_script_style *style, const double *values,
                        size_t count, const char *between);
/* Laws of reactions are refused: false, with a diagnostic. */
bool hmi_script_possible(hmi_export *x, const char *format);

/* A template, as hmi_export_template. */
void hmi_script_add(hmi_export *x, const char *text);
/* Comments that say what this is and what the arrays hold. */
void hmi_script_contents(hmi_export *x, const char *sign);
/* Functions that a language calls otherwise than the table of operations; the last has no name. */
typedef struct hmi_renamed {
    hmi_op op;
    const char *name;
} hmi_renamed;
void hmi_script_function(hmi_text *out, hmi_op op, const hmi_renamed *names);
/* 2.0, (-0.5), NaN, Inf. */
void hmi_script_number(hmi_text *out, double value);

/* One function a format. */
void hmi_export_sympy(hmi_export *x);
void hmi_export_julia(hmi_export *x);
void hmi_export_matlab(hmi_export *x);
void hmi_export_modelica(hmi_export *x);
void hmi_export_auto(hmi_export *x);

#endif
