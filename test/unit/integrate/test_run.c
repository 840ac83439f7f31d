/* Runs as a whole: frames, ledger, interruption, failures, the step-wise API, long runs. */
#include "support/check.h"
#include "support/motion.h"

#include <math.h>
#include <string.h>

static const char pendulum[] = "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                               "constraint rod: x^2 + y^2 = 1; initial x = 1, y = 0\n"
                               "output tension = multiplier(rod); simulate 0 .. 2 every 0.25";

/* ---- frames ---- */

typedef struct record {
    size_t count, limit;
    double t[64];
    double worst_violation, worst_balance, worst_check;
    hm_frame_reason last;
} record;

static bool keep(void *user, const hm_frame *frame)
{
    record *r = user;
    r->t[r->count++ % 64] = frame->t;
    r->last = frame->reason;
    if (frame->position_violation)
        r->worst_violation = fmax(r->worst_violation, fmax(fabs(frame->position_violation[0]),
                                                           fabs(frame->velocity_violation[0])));
    r->worst_balance = fmax(r->worst_balance, fabs(frame->balance));
    r->worst_check = fmax(r->worst_check, frame->ideal_check);
    return r->limit == 0 || r->count < r->limit;
}

static void watch(motion *m, record *r)
{
    m->options.on_frame = keep;
    m->options.user = r;
    m->options.content = HM_FRAME_CONTENT_ALL;
}

static void test_frames(void **state)
{
    (void)state;
    motion *m = motion_text(pendulum);
    record r = {0};
    watch(m, &r);
    motion_must(m);
    assert_int_equal(r.count, 9);
    for (size_t k = 0; k < 9; k++)
        check_number("t", r.t[k], 0.25 * (double)k, 1e-15);
    assert_true(r.worst_violation < 1e-14); /* between steps too */
    assert_true(r.worst_balance < 1e-8);
    assert_true(r.worst_check < 1e-14);
    motion_close(m);
    m = motion_text(pendulum); /* an end that is no output time */
    r = (record){0};
    watch(m, &r);
    m->options.end = 2.1;
    motion_must(m);
    assert_int_equal(r.count, 10);
    assert_int_equal(r.last, HM_FRAME_REASON_END);
    motion_close(m);
}

static void test_interruption(void **state)
{
    (void)state;
    motion *m = motion_text(pendulum);
    record r = {.limit = 4};
    watch(m, &r);
    assert_int_equal(motion_run(m), HM_OK);
    assert_int_equal(m->result.status, HM_RUN_INTERRUPTED);
    assert_int_equal(r.count, 4);
    assert_true(m->result.t_end < 2);
    motion_close(m);
}

/* ---- ledger ---- */

static void check_balance(const char *path, double tolerance)
{
    motion *m = motion_file(path, NULL, 0);
    record r = {0};
    watch(m, &r);
    m->options.end = fmin(m->options.end, 5);
    motion_must(m);
    print_message("%-50s balance %.1e\n", path, m->result.balance_error);
    if (!(m->result.balance_error <= tolerance) || !(r.worst_balance <= tolerance))
        fail_msg("%s: balance %.2g, in frames %.2g", path, m->result.balance_error,
                 r.worst_balance);
    motion_close(m);
}

static void test_ledger_closes(void **state)
{
    (void)state;
    check_balance("test/cases/oracle/004-energy.hamel", 1e-7);
    check_balance("test/cases/oracle/004-affine-rheonomic.hamel", 1e-6);
    check_balance("test/cases/oracle/001-spiral-true.hamel", 1e-4); /* energies of 400 */
    check_balance("examples/appell.hamel", 1e-8);
    check_balance("examples/manipulator.hamel", 1e-7);
    check_balance("examples/slider-crank.hamel", 1e-7);
    check_balance("examples/charged-particle.hamel", 1e-8);
}

static void test_ledger_of_other_methods(void **state)
{
    (void)state;
    const char *methods[] = {"rk5", "radau"};
    for (int k = 0; k < 2; k++) {
        motion *m = motion_file("test/cases/oracle/004-energy.hamel", NULL, 0);
        m->options.end = 2;
        m->options.method = methods[k];
        motion_must(m);
        assert_true(m->result.balance_error < 1e-6);
        assert_true(m->result.work.dissipation < -0.1);
        motion_close(m);
    }
}

/* ---- failures ---- */

static void test_blow_up(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; mass x, x = 1; force x = 6*x^2; initial x = 1, x' = 2\n"
                            "simulate 0 .. 10 every 0.1"); /* x = (1 - t)^-2 */
    record r = {0};
    m->options.on_frame = keep;
    m->options.user = &r;
    assert_int_equal(motion_run(m), HM_ERR_NUMERIC);
    assert_int_equal(m->result.status, HM_RUN_FAILED);
    check_number("t", m->result.t_end, 1, 1e-6);
    assert_true(motion_says(m, "without bound"));
    assert_true(r.count >= 10);
    assert_true(isfinite(motion_value(m, "x")));
    motion_close(m);
}

