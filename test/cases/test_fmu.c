/* Functional Mock-up Units, used as an importer uses them: through the functions of the standard in the
 * compiled binary. Model exchange with a Runge-Kutta method of this file, co-simulation, states of the unit,
 * directional derivatives against differences, all against `hamel run`. */
#include "model/model.h"
#include "support/check.h"
#include "support/probe.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

enum { MOST = 64 };
static char folder[256];

/* ---- making a unit ---- */

typedef struct unit {
    void *library;
    char token[64], *description;
    void *instance;
    probe *p;
    size_t size, events; /* of the state */
    int version;
} unit;

static bool write_to(void *user, const char *bytes, size_t length)
{
    return fwrite(bytes, 1, length, user) == length;
}

static void export_part(probe *p, int version, hm_export_part part, const char *name)
{
    char path[300];
    hm_export_options options = hm_export_options_default();
    options.format = version == 2 ? HM_EXPORT_FORMAT_FMU2 : HM_EXPORT_FORMAT_FMU3;
    options.part = part;
    options.name = "unit";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(hm_system_export(p->context, p->system, &options, write_to, file), HM_OK);
    assert_int_equal(fclose(file), 0);
}

static char *read_text(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void run_command(const char *format, ...)
{
    char command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_int_equal(system(command), 0);
}

/* The value of an attribute of the first element. */
static void attribute(const char *xml, const char *name, char out[64])
{
    const char *at = strstr(xml, name);
    assert_non_null(at);
    at = strchr(at, '"') + 1;
    snprintf(out, 64, "%.*s", (int)strcspn(at, "\""), at);
}

static unit make_unit(probe *p, int version)
{
    static int count;
    char object[300];
    unit u = {.p = p, .size = 2 * p->n + hm_model_state_count(p->model), .version = version};
    u.events = p->model->events.count;
    export_part(p, version, HM_EXPORT_PART_SOURCE, "unit.c");
    export_part(p, version, HM_EXPORT_PART_DESCRIPTION, "unit.xml");
    run_command("xmllint --noout '%s/unit.xml'", folder);
    snprintf(object, sizeof object, "%s/unit%d.so", folder, count++);
    run_command("cc -std=c99 -pedantic -Wall -Wextra -Werror -O1 -ffp-contract=off -fPIC -shared "
                "-fvisibility=hidden "
                "'%s/unit.c' -o '%s' -lm",
                folder, object);
    u.description = read_text("unit.xml");
    attribute(u.description, version == 2 ? "guid=" : "instantiationToken=", u.token);
    u.library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(u.library);
    return u;
}

static void close_unit(unit *u)
{
    dlclose(u->library);
    free(u->description);
}

/* ---- the functions of FMI 2.0 ---- */

typedef unsigned int reference;
typedef struct callbacks {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} callbacks;
typedef struct event_info {
    int again, terminate, nominals, values, has_next;
    double next;
} event_info;

static int complaints;
static void logger(void *e, const char *name, int status, const char *category, const char *message,
                   ...)
{
    (void)e, (void)name, (void)category, (void)message;
    complaints += status >= 3;
}

typedef void any_function(void);
static any_function *function(const unit *u, const char *name)
{
    any_function *found;
    void *symbol = dlsym(u->library, name);
    if (!symbol)
        fail_msg("%s is missing", name);
    memcpy(&found, &symbol, sizeof found); /* as POSIX wants it */
    return found;
}

/* Calls NAME with the argument types given. */
#define CALL(u, name, types, ...) ((int(*) types)function(u, name))(__VA_ARGS__)
#define SIMPLE(u, name)           assert_int_equal(CALL(u, name, (void *), (u)->instance), 0)

static const callbacks call = {logger, calloc, free, NULL, NULL};

static void instantiate2(unit *u, int type)
{
    typedef void *create(const char *, int, const char *, const char *, const callbacks *, int,
                         int);
    create *make = (create *)function(u, "fmi2Instantiate");
    assert_null(make("one", type, "{another}", "", &call, 0, 0));
    u->instance = make("one", type, u->token, "", &call, 0, 0);
    assert_non_null(u->instance);
    assert_string_equal(((const char *(*)(void))function(u, "fmi2GetVersion"))(), "2.0");
    assert_int_equal(CALL(u, "fmi2SetupExperiment", (void *, int, double, double, int, double),
                          u->instance, 1, 1e-10, 0.0, 0, 0.0),
                     0);
    SIMPLE(u, "fmi2EnterInitializationMode");
    SIMPLE(u, "fmi2ExitInitializationMode");
}

static void free2(unit *u)
{
    ((void (*)(void *))function(u, "fmi2FreeInstance"))(u->instance);
}

static void get2(const unit *u, reference first, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++) {
        reference r = first + (reference)i;
        assert_int_equal(CALL(u, "fmi2GetReal", (void *, const reference *, size_t, double *),
                              u->instance, &r, 1, out + i),
                         0);
    }
}

