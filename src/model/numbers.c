/* Numbers and whole numbers made of parameters and indices: sizes, bounds, initial values. */
#include "model/builder.h"

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

static bool number_of(hmi_builder *b, hmi_expr e, hmi_span at, const char *what, double *out)
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

bool hmi_build_number(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, double *out)
{
    hmi_expr value;
    return hmi_build_scalar(b, e, scope, &value) && number_of(b, value, e->span, "this value", out);
}

bool hmi_build_whole(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, const char *what,
                     int64_t *out)
{
    hmi_expr value;
    double number;
    if (!hmi_build_scalar(b, e, scope, &value))
        return false;
    if (hmi_is_const(b->graph, value) && hmi_constant_of(b->graph, value)->denominator == 1) {
        *out = hmi_constant_of(b->graph, value)->numerator; /* most are: the index of a loop */
        return true;
    }
    if (!number_of(b, value, e->span, what, &number))
        return false;
    if (!mark_structural(b, value))
        return false;
    if (number != floor(number) || fabs(number) > 1e15) {
        char text[HMI_NUMBER_TEXT];
        hmi_error(b->context, e->span, NULL, "%s must be a whole number, not %s", what,
                  hmi_number_text(number, text));
        return false;
    }
    *out = (int64_t)number;
    return true;
}

bool hmi_build_range(hmi_builder *b, const hmi_ast *low, const hmi_ast *high,
                     const hmi_scope *scope, int64_t *lower, int64_t *upper)
{
    if (!hmi_build_whole(b, low, scope, "a bound", lower) ||
        !hmi_build_whole(b, high, scope, "a bound", upper))
        return false;
    double count = *upper < *lower ? 1 : (double)(*upper - *lower + 1);
    b->repeats.nested *= count;
    b->repeats.called *= count;
    if (b->repeats.nested <= HMI_MOST_REPEATS && b->repeats.called <= HMI_MOST_CALL_REPEATS)
        return true;
    bool nested = b->repeats.called > count;
    hmi_error(b->context, high->span, NULL,
              nested ? "nested loops repeat %.0f times, more than the limit of %lld"
                     : "this repeats %.0f times, more than the limit of %lld",
              b->repeats.called, (long long)HMI_MOST_REPEATS);
    b->context->limit_exceeded = true;
    return false;
}
