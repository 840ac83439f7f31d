/* Expressions: one function per level of precedence, lowest first.
 *
 *   or  <  and  <  not  <  comparison  <  + -  <  * /  <  unary -  <  ^ (to the right)  <  postfix
 */
#include "lang/parser_internal.h"

#include <assert.h>
#include <string.h>

typedef HMI_ARRAY(hmi_ast *) ast_list;

static hmi_ast *new_node(hmi_parser *p, hmi_ast_kind kind, hmi_span span)
{
    hmi_ast *node = hmi_parser_alloc(p, sizeof *node);
    if (node) {
        node->kind = (uint8_t)kind;
        node->span = span;
        node->name = HMI_NO_NAME;
    }
    return node;
}

/* Copies a list into the arena. */
static bool set_items(hmi_parser *p, hmi_ast *node, hmi_ast *const *items, size_t count)
{
    node->count = (uint32_t)count;
    node->items = hmi_parser_alloc(p, (count ? count : 1) * sizeof *items);
    if (!node->items)
        return false;
    if (count)
        memcpy(node->items, items, count * sizeof *items);
    return true;
}

static hmi_ast *node_of(hmi_parser *p, hmi_ast_kind kind, hmi_span span, hmi_ast *a, hmi_ast *b)
{
    hmi_ast *items[2] = {a, b};
    hmi_ast *node = new_node(p, kind, span);
    return node && set_items(p, node, items, b ? 2 : 1) ? node : NULL;
}

static bool enter(hmi_parser *p)
{
    bool low = hmi_stack_is_low(p->context->stack_floor);
    if (++p->nesting <= HMI_MOST_NESTING && !low)
        return true;
    if (low)
        hmi_error(p->context, p->token.span, "name a part of it with 'let'",
                  "nested too deeply for the stack of this thread");
    else
        hmi_error(p->context, p->token.span, "name a part of it with 'let'",
                  "nested more than %d levels deep", HMI_MOST_NESTING);
    return false;
}

static void leave(hmi_parser *p)
{
    p->nesting--;
}

/* ---- brackets ---- */

/* The opening bracket is the present token. */
static hmi_span open_bracket(hmi_parser *p)
{
    hmi_span outer = p->bracket;
    p->bracket = p->token.span;
    p->brackets++;
    hmi_parser_advance(p);
    return outer;
}

static bool report_open_bracket(hmi_parser *p, hmi_token_kind kind)
{
    bool ended = p->token.kind == HMI_TOK_END || p->token.kind == HMI_TOK_NEWLINE ||
                 p->token.kind == HMI_TOK_LBRACE || p->token.kind == HMI_TOK_RBRACE ||
                 hmi_parser_at_statement(p);
    if (hmi_parser_said_enough(p))
        return false;
    if (ended)
        hmi_error(p->context, p->bracket, NULL, "this bracket is not closed");
    else if (p->token.kind == HMI_TOK_RPAREN || p->token.kind == HMI_TOK_RBRACKET)
        hmi_error(p->context, p->token.span, NULL, "found %s, but the bracket is closed by %s",
                  hmi_token_kind_text(p->token.kind), hmi_token_kind_text(kind));
    else {
        bool rows = kind == HMI_TOK_RBRACKET && p->token.kind == HMI_TOK_SEMICOLON;
        bool tuple = kind == HMI_TOK_RPAREN && p->token.kind == HMI_TOK_COMMA;
        p->usage = rows    ? "the rows of a matrix are lists: [[1, 2], [3, 4]]"
                   : tuple ? "a vector is written in square brackets: [x, y]"
                           : NULL;
        hmi_parser_unexpected(p, tuple                    ? "an operator or ')'"
                                 : kind == HMI_TOK_RPAREN ? "an operator, ',' or ')'"
                                                          : "an operator, ',' or ']'");
    }
    return false;
}

static bool close_bracket(hmi_parser *p, hmi_token_kind kind, hmi_span outer)
{
    if (p->token.kind != kind)
        return report_open_bracket(p, kind);
    p->brackets--;
    p->bracket = outer;
    hmi_parser_advance(p);
    return true;
}

