/* Runs against an implementation that shares nothing with this one: `hamel derive --format json` prints the equations,
 * support/reference.h reads and integrates them its own way (Runge and Kutta with small fixed steps; switches and
 * events by bisection), and compares the end of `hamel run`, by several methods. Accelerations of `hamel eval` at the
 * start and at the end are compared with 256-bit ball arithmetic. */
#include "support/check.h"
#include "support/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the command ---- */

static json_t *ask(const char *arguments)
{
    char command[3000];
    json_error_t error;
    snprintf(command, sizeof command, "%s %s 2>/dev/null", HAMEL_TOOL, arguments);
    FILE *pipe = popen(command, "r");
    json_t *root = pipe ? json_loadf(pipe, 0, &error) : NULL;
    if (pipe)
        pclose(pipe);
    if (!root)
        fail_msg("no answer: %s", command);
    return root;
}

/* ---- cases ---- */

typedef struct scenario {
    const char *name, *text; /* text NULL: the example of that name */
    double end;
    const char *methods;  /* between spaces */
    const char *g, *sets; /* an event: what it sets; NULL: it stops */
    int direction;
    double tolerance; /* 0: 1e-8 */
} scenario;

#define ALL "dop853 taylor radau rk5"

static const scenario scenarios[] = {
    {.name = "skate", .end = 2, .methods = "dop853 taylor"},
    {.name = "chaplygin-sleigh", .end = 2, .methods = "dop853"},
    {.name = "rolling-disc", .end = 1, .methods = "dop853 taylor"},
    {.name = "coin", .end = 2, .methods = "dop853"},
    {.name = "double-pendulum", .end = 1, .methods = "dop853 radau"},
    {.name = "pendulum-redundant", .end = 1, .methods = "dop853 taylor"},
    {.name = "foucault", .end = 2, .methods = "dop853"},
    {.name = "four-bar", .end = 0.5, .methods = "dop853 taylor"},
    {.name = "slider-crank", .end = 0.3, .methods = "dop853"},
    {.name = "heavy-top", .end = 0.2, .methods = "taylor"},
    {.name = "heavy-top-quaternion", .end = 0.3, .methods = "dop853"},
    {.name = "spherical-pendulum", .end = 1, .methods = "dop853"},
    {.name = "turntable", .end = 2, .methods = "dop853"},
    {.name = "snakeboard", .end = 1, .methods = "dop853 taylor"},
    {.name = "appell", .end = 0.5, .methods = "dop853"},
    {.name = "knife-edge", .end = 2, .methods = "taylor"},
    {.name = "isokinetic", .end = 1, .methods = "dop853"},
    {.name = "charged-particle", .end = 1, .methods = "dop853"},
    {.name = "rattleback", .end = 0.5, .methods = "dop853"},
    {.name = "time window",
     .text = "coord x; kinetic x'^2/2; force x = if(cos(2*t) > 0.9, 10, 0) - 0.1*x'",
     .end = 10,
     .methods = ALL},
    {.name = "spring with play",
     .text = "coord x; kinetic x'^2/2; potential 20*max(0, abs(x) - 0.5)^2; initial x' = 1.3\n"
             "force x = 0.4*cos(t)",
     .end = 6,
     .methods = ALL},
    {.name = "hertz on a skate",
     .text = "coord x, y, th; kinetic (x'^2 + y'^2 + th'^2)/2; potential 0.2*x\n"
             "force x = -50*max(0, x - 1)^1.5; constraint blade: y'*cos(th) = x'*sin(th)\n"
             "initial x' = 1, th = 0.3, th' = 0.4, y' ~ 0.3",
     .end = 3,
     .methods = "dop853 taylor radau"},
    {.name = "relay",
     .text = "coord x; kinetic x'^2/2; force x = -sign(x) - 0.05*x'; initial x = 1",
     .end = 9,
     .methods = ALL},
    {.name = "input by cases",
     .text = "coord x, y; kinetic (x'^2 + y'^2)/2; potential x^2/2 + x*y^2\n"
             "input u = if(t < 0.7 or t > 2.1, 0, 3); input w = max(t, 1) - abs(x)\n"
             "force x = u - w*y, y = w; initial y = 0.2",
     .end = 3,
     .methods = ALL},
    {.name = "hysteresis by a state",
     .text = "coord x; state z' = if(x > 0.2, 1 - z, -z); kinetic x'^2/2; potential 2*x^2\n"
             "force x = 1.5*z - 0.1*x'; initial x = 0.5",
     .end = 5,
     .methods = ALL},
    {.name = "redundant rows and a switch",
     .text = "coord x, y, z; kinetic (x'^2 + 2*y'^2 + z'^2)/2; potential 9.81*z + x^2\n"
             "constraint a: x + y = z; constraint b: 2*x + 2*y = 2*z; constraint c: x - y = "
             "0.2*sin(t)\n"
             "force x = min(0, 0.3 - x)*40; initial x ~ 0.4, x' ~ 1",
     .end = 2,
     .methods = ALL},
    {.name = "redundant velocities that turn",
     .text = "coord x, y, z, a; kinetic (x'^2 + y'^2 + z'^2 + a'^2)/2; potential 3*z\n"
             "constraint r: cross([x', y', z'], [cos(a), sin(a), 1]) = 0\n"
             "force a = 0.3; initial a' = 1, x' ~ 0.5, y' ~ 0, z' ~ 0.5",
     .end = 1.5,
     .methods = "dop853 taylor radau"},
    {.name = "wall",
     .text = "coord x, th; kinetic (x'^2 + (x*th')^2)/2; potential 2/x; initial x = 2, x' = -0.5, "
             "th' = 0.3\n"
             "event wall: x = 1 falling set x' = -0.6*x', th' = 0.9*th'",
     .end = 8,
     .methods = ALL,
     .g = "x - 1",
     .direction = -1,
     .sets = "x' = -0.6*x'; th' = 0.9*th'"},
    {.name = "wall for a pendulum in the plane",
     .text =
         "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y; constraint rod: x^2 + y^2 = 1\n"
         "initial x = 0.8, y ~ -0.6; event wall: x = -0.2 falling set x' = -x', y' = -y'\n"
         "force x = if(x > 0.3, -0.5*x', 0.2)",
     .end = 3,
     .methods = ALL,
     .g = "x + 0.2",
     .direction = -1,
     .sets = "x' = -x'; y' = -y'"},
    {.name = "stop at a gate",
     .text = "coord x, y; kinetic (x'^2 + y'^2)/2; initial x' = 1; force y = 0.01*sin(x)\n"
             "event gate: (x - 5)^2 + y^2 = 0.01 stop",
     .end = 20,
     .methods = ALL,
     .g = "(x - 5)^2 + y^2 - 0.01"},
    {.name = "friction under the reaction",
     .text = "param mu = 0.3; coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
             "constraint floor: y = 0.2*sin(x); nonideal x = -mu*abs(reaction(y))*sign(x')\n"
             "initial x' = 6",
     .end = 0.9,
     .methods = "dop853 radau rk5"},
    {.name = "friction under the total reaction",
     .text = "param mu = 0.3; coord x, y, a; kinetic (x'^2 + y'^2 + a'^2/3)/2; potential 9.81*y\n"
             "constraint tip: y = sin(a); nonideal x = -mu*abs(total_multiplier(tip)), "
             "a = -mu*abs(total_multiplier(tip))*sin(a)\n"
             "initial x' = 6, a = 1.2",
     .end = 0.4,
     .methods = "dop853 radau rk5"},
    {.name = "creep law without a value at rest",
     .text =
         "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y; constraint floor: y = 0.1*x^2\n"
         "force x = -x'/total_multiplier(floor) - 0.2*total_multiplier(floor)^(1/3)*tanh(x')\n"
         "initial x' = 2",
     .end = 1,
     .methods = "dop853 radau"},
    {.name = "driven nonholonomic with a switch",
     .text =
         "coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; constraint c: z' = y*x' + 0.3*cos(2*t)\n"
         "force x = if(sin(3*t) > x, 1, -1), y = 0.5 - y; initial x = 0.1, y' = 0.3",
     .end = 3,
     .methods = ALL},
    {.name = "nonlinear in the velocities",
     .text =
         "coord x, y; kinetic (x'^2 + y'^2)/2; potential x*y + y; constraint v: x'^2 + y'^2 = 4\n"
         "force x = max(x, 0); initial x' ~ 2, y' ~ 0.1",
     .end = 2,
     .methods = ALL},
};

