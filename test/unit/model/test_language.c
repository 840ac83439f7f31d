/* What expressions and statements mean: precedence, functions, primes, sums, lines, loops. */
#include "support/check.h"
#include "support/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Three free particles on a line; m is a parameter. */
#define XYZ "param m = 3\ncoord x, y, z\nkinetic (x'^2 + y'^2 + z'^2)/2\n"
#define AT  "x = 2, y = 3, z = -0.5, x' = 0.7, y' = -1.1, z' = 0.3, t = 0.4"

typedef struct value {
    const char *expression;
    double expected;
} value;

static void check_all(const char *model, const char *state, size_t count, const value *values)
{
    for (size_t i = 0; i < count; i++)
        check_value(model, values[i].expression, state, values[i].expected);
}
#define CHECK_ALL(model, state, values)                                                            \
    check_all(model, state, sizeof(values) / sizeof *(values), values)

/* ---- operators ---- */

static void precedence(void **state)
{
    (void)state;
    const value values[] = {
        {"-x^2", -4},
        {"(-x)^2", 4},
        {"2^-x", 0.25},
        {"-2^2", -4},
        {"-x^-2", -0.25},
        {"2^3^2", 512},
        {"(2^3)^2", 64},
        {"x^y^0.5", pow(2, sqrt(3))},
        {"x - y - z", 2 - 3 + 0.5},
        {"x - (y - z)", 2 - 3.5},
        {"12/x/y", 2},
        {"12/x*y", 18},
        {"12/(x*y)", 2},
        {"x + y*z^2", 2 + 3 * 0.25},
        {"x*-y", -6},
        {"x/-y", -2.0 / 3},
        {"--x", 2},
        {"-+-x", 2},
        {"x - -y", 5},
        {"-x*y", -6},
        {"-x + y", 1},
        {"2*x^2/4", 2},
        {"x'^2", 0.49},
        {"2^x'", pow(2, 0.7)},
        {"-x'", -0.7},
        {"-x'^2", -0.49},
        {"x*x'/y'", 2 * 0.7 / -1.1},
    };
    CHECK_ALL(XYZ, AT, values);
}

static void numbers(void **state)
{
    (void)state;
    const value values[] = {
        {"1", 1},
        {"1.5", 1.5},
        {".5", 0.5},
        {"2e-3", 0.002},
        {"1E3", 1000},
        {"1e+2", 100},
        {"007", 7},
        {"pi", acos(-1)},
        {"π", acos(-1)},
        {"2*pi", 2 * acos(-1)},
        {"0.1", 0.1},
        {"5.", 5},
        {"1e-300*1e300", 1},
        {"2e-320/1e-320", 2},
        {"9007199254740993", 9007199254740992.0},
        {"t", 0.4},
        {"2*t", 0.8},
    };
    CHECK_ALL(XYZ, AT, values);
}

static void functions(void **state)
{
    (void)state;
    const value values[] = {
        {"sin(x)", sin(2)},
        {"cos(x)", cos(2)},
        {"tan(x)", tan(2)},
        {"asin(z)", asin(-0.5)},
        {"acos(z)", acos(-0.5)},
        {"atan(x)", atan(2)},
        {"sinh(x)", sinh(2)},
        {"cosh(x)", cosh(2)},
        {"tanh(z)", tanh(-0.5)},
        {"exp(x)", exp(2)},
        {"log(x)", log(2)},
        {"sqrt(x)", sqrt(2)},
        {"abs(z)", 0.5},
        {"sign(z)", -1},
        {"sign(x)", 1},
        {"sign(x - 2)", 0},
        {"atan2(z, -x)", atan2(-0.5, -2)},
        {"hypot(x, y)", hypot(2, 3)},
        {"min(x, y)", 2},
        {"max(x, y)", 3},
        {"min(y, z, x)", -0.5},
        {"max(x, z, y, 1)", 3},
        {"exp(log(x))", 2},
        {"sin(x)^2 + cos(x)^2", 1},
    };
    CHECK_ALL(XYZ, AT, values);
}

