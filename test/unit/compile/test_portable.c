/* A processor without AVX2 and FMA: the interpreter runs, machine code says why not, and results are
 * those of this processor but for the last digits of transcendental functions.
 *
 * The record of the processor that __builtin_cpu_supports reads is part of this program: the test
 * clears what it is to be without. */
#include "support/check.h"
#include "support/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)

/* As libgcc has it; which bits they are is checked below. */
extern struct {
    unsigned vendor, type, subtype, features[1];
} __cpu_model;
enum { AVX2 = 1 << 10, FMA = 1 << 14 };

typedef struct results {
    double qdd[16], q[16], v[16];
    size_t n;
    hm_engine engine;
} results;

static probe *probe_example(const char *name)
{
    char file[1024];
    snprintf(file, sizeof file, "%s/examples/%s.hamel", HAMEL_SOURCE_DIR, name);
    return probe_file(file, NULL, 0);
}

/* method NULL: the model's. */
static results evaluate(const char *name, const char *method)
{
    results r = {0};
    probe *p = probe_example(name);
    assert_true(p->n <= 16);
    r.n = p->n;
    r.engine = hm_system_get_statistics(p->system).engine;
    assert_int_equal(hm_sim_accelerate(p->sim, r.qdd), HM_OK);
    hm_run_options options = hm_run_options_default(p->model);
    if (method)
        options.method = method;
    assert_int_equal(hm_sim_start(p->sim, &options), HM_OK);
    assert_int_equal(hm_sim_advance(p->sim, 0.01), HM_OK);
    hm_sim_state(p->sim, r.q, r.v, NULL);
    probe_close(p);
    return r;
}

static void check_refused(void)
{
    probe *p = probe_text("coord x; kinetic x'^2/2");
    hm_system *system = NULL;
    hm_system_options options = hm_system_options_default();
    options.engine = HM_ENGINE_JIT;
    assert_int_equal(hm_system_create_with(p->model, &options, &system), HM_ERR_USAGE);
    probe_close(p);
}

static void check_same(size_t n, const double *x, const double *y)
{
    double size = 1e-300, most = 0;
    for (size_t i = 0; i < n; i++) {
        size = fmax(size, fabs(x[i]));
        most = fmax(most, fabs(x[i] - y[i]));
    }
    assert_true(most <= 1e-11 * size);
}

/* Takes AVX2 and FMA away; returns what to put back. */
static unsigned become_plain(void)
{
    const unsigned all = __cpu_model.features[0];
    __cpu_model.features[0] = all & ~(unsigned)(AVX2 | FMA);
    assert_false(__builtin_cpu_supports("avx2") || __builtin_cpu_supports("fma"));
    return all;
}

static void compare(const char *name, const char *method)
{
    results here = evaluate(name, method);
    unsigned all = become_plain();
    results plain = evaluate(name, method);
    assert_int_equal(plain.engine, HM_ENGINE_INTERP);
    check_refused();
    __cpu_model.features[0] = all;
    check_same(here.n, here.qdd, plain.qdd);
    check_same(here.n, here.q, plain.q);
    check_same(here.n, here.v, plain.v);
}

static void test_without_avx2(void **state)
{
    (void)state;
    static const char *const models[] = {"skate", "andrews", "rolling-disc", "double-pendulum",
                                         "pendulum-redundant"};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        compare(models[k], NULL);
    compare("double-pendulum", "taylor"); /* one vector of four, */
    compare("rolling-disc", "taylor");    /* and two */
}

/* ---- ensembles ---- */

enum { MEMBERS = 6 };

typedef struct ends {
    double values[MEMBERS][6];
    long steps[MEMBERS];
} ends;

static bool keep_end(void *user, const hm_member_result *r)
{
    ends *e = user;
    assert_int_equal(r->status, HM_RUN_OK);
    memcpy(e->values[r->member], r->q, 3 * sizeof(double));
    memcpy(e->values[r->member] + 3, r->v, 3 * sizeof(double));
    e->steps[r->member] = r->steps;
    return true;
}

static ends run_members(probe *p, const char *method, bool one_by_one)
{
    const double speeds[MEMBERS] = {0.5, 0.8, 1.1, 1.6, 2.3, 2.9};
    ends e = {0};
    hm_ensemble_column column;
    hm_ensemble_result result;
    assert_int_equal(hm_ensemble_find_column(p->context, p->model, "theta'", &column), HM_OK);
    const hm_ensemble_members members = {MEMBERS, 1, &column, speeds};
    hm_ensemble_options options = hm_ensemble_options_default(p->model);
    options.run.method = method;
    options.run.end = 0.5;
    options.jobs = 1;
    options.one_by_one = one_by_one;
    options.on_member = keep_end;
    options.user = &e;
    assert_int_equal(hm_ensemble_run(p->context, p->system, &members, &options, &result), HM_OK);
    assert_int_equal(result.batched, one_by_one ? 0 : MEMBERS);
    return e;
}

/* Four members at a time by the interpreter get the bits of single runs. */
static void test_members_without_avx2(void **state)
{
    (void)state;
    unsigned all = become_plain();
    probe *p = probe_example("skate");
    static const char *const methods[] = {"dop853", "rk5"};
    for (int k = 0; k < 2; k++) {
        ends lanes = run_members(p, methods[k], false), single = run_members(p, methods[k], true);
        assert_memory_equal(lanes.values, single.values, sizeof lanes.values);
        assert_memory_equal(lanes.steps, single.steps, sizeof lanes.steps);
    }
    probe_close(p);
    __cpu_model.features[0] = all;
}

#else

static void test_without_avx2(void **state)
{
    (void)state;
    skip();
}

static void test_members_without_avx2(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_avx2),
                                       cmocka_unit_test(test_members_without_avx2)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