/* ---- comparison ---- */

enum { LENGTH = 3 * REFERENCE_SIZE };

/* The sanitizers look at the same code with fewer of them. */
#ifdef HAMEL_SANITIZE
enum { EVERY = 7 };
#else
enum { EVERY = 1 };
#endif

static const char *where(const scenario *s)
{
    static char path[400];
    const char *folder = getenv("TMPDIR");
    if (!s->text)
        return s->name;
    snprintf(path, sizeof path, "%s/second-opinion-%ld.hamel", folder ? folder : "/tmp",
             (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", s->text);
    fclose(file);
    return path;
}

static void fill(const json_t *values, double *y, size_t *at)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)values, name, value) y[(*at)++] = json_number_value(value);
}

/* y := the state at the end of the run; returns t there. */
static double run_to(const char *path, const char *method, double end, double *y)
{
    char arguments[600];
    size_t at = 0;
    snprintf(arguments, sizeof arguments,
             "run %s --to %.17g --method %s --rtol 1e-12 --atol 1e-13 --json --quiet", path, end,
             method);
    json_t *run = ask(arguments);
    const json_t *final = json_object_get(run, "final");
    const char *status = json_string_value(json_object_get(run, "status"));
    if (!status || (strcmp(status, "ok") != 0 && strcmp(status, "event") != 0))
        fail_msg("%s by %s: %s", path, method, status ? status : "no status");
    fill(json_object_get(final, "q"), y, &at);
    fill(json_object_get(final, "v"), y, &at);
    fill(json_object_get(final, "z"), y, &at);
    double t = json_number_value(json_object_get(run, "t_end"));
    json_decref(run);
    return t;
}

