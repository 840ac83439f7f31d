/* What to say about a statement that cannot be read: how it is written, and what people who know
 * other notations mean. */
#include "lang/parser_internal.h"

#include <string.h>

/* ---- how a statement is written ---- */

static const char *const usages[HMI_STMT_COUNT] = {
    [HMI_STMT_MODEL] = "write model NAME \"title\"",
    [HMI_STMT_PARAM] = "write param a = 1, b = 2*a",
    [HMI_STMT_COORD] = "write coord x, y or coord q[1..N]",
    [HMI_STMT_LET] = "write let NAME = E or let NAME(a, b) = E or let NAME[i] = E",
    [HMI_STMT_MASS] = "write mass x = E or mass x, y = E",
    [HMI_STMT_FORCE] = "write force x = E, y = E or force F at P",
    [HMI_STMT_INPUT] = "write input u = E",
    [HMI_STMT_STATE] = "write state z' = E",
    [HMI_STMT_TORQUE] = "write torque N on R",
    [HMI_STMT_GYROSCOPIC] = "write gyroscopic x, y = G",
    [HMI_STMT_BODY] = "write body NAME { mass m  inertia J  at P  frame R }",
    [HMI_STMT_CONSTRAINT] = "write constraint NAME: lhs = rhs, or lhs >= rhs restitution e",
    [HMI_STMT_JOINT] = "write joint NAME: hinge of A at u axis d and B at w",
    [HMI_STMT_FRICTION] = "write friction NAME: U on C with mu, or with mus, muk",
    [HMI_STMT_SERVO] = "write servo NAME: lhs = rhs by x, y with gain k, or with gain k limit c",
    [HMI_STMT_NONIDEAL] = "write nonideal x = E, y = E or nonideal F at P",
    [HMI_STMT_INITIAL] = "write initial x = 1, y' = 2, z ~ 0.5",
    [HMI_STMT_SIMULATE] = "write simulate 0 .. 10 every 0.1",
    [HMI_STMT_SYMMETRY] = "write symmetry NAME: x = -y, y = x",
    [HMI_STMT_EVENT] = "write event NAME: E = 0 rising stop",
    [HMI_STMT_OUTPUT] = "write output NAME = E",
    [HMI_STMT_FOR] = "write for i = 1..N { ... }",
    [HMI_STMT_TABLE] =
        "write table f(x) = [[x0, y0], [x1, y1]] linear, or table f(x) \"file.csv\" cubic",
    [HMI_STMT_DRAW] = "write draw point P, draw line P, Q or draw sphere P, r",
    [HMI_STMT_INCLUDE] = "write include \"other.hamel\"",
};

const char *hmi_statement_usage(hmi_statement_kind kind)
{
    return usages[kind];
}

const char *hmi_operator_hint(const hmi_parser *p)
{
    bool range = p->kind == HMI_STMT_SIMULATE || p->kind == HMI_STMT_FOR;
    return range ? hmi_statement_usage(p->kind) : "write * for a product";
}

/* ---- words that start no statement ---- */

static const struct {
    const char *word, *meant;
} synonyms[] = {
    {"parameter", "param"},
    {"parameters", "param"},
    {"const", "param"},
    {"constant", "param"},
    {"constants", "param"},
    {"coordinate", "coord"},
    {"coordinates", "coord"},
    {"var", "coord"},
    {"variable", "coord"},
    {"dof", "coord"},
    {"def", "let"},
    {"define", "let"},
    {"function", "let"},
    {"T", "kinetic"},
    {"V", "potential"},
    {"U", "potential"},
    {"L", "lagrangian"},
    {"D", "dissipation"},
    {"constrain", "constraint"},
    {"constraints", "constraint"},
    {"init", "initial"},
    {"ic", "initial"},
    {"run", "simulate"},
    {"import", "include"},
    {"control", "servo"},
    {"damping", "dissipation"},
    {"moment", "torque"},
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_letters(const char *x, const char *y)
{
    for (; *x && lower(*x) == lower(*y); x++, y++)
        continue;
    return *x == '\0' && *y == '\0';
}

static const char *nearest_statement(const char *word)
{
    const char *nearest = NULL;
    int best = 3;
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(synonyms[i].word, word) == 0)
            return synonyms[i].meant;
    for (int kind = 0; kind < HMI_STMT_COUNT; kind++) {
        const char *known = hmi_statement_word((hmi_statement_kind)kind);
        int distance = same_letters(word, known) ? 0 : hmi_edit_distance(word, known, 2);
        if (distance < best && distance < (int)strlen(word)) {
            best = distance;
            nearest = known;
        }
    }
    return nearest;
}

/* Is there an = further on in the line? */
static bool is_equation(hmi_lexer ahead)
{
    ahead.quiet = true;
    for (;;) {
        hmi_token token = hmi_lexer_next(&ahead);
        if (token.kind == HMI_TOK_ASSIGN)
            return true;
        if (token.kind == HMI_TOK_NEWLINE || token.kind == HMI_TOK_SEMICOLON ||
            token.kind == HMI_TOK_END)
            return false;
    }
}

static const char *unknown_statement_hint(hmi_parser *p, const char *word, hmi_token_kind next)
{
    const char *nearest = nearest_statement(word);
    bool operation = next >= HMI_TOK_PLUS && next <= HMI_TOK_CARET;
    if (operation && is_equation(p->lexer))
        return "equations of motion follow from kinetic, potential and force; a condition on the "
               "motion is a 'constraint'";
    if (next == HMI_TOK_ASSIGN)
        return "constants are declared with 'param', expressions are named with 'let', initial "
               "values are given with 'initial'";
    if (nearest)
        return hmi_context_printf(p->context, "did you mean '%s'?", nearest);
    return "a statement starts with a word such as coord, kinetic or constraint";
}