static void rates2(const unit *u, double t, const double *x, double *rate)
{
    assert_int_equal(CALL(u, "fmi2SetTime", (void *, double), u->instance, t), 0);
    assert_int_equal(CALL(u, "fmi2SetContinuousStates", (void *, const double *, size_t),
                          u->instance, x, u->size),
                     0);
    assert_int_equal(
        CALL(u, "fmi2GetDerivatives", (void *, double *, size_t), u->instance, rate, u->size), 0);
}

static void rk4(const unit *u, double t, double h, double *x)
{
    double k[4][MOST], y[MOST];
    static const double at[4] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < 4; s++) {
        for (size_t i = 0; i < u->size; i++)
            y[i] = x[i] + (s ? at[s] * h * k[s - 1][i] : 0);
        rates2(u, t + at[s] * h, y, k[s]);
    }
    for (size_t i = 0; i < u->size; i++)
        x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

static bool handle_events(const unit *u, double *x)
{
    event_info info;
    SIMPLE(u, "fmi2EnterEventMode");
    assert_int_equal(CALL(u, "fmi2NewDiscreteStates", (void *, event_info *), u->instance, &info),
                     0);
    SIMPLE(u, "fmi2EnterContinuousTimeMode");
    if (info.values)
        assert_int_equal(
            CALL(u, "fmi2GetContinuousStates", (void *, double *, size_t), u->instance, x, u->size),
            0);
    return info.terminate;
}

static bool indicators_crossed(const unit *u, double *before)
{
    double now[MOST];
    bool crossed = false;
    assert_int_equal(
        CALL(u, "fmi2GetEventIndicators", (void *, double *, size_t), u->instance, now, u->events),
        0);
    for (size_t i = 0; i < u->events; i++)
        crossed |= (before[i] > 0) != (now[i] > 0);
    memcpy(before, now, u->events * sizeof *now);
    return crossed;
}

/* Model exchange by fixed steps; at an event the last step is halved down to 1e-10. */
static double exchange(unit *u, double end, double h, double *x)
{
    double t = 0, before[MOST], tried[MOST];
    assert_int_equal(
        CALL(u, "fmi2GetContinuousStates", (void *, double *, size_t), u->instance, x, u->size), 0);
    bool stop = handle_events(u, x);
    (void)indicators_crossed(u, before);
    while (t < end - 1e-12 && !stop) {
        double step = fmin(h, end - t), y[MOST];
        for (;;) {
            memcpy(y, x, sizeof y);
            rk4(u, t, step, y);
            rates2(u, t + step, y, tried);
            double now[MOST];
            memcpy(now, before, sizeof now);
            bool crossed = indicators_crossed(u, now);
            if (!crossed || step < 1e-10) {
                t += step;
                memcpy(x, y, sizeof y);
                int enter = 0, terminate = 0;
                assert_int_equal(CALL(u, "fmi2CompletedIntegratorStep", (void *, int, int *, int *),
                                      u->instance, 1, &enter, &terminate),
                                 0);
                if (enter || crossed)
                    stop = handle_events(u, x);
                rates2(u, t, x, tried);
                (void)indicators_crossed(u, before);
                break;
            }
            step /= 2;
        }
    }
    return t;
}

