/* The canonical layout of a text: tokens and line breaks as they are, everything between them anew.
 *
 * A line is: its indentation (two columns for every open brace, four more where it continues the line
 * before), its tokens with the spaces of the rules below, and its comment. Comments at the ends of
 * consecutive lines begin in one column.
 *
 * Invariants: the tokens of the result are those of the text; the layout of the result is the result.
 * Verified: test/unit/lang/test_layout.c
 */
#include "lang/layout.h"

#include "lang/lexer.h"
#include "lang/parser_internal.h"

#include <string.h>

typedef struct line {
    size_t start, length; /* of its text, in `text` */
    size_t columns;       /* of that text, in characters */
    const char *comment;  /* from '#' on, NULL: none */
    size_t comment_length;
} line;

/* What a bracket that is open encloses. */
typedef enum bracket { BRACKET_ROUND, BRACKET_VECTOR, BRACKET_INDEX } bracket;

enum { MOST_BRACKETS = 256, MOST_SHIFT = 40 };

typedef struct layout {
    hm_context *context;
    const hmi_source *source;
    hmi_lexer lexer;
    hmi_text text; /* of the lines, one after the other, without line ends */
    HMI_ARRAY(line) lines;
    bracket brackets[MOST_BRACKETS];
    size_t depth, braces;  /* open brackets, open braces */
    hmi_token_kind before; /* the token before, HMI_TOK_END: none yet */
    bool before_unary;     /* it is a sign of a number, not an operator */
    bool in_for;           /* the line is the head of a `for` */
    bool continues;        /* the next line continues this one */
    bool failed;
} layout;

/* ---- spaces ---- */

static bool is_value_end(hmi_token_kind kind)
{
    return kind == HMI_TOK_NUMBER || kind == HMI_TOK_NAME || kind == HMI_TOK_STRING ||
           kind == HMI_TOK_RPAREN || kind == HMI_TOK_RBRACKET || kind == HMI_TOK_PRIME;
}

static bool is_relation(hmi_token_kind kind)
{
    return kind == HMI_TOK_ASSIGN || kind == HMI_TOK_TILDE || kind == HMI_TOK_EQUAL ||
           kind == HMI_TOK_LESS || kind == HMI_TOK_LESS_EQUAL || kind == HMI_TOK_GREATER ||
           kind == HMI_TOK_GREATER_EQUAL || kind == HMI_TOK_AND || kind == HMI_TOK_OR ||
           kind == HMI_TOK_NOT;
}

static bool binds_tightly(hmi_token_kind kind)
{
    return kind == HMI_TOK_STAR || kind == HMI_TOK_SLASH || kind == HMI_TOK_CARET;
}

static bool in_index(const layout *l)
{
    return l->depth > 0 && l->brackets[l->depth - 1] == BRACKET_INDEX;
}

static bool is_sign(hmi_token_kind kind)
{
    return kind == HMI_TOK_PLUS || kind == HMI_TOK_MINUS;
}

/* Does a space stand between the token before and this one? `written`: there was one in the text. */
static bool wants_space(const layout *l, hmi_token_kind next, bool written)
{
    hmi_token_kind before = l->before;
    if (before == HMI_TOK_LPAREN || before == HMI_TOK_LBRACKET || next == HMI_TOK_RPAREN ||
        next == HMI_TOK_RBRACKET || next == HMI_TOK_COMMA || next == HMI_TOK_SEMICOLON ||
        next == HMI_TOK_PRIME || next == HMI_TOK_COLON)
        return false;
    if (before == HMI_TOK_COMMA)
        return !in_index(l);
    if (before == HMI_TOK_RANGE || next == HMI_TOK_RANGE)
        return l->depth == 0 && !l->in_for;
    if (binds_tightly(before) || binds_tightly(next))
        return false;
    if (is_sign(before))
        return !l->before_unary && !in_index(l);
    if (is_sign(next) && is_value_end(before))
        return !in_index(l);
    if (before == HMI_TOK_NOT && next == HMI_TOK_LPAREN)
        return written;
    if (is_relation(before) || is_relation(next))
        return true;
    if ((next == HMI_TOK_LPAREN || next == HMI_TOK_LBRACKET) && is_value_end(before))
        return written; /* f(x), but `at [x, y]` */
    return true;
}

