/* Printed expressions: a parser by recursive descent, and two evaluators over the same nodes. */
#include "support/reference.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
enum { NUMBER = REFERENCE_NUMBER, NAME = REFERENCE_NAME, ADD, SUB, MUL, DIV, POW, NEG, LT, LE, GT, GE, EQ, AND, OR, NOT, IF, MIN, MAX,
       ABS, SIGN, SQRT, SIN, COS, TAN, ASIN, ACOS, ATAN, ATAN2, SINH, COSH, TANH, EXP, LOG, HYPOT };
/* clang-format on */

static const struct {
    const char *name;
    int op, arity;
} functions[] = {{"if", IF, 3},       {"min", MIN, 2},   {"max", MAX, 2},    {"abs", ABS, 1},
                 {"sign", SIGN, 1},   {"sqrt", SQRT, 1}, {"sin", SIN, 1},    {"cos", COS, 1},
                 {"tan", TAN, 1},     {"asin", ASIN, 1}, {"acos", ACOS, 1},  {"atan", ATAN, 1},
                 {"atan2", ATAN2, 2}, {"sinh", SINH, 1}, {"cosh", COSH, 1},  {"tanh", TANH, 1},
                 {"exp", EXP, 1},     {"log", LOG, 1},   {"hypot", HYPOT, 2}};

/* ---- names ---- */

int reference_find(const reference_names *names, const char *text)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->text[i], text) == 0)
            return (int)i;
    return -1;
}

size_t reference_declare(reference_names *names, const char *text)
{
    if (names->count < REFERENCE_NAMES && strlen(text) < sizeof names->text[0])
        strcpy(names->text[names->count], text);
    else
        names->unknown = true;
    return names->count < REFERENCE_NAMES ? names->count++ : 0;
}

/* ---- parsing ---- */

typedef struct parser {
    reference_graph *g;
    const char *at;
} parser;

static int parse_or(parser *p);

static void give_up(parser *p)
{
    if (!p->g->failed)
        p->g->failed = p->at;
    p->at = "";
}

static void skip_spaces(parser *p)
{
    while (*p->at == ' ')
        p->at++;
}

static bool accept(parser *p, const char *token)
{
    size_t length = strlen(token);
    skip_spaces(p);
    if (strncmp(p->at, token, length) != 0)
        return false;
    if (isalpha((unsigned char)token[0]) &&
        (isalnum((unsigned char)p->at[length]) || p->at[length] == '_'))
        return false;
    p->at += length;
    return true;
}

/* The same is evaluated once. */
static int keep(parser *p, reference_node node)
{
    reference_graph *g = p->g;
    for (int i = 0; i < g->count; i++) {
        const reference_node *other = &g->nodes[i];
        if (other->op == node.op && other->a == node.a && other->b == node.b &&
            other->c == node.c && other->name == node.name && other->number == node.number)
            return i;
    }
    if (g->count == REFERENCE_NODES) {
        give_up(p);
        return 0;
    }
    g->nodes[g->count] = node;
    return g->count++;
}

static int make(parser *p, int op, int a, int b, int c)
{
    return keep(p, (reference_node){.op = op, .a = a, .b = b, .c = c});
}

static int make_number(parser *p, double number)
{
    return keep(p, (reference_node){.op = NUMBER, .number = number});
}

static int parse_call(parser *p, const char *name)
{
    int arguments[3] = {0, 0, 0}, count = 0;
    do
        arguments[count++] = parse_or(p);
    while (count < 3 && accept(p, ","));
    if (!accept(p, ")"))
        give_up(p);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0 && functions[i].arity == count)
            return make(p, functions[i].op, arguments[0], arguments[1], arguments[2]);
    give_up(p);
    return 0;
}

/* x, q[1], x', q[2]', and reaction(x) and the like, which are names with brackets in them */
static int parse_name(parser *p)
{
    static const char *const forces[] = {"reaction", "multiplier", "total_reaction",
                                         "total_multiplier"};
    char text[64];
    size_t length = 0;
    const char *start = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '_')
        p->at++;
    length = (size_t)(p->at - start);
    if (length >= sizeof text / 2) {
        give_up(p);
        return 0;
    }
    memcpy(text, start, length);
    text[length] = '\0';
    bool force = false;
    for (int i = 0; i < 4; i++)
        force = force || strcmp(text, forces[i]) == 0;
    if (*p->at == '(' && !force) {
        p->at++;
        return parse_call(p, text);
    }
    if (*p->at == '[' || force) {
        char end = force ? ')' : ']';
        while (*p->at && *p->at != end)
            p->at++;
        p->at += *p->at == end;
    }
    while (*p->at == '\'')
        p->at++;
    length = (size_t)(p->at - start);
    if (length >= sizeof text) {
        give_up(p);
        return 0;
    }
    memcpy(text, start, length);
    text[length] = '\0';
    if (strcmp(text, "pi") == 0)
        return make_number(p, acos(-1.0));
    int name = reference_find(&p->g->names, text);
    if (name < 0)
        give_up(p);
    return keep(p, (reference_node){.op = NAME, .name = name < 0 ? 0 : name});
}