static void test_not_finite(void **state)
{
    (void)state;
    motion *m = motion_text("coord x; kinetic x'^2/2; force x = -1/sqrt(1 - t); simulate 0 .. 2");
    assert_int_equal(motion_run(m), HM_ERR_NUMERIC);
    assert_true(m->result.t_end <= 1 && m->result.t_end > 0.99);
    assert_true(m->result.message[0] != 0);
    motion_close(m);
    m = motion_text(
        "coord x; kinetic x'^2/2; force x = log(x); simulate 0 .. 2"); /* at the start */
    assert_int_equal(motion_run(m), HM_ERR_NUMERIC);
    assert_true(hm_context_diagnostic_count(hm_sim_context(m->sim)) > 0);
    motion_close(m);
}

static void test_bad_options(void **state)
{
    (void)state;
    motion *m = motion_text(pendulum);
    m->options.method = "magic";
    assert_int_equal(motion_run(m), HM_ERR_USAGE);
    assert_true(motion_says(m, "magic"));
    m->options.method = "dop853";
    m->options.drift = "sideways";
    assert_int_equal(motion_run(m), HM_ERR_USAGE);
    m->options.drift = NULL;
    m->options.every = 1e-300; /* would go on for ever */
    assert_int_equal(motion_run(m), HM_ERR_USAGE);
    assert_true(motion_says(m, "output times"));
    m->options.every = 0.1;
    m->options.end = -1;
    assert_int_equal(motion_run(m), HM_ERR_USAGE);
    m->options.end = NAN;
    motion_must(m);
    check_number("end", m->result.t_end, 2, 0);
    motion_close(m);
}

static void test_undetermined(void **state)
{
    (void)state;
    motion *m = motion_text("coord x, y; kinetic x'^2/2; simulate 0 .. 1");
    assert_int_equal(motion_run(m), HM_ERR_UNDETERMINED);
    assert_true(motion_says(m, "y''"));
    motion_close(m);
}

/* ---- step by step ---- */

static void test_stepwise(void **state)
{
    (void)state;
    motion *m = motion_text("input u = 0; coord x; kinetic x'^2/2; force x = u; simulate 0 .. 4");
    double q, v;
    hm_frame frame;
    assert_int_equal(hm_sim_step(m->sim), HM_ERR_USAGE);
    assert_int_equal(hm_sim_start(m->sim, NULL), HM_OK);
    assert_int_equal(hm_sim_set_input(m->sim, 0, 2, 0, 0), HM_OK);
    motion_advance(m, 1);
    check_number("x'", motion_value(m, "x'"), 2, 1e-12);
    assert_int_equal(hm_sim_set_input(m->sim, 0, -2, 0, 0), HM_OK);
    motion_advance(m, 2);
    check_number("x", motion_value(m, "x"), 2, 1e-12);
    check_number("x' again", motion_value(m, "x'"), 0, 1e-12);
    assert_int_equal(hm_sim_step(m->sim), HM_OK);
    double t = 0.5 * (2 + hm_sim_time(m->sim));
    assert_int_equal(hm_sim_interpolate(m->sim, t, &q, &v, NULL), HM_OK);
    check_number("between", v, -2 * (t - 2), 1e-11);
    assert_int_equal(hm_sim_frame(m->sim, HM_FRAME_CONTENT_ALL, &frame), HM_OK);
    check_number("x''", frame.qdd[0], -2, 0);
    check_number("work", frame.work.impressed, frame.kinetic, 1e-11);
    motion_close(m);
}

/* A run leaves the sim ready for eval and for another run with other parameters. */
static void test_parameters_between_runs(void **state)
{
    (void)state;
    motion *m = motion_text("param k = 1; coord x; kinetic x'^2/2; force x = -k*sign(x - 5) - k\n"
                            "initial x = 1; simulate 0 .. 1");
    double zero = 0, one = 1;
    hm_evaluation at;
    for (double k = 1; k < 4; k++) {
        hm_sim_set_state(m->sim, 0, &one, &zero, NULL);
        assert_int_equal(hm_sim_set_param(m->sim, "k", k), HM_OK);
        motion_must(m);
        check_number("x", motion_value(m, "x"), 1, 1e-12); /* -k*(-1) - k = 0 */
        double far = 9;
        hm_sim_set_state(m->sim, 0, &far, &zero, NULL);
        assert_int_equal(hm_sim_evaluate(m->sim, NULL, &at), HM_OK);
        check_number("x''", at.qdd[0], -2 * k, 1e-14);
    }
    motion_close(m);
}

/* ---- long runs ---- */

static void check_soak(const char *text, double end)
{
    motion *m = motion_text(text);
    m->options.end = end;
    m->options.every = end;
    motion_must(m);
    print_message("%ld steps, violation %.1e, energy balance %.1e\n", m->result.steps,
                  motion_violation(m), m->result.balance_error);
    assert_true(m->result.steps > 10000);
    assert_true(motion_violation(m) < 1e-12);
    motion_close(m);
}

static void test_soak(void **state)
{
    (void)state;
    check_soak(pendulum, 2000);
    check_soak("coord x, y, z; kinetic (x'^2 + y'^2 + z'^2)/2; potential (x^2 + y^2)/2\n"
               "constraint c: z' = y*x'; initial x = 1, y' = 1, x' = 0, z' = 0",
               3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),        cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_ledger_closes), cmocka_unit_test(test_ledger_of_other_methods),
        cmocka_unit_test(test_blow_up),       cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_bad_options),   cmocka_unit_test(test_undetermined),
        cmocka_unit_test(test_stepwise),      cmocka_unit_test(test_parameters_between_runs),
        cmocka_unit_test(test_soak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