/* expr, expr, ... up to the closing bracket, which is left. */
static bool parse_list(hmi_parser *p, hmi_token_kind closing, ast_list *list)
{
    const hm_allocator *allocator = &p->context->allocator;
    while (p->token.kind != closing) {
        hmi_ast *item = hmi_parse_expr(p);
        if (!item)
            return false;
        if (!hmi_array_push(allocator, list, item))
            return hmi_parser_no_memory(p);
        if (!hmi_parser_accept(p, HMI_TOK_COMMA))
            break;
        hmi_parser_skip_newlines(p);
    }
    return true;
}

/* The items between brackets, appended to those already in the list; finishes `node`. */
static hmi_ast *finish_bracketed(hmi_parser *p, hmi_ast *node, hmi_ast *first,
                                 hmi_token_kind closing)
{
    ast_list list = {0};
    const hm_allocator *allocator = &p->context->allocator;
    hmi_span start = node ? node->span : p->token.span, outer = open_bracket(p);
    bool good = node != NULL;
    if (good && first && !hmi_array_push(allocator, &list, first))
        good = hmi_parser_no_memory(p);
    good = good && parse_list(p, closing, &list) && close_bracket(p, closing, outer) &&
           set_items(p, node, list.data, list.count);
    if (good)
        node->span = hmi_span_to(start, p->previous);
    hmi_array_release(allocator, &list);
    return good ? node : NULL;
}

/* ---- primary and postfix ---- */

static bool is_word_token(const hmi_parser *p, const hmi_token *token, const char *word)
{
    size_t length = strlen(word);
    return token->kind == HMI_TOK_NAME && token->span.length == length &&
           memcmp(p->lexer.text + token->span.start, word, length) == 0;
}

/* Is the present token the argument of power(...)? Some kinds of power are statement words. */
static bool names_power(const hmi_parser *p)
{
    const char *text = p->lexer.text;
    uint32_t at = p->previous.start;
    if (p->previous.length != 1 || text[at] != '(')
        return false;
    while (at > 0 && text[at - 1] == ' ')
        at--;
    return at >= 5 && memcmp(text + at - 5, "power", 5) == 0;
}

/* Statement words name nothing, except that an output may bear a word of the second edition. */
static bool is_reserved(const hmi_parser *p, const hmi_token *token)
{
    hmi_statement_kind kind = hmi_statement_kind_of(p->lexer.text + token->span.start,
                                                    token->span.length);
    bool names_output = p->kind == HMI_STMT_OUTPUT && p->previous.length == strlen("output") &&
                        memcmp(p->lexer.text + p->previous.start, "output", 6) == 0 &&
                        !hmi_parser_at_line_start(p);
    return kind != HMI_STMT_COUNT && !(names_output && kind >= HMI_FIRST_NEW_WORD) &&
           !names_power(p);
}

/* any: a reserved word will do, on the same line. */
static hmi_ast *take_name(hmi_parser *p, const char *what, bool any)
{
    hmi_token token = p->token;
    if (token.kind != HMI_TOK_NAME) {
        if (token.kind == HMI_TOK_NUMBER)
            p->usage = "a name starts with a letter";
        hmi_parser_unexpected(p, what);
        return NULL;
    }
    const char *text = p->lexer.text + token.span.start;
    bool reserved = is_reserved(p, &token) && !(any && !hmi_parser_at_line_start(p));
    if (reserved && hmi_parser_said_enough(p))
        return NULL;
    if (reserved && hmi_parser_at_line_start(p)) {
        hmi_error(p->context, p->previous, p->usage, "%s is missing after this", what);
        return NULL;
    }
    if (reserved) {
        hmi_error(p->context, token.span, "choose another name", "'%.*s' is a reserved word",
                  (int)token.span.length, text);
        return NULL;
    }
    hmi_ast *node = new_node(p, HMI_AST_NAME, token.span);
    hmi_spans *names = p->tree->read_names;
    if (!node)
        return NULL;
    if (names && !hmi_array_push(&p->context->allocator, names, token.span)) {
        p->context->out_of_memory = true;
        return NULL;
    }
    node->name = hmi_names_intern(&p->tree->names, text, token.span.length);
    if (node->name == HMI_NO_NAME) {
        p->context->out_of_memory = true;
        return NULL;
    }
    hmi_parser_advance(p);
    return node;
}

hmi_ast *hmi_parse_name(hmi_parser *p, const char *what)
{
    return take_name(p, what, false);
}

