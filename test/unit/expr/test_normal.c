/* Display normal form: readable, equal, bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expr/graph/diff.h"
#include "expr/normal/normal.h"
#include "mini_language.h"

typedef struct fixture {
    hm_allocator allocator;
    hmi_graph graph;
    hmi_normal *normal;
} fixture;

static int set_up(void **state)
{
    fixture *f = malloc(sizeof *f);
    f->allocator = hm_allocator_default();
    if (hmi_graph_init(&f->graph, &f->allocator))
        return -1;
    f->normal = hmi_normal_create(&f->graph);
    *state = f;
    return f->normal ? 0 : -1;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    hmi_normal_destroy(f->normal);
    hmi_graph_release(&f->graph);
    free(f);
    return 0;
}

/* ---- what it looks like ---- */

static const struct {
    const char *formula, *normal;
} readable[] = {
    /* products and signs */
    {"m*s*theta'*(-y'*sin(theta) - x'*cos(theta))", "−m·s·θ̇·(ẋ·cos(θ) + ẏ·sin(θ))"},
    {"cos(theta)*theta'^2*s*m", "m·s·θ̇²·cos(θ)"},
    {"m*r*theta'^2 - m*g*sin(theta)", "m·(r·θ̇² − g·sin(θ))"},
    {"-k*(x - y)", "k·(y − x)"},
    {"x*2*y/4", "x·y/2"},
    {"x - x", "0"},
    {"2*x + 2*y", "2·(x + y)"},
    {"x^2/a^2 + y^2/b^2 - 1", "x²/a² + y²/b² − 1"},
    {"-k*x - c*x' + foo*cos(w*t)", "−k·x − c·ẋ + foo·cos(w·t)"},
    /* identities */
    {"m*cos(theta)^2 + 2*m*sin(theta)^2", "m + m·sin²(θ)"},
    {"I1*cos(theta)^2 + I2*sin(theta)^2", "I₁·cos²(θ) + I₂·sin²(θ)"},
    {"1/cos(theta)^2 - sin(theta)^2/cos(theta)^2", "1"},
    {"1 + sin(x)^2/cos(x)^2", "1/cos²(x)"},
    {"(x'*sin(phi) - y'*cos(phi))^2 + (x'*cos(phi) + y'*sin(phi))^2", "ẋ² + ẏ²"},
    {"sin(x)^2*cos(x)^2", "sin²(x)·cos²(x)"},
    {"sin(x)^4 + 2*sin(x)^2*cos(x)^2 + cos(x)^4", "1"},
    {"cosh(x)^2 - sinh(x)^2", "1"},
    {"k*cosh(x)^2 - k", "k·sinh²(x)"},
    {"hypot(x, y)^2 - x^2", "y²"},
    {"sqrt(x^2 + y^2)*x/(x^2 + y^2)", "x/√(x² + y²)"},
    {"sin(-x) + sin(x)", "0"},
    {"cos(y - x) - cos(x - y)", "0"},
    {"m*l1*l2*(cos(q1)*cos(q2) + sin(q1)*sin(q2))", "m·l₁·l₂·cos(q₁ − q₂)"},
    {"sin(q1)*cos(q2) + cos(q1)*sin(q2)", "sin(q₁ + q₂)"},
    {"sin(q2)*cos(q1) - cos(q2)*sin(q1)", "−sin(q₁ − q₂)"},
    {"exp(-theta/10)*exp(theta/10)", "1"},
    {"k*exp(x)*exp(-y)", "k·exp(x − y)"},
    {"exp(2*x)*exp(-x)*y + exp(x)*z", "(y + z)·exp(x)"},
    /* quotients */
    {"(x^2 - y^2)/(x - y)", "x + y"},
    {"1/(1/x + 1/y)", "x·y/(x + y)"},
    {"(m*x + m*y)/(a*x + a*y)", "m/a"},
    {"m*s*theta'^2/(m*s^2 - I) + I*theta'/(I - m*s^2)", "θ̇·(m·s·θ̇ − I)/(m·s² − I)"},
    {"x/(x + y) + y/(x + y)", "1"},
    {"(x*x' + y*y')/(x^2 + y^2) - x*x'/(x^2 + y^2)", "y·ẏ/(x² + y²)"},
    /* numbers as entered */
    {"9.81*m*x/2", "4.905·m·x"},
    {"x/9.81", "x/9.81"},
    {"0.3*(x + y) - 0.1*(3*x + 3*y)", "0"},
    {"0.01*x^2*y/0.01", "x²·y"},
    {"(7.5 + x^2/0.2)/(1/0.04 + y^2)", "(7.5 + 5·x²)/(25 + y²)"},
    {"cos(x)^2/0.5", "2·cos²(x)"},
    {"x - 0*m", "x"},
    {"0.5/0.7*x", "x/1.4"},
    {"0.25*2*x/0.7 - 5/7*x", "0"},
    {"pi*x + pi*y", "π·(x + y)"},
    {"x/3 + x/6", "x/2"},
    /* brackets that are better kept, and better opened */
    {"(a + b)^9*x - (a + b)^9*y", "(a + b)⁹·(x − y)"},
    {"m/2*(x'^2 + y'^2) + m*s*theta'*(y'*cos(theta) - x'*sin(theta)) + I/2*theta'^2",
     "m·(ẋ² + ẏ²)/2 + m·s·θ̇·(ẏ·cos(θ) − ẋ·sin(θ)) + I·θ̇²/2"},
    {"I1 + I2 + lc1^2*m1 + m2*(l1^2 + 2*l1*lc2*cos(q2) + lc2^2)",
     "m₁·lc₁² + I₁ + I₂ + m₂·(l₁² + lc₂² + 2·l₁·lc₂·cos(q₂))"},
    {"(m1 + m2)*l1^2*m2*l2^2 - m2^2*l1^2*l2^2*cos(q1 - q2)^2",
     "m₂·l₁²·l₂²·(m₁ + m₂·sin²(q₁ − q₂))"},
    {"a*x + a*y + b*x + b*y", "(a + b)·(x + y)"},
    {"m*(q1'^2 + 2*q1'*q2' + q2'^2)", "m·(q̇₁ + q̇₂)²"},
    {"k*x^2 - 2*k*x*y + k*y^2 + g", "g + k·(x − y)²"},
    /* what is not polynomial stays, its inside put in order */
    {"max(x + y - x, 0)", "max(y, 0)"},
    {"if(x < y, x*2 - x, y)", "if(x < y, x, y)"},
    {"atan2(2*y - y, x)", "atan2(y, x)"},
    {"abs(x)*abs(x)", "x²"},
    {"sqrt(x^2)", "√(x²)"},
    {"x^0.7*x^0.7", "(x^0.7)²"},
    {"log(x)*log(x + 0)", "log(x)²"},
};

