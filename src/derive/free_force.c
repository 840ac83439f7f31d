/* The part of a force that is known before constraint forces are: where laws that use them start. */
#include "derive/derived.h"

/* A term of the sum, with what multiplies it. */
typedef struct term {
    hmi_expr e, factor;
} term;

typedef struct term_list {
    const hm_allocator *allocator;
    HMI_ARRAY(term) list;
    bool failed;
} term_list;

static void push(term_list *to, hmi_expr e, hmi_expr factor)
{
    to->failed |= !hmi_array_push(to->allocator, &to->list, ((term){e, factor}));
}

static bool uses_forces(const hmi_graph *g, hmi_expr e)
{
    return hmi_deps(g, e) & HMI_DEP_FORCES;
}

/* A term that uses constraint forces: its own terms, where it is a sum or a multiple of one; else it
 * is left out. */
static void open_term(term_list *to, hmi_graph *g, term t)
{
    const hmi_node node = *hmi_node_at(g, t.e);
    switch ((hmi_op)node.op) {
    case HMI_ADD:
        push(to, node.a, t.factor);
        push(to, node.b, t.factor);
        break;
    case HMI_SUB:
        push(to, node.a, t.factor);
        push(to, node.b, hmi_neg(g, t.factor));
        break;
    case HMI_NEG:
        push(to, node.a, hmi_neg(g, t.factor));
        break;
    case HMI_MUL:
        if (!uses_forces(g, node.a))
            push(to, node.b, hmi_mul(g, t.factor, node.a));
        else if (!uses_forces(g, node.b))
            push(to, node.a, hmi_mul(g, t.factor, node.b));
        break;
    case HMI_DIV:
        if (!uses_forces(g, node.b))
            push(to, node.a, hmi_div(g, t.factor, node.b));
        break;
    default:
        break;
    }
}

hmi_expr hmi_free_of_reactions(hmi_graph *graph, hmi_expr force)
{
    if (!uses_forces(graph, force))
        return force;
    term_list open = {.allocator = graph->allocator};
    hmi_expr sum = graph->zero;
    push(&open, force, graph->one);
    while (!open.failed && open.list.count > 0 && graph->status == HM_OK) {
        term t = open.list.data[--open.list.count];
        if (uses_forces(graph, t.e))
            open_term(&open, graph, t);
        else
            sum = hmi_add(graph, sum, hmi_mul(graph, t.factor, t.e));
    }
    if (open.failed)
        graph->status = HM_ERR_NOMEM;
    hmi_array_release(open.allocator, &open.list);
    return sum;
}
