/* Bytes -> a DAG through the constructors -> gradient and tangent, which must agree with the duals
 * of test/unit/expr/random_dag.h; the tape of all of it must agree with the graph bit by bit.
 *
 * Operands are chosen where operations are smooth and values moderate, so that a difference beyond
 * the tolerance is a wrong rule and not bad conditioning.
 */
#include "compile/tape/tape.h"
#include "expr/graph/diff.h"
#include "expr/graph/verify.h"

#include "../test/unit/expr/random_dag.h"
#include "compile/jit/assemble.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NODES = 600 };

static const wide tolerance = 1e-7L;

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    abort();
}

static hmi_expr with_velocity(hmi_graph *g, hmi_expr leaf, void *user)
{
    (void)user;
    return hmi_symbol(g, HMI_SYM_VELOCITY, hmi_node_at(g, leaf)->b);
}

static const double direction[DAG_COORDS] = {1, -0.5, 0.25, 2, -1.5, 0.75};

/* Towers of products and quotients that cancel have moderate values but huge parts, which overflow:
 * nothing can be said about those. */
static bool well_conditioned(const hmi_graph *g, const wide *values)
{
    for (hmi_expr e = 0; e < g->nodes.count; e++)
        if (!(fabsl(values[e]) < 1e30L) || (values[e] != 0 && fabsl(values[e]) < 1e-30L))
            return false;
    return true;
}

static void check_values(const dag *d, const wide *values, const hmi_adjoint *adjoint, hmi_expr dot,
                         size_t root)
{
    wide along = 0, reverse[DAG_COORDS] = {0};
    for (size_t k = 0; k < adjoint->partials.count; k++)
        reverse[adjoint->partials.data[k].index] = values[adjoint->partials.data[k].value];
    require(dag_close(values[d->node[root]], d->value[root], tolerance), "value");
    for (int k = 0; k < DAG_COORDS; k++) {
        require(dag_close(reverse[k], d->dot[root][k], tolerance), "reverse derivative");
        along += direction[k] * d->dot[root][k];
    }
    require(dag_close(values[dot], along, 10 * tolerance), "forward derivative");
}

static void differentiate(dag *d, size_t root)
{
    hmi_tangent tangent;
    hmi_adjoint adjoint;
    hmi_adjoint_init(&adjoint, d->graph->allocator);
    hmi_tangent_init(&tangent, d->graph->allocator, with_velocity, NULL, HMI_DEP(HMI_SYM_COORD));
    require(hmi_gradient(&adjoint, d->graph, d->node[root], HMI_SYM_COORD) == HM_OK, "gradient");
    hmi_expr dot = hmi_tangent_of(&tangent, d->graph, d->node[root]);
    require(dot != HMI_NONE, "tangent");
    wide *values = dag_evaluate(d->graph, d->coords, d->params, direction);
    if (well_conditioned(d->graph, values))
        check_values(d, values, &adjoint, dot, root);
    free(values);
    hmi_tangent_release(&tangent);
    hmi_adjoint_release(&adjoint);
}

static double value_of(const hmi_graph *g, const double *v, const dag *d, hmi_expr e)
{
    const hmi_node *n = hmi_node_at(g, e);
    int arity = hmi_op_arity((hmi_op)n->op);
    if (n->op == HMI_CONST)
        return hmi_constant_of(g, e)->value;
    if (n->op == HMI_SYMBOL)
        return n->a == HMI_SYM_COORD   ? d->coords[n->b]
               : n->a == HMI_SYM_PARAM ? d->params[n->b]
                                       : direction[n->b];
    return hmi_op_value((hmi_op)n->op, v[n->a], arity > 1 ? v[n->b] : 0, arity > 2 ? v[n->c] : 0);
}

/* Every node of the graph is an output. */
static void compile(const dag *d)
{
    const hmi_graph *g = d->graph;
    hmi_tape tape;
    hmi_expr *outputs = malloc(g->nodes.count * sizeof *outputs);
    double *values = malloc(g->nodes.count * sizeof *values);
    for (hmi_expr e = 0; e < g->nodes.count; e++) {
        outputs[e] = e;
        values[e] = value_of(g, values, d, e);
    }
    require(hmi_tape_compile(&tape, g, outputs, g->nodes.count) == HM_OK, "compile");
    double *work = malloc(tape.work_size * sizeof *work);
    const hmi_tape_values inputs = {.by_kind = {[HMI_SYM_COORD] = d->coords,
                                                [HMI_SYM_PARAM] = d->params,
                                                [HMI_SYM_VELOCITY] = direction}};
    hmi_tape_prepare(&tape, &inputs, work);
    hmi_tape_run(&tape, &inputs, work);
    const double *results = hmi_tape_outputs(&tape, work);
    for (hmi_expr e = 0; e < g->nodes.count; e++)
        require((isnan(results[e]) && isnan(values[e])) ||
                    memcmp(&results[e], &values[e], sizeof *results) == 0,
                "tape");
    hmi_tape_release(&tape);
    free(outputs);
    free(values);
    free(work);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static dag d;
    hmi_graph graph;
    const hm_allocator allocator = hm_allocator_default();
    require(hmi_graph_init(&graph, &allocator) == HM_OK, "memory");
    dag_source source = {.bytes = data, .size = size};
    dag_start(&d, &graph, size > 0 && data[0] % 4 == 0, &source);
    while (source.size > 0 && d.count < MOST_NODES)
        dag_grow(&d, &source);
    differentiate(&d, dag_last_number(&d));
    require(!hmi_graph_verify(&graph, &(hmi_violation){.text = ""}), "invariants of the graph");
    compile(&d);
    hmi_graph_release(&graph);
    return 0;
}
