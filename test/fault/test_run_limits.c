/* Runs end: steps that do not move t, more steps, rows or events than a limit allows; and when a callback says
 * stop, no callback follows. */
#include "support/check.h"

#include <hamel/hamel.h>

#include <math.h>
#include <string.h>

static const char fall[] = "coord x\nparam g = 1\nkinetic x'^2/2\nforce x = -g\ninitial x = 1\n"
                           "event low: cos(50*t) = 0 record\nsimulate 0 .. 1 every 0.1\n";

typedef struct subject {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
    hm_run_options options;
} subject;

static void make(subject *s)
{
    s->context = hm_context_create(NULL);
    assert_int_equal(hm_model_parse(s->context, fall, strlen(fall), NULL, &s->model), HM_OK);
    assert_int_equal(hm_system_create(s->model, &s->system), HM_OK);
    assert_int_equal(hm_sim_create(s->system, &s->sim), HM_OK);
    s->options = hm_run_options_default(s->model);
}

static void end(subject *s)
{
    hm_context_destroy(s->context);
    hm_model_destroy(s->model);
    hm_system_destroy(s->system);
    hm_sim_destroy(s->sim);
}

static bool said(const subject *s, const char *words)
{
    hm_context *context = hm_sim_context(s->sim);
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++)
        if (strstr(hm_context_diagnostic(context, i)->message, words))
            return true;
    return false;
}

/* ---- steps ---- */

static void short_steps(void **state)
{
    static const char *const methods[] = {"midpoint", "dla", "rattle"};
    (void)state;
    for (int k = 0; k < 3; k++)
        for (double step = 1e-17; step > 1e-310; step *= 1e-140) {
            subject s;
            hm_run_result result;
            make(&s);
            s.options.method = methods[k];
            s.options.step = step;
            assert_int_equal(hm_sim_run(s.sim, &s.options, &result), HM_ERR_LIMIT);
            assert_true(said(&s, "to the end, more than 1000000000"));
            assert_int_equal(result.status, HM_RUN_FAILED);
            end(&s);
        }
}

/* Who steps himself has no end: there t is watched. */
static void stalled(void **state)
{
    static const char *const methods[] = {"midpoint", "dla", "rattle"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        subject s;
        hm_run_result result;
        hm_status status = HM_OK;
        make(&s);
        s.options = (hm_run_options){
            .start = 1e9, .end = INFINITY, .every = 1, .method = methods[k], .step = 1e-9};
        assert_int_equal(hm_sim_start(s.sim, &s.options), HM_OK);
        for (int i = 0; i < 1000 && status == HM_OK; i++)
            status = hm_sim_step(s.sim);
        assert_int_equal(status, HM_ERR_NUMERIC);
        assert_int_equal(hm_sim_result(s.sim, &result), HM_OK);
        assert_non_null(strstr(result.message, "steps no longer move t"));
        end(&s);
    }
}

static void short_bound(void **state)
{
    subject s;
    hm_run_result result;
    (void)state;
    make(&s);
    s.options.largest_step = 1e-12;
    assert_int_equal(hm_sim_run(s.sim, &s.options, &result), HM_ERR_LIMIT);
    s.options.most_steps = 0; /* no limit, but the run has one row only */
    s.options.end = 1e-9;
    s.options.every = 1;
    assert_int_equal(hm_sim_run(s.sim, &s.options, &result), HM_OK);
    end(&s);
}

/* ---- limits ---- */

static void limits(void **state)
{
    subject s;
    hm_run_result result;
    (void)state;
    make(&s);
    s.options.most_steps = 3;
    s.options.largest_step = 0.34;
    s.options.end = 1.3;
    assert_int_equal(hm_sim_run(s.sim, &s.options, &result), HM_ERR_LIMIT);
    assert_true(said(&s, "more than 3")); /* known before */
    s.options.largest_step = INFINITY;
    s.options.end = 100;
    assert_int_equal(hm_sim_run(s.sim, &s.options, &result), HM_ERR_LIMIT);
    assert_int_equal(result.steps, 3);
    assert_non_null(strstr(result.message, "after 3 steps, the limit"));
    assert_non_null(result.q);
    s.options = hm_run_options_default(s.model);
    s.options.most_rows = 9;
    assert_int_equal(hm_sim_run(s.sim, &s.options, &result), HM_ERR_ARGUMENT);
    assert_true(said(&s, "output times, more than 9"));
    s.options.most_rows = 10;
    s.options.most_events = 4;
    s.options.largest_step = 0.01;
    assert_int_equal(hm_sim_run(s.sim, &s.options, &result), HM_ERR_LIMIT);
    assert_int_equal(result.event_count, 5);
    assert_non_null(strstr(result.message, "after 4 events, the limit"));
    s.options.most_events = 16; /* 50/pi of them in a unit of time */
    assert_int_equal(hm_sim_run(s.sim, &s.options, &result), HM_OK);
    assert_int_equal(result.event_count, 16);
    end(&s);
}

