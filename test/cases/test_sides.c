/* Statements that hold on a part of the domain, and those that the run contradicts. Every answer is
 * elementary: x' is constant where no force acts along x, and is not where one does. */
#include "support/check.h"
#include "support/probe.h"

#include <hamel/hamel.h>

#include <stdio.h>
#include <string.h>

static const hm_integral *integral(const hm_symmetries *found, const char *expression)
{
    for (size_t i = 0; i < found->integral_count; i++)
        if (strcmp(found->integrals[i].expression, expression) == 0)
            return &found->integrals[i];
    return NULL;
}

typedef struct part_case {
    const char *text;       /* after coord x, y and their kinetic energy */
    const char *expression; /* of a first integral */
    const char *where;      /* NULL: not listed; "": everywhere */
} part_case;

static const part_case cases[] = {
    /* the run comes to x = 100 at t = 100/30 */
    {"potential max(0, x - 100)^2\ninitial x' = 30, y' = 1\nsimulate 0 .. 10", "x'", NULL},
    {"potential max(0, x - 100)^2\ninitial x' = 30, y' = 1\nsimulate 0 .. 10", "y'", ""},
    /* it does not: the other side is found by a search */
    {"potential max(0, x - 100)^2\ninitial x' = 1, y' = 1\nsimulate 0 .. 10", "x'", "x - 100 < 0"},
    {"potential max(0, x - 100)^2\ninitial x' = 1, y' = 1\nsimulate 0 .. 10", "y'", ""},
    {"potential max(0, 100 - x)^2\ninitial x = 200, x' = 1\nsimulate 0 .. 10", "x'", "100 - x < 0"},
    {"force x = if(t > 50, 1, 0)\ninitial x' = 1\nsimulate 0 .. 100", "x'", NULL},
    {"force x = if(t > 50, 1, 0)\ninitial x' = 1\nsimulate 0 .. 100", "y'", ""},
    {"force x = if(t > 50, 1, 0)\ninitial x' = 1\nsimulate 0 .. 10", "x'", "50 - t > 0"},
    {"input u = if(t > 50, 1, 0)\nforce x = u\ninitial x' = 1\nsimulate 0 .. 100", "x'", NULL},
    {"force x = if(x' > 20, -1, 0)\ninitial x' = 1\nsimulate 0 .. 3", "x'", "20 - x' > 0"},
    {"force x = if(x' > 20, -1, 0)\ninitial x' = 30\nsimulate 0 .. 3", "x'", NULL},
    {"force x = if(x > 60 and y > 60, 1, 0)\ninitial x' = 1\nsimulate 0 .. 3", "y'", ""},
    /* the same on both sides */
    {"potential abs(y)^3\ninitial y = 1, x' = 1\nsimulate 0 .. 5", "x'", ""},
    {"force y = -sign(y')\ninitial y' = 1, x' = 1\nsimulate 0 .. 5", "x'", ""},
    {"potential if(y < 5, y^2, 10*y - 25)\ninitial y = 1, x' = 1\nsimulate 0 .. 5", "x'", ""},
    /* an integral of no part */
    {"force x = 0.001*sin(x)\ninitial x' = 1\nsimulate 0 .. 5", "x'", NULL},
};

static void parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const part_case *c = &cases[i];
        char text[512];
        hm_symmetries *found;
        snprintf(text, sizeof text, "coord x, y\nkinetic (x'^2 + y'^2)/2\n%s", c->text);
        probe *p = probe_text(text);
        assert_int_equal(hm_symmetries_find(p->system, NULL, &found), HM_OK);
        const hm_integral *one = integral(found, c->expression);
        if (!!one != !!c->where)
            fail_msg("%s: %s is %slisted", c->text, c->expression, one ? "" : "not ");
        if (one && strcmp(one->where ? one->where : "", c->where) != 0)
            fail_msg("%s: %s where '%s'", c->text, c->expression, one->where ? one->where : "");
        hm_symmetries_destroy(found);
        probe_close(p);
    }
}

/* Energy: a force that works on one side only is found there. */
static void energies(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool conserved;
    } list[] = {
        {"force x = if(t > 50, 1, 0)\ninitial x' = 1\nsimulate 0 .. 100", false},
        {"force x = -max(0, x - 100)*x'\ninitial x' = 1\nsimulate 0 .. 10", false},
        {"dissipation if(x > 40, x'^2, 0)\ninitial x' = 1\nsimulate 0 .. 10", false},
        {"potential max(0, x - 100)^2\ninitial x' = 30\nsimulate 0 .. 10", true},
        {"potential abs(x)^1.5\ninitial x = 1\nsimulate 0 .. 10", true},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[512];
        hm_energy energy;
        snprintf(text, sizeof text, "coord x, y\nkinetic (x'^2 + y'^2)/2\n%s", list[i].text);
        probe *p = probe_text(text);
        assert_int_equal(hm_system_energy(p->system, &energy, NULL), HM_OK);
        if (!energy.defined || energy.conserved != list[i].conserved)
            fail_msg("%s: conserved %d", list[i].text, energy.conserved);
        probe_close(p);
    }
}

/* A run contradicts what a search near the initial state would accept: exp(0.1 th) is nearly a polynomial
 * there, and the numbers are rounded (0.1234567890123456789), so that zero is 2^-43. */
static void rounded_numbers(void **state)
{
    (void)state;
    static const char *const list[] = {
        "coord x, y, th\nkinetic (x'^2 + y'^2 + 0.1234567890123456789*th'^2)/2\n"
        "constraint c: y' = exp(0.1*th)*x'\ninitial th = 0.3, th' = 1, x' = 0.2\nsimulate 0 .. 5",
        "coord x, y, th\nkinetic exp(0.1*th)*(x'^2 + y'^2)/2 + 0.1234567890123456789*th'^2/2\n"
        "constraint c: y' = exp(0.1*th)*x'\ninitial th = 0.3, th' = 1, x' = 0.2\nsimulate 0 .. 5",
        "coord x, th\nkinetic x'^2/2 + exp(0.1*th)*th'^2/2\nforce x = "
        "0.1234567890123456789*sin(0.1*th)\n"
        "initial th' = 1, x' = 0.2\nsimulate 0 .. 5",
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        hm_symmetries *found;
        probe *p = probe_text(list[i]);
        assert_int_equal(hm_symmetries_find(p->system, NULL, &found), HM_OK);
        for (size_t k = 0; k < found->integral_count; k++)
            if (!found->integrals[k].checked || found->integrals[k].drift > 1e-8)
                fail_msg("%s: %s changes by %g", list[i], found->integrals[k].expression,
                         found->integrals[k].drift);
        hm_symmetries_destroy(found);
        probe_close(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(energies),
        cmocka_unit_test(rounded_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
