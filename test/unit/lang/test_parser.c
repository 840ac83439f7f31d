/* Tokens -> syntax tree: precedence, postfix forms, every statement, line ends, recovery. Trees are
 * compared as text: (+ a (* b c)). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lang/parser.h"

static hm_context *context;
static hmi_tree tree;

static int open_tree(void **state)
{
    (void)state;
    context = hm_context_create(NULL);
    if (context)
        hmi_tree_init(&tree, context);
    return context ? 0 : -1;
}

static int close_tree(void **state)
{
    (void)state;
    hmi_tree_release(&tree);
    hm_context_destroy(context);
    return 0;
}

/* ---- trees as text ---- */

static const char *op_text(uint8_t op)
{
    switch (op) {
    case HMI_TOK_PLUS:
        return "+";
    case HMI_TOK_MINUS:
        return "-";
    case HMI_TOK_STAR:
        return "*";
    case HMI_TOK_SLASH:
        return "/";
    case HMI_TOK_LESS:
        return "<";
    case HMI_TOK_LESS_EQUAL:
        return "<=";
    case HMI_TOK_GREATER:
        return ">";
    case HMI_TOK_GREATER_EQUAL:
        return ">=";
    case HMI_TOK_EQUAL:
        return "==";
    case HMI_TOK_AND:
        return "and";
    default:
        return "or";
    }
}

static void show(hmi_text *out, const hmi_ast *e);

static void show_items(hmi_text *out, const char *head, const hmi_ast *e)
{
    hmi_text_addf(out, "(%s", head);
    for (uint32_t i = 0; i < e->count; i++) {
        hmi_text_add(out, " ");
        show(out, e->items[i]);
    }
    hmi_text_add(out, ")");
}

/* a - b + c as (+ (- a b) c): chains lean to the left. */
static void show_chain(hmi_text *out, const hmi_ast *e, uint32_t count)
{
    if (count == 1) {
        show(out, e->items[0]);
        return;
    }
    hmi_text_addf(out, "(%s ", op_text(e->ops[count - 2]));
    show_chain(out, e, count - 1);
    hmi_text_add(out, " ");
    show(out, e->items[count - 1]);
    hmi_text_add(out, ")");
}

static void show(hmi_text *out, const hmi_ast *e)
{
    char number[HMI_NUMBER_TEXT];
    const char *name = e->name == HMI_NO_NAME ? "" : hmi_names_text(&tree.names, e->name);
    switch ((hmi_ast_kind)e->kind) {
    case HMI_AST_NUMBER:
        hmi_text_add(out, hmi_number_text(e->number, number));
        break;
    case HMI_AST_NAME:
        hmi_text_add(out, name);
        break;
    case HMI_AST_CALL:
        show_items(out, name, e);
        break;
    case HMI_AST_INDEX:
        show_items(out, "index", e);
        break;
    case HMI_AST_PRIME:
        show_items(out, "prime", e);
        break;
    case HMI_AST_NEGATE:
        show_items(out, "neg", e);
        break;
    case HMI_AST_NOT:
        show_items(out, "not", e);
        break;
    case HMI_AST_POWER:
        show_items(out, "^", e);
        break;
    case HMI_AST_LIST:
        show_items(out, "list", e);
        break;
    case HMI_AST_SUM:
    case HMI_AST_PROD:
        hmi_text_addf(out, "%s-%s", e->kind == HMI_AST_SUM ? "sum" : "prod", name);
        show_items(out, "", e);
        break;
    case HMI_AST_CHAIN:
        show_chain(out, e, e->count);
        break;
    }
}

static void check_expression(const char *text, const char *expected)
{
    hmi_text out;
    uint32_t file = hmi_context_add_source(context, "e", NULL, text, strlen(text));
    hmi_ast *e = hmi_parse_expression(&tree, file);
    if (!e)
        fail_msg("%s: %s", text, hm_context_diagnostic(context, 0)->message);
    hmi_text_init(&out, &context->allocator);
    show(&out, e);
    assert_string_equal(hmi_text_view(&out), expected);
    hmi_text_release(&out);
}

static void refuse_expression(const char *text, const char *message)
{
    uint32_t file = hmi_context_add_source(context, "e", NULL, text, strlen(text));
    assert_null(hmi_parse_expression(&tree, file));
    assert_int_equal(hm_context_error_count(context), 1);
    assert_non_null(strstr(hm_context_diagnostic(context, 0)->message, message));
    hm_context_clear(context);
}

/* ---- expressions ---- */

