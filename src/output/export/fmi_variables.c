/* The variables of a unit: names, texts, start values, and what they depend on. */
#include "output/export/fmi.h"

#include <stdio.h>
#include <string.h>

hmi_fmi_layout hmi_fmi_layout_of(const hmi_export *x)
{
    size_t size = 2 * x->n + x->states;
    hmi_fmi_layout at = {.states = 1};
    at.rates = at.states + size;
    at.params = at.rates + size;
    at.inputs = at.params + x->model->params.count;
    at.outputs = at.inputs + x->inputs;
    at.events = at.outputs + x->outputs;
    at.end = at.events + x->events;
    return at;
}

void hmi_fmi_token(const hmi_export *x, char token[40])
{
    uint64_t print = x->model->fingerprint;
    for (size_t i = 0; i < x->model->params.count; i++) { /* overridden values are other models */
        uint64_t bits;
        memcpy(&bits, &x->model->params.data[i].value, sizeof bits);
        print = (print ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
        print ^= print >> 29;
    }
    snprintf(token, 40, "{hamel-%016llx}", (unsigned long long)print);
}

/* ---- texts ---- */

void hmi_fmi_escaped(hmi_text *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        const char *entity = c == '&'   ? "&amp;"
                             : c == '<' ? "&lt;"
                             : c == '>' ? "&gt;"
                             : c == '"' ? "&quot;"
                                        : NULL;
        if (entity)
            hmi_text_add(out, entity);
        else if (c >= 0x20)
            hmi_text_add_bytes(out, text, 1);
        else
            hmi_text_add(out, " ");
    }
}

/* The name of a state without der(...). */
static void state_name(hmi_export *x, hmi_text *out, size_t i)
{
    size_t n = x->n;
    if (i < 2 * n) {
        hmi_fmi_escaped(out, x->model->coords.data[i % n].name);
        hmi_text_add(out, i < n ? "" : "'");
    } else {
        hmi_fmi_escaped(out, x->model->states.data[i - 2 * n].name);
    }
}

void hmi_fmi_name(hmi_export *x, size_t reference)
{
    hmi_fmi_layout at = hmi_fmi_layout_of(x);
    const hm_model *model = x->model;
    hmi_text *out = &x->text;
    hmi_text_add(out, "name=\"");
    if (reference == 0) {
        hmi_text_add(out, "time");
    } else if (reference < at.params) {
        bool rate = reference >= at.rates;
        hmi_text_add(out, rate ? "der(" : "");
        state_name(x, out, reference - (rate ? at.rates : at.states));
        hmi_text_add(out, rate ? ")" : "");
    } else if (reference < at.inputs) {
        hmi_fmi_escaped(out, model->params.data[reference - at.params].name);
    } else if (reference < at.outputs) {
        hmi_fmi_escaped(out, model->inputs.data[reference - at.inputs].name);
    } else if (reference < at.events) {
        hmi_fmi_escaped(out, model->outputs.data[reference - at.outputs].name);
    } else {
        hmi_text_add(out, "event(");
        hmi_fmi_escaped(out, model->events.data[reference - at.events].name);
        hmi_text_add(out, ")");
    }
    hmi_text_add(out, "\"");
}

void hmi_fmi_description(hmi_export *x, size_t reference)
{
    hmi_fmi_layout at = hmi_fmi_layout_of(x);
    const hm_model *model = x->model;
    const hmi_shown *shown = NULL;
    if (reference >= at.states && reference < at.states + x->n)
        shown = model->coords.data[reference - at.states].shown;
    else if (reference >= at.params && reference < at.inputs)
        shown = model->params.data[reference - at.params].shown;
    else if (reference >= at.outputs && reference < at.events)
        shown = model->outputs.data[reference - at.outputs].shown;
    if (!shown || !shown->text)
        return;
    hmi_text_add(&x->text, " description=\"");
    hmi_fmi_escaped(&x->text, shown->text);
    hmi_text_add(&x->text, "\"");
}

