/* Inputs that depend on the motion, in constraints: the same motion as the constraint written out by hand,
 * to the last digits, by every method that takes it. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct twin {
    const char *head, *with, *by_hand;
} twin;

#define PLANE "coord x, y\nkinetic (x'^2 + y'^2)/2\n"

static const twin twins[] = {
    {PLANE "force y = -9.81\ninitial x = 0.3, x' = 0.4, y ~ 0\n",
     "input u = sin(3*x)\nconstraint y = u\n", "constraint y = sin(3*x)\n"},
    {PLANE "force x = 1\ninitial x = 0.3, y ~ 1\n",
     "input u = x^2*cos(t), w = t^2\nconstraint y = u*exp(-t) + w\n",
     "constraint y = x^2*cos(t)*exp(-t) + t^2\n"},
    {PLANE "force x = 1\ninitial x = 0.3, y ~ 1\n", "input u = x*y\nconstraint u + u^3 = 0.1 + t\n",
     "constraint x*y + (x*y)^3 = 0.1 + t\n"},
    /* velocities in the default raise the level */
    {PLANE "force x = 1 - x\ninitial x = 0.3, x' = 0.1, y ~ 1, y' ~ 0\n",
     "input u = x'\nconstraint y + t = u\n", "constraint y + t = x'\n"},
    {PLANE "force x = 1 - x\ninitial x = 0.3, x' = 0.1, y' ~ 1\n",
     "input u = x'^2 + x\nconstraint y' = u\n", "constraint y' = x'^2 + x\n"},
    /* primes of inputs */
    {PLANE "force x = 1 - x\ninitial x = 0.3, x' = 0.1, y' ~ 1\n",
     "input u = sin(x)\nconstraint y' = u'\n", "constraint y' = x'*cos(x)\n"},
    {PLANE "force x = 1 - x\ninitial x = 0.3, x' = 0.1\n", "input u = x^2\nconstraint y'' = u''\n",
     "constraint y'' = 2*x'^2 + 2*x*x''\n"},
    /* a state whose rate has velocities */
    {PLANE "state z' = x' - z\nforce x = 1\ninitial x = 0.3, x' = 0.1, y ~ 0\n",
     "input u = sin(z)\nconstraint y = u\n", "constraint y = sin(z)\n"},
    /* a servo */
    {PLANE "force x = -x\ninitial x = 1, y = 0\n",
     "input u = x^2\nservo s: y = u by y with gain 3\n", "servo s: y = x^2 by y with gain 3\n"},
    /* switches in positions (with two derivatives) and in velocities */
    {PLANE "force x = -4*x\ninitial x = 1, y ~ 0\n", "input u = max(0, x)^3\nconstraint y = u\n",
     "constraint y = max(0, x)^3\n"},
    {PLANE "force x = -4*x\ninitial x = 1, x' = 0, y ~ 0\n",
     "input u = if(x > 0, x^3, -x^4)\nconstraint y = u + t\n",
     "constraint y = if(x > 0, x^3, -x^4) + t\n"},
    {PLANE "force x = -4*x\ninitial x = 1, y' ~ 0\n", "input u = abs(x)*x\nconstraint y' = u'\n",
     "constraint y' = 2*abs(x)*x'\n"},
    {PLANE "force y = -1\ninitial x' = 1, y ~ 0\n",
     "input u = if(sin(5*x) > 0.2, 0, (sin(5*x) - 0.2)^3)\nconstraint y = u\n",
     "constraint y = if(sin(5*x) > 0.2, 0, (sin(5*x) - 0.2)^3)\n"},
};

static motion *open_twin(const twin *t, bool by_hand)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%ssimulate 0 .. 2 every 0.1\n", t->head,
             by_hand ? t->by_hand : t->with);
    return motion_text(text);
}

static void compare_runs(const twin *t, const char *method)
{
    static const char *const names[] = {"x", "y", "x'", "y'"};
    motion *a = open_twin(t, false), *b = open_twin(t, true);
    a->options.method = b->options.method = method;
    motion_run(a);
    motion_run(b);
    assert_int_equal(a->status, b->status);
    for (size_t k = 0; k < 4 && a->status == HM_OK; k++) {
        double found = motion_value(a, names[k]), wanted = motion_value(b, names[k]);
        if (!(fabs(found - wanted) <= 1e-9 * fmax(1, fabs(wanted))))
            fail_msg("%s%s: %s = %.17g, by hand %.17g", t->head, t->with, names[k], found, wanted);
    }
    motion_close(a);
    motion_close(b);
}

static void test_runs(void **state)
{
    (void)state;
    static const char *const methods[] = {HM_METHOD_AUTO, "rk5", "taylor", "radau"};
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++)
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
            compare_runs(&twins[i], methods[k]);
}

/* A and b are those of the row written out, at states off the constraint too. */
static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        motion *m[2] = {open_twin(&twins[i], false), open_twin(&twins[i], true)};
        hm_evaluation e[2];
        const double q[2] = {0.7, -0.4}, v[2] = {1.3, 0.2}, z[1] = {0.1};
        bool with_state = hm_model_state_count(m[0]->model) > 0;
        for (int k = 0; k < 2; k++) {
            hm_sim_set_state(m[k]->sim, 0.9, q, v, with_state ? z : NULL);
            assert_int_equal(hm_sim_evaluate(m[k]->sim, NULL, &e[k]), HM_OK);
        }
        for (size_t k = 0; k < 2; k++)
            if (!(fabs(e[0].qdd[k] - e[1].qdd[k]) <= 1e-12 * fmax(1, fabs(e[1].qdd[k]))))
                fail_msg("%s%s: q''[%zu] = %.17g, by hand %.17g", twins[i].head, twins[i].with, k,
                         e[0].qdd[k], e[1].qdd[k]);
        motion_close(m[0]);
        motion_close(m[1]);
    }
}

/* Such an input cannot be set; others, and those used on forces alone, can. */
static void test_setting(void **state)
{
    (void)state;
    motion *m = motion_text(PLANE
                            "input u = x^2, w = x^2, c = t\nconstraint y = u + c\nforce x = w\n");
    assert_int_equal(hm_sim_set_input(m->sim, 0, 1, 0, 0), HM_ERR_USAGE);
    assert_true(
        motion_says(m, "input 'u' cannot be set: its default depends on the motion and is part "
                       "of constraint 'c1'"));
    assert_int_equal(hm_sim_set_input(m->sim, 1, 1, 0, 0), HM_OK);
    assert_int_equal(hm_sim_set_input(m->sim, 2, 1, 0, 0), HM_OK);
    hm_ensemble_column column;
    assert_int_equal(hm_ensemble_find_column(m->context, m->model, "u", &column), HM_ERR_USAGE);
    double t, q[2], v[2], u[3];
    bool set[3] = {false};
    assert_int_equal(hm_model_read_state(m->context, m->model, "u = 2", &t, q, v, NULL, u, set),
                     HM_ERR_INPUT);
    assert_int_equal(hm_model_read_state(m->context, m->model, "w = 2", &t, q, v, NULL, u, set),
                     HM_OK);
    motion_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
