/* Members that lanes do not serve, and why; members that leave the lanes on their way; options of the
 * call. Exact motions throughout: every member must have its own. */
#include "support/check.h"

#include <hamel/hamel.h>

#include <math.h>
#include <string.h>

enum { MEMBERS = 6 };

typedef struct outcome {
    hm_run_status status;
    bool batched;
    double t, x;
    long steps;
    char message[200];
} outcome;

typedef struct ensemble {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_ensemble_column column;
    double values[MEMBERS];
    hm_ensemble_members members;
    hm_ensemble_options options;
    hm_ensemble_result result;
    outcome out[MEMBERS];
    size_t calls, stop_at; /* of on_progress */
} ensemble;

static bool keep(void *user, const hm_member_result *r)
{
    ensemble *e = user;
    outcome *o = &e->out[r->member];
    *o = (outcome){.status = r->status, .batched = r->batched, .t = r->t_end, .steps = r->steps};
    o->x = r->q ? r->q[0] : NAN;
    strncat(o->message, r->message, sizeof o->message - 1);
    return true;
}

static void open_ensemble(ensemble *e, const char *text, const char *column)
{
    *e = (ensemble){.context = hm_context_create(NULL)};
    assert_int_equal(hm_model_parse(e->context, text, strlen(text), NULL, &e->model), HM_OK);
    assert_int_equal(hm_system_create(e->model, &e->system), HM_OK);
    assert_int_equal(hm_ensemble_find_column(e->context, e->model, column, &e->column), HM_OK);
    for (int k = 0; k < MEMBERS; k++)
        e->values[k] = 1 + 0.25 * k;
    e->members = (hm_ensemble_members){MEMBERS, 1, &e->column, e->values};
    e->options = hm_ensemble_options_default(e->model);
    e->options.run.method = "dop853";
    e->options.jobs = 1;
    e->options.on_member = keep;
    e->options.user = e;
}

static void close_ensemble(ensemble *e)
{
    hm_system_destroy(e->system);
    hm_model_destroy(e->model);
    hm_context_destroy(e->context);
}

static void run(ensemble *e)
{
    assert_int_equal(hm_ensemble_run(e->context, e->system, &e->members, &e->options, &e->result),
                     HM_OK);
}

/* ---- why not ---- */

static double oscillation(double x)
{
    return x * cos(2);
}

static double same(double x)
{
    return x;
}

static double pushed(double x)
{
    return x + 1 - cos(2);
}

static const struct {
    const char *text, *method, *why;
    double (*expected)(double x);
} cases[] = {
    {"coord x; kinetic x'^2/2; potential x^2/2", "radau",
     "the method is not an explicit Runge-Kutta method", oscillation},
    {"coord x, y; kinetic (x'^2 + y'^2)/2; potential x^2/2; constraint push: y'' = cos(t)",
     "dop853", "constraints of acceleration level", oscillation},
    {"coord x; kinetic x'^2/2; constraint push: x'' = cos(t)", "dop853",
     "constraints of acceleration level", pushed},
    {"coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; potential x^2/2\n"
     "constraint a: y = z; constraint b: 2*y = 2*z",
     "dop853", "constraints that depend on each other", oscillation},
    {"coord x, y; lagrangian x*y' - (x^2 + y^2)/2; initial x' ~ 0, y' ~ 0", "dop853",
     "no compiled solve for the accelerations", oscillation},
    {"coord x; kinetic x'^2/2; potential x^2/2; event e: x = 100 record", "dop853",
     "events, or functions that are not smooth", oscillation},
    {"coord x; kinetic x'^2/2; force x = 0*abs(x - 5)", "dop853", "", same},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ensemble e;
        open_ensemble(&e, cases[k].text, "x");
        e.options.run.method = cases[k].method;
        e.options.run.end = 2;
        run(&e);
        if (strcmp(e.result.why_not, cases[k].why) != 0)
            fail_msg("'%s': '%s'", cases[k].text, e.result.why_not);
        assert_int_equal(e.result.ok, MEMBERS);
        assert_int_equal(e.result.batched, cases[k].why[0] ? 0 : MEMBERS);
        for (int i = 0; i < MEMBERS; i++)
            check_number(cases[k].text, e.out[i].x, cases[k].expected(e.values[i]), 1e-7);
        close_ensemble(&e);
    }
}

/* None of the members starts: each says why. */
static void test_none_starts(void **state)
{
    (void)state;
    ensemble e;
    open_ensemble(&e,
                  "coord x, y; kinetic (x'^2 + y'^2)/2; constraint c: x^2 + y^2 = 0.25\n"
                  "initial x = 0, y = 0.5",
                  "x");
    run(&e);
    assert_string_equal(e.result.why_not, "no member can be started");
    assert_int_equal(e.result.failed, MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        assert_int_equal(e.out[i].status, HM_RUN_FAILED);
        assert_non_null(strstr(e.out[i].message, "'c'"));
    }
    close_ensemble(&e);
}

/* ---- on the way ---- */