static int parse_primary(parser *p)
{
    skip_spaces(p);
    if (accept(p, "(")) {
        int e = parse_or(p);
        if (!accept(p, ")"))
            give_up(p);
        return e;
    }
    if (isdigit((unsigned char)*p->at) || *p->at == '.') {
        char *end;
        double number = strtod(p->at, &end);
        p->at = end;
        return make_number(p, number);
    }
    if (isalpha((unsigned char)*p->at) || *p->at == '_')
        return parse_name(p);
    give_up(p);
    return 0;
}

static int parse_unary(parser *p);

static int parse_power(parser *p)
{
    int a = parse_primary(p);
    return accept(p, "^") ? make(p, POW, a, parse_unary(p), 0) : a;
}

static int parse_unary(parser *p)
{
    return accept(p, "-") ? make(p, NEG, parse_unary(p), 0, 0) : parse_power(p);
}

static int parse_product(parser *p)
{
    int a = parse_unary(p);
    for (;;) {
        if (accept(p, "*"))
            a = make(p, MUL, a, parse_unary(p), 0);
        else if (accept(p, "/"))
            a = make(p, DIV, a, parse_unary(p), 0);
        else
            return a;
    }
}

static int parse_sum(parser *p)
{
    int a = parse_product(p);
    for (;;) {
        if (accept(p, "+"))
            a = make(p, ADD, a, parse_product(p), 0);
        else if (accept(p, "-"))
            a = make(p, SUB, a, parse_product(p), 0);
        else
            return a;
    }
}

static int parse_comparison(parser *p)
{
    static const struct {
        const char *token;
        int op;
    } list[] = {{"<=", LE}, {">=", GE}, {"==", EQ}, {"<", LT}, {">", GT}};
    if (accept(p, "not"))
        return make(p, NOT, parse_comparison(p), 0, 0);
    int a = parse_sum(p);
    for (int i = 0; i < 5; i++)
        if (accept(p, list[i].token))
            return make(p, list[i].op, a, parse_sum(p), 0);
    return a;
}

static int parse_and(parser *p)
{
    int a = parse_comparison(p);
    while (accept(p, "and"))
        a = make(p, AND, a, parse_comparison(p), 0);
    return a;
}

static int parse_or(parser *p)
{
    int a = parse_and(p);
    while (accept(p, "or"))
        a = make(p, OR, a, parse_and(p), 0);
    return a;
}

int reference_parse(reference_graph *g, const char *text)
{
    parser p = {g, text};
    int e = parse_or(&p);
    skip_spaces(&p);
    if (*p.at)
        give_up(&p);
    return e;
}

/* ---- long double ---- */

static signed char sign_of(long double x)
{
    return (signed char)((x > 0) - (x < 0));
}

/* clang-format off */
static long double apply(int op, long double x, long double y, long double z)
{
    switch (op) {
    case ADD: return x + y;
    case SUB: return x - y;
    case MUL: return x * y;
    case DIV: return x / y;
    case POW: return powl(x, y);
    case NEG: return -x;
    case LT: return x < y;
    case LE: return x <= y;
    case GT: return x > y;
    case GE: return x >= y;
    case EQ: return x == y;
    case AND: return x != 0 && y != 0;
    case OR: return x != 0 || y != 0;
    case NOT: return x == 0;
    case IF: return x != 0 ? y : z;
    case MIN: return y < x ? y : x;
    case MAX: return x < y ? y : x;
    case ABS: return fabsl(x);
    case SIGN: return sign_of(x);
    case SQRT: return sqrtl(x);
    case SIN: return sinl(x);
    case COS: return cosl(x);
    case TAN: return tanl(x);
    case ASIN: return asinl(x);
    case ACOS: return acosl(x);
    case ATAN: return atanl(x);
    case ATAN2: return atan2l(x, y);
    case SINH: return sinhl(x);
    case COSH: return coshl(x);
    case TANH: return tanhl(x);
    case EXP: return expl(x);
    case LOG: return logl(x);
    default: return hypotl(x, y);
    }
}

