/* Printers: what people read, what the language reads back, what compilers accept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expr/print/print.h"
#include "mini_language.h"

#include <unistd.h>

typedef struct fixture {
    hm_allocator allocator;
    hmi_graph graph;
} fixture;

static int set_up(void **state)
{
    fixture *f = malloc(sizeof *f);
    f->allocator = hm_allocator_default();
    *state = f;
    return hmi_graph_init(&f->graph, &f->allocator) ? -1 : 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    hmi_graph_release(&f->graph);
    free(f);
    return 0;
}

static void check_print(fixture *f, hmi_expr e, hmi_print_style style, const char *expected)
{
    char *text = mini_print(&f->graph, e, style);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- names ---- */

static const struct {
    const char *name;
    int dots;
    const char *text, *latex, *plain;
} names[] = {
    {"x", 0, "x", "x", "x"},
    {"x", 1, "ẋ", "\\dot{x}", "x'"},
    {"x", 2, "ẍ", "\\ddot{x}", "x''"},
    {"q", 1, "q̇", "\\dot{q}", "q'"},
    {"theta", 1, "θ̇", "\\dot{\\theta}", "theta'"},
    {"theta", 2, "θ̈", "\\ddot{\\theta}", "theta''"},
    {"θ", 1, "θ̇", "\\dot{\\theta}", "θ'"},
    {"theta1", 1, "θ̇₁", "\\dot{\\theta}_{1}", "theta1'"},
    {"Omega", 0, "Ω", "\\Omega", "Omega"},
    {"q[3]", 1, "q̇₃", "\\dot{q}_{3}", "q[3]'"},
    {"q[12]", 2, "q̈₁₂", "\\ddot{q}_{12}", "q[12]''"},
    {"q[-1]", 0, "q₋₁", "q_{-1}", "q[-1]"},
    {"M[1,2]", 0, "M₁₂", "M_{12}", "M[1,2]"},
    {"M[1,12]", 0, "M₁,₁₂", "M_{1,12}", "M[1,12]"},
    {"m1", 0, "m₁", "m_{1}", "m1"},
    {"I_B", 0, "I_B", "I_{B}", "I_B"},
    {"omega_phi", 0, "ω_φ", "\\omega_{\\phi}", "omega_phi"},
    {"x_1", 1, "ẋ₁", "\\dot{x}_{1}", "x_1'"},
    {"foo", 0, "foo", "\\mathrm{foo}", "foo"},
    {"foo", 1, "foo′", "\\dot{\\mathrm{foo}}", "foo'"},
    {"foo", 2, "foo″", "\\ddot{\\mathrm{foo}}", "foo''"},
    {"lc2", 1, "lc₂′", "\\dot{\\mathrm{lc}}_{2}", "lc2'"},
    {"rod_end_left", 0, "rod_end_left", "\\mathrm{rod}_{\\mathrm{end,left}}", "rod_end_left"},
    {"x1[2]", 0, "x₁,₂", "x_{1,2}", "x1[2]"},
    {"_a", 0, "_a", "\\mathrm{,a}", "_a"},
};

static void test_names(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *expected[] = {names[i].text, names[i].plain, names[i].latex};
        for (int style = HMI_PRINT_TEXT; style <= HMI_PRINT_LATEX; style++) {
            hmi_text out;
            hmi_text_init(&out, &f->allocator);
            hmi_print_name(&out, (hmi_print_style)style, names[i].name, names[i].dots);
            assert_string_equal(hmi_text_view(&out), expected[style]);
            hmi_text_release(&out);
        }
    }
}

/* ---- formulas ---- */

