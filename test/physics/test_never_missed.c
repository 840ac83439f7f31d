/* No switch and no event is missed, by any method: motions and roots that are known in closed form.
 *
 * The motions are exact for every method or known to its tolerance (a free particle x = t, an
 * oscillator), the functions have roots that are known beforehand, and nothing of the program's own
 * search is used to say what they are. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROOTS 4000

static bool is_fixed(const char *method)
{
    return !strcmp(method, "midpoint") || !strcmp(method, "dla") || !strcmp(method, "rattle");
}

/* All of them. */
static const char *method_at(size_t k)
{
    static const char *const names[] = {"auto",     "rk5", "dop853", "taylor", "radau", "rattle",
                                        "midpoint", "dla", "cvode",  "ida",    NULL};
    return names[k];
}

enum { METHODS = 10 };

static motion *open_with(const char *text, const char *method)
{
    motion *m = motion_text(text);
    m->options.method = method;
    if (is_fixed(method))
        m->options.step = (m->options.end - m->options.start) / 64;
    return m;
}

static size_t count_events(const motion *m, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < m->result.event_count; i++)
        count += !strcmp(m->result.events[i].name, name);
    return count;
}

/* ---- the examples of the issue --------------------------------------------------------------- */

/* |cos 2t| > 0.9 for 6 acos(0.9) of 6 pi: x' = 10 times that. */
static void test_pulses(void **state)
{
    (void)state;
    for (size_t k = 0; method_at(k); k++) {
        motion *m = open_with("coord x; kinetic x'^2/2; force x = if(cos(2*t) > 0.9, 10, 0)\n"
                              "initial x' = 0; simulate 0 .. 6*pi every 0.5",
                              method_at(k));
        motion_must(m);
        check_number(method_at(k), motion_value(m, "x'"), 60 * acos(0.9),
                     is_fixed(method_at(k)) ? 1e-10 : 1e-7);
        motion_close(m);
    }
}

static void test_gate(void **state)
{
    (void)state;
    for (size_t k = 0; method_at(k); k++) {
        motion *m = open_with("coord x, y; kinetic (x'^2 + y'^2)/2; initial x' = 1\n"
                              "event gate: (x-5)^2 + y^2 = 0.01 stop\nsimulate 0 .. 10 every 1",
                              method_at(k));
        motion_must(m);
        assert_int_equal(m->result.status, HM_RUN_EVENT);
        check_number(method_at(k), m->result.t_end, 4.9, 1e-9);
        motion_close(m);
    }
}

/* cos t + 0.9999 is negative for 0.028 around each odd multiple of pi. */
static void test_shallow_dip(void **state)
{
    (void)state;
    for (size_t k = 0; method_at(k); k++) {
        if (is_fixed(method_at(k)))
            continue; /* their orbit differs by more than the depth of the dip */
        motion *m = open_with("coord x; kinetic x'^2/2; potential x^2/2; initial x = 1, x' = 0\n"
                              "event low: x = -0.9999 record\nsimulate 0 .. 6*pi every 1",
                              method_at(k));
        motion_must(m);
        assert_int_equal(count_events(m, "low"), 6);
        motion_close(m);
    }
}

static void test_fast_sine(void **state)
{
    (void)state;
    for (size_t k = 0; method_at(k); k++) {
        motion *m = open_with("coord x; kinetic x'^2/2; initial x = 0, x' = 1\n"
                              "event hit: sin(500*x) = 0 record\nsimulate 0 .. 10 every 1",
                              method_at(k));
        motion_must(m);
        assert_int_equal(count_events(m, "hit"), 1591);
        for (size_t i = 0; i < m->result.event_count; i++)
            check_number("t", m->result.events[i].t, (double)(i + 1) * M_PI / 500, 1e-9);
        motion_close(m);
    }
}

/* ---- random functions with known roots ------------------------------------------------------- */

typedef struct known {
    double t[MOST_ROOTS];
    size_t count;
} known;

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* prod (u - r_i) of u = t or of x = t, in pairs as close as 1e-5. */
static void add_product(random_source *random, const char *u, char *text, known *roots)
{
    int wanted = 1 + (int)random_between(random, 0, 6);
    strcpy(text, "1");
    roots->count = 0;
    while ((int)roots->count < wanted) {
        double r = roots->count && random_between(random, 0, 1) < 0.5
                       ? roots->t[roots->count - 1] + pow(10, random_between(random, -5, -1))
                       : random_between(random, 0.1, 9.8);
        bool apart = r < 9.9;
        for (size_t i = 0; i < roots->count; i++)
            apart = apart && fabs(r - roots->t[i]) >= 0.99e-5;
        if (!apart)
            continue;
        roots->t[roots->count++] = r;
        sprintf(text + strlen(text), "*(%s - %.17g)", u, r);
    }
}