/* ---- the reference ---- */

static void run_reference(probe *p, double end, double *x)
{
    hm_run_options options = hm_run_options_default(p->model);
    hm_run_result result;
    options.start = 0;
    options.end = end;
    options.rtol = 1e-11;
    options.atol = 1e-13;
    hm_status status = hm_sim_run(p->sim, &options, &result);
    if (status != HM_OK)
        show_diagnostics(hm_sim_context(p->sim));
    assert_int_equal(status, HM_OK);
    hm_sim_state(p->sim, x, x + p->n, x + 2 * p->n);
}

static void check_states(const unit *u, const char *what, const double *x, const double *wanted,
                         double tolerance)
{
    for (size_t i = 0; i < u->size; i++)
        if (!(fabs(x[i] - wanted[i]) <= tolerance * (1 + fabs(wanted[i]))))
            fail_msg("%s: state %zu is %.12g, not %.12g", what, i, x[i], wanted[i]);
}

/* ---- tests ---- */

static const char *const examples[] = {
    "skate",      "double-pendulum",  "rolling-disc", "pendulum",           "appell",
    "knife-edge", "charged-particle", "four-bar",     "spherical-pendulum", "kepler",
    "coin",       "chaplygin-sleigh", "n-trailer",    "bouncing-ball",      "pid"};

static probe *open_example(const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/examples/%s.hamel", HAMEL_SOURCE_DIR, name);
    return probe_file(path, NULL, 0);
}

static void step_cosimulation2(unit *u, double end, int steps)
{
    for (int k = 0; k < steps; k++)
        assert_int_equal(CALL(u, "fmi2DoStep", (void *, double, double, int), u->instance,
                              end * k / steps, end / steps, 1),
                         0);
}

/* Derivatives along each state, against central differences of the derivatives. */
static void check_directions(unit *u, const double *x)
{
    reference unknown[MOST];
    double low[MOST], high[MOST], slope[MOST], y[MOST];
    for (size_t i = 0; i < u->size; i++)
        unknown[i] = (reference)(1 + u->size + i);
    for (size_t s = 0; s < u->size; s++) {
        reference known = (reference)(1 + s);
        double seed = 1, h = 1e-6 * (1 + fabs(x[s]));
        rates2(u, 0, x, low);
        assert_int_equal(CALL(u, "fmi2GetDirectionalDerivative",
                              (void *, const reference *, size_t, const reference *, size_t,
                               const double *, double *),
                              u->instance, unknown, u->size, &known, 1, &seed, slope),
                         0);
        memcpy(y, x, sizeof y);
        y[s] = x[s] - h;
        rates2(u, 0, y, low);
        y[s] = x[s] + h;
        rates2(u, 0, y, high);
        for (size_t i = 0; i < u->size; i++) {
            double wanted = (high[i] - low[i]) / (2 * h);
            if (!(fabs(slope[i] - wanted) <= 1e-4 * (1 + fabs(wanted))))
                fail_msg("d%zu/d%zu: %.10g, differences give %.10g", i, s, slope[i], wanted);
        }
    }
}

static void test_two(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
        probe *p = open_example(examples[k]);
        unit u = make_unit(p, 2);
        double x[MOST], wanted[MOST], end = 0.5;
        instantiate2(&u, 0);
        double start[MOST];
        get2(&u, 1, u.size, start);
        SIMPLE(&u, "fmi2EnterContinuousTimeMode");
        if (hm_model_input_count(p->model) == 0)
            check_directions(&u, start);
        rates2(&u, 0, start, x);
        run_reference(p, end, wanted);
        exchange(&u, end, 1e-3, x);
        check_states(&u, examples[k], x, wanted, 2e-6);
        free2(&u);
        instantiate2(&u, 1);
        step_cosimulation2(&u, end, 7);
        get2(&u, 1, u.size, x);
        check_states(&u, examples[k], x, wanted, 1e-6);
        free2(&u);
        close_unit(&u);
        probe_close(p);
    }
}

