/* Vectors and matrices: products, functions, components, shapes. */
#include "support/check.h"
#include "support/probe.h"

#include <math.h>

#define MODEL                                                                                      \
    "param P = [[1, 2, 3], [4, 5, 6]], d = [2, -1, 0.5]\n"                                         \
    "coord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"                                              \
    "let u = [x, y, z], v = [1, 2, 3], A = [[x, 1], [2, y]], B = [[0, 1], [1, z]]\n"
#define AT "x = 2, y = 3, z = -0.5, x' = 0.7, y' = -1.1, z' = 0.3"

static void check_vector(const char *expression, double a, double b, double c)
{
    const double expected[3] = {a, b, c};
    check_values(MODEL, expression, AT, 3, expected);
}

static void check_scalar(const char *expression, double expected)
{
    check_value(MODEL, expression, AT, expected);
}

static void check_2x2(const char *expression, double a, double b, double c, double d)
{
    const double expected[4] = {a, b, c, d};
    check_values(MODEL, expression, AT, 4, expected);
}

static void sums_and_multiples(void **state)
{
    (void)state;
    check_vector("u + v", 3, 5, 2.5);
    check_vector("u - v", 1, 1, -3.5);
    check_vector("-u", -2, -3, 0.5);
    check_vector("2*u", 4, 6, -1);
    check_vector("u*2", 4, 6, -1);
    check_vector("u/2", 1, 1.5, -0.25);
    check_vector("x*v/y", 2.0 / 3, 4.0 / 3, 2);
    check_2x2("A + B", 2, 2, 3, 2.5);
    check_2x2("A - B", 2, 0, 1, 3.5);
    check_2x2("-A/2", -1, -0.5, -1, -1.5);
    check_2x2("x*A", 4, 2, 4, 6);
}

static void products(void **state)
{
    (void)state;
    check_2x2("A*B", 1, 2 - 0.5, 3, 2 - 1.5);
    check_2x2("B*A", 2, 3, 2 - 1, 1 - 1.5);
    check_scalar("(A*[1, 2])[1]", 4);
    check_scalar("(A*[1, 2])[2]", 8);
    check_scalar("(P*u)[2]", 8 + 15 - 3);
    check_scalar("dot(u, v)", 2 + 6 - 1.5);
    check_scalar("transpose(u)*v", 2 + 6 - 1.5);
    check_scalar("transpose(u)*diag(1, 2, 4)*u", 4 + 18 + 1);
    check_scalar("(u*transpose(v))[2,3]", 9);
    check_scalar("(transpose(P)*[1, 1])[3]", 9);
    check_scalar("(P*transpose(P))[1,2]", 4 + 10 + 18);
    check_2x2("A*B*A", 2 + 2 * 1.5, 1 + 4.5, 6 + 2 * 0.5, 3 + 1.5);
    check_2x2("P*[[1, 0], [0, 1], [x, y]]", 1 + 6, 2 + 9, 4 + 12, 5 + 18);
    check_vector("cross(u, v)", 9 + 1, -0.5 - 6, 4 - 3);
    check_vector("cross(v, u)", -10, 6.5, -1);
    check_vector("skew(u)*v", 10, -6.5, 1);
    check_scalar("norm(u)", sqrt(4 + 9 + 0.25));
    check_scalar("norm([3, 4])", 5);
}

static void matrices_by_name(void **state)
{
    (void)state;
    const double skew[9] = {0, 0.5, 3, -0.5, 0, -2, -3, 2, 0},
                 unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double diagonal[9] = {2, 0, 0, 0, 3, 0, 0, 0, 5}, P_transposed[6] = {1, 4, 2, 5, 3, 6};
    check_values(MODEL, "skew(u)", AT, 9, skew);
    check_values(MODEL, "identity(3)", AT, 9, unit);
    check_values(MODEL, "diag(x, y, 5)", AT, 9, diagonal);
    check_values(MODEL, "diag([x, y, 5])", AT, 9, diagonal);
    check_values(MODEL, "transpose(P)", AT, 6, P_transposed);
    check_2x2("transpose(A)", 2, 2, 1, 3);
    check_2x2("transpose(transpose(A))", 2, 1, 2, 3);
    check_2x2("identity(2)*x", 2, 0, 0, 2);
}

