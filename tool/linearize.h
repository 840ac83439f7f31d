/* What cmd_linearize.c, linearize_trace.c and reports share. */
#ifndef HAMEL_TOOL_LINEARIZE_H
#define HAMEL_TOOL_LINEARIZE_H

#include "command.h"
#include "values.h"

/* At rest, steady or in relative equilibrium. */
bool is_at_rest(const hm_linearization *l);
json_t *eigenvalue_list(const hm_linearization *l);
/* true, false, "marginal", or null where undecided */
json_t *stable_value(const hm_linearization *l);

/* What `linearize --json` prints. */
json_t *linearization_object(const hm_model *model, const hm_linearization *l);

/* Eigenvalues over the parameter --param. */
int linearize_trace(session *s, const invocation *call, const hm_linearize_options *options);

#endif
