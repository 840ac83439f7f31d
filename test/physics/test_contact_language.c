/* The language reference on contacts, switching constraints and friction, sentence by sentence; and the same
 * motions in other units. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BLOCK                                                                                      \
    "param g = 10\n"                                                                               \
    "coord x, y\n"                                                                                 \
    "kinetic (x'^2 + y'^2)/2\n"                                                                    \
    "potential g*y\n"
#define FLOOR BLOCK "constraint c: y >= 0\n"

static motion *moved(const char *text)
{
    motion *m = motion_text(text);
    motion_must(m);
    return m;
}

static void close_to(const motion *m, const char *name, double expected, double tolerance)
{
    double value = motion_value(m, name);
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s = %.17g, expected %.17g", name, value, expected);
}

static void ends(const char *text, const char *name, double expected)
{
    motion *m = moved(text);
    close_to(m, name, expected, 1e-8);
    motion_close(m);
}

static void fails(const char *text, hm_status status, const char *says)
{
    motion *m = motion_text(text);
    assert_int_equal(motion_run(m), status);
    if (!motion_says(m, says))
        fail_msg("it does not say '%s' but '%s'", says, m->result.message);
    motion_close(m);
}

/* "for `<=` E2 - E1, so that lambda >= 0 pushes open, and Qi = A^T lambda" */
static void test_sign(void **state)
{
    (void)state;
    motion *m = motion_text(BLOCK
                            "constraint c: y <= 1\nforce y = 30\ninitial y = 1\nsimulate 0 .. 1");
    hm_evaluation e;
    assert_int_equal(hm_sim_make_consistent(m->sim, false, NULL, NULL), HM_OK);
    assert_int_equal(hm_sim_evaluate(m->sim, NULL, &e), HM_OK);
    assert_true(fabs(e.lambda[0] - 20) < 1e-12 && fabs(e.Qi[1] + 20) < 1e-12);
    assert_int_equal(e.contact_count, 1);
    assert_int_equal(e.contacts[0].state, HM_CONTACT_STATE_CLOSED);
    assert_true(fabs(e.contacts[0].force - 20) < 1e-12);
    motion_close(m);
}

/* "vectors expand, e is a scalar or of their size" */
static void test_vector(void **state)
{
    (void)state;
    const char *corner = BLOCK "constraint c: [x, y] >= [0, 0] restitution [1, 0.5]\n"
                               "initial x = 1, y = 1, x' = -4, y' = -4\nsimulate 0 .. 0.4";
    ends(corner, "x", 0.6);
    ends(corner, "y", 3 * 0.2 - 5 * 0.04);
}

/* "An impact happens when a closed row has u- < 0 (also at the start, after `set` or `when`)" */
static void test_impact_after_set(void **state)
{
    (void)state;
    motion *m = moved(FLOOR "initial y = 0\nevent e: t - 0.5 = 0 set y' = -2\nsimulate 0 .. 0.6");
    close_to(m, "y", 0, 1e-12);
    assert_int_equal(m->result.impact_count, 1);
    motion_close(m);
    m = moved(BLOCK "constraint c: y >= 0 restitution 0.5\ninitial y = 0\n"
                    "event e: t - 0.5 = 0 set y' = -2\nsimulate 0 .. 0.6");
    close_to(m, "y", 0.1 - 0.05, 1e-9);
    assert_true(fabs(m->result.impacts[0].energy_lost - 1.5) < 1e-12);
    assert_int_equal(m->result.warning_count, 0);
    motion_close(m);
    ends(FLOOR "initial y = 0\nevent e: t - 0.5 = 0 set y' = 2\nsimulate 0 .. 0.6", "y",
         0.2 - 0.05);
}

/* "When it becomes true the velocities are brought onto it by the impact law above"; of states and inputs */
static void test_when(void **state)
{
    (void)state;
    motion *m = moved(BLOCK "state z' = 1\ninput u = 0.2\nconstraint c: x' = 0 when z > 0.3 + u\n"
                            "constraint k: y = 0\ninitial x' = 1\nsimulate 0 .. 1");
    close_to(m, "x", 0.5, 1e-9);
    assert_int_equal(m->result.impact_count, 1);
    assert_true(fabs(m->result.impacts[0].energy_lost - 0.5) < 1e-9);
    motion_close(m);
    ends(BLOCK "constraint c: x' = 0 when t > 0.3 and t < 0.5\nconstraint k: y = 0\nforce x = 1\n"
               "initial x' = 1\nsimulate 0 .. 1",
         "x'", 0.5);
}