/* q'' by `hamel eval` against balls of 256 bits. */
static void compare_accelerations(const scenario *s, const char *path, reference_model *r, double t,
                                  const double *y)
{
    char arguments[3000];
    double qdd[REFERENCE_SIZE];
    int length = snprintf(arguments, sizeof arguments, "eval %s --json --quiet --at \"t=%.17g",
                          path, t);
    for (size_t i = 0; i < 2 * r->n + r->states; i++) {
        int name = i < r->n ? r->q[i] : i < 2 * r->n ? r->v[i - r->n] : r->z[i - 2 * r->n];
        length += snprintf(arguments + length, sizeof arguments - (size_t)length, ", %s=%.17g",
                           r->g.names.text[name], y[i]);
    }
    snprintf(arguments + length, sizeof arguments - (size_t)length, "\"");
    assert_true(reference_acceleration(r, t, y, qdd));
    json_t *eval = ask(arguments);
    double size = 1;
    for (size_t i = 0; i < r->n; i++)
        size = fmax(size, fabs(qdd[i]));
    for (size_t i = 0; i < r->n; i++) {
        double found = json_number_value(json_array_get(json_object_get(eval, "qdd"), i));
        if (!(fabs(found - qdd[i]) <= 1e-11 * size))
            fail_msg("%s at t = %g: acceleration %zu is %.17g, in balls %.17g", s->name, t, i,
                     found, qdd[i]);
    }
    json_decref(eval);
}

static double worst_of(const reference_model *r, const double *y, const long double *other)
{
    double worst = 0, size = 1;
    for (size_t i = 0; i < 2 * r->n + r->states; i++) {
        worst = fmax(worst, fabs((double)(y[i] - other[i])));
        size = fmax(size, fabs(y[i]));
    }
    return worst / size;
}

static void compare_run(const scenario *s, const char *path, reference_model *r)
{
    double start[LENGTH], y[LENGTH], t0, t = 0;
    long double other[LENGTH];
    char list[100];
    bool stopped = false;
    t0 = run_to(path, "dop853", 1e-300, start); /* the consistent initial state */
    for (size_t i = 0; i < 2 * r->n + r->states; i++)
        other[i] = start[i];
    compare_accelerations(s, path, r, t0, start);
    long double end = reference_run(r, t0, s->end, s->end / 4000, other, &stopped);
    snprintf(list, sizeof list, "%s", s->methods);
    for (char *method = strtok(list, " "); method; method = strtok(NULL, " ")) {
        t = run_to(path, method, s->end, y);
        double error = fmax(worst_of(r, y, other), fabs((double)(t - end)));
        if (!(error <= (s->tolerance > 0 ? s->tolerance : 1e-8)))
            fail_msg("%s by %s: t = %.12g, reference %.12Lg, states differ by %.2g", s->name,
                     method, t, end, error);
    }
    compare_accelerations(s, path, r, t, y);
}

static void second_opinion(void **state)
{
    static reference_model r;
    size_t count = sizeof scenarios / sizeof *scenarios;
    const char *only = getenv("HAMEL_SCENARIO");
    (void)state;
    assert_true(count >= 25);
    for (size_t k = 0; k < count; k++) {
        const scenario *s = &scenarios[k];
        const char *path = where(s);
        char arguments[500];
        if (only ? strcmp(only, s->name) != 0 : k % EVERY != 0)
            continue;
        snprintf(arguments, sizeof arguments, "derive %s --format json", path);
        json_t *derived = ask(arguments);
        if (!reference_read(&r, derived))
            fail_msg("%s: cannot read '%s'", s->name, r.g.failed ? r.g.failed : "a name");
        json_decref(derived);
        if (s->g)
            assert_true(reference_add_event(&r, s->g, s->direction, s->sets));
        compare_run(s, path, &r);
        if (s->text)
            remove(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(second_opinion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
