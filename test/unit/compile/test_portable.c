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

static results evaluate(const char *name)
{
    results r = {0};
    char file[1024];
    snprintf(file, sizeof file, "%s/examples/%s.hamel", HAMEL_SOURCE_DIR, name);
    probe *p = probe_file(file, NULL, 0);
    assert_true(p->n <= 16);
    r.n = p->n;
    r.engine = hm_system_get_statistics(p->system).engine;
    assert_int_equal(hm_sim_accelerate(p->sim, r.qdd), HM_OK);
    hm_run_options options = hm_run_options_default(p->model);
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

static void test_without_avx2(void **state)
{
    (void)state;
    static const char *const models[] = {"skate", "andrews", "rolling-disc", "double-pendulum",
                                         "pendulum-redundant"};
    const unsigned all = __cpu_model.features[0];
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        results here = evaluate(models[k]);
        __cpu_model.features[0] = all & ~(unsigned)(AVX2 | FMA);
        assert_false(__builtin_cpu_supports("avx2") || __builtin_cpu_supports("fma"));
        results plain = evaluate(models[k]);
        assert_int_equal(plain.engine, HM_ENGINE_INTERP);
        check_refused();
        __cpu_model.features[0] = all;
        check_same(here.n, here.qdd, plain.qdd);
        check_same(here.n, here.q, plain.q);
        check_same(here.n, here.v, plain.v);
    }
}

#else

static void test_without_avx2(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_avx2)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
