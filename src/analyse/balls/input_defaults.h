/* Inputs follow their defaults: expressions of the state stand for them. */
#ifndef HMI_ANALYSE_BALLS_INPUT_DEFAULTS_H
#define HMI_ANALYSE_BALLS_INPUT_DEFAULTS_H

#include "derive/derived.h"
#include "expr/graph/diff.h"

typedef struct hmi_input_defaults {
    hmi_substitution substitution;
    const hmi_derived *derived;
} hmi_input_defaults;

void hmi_input_defaults_init(hmi_input_defaults *inputs, const hm_allocator *allocator,
                             const hmi_derived *derived);
void hmi_input_defaults_release(hmi_input_defaults *inputs);
/* e without inputs, in a copy of the derived graph. HMI_NONE: one has no derivative, they use each other
 * without end, or there is no memory. */
hmi_expr hmi_input_defaults_apply(hmi_input_defaults *inputs, hmi_graph *graph, hmi_expr e);

#endif