static const struct {
    const char *formula, *text, *plain, *latex;
} formulas[] = {
    {"cos(theta)*m*theta'^2*s", "m·s·θ̇²·cos(θ)", "m*s*theta'^2*cos(theta)",
     "m s \\dot{\\theta}^{2} \\cos \\theta"},
    {"1.0471975511965976*x", "π·x/3", "1.0471975511965976*x", "\\frac{\\pi x}{3}"},
    {"x/6.283185307179586", "x/(2·π)", "x/6.283185307179586", "\\frac{x}{2 \\pi}"},
    {"y - 4.71238898038469", "y − 3·π/2", "y - 4.71238898038469", "y - \\frac{3 \\pi}{2}"},
    {"0.30000000000000004*x", "0.3·x", "0.30000000000000004*x", "0.3 x"},
    {"0.3000000000000004*x", "0.3000000000000004·x", "0.3000000000000004*x",
     "0.3000000000000004 x"},
    {"m/2*(x'^2 + y'^2)", "m·(ẋ² + ẏ²)/2", "m*(x'^2 + y'^2)/2",
     "\\frac{m \\left(\\dot{x}^{2} + \\dot{y}^{2}\\right)}{2}"},
    {"-x", "−x", "-x", "-x"},
    {"x - y - (z - r)", "x − y − z + r", "x - y - z + r", "x - y - z + r"},
    {"-x^2", "−x²", "-x^2", "-x^{2}"},
    {"(-x)^3*y", "−x³·y", "-x^3*y", "-x^{3} y"},
    {"(x + y)^2", "(x + y)²", "(x + y)^2", "\\left(x + y\\right)^{2}"},
    {"x^12", "x¹²", "x^12", "x^{12}"},
    {"1/x^2", "1/x²", "1/x^2", "\\frac{1}{x^{2}}"},
    {"a/(b*c)", "a/(b·c)", "a/(b*c)", "\\frac{a}{b c}"},
    {"a/b*c", "a·c/b", "a*c/b", "\\frac{a c}{b}"},
    {"(x + y)/(x - y)", "(x + y)/(x − y)", "(x + y)/(x - y)", "\\frac{x + y}{x - y}"},
    {"2*x/3", "2·x/3", "2*x/3", "\\frac{2 x}{3}"},
    {"1/3 - x", "1/3 − x", "1/3 - x", "\\frac{1}{3} - x"},
    {"x - 1", "x − 1", "x - 1", "x - 1"},
    {"0.25*x + 1e-12", "1e-12 + 0.25·x", "1e-12 + 0.25*x", "{10}^{-12} + 0.25 x"},
    {"2.5e-7*x", "2.5e-07·x", "2.5e-07*x", "2.5 \\cdot {10}^{-7} x"},
    {"pi*x", "π·x", "pi*x", "\\pi x"},
    {"x^(1/3)", "x^(1/3)", "x^(1/3)", "{x}^{\\frac{1}{3}}"},
    {"x^y^2", "x^(y²)", "x^(y^2)", "{x}^{y^{2}}"},
    {"sin(x)^2*cos(x + y)", "sin²(x)·cos(x + y)", "sin(x)^2*cos(x + y)",
     "\\sin^{2} x \\cos\\left(x + y\\right)"},
    {"(x + y)*sin(x)", "(x + y)·sin(x)", "(x + y)*sin(x)", "\\left(x + y\\right) \\sin x"},
    {"sqrt(x)*sqrt(x + y)", "√x·√(x + y)", "sqrt(x)*sqrt(x + y)", "\\sqrt{x} \\sqrt{x + y}"},
    {"sqrt(x)^3", "(√x)³", "sqrt(x)^3", "\\sqrt{x}^{3}"},
    {"abs(x) + abs(x + y)", "|x| + abs(x + y)", "abs(x) + abs(x + y)",
     "\\left|x\\right| + \\left|x + y\\right|"},
    {"exp(x)^2", "exp(x)²", "exp(x)^2", "\\left(e^{x}\\right)^{2}"},
    {"log(x)*atan2(y, x)", "log(x)·atan2(y, x)", "log(x)*atan2(y, x)",
     "\\ln\\left(x\\right) \\operatorname{atan2}\\left(y, x\\right)"},
    {"min(x, y)*sign(x)", "sign(x)·min(x, y)", "sign(x)*min(x, y)",
     "\\operatorname{sgn}\\left(x\\right) \\min\\left(x, y\\right)"},
    {"if(x < y and y <= 1 or not (x == 2), x, -y)", "if(x < y and y ≤ 1 or not (x = 2), x, −y)",
     "if(x < y and y <= 1 or not (x == 2), x, -y)",
     "\\begin{cases} x & \\text{if } x < y \\land y \\le 1 \\lor \\lnot \\left(x = 2\\right) \\\\ "
     "-y & \\text{otherwise} \\end{cases}"},
    {"2*if(x < y, 1, 2)", "2·if(x < y, 1, 2)", "2*if(x < y, 1, 2)",
     "2 \\left(\\begin{cases} 1 & \\text{if } x < y \\\\ 2 & \\text{otherwise} "
     "\\end{cases}\\right)"},
    {"q[3]'^2*bar''", "q̇₃²·bar″", "q[3]'^2*bar''", "\\dot{q}_{3}^{2} \\, \\ddot{\\mathrm{bar}}"},
    {"I_B*beta/(1 + beta)", "I_B·β/(1 + β)", "I_B*beta/(1 + beta)",
     "\\frac{I_{B} \\beta}{1 + \\beta}"},
    {"g*sin(alpha)/(1 + beta)", "g·sin(α)/(1 + β)", "g*sin(alpha)/(1 + beta)",
     "\\frac{g \\sin \\alpha}{1 + \\beta}"},
    {"m*g*z - 1/2*k*(sqrt(x^2 + y^2) - l)^2", "m·g·z − k·(√(x² + y²) − l)²/2",
     "m*g*z - k*(sqrt(x^2 + y^2) - l)^2/2",
     "m g z - \\frac{k \\left(\\sqrt{x^{2} + y^{2}} - l\\right)^{2}}{2}"},
};