hmi_ast *hmi_parse_label(hmi_parser *p, const char *what)
{
    return take_name(p, what, true);
}

hmi_ast *hmi_parse_kind(hmi_parser *p, const char *what)
{
    hmi_ast *node = take_name(p, what, false);
    if (node && p->tree->read_names)
        p->tree->read_names->count--;
    return node;
}

/* sum(i = a .. b, body): the present token is '('. */
static hmi_ast *parse_fold(hmi_parser *p, hmi_ast *name, hmi_ast_kind kind)
{
    hmi_span outer = open_bracket(p);
    const char *usage = p->usage;
    p->usage = kind == HMI_AST_SUM ? "write sum(i = 1..N, E)" : "write prod(i = 1..N, E)";
    if (p->token.kind != HMI_TOK_NAME) {
        hmi_parser_unexpected(p, "the index");
        return NULL;
    }
    hmi_ast *items[3] = {0}, *index = hmi_parse_name(p, "the index");
    if (!index || !hmi_parser_expect(p, HMI_TOK_ASSIGN, "the index"))
        return NULL;
    if (!(items[0] = hmi_parse_expr(p)) || !hmi_parser_expect(p, HMI_TOK_RANGE, "the lower bound"))
        return NULL;
    if (!(items[1] = hmi_parse_expr(p)) || !hmi_parser_expect(p, HMI_TOK_COMMA, "the upper bound"))
        return NULL;
    if (!(items[2] = hmi_parse_expr(p)) || !close_bracket(p, HMI_TOK_RPAREN, outer))
        return NULL;
    hmi_ast *node = new_node(p, kind, hmi_span_to(name->span, p->previous));
    if (!node || !set_items(p, node, items, 3))
        return NULL;
    p->usage = usage;
    node->name = index->name;
    return node;
}

static hmi_ast *parse_call(hmi_parser *p, hmi_ast *name)
{
    const char *text = hmi_names_text(&p->tree->names, name->name);
    if (strcmp(text, "sum") == 0)
        return parse_fold(p, name, HMI_AST_SUM);
    if (strcmp(text, "prod") == 0)
        return parse_fold(p, name, HMI_AST_PROD);
    hmi_ast *node = new_node(p, HMI_AST_CALL, name->span);
    if (node)
        node->name = name->name;
    return finish_bracketed(p, node, NULL, HMI_TOK_RPAREN);
}

static hmi_ast *parse_parenthesis(hmi_parser *p)
{
    hmi_span start = p->token.span, outer = open_bracket(p);
    hmi_ast *inside = hmi_parse_expr(p);
    if (!inside || !close_bracket(p, HMI_TOK_RPAREN, outer))
        return NULL;
    inside->span = hmi_span_to(start, p->previous);
    return inside;
}

static hmi_ast *parse_primary(hmi_parser *p)
{
    hmi_token token = p->token;
    hmi_ast *node;
    switch (token.kind) {
    case HMI_TOK_NUMBER:
        node = new_node(p, HMI_AST_NUMBER, token.span);
        if (node)
            node->number = token.number;
        hmi_parser_advance(p);
        return node;
    case HMI_TOK_NAME:
        node = hmi_parse_name(p, "an expression");
        if (node && p->token.kind == HMI_TOK_LPAREN)
            return parse_call(p, node);
        return node;
    case HMI_TOK_LPAREN:
        return parse_parenthesis(p);
    case HMI_TOK_LBRACKET:
        return finish_bracketed(p, new_node(p, HMI_AST_LIST, token.span), NULL, HMI_TOK_RBRACKET);
    default:
        if (token.kind == HMI_TOK_END && hmi_parser_at_line_start(p) && !p->brackets &&
            !hmi_parser_said_enough(p)) {
            hmi_error(p->context, p->previous, p->usage, "an expression is missing after this");
            return NULL;
        }
        if (p->brackets && (token.kind == HMI_TOK_END || token.kind == HMI_TOK_NEWLINE ||
                            token.kind == HMI_TOK_RBRACE)) {
            report_open_bracket(p, HMI_TOK_RPAREN);
            return NULL;
        }
        if (p->brackets) /* how the statement is written does not help with what is inside */
            p->usage = NULL;
        hmi_parser_unexpected(p, "an expression");
        return NULL;
    }
}