/* ---- lines ---- */

static size_t count_columns(const char *text, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length; i++)
        columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

static line *last_line(layout *l)
{
    return &l->lines.data[l->lines.count - 1];
}

static void begin_line(layout *l)
{
    line fresh = {.start = l->text.length};
    if (!hmi_array_push(&l->context->allocator, &l->lines, fresh))
        l->failed = true;
}

static void end_line(layout *l)
{
    if (l->failed)
        return;
    line *now = last_line(l);
    now->length = l->text.length - now->start;
    now->columns = count_columns(hmi_text_view(&l->text) + now->start, now->length);
}

static bool is_empty(const layout *l)
{
    return l->text.length == l->lines.data[l->lines.count - 1].start;
}

/* Indents the first token of a line. */
static void indent(layout *l, hmi_token_kind first)
{
    size_t braces = l->braces - (first == HMI_TOK_RBRACE && l->braces > 0);
    bool closes = first == HMI_TOK_RBRACKET || first == HMI_TOK_RPAREN;
    size_t columns = 2 * braces + (l->continues && !closes ? 4 : 0);
    for (size_t i = 0; i < columns && i < MOST_SHIFT; i++)
        hmi_text_add(&l->text, " ");
}

/* ---- tokens ---- */

static void track_brackets(layout *l, hmi_token_kind kind, bool follows_value)
{
    if (kind == HMI_TOK_LPAREN || kind == HMI_TOK_LBRACKET) {
        bracket opened = kind == HMI_TOK_LPAREN ? BRACKET_ROUND
                         : follows_value        ? BRACKET_INDEX
                                                : BRACKET_VECTOR;
        if (l->depth < MOST_BRACKETS)
            l->brackets[l->depth] = opened;
        l->depth += l->depth < MOST_BRACKETS;
    } else if ((kind == HMI_TOK_RPAREN || kind == HMI_TOK_RBRACKET) && l->depth > 0) {
        l->depth--;
    } else if (kind == HMI_TOK_LBRACE) {
        l->braces++;
    } else if (kind == HMI_TOK_RBRACE && l->braces > 0) {
        l->braces--;
    }
}

static bool text_is(const layout *l, hmi_span span, const char *word)
{
    return span.length == strlen(word) &&
           memcmp(l->source->text + span.start, word, span.length) == 0;
}

static void add_token(layout *l, hmi_token token, bool written)
{
    bool first = is_empty(l), follows_value = is_value_end(l->before) && !written && !first;
    if (first) {
        indent(l, token.kind);
        l->in_for = text_is(l, token.span, "for");
    } else if (wants_space(l, token.kind, written)) {
        hmi_text_add(&l->text, " ");
    }
    hmi_text_add_bytes(&l->text, l->source->text + token.span.start, token.span.length);
    l->before_unary = is_sign(token.kind) && !is_value_end(l->before);
    if (token.kind == HMI_TOK_LBRACE)
        l->in_for = false;
    track_brackets(l, token.kind, follows_value);
    /* A sign after the word that opens a statement belongs to what follows: potential -x. */
    bool opens = first && token.kind == HMI_TOK_NAME &&
                 hmi_statement_kind_of(l->source->text + token.span.start, token.span.length) !=
                     HMI_STMT_COUNT;
    l->before = opens ? HMI_TOK_LBRACE : token.kind;
}

/* After a line: does the next one continue it, and what does its first sign mean? */
static void break_line(layout *l)
{
    hmi_token_kind last = l->before;
    bool open = binds_tightly(last) || is_sign(last) || is_relation(last) || last == HMI_TOK_COMMA;
    if (!is_empty(l) || last_line(l)->comment)
        l->continues = (l->depth > 0 || open) && !is_empty(l) ? true : l->continues && l->depth > 0;
    end_line(l);
    begin_line(l);
    if (!l->continues)
        l->before = HMI_TOK_END;
}

