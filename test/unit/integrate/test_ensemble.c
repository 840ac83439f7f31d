/* Ensembles: every member is the run of hm_sim_run, bit by bit, on lanes and on threads; members that
 * lanes do not serve; failures; columns; allocation failures. */
#include "support/check.h"

#include <hamel/hamel.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char skate[] =
    "param m = 1, J = 0.1, g = 4.905, unused = 2*m; coord x, y, th\n"
    "kinetic m/2*(x'^2 + y'^2) + J/2*th'^2; potential -m*g*x\n"
    "constraint blade: sin(th)*x' - cos(th)*y' = 0\n"
    "output speed = hypot(x', y'); output side = multiplier(blade); simulate 0 .. 4 every 0.5";
static const char pendulum[] =
    "param l = 1; coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
    "constraint rod: x^2 + y^2 = l^2; initial x ~ 1, y ~ 0\n"
    "simulate 0 .. 3";
/* Two rows: the rank watch; a state; an input that depends on time. */
static const char disc[] =
    "param g = 9.81; coord x, y, yaw, lean, spin; state w' = spin; input u = 0.1*sin(t)\n"
    "let e1 = x'*cos(yaw) + y'*sin(yaw) + yaw'*sin(lean)\n"
    "let e2 = -x'*sin(yaw) + y'*cos(yaw) - lean'*cos(lean)\n"
    "kinetic (e1^2 + e2^2 + (lean'*sin(lean))^2)/2 + (lean'^2 + (yaw'*cos(lean))^2)/8\n"
    "kinetic (spin' + yaw'*sin(lean))^2/4; potential g*cos(lean); force spin = u - 0.01*spin'\n"
    "constraint a: x' = cos(yaw)*spin'; constraint b: y' = sin(yaw)*spin'\n"
    "initial lean = 0.2, yaw' = 0.5, spin' = 3; simulate 0 .. 3";
/* Time, a state and a work, without inputs. */
static const char driven[] =
    "param k = 2; coord x, y; state w' = x*y - w; kinetic (x'^2 + y'^2)/2\n"
    "potential k*x^2/2 + cos(y); force x = sin(3*t) - 0.1*x' + 0.01*w\n"
    "initial y' = 1; simulate 0 .. 3";
/* A four-bar in positions of its joints: rows that come near to each other and part again. */
static const char four_bar[] =
    "coord a, b, c, d; kinetic (a'^2 + b'^2 + 2*(c'^2 + d'^2))/2; potential b + 2*d\n"
    "constraint crank: a^2 + b^2 = 1; constraint coupler: (c - a)^2 + (d - b)^2 = 4\n"
    "constraint rocker: (c - 2.2)^2 + d^2 = 2.25; simulate 0 .. 3\n"
    "initial a ~ 0, b ~ 1, c ~ 1.7, d ~ 1.5, a' = 1.5";
static const char ball[] = "coord y; kinetic y'^2/2; potential 9.81*y; initial y = 1\n"
                           "event floor: y = 0 falling set y' = -0.8*y'; simulate 0 .. 2";
static const char blow_up[] = "coord x; kinetic x'^2/2; force x = 3/2*x^2; simulate 0 .. 10";

/* ---- running ---- */

typedef struct world {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_ensemble_column columns[4];
    size_t column_count;
    double values[400];
    hm_ensemble_members members;
    hm_ensemble_options options;
    hm_ensemble_result result;
} world;

static void open_world(world *w, const char *text, const char *const *names, size_t count,
                       const hm_allocator *allocator)
{
    *w = (world){.context = hm_context_create(allocator)};
    assert_int_equal(hm_model_parse(w->context, text, strlen(text), NULL, &w->model), HM_OK);
    assert_int_equal(hm_system_create(w->model, &w->system), HM_OK);
    for (; names[w->column_count]; w->column_count++)
        assert_int_equal(hm_ensemble_find_column(w->context, w->model, names[w->column_count],
                                                 &w->columns[w->column_count]),
                         HM_OK);
    w->members = (hm_ensemble_members){count, w->column_count, w->columns, w->values};
    w->options = hm_ensemble_options_default(w->model);
    w->options.run.method = "dop853";
    w->options.run.rtol = 1e-8;
    w->options.run.atol = 1e-10;
    w->options.jobs = 1;
}

