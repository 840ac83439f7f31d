/* Redundant rows of which other ones are independent as the motion goes on (integrate/rank/row_choice.c):
 * every adaptive method goes on as it would with independent rows, without a word of ranks, and forces
 * and outputs have values at all times.
 *
 * HAMEL_TURNING_CASES sets how many random sets are run (default 300, 20 in the sanitized build). */
#include "base/random.h"
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>

static const char *const methods[] = {"dop853", "taylor", "radau", "rk5", "cvode"};
enum { METHODS = sizeof methods / sizeof *methods };
/* cvode controls its local error only, and takes many more steps. */
static const double tolerances[METHODS] = {1e-7, 1e-7, 1e-6, 1e-6, 3e-4};

static void must_be_silent(const motion *m)
{
    assert_false(motion_says(m, "lost rank"));
    assert_false(motion_says(m, "lose rank"));
    assert_false(motion_says(m, "loss of rank"));
    assert_false(motion_says(m, "cannot be evaluated"));
    assert_true(motion_violation(m) < 1e-9);
}

/* Frames with forces and outputs: all of them have values. */
static bool look_at_frame(void *user, const hm_frame *frame)
{
    long *frames = user;
    assert_non_null(frame->lambda);
    assert_true(!frame->outputs || isfinite(frame->outputs[0]));
    ++*frames;
    return true;
}

/* ---- a ball in a cylinder ---- */

/* P' + omega x a n = 0: two of the three rows are one row times the sine and the cosine of th. The ball
 * goes round at a constant rate and up and down with sqrt(2/7) of it [Routh 1905]. */
#define BALL(frame, coordinates)                                                                   \
    "param m = 1, a = 0.2, b = 1, g = 9.81\n"                                                      \
    "coord th, z, " coordinates "\n"                                                               \
    "let n = [cos(th), sin(th), 0]; let P = [(b - a)*cos(th), (b - a)*sin(th), z]\n"               \
    "let R = " frame "; let J = 0.4*m*a^2\n"                                                       \
    "body ball { mass m inertia diag(J, J, J) at P frame R }; gravity [0, 0, -g]\n"                \
    "constraint roll: P' + cross(omega(R), a*n) = 0\n"                                             \
    "output side = cos(th)\n"                                                                      \
    "simulate 0 .. 4 every 0.1\n"

static void check_ball(const char *text, int k)
{
    long frames = 0;
    motion *m = motion_text(text);
    m->options.method = methods[k];
    m->options.rtol = 1e-10;
    m->options.atol = 1e-12;
    m->options.on_frame = look_at_frame;
    m->options.user = &frames;
    m->options.content = HM_FRAME_CONTENT_FORCES;
    motion_must(m);
    /* z'' = -5 g/7 - (2/7) th'^2 z from z = z' = 0 without spin about n */
    double rate = 3, w = sqrt(2.0 / 7) * rate, middle = -5 * 9.81 / 7 / (w * w);
    check_number("angle", motion_value(m, "th"), 0.3 + rate * 4, 10 * tolerances[k]);
    check_number("height", motion_value(m, "z"), middle * (1 - cos(w * 4)), 10 * tolerances[k]);
    must_be_silent(m);
    assert_true(frames >= 41);
    motion_close(m);
}

static void ball_in_a_cylinder(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++)
        check_ball(BALL("quat(e0, e1, e2, e3)",
                        "e0, e1, e2, e3") "initial th = 0.3, th' = 3, z = 0, z' = 0",
                   k);
}

/* ---- many rows ---- */

/* Against the same mechanism in angles: test_redundant.c. */
static void bricard_of_free_bodies(void **state)
{
    (void)state;
    motion *angles = motion_file("examples/bricard.hamel", NULL, 0);
    angles->options.end = 2;
    angles->options.rtol = 1e-12;
    motion_must(angles);
    for (int k = 0; k < 3; k++) { /* dop853, taylor, radau */
        long frames = 0;
        motion *m = motion_file("test/physics/models/bricard-bodies.hamel", NULL, 0);
        m->options.method = methods[k];
        m->options.end = 2;
        m->options.on_frame = look_at_frame;
        m->options.user = &frames;
        m->options.content = HM_FRAME_CONTENT_FORCES;
        motion_must(m);
        check_number("height", motion_value(m, "z2"), 0.5 * sin(motion_value(angles, "q[2]")),
                     tolerances[k]);
        must_be_silent(m);
        assert_true(frames >= 41);
        motion_close(m);
    }
    motion_close(angles);
}