static void test_readable(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++) {
        hmi_expr e = mini_parse(&f->graph, readable[i].formula);
        char *text = mini_print(&f->graph, hmi_normal_form(f->normal, e), HMI_PRINT_TEXT);
        if (strcmp(text, readable[i].normal) != 0)
            fail_msg("%s: got %s, expected %s", readable[i].formula, text, readable[i].normal);
        free(text);
    }
}

static void check_text(fixture *f, hmi_expr e, const char *expected)
{
    char *text = mini_print(&f->graph, e, HMI_PRINT_TEXT);
    assert_string_equal(text, expected);
    free(text);
}

/* The derivative by a symbol of the given kind and index. */
static hmi_expr partial(fixture *f, hmi_expr e, hmi_symbol_kind kind, uint32_t index)
{
    hmi_adjoint adjoint;
    hmi_adjoint_init(&adjoint, &f->allocator);
    assert_int_equal(hmi_gradient(&adjoint, &f->graph, e, kind), HM_OK);
    hmi_expr value = f->graph.zero;
    for (size_t i = 0; i < adjoint.partials.count; i++)
        if (adjoint.partials.data[i].index == index)
            value = adjoint.partials.data[i].value;
    hmi_adjoint_release(&adjoint);
    return value;
}

/* Three links, written by the positions of their ends: what comes out is the textbook's. */
static void test_pendulum(void **state)
{
    enum { Q1 = 6, Q2 = 7 };
    fixture *f = *state;
    hmi_expr kinetic = mini_parse(
        &f->graph, "m/2*((l*q1'*cos(q1))^2 + (l*q1'*sin(q1))^2 + (l*q1'*cos(q1) + l*q2'*cos(q2))^2 "
                   "+ (l*q1'*sin(q1) + l*q2'*sin(q2))^2 "
                   "+ (l*q1'*cos(q1) + l*q2'*cos(q2) + l*q[3]'*cos(q[3]))^2 "
                   "+ (l*q1'*sin(q1) + l*q2'*sin(q2) + l*q[3]'*sin(q[3]))^2)");
    hmi_expr p1 = partial(f, kinetic, HMI_SYM_VELOCITY, Q1);
    hmi_expr m11 = partial(f, p1, HMI_SYM_VELOCITY, Q1);
    hmi_expr m12 = partial(f, p1, HMI_SYM_VELOCITY, Q2);
    hmi_expr by_q2 = partial(f, kinetic, HMI_SYM_COORD, Q2);
    check_text(f, hmi_normal_form(f->normal, m11), "3·m·l²");
    check_text(f, hmi_normal_form(f->normal, m12), "2·m·l²·cos(q₁ − q₂)");
    check_text(f, hmi_normal_form(f->normal, by_q2),
               "m·l²·q̇₂·(2·q̇₁·sin(q₁ − q₂) − q̇₃·sin(q₂ − q₃))");
}