static void close_world(world *w)
{
    hm_system_destroy(w->system);
    hm_model_destroy(w->model);
    hm_context_destroy(w->context);
}

/* Column c of member k: first + k step. */
static void set_column(world *w, size_t c, double first, double step)
{
    for (size_t k = 0; k < w->members.count; k++)
        w->values[k * w->column_count + c] = first + step * (double)k;
}

/* What a member came to, and a sum over its frames. */
typedef struct outcome {
    hm_run_status status;
    bool batched;
    long steps, rejected, evaluations;
    double t_end, values[24], violation, energy_initial, energy_final, balance_error, frames;
    char message[160];
} outcome;

typedef struct keeper {
    const world *w;
    outcome *out;
    size_t next; /* members come in order */
    size_t stop_after;
} keeper;

static bool keep_member(void *user, const hm_member_result *r)
{
    keeper *k = user;
    outcome *o = &k->out[r->member];
    size_t n = hm_model_coordinate_count(k->w->model), at = 0;
    assert_int_equal(r->member, k->next++);
    o->status = r->status;
    o->batched = r->batched;
    o->steps = r->steps;
    o->rejected = r->rejected;
    o->evaluations = r->evaluations;
    o->t_end = r->t_end;
    o->violation = r->violation;
    o->energy_initial = r->energy_initial;
    o->energy_final = r->energy_final;
    o->balance_error = r->balance_error;
    for (size_t i = 0; r->q && i < n; i++) {
        o->values[at++] = r->q[i];
        o->values[at++] = r->v[i];
    }
    for (size_t i = 0; r->q && i < hm_model_state_count(k->w->model); i++)
        o->values[at++] = r->z[i];
    for (size_t i = 0; r->outputs && i < hm_model_output_count(k->w->model); i++)
        o->values[at++] = r->outputs[i];
    snprintf(o->message, sizeof o->message, "%s", r->message);
    return !k->stop_after || k->next < k->stop_after;
}

static bool keep_frame(void *user, size_t member, const hm_frame *frame)
{
    keeper *k = user;
    assert_int_equal(member, k->next);
    k->out[member].frames += (frame->t + 1) * frame->q[0] + frame->v[0] +
                             (frame->outputs ? frame->outputs[0] : 0);
    return true;
}

static outcome *run_world(world *w, bool one_by_one, unsigned jobs, bool frames)
{
    keeper k = {.w = w, .out = calloc(w->members.count, sizeof(outcome))};
    w->options.one_by_one = one_by_one;
    w->options.jobs = jobs;
    w->options.on_member = keep_member;
    w->options.on_frame = frames ? keep_frame : NULL;
    w->options.user = &k;
    assert_int_equal(hm_ensemble_run(w->context, w->system, &w->members, &w->options, &w->result),
                     HM_OK);
    assert_int_equal(k.next, w->members.count);
    return k.out;
}

/* All but `batched`, bit by bit. */
static void compare(const world *w, const outcome *a, const outcome *b)
{
    for (size_t k = 0; k < w->members.count; k++) {
        outcome x = a[k], y = b[k];
        x.batched = y.batched = false;
        if (memcmp(&x.values, &y.values, sizeof x.values) != 0 || x.steps != y.steps ||
            x.evaluations != y.evaluations || x.rejected != y.rejected || x.t_end != y.t_end ||
            x.status != y.status || x.violation != y.violation || x.frames != y.frames ||
            x.balance_error != y.balance_error || x.energy_final != y.energy_final ||
            strcmp(x.message, y.message) != 0)
            fail_msg(
                "member %zu differs: %.17g %.17g, %.17g %.17g, steps %ld %ld, evaluations %ld %ld",
                k, x.frames, y.frames, x.values[0], y.values[0], x.steps, y.steps, x.evaluations,
                y.evaluations);
    }
}

