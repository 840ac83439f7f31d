/* The ground of the parser: the present token, accepting and expecting one, where a statement starts,
 * and the message "expected X, found Y". */
#include "lang/parser_internal.h"

#include <string.h>

/* ---- statement words ---- */

static const char *const statement_words[] = {
#define X(name, word) word,
    HMI_STATEMENT_LIST(X)
#undef X
};

static const uint8_t statement_lengths[] = {
#define X(name, word) sizeof word - 1,
    HMI_STATEMENT_LIST(X)
#undef X
};

hmi_statement_kind hmi_statement_kind_of(const char *word, size_t length)
{
    for (int kind = 0; kind < HMI_STMT_COUNT; kind++)
        if (statement_lengths[kind] == length && statement_words[kind][0] == word[0] &&
            memcmp(statement_words[kind], word, length) == 0)
            return (hmi_statement_kind)kind;
    return HMI_STMT_COUNT;
}

const char *hmi_statement_word(hmi_statement_kind kind)
{
    return statement_words[kind];
}

/* ---- the present token ---- */

bool hmi_parser_no_memory(hmi_parser *p)
{
    p->context->out_of_memory = true;
    return false;
}

void *hmi_parser_alloc(hmi_parser *parser, size_t size)
{
    void *memory = hmi_arena_alloc(&parser->tree->arena, size);
    if (!memory)
        hmi_parser_no_memory(parser);
    return memory;
}

static bool starts_statement(const hmi_parser *parser, const hmi_token *token)
{
    return token->kind == HMI_TOK_NAME &&
           hmi_statement_kind_of(parser->lexer.text + token->span.start, token->span.length) !=
               HMI_STMT_COUNT;
}

/* Inside brackets line ends are white space. But a statement word that starts a line inside
 * brackets means that a bracket was forgotten: the line end is then shown to the parser, which
 * reports the bracket and goes on with the next statement. */
void hmi_parser_advance(hmi_parser *p)
{
    if (p->token.kind != HMI_TOK_NEWLINE)
        p->previous = p->token.span;
    for (;;) {
        hmi_token token = hmi_lexer_next(&p->lexer);
        p->token = token;
        if (token.kind != HMI_TOK_NEWLINE || (!p->brackets && !p->in_body))
            return;
        hmi_lexer ahead = p->lexer;
        hmi_token next;
        do
            next = hmi_lexer_next(&ahead);
        while (next.kind == HMI_TOK_NEWLINE);
        if (p->brackets && !p->in_body && starts_statement(p, &next))
            return;
        ahead.position = next.span.start;
        p->lexer = ahead;
    }
}

void hmi_parser_start(hmi_parser *parser, hmi_tree *tree, uint32_t file)
{
    *parser = (hmi_parser){.tree = tree, .context = tree->context};
    parser->token.span = (hmi_span){file, 0, 0};
    hmi_lexer_init(&parser->lexer, tree->context, file);
    parser->errors = tree->context->errors;
    hmi_parser_advance(parser);
}

bool hmi_parser_accept(hmi_parser *p, hmi_token_kind kind)
{
    if (p->token.kind != kind)
        return false;
    hmi_parser_advance(p);
    return true;
}

void hmi_parser_skip_newlines(hmi_parser *p)
{
    while (p->token.kind == HMI_TOK_NEWLINE)
        hmi_parser_advance(p);
}

bool hmi_parser_at_word(const hmi_parser *p, const char *word)
{
    size_t length = strlen(word);
    return p->token.kind == HMI_TOK_NAME && p->token.span.length == length &&
           memcmp(p->lexer.text + p->token.span.start, word, length) == 0;
}

bool hmi_parser_accept_word(hmi_parser *p, const char *word)
{
    if (!hmi_parser_at_word(p, word))
        return false;
    hmi_parser_advance(p);
    return true;
}

bool hmi_parser_said_enough(const hmi_parser *p)
{
    return p->context->errors != p->errors;
}

bool hmi_parser_at_line_start(const hmi_parser *p)
{
    uint32_t end = p->previous.start + p->previous.length;
    return p->previous.file == p->token.span.file && end <= p->token.span.start &&
           memchr(p->lexer.text + end, '\n', p->token.span.start - end) != NULL;
}

bool hmi_parser_at_statement(const hmi_parser *p)
{
    return hmi_parser_at_line_start(p) && starts_statement(p, &p->token) &&
           !(p->in_body && hmi_parser_at_word(p, "mass"));
}

/* ---- messages ---- */

bool hmi_parser_unexpected(hmi_parser *p, const char *expected)
{
    hmi_token token = p->token;
    if (hmi_parser_said_enough(p))
        return false;
    /* Something missing at the end is missed right after the last word, before any comment. */
    bool ended = token.kind == HMI_TOK_END || token.kind == HMI_TOK_NEWLINE;
    if (ended && p->previous.length && p->previous.file == token.span.file)
        token.span = (hmi_span){token.span.file, p->previous.start + p->previous.length, 0};
    if (token.kind == HMI_TOK_NAME || token.kind == HMI_TOK_NUMBER)
        hmi_error(p->context, token.span, p->usage, "expected %s, found '%.*s'", expected,
                  hmi_shown_length(token.span.length), p->lexer.text + token.span.start);
    else
        hmi_error(p->context, token.span, p->usage, "expected %s, found %s", expected,
                  hmi_token_kind_text(token.kind));
    return false;
}

/* Line ends may follow what clearly goes on: =, a comma, a colon. */
bool hmi_parser_expect(hmi_parser *p, hmi_token_kind kind, const char *after)
{
    if (p->token.kind != kind) {
        const char *expected = hmi_context_printf(p->context, "%s after %s",
                                                  hmi_token_kind_text(kind), after);
        return expected ? hmi_parser_unexpected(p, expected) : false;
    }
    hmi_parser_advance(p);
    if (kind == HMI_TOK_ASSIGN || kind == HMI_TOK_COMMA || kind == HMI_TOK_COLON ||
        kind == HMI_TOK_RANGE)
        hmi_parser_skip_newlines(p);
    return true;
}