static void test_formulas(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        hmi_expr e = mini_parse(&f->graph, formulas[i].formula);
        check_print(f, e, HMI_PRINT_TEXT, formulas[i].text);
        check_print(f, e, HMI_PRINT_PLAIN, formulas[i].plain);
        check_print(f, e, HMI_PRINT_LATEX, formulas[i].latex);
    }
    check_print(f, HMI_NONE, HMI_PRINT_TEXT, "?");
}

static void test_forces(void **state)
{
    fixture *f = *state;
    hmi_graph *g = &f->graph;
    hmi_expr reaction = hmi_symbol(g, HMI_SYM_REACTION, 0);
    hmi_expr multiplier = hmi_symbol(g, HMI_SYM_MULTIPLIER, 0);
    hmi_expr e = hmi_add(g, hmi_mul(g, reaction, reaction), multiplier);
    check_print(f, e, HMI_PRINT_PLAIN, "multiplier(c1) + reaction(x)^2");
    check_print(f, e, HMI_PRINT_LATEX, "{\\lambda_{c_{1}}} + {Q^{\\mathrm{i}}_{x}}^{2}");
    check_print(f, hmi_symbol(g, HMI_SYM_TOTAL_REACTION, 1), HMI_PRINT_PLAIN, "total_reaction(y)");
    check_print(f, hmi_symbol(g, HMI_SYM_MATRIX, 1), HMI_PRINT_TEXT, "M₁₂");
    check_print(f, hmi_symbol(g, HMI_SYM_INPUT_RATE2, 0), HMI_PRINT_TEXT, "ü₁");
    check_print(f, hmi_symbol(g, HMI_SYM_ENERGY, 0), HMI_PRINT_PLAIN, "energy");
}

static void test_as_written(void **state)
{
    fixture *f = *state;
    hmi_expr e = mini_parse(&f->graph, "x*sin(theta)*m - y + g - 1");
    hmi_text out;
    hmi_text_init(&out, &f->allocator);
    hmi_print_options options = {
        .style = HMI_PRINT_TEXT, .namer = {mini_name, NULL}, .as_written = true};
    assert_int_equal(hmi_print(&out, &f->graph, e, &options), HM_OK);
    assert_string_equal(hmi_text_view(&out), "x·sin(θ)·m − y + g − 1");
    hmi_text_release(&out);
}