/* On lanes and one by one, on one thread and on three, with frames and without. */
static void check_world(world *w, size_t batched)
{
    outcome *lanes = run_world(w, false, 1, false);
    assert_int_equal(w->result.batched, batched);
    outcome *scalar = run_world(w, true, 1, false);
    assert_int_equal(w->result.batched, 0);
    compare(w, lanes, scalar);
    outcome *threads = run_world(w, false, 3, false);
    compare(w, lanes, threads);
    outcome *lanes_frames = run_world(w, false, 2, true);
    outcome *scalar_frames = run_world(w, true, 2, true);
    compare(w, lanes_frames, scalar_frames);
    for (size_t k = 0; k < w->members.count; k++)
        if (lanes[k].status != HM_RUN_FAILED && !(lanes[k].violation <= 1e-12))
            fail_msg("member %zu: violation %g", k, lanes[k].violation);
    free(lanes);
    free(scalar);
    free(threads);
    free(lanes_frames);
    free(scalar_frames);
}

/* ---- lanes against hm_sim_run ---- */

static void test_skate(void **state)
{
    (void)state;
    world w;
    const char *const names[] = {"th'", "J", NULL};
    open_world(&w, skate, names, 41, NULL);
    set_column(&w, 0, 0.5, 0.13);
    set_column(&w, 1, 0.1, 0.01);
    check_world(&w, 41);
    w.options.run.method = "rk5"; /* first same as last */
    check_world(&w, 41);
    w.members.count = 150; /* so many that stages are compiled */
    set_column(&w, 0, 0.5, 0.03);
    set_column(&w, 1, 0.1, 0.003);
    check_world(&w, 150);
    w.options.run.method = "dop853";
    check_world(&w, 150);
    w.members.count = 41;
    w.options.run.drift = "none";
    w.options.run.method = "dop853";
    outcome *lanes = run_world(&w, false, 1, false), *scalar = run_world(&w, true, 1, false);
    assert_int_equal(w.result.jobs, 1);
    compare(&w, lanes, scalar);
    free(lanes);
    free(scalar);
    close_world(&w);
}

/* The state given is off the constraint: it is made consistent member by member. */
static void test_positions(void **state)
{
    (void)state;
    world w;
    const char *const names[] = {"x", "l", "x'", NULL};
    open_world(&w, pendulum, names, 23, NULL);
    set_column(&w, 0, 0.3, 0.02);
    set_column(&w, 1, 0.8, 0.03);
    set_column(&w, 2, 0.1, 0.05);
    check_world(&w, 23);
    close_world(&w);
}

/* Compiled stages with time, states and works. */
static void test_many_driven(void **state)
{
    (void)state;
    world w;
    const char *const names[] = {"x", "k", "w", NULL};
    open_world(&w, driven, names, 133, NULL);
    set_column(&w, 0, 0.3, 0.02);
    set_column(&w, 1, 0.8, 0.03);
    set_column(&w, 2, 0.1, 0.05);
    check_world(&w, 133);
    close_world(&w);
}

/* Angles between rows that fall: errors of velocities count together, on lanes too. */
static void test_rows_that_come_near(void **state)
{
    (void)state;
    world w;
    const char *const names[] = {"a'", NULL};
    open_world(&w, four_bar, names, 31, NULL);
    set_column(&w, 0, 2.5, 0.05);
    check_world(&w, 31);
    close_world(&w);
}

static void test_rows_states_inputs(void **state)
{
    (void)state;
    world w;
    const char *const names[] = {"spin'", "w", "u", NULL};
    open_world(&w, disc, names, 9, NULL);
    set_column(&w, 0, 2.5, 0.1);
    set_column(&w, 1, 0, 1);
    set_column(&w, 2, -0.1, 0.02);
    check_world(&w, 9);
    w.column_count = w.members.column_count = 2; /* the input as the model has it */
    set_column(&w, 0, 2.5, 0.1);
    set_column(&w, 1, 0, 1);
    check_world(&w, 9);
    close_world(&w);
}

/* ---- what lanes do not serve ---- */

static void test_events(void **state)
{
    (void)state;
    world w;
    const char *const names[] = {"y", NULL};
    open_world(&w, ball, names, 6, NULL);
    set_column(&w, 0, 0.5, 0.3);
    check_world(&w, 0);
    free(run_world(&w, false, 1, false));
    assert_non_null(strstr(w.result.why_not, "events"));
    close_world(&w);
}