static void components(void **state)
{
    (void)state;
    check_scalar("u[1]", 2);
    check_scalar("u[3]", -0.5);
    check_scalar("P[2,3]", 6);
    check_scalar("P[1,1]", 1);
    check_scalar("A[2,1]", 2);
    check_scalar("u[1 + 1]", 3);
    check_scalar("[7, 8, 9][2]", 8);
    check_scalar("[[1, 2], [3, 4]][2,1]", 3);
    check_scalar("(u + v)[2]", 5);
    check_scalar("cross(u, v)[1]", 10);
    check_scalar("sum(i = 1..3, u[i]*d[i])", 4 - 3 - 0.25);
    check_scalar("sum(i = 1..2, sum(j = 1..3, P[i,j]))", 21);
    check_scalar("u[2]^2", 9);
    check_scalar("-u[2]", -3);
    check_scalar("u'[2]", -1.1);
    check_scalar("u[2]'", -1.1);
}

static void shapes_of_everything_else(void **state)
{
    (void)state;
    check_vector("if(x > y, u, v)", 1, 2, 3);
    check_vector("sum(i = 1..2, i*v)", 3, 6, 9);
    check_vector("u'", 0.7, -1.1, 0.3);
    check_vector("(x*v)'", 0.7, 1.4, 2.1);
    check_2x2("A'", 0.7, 0, 0, -1.1);
    check_2x2("(A*B)'", 0, 0.7 + 0.3, -1.1, -1.1 * -0.5 + 3 * 0.3);
}

static void shapes_must_fit(void **state)
{
    (void)state;
    static const struct {
        const char *text, *fragment;
    } wrong[] = {
        {MODEL "output o = u + [1, 2]\n", "a vector of 2"},
        {MODEL "output o = u + 1\n", "a vector of 3"},
        {MODEL "output o = A + P\n", "a 2x3 matrix"},
        {MODEL "output o = P*[1, 2]\n", "a vector of 2"},
        {MODEL "output o = u*v\n", "dot(u, v)"},
        {MODEL "output o = 1/u\n", "a vector of 3"},
        {MODEL "output o = u^2\n", "dot(u, u)"},
        {MODEL "output o = dot(u, [1, 2])\n", "same size"},
        {MODEL "output o = cross([1, 2], [1, 2])\n", "a vector of 3"},
        {MODEL "output o = u[4]\n", "out of range"},
        {MODEL "output o = u[0]\n", "count from 1"},
        {MODEL "output o = P[1]\n", "R[i,j]"},
        {MODEL "output o = x[1]\n", "cannot be indexed"},
        {MODEL "output o = u[1.5]\n", "whole number"},
        {MODEL "output o = u[x]\n", "parameters and indices"},
        {MODEL "output o = [1, [2]]\n", "components have different shapes"},
        {MODEL "output o = sin(u)\n", "a number"},
        {MODEL "output o = if(x > 0, u, x)\n", "same shape"},
        {MODEL "potential u\n", "expected a number"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_rejected(wrong[i].text, HM_ERR_INPUT, wrong[i].fragment);
}

/* A vector equation is one row a component; a plain 0 fits any shape. */
static void vector_constraints(void **state)
{
    (void)state;
    probe *p = probe_text(MODEL "constraint weld: u = [1, t, 2*x]\n"
                                "constraint still: u' = 0\n"
                                "constraint [x, y] = [y, z]\n"
                                "constraint grid: 0 = [[x, y], [y, z]] - t*identity(2)\n");
    const char *const names[] = {"weld[1]",   "weld[2]",   "weld[3]",   "still[1]",
                                 "still[2]",  "still[3]",  "c1[1]",     "c1[2]",
                                 "grid[1,1]", "grid[1,2]", "grid[2,1]", "grid[2,2]"};
    const double A[6] = {1, 0, 0, -2, 0, 1};
    probe_at(p, AT);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(hm_model_constraint(p->model, i).name, names[i]);
    check_close("weld[1]", 3, p->A, A, 0);
    check_close("weld[3]", 3, p->A + 6, A + 3, 0);
    check_number("still[2]", p->A[4 * 3 + 1], 1, 0);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_multiples),        cmocka_unit_test(products),
        cmocka_unit_test(matrices_by_name),          cmocka_unit_test(components),
        cmocka_unit_test(shapes_of_everything_else), cmocka_unit_test(shapes_must_fit),
        cmocka_unit_test(vector_constraints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