/* What plain prints, parsed again, has the same value. */
static void test_round_trip(void **state)
{
    fixture *f = *state;
    mini_random random = {11};
    for (int i = 0; i < 1500; i++) {
        hmi_expr e = mini_random_expr(&f->graph, &random, 2 + i % 5);
        char *text = mini_print(&f->graph, e, HMI_PRINT_PLAIN);
        hmi_expr back = mini_parse(&f->graph, text);
        for (uint32_t point = 0; point < 2; point++) {
            double size, x = mini_evaluate(&f->graph, e, point, &size);
            double y = mini_value(&f->graph, back, point);
            if (isfinite(x) && !(fabs(x - y) <= 1e-12 * (1 + size)))
                fail_msg("%s: %.17g, read back %.17g", text, x, y);
        }
        free(text);
    }
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        double x = mini_value(&f->graph, mini_parse(&f->graph, formulas[i].formula), 0);
        double y = mini_value(&f->graph, mini_parse(&f->graph, formulas[i].plain), 0);
        assert_true(fabs(x - y) <= 1e-12 * (1 + fabs(x)));
    }
}

/* ---- size and depth ---- */

/* x -> x*x + x, 60 times: written out it has 2^60 terms. */
static hmi_expr doubled(hmi_graph *g, int times)
{
    hmi_expr e = hmi_symbol(g, HMI_SYM_COORD, 0);
    for (int i = 0; i < times; i++)
        e = hmi_add(g, hmi_mul(g, e, e), e);
    return e;
}

static void test_named_parts(void **state)
{
    fixture *f = *state;
    hmi_graph *g = &f->graph;
    hmi_expr root = doubled(g, 60);
    hmi_shared shared;
    hmi_shared_init(&shared, &f->allocator, "e");
    hmi_shared_options sizes = hmi_shared_options_default();
    assert_int_equal(hmi_shared_pick(&shared, g, &root, 1, &sizes), HM_OK);
    assert_in_range(shared.nodes.count, 10, 60);
    hmi_print_options options = {
        .style = HMI_PRINT_PLAIN, .namer = {mini_name, NULL}, .shared = &shared};
    hmi_text out;
    hmi_text_init(&out, &f->allocator);
    hmi_expr parts[60];
    for (size_t k = 0; k < shared.nodes.count; k++) {
        out.length = 0;
        assert_int_equal(hmi_print_part_value(&out, g, k, &options), HM_OK);
        assert_true(out.length < 200);
        parts[k] = mini_parse_parts(g, hmi_text_view(&out), parts);
        assert_true(parts[k] == shared.nodes.data[k]); /* the very same node */
    }
    out.length = 0;
    assert_int_equal(hmi_print(&out, g, root, &options), HM_OK);
    assert_true(mini_parse_parts(g, hmi_text_view(&out), parts) == root);
    out.length = 0;
    options.style = HMI_PRINT_TEXT;
    assert_int_equal(hmi_print_part_name(&out, 11, &options), HM_OK);
    assert_string_equal(hmi_text_view(&out), "e₁₂");
    hmi_text_release(&out);
    hmi_shared_release(&shared);
}

/* One line per node; operations are shown by number, leaves by name or by kind and index. Runs of
 * spaces are squeezed before comparing. */
static void test_dump(void **state)
{
    fixture *f = *state;
    hmi_graph *g = &f->graph;
    hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, 0), m = hmi_symbol(g, HMI_SYM_PARAM, 0);
    hmi_mul(g, m, hmi_apply(g, HMI_SIN, x, 0, 0));
    hmi_text out;
    hmi_text_init(&out, &f->allocator);
    assert_int_equal(hmi_graph_dump(g, NULL, &out), HM_OK);
    size_t kept = 0;
    for (size_t i = 0; i <= out.length; i++)
        if (out.data[i] != ' ' || (kept && out.data[kept - 1] != ' '))
            out.data[kept++] = out.data[i];
    assert_string_equal(out.data, "%0 constant 0\n%1 constant 1\n%2 constant 2\n"
                                  "%3 constant -1\n%4 constant 1/2\n"
                                  "%5 symbol coordinate coordinate0\n"
                                  "%6 symbol parameter parameter0\n"
                                  "%7 sin %5 coordinate sin(coordinate0)\n"
                                  "%8 mul %6 %7 parameter coordinate parameter0*%7\n");
    hmi_text_release(&out);
}