static void test_precedence(void **state)
{
    (void)state;
    check_expression("a + b*c", "(+ a (* b c))");
    check_expression("a*b + c", "(+ (* a b) c)");
    check_expression("a - b + c", "(+ (- a b) c)");
    check_expression("a/b*c", "(* (/ a b) c)");
    check_expression("-x^2", "(neg (^ x 2))");
    check_expression("2^-x", "(^ 2 (neg x))");
    check_expression("a^b^c", "(^ a (^ b c))");
    check_expression("-a*b", "(* (neg a) b)");
    check_expression("a*-b", "(* a (neg b))");
    check_expression("a - -b", "(- a (neg b))");
    check_expression("+a", "a");
    check_expression("x'^2", "(^ (prime x) 2)");
    check_expression("-x'", "(neg (prime x))");
    check_expression("(a + b)*c", "(* (+ a b) c)");
    check_expression("a < b and c >= d or not e == f",
                     "(or (and (< a b) (>= c d)) (not (== e f)))");
    check_expression("not a < b", "(not (< a b))");
    check_expression("not not a > b", "(not (not (> a b)))");
    check_expression("a + b < c*d", "(< (+ a b) (* c d))");
}

static void test_postfix(void **state)
{
    (void)state;
    check_expression("x''", "(prime (prime x))");
    check_expression("q[i]'", "(prime (index q i))");
    check_expression("q'[i]", "(index (prime q) i)");
    check_expression("f(x)'", "(prime (f x))");
    check_expression("(R*u)[3]", "(index (* R u) 3)");
    check_expression("(R*u)'", "(prime (* R u))");
    check_expression("[a, b]'", "(prime (list a b))");
    check_expression("R[i, j]'", "(prime (index R i j))");
    check_expression("f(x)[1][2]", "(index (index (f x) 1) 2)");
    check_expression("f()", "(f)");
    check_expression("[[a, b], [c, d]]", "(list (list a b) (list c d))");
    check_expression("sum(i = 1..N + 1, q[i])", "sum-i( 1 (+ N 1) (index q i))");
    check_expression("prod(k = a..b, sum(i = 1..k, i))", "prod-k( a b sum-i( 1 k i))");
    check_expression("if(x > 0, a, b)", "(if (> x 0) a b)");
    check_expression("[a, b,]", "(list a b)");
}

static void test_line_ends_in_expressions(void **state)
{
    (void)state;
    check_expression("a +\n b", "(+ a b)");
    check_expression("f(\n a\n ,\n b\n)", "(f a b)");
    check_expression("[a,\n# comment\n b]", "(list a b)");
    check_expression("\n\n a \n\n", "a");
    check_expression("a^\nb", "(^ a b)");
}

static void test_refused_expressions(void **state)
{
    (void)state;
    refuse_expression("", "expected an expression");
    refuse_expression("a b", "expected an operator or the end");
    refuse_expression("2x", "an operator is missing before 'x'");
    refuse_expression("2(x)", "an operator is missing before '('");
    refuse_expression("x 2", "an operator is missing before '2'");
    refuse_expression("(a)(b)", "only a name can be called");
    refuse_expression("f(a", "not closed");
    refuse_expression("[a)", "but the bracket is closed by ']'");
    refuse_expression("a < b < c", "cannot be chained");
    refuse_expression("x^2'", "a number cannot take a prime");
    refuse_expression("a + ", "expected an expression");
    refuse_expression("mass", "is a reserved word");
    refuse_expression("sum(1..3, x)", "expected the index");
}

/* ---- statements ---- */

static hm_status parse(const char *text)
{
    uint32_t file = hmi_context_add_source(context, "m", NULL, text, strlen(text));
    hmi_tree_release(&tree);
    hmi_tree_init(&tree, context);
    hm_context_clear(context);
    return hmi_parse_source(&tree, file);
}

static const hmi_statement *parse_one(const char *text)
{
    if (parse(text) != HM_OK)
        fail_msg("%s: %s", text, hm_context_diagnostic(context, 0)->message);
    assert_non_null(tree.statements);
    assert_null(tree.statements->next);
    return tree.statements;
}

static void is(const hmi_ast *e, const char *expected)
{
    hmi_text out;
    assert_non_null(e);
    hmi_text_init(&out, &context->allocator);
    show(&out, e);
    assert_string_equal(hmi_text_view(&out), expected);
    hmi_text_release(&out);
}

