/* Text -> tokens: every kind, numbers, names in many alphabets, comments, and what is no token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lang/lexer.h"
#include "lang/unicode.h"

static hm_context *context;
static hmi_lexer lexer;

static int open_context(void **state)
{
    (void)state;
    context = hm_context_create(NULL);
    return context ? 0 : -1;
}

static int close_context(void **state)
{
    (void)state;
    hm_context_destroy(context);
    return 0;
}

static void start_bytes(const char *text, size_t length)
{
    uint32_t file = hmi_context_add_source(context, "test", NULL, text, length);
    assert_int_not_equal(file, HMI_NO_FILE);
    hmi_lexer_init(&lexer, context, file);
}

static void start(const char *text)
{
    start_bytes(text, strlen(text));
}

static void next_is(hmi_token_kind kind)
{
    hmi_token token = hmi_lexer_next(&lexer);
    assert_string_equal(hmi_token_kind_text(token.kind), hmi_token_kind_text(kind));
}

static void next_is_text(hmi_token_kind kind, const char *text)
{
    hmi_token token = hmi_lexer_next(&lexer);
    assert_int_equal(token.kind, kind);
    assert_int_equal(token.span.length, strlen(text));
    assert_memory_equal(lexer.text + token.span.start, text, strlen(text));
}

static void next_is_number(double value)
{
    hmi_token token = hmi_lexer_next(&lexer);
    assert_int_equal(token.kind, HMI_TOK_NUMBER);
    assert_true(token.number == value);
}

static void no_errors(void)
{
    assert_int_equal(hm_context_diagnostic_count(context), 0);
}

/* One error that contains `message`, with a hint that contains `hint`. */
static void one_error(const char *message, const char *hint)
{
    assert_int_equal(hm_context_error_count(context), 1);
    const hm_diagnostic *d = hm_context_diagnostic(context, 0);
    assert_non_null(strstr(d->message, message));
    if (hint)
        assert_non_null(strstr(d->hint, hint));
    hm_context_clear(context);
}

static void test_signs(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        hmi_token_kind kind;
    } signs[] = {
        {"(", HMI_TOK_LPAREN},   {")", HMI_TOK_RPAREN},
        {"[", HMI_TOK_LBRACKET}, {"]", HMI_TOK_RBRACKET},
        {"{", HMI_TOK_LBRACE},   {"}", HMI_TOK_RBRACE},
        {",", HMI_TOK_COMMA},    {";", HMI_TOK_SEMICOLON},
        {":", HMI_TOK_COLON},    {"=", HMI_TOK_ASSIGN},
        {"~", HMI_TOK_TILDE},    {"..", HMI_TOK_RANGE},
        {"'", HMI_TOK_PRIME},    {"+", HMI_TOK_PLUS},
        {"-", HMI_TOK_MINUS},    {"*", HMI_TOK_STAR},
        {"/", HMI_TOK_SLASH},    {"^", HMI_TOK_CARET},
        {"<", HMI_TOK_LESS},     {"<=", HMI_TOK_LESS_EQUAL},
        {">", HMI_TOK_GREATER},  {">=", HMI_TOK_GREATER_EQUAL},
        {"==", HMI_TOK_EQUAL},   {"and", HMI_TOK_AND},
        {"or", HMI_TOK_OR},      {"not", HMI_TOK_NOT},
        {"\n", HMI_TOK_NEWLINE},
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        start(signs[i].text);
        next_is_text(signs[i].kind, signs[i].text);
        next_is(HMI_TOK_END);
        next_is(HMI_TOK_END); /* for ever */
    }
    no_errors();
}

