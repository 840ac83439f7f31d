/* Functional Mock-up Units: the description of the model in XML, and the C source of its functions.
 *
 * The source is exported C (c_source.c), then an instance of the model (templates/fmi_instance.c.in), then
 * the functions of the standard (templates/fmi2.c.in, templates/fmi3.c.in). Variables have the value
 * references 0, 1, 2, ... in this order: time; the states q, v, z; their derivatives; parameters; inputs;
 * outputs; event functions. Their position in the XML is the same plus 1.
 * Verified: test/cases/test_fmu.c
 */
#ifndef HMI_OUTPUT_EXPORT_FMI_H
#define HMI_OUTPUT_EXPORT_FMI_H

#include "output/export/export.h"

/* Value references at which the groups start. */
typedef struct hmi_fmi_layout {
    size_t states, rates, params, inputs, outputs, events, end;
} hmi_fmi_layout;
hmi_fmi_layout hmi_fmi_layout_of(const hmi_export *x);

/* The identity of the model, in source and description. */
void hmi_fmi_token(const hmi_export *x, char token[40]);

/* Which states and inputs an unknown depends on: `depends` has one entry per state (2 n + states) and
 * input. false: no memory. */
bool hmi_fmi_dependencies(hmi_export *x, hmi_expr unknown, bool *depends);
/* An expression for the derivative of a state, or for an output; HMI_NONE: depends on everything. */
hmi_expr hmi_fmi_rate(hmi_export *x, size_t state);
hmi_expr hmi_fmi_output(const hmi_export *x, size_t output);
hmi_expr hmi_fmi_event(const hmi_export *x, size_t event);
hmi_expr hmi_fmi_state(hmi_export *x, size_t state);

void hmi_export_fmi_source(hmi_export *x, int version);
void hmi_export_fmi_description(hmi_export *x, int version);

/* fmi_variables.c: attributes as both versions write them. */
void hmi_fmi_escaped(hmi_text *out, const char *text);
void hmi_fmi_name(hmi_export *x, size_t reference); /* name="x'" */
void hmi_fmi_description(hmi_export *x,
                         size_t reference); /* description="..." where there is a text */
double hmi_fmi_start(const hmi_export *x, size_t reference);
/* A parameter: sets a size, or is computed from others. */
bool hmi_fmi_is_constant(const hmi_export *x, size_t reference);
bool hmi_fmi_is_calculated(const hmi_export *x, size_t reference);

#endif
