/* What cmd_linearize.c, linearize_ports.c, linearize_trace.c and reports share. */
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

/* ---- linearize_ports.c ---- */

/* "x, q[1,2]'" of an option, cut at commas outside brackets; `text` is freed by the caller. */
enum { MOST_NAMES = 64 };
typedef struct name_list {
    char *text;
    const char *names[MOST_NAMES];
    size_t count;
} name_list;
int read_name_list(const invocation *call, const char *option, name_list *list);
json_t *json_names(const char *const *names, size_t count);
/* Rounding that a reader should not see: below 1e-13 of what stands beside it. */
double tidy(double value, double beside);
/* B, C, D of --inputs and --outputs. */
void add_ports(json_t *object, const hm_linearization *l);
void print_ports(const hm_linearization *l);

/* Eigenvalues over the parameter --param. */
int linearize_trace(session *s, const invocation *call, const hm_linearize_options *options);

#endif