static void test_declarations(void **state)
{
    (void)state;
    const hmi_statement *s = parse_one("model skate \"Hamel's skate\"");
    assert_int_equal(s->kind, HMI_STMT_MODEL);
    is(s->label, "skate");
    assert_string_equal(s->text, "Hamel's skate");
    s = parse_one("param a = 1,\n  b = 2*a");
    assert_int_equal(s->entry_count, 2);
    is(s->entries[1].target, "b");
    is(s->entries[1].value, "(* 2 a)");
    s = parse_one("coord x, q[0..N], y");
    assert_int_equal(s->entry_count, 3);
    assert_int_equal(s->entries[0].index_count, 0);
    assert_int_equal(s->entries[1].index_count, 1);
    is(s->entries[1].bounds[0], "0");
    is(s->entries[1].bounds[1], "N");
    s = parse_one("param a[0..2,\n 1..M] = R");
    assert_int_equal(s->entries[0].index_count, 2);
    is(s->entries[0].bounds[2], "1");
    is(s->entries[0].bounds[3], "M");
    is(s->entries[0].value, "R");
    s = parse_one("let v2 = x'^2, f(a, b) = a*b'");
    is(s->entries[1].target, "(f a b)");
    s = parse_one("state z' = u, w[2]' = 1");
    is(s->entries[1].target, "(prime (index w 2))");
}

static void test_physics(void **state)
{
    (void)state;
    const hmi_statement *s = parse_one("mass x, y = 2, z = 3");
    assert_int_equal(s->entry_count, 2);
    is(s->entries[0].target, "x");
    is(s->entries[0].second, "y");
    assert_null(s->entries[1].second);
    s = parse_one("force x = -k*x, y = 1");
    assert_int_equal(s->entry_count, 2);
    assert_null(s->first);
    s = parse_one("force [1, 0] at P(2)");
    is(s->first, "(list 1 0)");
    is(s->second, "(P 2)");
    s = parse_one("torque N on R");
    is(s->second, "R");
    s = parse_one("body disc[2] { mass m, inertia J\n at [x,\n y] ; angle th }");
    is(s->label, "(index disc 2)");
    assert_int_equal(s->entry_count, 4);
    is(s->entries[2].value, "(list x y)");
    s = parse_one("body p { mass m*2 at -[x, y] }");
    is(s->entries[0].value, "(* m 2)");
}

static void test_constraints(void **state)
{
    (void)state;
    const hmi_statement *s = parse_one("constraint rod[i]: x^2 = l^2");
    is(s->label, "(index rod i)");
    is(s->first, "(^ x 2)");
    is(s->second, "(^ l 2)");
    s = parse_one("constraint x = y");
    assert_null(s->label);
    s = parse_one("servo hold: x = 1 by x, q[2] with gain 2*k law lyapunov");
    assert_int_equal(s->entry_count, 2);
    is(s->third, "(* 2 k)");
    assert_int_not_equal(s->word, HMI_NO_NAME);
    s = parse_one("servo x = 1 with gain 1");
    assert_int_equal(s->entry_count, 0);
    assert_int_equal(s->word, HMI_NO_NAME);
}

static void test_runs(void **state)
{
    (void)state;
    const hmi_statement *s = parse_one("initial x = 1, y' ~ 2");
    assert_false(s->entries[0].guess);
    assert_true(s->entries[1].guess);
    assert_false(s->keep);
    assert_true(parse_one("initial keep x = 1")->keep);
    assert_false(parse_one("initial keep = 1")->keep); /* a coordinate of that name */
    s = parse_one("simulate 0 .. 2*T every 0.1 method dop853 drift baumgarte(1, 2)");
    is(s->second, "(* 2 T)");
    is(s->third, "0.1");
    assert_int_equal(s->entry_count, 2);
    is(s->entries[1].value, "(baumgarte 1 2)");
    s = parse_one("symmetry turn: x = -y, y = x");
    assert_int_equal(s->entry_count, 2);
    s = parse_one("event hit: x = 0 falling set x' = -e*x', y' = 0");
    assert_int_equal(s->direction, HMI_EVENT_FALLING);
    assert_int_equal(s->action, HMI_EVENT_SET);
    assert_int_equal(s->entry_count, 2);
    s = parse_one("event x = 1 record");
    assert_null(s->label);
    assert_int_equal(s->direction, HMI_EVENT_BOTH);
    s = parse_one("output E = energy");
    is(s->label, "E");
}

static void test_blocks(void **state)
{
    (void)state;
    const hmi_statement *s = parse_one("for i = 1..N\n{\n kinetic q[i]'^2; output o[i] = 1\n"
                                       " for k = i..N { potential q[k] }\n}");
    assert_int_equal(s->kind, HMI_STMT_FOR);
    assert_int_equal(s->block->kind, HMI_STMT_KINETIC);
    assert_int_equal(s->block->next->kind, HMI_STMT_OUTPUT);
    assert_int_equal(s->block->next->next->kind, HMI_STMT_FOR);
    assert_true(s->contains & 1u << HMI_STMT_POTENTIAL);
    assert_false(s->contains & 1u << HMI_STMT_PARAM);
    assert_true(tree.contains & 1u << HMI_STMT_POTENTIAL);
}