static void test_statement(void **state)
{
    (void)state;
    start("kinetic m/2*(x'^2) # half\n\tx''<=q[1]");
    static const hmi_token_kind kinds[] = {
        HMI_TOK_NAME,       HMI_TOK_NAME,    HMI_TOK_SLASH,    HMI_TOK_NUMBER, HMI_TOK_STAR,
        HMI_TOK_LPAREN,     HMI_TOK_NAME,    HMI_TOK_PRIME,    HMI_TOK_CARET,  HMI_TOK_NUMBER,
        HMI_TOK_RPAREN,     HMI_TOK_NEWLINE, HMI_TOK_NAME,     HMI_TOK_PRIME,  HMI_TOK_PRIME,
        HMI_TOK_LESS_EQUAL, HMI_TOK_NAME,    HMI_TOK_LBRACKET, HMI_TOK_NUMBER, HMI_TOK_RBRACKET,
        HMI_TOK_END,
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        next_is(kinds[i]);
    no_errors();
}

static void test_numbers(void **state)
{
    (void)state;
    start("1 1.5 .25 2e-3 2E+3 3. 0.1 1e0");
    static const double values[] = {1, 1.5, 0.25, 0.002, 2000, 3, 0.1, 1};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        next_is_number(values[i]);
    start("1..5"); /* a range of whole numbers, not 1. and .5 */
    next_is_number(1);
    next_is(HMI_TOK_RANGE);
    next_is_number(5);
    start("1.5..2.5");
    next_is_number(1.5);
    next_is(HMI_TOK_RANGE);
    next_is_number(2.5);
    start("2e 3ex"); /* no exponent: a number and a name */
    next_is_number(2);
    next_is_text(HMI_TOK_NAME, "e");
    next_is_number(3);
    next_is_text(HMI_TOK_NAME, "ex");
    no_errors();
}

static void test_number_limits(void **state)
{
    (void)state;
    char digits[700];
    start("1e999");
    next_is(HMI_TOK_NUMBER);
    one_error("too large for a double", NULL);
    start("1e-999"); /* zero, as everywhere */
    next_is_number(0);
    no_errors();
    memset(digits, '1', sizeof digits);
    start_bytes(digits, sizeof digits);
    next_is(HMI_TOK_NUMBER);
    one_error("too many digits", NULL);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const names[] = {
        "x",
        "x1",
        "_a",
        "theta_0",
        "android",
        "orange",
        "nothing",
        "\xCE\xB8",
        "\xCE\xA9\xE2\x82\x81", /* theta, Omega with a subscript one */
        "\xC3\xA4\xC3\xB6",
        "\xD0\xB6",
        "\xE8\xA7\x92",     /* German, Russian, Chinese */
        "\xF0\x9D\x9C\x83", /* mathematical italic theta */
        "x\xCC\x87",        /* x with a combining dot */
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        start(names[i]);
        next_is_text(HMI_TOK_NAME, names[i]);
        next_is(HMI_TOK_END);
    }
    no_errors();
    char name[400];
    memset(name, 'n', sizeof name);
    start_bytes(name, sizeof name);
    next_is(HMI_TOK_NAME);
    one_error("longer than", NULL);
}

static void test_strings(void **state)
{
    (void)state;
    start("\"a title\" \"\" \"\xCE\xB8 # no comment\"");
    next_is_text(HMI_TOK_STRING, "\"a title\"");
    next_is_text(HMI_TOK_STRING, "\"\"");
    next_is_text(HMI_TOK_STRING, "\"\xCE\xB8 # no comment\"");
    no_errors();
    start("\"open\nx");
    next_is(HMI_TOK_STRING);
    one_error("not closed", "\"");
    next_is(HMI_TOK_NEWLINE);
    next_is(HMI_TOK_NAME);
    start("\"open");
    next_is(HMI_TOK_STRING);
    one_error("not closed", NULL);
    next_is(HMI_TOK_END);
}

static void test_blanks(void **state)
{
    (void)state;
    start("\xEF\xBB\xBF x # comment \xCE\xB8 \"quoted\n#\n\r\ny\f\v\tz");
    static const hmi_token_kind kinds[] = {HMI_TOK_NAME,    HMI_TOK_NEWLINE, HMI_TOK_NEWLINE,
                                           HMI_TOK_NEWLINE, HMI_TOK_NAME,    HMI_TOK_NAME,
                                           HMI_TOK_END};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        next_is(kinds[i]);
    no_errors();
}

/* ---- what is no token ---- */

/* Signs of other notations are one error, and read as what was meant. */
static void test_foreign_signs(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        hmi_token_kind kind;
        const char *hint;
    } signs[] = {
        {"&&", HMI_TOK_AND, "and"},
        {"||", HMI_TOK_OR, "or"},
        {"!=", HMI_TOK_EQUAL, "not"},
        {"!", HMI_TOK_NOT, "not"},
        {"**", HMI_TOK_CARET, "x^2"},
        {"...", HMI_TOK_RANGE, "1..N"},
        {":=", HMI_TOK_ASSIGN, "="},
        {"\xE2\x88\x92", HMI_TOK_MINUS, "-"},
        {"\xC3\x97", HMI_TOK_STAR, "*"},
        {"\xC2\xB7", HMI_TOK_STAR, "*"},
        {"\xC3\xB7", HMI_TOK_SLASH, "/"},
        {"\xE2\x80\xB2", HMI_TOK_PRIME, "apostrophe"},
        {"\xE2\x80\x99", HMI_TOK_PRIME, "apostrophe"},
        {"`", HMI_TOK_PRIME, "apostrophe"},
        {"\xE2\x89\xA4", HMI_TOK_LESS_EQUAL, "<="},
        {"\xE2\x89\xA5", HMI_TOK_GREATER_EQUAL, ">="},
        {"\xE2\x80\xA6", HMI_TOK_RANGE, ".."},
        {"\xE2\x80\x9C"
         "a title\xE2\x80\x9D",
         HMI_TOK_STRING, "double quotes"},
        {"\xC2\xA0x", HMI_TOK_NAME, "plain space"},
        {"\xC2\xB2x", HMI_TOK_NAME, "^2"},
        {"// a comment\nx", HMI_TOK_NEWLINE, "#"},
        {"/* a comment */\nx", HMI_TOK_NEWLINE, "#"},
        {"% a comment\nx", HMI_TOK_NEWLINE, "#"},
        {"|x", HMI_TOK_NAME, "abs(x)"},
        {"? 1 : 2\n", HMI_TOK_NEWLINE, "if("},
        {"\\\n", HMI_TOK_NEWLINE, "a line goes on"},
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        start(signs[i].text);
        next_is(signs[i].kind);
        one_error("", signs[i].hint);
    }
}

