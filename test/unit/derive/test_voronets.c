/* Velocities that constraints give: which rows do, and the equations of those that are left against the
 * solve with multipliers; forms with few products against the expressions they stand for. */
#include "support/check.h"
#include "support/disc.h"
#include "support/probe.h"

#include "compile/tape/tape.h"
#include "derive/voronets.h"
#include "dynamics/sim/sim.h"
#include "expr/normal/normal.h"
#include "compile/jit/assemble.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINT "coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2\n"

/* ---- which rows ---- */

static bool is_explicit(const char *text)
{
    probe *p = probe_text(text);
    bool found = hmi_rows_are_explicit(&p->system->derived);
    probe_close(p);
    return found;
}

static void test_rows(void **state)
{
    (void)state;
    assert_true(is_explicit(DISC));
    assert_true(is_explicit(POINT "constraint a: z' = y*x'"));
    assert_true(is_explicit(POINT "constraint a: 2*z' + y' = sin(t)*x'\nconstraint b: y' = x'"));
    assert_true(is_explicit(POINT "constraint a: x' + z' = y*y'\nconstraint b: x' - z' = y'") ==
                false); /* no velocity is in one of them alone, with a number */
    assert_false(is_explicit(POINT));
    assert_false(is_explicit(POINT "constraint a: z = y*x"));          /* on positions */
    assert_false(is_explicit(POINT "constraint a: z'' = y*x"));        /* on accelerations */
    assert_false(is_explicit(POINT "constraint a: z' = x'^2"));        /* not linear */
    assert_false(is_explicit(POINT "constraint a: sin(x)*z' = x*y'")); /* may vanish */
    assert_false(is_explicit(POINT "param k = 2\nconstraint a: k*z' = x*y'")); /* this too */
    assert_false(is_explicit(POINT "constraint a: z' = x'\nconstraint b: 2*z' = 2*x'"));
    assert_false(
        is_explicit("coord x; kinetic x'^2/2; constraint a: x' = 1")); /* nothing is left */
    assert_false(is_explicit(POINT "state w' = -w\nconstraint a: z' = w*x'"));
}

/* ---- equations ---- */

typedef struct equations {
    probe *p;
    hmi_graph graph;
    hmi_arena arena;
    hmi_voronets x;
    hmi_tape tape; /* v, dP/du, P' - dP/dt at u' = 0 */
    double *work;
} equations;

static void list_equations(equations *e, hmi_expr *list)
{
    hmi_voronets *x = &e->x;
    hmi_adjoint adjoint;
    memcpy(list, x->velocity, x->coordinates * sizeof *list);
    list += x->coordinates;
    hmi_adjoint_init(&adjoint, e->graph.allocator);
    for (size_t i = 0; i < x->n; i++)
        assert_int_equal(
            hmi_voronets_gradient(x, &e->graph, &adjoint, x->momentum[i], list + i * x->n), HM_OK);
    hmi_adjoint_release(&adjoint);
    list += x->n * x->n;
    assert_int_equal(hmi_voronets_along_motion(x, &e->graph, NULL, x->momentum, x->n, list), HM_OK);
    for (size_t i = 0; i < x->n; i++)
        list[i] = hmi_sub(&e->graph, x->force[i], list[i]);
}

static void open_equations(equations *e, const char *text)
{
    e->p = probe_text(text);
    const hmi_derived *d = &e->p->system->derived;
    assert_int_equal(hmi_graph_copy(&e->graph, &d->graph), HM_OK);
    hmi_arena_init(&e->arena, e->graph.allocator);
    assert_int_equal(hmi_voronets_find(&e->x, d, &e->graph, &e->arena), HM_OK);
    size_t count = e->x.coordinates + e->x.n * (e->x.n + 1);
    hmi_expr *list = malloc(count * sizeof *list);
    list_equations(e, list);
    assert_int_equal(hmi_tape_compile(&e->tape, &e->graph, list, count), HM_OK);
    free(list);
    e->work = calloc(e->tape.work_size, sizeof *e->work);
    const hmi_tape_values values = hmi_sim_values(e->p->sim, hmi_sim_present(e->p->sim));
    hmi_tape_prepare(&e->tape, &values, e->work);
}