/* clang-format on */

static bool decides(int op)
{
    return (op >= LT && op <= EQ) || op == MIN || op == MAX || op == ABS || op == SIGN;
}

size_t reference_evaluate(const reference_graph *g, const long double *names, long double *values,
                          signed char *sides)
{
    size_t count = 0;
    for (int i = 0; i < g->count; i++) {
        const reference_node *node = &g->nodes[i];
        long double x = values[node->a], y = values[node->b];
        if (node->op == NUMBER)
            values[i] = node->number;
        else if (node->op == NAME)
            values[i] = names[node->name];
        else
            values[i] = apply(node->op, x, y, values[node->c]);
        if (sides && decides(node->op) && count < REFERENCE_BRANCHES)
            sides[count++] = sign_of(node->op == ABS || node->op == SIGN ? x : x - y);
    }
    return count;
}

/* ---- balls ---- */

static bool above(const arb_t x, const arb_t y)
{
    return arf_cmp(arb_midref(x), arb_midref(y)) > 0;
}

static bool zero(const arb_t x)
{
    return arf_is_zero(arb_midref(x));
}

/* Comparisons by midpoints: states are exact, and none of them is taken at a switch. */
static void compare_balls(int op, arb_t r, const arb_t x, const arb_t y)
{
    bool less = above(y, x), more = above(x, y), truth = false;
    truth = op == LT   ? less
            : op == LE ? !more
            : op == GT ? more
            : op == GE ? !less
                       : !less && !more;
    truth = op == AND ? !zero(x) && !zero(y) : op == OR ? !zero(x) || !zero(y) : truth;
    truth = op == NOT ? zero(x) : truth;
    arb_set_si(r, truth);
}

/* clang-format off */
static void apply_function(int op, arb_t r, const arb_t x, const arb_t y)
{
    const slong bits = REFERENCE_BITS;
    switch (op) {
    case SQRT: arb_sqrt(r, x, bits); return;
    case SIN: arb_sin(r, x, bits); return;
    case COS: arb_cos(r, x, bits); return;
    case TAN: arb_tan(r, x, bits); return;
    case ASIN: arb_asin(r, x, bits); return;
    case ACOS: arb_acos(r, x, bits); return;
    case ATAN: arb_atan(r, x, bits); return;
    case ATAN2: arb_atan2(r, x, y, bits); return;
    case SINH: arb_sinh(r, x, bits); return;
    case COSH: arb_cosh(r, x, bits); return;
    case TANH: arb_tanh(r, x, bits); return;
    case EXP: arb_exp(r, x, bits); return;
    case LOG: arb_log(r, x, bits); return;
    default: arb_hypot(r, x, y, bits); return;
    }
}

static void apply_balls(int op, arb_t r, const arb_t x, const arb_t y, const arb_t z)
{
    const slong bits = REFERENCE_BITS;
    switch (op) {
    case ADD: arb_add(r, x, y, bits); return;
    case SUB: arb_sub(r, x, y, bits); return;
    case MUL: arb_mul(r, x, y, bits); return;
    case DIV: arb_div(r, x, y, bits); return;
    case POW: arb_pow(r, x, y, bits); return;
    case NEG: arb_neg(r, x); return;
    case IF: arb_set(r, zero(x) ? z : y); return;
    case MIN: arb_set(r, above(x, y) ? y : x); return;
    case MAX: arb_set(r, above(y, x) ? y : x); return;
    case ABS: arb_abs(r, x); return;
    case SIGN: arb_set_si(r, arf_sgn(arb_midref(x))); return;
    default: break;
    }
    if (op >= LT && op <= NOT)
        compare_balls(op, r, x, y);
    else
        apply_function(op, r, x, y);
}

/* clang-format on */

void reference_evaluate_balls(const reference_graph *g, arb_srcptr names, arb_ptr values)
{
    for (int i = 0; i < g->count; i++) {
        const reference_node *node = &g->nodes[i];
        if (node->op == NUMBER)
            arb_set_d(values + i, node->number);
        else if (node->op == NAME)
            arb_set(values + i, names + node->name);
        else
            apply_balls(node->op, values + i, values + node->a, values + node->b, values + node->c);
    }
}