static hmi_ast *parse_prime(hmi_parser *p, hmi_ast *operand)
{
    hmi_span at = hmi_span_to(operand->span, p->token.span);
    if (operand->kind == HMI_AST_NUMBER) {
        hmi_error(p->context, at, "for the derivative of a power write (x^2)'",
                  "a number cannot take a prime: its derivative is 0");
        return NULL;
    }
    hmi_parser_advance(p);
    return node_of(p, HMI_AST_PRIME, at, operand, NULL);
}

hmi_ast *hmi_parse_index(hmi_parser *p, hmi_ast *name)
{
    assert(p->token.kind == HMI_TOK_LBRACKET);
    return finish_bracketed(p, new_node(p, HMI_AST_INDEX, name->span), name, HMI_TOK_RBRACKET);
}

hmi_ast *hmi_parse_postfix(hmi_parser *p)
{
    hmi_ast *e = parse_primary(p);
    int steps = 0;
    while (e) {
        if (p->token.kind == HMI_TOK_PRIME)
            e = parse_prime(p, e);
        else if (p->token.kind == HMI_TOK_LBRACKET)
            e = hmi_parse_index(p, e);
        else if (p->token.kind == HMI_TOK_LPAREN && e->kind != HMI_AST_NUMBER) {
            hmi_error(p->context, p->token.span, "write * for a product",
                      "only a name can be called like a function");
            return NULL;
        } else
            return e;
        if (++steps > HMI_MOST_NESTING) {
            hmi_error(p->context, p->token.span, NULL, "too many primes or indices in a row");
            return NULL;
        }
    }
    return NULL;
}

/* ---- operators ---- */

static hmi_ast *parse_unary(hmi_parser *p);

/* ^ binds to the right and takes a signed exponent: 2^-x. */
static hmi_ast *parse_power(hmi_parser *p)
{
    hmi_ast *base = hmi_parse_postfix(p);
    if (!base || p->token.kind != HMI_TOK_CARET)
        return base;
    if (!enter(p))
        return NULL;
    hmi_parser_advance(p);
    hmi_parser_skip_newlines(p);
    hmi_ast *exponent = parse_unary(p);
    leave(p);
    return exponent
               ? node_of(p, HMI_AST_POWER, hmi_span_to(base->span, exponent->span), base, exponent)
               : NULL;
}

static hmi_ast *parse_signed(hmi_parser *p)
{
    hmi_token sign = p->token;
    if (!enter(p))
        return NULL;
    hmi_parser_advance(p);
    hmi_parser_skip_newlines(p);
    hmi_ast *operand = parse_unary(p);
    leave(p);
    if (!operand || sign.kind == HMI_TOK_PLUS)
        return operand;
    return node_of(p, HMI_AST_NEGATE, hmi_span_to(sign.span, operand->span), operand, NULL);
}

static hmi_ast *parse_unary(hmi_parser *p)
{
    bool is_sign = p->token.kind == HMI_TOK_MINUS || p->token.kind == HMI_TOK_PLUS;
    return is_sign ? parse_signed(p) : parse_power(p);
}

typedef enum level { LEVEL_OR, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_TERM, LEVEL_UNARY } level;

static level operator_level(hmi_token_kind kind)
{
    switch (kind) {
    case HMI_TOK_OR:
        return LEVEL_OR;
    case HMI_TOK_AND:
        return LEVEL_AND;
    case HMI_TOK_LESS:
    case HMI_TOK_LESS_EQUAL:
    case HMI_TOK_GREATER:
    case HMI_TOK_GREATER_EQUAL:
    case HMI_TOK_EQUAL:
        return LEVEL_COMPARE;
    case HMI_TOK_PLUS:
    case HMI_TOK_MINUS:
        return LEVEL_SUM;
    case HMI_TOK_STAR:
    case HMI_TOK_SLASH:
        return LEVEL_TERM;
    default:
        return LEVEL_UNARY;
    }
}

static hmi_ast *parse_level(hmi_parser *p, level at);
static hmi_ast *parse_operand(hmi_parser *p, level at);

