/* Sweeps: measures against closed forms, rows against single runs, pieces against the whole. */
#include "support/check.h"

#include <hamel/hamel.h>

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 4096, MOST_MEASURES = 16 };

typedef struct study {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sweep_plan *plan;
    hm_measures *measures;
    hm_sweep_options options;
    hm_sweep_result result;
    double value[MOST_ROWS][4], measure[MOST_ROWS][MOST_MEASURES];
    hm_run_status status[MOST_ROWS];
    size_t rows, stop_after;
} study;

static study s;

static bool on_row(void *user, const hm_sweep_row *row)
{
    (void)user;
    assert_true(s.rows < s.stop_after); /* no call follows a `false` */
    size_t i = s.rows++;
    assert_int_equal(row->point, s.options.first + i);
    for (size_t c = 0; c < hm_sweep_plan_columns(s.plan); c++)
        s.value[i][c] = row->values[c];
    for (size_t k = 0; k < hm_measures_count(s.measures); k++)
        s.measure[i][k] = row->measures[k];
    s.status[i] = row->status;
    return s.rows < s.stop_after;
}

static void open_study(const char *text, const char *measures, hm_sweep_spec spec)
{
    s = (study){.context = hm_context_create(NULL), .stop_after = MOST_ROWS};
    assert_int_equal(hm_measures_parse(s.context, measures, &s.measures), HM_OK);
    hm_model_options options = hm_model_options_default();
    options.more = hm_measures_statements(s.measures);
    assert_int_equal(hm_model_parse(s.context, text, strlen(text), &options, &s.model), HM_OK);
    assert_int_equal(hm_system_create(s.model, &s.system), HM_OK);
    assert_int_equal(hm_sweep_plan_create(s.context, s.model, &spec, &s.plan), HM_OK);
    s.options = hm_sweep_options_default(s.model, s.plan);
    s.options.on_row = on_row;
}

static void close_study(void)
{
    hm_sweep_plan_destroy(s.plan);
    hm_system_destroy(s.system);
    hm_model_destroy(s.model);
    hm_measures_destroy(s.measures);
    hm_context_destroy(s.context);
}

static void run_study(void)
{
    assert_int_equal(hm_sweep_run(s.context, s.system, s.plan, s.measures, &s.options, &s.result),
                     HM_OK);
}

/* x = a cos t over ten half periods. */
static void test_measures(void **state)
{
    (void)state;
    hm_sweep_spec spec = hm_sweep_spec_default();
    spec.grid = "x=0.5|1|2";
    open_study("coord x; kinetic x'^2/2; potential x^2/2; initial x = 1\n"
               "event up: x = 0 rising record\n"
               "simulate 0 .. 10*pi every pi/200",
               "end = final(x), max(x), min(x), mean(x), rms(x), integral(x^2), time(up), "
               "n = count(up), v = first(up, x'), crossing(x = 0, t), settled(x, 0.1)",
               spec);
    s.options.run.rtol = 1e-11;
    s.options.run.atol = 1e-13;
    run_study();
    assert_int_equal(s.rows, 3);
    assert_string_equal(hm_measures_name(s.measures, 0), "end");
    assert_string_equal(hm_measures_name(s.measures, 1), "max(x)");
    for (size_t i = 0; i < 3; i++) {
        double a = s.value[i][0], *m = s.measure[i], pi = acos(-1);
        double settled = 10 * pi - acos(1 - 0.1 / a);
        check_number("final", m[0], a, 1e-8);
        check_number("max", m[1], a, 1e-8);
        check_number("min", m[2], -a, 1e-8);
        assert_true(fabs(m[3]) < 1e-8);
        check_number("rms", m[4], a / sqrt(2), 1e-8);
        check_number("integral", m[5], a * a * 5 * pi, 1e-8);
        check_number("time", m[6], 1.5 * pi, 1e-8);
        check_number("count", m[7], 5, 0);
        check_number("first", m[8], a, 1e-8);
        check_number("crossing", m[9], pi / 2, 1e-3);
        assert_true(m[10] >= settled - 1e-9 && m[10] < settled + pi / 200 + 1e-9);
    }
    close_study();
}

/* A member is the run with these values: the same bits; and pieces are the whole. */
static void test_pieces(void **state)
{
    (void)state;
    static double whole[MOST_ROWS][MOST_MEASURES];
    hm_sweep_spec spec = hm_sweep_spec_default();
    spec.random = "m=uniform(1,2), a=normal(0,1)";
    spec.samples = 3000;
    open_study("param m = 1; coord a, b; kinetic m*(a'^2 + b'^2)/2 + a'*b'*cos(a - b)/2\n"
               "potential -9.81*(cos(a) + cos(b)); initial a = 1, b = 2; simulate 0 .. 1",
               "final(a), final(b')", spec);
    run_study();
    assert_int_equal(s.rows, 3000);
    memcpy(whole, s.measure, sizeof whole);
    for (unsigned jobs = 1; jobs <= 2; jobs++)
        for (size_t first = 0; first < 3000; first += 1499) {
            s.rows = 0;
            s.options.first = first;
            s.options.end = first + 1499 < 3000 ? first + 1499 : 3000;
            s.options.jobs = jobs;
            run_study();
            assert_int_equal(s.rows, s.options.end - first);
            for (size_t i = 0; i < s.rows; i++)
                assert_memory_equal(s.measure[i], whole[first + i], 2 * sizeof(double));
        }
    close_study();
}

static void test_stop(void **state)
{
    (void)state;
    hm_sweep_spec spec = hm_sweep_spec_default();
    spec.grid = "x=0:1:2000";
    open_study("coord x; kinetic x'^2/2; potential x^2/2; simulate 0 .. 1", "final(x)", spec);
    s.stop_after = 100;
    run_study();
    assert_true(s.result.interrupted && s.rows == 100);
    close_study();
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "x",
                                      "final()",
                                      "final(x, y)",
                                      "sup(x)",
                                      "a = final(x), a = max(x)",
                                      "settled(x, -1)",
                                      "crossing(x, y)",
                                      "first(up)",
                                      " = final(x)"};
    hm_context *context = hm_context_create(NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        hm_measures *m;
        assert_int_equal(hm_measures_parse(context, bad[i], &m), HM_ERR_USAGE);
        assert_int_equal(hm_context_error_count(context), 1);
        hm_context_clear(context);
    }
    hm_context_destroy(context);
    hm_sweep_spec spec = hm_sweep_spec_default();
    spec.grid = "x=1|2";
    open_study("coord x; kinetic x'^2/2; simulate 0 .. 1", "time(hit)", spec);
    assert_int_equal(hm_sweep_run(s.context, s.system, s.plan, s.measures, &s.options, &s.result),
                     HM_ERR_USAGE);
    close_study();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_measures),
                                       cmocka_unit_test(test_pieces), cmocka_unit_test(test_stop),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
