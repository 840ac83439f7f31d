/* What `hamel check` says, as text. */
#ifndef HAMEL_TOOL_CHECK_REPORT_H
#define HAMEL_TOOL_CHECK_REPORT_H

#include "command.h"

/* Everything that check finds out about a model. */
typedef struct findings {
    hm_analysis *analysis;
    hm_symmetries *symmetries;
    hm_energy energy;
    hm_zero_dynamics zeros; /* of servos */
    bool *row_works;        /* by constraint row: its ideal force works */
    double zwang;           /* least, at the initial state; NaN: M is not definite there */
    bool errors;            /* some were printed */
    bool full;              /* long expressions are not folded */
} findings;

/* cmd_check.c: everything that can be said of the system, to be released also after a failure; an exit
 * status. Diagnostics are printed. */
int check_find(const session *s, bool quiet, findings *found);
void check_release(findings *found);
/* What `check --json` prints. */
json_t *check_object(const session *s, const findings *found);

/* cmd_check.c: is there an error, so that the exit status is not 0? */
bool check_errors(const findings *found);

void print_check(const session *s, const findings *found);

/* check_energy.c: conserved or not, and why */
void print_energy(const hm_model *model, const findings *found);
json_t *energy_object(const hm_model *model, const findings *found);

/* check_principles.c */
void print_principles(const findings *found);
json_t *principles_object(const findings *found);
/* (q'' - a)^T M (q'' - a) at the sim's present state; NaN where M is not definite. */
double find_zwang(hm_sim *sim, size_t n);

/* check_symmetry.c */
void print_symmetries(const hm_model *model, const findings *all);
/* The keys symmetries and conserved: null where they were not searched for. */
void add_symmetries(json_t *object, const hm_model *model, const hm_symmetries *found);

#endif