static void test_wrong_bytes(void **state)
{
    (void)state;
    start("@x");
    next_is(HMI_TOK_NAME);
    one_error("unexpected character '@'", NULL);
    start("\xFFx");
    next_is(HMI_TOK_NAME);
    one_error("byte 0xFF is not valid UTF-8", "UTF-8");
    start_bytes("\0x", 2);
    next_is(HMI_TOK_NAME);
    one_error("NUL byte", NULL);
    start("\x01x");
    next_is(HMI_TOK_NAME);
    one_error("control character 0x01", NULL);
    start("\x7Fx");
    next_is(HMI_TOK_NAME);
    one_error("control character 0x7F", NULL);
    start("# comment \xFF\xFE\xFF\nx"); /* once a comment */
    next_is(HMI_TOK_NEWLINE);
    one_error("byte 0xFF", NULL);
    start_bytes("\"a\0b\"", 5);
    next_is(HMI_TOK_STRING);
    one_error("NUL byte", NULL);
}

/* A binary file is given up soon; a quiet lexer says nothing. */
static void test_giving_up(void **state)
{
    (void)state;
    char bytes[10000];
    memset(bytes, '@', sizeof bytes);
    start_bytes(bytes, sizeof bytes);
    next_is(HMI_TOK_END);
    assert_int_equal(hm_context_error_count(context), HMI_MOST_ERRORS);
    hm_context_clear(context);
    start_bytes(bytes, sizeof bytes);
    lexer.quiet = true;
    next_is(HMI_TOK_END);
    no_errors();
}

static void test_letters(void **state)
{
    (void)state;
    assert_true(hmi_is_letter('a') && hmi_is_letter('Z') && hmi_is_letter('_'));
    assert_true(hmi_is_letter(0x3B1) && hmi_is_letter(0x416) && hmi_is_letter(0x5D0));
    assert_false(hmi_is_letter('0') || hmi_is_letter('\'') || hmi_is_letter(' '));
    assert_false(hmi_is_letter(0x2212) || hmi_is_letter(0xD7) || hmi_is_letter(0xF7));
    assert_false(hmi_is_letter(0x1F600));
    assert_true(hmi_is_name_part('0') && hmi_is_name_part(0x2081) && hmi_is_name_part(0x307));
    assert_false(hmi_is_letter(0x2081)); /* a subscript does not start a name */
    assert_null(hmi_ascii_for('x'));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_signs),       TEST(test_statement), TEST(test_numbers), TEST(test_number_limits),
        TEST(test_names),       TEST(test_strings),   TEST(test_blanks),  TEST(test_foreign_signs),
        TEST(test_wrong_bytes), TEST(test_giving_up), TEST(test_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
