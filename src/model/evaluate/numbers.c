/* Expressions of parameters as numbers and as whole numbers: sizes, bounds, initial values. */
#include "model/evaluate/builder.h"

#include <math.h>

/* A parameter in a size or index, and those its value is made of, set the size too. */
static bool mark_structural(hmi_builder *b, hmi_expr e)
{
    hmi_walk *walk = &b->walk;
    if (!(hmi_deps(b->graph, e) & HMI_DEP(HMI_SYM_PARAM)))
        return true;
    if (hmi_walk_begin(walk, b->graph) != HM_OK ||
        hmi_walk_add(walk, b->graph, e, HMI_DEP(HMI_SYM_PARAM)) != HM_OK)
        return hmi_no_memory(b);
    for (size_t i = 0; i < walk->order.count; i++) {
        const hmi_node *node = hmi_node_at(b->graph, walk->order.data[i]);
        if (node->op != HMI_SYMBOL)
            continue;
        hmi_param *param = &b->model->params.data[node->b];
        bool follow = !param->structural && !param->overridden;
        param->structural = true;
        if (follow &&
            hmi_walk_add(walk, b->graph, param->value_expr, HMI_DEP(HMI_SYM_PARAM)) != HM_OK)
            return hmi_no_memory(b);
    }
    return true;
}

bool hmi_constant_value(hmi_builder *b, hmi_expr e, double *value)
{
    if (!hmi_graph_sound(b, b->at) || (hmi_deps(b->graph, e) & ~HMI_DEP(HMI_SYM_PARAM)))
        return false;
    hm_status status = hmi_constants_value(&b->constants, b->graph, e, b->param_values.data, value);
    return status == HM_OK || hmi_no_memory(b);
}

bool hmi_number_of(hmi_builder *b, hmi_expr e, hmi_span at, const char *what, double *out)
{
    if (hmi_deps(b->graph, e) & ~HMI_DEP(HMI_SYM_PARAM)) {
        hmi_error(b->context, at,
                  "coordinates and t have no values here; with `initial y ~ guess` the constraints "
                  "determine the initial value",
                  "%s must be an expression of parameters and indices", what);
        return false;
    }
    if (!hmi_constant_value(b, e, out))
        return false;
    if (!isfinite(*out))
        hmi_error(b->context, at, NULL, "%s is not a finite number", what);
    return isfinite(*out);
}

bool hmi_fixed_number_of(hmi_builder *b, hmi_expr e, hmi_span at, const char *what, double *out)
{
    return hmi_number_of(b, e, at, what, out) && mark_structural(b, e);
}

bool hmi_whole_of(hmi_builder *b, hmi_expr e, hmi_span at, const char *what, int64_t *out)
{
    double number;
    if (hmi_is_const(b->graph, e) && hmi_constant_of(b->graph, e)->denominator == 1) {
        *out = hmi_constant_of(b->graph, e)->numerator; /* most are: the index of a loop */
        return true;
    }
    if (!hmi_number_of(b, e, at, what, &number) || !mark_structural(b, e))
        return false;
    if (number != floor(number) || fabs(number) > 1e15) {
        char text[HMI_NUMBER_TEXT];
        hmi_error(b->context, at, NULL, "%s must be a whole number, not %s", what,
                  hmi_number_text(number, text));
        return false;
    }
    *out = (int64_t)number;
    return true;
}