static hmi_ast *parse_not(hmi_parser *p)
{
    hmi_token word = p->token;
    if (!enter(p))
        return NULL;
    hmi_parser_advance(p);
    hmi_ast *operand = parse_operand(p, LEVEL_COMPARE);
    leave(p);
    return operand ? node_of(p, HMI_AST_NOT, hmi_span_to(word.span, operand->span), operand, NULL)
                   : NULL;
}

static hmi_ast *parse_operand(hmi_parser *p, level at)
{
    if (at == LEVEL_UNARY)
        return parse_unary(p);
    if (at == LEVEL_COMPARE && p->token.kind == HMI_TOK_NOT)
        return parse_not(p);
    return parse_level(p, at);
}

typedef struct chain {
    ast_list operands;
    HMI_ARRAY(uint8_t) ops;
} chain;

static bool chain_push(hmi_parser *p, chain *c, hmi_ast *operand, hmi_token_kind op)
{
    const hm_allocator *allocator = &p->context->allocator;
    return (hmi_array_push(allocator, &c->operands, operand) &&
            hmi_array_push(allocator, &c->ops, (uint8_t)op)) ||
           hmi_parser_no_memory(p);
}

static hmi_ast *finish_chain(hmi_parser *p, const chain *c)
{
    size_t count = c->operands.count;
    hmi_ast *first = c->operands.data[0], *last = c->operands.data[count - 1];
    hmi_ast *node = new_node(p, HMI_AST_CHAIN, hmi_span_to(first->span, last->span));
    uint8_t *ops = hmi_parser_alloc(p, count);
    if (!node || !ops || !set_items(p, node, c->operands.data, count))
        return NULL;
    memcpy(ops, c->ops.data, count);
    node->ops = ops;
    return node;
}

/* operand op operand op ...: `first` is followed by an operator of this level. */
static hmi_ast *parse_chain(hmi_parser *p, level at, hmi_ast *first)
{
    chain c = {0};
    hmi_ast *operand = first, *result = NULL;
    bool good = true;
    while (good && operator_level(p->token.kind) == at) {
        if (at == LEVEL_COMPARE && c.ops.count) {
            hmi_error(p->context, p->token.span, "write a < b and b < c; as constraints, one each",
                      "comparisons cannot be chained");
            good = false;
            break;
        }
        good = chain_push(p, &c, operand, p->token.kind);
        hmi_parser_advance(p);
        hmi_parser_skip_newlines(p);
        operand = good ? parse_operand(p, at + 1) : NULL;
        good = operand != NULL;
    }
    if (good && chain_push(p, &c, operand, HMI_TOK_END))
        result = finish_chain(p, &c);
    hmi_array_release(&p->context->allocator, &c.operands);
    hmi_array_release(&p->context->allocator, &c.ops);
    return result;
}

static hmi_ast *parse_level(hmi_parser *p, level at)
{
    hmi_ast *first = parse_operand(p, at + 1);
    if (!first || operator_level(p->token.kind) != at)
        return first;
    return parse_chain(p, at, first);
}

static void explain_missing_operator(hmi_parser *p)
{
    if (!hmi_parser_said_enough(p))
        hmi_error(p->context, p->token.span, hmi_operator_hint(p),
                  "an operator is missing before '%.*s'", hmi_shown_length(p->token.span.length),
                  p->lexer.text + p->token.span.start);
}

static hmi_ast *parse_whole(hmi_parser *p, level at)
{
    if (!enter(p))
        return NULL;
    hmi_ast *e = parse_operand(p, at);
    leave(p);
    /* 2x, 2(x + y): multiplication is written out. A name after an expression may be a word of the
     * statement (at, by, every), so only what cannot be is caught here. */
    bool number = p->previous.length && e && e->kind != HMI_AST_NAME &&
                  p->previous.start + p->previous.length == p->token.span.start;
    if (e && (p->token.kind == HMI_TOK_LPAREN || p->token.kind == HMI_TOK_NUMBER ||
              (number && p->token.kind == HMI_TOK_NAME && !is_word_token(p, &p->token, "at")))) {
        explain_missing_operator(p);
        return NULL;
    }
    return e;
}

hmi_ast *hmi_parse_expr(hmi_parser *p)
{
    return parse_whole(p, LEVEL_OR);
}

hmi_ast *hmi_parse_sum(hmi_parser *p)
{
    return parse_whole(p, LEVEL_SUM);
}