/* ---- random sets ---- */

static long cases(void)
{
    const char *wanted = getenv("HAMEL_TURNING_CASES");
#ifdef HAMEL_SANITIZE
    return wanted ? atol(wanted) : 20;
#else
    return wanted ? atol(wanted) : 300;
#endif
}

typedef struct set {
    char plain[2000], turning[4000];
} set;

/* Two constraints f and g of a sleigh on which a particle hangs: f of velocity level (a blade), g of
 * position level (a rod) or of velocity level (a wheel that rolls off with the path). Instead of them:
 * products with the sine and the cosine of an angle that grows, and mixtures, three to five in all. */
static void write_set(hmi_random *random, set *s)
{
    double c[8];
    for (int i = 0; i < 8; i++)
        c[i] = hmi_random_between(random, 0.3, 1.5);
    bool rod = hmi_random_between(random, 0, 1) < 0.5,
         mixed = hmi_random_between(random, 0, 1) < 0.5;
    char common[1200];
    snprintf(common, sizeof common,
             "coord x, y, th, u, w; let f = y'*cos(th) - x'*sin(th)\n"
             "kinetic (x'^2 + y'^2)/2 + %.17g*th'*(y'*cos(th) - x'*sin(th)) + %.17g*th'^2/2\n"
             "kinetic (u'^2 + w'^2)*%.17g/2; potential 9.81*w; force th = %.17g\n"
             "let g = %s\nlet s = %.17g*th + %.17g\n"
             "initial x = 0, y = 0, th = 0.2, th' = %.17g, x' ~ 1, y' ~ 0.2\n"
             "initial u ~ 1, w ~ -0.3, u' ~ 0.5, w' ~ 0\noutput path = x + y\nsimulate 0 .. 3\n",
             0.3 * c[0], 0.5 + c[1], c[2], 0.2 * c[3],
             rod ? "u^2 + w^2 - 1" : "u' - 0.7*th' - w'*w", 1 + c[4], 3 * c[5], 2 * c[6]);
    snprintf(s->plain, sizeof s->plain, "%sconstraint a: f = 0; constraint b: g = 0\n", common);
    /* products keep the levels apart: f and g are not mixed where g is of position level */
    snprintf(s->turning, sizeof s->turning,
             "%sconstraint a1: sin(s)*f = 0; constraint a2: cos(s)*f = 0\n"
             "constraint b1: sin(%.17g*s)*g = 0; constraint b2: cos(%.17g*s)*g = 0\n%s",
             common, c[7], c[7],
             mixed && !rod ? "constraint ab: sin(2*s)*f + cos(3*s)*g = 0\n"
             : mixed       ? "constraint bb: sin(2*s)*g = 0\n"
                           : "");
}

static void check_set(const set *s, int k)
{
    motion *plain = motion_text(s->plain), *m = motion_text(s->turning);
    plain->options.rtol = 1e-11;
    plain->options.atol = 1e-13;
    motion_must(plain);
    m->options.method = methods[k];
    m->options.rtol = 1e-9;
    motion_must(m);
    static const char *const names[] = {"x", "y", "th", "u", "w", "th'", "w'"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double value = motion_value(plain, names[i]);
        check_number(names[i], motion_value(m, names[i]), value, 10 * tolerances[k]);
    }
    must_be_silent(m);
    motion_close(m);
    motion_close(plain);
}

static void random_sets(void **state)
{
    (void)state;
    hmi_random random = {5};
    set s;
    long count = cases();
    for (long i = 0; i < count; i++) {
        write_set(&random, &s);
        print_message("set %ld, %s\n", i, methods[i % METHODS]);
        check_set(&s, (int)(i % METHODS));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball_in_a_cylinder),
        cmocka_unit_test(bricard_of_free_bodies),
        cmocka_unit_test(random_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
