/* The same bits in the same order on any number of threads, and on lanes as one by one: everything that
 * the callbacks get goes into one digest. Members on compiled stages, members that fail or leave the
 * lanes, frames, parameters; tolerances at which steps are rejected, drift is far, lanes are lost. */
#include "support/check.h"

#include <hamel/hamel.h>

#include <string.h>

enum { MEMBERS = 300 };

typedef struct ensemble {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_ensemble_column columns[2];
    double values[2 * MEMBERS];
    hm_ensemble_members members;
    hm_ensemble_options options;
    hm_ensemble_result result;
    uint64_t digest;
    size_t next, frames;
} ensemble;

/* ---- the digest: FNV-1a ---- */

static void add_bytes(ensemble *e, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++)
        e->digest = (e->digest ^ bytes[i]) * 0x100000001b3;
}

static void add_numbers(ensemble *e, const double *values, size_t count)
{
    if (values)
        add_bytes(e, values, count * sizeof *values);
}

static void add_state(ensemble *e, double t, const double *q, const double *v, const double *z)
{
    size_t n = hm_model_coordinate_count(e->model);
    add_numbers(e, &t, 1);
    add_numbers(e, q, n);
    add_numbers(e, v, n);
    add_numbers(e, z, hm_model_state_count(e->model));
}

static bool add_frame(void *user, size_t member, const hm_frame *frame)
{
    ensemble *e = user;
    const double energy[] = {frame->kinetic, frame->potential, frame->total, frame->balance};
    assert_int_equal(member, e->next);
    add_state(e, frame->t, frame->q, frame->v, frame->z);
    add_numbers(e, energy, 4);
    add_numbers(e, frame->outputs, hm_model_output_count(e->model));
    e->frames++;
    return true;
}

static bool add_member(void *user, const hm_member_result *r)
{
    ensemble *e = user;
    const double numbers[] = {(double)r->status,      (double)r->steps, (double)r->rejected,
                              (double)r->evaluations, r->violation,     r->energy_initial,
                              r->energy_final,        r->balance_error};
    assert_int_equal(r->member, e->next++);
    add_state(e, r->t_end, r->q, r->v, r->z);
    add_numbers(e, numbers, sizeof numbers / sizeof *numbers);
    add_numbers(e, r->outputs, hm_model_output_count(e->model));
    add_bytes(e, r->message, strlen(r->message));
    return true;
}

/* ---- running ---- */

static void open_ensemble(ensemble *e, const char *text, const char *first, const char *second)
{
    *e = (ensemble){.context = hm_context_create(NULL)};
    assert_int_equal(hm_model_parse(e->context, text, strlen(text), NULL, &e->model), HM_OK);
    assert_int_equal(hm_system_create(e->model, &e->system), HM_OK);
    assert_int_equal(hm_ensemble_find_column(e->context, e->model, first, &e->columns[0]), HM_OK);
    assert_int_equal(hm_ensemble_find_column(e->context, e->model, second, &e->columns[1]), HM_OK);
    e->members = (hm_ensemble_members){MEMBERS, 2, e->columns, e->values};
    e->options = hm_ensemble_options_default(e->model);
    e->options.run.method = "dop853";
    e->options.run.rtol = 1e-8;
    e->options.on_member = add_member;
    e->options.user = e;
}

static void close_ensemble(ensemble *e)
{
    hm_system_destroy(e->system);
    hm_model_destroy(e->model);
    hm_context_destroy(e->context);
}

static uint64_t run_on(ensemble *e, unsigned jobs)
{
    e->digest = 0xcbf29ce484222325;
    e->next = e->frames = 0;
    e->options.jobs = jobs;
    assert_int_equal(hm_ensemble_run(e->context, e->system, &e->members, &e->options, &e->result),
                     HM_OK);
    assert_int_equal(e->next, e->members.count);
    assert_int_equal(e->result.jobs, jobs);
    return e->digest;
}

static void check_threads(ensemble *e, size_t batched)
{
    static const unsigned jobs[] = {2, 3, 4, 7, 16, 2};
    uint64_t expected = run_on(e, 1);
    assert_int_equal(e->result.batched, batched);
    size_t frames = e->frames;
    for (size_t k = 0; k < sizeof jobs / sizeof *jobs; k++) {
        if (run_on(e, jobs[k]) != expected)
            fail_msg("%u threads give other bits than one", jobs[k]);
        assert_int_equal(e->frames, frames);
    }
}