/* ---- zero ---- */

static const char *const zeros[] = {
    "m*s*theta'*(-y'*sin(theta) - x'*cos(theta)) + m*s*theta'*(y'*sin(theta) + x'*cos(theta))",
    "(x + y)^3 - x^3 - 3*x^2*y - 3*x*y^2 - y^3",
    "sin(x + y) - sin(x)*cos(y) - cos(x)*sin(y)",
    "cos(2*x) - 1 + 2*sin(x)^2",
    "sin(3*x) - 3*sin(x) + 4*sin(x)^3",
    "1/(x*(x + 1)) - 1/x + 1/(x + 1)",
    "1/cos(x)^2 - 1 - sin(x)^2/cos(x)^2",
    "sqrt(x + y)^3 - (x + y)*sqrt(x + y)",
    "1/sqrt(x + y)/sqrt(x + y) - 1/(x + y)",
    "(x^3 - y^3)/(x - y) - x^2 - x*y - y^2",
    "cosh(x)^4 - 2*cosh(x)^2*sinh(x)^2 + sinh(x)^4 - 1",
    "cos(q1 - q2)*l1 - l1*cos(q2)*cos(q1) - l1*sin(q1)*sin(q2)",
};
static const char *const not_zeros[] = {
    "x",
    "x - y",
    "sin(x) - x",
    "sqrt(x^2) - x",
    "abs(x) - x",
    "1 - cos(x)",
    "sin(x)^2 - cos(x)^2",
    "1e-30*x",
    "x^2 - x",
    "max(x, y) - x",
    "sin(x + y) - sin(x)*cos(y)",
};

/* By the identities above and the addition theorems: the "determinant" of a system of one equation. */
static bool is_zero(hmi_normal *normal, hmi_expr e)
{
    return hmi_symbolic_solve(normal, 1, &e, 0, NULL, NULL, NULL) == HM_ERR_NUMERIC;
}

static void test_zero(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        if (!is_zero(f->normal, mini_parse(&f->graph, zeros[i])))
            fail_msg("%s is zero", zeros[i]);
    for (size_t i = 0; i < sizeof not_zeros / sizeof *not_zeros; i++)
        if (is_zero(f->normal, mini_parse(&f->graph, not_zeros[i])))
            fail_msg("%s is not zero", not_zeros[i]);
    assert_false(is_zero(f->normal, HMI_NONE));
}

/* ---- values ---- */