/* Some decay fast enough to be stiff for the method that `auto` begins with. */
static void test_stiff_members(void **state)
{
    (void)state;
    ensemble e;
    open_ensemble(&e,
                  "param k = 1; coord x; kinetic x'^2/2; force x = -k*(x' + x)\n"
                  "initial x = 1; simulate 0 .. 20",
                  "k");
    for (int i = 0; i < MEMBERS; i++)
        e.values[i] = i % 2 ? 1e5 : 5;
    e.options.run.method = "auto";
    e.options.run.rtol = 1e-6;
    run(&e);
    assert_int_equal(e.result.ok, MEMBERS);
    for (int i = 0; i < MEMBERS; i++) { /* roots of s^2 + k s + k, the larger one in -c/b form */
        double k = e.values[i], root = sqrt(k * k - 4 * k), fast = -(k + root) / 2, slow = k / fast;
        double x = (fast * exp(slow * 20) - slow * exp(fast * 20)) / (fast - slow);
        assert_true(fabs(e.out[i].x - x) < 1e-7);
        assert_int_equal(e.out[i].batched, i % 2 == 0);
    }
    close_ensemble(&e);
}

static void test_most_steps(void **state)
{
    (void)state;
    ensemble e;
    open_ensemble(&e, "coord x; kinetic x'^2/2; potential x^2/2; simulate 0 .. 200", "x");
    e.options.run.most_steps = 9;
    run(&e);
    assert_int_equal(e.result.failed, MEMBERS);
    for (int i = 0; i < MEMBERS; i++) {
        assert_int_equal(e.out[i].steps, 9);
        assert_non_null(strstr(e.out[i].message, "after 9 steps"));
        check_number("x", e.out[i].x, e.values[i] * cos(e.out[i].t), 1e-7);
    }
    close_ensemble(&e);
}

/* ---- the call ---- */

static bool count_calls(void *user, size_t done, size_t count)
{
    ensemble *e = user;
    assert_true(done <= count && count == MEMBERS);
    return ++e->calls != e->stop_at;
}

static void test_progress(void **state)
{
    (void)state;
    ensemble e;
    open_ensemble(&e, "coord x; kinetic x'^2/2; potential 500*x^2; simulate 0 .. 300", "x");
    e.options.on_progress = count_calls;
    run(&e);
    assert_int_equal(e.result.ok, MEMBERS);
    assert_true(e.calls > 0);
    e.calls = 0;
    e.stop_at = 1;
    e.options.one_by_one = true;
    run(&e);
    assert_true(e.result.interrupted > 0);
    close_ensemble(&e);
}

/* As many threads as there are processors, and more than anybody has. */
static void test_jobs(void **state)
{
    (void)state;
    ensemble e;
    open_ensemble(&e, "coord x; kinetic x'^2/2; potential x^2/2; simulate 0 .. 2", "x");
    const unsigned jobs[] = {0, 1000000};
    for (int k = 0; k < 2; k++) {
        e.options.jobs = jobs[k];
        run(&e);
        assert_true(e.result.jobs >= 1 && e.result.jobs <= 256);
        assert_int_equal(e.result.ok, MEMBERS);
        for (int i = 0; i < MEMBERS; i++)
            check_number("x", e.out[i].x, e.values[i] * cos(2), 1e-7);
    }
    close_ensemble(&e);
}

/* A size is no column; neither is a name that begins like one. */
static void test_columns(void **state)
{
    (void)state;
    ensemble e;
    open_ensemble(&e, "param N = 2; coord x[1..N]; kinetic sum(i = 1..N, x[i]'^2)/2", "x[1]");
    hm_ensemble_column c = {HM_COLUMN_PARAM, 0};
    e.members.columns = &c;
    assert_int_equal(hm_ensemble_run(e.context, e.system, &e.members, &e.options, &e.result),
                     HM_ERR_USAGE);
    assert_non_null(strstr(hm_context_diagnostic(e.context, 0)->message, "structural"));
    assert_int_equal(hm_ensemble_find_column(e.context, e.model, "x[1]''", &c), HM_ERR_USAGE);
    assert_int_equal(hm_ensemble_find_column(e.context, e.model, "x[1]x", &c), HM_ERR_USAGE);
    c.kind = (hm_column_kind)99;
    assert_int_equal(hm_ensemble_run(e.context, e.system, &e.members, &e.options, &e.result),
                     HM_ERR_USAGE);
    close_ensemble(&e);
}

/* Options NULL: the model's. */
static void test_default_options(void **state)
{
    (void)state;
    ensemble e;
    open_ensemble(&e, "coord x; kinetic x'^2/2; simulate 0 .. 1", "x");
    assert_int_equal(hm_ensemble_run(e.context, e.system, &e.members, NULL, &e.result), HM_OK);
    assert_int_equal(e.result.ok, MEMBERS);
    close_ensemble(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_none_starts),
        cmocka_unit_test(test_stiff_members), cmocka_unit_test(test_most_steps),
        cmocka_unit_test(test_progress),      cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_columns),       cmocka_unit_test(test_default_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