static void close_equations(equations *e)
{
    free(e->work);
    hmi_tape_release(&e->tape);
    hmi_graph_release(&e->graph);
    hmi_arena_release(&e->arena);
    probe_close(e->p);
}

static const double *run_tape(equations *e)
{
    const hmi_tape_values values = hmi_sim_values(e->p->sim, hmi_sim_present(e->p->sim));
    hmi_tape_run(&e->tape, &values, e->work);
    return hmi_tape_outputs(&e->tape, e->work);
}

/* At random states on the constraints: (dP/du) u' = P' - dP/dt with u' of the solve with multipliers. */
static void check_equations(const char *text)
{
    equations e;
    random_source random = {.state = 7};
    open_equations(&e, text);
    for (int trial = 0; trial < 20; trial++) {
        double q[8], v[8];
        size_t nq = e.x.coordinates, n = e.x.n;
        random_fill(&random, -1.2, 1.2, nq, q);
        random_fill(&random, -2, 2, nq, v);
        probe_state(e.p, 0.7, q, v);
        memcpy(v, run_tape(&e), nq * sizeof *v);
        probe_state(e.p, 0.7, q, v);
        const double *out = run_tape(&e), *M = out + nq, *Q = M + n * n;
        for (size_t i = 0; i < n; i++) {
            double left = 0, size = fabs(Q[i]) + 1;
            for (size_t j = 0; j < n; j++)
                left += M[i * n + j] * e.p->at.qdd[e.x.independent[j]];
            check_number("P'", left, Q[i], 1e-12 * size);
        }
    }
    close_equations(&e);
}

static void test_equations(void **state)
{
    (void)state;
    check_equations(DISC);
    check_equations(POINT "constraint a: z' = y*x' + cos(t)\npotential x*y*z");
    check_equations(
        "coord x, y, z, a; param k = 0.3\n"
        "kinetic (x'^2 + (1 + a^2)*y'^2 + z'^2 + a'^2)/2 + x'*a'/4; potential x^2 + a*z\n"
        "force a = cos(t); force y = 0.1*z'; dissipation 0.05*y'^2 + 0.02*a'^2\n"
        "nonideal x = -k*x', y = 0.1*a'\n"
        "constraint one: 2*x' = 3*y'*cos(a) + a'/(2 + sin(a))\n"
        "constraint two: z' = x'*a - y' + 0.2");
}

/* ---- few products ---- */

static size_t products(const hmi_graph *g, const hmi_expr *list, size_t count)
{
    hmi_walk walk;
    size_t found = 0;
    hmi_walk_init(&walk, g->allocator);
    assert_int_equal(hmi_walk_begin(&walk, g), HM_OK);
    for (size_t k = 0; k < count; k++)
        assert_int_equal(hmi_walk_add(&walk, g, list[k], HMI_DEP(HMI_SYM_COORD)), HM_OK);
    for (size_t i = 0; i < walk.order.count; i++) {
        const hmi_node *node = hmi_node_at(g, walk.order.data[i]);
        found += node->op == HMI_POWI ||
                 (node->op == HMI_MUL && (hmi_deps(g, node->a) & HMI_DEP(HMI_SYM_COORD)) &&
                  (hmi_deps(g, node->b) & HMI_DEP(HMI_SYM_COORD)));
    }
    hmi_walk_release(&walk);
    return found;
}