static void conditions(void **state)
{
    (void)state;
    const value values[] = {
        {"if(x > y, 1, 2)", 2},
        {"if(x < y, 1, 2)", 1},
        {"if(x <= 2, 1, 2)", 1},
        {"if(x >= 2.5, 1, 2)", 2},
        {"if(x == 2, 1, 2)", 1},
        {"if(not x == 2, 1, 2)", 2},
        {"if(x > 1 and y > 1, 1, 2)", 1},
        {"if(x > 1 and y > 5, 1, 2)", 2},
        {"if(x > 5 or y > 1, 1, 2)", 1},
        {"if(x > 5 or y > 1 and z > 0, 1, 2)", 2}, /* and before or */
        {"if((x > 5 or y > 1) and z < 0, 1, 2)", 1},
        {"if(x < 5 or y > 5 and z > 0, 1, 2)", 1},
        {"if(not (x > 5) and y > 1, 1, 2)", 1},
        {"if(not x > 5 or y > 5, 1, 2)", 1},
        {"if(x + 1 > y - 1, x, y)", 2},
        {"if(z < 0, if(x > 5, 1, 2), 3)", 2},
        {"if(x > 0, x^2, sqrt(-x))", 4}, /* the other branch does not exist here */
        {"2*if(x > y, 1, 2) + 1", 5},
    };
    CHECK_ALL(XYZ, AT, values);
}

/* ---- primes ---- */

/* x'' = 5, y'' = -z, z'' = 0.25 follow from the forces. */
#define FORCED XYZ "force x = 5, y = -z, z = 0.25\n"

static void primes(void **state)
{
    (void)state;
    const double x = 2, y = 3, z = -0.5, vx = 0.7, vy = -1.1, vz = 0.3, ax = 5;
    const value values[] = {
        {"m'", 0},
        {"(m^2 + 1)'", 0},
        {"pi'", 0},
        {"t'", 1},
        {"(t^3)'", 3 * 0.16},
        {"(t^3)''", 6 * 0.4},
        {"x'", vx},
        {"x''", ax},
        {"y''", 0.5},
        {"(x*y)'", vx * y + x * vy},
        {"(x*y)''", ax * y + 2 * vx * vy + x * 0.5},
        {"(m*sin(x))'", 3 * cos(x) * vx},
        {"sin(x)'", cos(x) * vx},
        {"sin(x)''", cos(x) * ax - sin(x) * vx * vx},
        {"sin(m*t*x)'", cos(3 * 0.4 * x) * 3 * (x + 0.4 * vx)},
        {"x'^2", vx * vx},
        {"(x^2)'", 2 * x * vx},
        {"(x^y)'", pow(x, y) * (vy * log(x) + y * vx / x)},
        {"(2^x)'", pow(2, x) * log(2) * vx},
        {"(x/y)'", (vx * y - x * vy) / (y * y)},
        {"atan2(y, x)'", (x * vy - y * vx) / (x * x + y * y)},
        {"hypot(x, y)'", (x * vx + y * vy) / hypot(x, y)},
        {"abs(z)'", -vz},
        {"sign(x)'", 0},
        {"min(x, y)'", vx},
        {"max(x, y)'", vy},
        {"if(z < 0, x^2, y)'", 2 * x * vx},
        {"sqrt(x^2 + y^2)'", (x * vx + y * vy) / hypot(x, y)},
        {"(x')'", ax},
        {"(x'*z)'", ax * z + vx * vz},
        {"(x + y)'^2", (vx + vy) * (vx + vy)},
        {"dot([x, y], [x, y])'", 2 * (x * vx + y * vy)},
    };
    CHECK_ALL(FORCED, AT, values);
}