/* Parts are shared between roots, and wide expressions are broken at their brackets. */
static void test_wide_expressions(void **state)
{
    fixture *f = *state;
    hmi_graph *g = &f->graph;
    hmi_expr wide = mini_parse(
        g, "(m1*l1^2 + m2*l2^2 + I1*cos(theta) + I2*sin(theta) + k*x^2 + k*y^2 + m*x'*y')"
           "*sin(phi)/(m1*l1 + m2*l2 + I1*cos(phi) + I2*sin(phi) + k*x^4 + k*y^4 + m*r'*theta')");
    hmi_expr roots[] = {wide, hmi_mul(g, wide, g->two), HMI_NONE};
    hmi_shared shared;
    hmi_shared_init(&shared, &f->allocator, "e");
    hmi_shared_options sizes = hmi_shared_options_default();
    assert_int_equal(hmi_shared_pick(&shared, g, roots, 3, &sizes), HM_OK);
    assert_in_range(shared.nodes.count, 2, 4);
    hmi_print_options options = {
        .style = HMI_PRINT_TEXT, .namer = {mini_name, NULL}, .shared = &shared};
    hmi_text out;
    hmi_text_init(&out, &f->allocator);
    assert_int_equal(hmi_print(&out, g, roots[1], &options), HM_OK);
    assert_true(out.length < 20);
    hmi_text_release(&out);
    hmi_shared_release(&shared);
}

static void test_without_names_there_is_a_limit(void **state)
{
    fixture *f = *state;
    hmi_text out;
    hmi_text_init(&out, &f->allocator);
    hmi_text_add(&out, "kept");
    hmi_print_options options = {.style = HMI_PRINT_PLAIN, .namer = {mini_name, NULL}};
    assert_int_equal(hmi_print(&out, &f->graph, doubled(&f->graph, 60), &options), HM_ERR_LIMIT);
    assert_string_equal(hmi_text_view(&out), "kept");
    hmi_text_release(&out);
}

static void check_prints(fixture *f, hmi_expr e, size_t at_least)
{
    for (int style = HMI_PRINT_TEXT; style <= HMI_PRINT_LATEX; style++) {
        char *text = mini_print(&f->graph, e, (hmi_print_style)style);
        assert_true(strlen(text) >= at_least);
        free(text);
    }
    hmi_c_function function = {.name = "f", .roots = &e, .count = 1};
    hmi_text out;
    hmi_text_init(&out, &f->allocator);
    assert_int_equal(hmi_print_c_function(&out, &f->graph, &function), HM_OK);
    assert_true(out.length >= at_least);
    hmi_text_release(&out);
}

static void test_long_and_deep(void **state)
{
    enum { LENGTH = 100000 };
    fixture *f = *state;
    hmi_graph *g = &f->graph;
    hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, 0);
    hmi_expr sum = x, product = x, right = x, deep = x, quotient = x, power = x;
    for (uint32_t i = 0; i < LENGTH; i++) {
        hmi_expr p = hmi_symbol(g, HMI_SYM_PARAM, i % MINI_PARAMS);
        hmi_expr n = hmi_number(g, i + 3);
        sum = hmi_intern(g, HMI_ADD, sum, hmi_mul(g, n, p), 0);
        right = hmi_intern(g, HMI_SUB, hmi_mul(g, n, p), right, 0);
        product = hmi_intern(g, HMI_MUL, product, p, 0);
        deep = hmi_intern(g, HMI_SIN, deep, 0, 0);
        quotient = hmi_intern(g, HMI_DIV, p, quotient, 0);
        power = hmi_intern(g, HMI_POW, power, p, 0);
    }
    check_prints(f, sum, 3 * LENGTH);
    check_prints(f, right, 3 * LENGTH);
    check_prints(f, product, LENGTH);
    check_prints(f, deep, 4 * LENGTH);
    check_prints(f, quotient, LENGTH);
    check_prints(f, power, LENGTH);
}

