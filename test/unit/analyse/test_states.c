/* Random states of the motion in balls: on the constraints, with the acceleration of the equations,
 * and rates of change along the motion. */
#include "analyse_fixture.h"

#include "analyse/balls/kkt.h"
#include "analyse/symmetry/states.h"

#include <math.h>

static double mid(arb_srcptr x)
{
    return arf_get_d(arb_midref(x), ARF_RND_NEAR);
}

static void open_states(fixture *f, hmi_states *states, const char *text)
{
    open_fixture(f, text);
    assert_null(hmi_states_refusal(f->system));
    assert_int_equal(hmi_states_init(states, &f->sampler, 192), HM_OK);
}

static void close_states(fixture *f, hmi_states *states)
{
    hmi_states_release(states);
    close_fixture(f);
}

/* The pendulum in x and y: phi = phi' = 0 at every state, and
 * lambda = -(v^2 + g y)/2 for phi = x^2 + y^2 - 1, M = 1, l = 1. */
static void test_pendulum(void **state)
{
    (void)state;
    fixture f;
    hmi_states s;
    open_states(&f, &s,
                "param g = 10; coord x, y; kinetic (x'^2 + y'^2)/2; potential -g*y\n"
                "constraint rod: x^2 + y^2 = 1; initial x = 0.6, y ~ 0.8");
    for (int k = 0; k < 5; k++) {
        assert_int_equal(hmi_states_draw(&s), HM_OK);
        double x = mid(s.point.z), y = mid(s.point.z + 1), u = mid(s.v), w = mid(s.v + 1);
        double lambda = -(u * u + w * w + 10 * y) / 2;
        check_number("phi", x * x + y * y, 1, 1e-14);
        check_number("phi'", x * u + y * w, 0, 1e-13);
        assert_true(hypot(u, w) > 1e-3);
        assert_int_equal(s.rank, 1);
        check_number("lambda", mid(s.lambda), lambda, 1e-12);
        check_number("x''", mid(s.acceleration), 2 * x * lambda, 1e-12);
        check_number("y''", mid(s.acceleration + 1), 10 + 2 * y * lambda, 1e-12);
    }
    close_states(&f, &s);
}

/* Rates of watched expressions: of x', of the energy, of the power of a force. */
static void test_rates(void **state)
{
    (void)state;
    fixture f;
    hmi_states s;
    open_states(&f, &s,
                "param c = 0.3; coord x, y; kinetic (x'^2 + y'^2)/2; potential x^2*y\n"
                "dissipation c/2*x'^2; constraint k: y' = x*x'; initial x = 1, y = 0.5");
    hmi_graph *g = &f.forms.graph;
    hmi_expr vx = hmi_symbol(g, HMI_SYM_VELOCITY, 0), vy = hmi_symbol(g, HMI_SYM_VELOCITY, 1);
    hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, 0), y = hmi_symbol(g, HMI_SYM_COORD, 1);
    hmi_expr kinetic = hmi_div(g, hmi_add(g, hmi_mul(g, vx, vx), hmi_mul(g, vy, vy)), g->two);
    hmi_expr energy = hmi_add(g, kinetic, hmi_mul(g, hmi_mul(g, x, x), y));
    assert_int_equal(hmi_states_watch(&s, energy), HM_OK);
    assert_int_equal(hmi_states_watch(&s, vx), HM_OK);
    assert_int_equal(hmi_states_watch(&s, x), HM_OK);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(hmi_states_draw(&s), HM_OK);
        double u = mid(s.v);
        check_number("y' = x x'", mid(s.v + 1), mid(s.point.z) * u, 1e-14);
        check_number("dE/dt = -c x'^2", mid(hmi_states_value(&s, 0, 1)), -0.3 * u * u, 1e-12);
        check_number("d(x')/dt", mid(hmi_states_value(&s, 1, 1)), mid(s.acceleration), 1e-15);
        check_number("x'", mid(hmi_states_value(&s, 1, 0)), u, 1e-15);
        check_number("dx/dt", mid(hmi_states_value(&s, 2, 1)), u, 1e-15);
    }
    assert_false(hmi_states_inexact(&s));
    close_states(&f, &s);
}

