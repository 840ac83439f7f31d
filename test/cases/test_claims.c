/* Claims that are false by a little, or in disguise: a false "yes" fails, "unknown" passes. Every truth is
 * elementary: a force that works changes the energy however small it is, |x|^p with p < 1 is not Lipschitz,
 * and f(y) x' - z' is integrable only where f is constant. */
#include "support/check.h"
#include "support/probe.h"

#include <hamel/hamel.h>

#include <stdio.h>
#include <string.h>

typedef struct claim {
    const char *text;
    bool truth;
} claim;

#define COUNT(list) (sizeof(list) / sizeof *(list))

static probe *open_claim(const claim *c, const char *before)
{
    char text[600];
    snprintf(text, sizeof text, "%s%s\nsimulate 0 .. 2\n", before, c->text);
    return probe_text(text);
}

static const char plane[] = "coord x, y\nkinetic (x'^2 + y'^2)/2\n";
static const char space[] =
    "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\ninitial x = 1, y = 0.5, "
    "x' = 1\n";

/* ---- is T + V conserved? ---- */

static const claim energies[] = {
    {"potential x^2\ndissipation 1e-12*x'^2\ninitial x = 1, x' = 0.3", false},
    {"potential x^2\nforce x = -1e-12*x'\ninitial x = 1, x' = 0.3", false},
    {"potential 1e9*x^2\nforce x = -1e-3*x'\ninitial x = 1, x' = 0.3", false},
    {"potential 1e9*x^2\ndissipation 1e-9*x'^2\ninitial x = 1", false},
    {"potential x^2\nforce x = 1e-11*sin(t)\ninitial x = 1", false},
    {"potential x^2*(1 + 1e-11*t)\ninitial x = 1", false},
    {"potential x^2\nforce x = -1e-10*x'^3*exp(x)\ninitial x = 1, y = 2", false},
    {"potential 9.81*y\nforce y = -1e-11*y'\ninitial x' = 3", false},
    {"potential sqrt(2)*x^2\nforce x = -1e-17*x'\ninitial x = 1", false},
    {"force x = y' - 1e-12*x'; force y = -x'\ninitial x = 1, x' = 1", false},
    {"force x = 1e-10*y; force y = -1e-10*x\ninitial x = 1, y = 0.3, x' = 1", false},
    {"force x = -exp(-(x - 1000)^2)*x'\ninitial x' = 1", false},
    {"potential x^2\nforce x = 1e9*y'; force y = -1e9*x'\ninitial x = 1, x' = 1", true},
    {"force x = 1e-9*y'; force y = -1e-9*x'\ninitial x = 1, x' = 1", true},
    {"potential exp(-1/(x^2 + 0.01))\ninitial x = 1, x' = 1", true},
};

static void small_changes_of_the_energy(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(energies); i++) {
        hm_energy energy;
        probe *p = open_claim(&energies[i], plane);
        assert_int_equal(hm_system_energy(p->system, &energy, NULL), HM_OK);
        if (energy.conserved != energies[i].truth)
            fail_msg("%s: conserved %d", energies[i].text, energy.conserved);
        assert_true(!energy.conserved || energy.bits > 30);
        hm_ledger s = energy.share;
        assert_true(energy.conserved || s.impressed + s.dissipation + s.explicit_time > 0);
        probe_close(p);
    }
}

/* ---- is x' conserved everywhere, or anything with the energy? ---- */

static const char *const forces[] = {
    "force x = -1e-12*x'\ninitial x' = 1",
    "force x = 1e-13*sin(x)\ninitial x' = 1",
    "force x = 1e-12*sin(t)\ninitial x' = 1",
    "force x = 1e-200\ninitial x' = 1",
    "potential 1e-18*x\ninitial x' = 1",
    "potential 1e-9*x*y\ninitial x' = 1, y = 1",
    "force x = exp(-(x - 50)^2)\ninitial x' = 1",
    "force x = exp(-(x - 1000)^2)*x'\ninitial x' = 1",
    "force x = exp(-1e4*(x - 5)^2)\ninitial x' = 1",
    "force x = max(0, sin(x) - 0.999999)\ninitial x' = 1",
    "potential max(0, x - 30)^3\ninitial x' = 1",
};