/* Equal up to rounding; what cancels inside sets the scale. */
static void check_same_value(fixture *f, hmi_expr a, hmi_expr b, uint32_t points)
{
    for (uint32_t point = 0; point < points; point++) {
        double x = mini_value(&f->graph, a, point), y = mini_value(&f->graph, b, point);
        double scale = 1 + mini_magnitude(&f->graph, a, point) +
                       mini_magnitude(&f->graph, b, point);
        if (!isfinite(x) || fabs(x - y) <= 1e-12 * scale)
            continue;
        char *before = mini_print(&f->graph, a, HMI_PRINT_PLAIN);
        char *after = mini_print(&f->graph, b, HMI_PRINT_PLAIN);
        fail_msg("%s\nbecame %s\n%.17g became %.17g (scale %g)", before, after, x, y, scale);
    }
}

static void check_random(fixture *f, uint64_t seed, int count, int depth)
{
    mini_random random = {seed};
    for (int i = 0; i < count; i++) {
        hmi_expr e = mini_random_expr(&f->graph, &random, depth);
        hmi_expr n = hmi_normal_form(f->normal, e);
        assert_int_not_equal(n, HMI_NONE);
        /* x/3 and (1/3) x read alike, but do not count quite alike */
        uint32_t cost = hmi_normal_cost(f->normal, e);
        assert_true(hmi_normal_cost(f->normal, n) <= cost + 2 + cost / 20);
        check_same_value(f, e, n, 3);
        hmi_expr difference = hmi_sub(&f->graph, n, e);
        if (is_zero(f->normal, e))
            check_same_value(f, e, f->graph.zero, 3);
        check_same_value(f, difference, hmi_normal_form(f->normal, difference), 1);
    }
}

static void test_random_values(void **state)
{
    check_random(*state, 1, 600, 4);
    check_random(*state, 2, 300, 6);
    check_random(*state, 3, 40, 9);
}

/* A polynomial and its expansion, written by different hands, differ by zero. */
static void test_random_expansions(void **state)
{
    fixture *f = *state;
    hmi_graph *g = &f->graph;
    mini_random random = {77};
    for (int i = 0; i < 200; i++) {
        hmi_expr a = mini_random_expr(g, &random, 2), b = mini_random_expr(g, &random, 2);
        hmi_expr c = mini_random_expr(g, &random, 2);
        hmi_expr left = hmi_mul(g, hmi_add(g, a, b), hmi_sub(g, a, c));
        hmi_expr right = hmi_sub(g, hmi_add(g, hmi_mul(g, a, a), hmi_mul(g, b, a)),
                                 hmi_add(g, hmi_mul(g, a, c), hmi_mul(g, b, c)));
        if (!is_zero(f->normal, hmi_sub(g, left, right)))
            fail_msg("a = %s, b = %s, c = %s", mini_print(g, a, HMI_PRINT_PLAIN),
                     mini_print(g, b, HMI_PRINT_PLAIN), mini_print(g, c, HMI_PRINT_PLAIN));
    }
}

/* The normal form of a normal form is no different to read. */
static void test_settled(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++) {
        hmi_expr once = hmi_normal_form(f->normal, mini_parse(&f->graph, readable[i].formula));
        hmi_expr twice = hmi_normal_form(f->normal, once);
        assert_int_equal(hmi_normal_cost(f->normal, once), hmi_normal_cost(f->normal, twice));
    }
}

/* ---- limits ---- */

static void test_large_is_left_alone(void **state)
{
    fixture *f = *state;
    hmi_graph *g = &f->graph;
    hmi_expr sum = g->zero, nested = hmi_symbol(g, HMI_SYM_COORD, 0);
    for (uint32_t i = 0; i < 100000; i++) {
        sum = hmi_add(g, sum, hmi_symbol(g, HMI_SYM_PARAM, i));
        nested = hmi_apply(g, HMI_SIN, nested, 0, 0);
    }
    assert_int_equal(hmi_normal_form(f->normal, sum), sum);
    assert_int_equal(hmi_normal_form(f->normal, nested), nested);
    assert_false(is_zero(f->normal, sum));
}