static void test_states_of_units(void **state)
{
    (void)state;
    probe *p = open_example("double-pendulum");
    unit u = make_unit(p, 2);
    double once[MOST], again[MOST];
    void *kept = NULL, *copy = NULL;
    size_t size;
    instantiate2(&u, 1);
    step_cosimulation2(&u, 0.3, 3);
    assert_int_equal(CALL(&u, "fmi2GetFMUstate", (void *, void **), u.instance, &kept), 0);
    assert_int_equal(
        CALL(&u, "fmi2SerializedFMUstateSize", (void *, void *, size_t *), u.instance, kept, &size),
        0);
    char *bytes = malloc(size);
    assert_int_equal(CALL(&u, "fmi2SerializeFMUstate", (void *, void *, char *, size_t), u.instance,
                          kept, bytes, size),
                     0);
    assert_int_equal(CALL(&u, "fmi2DoStep", (void *, double, double, int), u.instance, 0.3, 0.2, 1),
                     0);
    get2(&u, 1, u.size, once);
    assert_int_equal(CALL(&u, "fmi2DeSerializeFMUstate", (void *, const char *, size_t, void **),
                          u.instance, bytes, size, &copy),
                     0);
    assert_int_equal(CALL(&u, "fmi2SetFMUstate", (void *, void *), u.instance, copy), 0);
    assert_int_equal(CALL(&u, "fmi2DoStep", (void *, double, double, int), u.instance, 0.3, 0.2, 1),
                     0);
    get2(&u, 1, u.size, again);
    assert_memory_equal(once, again, u.size * sizeof *once);
    SIMPLE(&u, "fmi2Reset");
    assert_int_equal(CALL(&u, "fmi2FreeFMUstate", (void *, void **), u.instance, &kept), 0);
    assert_int_equal(CALL(&u, "fmi2FreeFMUstate", (void *, void **), u.instance, &copy), 0);
    assert_null(kept);
    /* calls at the wrong time and wrong references are errors, and are said */
    int before = complaints;
    assert_int_equal(CALL(&u, "fmi2DoStep", (void *, double, double, int), u.instance, 0.0, 0.1, 1),
                     3);
    reference far = 100000;
    assert_int_equal(CALL(&u, "fmi2GetReal", (void *, const reference *, size_t, double *),
                          u.instance, &far, 1, once),
                     3);
    assert_true(complaints >= before + 2);
    free2(&u);
    free(bytes);
    close_unit(&u);
    probe_close(p);
}

static void test_parameters_and_inputs(void **state)
{
    (void)state;
    probe *p = probe_text("param m = 2, k = 8, w = sqrt(k/m)\ncoord x\ninput f = 0\nkinetic "
                          "m*x'^2/2\npotential k*x^2/2\n"
                          "force x = f\ninitial x = 1\noutput a = x''\noutput W = w\n");
    unit u = make_unit(p, 2);
    /* references: time 0, x 1, x' 2, rates 3 4, m 5, k 6, w 7, f 8, a 9, W 10 */
    double value;
    reference m = 5, w = 7, f = 8, a = 9;
    instantiate2(&u, 1);
    value = 0.5;
    assert_int_equal(CALL(&u, "fmi2SetReal", (void *, const reference *, size_t, const double *),
                          u.instance, &m, 1, &value),
                     0);
    get2(&u, w, 1, &value);
    assert_true(fabs(value - 4) < 1e-15);
    value = 6;
    assert_int_equal(CALL(&u, "fmi2SetReal", (void *, const reference *, size_t, const double *),
                          u.instance, &f, 1, &value),
                     0);
    get2(&u, a, 1, &value);
    assert_true(fabs(value - (6 - 8) / 0.5) < 1e-13);
    /* x = 0.75 + 0.25 cos 4 t */
    step_cosimulation2(&u, 1, 4);
    get2(&u, 1, 1, &value);
    assert_true(fabs(value - (0.75 + 0.25 * cos(4))) < 1e-8);
    assert_non_null(
        strstr(u.description, "name=\"w\" valueReference=\"7\" causality=\"calculatedParameter\""));
    assert_non_null(strstr(u.description,
                           "<Unknown index=\"5\" dependencies=\"2 9\"/>")); /* der(x') of x and f */
    free2(&u);
    close_unit(&u);
    probe_close(p);
}