static void small_forces(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(forces); i++) {
        const claim c = {forces[i], false};
        hm_symmetries *found;
        probe *p = open_claim(&c, plane);
        assert_int_equal(hm_symmetries_find(p->system, NULL, &found), HM_OK);
        for (size_t k = 0; k < found->integral_count; k++) {
            const hm_integral *one = &found->integrals[k];
            if (!one->where && strcmp(one->expression, "x'") == 0)
                fail_msg("%s: x' is listed", forces[i]);
            if (strstr(one->expression, "*x' + x'^2/2"))
                fail_msg("%s: %s is listed", forces[i], one->expression);
        }
        for (size_t k = 0; k < found->symmetry_count; k++) {
            const hm_symmetry *one = &found->symmetries[k];
            if (!one->where && one->conserved == HM_ANSWER_YES && strcmp(one->momentum, "x'") == 0)
                fail_msg("%s: J = x' is conserved", forces[i]);
        }
        hm_symmetries_destroy(found);
        probe_close(p);
    }
}

/* ---- one motion? ---- */

static const claim right_hand_sides[] = {
    {"force x = abs(x)^0.9", false},
    {"force x = sign(x)*abs(x)^0.99", false},
    {"force x = max(0, x)^0.999", false},
    {"force x = (x^2)^0.25", false},
    {"force x = (x^4)^0.2", false},
    {"force x = sqrt(x^2 + y^2)^0.5", false},
    {"force x = sqrt(sqrt(x^2 + y^2))", false},
    {"force x = (x^2 + y^2)^0.25", false},
    {"force x = 1e-9*sqrt(abs(x))", false},
    {"force x = sqrt(abs(x'))", false},
    {"force x = sqrt(abs(x - y))", false},
    {"force x = abs(sin(x))^0.5", false},
    {"force x = asin(1 - abs(x))", false},
    {"force x = sqrt(sqrt(x^2 + y^2))\ninitial x = -1, x' = 1", false},
    {"force x = sqrt(x^2)", true},
    {"force x = abs(x)^1.5", true},
    {"force x = 1e9*abs(x)", true},
    {"force x = abs(x)^1.0001", true},
    {"force x = exp(-1/(x^2 + 1e-300))", true},
    {"force x = sqrt(x^2 + y^2)", true},
};

/* "No" may be said of what is well posed; it is not for these. */
static void disguised_roots(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(right_hand_sides); i++) {
        hm_analysis *a;
        probe *p = open_claim(&right_hand_sides[i], plane);
        assert_int_equal(hm_system_analyse(p->context, p->system, &a), HM_OK);
        const hm_wellposedness *w = &a->wellposedness;
        if ((w->wellposed && !w->lipschitz_lost) != right_hand_sides[i].truth)
            fail_msg("%s: well posed %d", right_hand_sides[i].text, w->wellposed);
        hm_analysis_destroy(a);
        probe_close(p);
    }
}

/* ---- integrable? ---- */

static const claim constraints[] = {
    {"constraint c: z' = 1e-9*y*x'", false},
    {"constraint c: z' = x' + 1e-12*y*x'", false},
    {"constraint c: 1e9*z' = 1e-9*y*x'", false},
    {"constraint c: z' = y*x' + (1 + 1e-13)*x*y'", false},
    {"constraint c: z' = y*x' + x*y' + 1e-15*t*x'", false},
    {"constraint c: z' = x'*cos(1e-9*y)", false},
    {"constraint c: 1e-9*(z' - x'*cos(y)) = 0", false},
    {"constraint c: z' = exp(-(x - 30)^2)*y'", false},
    {"constraint c: z' = if(x > 50, y, 0)*x'", false},
    {"constraint c: z' = max(0, x - 50)*y'", false},
    {"constraint c: z' = y*x' + x*y'", true},
    {"constraint c: 1e9*z' = 1e-9*(y*x' + x*y')", true},
};

static void nearly_integrable(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(constraints); i++) {
        hm_analysis *a;
        probe *p = open_claim(&constraints[i], space);
        assert_int_equal(hm_system_analyse(p->context, p->system, &a), HM_OK);
        hm_class kind = a->constraints[0].kind;
        bool integrable = kind != HM_CLASS_NONHOLONOMIC && kind != HM_CLASS_UNCLASSIFIED;
        if (integrable != constraints[i].truth)
            fail_msg("%s: %s", constraints[i].text, hm_class_text(kind));
        hm_analysis_destroy(a);
        probe_close(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_changes_of_the_energy),
        cmocka_unit_test(small_forces),
        cmocka_unit_test(disguised_roots),
        cmocka_unit_test(nearly_integrable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
