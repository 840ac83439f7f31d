/* What `hamel check` says, as text. */
#ifndef HAMEL_TOOL_CHECK_REPORT_H
#define HAMEL_TOOL_CHECK_REPORT_H

#include "command.h"

void print_check(const session *s, const hm_analysis *analysis, const hm_symmetries *symmetries);

/* check_symmetry.c */
void print_symmetries(const hm_model *model, const hm_symmetries *found);
/* The keys symmetries and conserved: null where they were not sought. */
void add_symmetries(json_t *object, const hm_model *model, const hm_symmetries *found);

#endif