/* Redundant rows are left out; auxiliary states move by their rates. */
static void test_redundant_and_states(void **state)
{
    (void)state;
    fixture f;
    hmi_states s;
    open_states(&f, &s,
                "coord x, y; state z' = x - 2*z; kinetic (x'^2 + y'^2)/2; force x = z\n"
                "constraint a: x' + y' = 0; constraint b: 2*x' + 2*y' = 0; initial x = 1");
    assert_int_equal(hmi_states_draw(&s), HM_OK);
    assert_int_equal(s.rank, 1);
    check_number("z'", mid(s.z_rate), mid(s.point.z) - 2 * mid(s.z), 1e-14);
    check_number("x''", mid(s.acceleration), mid(s.z) / 2, 1e-14);
    close_states(&f, &s);
}

static void test_refusals(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, "coord x; kinetic x'^2/2; servo s: x = sin(t) with gain 1; initial x ~ 0");
    assert_non_null(hmi_states_refusal(f.system));
    close_fixture(&f);
    open_fixture(&f, "coord x, y; kinetic (x'^2 + y'^2)/2; constraint c: y = x\n"
                     "nonideal x = -abs(reaction(y))*x'");
    assert_non_null(hmi_states_refusal(f.system));
    close_fixture(&f);
}

/* ---- the equations at one state ---- */

enum { COORDINATES = 30, ROWS = 12, BITS = 256 };
typedef enum mass { DIAGONAL, COUPLED, SINGULAR } mass;

/* x contains 0 and nothing that is not tiny. */
static void assert_vanishes(const arb_mat_t x)
{
    mag_t size;
    mag_init(size);
    arb_mat_bound_inf_norm(size, x);
    for (slong i = 0; i < arb_mat_nrows(x); i++)
        assert_true(arb_contains_zero(arb_mat_entry(x, i, 0)));
    assert_true(mag_cmp_2exp_si(size, -150) < 0);
    mag_clear(size);
}

static void fill_mass(arb_mat_t M, mass kind)
{
    for (slong i = 0; i < COORDINATES; i++)
        for (slong j = 0; j < COORDINATES; j++) {
            bool none = kind == SINGULAR && (i < 2 || j < 2);
            double value = i == j ? 2 + 0.1 * (double)i : cos((double)(i * i + j * j)) / 30;
            arb_set_d(arb_mat_entry(M, i, j), none || (i != j && kind == DIAGONAL) ? 0 : value);
        }
}

/* By blocks where M allows it, else whole: the answer satisfies the equations. */
static void test_saddle(void **state)
{
    (void)state;
    for (mass kind = DIAGONAL; kind <= SINGULAR; kind++) {
        arb_mat_t M, A, T, F, b, qdd, lambda, rest, force, row;
        arb_mat_init(M, COORDINATES, COORDINATES);
        arb_mat_init(A, ROWS, COORDINATES);
        arb_mat_init(T, COORDINATES, ROWS);
        arb_mat_init(F, COORDINATES, 1);
        arb_mat_init(b, ROWS, 1);
        arb_mat_init(qdd, COORDINATES, 1);
        arb_mat_init(lambda, ROWS, 1);
        arb_mat_init(rest, COORDINATES, 1);
        arb_mat_init(force, COORDINATES, 1);
        arb_mat_init(row, ROWS, 1);
        fill_mass(M, kind);
        for (slong i = 0; i < ROWS; i++)
            for (slong j = 0; j < COORDINATES; j++)
                arb_set_d(arb_mat_entry(A, i, j), sin((double)((i + 1) * (j + 2) * (j + 2))));
        for (slong i = 0; i < COORDINATES; i++)
            arb_set_d(arb_mat_entry(F, i, 0), 1.0 / (double)(i + 1));
        for (slong i = 0; i < ROWS; i++)
            arb_set_d(arb_mat_entry(b, i, 0), (double)i - 3);
        assert_true(hmi_kkt_solve(M, A, F, b, qdd, lambda, BITS));
        arb_mat_transpose(T, A);
        arb_mat_mul(rest, M, qdd, BITS);
        arb_mat_mul(force, T, lambda, BITS);
        arb_mat_sub(rest, rest, force, BITS);
        arb_mat_sub(rest, rest, F, BITS);
        assert_vanishes(rest);
        arb_mat_mul(row, A, qdd, BITS);
        arb_mat_sub(row, row, b, BITS);
        assert_vanishes(row);
        arb_mat_zero(A); /* rows that say nothing: not unique */
        assert_false(hmi_kkt_solve(M, A, F, b, qdd, lambda, BITS));
        arb_mat_struct *all[] = {M, A, T, F, b, qdd, lambda, rest, force, row};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            arb_mat_clear(all[i]);
    }
    flint_cleanup();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_redundant_and_states),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_saddle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