void hmi_report_unknown_statement(hmi_parser *p)
{
    hmi_lexer ahead = p->lexer;
    size_t errors = p->context->errors;
    hmi_token next = hmi_lexer_next(&ahead);
    if (next.kind == HMI_TOK_PRIME)
        next = hmi_lexer_next(&ahead);
    if (p->context->errors != errors)
        return; /* a character that has been reported explains enough */
    const char *word = hmi_arena_text(&p->tree->arena, p->lexer.text + p->token.span.start,
                                      (size_t)hmi_shown_length(p->token.span.length));
    if (!word)
        p->context->out_of_memory = true;
    else
        hmi_error(p->context, p->token.span, unknown_statement_hint(p, word, next.kind),
                  "unknown statement '%s'", word);
}

/* ---- what stands where a statement should end ---- */

static bool is_list(hmi_statement_kind kind)
{
    return kind == HMI_STMT_PARAM || kind == HMI_STMT_COORD || kind == HMI_STMT_INITIAL ||
           kind == HMI_STMT_INPUT || kind == HMI_STMT_STATE || kind == HMI_STMT_MASS;
}

static bool is_energy(hmi_statement_kind kind)
{
    return kind == HMI_STMT_KINETIC || kind == HMI_STMT_POTENTIAL || kind == HMI_STMT_LAGRANGIAN ||
           kind == HMI_STMT_DISSIPATION;
}

/* Does it end with an expression and nothing else? */
static bool is_expression(hmi_statement_kind kind)
{
    return is_energy(kind) || kind == HMI_STMT_OUTPUT || kind == HMI_STMT_LET ||
           kind == HMI_STMT_CONSTRAINT || kind == HMI_STMT_GRAVITY || kind == HMI_STMT_FORCE;
}

static bool previous_is(const hmi_parser *p, const char *word)
{
    size_t length = strlen(word);
    return p->previous.length == length &&
           memcmp(p->lexer.text + p->previous.start, word, length) == 0;
}

/* The token after the present one. */
static hmi_token_kind next_kind(const hmi_parser *p)
{
    hmi_lexer ahead = p->lexer;
    ahead.quiet = true;
    return hmi_lexer_next(&ahead).kind;
}

const char *hmi_name_hint(const hmi_parser *p)
{
    return p->token.kind == HMI_TOK_MINUS && next_kind(p) == HMI_TOK_NAME
               ? "a name consists of letters, digits and _"
               : p->usage;
}

static bool previous_is_number(const hmi_parser *p)
{
    char last = p->previous.length ? p->lexer.text[p->previous.start + p->previous.length - 1]
                                   : '\0';
    char first = p->lexer.text[p->previous.start];
    return last >= '0' && last <= '9' && ((first >= '0' && first <= '9') || first == '.');
}

static const char *hint_for_assignment(hmi_statement_kind kind)
{
    if (is_energy(kind))
        return "write the expression alone; 'let' gives an expression a name";
    if (kind == HMI_STMT_COORD)
        return "a coordinate is only named here; 'initial' gives its initial value";
    return kind == HMI_STMT_CONSTRAINT ? "write each equation as a constraint of its own" : NULL;
}

static const char *hint_at_end(const hmi_parser *p, hmi_statement_kind kind)
{
    switch (p->token.kind) {
    case HMI_TOK_ASSIGN:
        return hint_for_assignment(kind);
    case HMI_TOK_NAME:
        if (hmi_parser_at_word(p, "dot") || hmi_parser_at_word(p, "ddot"))
            return "a time derivative is written with a prime: x', x''";
        if (previous_is(p, "if"))
            return "write if(condition, a, b)";
        if (kind == HMI_STMT_PARAM && previous_is_number(p) && next_kind(p) != HMI_TOK_ASSIGN)
            return "values have no units; separate parameters with commas";
        return is_list(kind)         ? "separate them with commas"
               : is_expression(kind) ? "write * for a product"
                                     : NULL;
    case HMI_TOK_PRIME:
        return kind == HMI_STMT_MODEL   ? "write the title in double quotes"
               : kind == HMI_STMT_COORD ? "declare the coordinate; its velocity is declared with it"
                                        : NULL;
    case HMI_TOK_MINUS:
        return kind == HMI_STMT_MODEL ? "a name consists of letters, digits and _" : NULL;
    case HMI_TOK_COLON:
        return "a name before ':' goes with constraint, servo, symmetry and event";
    default:
        return NULL;
    }
}

bool hmi_report_no_end(hmi_parser *p, hmi_statement_kind kind)
{
    hmi_token_kind found = p->token.kind;
    if (hmi_parser_said_enough(p))
        return false;
    if (found == HMI_TOK_RPAREN || found == HMI_TOK_RBRACKET || found == HMI_TOK_RBRACE) {
        hmi_error(p->context, p->token.span, NULL, "unmatched %s", hmi_token_kind_text(found));
        return false;
    }
    p->usage = hint_at_end(p, kind);
    if (!p->usage)
        p->usage = hmi_statement_usage(kind);
    return hmi_parser_unexpected(p, "the end of the statement");
}
