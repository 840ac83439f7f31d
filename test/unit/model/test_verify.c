/* Sound models pass hmi_model_verify, and so do their syntax trees; each kind of damage is found and
 * named. */
#include "support/check.h"
#include "support/probe.h"

#include "lang/parser.h"
#include "lang/verify.h"
#include "model/verify.h"

#include <string.h>

static const char text[] = "param m = 2\ncoord x, y\nkinetic m*(x'^2 + y'^2)/2\n"
                           "input u = sin(t)\nstate z' = -z + u\nmass x, y = 0.1\n"
                           "gyroscopic x, y = 0.2\nforce x = -x, y = u\nforce [1, 2] at [x, y]\n"
                           "constraint rod: x^2 + y^2 = 1\n"
                           "servo hold: x = 0 by x, y with gain 3\n"
                           "event hit: x = 0 rising stop\noutput e = x*y\n"
                           "nonideal x = -0.1*multiplier(rod)\n";

static void check_found(const hm_model *model, const char *expected)
{
    const char *found = hmi_model_verify(model, &(hmi_violation){.text = ""});
    assert_non_null(found);
    if (!strstr(found, expected))
        fail_msg("expected '%s', found '%s'", expected, found);
}

/* Damages *place, which must be found, and repairs it. */
#define DAMAGE(model, place, value, expected)                                                      \
    do {                                                                                           \
        __typeof__(place) kept = (place);                                                          \
        (place) = (value);                                                                         \
        check_found(model, expected);                                                              \
        (place) = kept;                                                                            \
    } while (0)

static void damaged_models(void **state)
{
    (void)state;
    probe *p = probe_text(text);
    hm_model *m = p->model;
    hmi_violation violation;
    assert_null(hmi_model_verify(m, &violation));
    DAMAGE(m, m->kinetic, HMI_NONE, "energy 0 is");
    DAMAGE(m, m->coords.data[1].name, NULL, "coordinate 1 has no name");
    DAMAGE(m, m->coords.count, 1, "of 1 symbols");
    DAMAGE(m, m->states.data[0].rate, HMI_NONE, "the rate of state 0");
    DAMAGE(m, m->inputs.data[0].value, 1u << 30, "input 0 is");
    DAMAGE(m, m->mass.data[0].column, 2, "of no coordinate");
    DAMAGE(m, m->gyroscopic.data[0].value, HMI_NONE, "entry 0 is");
    DAMAGE(m, m->forces.data[0].coord, 7, "force 0 acts nowhere");
    DAMAGE(m, m->forces.data[2].point[1], HMI_NONE, "point 1 is");
    DAMAGE(m, m->constraints.data[0].name, NULL, "constraint 0 has no name");
    DAMAGE(m, m->servos.data[0].actuated[1], 0, "do not ascend");
    DAMAGE(m, m->servo_rows.data[0].servo, 1, "servo row 0 is of none");
    DAMAGE(m, m->events.data[0].expr, HMI_NONE, "event 0 is");
    DAMAGE(m, m->graph.nodes.data[20].deps, 0x8000, "depends on");
    assert_null(hmi_model_verify(m, &violation));
    probe_close(p);
}

static void check_tree_found(const hmi_tree *tree, const char *expected)
{
    const char *found = hmi_tree_verify(tree, &(hmi_violation){.text = ""});
    assert_non_null(found);
    if (!strstr(found, expected))
        fail_msg("expected '%s', found '%s'", expected, found);
}

static void damaged_trees(void **state)
{
    (void)state;
    static const char source[] = "coord x\nfor i = 1..2 { potential -x + i }\n";
    hm_context *context = hm_context_create(NULL);
    hmi_tree tree;
    hmi_tree_init(&tree, context);
    uint32_t file = hmi_context_add_source(context, "text", NULL, source, strlen(source));
    assert_int_equal(hmi_parse_source(&tree, file), HM_OK);
    assert_null(hmi_tree_verify(&tree, &(hmi_violation){.text = ""}));
    hmi_statement *potential = tree.statements->next->block;
    hmi_ast *sum = potential->first, *item = sum->items[0];
    tree.contains ^= 1;
    check_tree_found(&tree, "are said to be");
    tree.contains ^= 1;
    sum->items[0] = NULL;
    check_tree_found(&tree, "item 0 of an expression is missing");
    sum->items[0] = item;
    item->count = 2;
    check_tree_found(&tree, "has 2 items");
    item->count = 1;
    potential->span.length = 1000;
    check_tree_found(&tree, "outside of source 0");
    hmi_tree_release(&tree);
    hm_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_models),
        cmocka_unit_test(damaged_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