/* ---- members and points ---- */

typedef struct listener {
    int calls, after; /* after one of them said stop */
    int stop_at;
    int failed;
    bool stopped;
} listener;

static bool listen(listener *l)
{
    l->after += l->stopped;
    if (++l->calls == l->stop_at)
        l->stopped = true;
    return !l->stopped;
}
static bool on_member(void *user, const hm_member_result *r)
{
    listener *l = user;
    l->failed += r->status == HM_RUN_FAILED && strstr(r->message, "the limit") != NULL;
    return listen(l);
}
static bool on_frame(void *user, size_t member, const hm_frame *frame)
{
    (void)member, (void)frame;
    return listen(user);
}
static bool on_progress(void *user, size_t done, size_t count)
{
    (void)done, (void)count;
    return listen(user);
}
static bool on_row(void *user, const hm_sweep_row *row)
{
    listener *l = user;
    l->failed += row->status == HM_RUN_FAILED && strstr(row->message, "the limit") != NULL;
    return listen(l);
}

enum { MEMBERS = 400 };

static hm_ensemble_members many(hm_ensemble_column *column, double *values)
{
    *column = (hm_ensemble_column){HM_COLUMN_COORDINATE, 0};
    for (int i = 0; i < MEMBERS; i++)
        values[i] = i;
    return (hm_ensemble_members){
        .count = MEMBERS, .column_count = 1, .columns = column, .values = values};
}

/* However many threads there are, and wherever it is said. */
static void cancelled(void **state)
{
    static double values[MEMBERS];
    hm_ensemble_column column;
    const hm_ensemble_members members = many(&column, values);
    (void)state;
    for (int trial = 0; trial < 36; trial++) {
        subject s;
        listener l = {.stop_at = 1 + trial * 7 % 50};
        hm_ensemble_result result;
        make(&s);
        hm_ensemble_options o = hm_ensemble_options_default(s.model);
        o.jobs = 1 + (unsigned)trial % 4;
        o.one_by_one = trial % 3 == 0;
        o.run.most_steps = trial % 2 ? 2 : 0; /* some have a message, and are kept otherwise */
        o.on_member = on_member;
        o.on_frame = trial % 4 < 2 ? on_frame : NULL;
        o.on_progress = on_progress;
        o.user = &l;
        assert_int_equal(hm_ensemble_run(s.context, s.system, &members, &o, &result), HM_OK);
        assert_int_equal(l.after, 0);
        assert_int_equal(l.calls, l.stop_at);
        assert_int_equal(result.ok + result.events + result.failed + result.interrupted, MEMBERS);
        assert_true(result.interrupted > 0);
        end(&s);
    }
}

static void members_have_limits(void **state)
{
    static double values[MEMBERS];
    hm_ensemble_column column;
    const hm_ensemble_members members = many(&column, values);
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        subject s;
        listener l = {0};
        hm_ensemble_result result;
        make(&s);
        hm_ensemble_options o = hm_ensemble_options_default(s.model);
        o.one_by_one = alone;
        o.run.end = 100;
        o.run.most_steps = 2;
        o.on_member = on_member;
        o.user = &l;
        assert_int_equal(hm_ensemble_run(s.context, s.system, &members, &o, &result), HM_OK);
        assert_int_equal(l.failed, MEMBERS);
        assert_int_equal(result.failed, MEMBERS);
        end(&s);
    }
}

static void points_have_limits(void **state)
{
    subject s;
    hm_sweep_spec spec = hm_sweep_spec_default();
    hm_sweep_plan *plan;
    hm_measures *measures;
    hm_sweep_result result;
    (void)state;
    make(&s);
    spec.grid = "g=1:2:30";
    assert_int_equal(hm_sweep_plan_create(s.context, s.model, &spec, &plan), HM_OK);
    assert_int_equal(hm_measures_parse(s.context, "count(low)", &measures), HM_OK);
    for (int stop = 0; stop < 3; stop++) {
        listener l = {.stop_at = 7 * stop};
        hm_sweep_options o = hm_sweep_options_default(s.model, plan);
        o.run.most_events = 4;
        o.run.largest_step = 0.01;
        o.on_row = on_row;
        o.user = &l;
        assert_int_equal(hm_sweep_run(s.context, s.system, plan, measures, &o, &result), HM_OK);
        assert_int_equal(l.calls, stop ? l.stop_at : 30);
        assert_int_equal(l.failed, l.calls);
        assert_int_equal(l.after, 0);
    }
    end(&s);
    hm_sweep_plan_destroy(plan);
    hm_measures_destroy(measures);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_steps),        cmocka_unit_test(stalled),
        cmocka_unit_test(short_bound),        cmocka_unit_test(limits),
        cmocka_unit_test(cancelled),          cmocka_unit_test(members_have_limits),
        cmocka_unit_test(points_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