static void primes_of_lets_and_calls(void **state)
{
    (void)state;
    static const char model[] = "param l = 2\ncoord q[1..3]\nkinetic dot(q', q')/2\n"
                                "let X(i) = sum(k = 1..i, l*sin(q[k]))\n"
                                "let e = [q[1], q[2]*t, l]\n"
                                "let R = rotz(q[3])\n"
                                "let f(a, b) = a*b'\n"
                                "let s = q[1]^2\n";
    static const char at[] = "q[1] = 0.3, q[2] = 0.5, q[3] = -0.2, q[1]' = 2, q[2]' = -1, "
                             "q[3]' = 0.4, t = 3";
    const value values[] = {
        {"X(1)'", 2 * cos(0.3) * 2},
        {"X(2)'", 2 * (cos(0.3) * 2 - cos(0.5))},
        {"s'", 2 * 0.3 * 2},
        {"f(q[2], q[1])", 0.5 * 2},
        {"f(q[2], q[1]^2)", 0.5 * 2 * 0.3 * 2},
        {"f(t, s)'", 2 * 0.3 * 2 + 3 * 2 * 2 * 2},
        {"e'[2]", -1 * 3 + 0.5},
        {"(e')[1]", 2},
        {"e[1]'", 2},
        {"R'[1,1]", sin(0.2) * 0.4},
        {"(R*[1, q[1], 0])[2]'", (cos(-0.2) - 0.3 * sin(-0.2)) * 0.4 + cos(-0.2) * 2},
        {"(R*[1, q[1], 0])'[2]", (cos(-0.2) - 0.3 * sin(-0.2)) * 0.4 + cos(-0.2) * 2},
        {"sum(i = 1..3, q[i]*i)'", 2 - 2 + 3 * 0.4},
        {"prod(i = 1..2, q[i])'", 2 * 0.5 - 0.3},
        {"q'[3]", 0.4},
        {"norm([q[1], q[2]])'", (0.3 * 2 - 0.5) / hypot(0.3, 0.5)},
    };
    CHECK_ALL(model, at, values);
    const double rate[3] = {2, -1 * 3 + 0.5, 0};
    check_values(model, "e'", at, 3, rate);
}

static void primes_of_states_and_inputs(void **state)
{
    (void)state;
    static const char model[] = "coord x\nkinetic x'^2/2\nstate z' = x - 2*z\ninput u = t^3\n";
    const value values[] = {
        {"z'", 1 - 2 * 0.5},
        {"(z^2)'", 0},
        {"(x*z)'", 3 * 0.5},
        {"z''", 3},
        {"u'", 3 * 4},
        {"u''", 6 * 2},
        {"(u*x)'", 12 * 1 + 8 * 3},
        {"exp(u - 8)''", 12 * 12 + 12},
    };
    CHECK_ALL(model, "x = 1, x' = 3, z = 0.5, t = 2", values);
}

/* Outputs may use what only the solution knows. */
static void outputs_of_the_solution(void **state)
{
    (void)state;
    static const char model[] = XYZ "potential 10*y\nforce x = 4\nconstraint floor: 2*y = 0\n";
    const value values[] = {
        {"x''", 4},
        {"y''", 0},
        {"(x*y)''", 4 * 3 + 2 * 0.7 * -1.1},
        {"reaction(y)", 10},
        {"reaction(x)", 0},
        {"multiplier(floor)", 5},
        {"total_reaction(y) + total_multiplier(floor)", 15},
        {"energy", (0.49 + 1.21 + 0.09) / 2 + 30},
        {"2*reaction(y)/m - x''", 20.0 / 3 - 4},
    };
    CHECK_ALL(model, AT, values);
}

static void primes_have_limits(void **state)
{
    (void)state;
    check_rejected(XYZ "output a = x'''\n", HM_ERR_INPUT, "third order");
    check_rejected(XYZ "output a = x^2'\n", HM_ERR_INPUT, "cannot take a prime");
    check_rejected(XYZ "output a = (x > y)'\n", HM_ERR_INPUT, "derivative");
    check_rejected(XYZ "input u = t\noutput a = u'''\n", HM_ERR_INPUT, "twice");
}

/* ---- sums and products ---- */