static void test_powers_of_sums(void **state)
{
    fixture *f = *state;
    hmi_expr e = mini_parse(&f->graph, "(x + y + z + a + b + c + m + s)^20 + x - x");
    char *text = mini_print(&f->graph, hmi_normal_form(f->normal, e), HMI_PRINT_PLAIN);
    assert_string_equal(text, "(m + s + a + b + c + x + y + z)^20");
    free(text);
    e = mini_parse(&f->graph, "(x + y)^100 - (x + y)^100 + sin(x + y)^70");
    text = mini_print(&f->graph, hmi_normal_form(f->normal, e), HMI_PRINT_PLAIN);
    assert_string_equal(text, "sin(x + y)^70");
    free(text);
}

/* Products of sums nested so that expansion would take for ever. */
static void test_bounded_work(void **state)
{
    fixture *f = *state;
    hmi_graph *g = &f->graph;
    hmi_expr e = hmi_symbol(g, HMI_SYM_COORD, 0);
    for (uint32_t i = 0; i < 60; i++) {
        hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, i % 10), p = hmi_symbol(g, HMI_SYM_PARAM, i % 20);
        hmi_expr s = hmi_apply(g, HMI_SIN, hmi_add(g, e, x), 0, 0);
        e = hmi_add(g, hmi_mul(g, hmi_add(g, e, p), hmi_sub(g, e, x)), s);
        e = hmi_div(g, e, hmi_add(g, g->one, hmi_mul(g, x, x)));
    }
    hmi_expr n = hmi_normal_form(f->normal, e);
    assert_int_not_equal(n, HMI_NONE);
    assert_int_equal(hmi_normal_status(f->normal), HM_OK);
}

static void test_odd_input(void **state)
{
    fixture *f = *state;
    hmi_graph *g = &f->graph;
    assert_int_equal(hmi_normal_form(f->normal, HMI_NONE), HMI_NONE);
    hmi_expr infinite = hmi_number(g, INFINITY), nan = hmi_number(g, NAN);
    hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, 0);
    assert_int_not_equal(hmi_normal_form(f->normal, hmi_mul(g, infinite, x)), HMI_NONE);
    assert_int_not_equal(hmi_normal_form(f->normal, hmi_add(g, nan, x)), HMI_NONE);
    /* division by something that is zero stays what it is */
    hmi_expr zero = mini_parse(g, "(x + y)*(x - y) - x^2 + y^2");
    hmi_expr quotient = hmi_div(g, x, zero);
    assert_false(is_zero(f->normal, quotient));
    assert_int_not_equal(hmi_normal_form(f->normal, quotient), HMI_NONE);
    /* coefficients beyond 64 bits */
    hmi_expr huge = mini_parse(g, "(1234567*x + 7654321)^12*(7654321*x + 1)^12");
    check_same_value(f, huge, hmi_normal_form(f->normal, huge), 2);
}

/* ---- linear systems ---- */

static void parse_all(hmi_graph *g, const char *const *text, size_t count, hmi_expr *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = mini_parse(g, text[i]);
}

/* Hamel's skate: M q'' = Q + A^T lambda, A q'' = b, solved as one system for q'' and lambda. */
static void test_skate(void **state)
{
    /* clang-format off */
    static const char *const matrix[] = {
        "m",               "0",              "-m*s*sin(theta)", "sin(theta)",
        "0",               "m",              "m*s*cos(theta)",  "-cos(theta)",
        "-m*s*sin(theta)", "m*s*cos(theta)", "I",               "0",
        "-sin(theta)",     "cos(theta)",     "0",               "0"};
    /* clang-format on */
    static const char *const rhs[] = {"m*s*theta'^2*cos(theta)", "m*s*theta'^2*sin(theta)", "0",
                                      "theta'*(x'*cos(theta) + y'*sin(theta))"};
    static const char *const answer[] = {
        "θ̇·(s·θ̇ − ẋ·sin(θ))·cos(θ) − ẏ·θ̇·sin²(θ)", "θ̇·(s·θ̇ + ẏ·cos(θ))·sin(θ) + ẋ·θ̇·cos²(θ)",
        "−m·s·θ̇·(ẋ·cos(θ) + ẏ·sin(θ))/I", "m·θ̇·(I − m·s²)·(ẋ·cos(θ) + ẏ·sin(θ))/I"};
    fixture *f = *state;
    hmi_expr a[16], b[4], x[4], det;
    parse_all(&f->graph, matrix, 16, a);
    parse_all(&f->graph, rhs, 4, b);
    assert_int_equal(hmi_symbolic_solve(f->normal, 4, a, 1, b, x, &det), HM_OK);
    for (int i = 0; i < 4; i++)
        check_text(f, x[i], answer[i]);
    check_text(f, det, "m·I");
}