/* "u includes the partial derivative by t; servos give no impulse" */
static void test_driven_and_servo(void **state)
{
    (void)state;
    ends("coord x\nkinetic x'^2/2\nconstraint c: x >= -1 + t restitution 1\n"
         "initial x = 0, x' = -1\nsimulate 0 .. 1",
         "x'", 3);
    ends(BLOCK "constraint c: y >= 0 restitution 0.5\nservo s: x = 0 by x with gain 5\n"
               "initial y = 0.2, x = 1, x' = 0\nsimulate 0 .. 0.4",
         "x", (1 + 5 * 0.4) * exp(-5 * 0.4));
}

/* "On velocities: psi >= 0, lambda >= 0": bodies that come together, and are let go. */
static void test_velocity_row(void **state)
{
    (void)state;
    ends("coord a, b\nkinetic (a'^2 + b'^2)/2\nconstraint c: a' >= b'\nforce b = 1\n"
         "initial a' = 0, b' = 1\nsimulate 0 .. 1",
         "a'", 1);
    ends("coord a, b\nkinetic (a'^2 + b'^2)/2\nconstraint c: a' >= b'\nforce b = 1 - 2*t\n"
         "initial a' = 1, b' = 1\nsimulate 0 .. 1",
         "b'", 1 + 0.125 - 0.25);
}

/* "0 <= muk <= mus; they may depend on q, q', t": looked at where friction acts. */
static void test_coefficients(void **state)
{
    (void)state;
    fails(FLOOR "friction f: x' on c with 0.3, 0.2 + t\ninitial y = 0, x' = 3\nsimulate 0 .. 1",
          HM_ERR_UNDETERMINED, "friction of sliding is larger than that of sticking here ('c')");
    fails(FLOOR "friction f: x' on c with 0.3 - t\ninitial y = 0, x' = 3\nsimulate 0 .. 1",
          HM_ERR_UNDETERMINED, "a coefficient of friction is negative here");
    ends(FLOOR "friction f: x' on c with 0.1*(1 + x)\ninitial y = 0, x' = 3\nsimulate 0 .. 1", "x'",
         -sin(1) + 3 * cos(1)); /* x'' = -(1 + x) */
}

/* "Where N is not unique, friction is refused naming the rows, unless q'' is the same for every choice." */
static void test_not_unique(void **state)
{
    (void)state;
    const char *legs =
        "param g = 10\ncoord x, y, a\nkinetic (x'^2 + y'^2 + a'^2)/2\npotential g*y\n"
        "constraint p: y + a >= 0\nconstraint q: y - a >= 0\nconstraint r: y >= 0\n"
        "friction f: x' on r with 0.3\n%sinitial y = 0, x' = %s\nsimulate 0 .. 1";
    char text[800];
    snprintf(text, sizeof text, legs, "", "3");
    fails(text, HM_ERR_UNDETERMINED, "'p', 'q', 'r'");
    snprintf(text, sizeof text, legs,
             "friction f1: x' on p with 0.3\nfriction f2: x' on q with 0.3\n", "3.5");
    ends(text, "x'", 0.5);
    snprintf(text, sizeof text, legs, "", "0"); /* it sticks, whatever presses */
    ends(text, "x'", 0);
    fails(BLOCK "constraint p: y = 0\nconstraint q: 2*y = 0\nfriction f: x' on p with 0.3\n"
                "initial y = 0, x' = 3\nsimulate 0 .. 1",
          HM_ERR_UNDETERMINED, "friction depends on forces of contacts that are not unique ('p')");
}

/* "sticking has priority whenever a force of at most mus N (all sticking contacts together) does it": a box on
 * a slope, whose upper edge hardly presses: its share of the friction is what it can take. */
static void test_sticking_together(void **state)
{
    (void)state;
    const char *box = "param g = 10, w = 0.2, h = 0.19, s = 1, mu = 1.05\ncoord x, y, a\n"
                      "kinetic (x'^2 + y'^2)/2 + 0.05*a'^2\n"
                      "potential g*(y*cos(s*pi/4) + x*sin(s*pi/4))\n"
                      "let l = [x - w*cos(a) + h*sin(a), y - w*sin(a) - h*cos(a)]\n"
                      "let r = [x + w*cos(a) + h*sin(a), y + w*sin(a) - h*cos(a)]\n"
                      "constraint low: l[2] >= 0\nconstraint high: r[2] >= 0\n"
                      "friction f: l[1]' on low with mu\nfriction k: r[1]' on high with mu\n"
                      "initial y = h\nsimulate 0 .. 1";
    motion *m = moved(box);
    close_to(m, "x", 0, 1e-12);
    close_to(m, "a", 0, 1e-12);
    assert_true(m->result.steps < 60);
    motion_close(m);
}

/* "Newton's restitution with friction can raise the energy: such an impact warns with time, names and amount."
 * The double pendulum of Kane and Levinson 1985, angles of 20 and 30 degrees. */
