/* The analysis in the making, and what its parts share.
 *
 * hm_system_analyse runs the parts in this order: the initial state (wellposed.c), each constraint
 * (constraint.c), the set (constraint_set.c), functions that are not smooth (lipschitz.c). Every
 * part writes into `shown`; text and arrays live in the arena. Where a part cannot decide something
 * it adds a remark instead of failing: only lack of memory ends the analysis.
 */
#ifndef HMI_ANALYSE_CLASSIFY_ANALYSIS_H
#define HMI_ANALYSE_CLASSIFY_ANALYSIS_H

#include "analyse/integrability/flag.h"
#include "analyse/integrals/numeric_integral.h"
#include "analyse/classify/quadratic.h"
#include "analyse/sides/sides.h"

#include <hamel/analyse.h>

/* An analysis in the making; the public struct is its first member. */
typedef struct hmi_analysis {
    hm_analysis shown;
    const hm_allocator *allocator;
    hmi_arena arena; /* all that is shown */
    const hm_system *system;
    const hm_model *model;
    hm_context *context;
    hm_constraint_analysis *rows;            /* what shown.constraints points to */
    hmi_numeric_integral **numeric_integral; /* by row; NULL: none */
    HMI_ARRAY(const char *) remarks;
    double *q0, *v0, *z0, t0; /* the initial state, consistent where it can be */
    hmi_sides sides;          /* this and what follows: only while it is made */
    hmi_forms forms;
    hmi_sampler sampler;
    bool constraints_work; /* under virtual displacements */
    size_t *positions;     /* rows of position level */
    size_t position_count;
} hmi_analysis;

/* analysis_text.c: text that lives as long as the analysis; NULL without memory. */
const char *hmi_analysis_text(hmi_analysis *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
hm_status hmi_analysis_remark(hmi_analysis *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* An expression as it is written in the language; NULL for HMI_NONE and without memory. */
const char *hmi_analysis_print(hmi_analysis *a, const hmi_graph *graph, hmi_expr e);
/* A form as "... = 0" in velocities, after `before` (NULL: nothing) and a comma. */
const char *hmi_analysis_form(hmi_analysis *a, const hmi_form *form, const char *before);
hm_evidence hmi_analysis_evidence(const hmi_evidence *evidence);
hmi_series_state hmi_analysis_initial(const hmi_analysis *a);
/* Values of expressions at the initial state, in double precision; NaN where there is none. */
hm_status hmi_analysis_values(hmi_analysis *a, const hmi_graph *graph, const hmi_expr *list,
                              size_t count, double *values);

/* wellposed.c: the initial state first (it is where points are drawn) */
hm_status hmi_analyse_start(hmi_analysis *a);
/* ideal.c: fills in constraints_work */
hm_status hmi_analyse_ideality(hmi_analysis *a);
/* lipschitz.c: the verdict */
hm_status hmi_analyse_functions(hmi_analysis *a);
/* analysis.c: rows as the model says, nothing found yet */
hm_status hmi_analysis_take_rows(hmi_analysis *a);
/* passes.c: constraints and set, on all sides of what is not smooth in them, and the principles */
hm_status hmi_classify_all(hmi_analysis *a);
/* constraint.c: one row each */
hm_status hmi_classify_row(hmi_analysis *a, size_t k);
/* constraint_set.c */
hm_status hmi_analyse_constraint_set(hmi_analysis *a);
void hmi_find_principles(hmi_analysis *a);
/* The row of A of a square, or of a sum of squares, vanishes wherever the constraint holds. */
bool hmi_row_vanishes(const hm_constraint_analysis *row);

#endif
