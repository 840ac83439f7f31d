/* A sound graph passes hmi_graph_verify; each kind of damage is found and named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "expr/graph/verify.h"
#include "unit/expr/random_dag.h"

static hmi_graph graph;
static hm_allocator allocator;
static hmi_expr m, x, sine, product;

static int open_graph(void **state)
{
    (void)state;
    allocator = hm_allocator_default();
    if (hmi_graph_init(&graph, &allocator) != HM_OK)
        return -1;
    m = hmi_symbol(&graph, HMI_SYM_PARAM, 0);
    x = hmi_symbol(&graph, HMI_SYM_COORD, 0);
    sine = hmi_apply(&graph, HMI_SIN, x, 0, 0);
    product = hmi_mul(&graph, m, sine);
    return 0;
}

static int close_graph(void **state)
{
    (void)state;
    hmi_graph_release(&graph);
    return 0;
}

static void check_found(const char *expected)
{
    const char *found = hmi_graph_verify(&graph, &(hmi_violation){.text = ""});
    assert_non_null(found);
    if (!strstr(found, expected))
        fail_msg("expected '%s', found '%s'", expected, found);
}

static void sound_graphs_pass(void **state)
{
    (void)state;
    static dag d;
    hmi_violation violation;
    dag_source s = {.state = 5};
    assert_null(hmi_graph_verify(&graph, &violation));
    dag_start(&d, &graph, false, &s);
    dag_fill(&d, &s, 4000);
    for (uint32_t i = 0; i < 100; i++) /* more than a list of one anchor takes */
        hmi_mul(&graph, x, hmi_symbol(&graph, HMI_SYM_PARAM, i));
    assert_null(hmi_graph_verify(&graph, &violation));
    hmi_graph copy;
    assert_int_equal(hmi_graph_copy(&copy, &graph), HM_OK);
    assert_null(hmi_graph_verify(&copy, &violation));
    hmi_graph_release(&copy);
}

static void damaged_nodes(void **state)
{
    (void)state;
    hmi_node *nodes = graph.nodes.data, kept = nodes[product];
    nodes[product].a = product + 1;
    check_found("operand 1 of %8 (*) is %9");
    nodes[product] = kept;
    nodes[product].c = 1;
    check_found("operand 3 of %8 (*) is %1");
    nodes[product] = kept;
    nodes[product].deps = 0;
    check_found("%8 says that it depends on 0");
    nodes[product] = kept;
    nodes[product].op = HMI_OP_COUNT;
    check_found("which does not exist");
    nodes[product] = kept;
    nodes[product].op = HMI_POWI;
    check_found("its exponent is not");
    nodes[product] = kept;
    nodes[x].a = HMI_SYM_KIND_COUNT;
    check_found("a symbol of no kind");
}

/* Two equal nodes: the later one is found by what files the earlier one. */
static void equal_nodes(void **state)
{
    (void)state;
    hmi_expr other = hmi_apply(&graph, HMI_COS, x, 0, 0);
    graph.nodes.data[other].op = HMI_SIN;
    check_found("are equal");
    graph.nodes.data[other].op = HMI_COS;
    assert_null(hmi_graph_verify(&graph, &(hmi_violation){.text = ""}));
    graph.links.data[x].first = 0;
    check_found("%7 is not found again");
}

static void damaged_constants(void **state)
{
    (void)state;
    hmi_constant *half = &graph.constants.data[graph.nodes.data[graph.half].a], kept = *half;
    half->value = 0.25;
    check_found("has the value 0.25, but is 1/2");
    *half = kept;
    half->numerator = 2;
    half->denominator = 4;
    check_found("not in lowest terms");
    *half = kept;
    graph.two = graph.one;
    check_found("%1 should be the number 2");
}

static void damaged_tables(void **state)
{
    (void)state;
    graph.leaves.count++;
    check_found("slots taken counts");
    graph.leaves.count--;
    graph.links.count--;
    check_found("9 nodes and 8 links");
}

static void symbols_and_handles(void **state)
{
    (void)state;
    hmi_violation violation;
    const hmi_symbol_counts one = {.of = {[HMI_SYM_PARAM] = 1, [HMI_SYM_COORD] = 1}};
    const hmi_symbol_counts none = {.of = {[HMI_SYM_PARAM] = 1}};
    const hmi_expr list[] = {product, HMI_NONE, product + 1};
    assert_null(hmi_graph_verify_symbols(&graph, &one, &violation));
    assert_non_null(hmi_graph_verify_symbols(&graph, &none, &violation));
    assert_null(hmi_graph_verify_handles(&graph, list, 2, true, "p", &violation));
    assert_non_null(hmi_graph_verify_handles(&graph, list, 2, false, "p", &violation));
    assert_string_equal(hmi_graph_verify_handles(&graph, list, 3, true, "p", &violation),
                        "p 2 is %9, which does not exist");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_graph, close_graph)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(sound_graphs_pass), TEST(damaged_nodes),
                                       TEST(equal_nodes),       TEST(damaged_constants),
                                       TEST(damaged_tables),    TEST(symbols_and_handles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