/* x'' = 3/2 x^2 with x' = x^(3/2): x = 1/(x0^-1/2 - t/2)^2 is infinite at t = 2/sqrt(x0). */
static void test_failures(void **state)
{
    (void)state;
    world w;
    const char *const names[] = {"x", "x'", NULL};
    open_world(&w, blow_up, names, 10, NULL);
    for (size_t k = 0; k < 10; k++) {
        double x = k % 3 == 0 ? 1 + 0.1 * (double)k : 0.001 * (double)k;
        w.values[2 * k] = x;
        w.values[2 * k + 1] = pow(x, 1.5);
    }
    check_world(&w, 6);
    outcome *out = run_world(&w, false, 1, false);
    assert_int_equal(w.result.failed, 4);
    for (size_t k = 0; k < 10; k++) {
        double x = w.values[2 * k];
        assert_int_equal(out[k].status, k % 3 == 0 ? HM_RUN_FAILED : HM_RUN_OK);
        assert_int_equal(out[k].message[0] != '\0', k % 3 == 0);
        if (k % 3 == 0)
            check_number("blow-up", out[k].t_end, 2 / sqrt(x), 1e-4);
        else
            check_number("x", out[k].values[0], 1 / pow(pow(x, -0.5) - 5, 2), 1e-5);
    }
    free(out);
    close_world(&w);
}

/* A state that cannot be made consistent is that member's failure, with the reason. */
static void test_inconsistent_member(void **state)
{
    (void)state;
    world w;
    const char text[] = "coord x, y; kinetic (x'^2 + y'^2)/2; potential 9.81*y\n"
                        "constraint rod: x^2 + y^2 = 1; initial x = 1, y = 0; simulate 0 .. 1";
    const char *const names[] = {"x", NULL};
    open_world(&w, text, names, 5, NULL);
    set_column(&w, 0, 1, 0);
    w.values[0] = w.values[3] = 1.5;
    outcome *out = run_world(&w, false, 2, false);
    assert_int_equal(w.result.failed, 2);
    assert_int_equal(w.result.batched, 3);
    assert_non_null(strstr(out[3].message, "'rod' is violated by"));
    assert_int_equal(hm_context_error_count(w.context), 0);
    free(out);
    close_world(&w);
}

/* ---- the call ---- */

static void test_columns(void **state)
{
    (void)state;
    world w;
    const char *const names[] = {NULL};
    hm_ensemble_column c;
    open_world(&w,
               "param N = 2, k = 1; coord q[1..N]; state s' = 1; input u = 0\n"
               "for i = 1..N { kinetic q[i]'^2/2 }",
               names, 1, NULL);
    assert_int_equal(hm_ensemble_find_column(w.context, w.model, "q[2]'", &c), HM_OK);
    assert_true(c.kind == HM_COLUMN_VELOCITY && c.index == 1);
    assert_int_equal(hm_ensemble_find_column(w.context, w.model, "s", &c), HM_OK);
    assert_true(c.kind == HM_COLUMN_STATE && c.index == 0);
    assert_int_equal(hm_ensemble_find_column(w.context, w.model, "u", &c), HM_OK);
    assert_true(c.kind == HM_COLUMN_INPUT && c.index == 0);
    assert_int_equal(hm_ensemble_find_column(w.context, w.model, "k", &c), HM_OK);
    assert_true(c.kind == HM_COLUMN_PARAM);
    assert_int_equal(hm_ensemble_find_column(w.context, w.model, "q[3]", &c), HM_ERR_USAGE);
    assert_int_equal(hm_ensemble_find_column(w.context, w.model, "N", &c), HM_ERR_USAGE);
    assert_non_null(strstr(hm_context_diagnostic(w.context, 1)->message, "sets a size"));
    close_world(&w);
}