static void test_gain(void **state)
{
    (void)state;
    motion *m = moved("param e = 0.5, mu = 0.5, a0 = 0.349, b0 = 0.524\ncoord a, b\n"
                      "let c1 = 0.5*[sin(a), -cos(a)]\n"
                      "let c2 = [sin(a) + 0.5*sin(b), -cos(a) - 0.5*cos(b)]\n"
                      "let tip = [sin(a) + sin(b), -cos(a) - cos(b)]\n"
                      "kinetic dot(c1', c1')/2 + a'^2/24 + dot(c2', c2')/2 + b'^2/24\n"
                      "constraint c: tip[2] >= -cos(a0) - cos(b0) restitution e\n"
                      "friction f: tip[1]' on c with mu\n"
                      "initial a = a0, b = b0, a' = -0.1, b' = -0.2\nsimulate 0 .. 0.001");
    assert_true(m->result.impacts[0].energy_lost < -0.01);
    assert_true(motion_says(m, "the impact at t = 0 of 'c' raises the energy by 0.0134"));
    motion_close(m);
}

/* ---- other units ---- */

/* A parameter with its powers of length, mass and time. */
typedef struct quantity {
    const char *name;
    double value;
    int length, mass, time;
} quantity;

typedef struct scaled {
    const char *path;
    quantity of[8];
    double end;
    const char *coordinate; /* a length */
    double tolerance;
} scaled;

static double end_of(const scaled *s, const double *unit, size_t *impacts)
{
    hm_override overrides[8];
    char text[8][40];
    size_t count = 0;
    for (; count < 8 && s->of[count].name; count++) {
        const quantity *q = &s->of[count];
        snprintf(text[count], sizeof text[count], "%.17g",
                 q->value * pow(unit[0], q->length) * pow(unit[1], q->mass) *
                     pow(unit[2], q->time));
        overrides[count] = (hm_override){q->name, text[count]};
    }
    motion *m = motion_file(s->path, overrides, count);
    m->options.end = s->end * unit[2];
    motion_must(m);
    double x = motion_value(m, s->coordinate) / unit[0];
    *impacts = m->result.impact_count + 1000 * m->result.accumulation_count;
    motion_close(m);
    return x;
}

static void test_units(void **state)
{
    (void)state;
    static const scaled models[] = {
        {"examples/tipping-box.hamel",
         {{"m", 1, 0, 1, 0},
          {"w", 0.2, 1, 0, 0},
          {"h", 0.3, 1, 0, 0},
          {"g", 9.81, 1, 0, -2},
          {"mu", 0.8, 0, 0, 0},
          {"v", 1, 1, 0, -1}},
         2,
         "x",
         1e-9},
        {"examples/billiard-spin.hamel",
         {{"m", 0.2, 0, 1, 0},
          {"r", 0.03, 1, 0, 0},
          {"g", 9.81, 1, 0, -2},
          {"v0", 1, 1, 0, -1},
          {"w0", 20, 0, 0, -1}},
         2,
         "y",
         1e-9},
        {"examples/stick-slip.hamel",
         {{"m", 1, 0, 1, 0}, {"k", 4, 0, 1, -2}, {"g", 10, 1, 0, -2}, {"v", 0.5, 1, 0, -1}},
         20,
         "x",
         1e-6},
        {"examples/rope.hamel",
         {{"m", 1, 0, 1, 0}, {"g", 9.81, 1, 0, -2}, {"l", 1, 1, 0, 0}, {"x0", 0.6, 1, 0, 0}},
         3,
         "x",
         1e-7}};
    static const double units[][3] = {{1e-6, 1, 1}, {1e6, 1, 1}, {1, 1e-6, 1},    {1, 1e6, 1},
                                      {1, 1, 1e-3}, {1, 1, 1e3}, {1e-6, 1e6, 1e3}};
    static const double one[3] = {1, 1, 1};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        size_t impacts, others;
        double x = end_of(&models[i], one, &impacts);
        for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
            double other = end_of(&models[i], units[k], &others);
            if (!(fabs(other - x) <= models[i].tolerance) || others != impacts)
                fail_msg("%s in units %zu: %.15g, %zu impacts; else %.15g, %zu", models[i].path, k,
                         other, others, x, impacts);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sign),
        cmocka_unit_test(test_vector),
        cmocka_unit_test(test_impact_after_set),
        cmocka_unit_test(test_when),
        cmocka_unit_test(test_driven_and_servo),
        cmocka_unit_test(test_velocity_row),
        cmocka_unit_test(test_coefficients),
        cmocka_unit_test(test_not_unique),
        cmocka_unit_test(test_sticking_together),
        cmocka_unit_test(test_gain),
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