static double value_of(const hmi_graph *g, hmi_expr e, const double *q)
{
    hmi_tape tape;
    double result;
    const hmi_tape_values values = {.by_kind[HMI_SYM_COORD] = q};
    assert_int_equal(hmi_tape_compile(&tape, g, &e, 1), HM_OK);
    double *work = calloc(tape.work_size, sizeof *work);
    hmi_tape_prepare(&tape, &values, work);
    hmi_tape_run(&tape, &values, work);
    result = *hmi_tape_outputs(&tape, work);
    free(work);
    hmi_tape_release(&tape);
    return result;
}

/* Sums of random monomials in five variables, sines among them. */
static hmi_expr random_polynomial(random_source *random, hmi_graph *g)
{
    hmi_expr sum = g->zero;
    for (int i = 0; i < 6; i++) {
        hmi_expr product = hmi_ratio(g, 1 + (int64_t)(random_between(random, 0, 9)), 4);
        for (int k = 0; k < 4; k++) {
            hmi_expr q = hmi_symbol(g, HMI_SYM_COORD, (uint32_t)random_between(random, 0, 3));
            double kind = random_between(random, 0, 1);
            if (kind < 0.3)
                q = hmi_apply(g, kind < 0.15 ? HMI_SIN : HMI_COS, q, 0, 0);
            product = hmi_mul(g, product, q);
        }
        sum = hmi_add(g, sum, product);
    }
    return sum;
}

static void test_few_products(void **state)
{
    (void)state;
    random_source random = {.state = 11};
    size_t before = 0, after = 0;
    probe *p = probe_text(POINT);
    for (int trial = 0; trial < 60; trial++) {
        hmi_graph g;
        hmi_expr list[3], given[3];
        assert_int_equal(hmi_graph_copy(&g, &p->system->derived.graph), HM_OK);
        for (int k = 0; k < 3; k++)
            given[k] = list[k] = random_polynomial(&random, &g);
        hmi_normal *normal = hmi_normal_create(&g);
        assert_int_equal(hmi_normal_few_products(normal, NULL, 0, list, 3), HM_OK);
        hmi_normal_destroy(normal);
        before += products(&g, given, 3);
        after += products(&g, list, 3);
        for (int k = 0; k < 3; k++) {
            double q[3];
            random_fill(&random, -2, 2, 3, q);
            double expected = value_of(&g, given[k], q);
            check_number("value", value_of(&g, list[k], q), expected,
                         1e-12 * (fabs(expected) + 30));
        }
        hmi_graph_release(&g);
    }
    print_message("products: %zu, then %zu\n", before, after);
    assert_true(10 * after < 7 * before);
    probe_close(p);
}

/* The equations of a rolling disc as a person would write them: 8 products beside rates of sines. */
static void test_products_of_disc(void **state)
{
    (void)state;
    equations e;
    open_equations(&e, DISC);
    hmi_walk walk;
    size_t found = 0;
    hmi_walk_init(&walk, e.graph.allocator);
    assert_int_equal(hmi_walk_begin(&walk, &e.graph), HM_OK);
    for (size_t k = 0; k < e.x.n; k++) {
        assert_int_equal(hmi_walk_add(&walk, &e.graph, e.x.momentum[k], 0xFFFF), HM_OK);
        assert_int_equal(hmi_walk_add(&walk, &e.graph, e.x.force[k], 0xFFFF), HM_OK);
    }
    for (size_t i = 0; i < walk.order.count; i++) {
        const hmi_node *node = hmi_node_at(&e.graph, walk.order.data[i]);
        uint16_t moving = (uint16_t)~HMI_DEP(HMI_SYM_PARAM);
        found += node->op == HMI_POWI ||
                 (node->op == HMI_MUL && (hmi_deps(&e.graph, node->a) & moving) &&
                  (hmi_deps(&e.graph, node->b) & moving));
    }
    hmi_walk_release(&walk);
    print_message("%zu products\n", found);
    assert_true(found <= 8);
    close_equations(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_equations),
        cmocka_unit_test(test_few_products),
        cmocka_unit_test(test_products_of_disc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