/* A coin that rolls and spins on an incline, two constraints; a particle on a sphere. */
static void test_closed_forms(void **state)
{
    /* clang-format off */
    static const char *const coin[] = {
        "m", "0", "0",          "0", "-cos(phi)", "-sin(phi)",
        "0", "m", "0",          "0", "-sin(phi)", "cos(phi)",
        "0", "0", "beta*m*R^2", "0", "R",         "0",
        "0", "0", "0",          "I", "0",         "0",
        "cos(phi)", "sin(phi)",  "-R", "0", "0", "0",
        "sin(phi)", "-cos(phi)", "0",  "0", "0", "0"};
    static const char *const coin_rhs[] = {
        "m*g*sin(alpha)", "0", "0", "0",
        "phi'*(x'*sin(phi) - y'*cos(phi))", "-phi'*(x'*cos(phi) + y'*sin(phi))"};
    static const char *const sphere[] = {
        "m",   "0",   "0",   "-2*x",
        "0",   "m",   "0",   "-2*y",
        "0",   "0",   "m",   "-2*z",
        "2*x", "2*y", "2*z", "0"};
    static const char *const sphere_rhs[] = {"0", "0", "-m*g", "-2*x'^2 - 2*y'^2 - 2*z'^2"};
    /* clang-format on */
    fixture *f = *state;
    hmi_expr a[36], b[6], x[6];
    parse_all(&f->graph, coin, 36, a);
    parse_all(&f->graph, coin_rhs, 6, b);
    assert_int_equal(hmi_symbolic_solve(f->normal, 6, a, 1, b, x, NULL), HM_OK);
    check_text(f, x[2], "(g·sin(α)·cos(φ) − ẋ·φ̇·sin(φ) + ẏ·φ̇·cos(φ))/(R·(1 + β))");
    check_text(f, x[3], "0");
    check_text(f, x[5], "−m·(g·sin(α)·sin(φ) + ẋ·φ̇·cos(φ) + ẏ·φ̇·sin(φ))");
    parse_all(&f->graph, sphere, 16, a);
    parse_all(&f->graph, sphere_rhs, 4, b);
    assert_int_equal(hmi_symbolic_solve(f->normal, 4, a, 1, b, x, NULL), HM_OK);
    check_text(f, x[2], "−g − z·(ẋ² + ẏ² + ż² − g·z)/(x² + y² + z²)");
    check_text(f, x[3], "−m·(ẋ² + ẏ² + ż² − g·z)/(2·(x² + y² + z²))");
}

/* matrix * x - rhs at a point, against the size of what is added up. */
static void check_solution(fixture *f, size_t n, const hmi_expr *a, size_t columns,
                           const hmi_expr *b, const hmi_expr *x, uint32_t point)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < columns; k++) {
            double sum = -mini_value(&f->graph, b[i * columns + k], point), scale = fabs(sum) + 1;
            for (size_t j = 0; j < n; j++) {
                hmi_expr xj = x[j * columns + k];
                double aij = mini_value(&f->graph, a[i * n + j], point);
                sum += aij * mini_value(&f->graph, xj, point);
                scale += fabs(aij) * mini_magnitude(&f->graph, xj, point);
            }
            assert_true(fabs(sum) <= 1e-11 * scale);
        }
}