/* ---- FMI 3.0 ---- */

static void instantiate3(unit *u)
{
    typedef void *create(const char *, const char *, const char *, bool, bool, bool, bool,
                         const uint32_t *, size_t, void *, void *, void *);
    u->instance = ((create *)function(u, "fmi3InstantiateCoSimulation"))(
        "one", u->token, "", false, false, false, false, NULL, 0, NULL, NULL, NULL);
    assert_non_null(u->instance);
    assert_int_equal(CALL(u, "fmi3EnterInitializationMode",
                          (void *, bool, double, double, bool, double), u->instance, true, 1e-10,
                          0.0, false, 0.0),
                     0);
    SIMPLE(u, "fmi3ExitInitializationMode");
}

static void test_three(void **state)
{
    (void)state;
    static const char *const models[] = {"skate", "bouncing-ball", "four-bar"};
    for (size_t k = 0; k < 3; k++) {
        probe *p = open_example(models[k]);
        unit u = make_unit(p, 3);
        double x[MOST], wanted[MOST], last;
        bool event, terminate, early;
        run_reference(p, 1, wanted);
        instantiate3(&u);
        for (int i = 0; i < 5; i++)
            assert_int_equal(CALL(&u, "fmi3DoStep",
                                  (void *, double, double, bool, bool *, bool *, bool *, double *),
                                  u.instance, 0.2 * i, 0.2, true, &event, &terminate, &early,
                                  &last),
                             0);
        assert_true(fabs(last - 1) < 1e-12);
        for (size_t i = 0; i < u.size; i++) {
            uint32_t r = (uint32_t)(1 + i);
            assert_int_equal(CALL(&u, "fmi3GetFloat64",
                                  (void *, const uint32_t *, size_t, double *, size_t), u.instance,
                                  &r, 1, x + i, 1),
                             0);
        }
        check_states(&u, models[k], x, wanted, 1e-6);
        ((void (*)(void *))function(&u, "fmi3FreeInstance"))(u.instance);
        close_unit(&u);
        probe_close(p);
    }
}