double hmi_fmi_start(const hmi_export *x, size_t reference)
{
    hmi_fmi_layout at = hmi_fmi_layout_of(x);
    if (reference >= at.states && reference < at.rates)
        return x->q[reference - at.states]; /* v and z follow */
    if (reference >= at.params && reference < at.inputs)
        return x->model->params.data[reference - at.params].value;
    if (reference >= at.inputs && reference < at.outputs)
        return x->u[reference - at.inputs];
    return 0;
}

bool hmi_fmi_is_constant(const hmi_export *x, size_t reference)
{
    return x->model->params.data[reference - hmi_fmi_layout_of(x).params].structural;
}

bool hmi_fmi_is_calculated(const hmi_export *x, size_t reference)
{
    const hmi_param *param = &x->model->params.data[reference - hmi_fmi_layout_of(x).params];
    return !param->structural && !param->overridden && hmi_deps(&x->graph, param->value_expr);
}

/* ---- dependencies ---- */

hmi_expr hmi_fmi_rate(hmi_export *x, size_t state)
{
    if (state < x->n)
        return hmi_fmi_state(x, x->n + state);
    if (state < 2 * x->n)
        return x->motion ? x->motion[state - x->n] : HMI_NONE;
    return x->eq->state_rates[state - 2 * x->n];
}

hmi_expr hmi_fmi_state(hmi_export *x, size_t i)
{
    return i < x->n       ? hmi_symbol(&x->graph, HMI_SYM_COORD, (uint32_t)i)
           : i < 2 * x->n ? hmi_symbol(&x->graph, HMI_SYM_VELOCITY, (uint32_t)(i - x->n))
                          : hmi_symbol(&x->graph, HMI_SYM_STATE, (uint32_t)(i - 2 * x->n));
}

/* What needs the solve depends on everything. */
static hmi_expr unless_solved(const hmi_export *x, hmi_expr e)
{
    uint16_t solved = HMI_DEP_FORCES | HMI_DEP(HMI_SYM_ACCELERATION) | HMI_DEP(HMI_SYM_ENERGY);
    return hmi_deps(&x->graph, e) & solved ? HMI_NONE : e;
}

hmi_expr hmi_fmi_output(const hmi_export *x, size_t output)
{
    return unless_solved(x, x->eq->outputs[output]);
}

hmi_expr hmi_fmi_event(const hmi_export *x, size_t event)
{
    return unless_solved(x, x->eq->events[event]);
}

static void mark(const hmi_export *x, const hmi_node *node, bool *depends)
{
    size_t n = x->n;
    switch ((hmi_symbol_kind)node->a) {
    case HMI_SYM_COORD:
        depends[node->b] = true;
        break;
    case HMI_SYM_VELOCITY:
        depends[n + node->b] = true;
        break;
    case HMI_SYM_STATE:
        depends[2 * n + node->b] = true;
        break;
    case HMI_SYM_INPUT:
    case HMI_SYM_INPUT_RATE:
    case HMI_SYM_INPUT_RATE2:
        depends[2 * n + x->states + node->b] = true;
        break;
    default:
        break;
    }
}

bool hmi_fmi_dependencies(hmi_export *x, hmi_expr unknown, bool *depends)
{
    size_t count = 2 * x->n + x->states + x->inputs;
    hmi_walk walk;
    memset(depends, unknown == HMI_NONE, count * sizeof *depends);
    if (unknown == HMI_NONE)
        return true;
    hmi_walk_init(&walk, x->allocator);
    bool good = !hmi_walk_begin(&walk, &x->graph) &&
                !hmi_walk_add(&walk, &x->graph, unknown, 0xFFFF);
    for (size_t i = 0; good && i < walk.order.count; i++)
        if (hmi_op_of(&x->graph, walk.order.data[i]) == HMI_SYMBOL)
            mark(x, hmi_node_at(&x->graph, walk.order.data[i]), depends);
    hmi_walk_release(&walk);
    return good;
}
