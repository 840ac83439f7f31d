/* Crossings by the thousand, in pairs as close as 1e-7 of a step; touches are said to be undecided.
 *
 * The motion is x = t, exact by every method. cos(w u + p) = c has its roots in pairs around the
 * extrema, and how close they are is chosen by c; products of (u - r) have those that are written.
 * Nothing of the search is used to say where roots are.
 *
 * HAMEL_CROSSINGS=1000000 build/release/test/physics/test_crossings   runs the large campaign. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPAN          10.0
#define CLOSEST       (1e-7 * SPAN) /* no step is longer than the run */
#define MOST_ROOTS    9000
#define FEW_CROSSINGS 12000

static const char *const methods[] = {"auto",   "rk5",      "dop853", "taylor", "radau",
                                      "rattle", "midpoint", "dla",    "cvode",  "ida"};
enum { METHODS = sizeof methods / sizeof *methods };

typedef struct campaign {
    random_source random;
    long wanted, crossings, runs;
    double closest; /* pair so far */
    double root[MOST_ROOTS];
    size_t count;
    double apart; /* of the pairs of the present function */
} campaign;

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Logarithmically uniform. */
static double any_size(campaign *c, double least, double most)
{
    return least * pow(most / least, random_between(&c->random, 0, 1));
}

static void make_wave(campaign *c, const char *u, char *text)
{
    double w = any_size(c, 1, 1000), p = random_between(&c->random, -3, 3);
    double level = cos(0.5 * w * any_size(c, CLOSEST, M_PI / w)), a = acos(level);
    double sign = random_between(&c->random, 0, 1) < 0.5 ? -1 : 1;
    sprintf(text, "cos(%.17g*%s + %.17g) - (%.17g)", w, u, p, sign * level);
    c->apart = fmin(2 * a, 2 * M_PI - 2 * a) / w;
    c->count = 0;
    for (long k = -2; k < 2 + (long)(w * SPAN / 6); k++)
        for (int side = -1; side <= 1; side += 2) {
            double t = (side * a + M_PI * (2 * (double)k + (sign < 0)) - p) / w;
            if (t > 0 && t < SPAN)
                c->root[c->count++] = t;
        }
    qsort(c->root, c->count, sizeof *c->root, ascending);
}

static void make_product(campaign *c, const char *u, char *text)
{
    int pairs = 1 + (int)random_between(&c->random, 0, 3);
    c->apart = INFINITY;
    c->count = 0;
    strcpy(text, "1");
    for (int i = 0; i < pairs; i++) { /* each in a third of its own */
        double r = SPAN / 3 * (i + random_between(&c->random, 0.05, 0.6));
        double apart = any_size(c, CLOSEST, 1);
        double next = r + apart;
        sprintf(text + strlen(text), "*(%s - %.17g)*(%s - %.17g)", u, r, u, next);
        c->root[c->count++] = r;
        c->root[c->count++] = next;
        c->apart = fmin(c->apart, next - r);
    }
}

static motion *open_with(const char *function, const char *method)
{
    static char text[4000];
    snprintf(text, sizeof text,
             "coord x; kinetic x'^2/2; initial x' = 1\nevent e: %s = 0 record\n"
             "simulate 0 .. %g every %g",
             function, SPAN, SPAN);
    motion *m = motion_text(text);
    m->options.method = method;
    m->options.rtol = 1e-13;
    m->options.atol = 1e-14;
    if (!strcmp(method, "midpoint") || !strcmp(method, "dla") || !strcmp(method, "rattle"))
        m->options.step = SPAN / 16;
    return m;
}

static void compare(campaign *c, const motion *m, const char *method, const char *function)
{
    const hm_run_result *result = &m->result;
    for (size_t i = 0; i < result->event_count && i < c->count; i++)
        if (!(fabs(result->events[i].t - c->root[i]) <= 0.3 * c->apart))
            fail_msg("%s: %s: root %zu of %zu at %.17g, found %.17g", method, function, i, c->count,
                     c->root[i], result->events[i].t);
    if (result->event_count != c->count)
        fail_msg("%s: %s: %zu roots, %zu found", method, function, c->count, result->event_count);
}

static void test_none_is_missed(void **state)
{
    (void)state;
    static campaign c = {.random = {1966}, .closest = INFINITY};
    static char function[2000];
    const char *size = getenv("HAMEL_CROSSINGS");
    for (c.wanted = size ? atol(size) : FEW_CROSSINGS; c.crossings < c.wanted; c.runs++) {
        const char *u = random_between(&c.random, 0, 1) < 0.5 ? "t" : "x";
        const char *method = methods[c.runs % METHODS];
        if (random_between(&c.random, 0, 1) < 0.5)
            make_wave(&c, u, function);
        else
            make_product(&c, u, function);
        motion *m = open_with(function, method);
        motion_must(m);
        compare(&c, m, method, function);
        c.crossings += (long)c.count;
        c.closest = fmin(c.closest, c.apart);
        motion_close(m);
    }
    printf("# %ld crossings in %ld runs, the closest pair %.2g apart: none missed\n", c.crossings,
           c.runs, c.closest);
}

/* Functions that come to zero within the error, or touch it: no event, and a warning. Those that stay
 * away by more than that: no event, and none. */
static void test_touches(void **state)
{
    (void)state;
    const struct {
        const char *function;
        bool undecided;
    } cases[] = {{"(x - 5)^2", true},         {"cos(x - 1) - 1", true},
                 {"abs(x - 5)", true},        {"(x - 5)^2 + 1e-30", false},
                 {"(x - 5)^2 + 1e-6", false}, {"cos(x) - 1.000001", false},
                 {"(x - 5)^4 + 0.001", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < METHODS; k++) {
            motion *m = open_with(cases[i].function, methods[k]);
            motion_must(m);
            bool said = motion_says(m, "whether it crosses or only touches is undecided");
            if (m->result.event_count != 0 || said != cases[i].undecided)
                fail_msg("%s: %s: %zu events, %s", methods[k], cases[i].function,
                         m->result.event_count, said ? "undecided" : "no warning");
            motion_close(m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_is_missed),
        cmocka_unit_test(test_touches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