/* Every function of the standards is there. */
static void test_complete(void **state)
{
    (void)state;
    static const char *const two[] = {"GetTypesPlatform",
                                      "GetVersion",
                                      "SetDebugLogging",
                                      "Instantiate",
                                      "FreeInstance",
                                      "SetupExperiment",
                                      "EnterInitializationMode",
                                      "ExitInitializationMode",
                                      "Terminate",
                                      "Reset",
                                      "GetReal",
                                      "GetInteger",
                                      "GetBoolean",
                                      "GetString",
                                      "SetReal",
                                      "SetInteger",
                                      "SetBoolean",
                                      "SetString",
                                      "GetFMUstate",
                                      "SetFMUstate",
                                      "FreeFMUstate",
                                      "SerializedFMUstateSize",
                                      "SerializeFMUstate",
                                      "DeSerializeFMUstate",
                                      "GetDirectionalDerivative",
                                      "EnterEventMode",
                                      "NewDiscreteStates",
                                      "EnterContinuousTimeMode",
                                      "CompletedIntegratorStep",
                                      "SetTime",
                                      "SetContinuousStates",
                                      "GetDerivatives",
                                      "GetEventIndicators",
                                      "GetContinuousStates",
                                      "GetNominalsOfContinuousStates",
                                      "SetRealInputDerivatives",
                                      "GetRealOutputDerivatives",
                                      "DoStep",
                                      "CancelStep",
                                      "GetStatus",
                                      "GetRealStatus",
                                      "GetIntegerStatus",
                                      "GetBooleanStatus",
                                      "GetStringStatus"};
    static const char *const three[] = {"GetVersion",
                                        "SetDebugLogging",
                                        "InstantiateModelExchange",
                                        "InstantiateCoSimulation",
                                        "InstantiateScheduledExecution",
                                        "FreeInstance",
                                        "EnterInitializationMode",
                                        "ExitInitializationMode",
                                        "EnterEventMode",
                                        "Terminate",
                                        "Reset",
                                        "GetFloat32",
                                        "GetFloat64",
                                        "GetInt8",
                                        "GetUInt8",
                                        "GetInt16",
                                        "GetUInt16",
                                        "GetInt32",
                                        "GetUInt32",
                                        "GetInt64",
                                        "GetUInt64",
                                        "GetBoolean",
                                        "GetString",
                                        "GetBinary",
                                        "GetClock",
                                        "SetFloat32",
                                        "SetFloat64",
                                        "SetInt8",
                                        "SetUInt8",
                                        "SetInt16",
                                        "SetUInt16",
                                        "SetInt32",
                                        "SetUInt32",
                                        "SetInt64",
                                        "SetUInt64",
                                        "SetBoolean",
                                        "SetString",
                                        "SetBinary",
                                        "SetClock",
                                        "GetNumberOfVariableDependencies",
                                        "GetVariableDependencies",
                                        "GetFMUState",
                                        "SetFMUState",
                                        "FreeFMUState",
                                        "SerializedFMUStateSize",
                                        "SerializeFMUState",
                                        "DeserializeFMUState",
                                        "GetDirectionalDerivative",
                                        "GetAdjointDerivative",
                                        "EnterConfigurationMode",
                                        "ExitConfigurationMode",
                                        "GetIntervalDecimal",
                                        "GetIntervalFraction",
                                        "GetShiftDecimal",
                                        "GetShiftFraction",
                                        "SetIntervalDecimal",
                                        "SetIntervalFraction",
                                        "SetShiftDecimal",
                                        "SetShiftFraction",
                                        "EvaluateDiscreteStates",
                                        "UpdateDiscreteStates",
                                        "EnterContinuousTimeMode",
                                        "CompletedIntegratorStep",
                                        "SetTime",
                                        "SetContinuousStates",
                                        "GetContinuousStateDerivatives",
                                        "GetEventIndicators",
                                        "GetContinuousStates",
                                        "GetNominalsOfContinuousStates",
                                        "GetNumberOfEventIndicators",
                                        "GetNumberOfContinuousStates",
                                        "EnterStepMode",
                                        "GetOutputDerivatives",
                                        "DoStep",
                                        "ActivateModelPartition"};
    char name[64];
    probe *p = open_example("skate");
    unit a = make_unit(p, 2), b = make_unit(p, 3);
    for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
        snprintf(name, sizeof name, "fmi2%s", two[i]);
        (void)function(&a, name);
    }
    for (size_t i = 0; i < sizeof three / sizeof *three; i++) {
        snprintf(name, sizeof name, "fmi3%s", three[i]);
        (void)function(&b, name);
    }
    close_unit(&a);
    close_unit(&b);
    probe_close(p);
}

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/fmu-XXXXXX", base ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_parameters_and_inputs),
        cmocka_unit_test(test_states_of_units),
        cmocka_unit_test(test_three),
        cmocka_unit_test(test_two),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