static void sums_and_products(void **state)
{
    (void)state;
    static const char model[] = "param N = 4, half = N/2, w = [1, 10, 100]\ncoord x, y\n"
                                "kinetic (x'^2 + y'^2)/2\n";
    const value values[] = {
        {"sum(i = 1..N, i)", 10},
        {"prod(i = 1..N, i)", 24},
        {"sum(i = 1..0, x)", 0},
        {"prod(i = 1..0, x)", 1},
        {"sum(i = 3..1, x)", 0},
        {"sum(i = -2..2, i^2)", 10},
        {"sum(i = 0..N, x^i)", 31},
        {"prod(i = half..N, x + i)", 4 * 5 * 6},
        {"sum(i = 1..3, sum(k = 1..i, k))", 10},
        {"sum(i = 1..3, sum(k = i..3, i*k))", 1 * 6 + 2 * 5 + 3 * 3},
        {"sum(i = 1..3, prod(k = 1..i-1, k))", 1 + 1 + 2},
        {"sum(i = 1..3, w[i]*i)", 321},
        {"sum(i = 1..3, w[4 - i]*i)", 123},
        {"sum(i = 1..2, i) + sum(i = 1..3, i)", 9},
        {"sum(i = 1..2, sum(i = 1..3, i))", 12},
        {"sum(x = 1..3, x) + x", 8},
        {"2*sum(i = 1..2*half, 1)/N", 2},
        {"sum(i = 1..3, [i, x])[1]", 6},
        {"sum(i = 1..3, [i, x])[2]", 6},
        {"(sum(i = 1..0, [i, x]) + [7, y])[1]", 7},
        {"([7, y] - sum(i = 1..0, [i, x]))[2]", 3},
        {"prod(i = 1..2, [[1, i], [0, 1]])[1,2]", 3},
        {"sum(i = 1..3, if(i == 2, 100, i))", 104},
    };
    CHECK_ALL(model, "x = 2, y = 3", values);
}

/* An empty sum of vectors is the zero that fits, whatever is done to it on the way. */
static void empty_sums_of_vectors(void **state)
{
    (void)state;
    static const char model[] = "param N = 0\n" XYZ "let r(i) = [i, x]\n"
                                "let S = sum(i = 1..N, r(i))\n";
    const value values[] = {
        {"(S + [7, y])[1]", 7},      {"([7, y] + S)[2]", 3},   {"([7, y] - S)[2]", 3},
        {"(S - [7, y])[1]", -7},     {"(-S + [7, y])[1]", 7},  {"(-S - [7, y])[1]", -7},
        {"(m*S + [7, y])[1]", 7},    {"(S/m + [7, y])[1]", 7}, {"(S' + [7, y])[1]", 7},
        {"(S + S - [7, y])[1]", -7},
    };
    CHECK_ALL(model, AT, values);
}

/* ---- lines ---- */

static void lines_go_on(void **state)
{
    (void)state;
    const value values[] = {
        {"1 +\n 2", 3},
        {"1 -   # a comment\n\n   # another\n 2", -1},
        {"2 *\n3 /\n4", 1.5},
        {"2 ^\n3", 8},
        {"-\n3", -3},
        {"(1\n+ 2\n)", 3},
        {"max(1,\n    2)", 2},
        {"max(\n1\n,\n2\n)", 2},
        {"\n5", 5},
        {"[1,\n 2\n][\n2\n]", 2},
        {"if(1 <\n 2 and\n 3 > 2 or\n 1 == 2, 1, 0)", 1},
        {"sum(i = 1..\n3, i)", 6},
        {"sum(i =\n1..3,\ni)", 6},
        {"1 + # trailing; not a statement end\n 1", 2},
    };
    CHECK_ALL(XYZ, AT, values);
}

static void statements_go_on(void **state)
{
    (void)state;
    probe *p = probe_text("param a = 1,\n      b =\n 2, c = a +\n b\n"
                          "coord x,\n y\n"
                          "kinetic x'^2/2 +\n   y'^2/2\n"
                          "constraint\trod:\n  x =\n  y\n"
                          "initial x = 1,\n  y ~\n 2\n"
                          "simulate 0 ..\n 10 every 0.5\n");
    assert_int_equal(p->n, 2);
    assert_int_equal(p->m, 1);
    check_number("c", hm_model_param_value(p->model, 2), 3, 0);
    probe_close(p);
}