/* cos(w u + p) - c */
static void add_wave(random_source *random, const char *u, char *text, known *roots)
{
    double w = pow(10, random_between(random, -0.3, 2)), p = random_between(random, -3, 3);
    double c = random_between(random, -1, 1), a = acos(c);
    sprintf(text, "cos(%.17g*%s + %.17g) - (%.17g)", w, u, p, c);
    roots->count = 0;
    for (int k = -2; k < 200; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double t = (sign * a + 2 * M_PI * k - p) / w;
            if (t > 0 && t < 10)
                roots->t[roots->count++] = t;
        }
}

/* A circle that the straight line x = t, y = y0 + b t meets twice or not at all. */
static void add_circle(random_source *random, char *text, known *roots)
{
    double x = random_between(random, 1, 9), r = pow(10, random_between(random, -2, -0.3));
    double y = r * random_between(random, -1.3, 1.3), d = r * r - y * y;
    sprintf(text, "(x - %.17g)^2 + (y - %.17g)^2 - %.17g", x, y, r * r);
    roots->count = 0;
    if (d > 0) {
        roots->t[roots->count++] = x - sqrt(d);
        roots->t[roots->count++] = x + sqrt(d);
    }
}

static void add_function(random_source *random, char *text, known *roots)
{
    const char *u = random_between(random, 0, 1) < 0.5 ? "t" : "x";
    double kind = random_between(random, 0, 3);
    if (kind < 1)
        add_product(random, u, text, roots);
    else if (kind < 2)
        add_wave(random, u, text, roots);
    else
        add_circle(random, text, roots);
    qsort(roots->t, roots->count, sizeof *roots->t, ascending);
}

static void compare_roots(const char *what, const motion *m, const known *roots)
{
    size_t i = 0;
    for (size_t e = 0; e < m->result.event_count; e++) {
        if (strcmp(m->result.events[e].name, "e") != 0)
            continue;
        if (i >= roots->count || fabs(m->result.events[e].t - roots->t[i]) > 1e-6)
            fail_msg("%s: event at %.17g, root %zu of %zu at %.17g", what, m->result.events[e].t, i,
                     roots->count, i < roots->count ? roots->t[i] : NAN);
        i++;
    }
    if (i != roots->count)
        fail_msg("%s: %zu events, %zu roots; the next at %.17g", what, i, roots->count,
                 roots->t[i]);
}

/* Recorded events on x = t, y = 0; a switch of the same function beside it makes a force on y that
 * does not move x. */
static void test_random_events(void **state)
{
    (void)state;
    random_source random = {2026};
    static known roots;
    static char g[2000], text[5000], what[6000];
    for (int i = 0; i < 1000; i++) {
        add_function(&random, g, &roots);
        snprintf(text, sizeof text,
                 "coord x, y; kinetic (x'^2 + y'^2)/2; initial x' = 1\nevent e: %s = 0 record\n"
                 "simulate 0 .. 10 every 5",
                 g);
        const char *method = method_at((size_t)i % METHODS);
        motion *m = open_with(text, method);
        motion_must(m);
        snprintf(what, sizeof what, "%s: %s", method, g);
        compare_roots(what, m, &roots);
        motion_close(m);
    }
}

/* z' = if(g > 0, 1, 0): the time for which g is positive, known from the roots. */
static void test_random_switches(void **state)
{
    (void)state;
    random_source random = {2027};
    static known roots;
    static char g[2000], text[5000], what[6000];
    for (int i = 0; i < 1200; i++) {
        add_function(&random, g, &roots);
        snprintf(text, sizeof text,
                 "coord x, y, w; kinetic (x'^2 + y'^2 + w'^2)/2; initial x' = 1\n"
                 "force w = if(%s > 0, 1, -1)\noutput side = %s\nsimulate 0 .. 10 every 5",
                 g, g);
        const char *method = method_at((size_t)i % METHODS);
        motion *m = open_with(text, method);
        hm_evaluation at;
        assert_int_equal(hm_sim_evaluate(m->sim, NULL, &at), HM_OK);
        double side = at.outputs[0] > 0 ? 1 : -1, speed = 0, before = 0;
        for (size_t k = 0; k < roots.count; k++, side = -side) {
            speed += side * (roots.t[k] - before);
            before = roots.t[k];
        }
        speed += side * (10 - before);
        motion_must(m);
        snprintf(what, sizeof what, "%s: %s", method, g);
        check_number(what, motion_value(m, "w'"), speed, 1e-5);
        motion_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pulses),        cmocka_unit_test(test_gate),
        cmocka_unit_test(test_shallow_dip),   cmocka_unit_test(test_fast_sine),
        cmocka_unit_test(test_random_events), cmocka_unit_test(test_random_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