/* Words inside statements are names elsewhere. */
static void test_words_are_names(void **state)
{
    (void)state;
    const hmi_statement *s = parse_one("param at = 1, on = 2, by = 3, gain = at + on, stop = by");
    assert_int_equal(s->entry_count, 5);
    parse_one("kinetic every*rising + set^2 + law");
    parse_one("force at = at*at");
}

static void test_statement_ends(void **state)
{
    (void)state;
    assert_int_equal(parse("coord x; kinetic x'^2 ; ; potential x\n\n;output a = x"), HM_OK);
    int count = 0;
    for (const hmi_statement *s = tree.statements; s; s = s->next)
        count++;
    assert_int_equal(count, 4);
    assert_int_equal(parse("coord x,\n y\nkinetic x' *\n y'\nlet a =\n 1"), HM_OK);
    assert_int_equal(parse("coord x\r\nkinetic x'^2\r\n"), HM_OK);
}

/* ---- spans ---- */

static void spans(const hmi_ast *e, const char *text)
{
    const hmi_source *source = &context->sources.data[e->span.file];
    assert_int_equal(e->span.length, strlen(text));
    assert_memory_equal(source->text + e->span.start, text, strlen(text));
}

static void test_spans(void **state)
{
    (void)state;
    const hmi_statement *s = parse_one("output a = (x + y)*sin(z)'");
    spans(s->label, "a");
    spans(s->first, "(x + y)*sin(z)'");
    spans(s->first->items[0], "(x + y)");
    spans(s->first->items[1], "sin(z)'");
    spans(s->first->items[1]->items[0], "sin(z)");
    s = parse_one("force x = 1, y = -2^3");
    spans(s->entries[1].value, "-2^3");
    spans(s->entries[1].value->items[0]->items[1], "3");
}

/* ---- recovery ---- */

static void errors_in_lines(const char *text, const int *lines, size_t count)
{
    assert_int_equal(parse(text), HM_ERR_INPUT);
    assert_int_equal(hm_context_error_count(context), count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(hm_context_diagnostic(context, i)->line, lines[i]);
}

static void test_recovery(void **state)
{
    (void)state;
    errors_in_lines("coord x,\nkinetic (x\nparam m\npotential 2x; output = 3\nforce x + 1\n",
                    (const int[]){1, 2, 3, 4, 4, 5}, 6);
    errors_in_lines("for i = 1..3 {\n kinetic 2x\n potential (\n}\noutput 1\n",
                    (const int[]){2, 3, 5}, 3);
    errors_in_lines("body b { mass 1 at [x, y\nkinetic 2x\n", (const int[]){1, 2}, 2);
    errors_in_lines("output a = [1; 2]\nkinetic @x y z\n", (const int[]){1, 2}, 2);
    errors_in_lines("for i in 1..3 {\n kinetic 2x\n}\n", (const int[]){1, 2}, 2);
}

/* ---- assignments of a state ---- */

static void test_assignments(void **state)
{
    (void)state;
    static const char text[] = "x = 1, q[2]' = -0.5, t = 2*pi";
    hmi_entry *entries;
    size_t count;
    uint32_t file = hmi_context_add_source(context, "--at", NULL, text, strlen(text));
    assert_int_equal(hmi_parse_assignments(&tree, file, &entries, &count), HM_OK);
    assert_int_equal(count, 3);
    is(entries[1].target, "(prime (index q 2))");
    is(entries[2].value, "(* 2 pi)");
    file = hmi_context_add_source(context, "--at", NULL, "", 0);
    assert_int_equal(hmi_parse_assignments(&tree, file, &entries, &count), HM_OK);
    assert_int_equal(count, 0);
    file = hmi_context_add_source(context, "--at", NULL, "x = 1 y", 7);
    assert_int_equal(hmi_parse_assignments(&tree, file, &entries, &count), HM_ERR_INPUT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tree, close_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_precedence),
        TEST(test_postfix),
        TEST(test_line_ends_in_expressions),
        TEST(test_refused_expressions),
        TEST(test_declarations),
        TEST(test_physics),
        TEST(test_constraints),
        TEST(test_runs),
        TEST(test_blocks),
        TEST(test_words_are_names),
        TEST(test_statement_ends),
        TEST(test_spans),
        TEST(test_recovery),
        TEST(test_assignments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