static void test_odd_powers(void **state)
{
    fixture *f = *state;
    hmi_graph *g = &f->graph;
    hmi_expr x = hmi_symbol(g, HMI_SYM_COORD, 0), y = hmi_symbol(g, HMI_SYM_COORD, 1);
    hmi_expr huge = hmi_intern(g, HMI_POWI, x, hmi_number(g, 1e12), 0);
    check_print(f, huge, HMI_PRINT_PLAIN, "x^1e+12");
    hmi_expr below = hmi_intern(g, HMI_POWI, x, hmi_number(g, -1e12), 0);
    check_print(f, below, HMI_PRINT_PLAIN, "x^(-1e+12)");
    hmi_expr inverse = hmi_intern(g, HMI_POWI, x, hmi_number(g, -2), 0);
    check_print(f, inverse, HMI_PRINT_TEXT, "1/x²");
    hmi_expr nested = hmi_intern(g, HMI_POWI, hmi_intern(g, HMI_POWI, x, hmi_number(g, 3), 0),
                                 hmi_number(g, 2), 0);
    check_print(f, nested, HMI_PRINT_PLAIN, "(x^3)^2");
    hmi_expr product = hmi_mul(g, hmi_number(g, -3), y);
    hmi_expr cube = hmi_intern(g, HMI_POWI, product, hmi_number(g, 3), 0);
    check_print(f, hmi_sub(g, x, cube), HMI_PRINT_PLAIN, "x - (-3*y)^3");
    hmi_expr twice = hmi_intern(g, HMI_NEG, hmi_intern(g, HMI_NEG, hmi_add(g, x, y), 0, 0), 0, 0);
    check_print(f, twice, HMI_PRINT_PLAIN, "x + y");
}

/* ---- C ---- */

static char *make_folder(void)
{
    char *folder = strdup("/tmp/hamel-print-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static void remove_folder(char *folder)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    free(folder);
}

static void write_file(const char *folder, const char *name, const hmi_text *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text->data, 1, text->length, file), text->length);
    assert_int_equal(fclose(file), 0);
}