static void set_columns(ensemble *e, double first, double first_step, double second,
                        double second_step)
{
    for (size_t k = 0; k < MEMBERS; k++) {
        e->values[2 * k] = first + first_step * (double)k;
        e->values[2 * k + 1] = second + second_step * (double)k;
    }
}

/* ---- ensembles ---- */

static const char skate[] =
    "param m = 1, J = 0.1, g = 4.905; coord x, y, th; output speed = hypot(x', y')\n"
    "kinetic m/2*(x'^2 + y'^2) + J/2*th'^2; potential -m*g*x\n"
    "constraint blade: sin(th)*x' - cos(th)*y' = 0; simulate 0 .. 2 every 0.5";
/* A four-bar in positions of its joints. */
static const char four_bar[] =
    "param l = 4; coord a, b, c, d; kinetic (a'^2 + b'^2 + 2*(c'^2 + d'^2))/2; potential b + 2*d\n"
    "constraint crank: a^2 + b^2 = 1; constraint coupler: (c - a)^2 + (d - b)^2 = l\n"
    "constraint rocker: (c - 2.2)^2 + d^2 = 2.25; simulate 0 .. 2\n"
    "initial a ~ 0, b ~ 1, c ~ 1.7, d ~ 1.5";

/* Over a bump: drift may be far where the error seems small. */
static const char bump[] =
    "param l = 1; coord x, y; kinetic (x'^2 + y'^2)/2; potential y\n"
    "constraint c: y = exp(-l*x^2); initial x = -2, y ~ 0, y' ~ 0; simulate 0 .. 4";

static void test_parameters_and_frames(void **state)
{
    (void)state;
    ensemble e;
    open_ensemble(&e, skate, "th'", "J");
    set_columns(&e, 0.5, 0.01, 0.1, 0.003);
    check_threads(&e, MEMBERS);
    e.options.on_frame = add_frame;
    check_threads(&e, MEMBERS);
    assert_true(e.frames >= 5 * MEMBERS);
    close_ensemble(&e);
}

/* Every third member grows without bound, leaves its lane and fails with a message. */
static void test_members_that_fail(void **state)
{
    (void)state;
    ensemble e;
    open_ensemble(&e, "coord x; kinetic x'^2/2; force x = 3/2*x^2; simulate 0 .. 3", "x", "x'");
    set_columns(&e, 0.001, 0.0002, 0, 0);
    for (size_t k = 0; k < MEMBERS; k += 3)
        e.values[2 * k] = 2 + 0.01 * (double)k;
    check_threads(&e, MEMBERS - MEMBERS / 3);
    assert_int_equal(e.result.failed, MEMBERS / 3);
    close_ensemble(&e);
}

/* On lanes and one by one. */
static void check_tolerances(ensemble *e, int methods)
{
    static const double rtol[] = {0.3, 1e-2, 1e-5, 1e-10};
    static const char *const method[] = {"dop853", "rk5", "auto"};
    size_t batched = 0, runs = 0;
    e->members.count = 90;
    for (int k = 0; k < 4 * methods; k++) {
        e->options.run.method = method[k % methods];
        e->options.run.rtol = rtol[k / methods];
        e->options.run.atol = 0.01 * rtol[k / methods];
        e->options.one_by_one = false;
        uint64_t lanes = run_on(e, 2);
        batched += e->result.batched;
        runs += e->members.count;
        e->options.one_by_one = true;
        if (run_on(e, 2) != lanes)
            fail_msg("%s at %g: other bits on lanes", method[k % methods], rtol[k / methods]);
    }
    assert_true(batched > runs / 2 && batched < runs); /* some were lost, most were not */
}

static void test_tolerances(void **state)
{
    (void)state;
    ensemble e;
    open_ensemble(&e, skate, "th'", "J");
    set_columns(&e, 0.5, 0.04, 0.1, 0.004);
    check_tolerances(&e, 3);
    close_ensemble(&e);
    open_ensemble(&e, four_bar, "a'", "l");
    set_columns(&e, 0.5, 0.02, 4, 0.001);
    check_tolerances(&e, 3);
    close_ensemble(&e);
    open_ensemble(&e, bump, "x'", "l");
    set_columns(&e, 0.5, 0.05, 3, 0.2);
    check_tolerances(&e, 3);
    close_ensemble(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters_and_frames),
        cmocka_unit_test(test_members_that_fail),
        cmocka_unit_test(test_tolerances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
