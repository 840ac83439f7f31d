/* Forms on the constraints: what the papers print, what must stay as it is, and what the comparison refuses. */
#include "support/check.h"
#include "support/probe.h"

#include "analyse/surface/surface.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool append(void *user, const char *bytes, size_t length)
{
    return fwrite(bytes, 1, length, user) == length;
}

static char *section(const char *model)
{
    char *text = NULL;
    size_t size;
    probe *p = probe_text(model);
    const hm_derive_options options = {.on_constraints = true};
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(hm_system_derive_with(p->system, HM_FORMAT_TEXT, &options, append, stream),
                     HM_OK);
    fclose(stream);
    probe_close(p);
    char *at = strstr(text, "8  On the constraints");
    assert_non_null(at);
    at = strdup(at);
    free(text);
    return at;
}

static void expect(const char *model, const char *const *lines)
{
    char *text = section(model);
    for (; *lines; lines++)
        if (!strstr(text, *lines))
            fail_msg("'%s' is not in\n%s", *lines, text);
    free(text);
}

/* The coin of [Flannery05 (58), (61)]; its multipliers as derived in the errata (003, 3.6 and below). */
static void test_coin(void **state)
{
    (void)state;
    static const char *const lines[] = {"λ[roll] = −M·β·g·sin(al)·cos(φ)/(1 + β)\n",
                                        "λ[heading] = −M·(g·sin(al)·sin(φ) + R·θ̇·φ̇)\n", NULL};
    expect("param M = 2, R = 0.6, beta = 0.5, I = 0.2, g = 9.81, al = 0.3; coord x, y, theta, phi\n"
           "kinetic M/2*(x'^2 + y'^2) + beta*M*R^2/2*theta'^2 + I/2*phi'^2\n"
           "potential -M*g*x*sin(al)\nconstraint roll: x'*cos(phi) + y'*sin(phi) = R*theta'\n"
           "constraint heading: x'*sin(phi) = y'*cos(phi)\ninitial theta' = 1, phi' = 1",
           lines);
}

/* [UW (1.12)] without its tangent; theta'' would be shorter only with a divisor cos(theta), and stays. */
static void test_skate(void **state)
{
    (void)state;
    static const char model[] =
        "param m = 1, s = 0.3, I = 0.5; coord x, y, theta\n"
        "kinetic m/2*(x'^2 + y'^2) + m*s*theta'*(y'*cos(theta) - x'*sin(theta)) + I/2*theta'^2\n"
        "constraint blade: y'*cos(theta) = x'*sin(theta); initial theta = 0.2, theta' = 1";
    static const char *const lines[] = {"ẍ = s·θ̇²·cos(θ) − ẏ·θ̇\n", "ÿ = ẋ·θ̇ + s·θ̇²·sin(θ)\n", NULL};
    expect(model, lines);
    char *text = section(model);
    assert_null(strstr(text, "θ̈ ="));
    free(text);
}

/* [UW (3.7)]: the divisor is 2 z'^2. */
static void test_square(void **state)
{
    (void)state;
    static const char *const lines[] = {"λ[c] = −(a·ẋ + b·ẏ)/(4·ż²)\n", NULL};
    expect("param a = 0.3, b = 0.2; coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2\n"
           "force x = a, y = b; constraint c: x'^2 + y'^2 = z'^2\n"
           "initial x' = 1.5, y' = 2, z' = 2.5",
           lines);
}

static void test_nothing(void **state)
{
    (void)state;
    static const char *const same[] = {"nothing above becomes shorter", NULL};
    expect("coord x, y; kinetic (x'^2 + y'^2)/2; constraint c: x' = 2*y'", same);
    static const char *const servo[] = {"not tried: the model has servos", NULL};
    expect("coord x, y; kinetic (x'^2 + y'^2)/2; constraint c: x' = x*y'\n"
           "servo s: y' = 1 with gain 1",
           servo);
}

/* A form that is wrong does not pass. */
static void test_wrong_form(void **state)
{
    (void)state;
    probe *p = probe_text("coord x, y; kinetic (x'^2 + y'^2)/2; constraint c: x' = x*y'\n"
                          "initial x = 1");
    hmi_graph graph;
    hmi_surface s;
    assert_int_equal(hmi_graph_copy(&graph, &p->system->derived.graph), HM_OK);
    hmi_normal *normal = hmi_normal_create(&graph);
    assert_non_null(normal);
    hmi_surface_init(&s, p->system, &graph, normal);
    hmi_expr x = hmi_symbol(&graph, HMI_SYM_COORD, 0), u = hmi_symbol(&graph, HMI_SYM_VELOCITY, 0),
             w = hmi_symbol(&graph, HMI_SYM_VELOCITY, 1);
    const hmi_expr from[] = {u, u};
    hmi_expr list[] = {hmi_mul(&graph, x, w),
                       hmi_mul(&graph, x, hmi_add(&graph, w, hmi_number(&graph, 1e-25)))};
    assert_int_equal(hmi_surface_check(&s, from, list, 2), HM_OK);
    assert_int_equal(s.unproved, 1);
    assert_int_equal(s.states, 6);
    assert_int_not_equal(list[0], from[0]);
    assert_int_equal(list[1], from[1]);
    hmi_surface_release(&s);
    hmi_normal_destroy(normal);
    hmi_graph_release(&graph);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coin),       cmocka_unit_test(test_skate),
        cmocka_unit_test(test_square),     cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_wrong_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