/* One of each operation with operands of both signs, and random formulas. */
static size_t all_sorts(hmi_graph *g, hmi_expr *roots, size_t most)
{
    size_t count = 0;
    hmi_expr x = mini_parse(g, "x - 1"), y = mini_parse(g, "y' - 1"), n = hmi_number(g, 5);
    for (int op = HMI_SYMBOL + 1; op < HMI_PLAIN_OPS_END; op++) {
        hmi_expr second = op == HMI_POWI ? n : y;
        roots[count++] = hmi_intern(g, (hmi_op)op, x, second, hmi_symbol(g, HMI_SYM_TIME, 0));
        roots[count++] = hmi_intern(g, (hmi_op)op, second, x, g->half);
        if (op == HMI_POWI)
            count--;
    }
    for (int power = -70; power <= 70; power += 7)
        roots[count++] = hmi_intern(g, HMI_POWI, x, hmi_number(g, power), 0);
    const double numbers[] = {0.1, 1e300, -1e-300, 3, -7, 1e22, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        roots[count++] = hmi_intern(g, HMI_MUL, x, hmi_number(g, numbers[i]), 0);
    roots[count++] = mini_parse(g, "x - (y - (z - r)) - x/(y/z) - x/y/z - -x - -(-y)");
    roots[count++] = HMI_NONE;
    mini_random random = {3};
    for (; count < most; count++)
        roots[count] = mini_random_expr(g, &random, 2 + (int)count % 7);
    return count;
}

static void add_inputs(hmi_text *out, const char *name, uint32_t kind, uint32_t count)
{
    hmi_text_addf(out, "static const double %s[] = {", name);
    for (uint32_t i = 0; i < count; i++)
        hmi_text_addf(out, "%a, ", mini_symbol_value(kind, i, 0));
    hmi_text_add(out, "};\n");
}

static void add_main(hmi_text *out, size_t count)
{
    add_inputs(out, "p", HMI_SYM_PARAM, MINI_PARAMS);
    add_inputs(out, "q", HMI_SYM_COORD, MINI_COORDS);
    add_inputs(out, "v", HMI_SYM_VELOCITY, MINI_COORDS);
    hmi_text_addf(out,
                  "#include <stdio.h>\nint main(void)\n{\n    static double out[%zu];\n"
                  "    f(%a, p, q, v, out);\n    for (int i = 0; i < %zu; i++)\n"
                  "        printf(\"%%a\\n\", out[i]);\n    return 0;\n}\n",
                  count, mini_symbol_value(HMI_SYM_TIME, 0, 0), count);
}

/* Exported C calls <math.h>; here those functions are ours, so that the bits can be compared. */
static void compile_c(const char *folder)
{
    static const char flags[] = "-std=c17 -Wall -Wextra -Werror -O2 -ffp-contract=off -fno-builtin "
                                "-I" HAMEL_SOURCE_DIR "/src";
    char command[1024];
    hmi_text ours;
    hm_allocator allocator = hm_allocator_default();
    hmi_text_init(&ours, &allocator);
    hmi_text_add(&ours,
                 "#include <expr/graph/math.h>\n#include <math.h>\n"
                 "#define F1(f, u) double f(double x) { return hmi_math_##f(x); }\n"
                 "#define F2(f, u) double f(double x, double y) { return hmi_math_##f(x, y); "
                 "}\nF1(sin, ) F1(cos, ) HMI_MATH_FUNCTIONS(F1, F2)\n");
    write_file(folder, "ours.c", &ours);
    hmi_text_release(&ours);
    snprintf(command, sizeof command,
             "cd %s && cc %s -o f f.c ours.c " HAMEL_SOURCE_DIR
             "/src/expr/graph/math.c -lsleef -lm",
             folder, flags);
    assert_int_equal(system(command), 0);
}

static void test_c_values(void **state)
{
    enum { COUNT = 400 };
    fixture *f = *state;
    hmi_graph *g = &f->graph;
    hmi_expr roots[COUNT];
    size_t count = all_sorts(g, roots, COUNT);
    uint16_t kinds = HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_PARAM) | HMI_DEP(HMI_SYM_COORD) |
                     HMI_DEP(HMI_SYM_VELOCITY);
    hmi_c_function function = {.name = "f", .kinds = kinds, .roots = roots, .count = count};
    hmi_text out;
    hmi_text_init(&out, &f->allocator);
    hmi_print_c_preamble(&out);
    hmi_text_add(&out, "void f(double t, const double *p, const double *q, const double *v, "
                       "double *out);\n");
    assert_int_equal(hmi_print_c_function(&out, g, &function), HM_OK);
    add_main(&out, count);
    char *folder = make_folder(), command[256];
    write_file(folder, "f.c", &out);
    compile_c(folder);
    snprintf(command, sizeof command, "%s/f", folder);
    FILE *results = popen(command, "r");
    assert_non_null(results);
    for (size_t i = 0; i < count; i++) {
        char line[64];
        assert_non_null(fgets(line, sizeof line, results));
        double expected = roots[i] == HMI_NONE ? 0 : mini_value(g, roots[i], 0);
        double got = strtod(line, NULL);
        assert_true(isnan(expected) ? isnan(got) : memcmp(&got, &expected, sizeof got) == 0);
    }
    assert_int_equal(pclose(results), 0);
    remove_folder(folder);
    hmi_text_release(&out);
}

/* A function that needs nothing, and one whose inputs are not used. */
static void test_c_unused(void **state)
{
    fixture *f = *state;
    hmi_expr one = f->graph.one;
    hmi_c_function none = {.name = "g", .kinds = 0, .roots = &one, .count = 1};
    hmi_c_function all = {.name = "h", .kinds = 0x7FFF, .roots = NULL, .count = 0};
    hmi_text out;
    hmi_text_init(&out, &f->allocator);
    hmi_print_c_preamble(&out);
    assert_int_equal(hmi_print_c_function(&out, &f->graph, &none), HM_OK);
    assert_non_null(strstr(hmi_text_view(&out), "void g(double *out)\n{\n    out[0] = 1.0;\n}\n"));
    assert_int_equal(hmi_print_c_function(&out, &f->graph, &all), HM_OK);
    hmi_text_add(&out,
                 "int main(void)\n{\n    double x[1];\n    g(x);\n    return x[0] != 1;\n}\n");
    char *folder = make_folder();
    write_file(folder, "f.c", &out);
    char command[512];
    snprintf(command, sizeof command,
             "cc -std=c17 -Wall -Wextra -Werror -o %s/f %s/f.c -lm && %s/f", folder, folder,
             folder);
    assert_int_equal(system(command), 0);
    remove_folder(folder);
    hmi_text_release(&out);
}

/* ---- LaTeX ---- */

