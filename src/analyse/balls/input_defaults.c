/* Replaces inputs by their defaults (input_defaults.h). */
#include "analyse/balls/input_defaults.h"

enum { DEEPEST = 8 };

static const uint16_t kinds = HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_INPUT_RATE) |
                              HMI_DEP(HMI_SYM_INPUT_RATE2);

static hmi_expr default_of(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const hmi_derived *d = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    if (!(HMI_DEP(node->a) & kinds))
        return leaf;
    hmi_expr value = d->input_values[node->a - HMI_SYM_INPUT][node->b];
    return value == HMI_NONE ? leaf : value;
}

void hmi_input_defaults_init(hmi_input_defaults *inputs, const hm_allocator *allocator,
                             const hmi_derived *derived)
{
    inputs->derived = derived;
    hmi_substitution_init(&inputs->substitution, allocator, default_of, (void *)derived, kinds);
}

void hmi_input_defaults_release(hmi_input_defaults *inputs)
{
    hmi_substitution_release(&inputs->substitution);
}

/* Defaults may use other inputs: substituted until none is left. */
hmi_expr hmi_input_defaults_apply(hmi_input_defaults *inputs, hmi_graph *graph, hmi_expr e)
{
    for (int k = 0; e != HMI_NONE && (hmi_deps(graph, e) & kinds); k++)
        e = k < DEEPEST ? hmi_substitute(&inputs->substitution, graph, e) : HMI_NONE;
    return e;
}
