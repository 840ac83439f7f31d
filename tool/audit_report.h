/* The audit of the energy at a state. */
#ifndef HAMEL_TOOL_AUDIT_REPORT_H
#define HAMEL_TOOL_AUDIT_REPORT_H

#include <hamel/hamel.h>
#include <jansson.h>

/* Prints it, or adds it to `object`.energy as `audit` where that is not NULL; nothing where no total
 * energy is defined. Evaluates anew, so it comes after everything that shows the evaluation. */
hm_status show_audit(const hm_model *model, hm_sim *sim, json_t *object);

#endif