static void add_equation(hmi_text *document, fixture *f, hmi_expr e)
{
    char *latex = mini_print(&f->graph, e, HMI_PRINT_LATEX);
    hmi_text_addf(document, "\\[ %s \\]\n", latex);
    free(latex);
}

static void test_latex_compiles(void **state)
{
    if (system("command -v pdflatex > /dev/null 2>&1") != 0)
        skip();
    fixture *f = *state;
    hmi_graph *g = &f->graph;
    hmi_text document;
    hmi_text_init(&document, &f->allocator);
    hmi_text_add(&document, "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n");
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        add_equation(&document, f, mini_parse(g, formulas[i].formula));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        hmi_text_add(&document, "\\[ ");
        hmi_print_name(&document, HMI_PRINT_LATEX, names[i].name, names[i].dots);
        hmi_text_add(&document, "^{2} \\]\n");
    }
    hmi_expr sorts[120];
    size_t count = all_sorts(g, sorts, 120);
    for (size_t i = 0; i < count; i++)
        if (sorts[i] != HMI_NONE)
            add_equation(&document, f, hmi_pow(g, sorts[i], g->two));
    for (uint32_t kind = 0; kind < HMI_SYM_KIND_COUNT; kind++) {
        hmi_expr symbol = hmi_symbol(g, (hmi_symbol_kind)kind, 0);
        add_equation(&document, f, hmi_mul(g, symbol, symbol));
    }
    hmi_text_add(&document, "\\end{document}\n");
    char *folder = make_folder(), command[256];
    write_file(folder, "f.tex", &document);
    snprintf(command, sizeof command,
             "cd %s && pdflatex -interaction=nonstopmode -halt-on-error f.tex > log.txt", folder);
    if (system(command) != 0) {
        snprintf(command, sizeof command, "grep -A3 '^!' %s/log.txt", folder);
        (void)!system(command);
        fail_msg("%s/f.tex does not compile", folder);
    }
    remove_folder(folder);
    hmi_text_release(&document);
}

/* ---- no memory ---- */

static hm_status print_all(const hm_allocator *allocator, const hmi_graph *g, hmi_expr e)
{
    hmi_text out;
    hmi_shared shared;
    hmi_text_init(&out, allocator);
    hmi_shared_init(&shared, allocator, "e");
    hmi_shared_options sizes = hmi_shared_options_default();
    hm_status status = hmi_shared_pick(&shared, g, &e, 1, &sizes);
    hmi_print_options options = {.namer = {mini_name, NULL}, .shared = &shared};
    for (int style = HMI_PRINT_TEXT; status == HM_OK && style <= HMI_PRINT_LATEX; style++) {
        options.style = (hmi_print_style)style;
        status = hmi_print(&out, g, e, &options);
        for (size_t k = 0; status == HM_OK && k < shared.nodes.count; k++) {
            status = hmi_print_part_name(&out, k, &options);
            if (status == HM_OK)
                status = hmi_print_part_value(&out, g, k, &options);
        }
    }
    hmi_c_function function = {.name = "f", .roots = &e, .count = 1};
    if (status == HM_OK)
        status = hmi_print_c_function(&out, g, &function);
    hmi_text_release(&out);
    hmi_shared_release(&shared);
    return status;
}

static void test_no_memory(void **state)
{
    fixture *f = *state;
    hmi_expr e = hmi_mul(&f->graph, doubled(&f->graph, 8),
                         mini_parse(&f->graph, "sin(x)/(2 - x) - if(x < y, 1/3, abs(x + y))"));
    for (long k = 0;; k++) {
        mini_heap heap = {.left = k};
        hm_allocator allocator = {mini_resize, &heap};
        hm_status status = print_all(&allocator, &f->graph, e);
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
        TEST(test_names),
        TEST(test_formulas),
        TEST(test_forces),
        TEST(test_as_written),
        TEST(test_round_trip),
        TEST(test_named_parts),
        TEST(test_dump),
        TEST(test_wide_expressions),
        TEST(test_without_names_there_is_a_limit),
        TEST(test_long_and_deep),
        TEST(test_odd_powers),
        TEST(test_c_values),
        TEST(test_c_unused),
        TEST(test_latex_compiles),
        TEST(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