static void test_refusals(void **state)
{
    (void)state;
    world w;
    const char *const names[] = {"th'", NULL};
    open_world(&w, skate, names, 3, NULL);
    set_column(&w, 0, 1, 1);
    w.values[1] = NAN;
    assert_int_equal(hm_ensemble_run(w.context, w.system, &w.members, &w.options, &w.result),
                     HM_ERR_USAGE);
    w.values[1] = 1;
    w.columns[0].index = 3;
    assert_int_equal(hm_ensemble_run(w.context, w.system, &w.members, &w.options, &w.result),
                     HM_ERR_USAGE);
    w.columns[0].index = 2;
    w.options.run.drift = "sideways";
    assert_int_equal(hm_ensemble_run(w.context, w.system, &w.members, &w.options, &w.result),
                     HM_ERR_USAGE);
    assert_int_equal(hm_context_error_count(w.context), 3);
    w.members.count = 0;
    w.options.run.drift = NULL;
    assert_int_equal(hm_ensemble_run(w.context, w.system, &w.members, &w.options, &w.result),
                     HM_OK);
    close_world(&w);
}

static void test_interruption(void **state)
{
    (void)state;
    world w;
    const char *const names[] = {"th'", NULL};
    open_world(&w, skate, names, 40, NULL);
    set_column(&w, 0, 1, 0.1);
    keeper k = {.w = &w, .out = calloc(40, sizeof(outcome)), .stop_after = 7};
    w.options.on_member = keep_member;
    w.options.user = &k;
    assert_int_equal(hm_ensemble_run(w.context, w.system, &w.members, &w.options, &w.result),
                     HM_OK);
    assert_true(w.result.interrupted > 0 && w.result.interrupted <= 33);
    free(k.out);
    close_world(&w);
}

/* ---- memory ---- */

typedef struct heap {
    pthread_mutex_t lock; /* workers call it at the same time */
    long count, fail_at;
    size_t live;
} heap;

static void *resize_alone(heap *h, void *ptr, size_t old_size, size_t new_size)
{
    if (new_size == 0) {
        h->live -= ptr ? old_size : 0;
        free(ptr);
        return NULL;
    }
    if (++h->count == h->fail_at)
        return NULL;
    void *new = realloc(ptr, new_size);
    if (new)
        h->live += new_size - (ptr ? old_size : 0);
    return new;
}

static void *resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    heap *h = user;
    pthread_mutex_lock(&h->lock);
    void *block = resize_alone(h, ptr, old_size, new_size);
    pthread_mutex_unlock(&h->lock);
    return block;
}

static bool ignore_frame(void *user, size_t member, const hm_frame *frame)
{
    (void)user;
    (void)member;
    return frame->t >= 0;
}

static hm_status run_short_of_memory(const char *text, const char *column, size_t members, long k)
{
    heap h = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const hm_allocator allocator = {resize, &h};
    world w;
    const char *const names[] = {column, NULL};
    open_world(&w, text, names, members, &allocator);
    set_column(&w, 0, 0.5, 2.4 / (double)members);
    w.options.run.end = members > 6 ? 0.01 : 0.5;
    w.options.on_frame = members > 6 ? NULL : ignore_frame;
    w.options.jobs = 2;
    h.fail_at = h.count + k;
    hm_status status = hm_ensemble_run(w.context, w.system, &w.members, &w.options, &w.result);
    h.fail_at = 0;
    close_world(&w);
    assert_int_equal(h.live, 0);
    return status;
}

#ifdef __SANITIZE_THREAD__ /* races show without every one of them */
enum { STRIDE = 11 };
#else
enum { STRIDE = 1 };
#endif

/* Some failures are survived (a diagnostic that cannot be made); all others are HM_ERR_NOMEM. */
static void test_memory(void **state)
{
    (void)state;
    const char *const texts[] = {skate, ball, skate}, *const columns[] = {"th'", "y", "th'"};
    const size_t members[] = {6, 6, 130}; /* few; events; so many that stages are compiled */
    for (int i = 0; i < 3; i++) {
        long failures = 0, good = 0;
        for (long k = 1; k < 20000 && good < 20; k += STRIDE) {
            hm_status status = run_short_of_memory(texts[i], columns[i], members[i], k);
            failures += status == HM_ERR_NOMEM;
            good = status == HM_OK ? good + 1 : 0;
            if (status != HM_OK && status != HM_ERR_NOMEM)
                fail_msg("allocation %ld: %s", k, hm_status_text(status));
        }
        assert_true(failures > 20 && good == 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skate),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_many_driven),
        cmocka_unit_test(test_rows_that_come_near),
        cmocka_unit_test(test_rows_states_inputs),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_inconsistent_member),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