static void semicolons_blank_lines_and_ends(void **state)
{
    (void)state;
    const char *const texts[] = {
        "coord x; kinetic x'^2/2; force x = 4",
        ";;coord x;\n;kinetic x'^2/2;;force x = 4;",
        "\n\n\tcoord x\n\n\n  kinetic x'^2/2\n\nforce x = 4\n\n",
        "coord x\r\nkinetic x'^2/2\r\nforce x = 4\r\n",
        "\xEF\xBB\xBF"
        "coord x\nkinetic x'^2/2\nforce x = 4",
        "# first\ncoord x # second\n#third\nkinetic x'^2/2#fourth\nforce x = 4 # no end of line",
        "coord x\nkinetic x'^2/2\nfor i = 1..1 { force x = 4 }",
        "coord x\nkinetic x'^2/2\nfor i = 1..2 { force x = 1; force x = 1; }",
        "coord x\nkinetic x'^2/2\nfor i = 1..2\n{\nforce x = 1\n\nforce x = 1 }\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        probe *p = probe_text(texts[i]);
        probe_at(p, "");
        check_number(texts[i], p->at.Q[0], 4, 0);
        probe_close(p);
    }
}

/* ---- for ---- */

static void loops(void **state)
{
    (void)state;
    probe *p = probe_text("param N = 3\ncoord q[1..N]\n"
                          "for i = 1..N {\n"
                          "    let w = 10*i\n"
                          "    kinetic q[i]'^2/2\n"
                          "    for j = i..N {\n"
                          "        let k = w + j       # sees the outer let\n"
                          "        force q[i] = k\n"
                          "        output f[i,j] = k*x2(j)\n"
                          "    }\n"
                          "    for j = N+1..N { force q[i] = 1e6 }\n"
                          "}\n"
                          "let x2(j) = q[j]^2\n");
    const double Q[3] = {11 + 12 + 13, 22 + 23, 33};
    probe_at(p, "q[3] = 2");
    check_close("Q", 3, p->at.Q, Q, 0);
    assert_int_equal(hm_model_output_count(p->model), 6);
    assert_string_equal(hm_model_output_name(p->model, 4), "f[2,3]");
    check_number("f[2,3]", probe_output(p, "f[2,3]"), 23 * 4, 0);
    probe_close(p);
}

static void every_statement_may_repeat(void **state)
{
    (void)state;
    probe *p = probe_text("coord x[1..2], y[1..2]\n"
                          "for i = 1..2 {\n"
                          "    body ball[i] { mass i  at [x[i], y[i]] }\n"
                          "    potential i*x[i]; lagrangian -y[i]\n"
                          "    dissipation x[i]'^2/2; gyroscopic x[i], y[i] = 2\n"
                          "    mass y[i], y[i] = 1\n"
                          "    constraint rod[i]: x[i] = i*y[i]\n"
                          "    servo s[i]: y[i]' = 0 with gain 1\n"
                          "    nonideal y[i] = 7*i\n"
                          "    event e[i]: x[i] = 0 record\n"
                          "    symmetry up[i]: y[i] = 1\n"
                          "    state z[i]' = -z[i]; input u[i] = i\n"
                          "    output h[i] = u[i] + z[i]\n"
                          "    initial x[i] = i, z[i] = 10*i\n"
                          "}\n");
    const double M[4] = {1, 2, 2, 3}, C[4] = {0, 0, 7, 14};
    probe_at(p, "");
    for (int i = 0; i < 4; i++)
        check_number("M", p->M[5 * i], M[i], 0);
    check_close("C", 4, p->at.C, C, 0);
    assert_string_equal(hm_model_constraint(p->model, 1).name, "rod[2]");
    assert_string_equal(hm_model_servo(p->model, 1).name, "s[2]");
    check_number("h[2]", probe_output(p, "h[2]"), 22, 0);
    check_number("x[2]", p->at.q[1], 2, 0);
    probe_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence),
        cmocka_unit_test(numbers),
        cmocka_unit_test(functions),
        cmocka_unit_test(conditions),
        cmocka_unit_test(primes),
        cmocka_unit_test(primes_of_lets_and_calls),
        cmocka_unit_test(primes_of_states_and_inputs),
        cmocka_unit_test(outputs_of_the_solution),
        cmocka_unit_test(primes_have_limits),
        cmocka_unit_test(sums_and_products),
        cmocka_unit_test(empty_sums_of_vectors),
        cmocka_unit_test(lines_go_on),
        cmocka_unit_test(statements_go_on),
        cmocka_unit_test(semicolons_blank_lines_and_ends),
        cmocka_unit_test(loops),
        cmocka_unit_test(every_statement_may_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
