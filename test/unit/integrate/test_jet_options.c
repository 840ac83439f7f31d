/* Each special path of jets (hmi_jet_options) can be left out, and the series stays what it is: so
 * that benchmarks can show what each of them gains. */
#include "support/check.h"
#include "support/probe.h"

#include "integrate/taylor/taylor.h"

#include <math.h>
#include <string.h>

enum { ORDER = 14, MOST = 400 };

/* Sines by their rates, a constraint, a shared tape of both halves. */
static const char model[] = "param m = 1.3, l = 0.7\n"
                            "coord x, y, a\n"
                            "kinetic m/2*(x'^2 + y'^2) + a'^2*l/2 + l*a'*(x'*cos(a) - y'*sin(a))\n"
                            "potential 9.81*(y + cos(a)/3)\n"
                            "constraint blade: x'*sin(a) = y'*cos(a)\n"
                            "initial a = 0.4, a' = 1.1, x' = cos(0.4), y' = sin(0.4)\n";

/* The coefficients of the state; returns how many. */
static size_t expand(const hm_system *system, const hmi_jet_options *options, double *out)
{
    hm_sim *sim;
    hmi_ode ode;
    hmi_taylor T;
    double y[16], f[16];
    assert_int_equal(hm_sim_create(system, &sim), HM_OK);
    assert_int_equal(hmi_ode_init(&ode, sim), HM_OK);
    const hmi_taylor_options all = {true, true, true, options ? *options : (hmi_jet_options){0}};
    sim->solve.series_options = options ? &all : NULL;
    assert_int_equal(hmi_taylor_init(&T, &ode, ORDER), HM_OK);
    assert_true(T.momenta.used);
    hmi_ode_load(&ode, y);
    assert_int_equal(hmi_taylor_begin(&T, 0, y, f), HM_OK);
    T.tau = 0.125;
    hmi_taylor_expand(&T, y, f);
    size_t count = (size_t)(ORDER + 1) * T.width;
    assert_true(count <= MOST);
    memcpy(out, T.Y, count * sizeof *out);
    if (options) {
        assert_true(options->sincos_by_rate == (T.jet.sincos_by_rate.count > 0));
        const hmi_jet_program *order = &T.program[HMI_TAYLOR_ORDER];
        assert_true(!order->entry || options->whole_orders);
        assert_true(!order->entry || order->closed == options->closed);
    }
    hmi_taylor_release(&T);
    hm_sim_destroy(sim);
    return count;
}

static void test_options(void **state)
{
    (void)state;
    static double expected[MOST], results[MOST];
    probe *p = probe_text(model);
    size_t count = expand(p->system, NULL, expected);
    for (int i = 0; i <= 5; i++) { /* 0: all of them; 5: none */
        const hmi_jet_options options = {.split = i != 1 && i < 5,
                                         .sincos_by_rate = i != 2 && i < 5,
                                         .whole_orders = i != 3 && i < 5,
                                         .closed = i != 4 && i < 5};
        assert_int_equal(expand(p->system, &options, results), count);
        for (size_t k = 0; k < count; k++)
            assert_true(fabs(results[k] - expected[k]) <= 1e-14 * (1 + fabs(expected[k])));
    }
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