/* White space and comments between two tokens. False: there is something else. */
static bool read_gap(layout *l, size_t from, size_t to, bool *written)
{
    const char *text = l->source->text;
    *written = false;
    for (size_t i = from; i < to && !l->failed; i++) {
        if (text[i] == '#') {
            size_t end = i;
            while (end < to && text[end] != '\n')
                end++;
            size_t length = end - i;
            while (length > 0 && strchr(" \t\r", text[i + length - 1]))
                length--;
            last_line(l)->comment = text + i;
            last_line(l)->comment_length = length;
            i = end - 1;
        } else if (text[i] == '\n') {
            break_line(l);
        } else if (text[i] == ' ' || text[i] == '\t') {
            *written = true;
        } else if (text[i] != '\r') {
            return false;
        }
    }
    return true;
}

static hm_status read_tokens(layout *l)
{
    size_t at = l->lexer.position; /* behind a byte order mark */
    bool written;
    begin_line(l);
    for (;;) {
        hmi_token token = hmi_lexer_next(&l->lexer);
        if (token.kind == HMI_TOK_NEWLINE)
            continue;
        size_t start = token.kind == HMI_TOK_END ? l->source->length : token.span.start;
        if (!read_gap(l, at, start, &written))
            return HM_ERR_INPUT;
        if (token.kind == HMI_TOK_END || l->failed)
            break;
        add_token(l, token, written);
        at = token.span.start + token.span.length;
    }
    end_line(l);
    return l->failed || l->text.failed ? HM_ERR_NOMEM : HM_OK;
}

/* ---- output ---- */

static bool has_code_and_comment(const line *now)
{
    return now->length > 0 && now->comment;
}

/* The column of the comments of a run of lines that have code and a comment. */
static size_t comment_column(const layout *l, size_t i)
{
    size_t most = 0, first = i;
    while (first > 0 && has_code_and_comment(&l->lines.data[first - 1]))
        first--;
    for (; first < l->lines.count && has_code_and_comment(&l->lines.data[first]); first++)
        if (l->lines.data[first].columns > most)
            most = l->lines.data[first].columns;
    return most + 2;
}

static void write_line(layout *l, size_t i, hmi_text *out)
{
    const line *now = &l->lines.data[i];
    hmi_text_add_bytes(out, hmi_text_view(&l->text) + now->start, now->length);
    if (now->comment) {
        size_t column = now->length ? comment_column(l, i) : 2 * l->braces;
        for (size_t k = now->columns; k < column; k++)
            hmi_text_add(out, " ");
        hmi_text_add_bytes(out, now->comment, now->comment_length);
    }
    hmi_text_add(out, "\n");
}

/* Comments on lines of their own stand where the next code does. */
static size_t comment_indent(const layout *l, size_t i)
{
    for (size_t k = i + 1; k < l->lines.count; k++) {
        const line *next = &l->lines.data[k];
        const char *text = hmi_text_view(&l->text) + next->start;
        size_t columns = 0;
        if (next->length == 0)
            continue;
        while (columns < next->length && text[columns] == ' ')
            columns++;
        return columns + (text[columns] == '}' ? 2 : 0);
    }
    return 0;
}

static void write_lines(layout *l, hmi_text *out)
{
    bool empty_before = true;
    for (size_t i = 0; i < l->lines.count; i++) {
        bool empty = l->lines.data[i].length == 0 && !l->lines.data[i].comment;
        if (empty && (empty_before || i + 1 == l->lines.count))
            continue;
        l->braces = l->lines.data[i].length == 0 ? comment_indent(l, i) / 2 : 0;
        write_line(l, i, out);
        empty_before = empty;
    }
    while (out->length > 1 && out->data[out->length - 1] == '\n' &&
           out->data[out->length - 2] == '\n')
        out->length--;
}

hm_status hmi_layout(hm_context *context, uint32_t file, hmi_text *out)
{
    layout l = {.context = context, .source = hmi_context_source(context, file)};
    size_t errors = context->errors;
    hmi_lexer_init(&l.lexer, context, file);
    hmi_text_init(&l.text, &context->allocator);
    hm_status status = read_tokens(&l);
    if (status == HM_OK && context->errors > errors)
        status = HM_ERR_INPUT;
    if (status == HM_OK)
        write_lines(&l, out);
    hmi_array_release(&context->allocator, &l.lines);
    hmi_text_release(&l.text);
    return status == HM_OK && out->failed ? HM_ERR_NOMEM : status;
}