static void test_random_systems(void **state)
{
    fixture *f = *state;
    mini_random random = {5};
    size_t solved = 0;
    for (int i = 0; i < 60; i++) {
        size_t n = 1 + (size_t)i % 4, columns = 1 + (size_t)i % 2;
        hmi_expr a[16], b[8], x[8], det;
        for (size_t k = 0; k < n * n; k++)
            a[k] = mini_random_expr(&f->graph, &random, 1 + (int)(n < 3));
        for (size_t k = 0; k < n; k++) /* away from singular */
            a[k * n + k] = hmi_add(&f->graph, a[k * n + k], hmi_number(&f->graph, 5));
        for (size_t k = 0; k < n * columns; k++)
            b[k] = mini_random_expr(&f->graph, &random, 2);
        hm_status status = hmi_symbolic_solve(f->normal, n, a, columns, b, x, &det);
        assert_true(status == HM_OK || status == HM_ERR_LIMIT || status == HM_ERR_NUMERIC);
        solved += status == HM_OK;
        for (uint32_t point = 0; point < 2 && status == HM_OK; point++)
            check_solution(f, n, a, columns, b, x, point);
    }
    assert_true(solved > 50);
}

static void test_singular_systems(void **state)
{
    static const char *const matrix[] = {"sin(x)", "cos(x)", "sin(x)*y", "y*cos(x)"};
    static const char *const unit[] = {"cos(x)", "-sin(x)", "sin(x)", "cos(x)"};
    fixture *f = *state;
    hmi_expr a[4], b[2], x[2] = {7, 8}, det = HMI_NONE;
    parse_all(&f->graph, matrix, 4, a);
    b[0] = b[1] = f->graph.one;
    assert_int_equal(hmi_symbolic_solve(f->normal, 2, a, 1, b, x, &det), HM_ERR_NUMERIC);
    assert_int_equal(det, f->graph.zero);
    assert_int_equal(x[0], 7); /* untouched */
    parse_all(&f->graph, unit, 4, a);
    assert_int_equal(hmi_symbolic_solve(f->normal, 2, a, 1, b, x, &det), HM_OK);
    assert_int_equal(det, f->graph.one);
    assert_int_equal(hmi_symbolic_solve(f->normal, 0, a, 1, b, x, &det), HM_ERR_LIMIT);
    assert_int_equal(hmi_symbolic_solve(f->normal, HMI_SYMBOLIC_MOST + 1, a, 1, b, x, &det),
                     HM_ERR_LIMIT);
}

/* ---- no memory ---- */

static hm_status normalise_all(const hm_allocator *allocator)
{
    hmi_graph graph;
    hm_status status = hmi_graph_init(&graph, allocator);
    hmi_normal *normal = status == HM_OK ? hmi_normal_create(&graph) : NULL;
    if (status == HM_OK && !normal)
        status = HM_ERR_NOMEM;
    for (size_t i = 0; status == HM_OK && i < 12; i++) {
        hmi_expr e = mini_parse(&graph, readable[i * 4].formula);
        bool none = hmi_normal_form(normal, e) == HMI_NONE;
        status = hmi_normal_status(normal);
        assert_true(status != HM_OK || !none);
        hmi_expr x;
        if (status == HM_OK) {
            hm_status solved = hmi_symbolic_solve(normal, 1, &e, 1, &graph.one, &x, NULL);
            status = solved == HM_ERR_NUMERIC ? HM_OK : solved;
        }
    }
    hmi_normal_destroy(normal);
    hmi_graph_release(&graph);
    return status;
}

static void test_no_memory(void **state)
{
    (void)state;
    for (long k = 0;; k++) {
        mini_heap heap = {.left = k};
        hm_allocator allocator = {mini_resize, &heap};
        hm_status status = normalise_all(&allocator);
        assert_int_equal(heap.live, 0);
        if (status == HM_OK)
            return;
        assert_int_equal(status, HM_ERR_NOMEM);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_readable),
        TEST(test_pendulum),
        TEST(test_zero),
        TEST(test_random_values),
        TEST(test_random_expansions),
        TEST(test_settled),
        TEST(test_large_is_left_alone),
        TEST(test_powers_of_sums),
        TEST(test_bounded_work),
        TEST(test_odd_input),
        TEST(test_skate),
        TEST(test_closed_forms),
        TEST(test_random_systems),
        TEST(test_singular_systems),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
