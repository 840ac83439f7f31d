/* Finds the words of a text: which statement they stand in, whether they declare a name, and which binder
 * (`for i`, `sum(i = ...)`, `let f(a)`, `table f(x)`) they belong to.
 *
 * A binder is open from the name it binds to the end of its brace (for), bracket (sum, prod) or
 * statement (let, table). A word belongs to the innermost open binder of its name. */
#include "lang/words.h"

#include "lang/ast.h"
#include "lang/lexer.h"
#include "lang/parser_internal.h"

#include <string.h>

typedef enum binder_end { END_OF_BRACE, END_OF_BRACKET, END_OF_STATEMENT } binder_end;

typedef struct binder {
    hmi_span name;
    size_t number;
    binder_end end;
    size_t depth; /* of braces or brackets that ends with it */
} binder;

typedef struct reader {
    hm_context *context;
    const char *text;
    hmi_words *words;
    HMI_ARRAY(binder) binders;
    size_t binder_count;     /* so far: numbers from 1 */
    size_t braces, brackets; /* open */
    hmi_statement_kind statement;
    bool at_start;             /* of a statement */
    bool in_body;              /* braces of a body: no statements inside */
    bool name_due;             /* the statement's next word declares a name */
    bool header;               /* inside let f( or table f(: words are parameters */
    size_t header_brackets;    /* depth of that bracket */
    hmi_token before, before2; /* the tokens before */
    bool failed;
} reader;

static bool is_word(const reader *r, hmi_token token, const char *word)
{
    return token.kind == HMI_TOK_NAME && token.span.length == strlen(word) &&
           memcmp(r->text + token.span.start, word, token.span.length) == 0;
}

static bool same_name(const reader *r, hmi_span a, hmi_span b)
{
    return a.length == b.length && memcmp(r->text + a.start, r->text + b.start, a.length) == 0;
}

/* ---- binders ---- */

static size_t open_binder(reader *r, hmi_span name, binder_end end, size_t depth)
{
    binder fresh = {name, ++r->binder_count, end, depth};
    if (!hmi_array_push(&r->context->allocator, &r->binders, fresh))
        r->failed = true;
    return fresh.number;
}

static void close_binders(reader *r, binder_end end, size_t depth)
{
    while (r->binders.count > 0) {
        const binder *last = &r->binders.data[r->binders.count - 1];
        if (last->end != end || (end != END_OF_STATEMENT && last->depth <= depth))
            return;
        r->binders.count--;
    }
}

static size_t scope_of(const reader *r, hmi_span name)
{
    for (size_t i = r->binders.count; i-- > 0;)
        if (same_name(r, r->binders.data[i].name, name))
            return r->binders.data[i].number;
    return 0;
}

/* ---- statements ---- */

/* Statements whose first word declares, and those in which every word after a comma does, too. */
static bool declares_first(hmi_statement_kind kind)
{
    switch (kind) {
    case HMI_STMT_MODEL:
    case HMI_STMT_PARAM:
    case HMI_STMT_COORD:
    case HMI_STMT_LET:
    case HMI_STMT_INPUT:
    case HMI_STMT_STATE:
    case HMI_STMT_BODY:
    case HMI_STMT_OUTPUT:
    case HMI_STMT_EVENT:
    case HMI_STMT_SYMMETRY:
    case HMI_STMT_SERVO:
    case HMI_STMT_CONSTRAINT:
    case HMI_STMT_JOINT:
    case HMI_STMT_FRICTION:
    case HMI_STMT_TABLE:
        return true;
    default:
        return false;
    }
}

static bool declares_list(hmi_statement_kind kind)
{
    return kind == HMI_STMT_PARAM || kind == HMI_STMT_COORD || kind == HMI_STMT_INPUT ||
           kind == HMI_STMT_STATE;
}

static void begin_statement(reader *r, hmi_statement_kind kind)
{
    r->statement = kind;
    r->name_due = declares_first(kind);
    r->header = false;
}

static void end_statement(reader *r)
{
    r->at_start = true;
    r->statement = HMI_STMT_COUNT;
    r->name_due = false;
    r->header = false;
    close_binders(r, END_OF_STATEMENT, 0);
}

/* ---- words ---- */

static void add_word(reader *r, hmi_word word)
{
    if (!hmi_array_push(&r->context->allocator, r->words, word))
        r->failed = true;
}

/* The index of `for`, `sum` and `prod`, and parameters of functions. */
static bool binds(reader *r, hmi_token token, size_t *scope)
{
    if (r->statement == HMI_STMT_FOR && is_word(r, r->before, "for")) {
        *scope = open_binder(r, token.span, END_OF_BRACE, r->braces + 1);
        return true;
    }
    if (r->before.kind == HMI_TOK_LPAREN &&
        (is_word(r, r->before2, "sum") || is_word(r, r->before2, "prod"))) {
        *scope = open_binder(r, token.span, END_OF_BRACKET, r->brackets);
        return true;
    }
    if (r->header && r->brackets == r->header_brackets) {
        *scope = open_binder(r, token.span, END_OF_STATEMENT, 0);
        return true;
    }
    return false;
}

static void read_word(reader *r, hmi_token token)
{
    hmi_word word = {.span = token.span};
    hmi_statement_kind kind = hmi_statement_kind_of(r->text + token.span.start, token.span.length);
    if (r->at_start && kind != HMI_STMT_COUNT && !r->in_body) {
        word.statement = true;
        begin_statement(r, kind);
    } else if (binds(r, token, &word.scope)) {
        word.declares = true;
    } else if (r->name_due) {
        word.declares = true;
        r->name_due = false;
    } else {
        word.scope = scope_of(r, token.span);
    }
    r->at_start = false;
    add_word(r, word);
}

static void open_bracket(reader *r)
{
    r->brackets++;
    bool function = (r->statement == HMI_STMT_LET || r->statement == HMI_STMT_TABLE) &&
                    r->words->count > 0 && r->words->data[r->words->count - 1].declares &&
                    r->before.kind == HMI_TOK_NAME;
    if (function && !r->header) {
        r->header = true;
        r->header_brackets = r->brackets;
    }
}

static void close_bracket(reader *r)
{
    if (r->header && r->brackets == r->header_brackets)
        r->header = false;
    if (r->brackets > 0)
        r->brackets--;
    close_binders(r, END_OF_BRACKET, r->brackets);
}

static bool continues_line(hmi_token_kind last)
{
    return last == HMI_TOK_COMMA || last == HMI_TOK_ASSIGN || last == HMI_TOK_PLUS ||
           last == HMI_TOK_MINUS || last == HMI_TOK_STAR || last == HMI_TOK_SLASH ||
           last == HMI_TOK_CARET;
}

static void read_brace(reader *r, bool opens)
{
    if (opens) {
        r->braces++;
        r->in_body = r->statement == HMI_STMT_BODY;
        if (!r->in_body) { /* the index of a `for` stays in force */
            r->at_start = true;
            r->statement = HMI_STMT_COUNT;
        }
        return;
    }
    r->in_body = false;
    end_statement(r);
    if (r->braces > 0)
        r->braces--;
    close_binders(r, END_OF_BRACE, r->braces);
}

static void read_token(reader *r, hmi_token token)
{
    switch (token.kind) {
    case HMI_TOK_NAME:
        read_word(r, token);
        break;
    case HMI_TOK_LPAREN:
    case HMI_TOK_LBRACKET:
        open_bracket(r);
        break;
    case HMI_TOK_RPAREN:
    case HMI_TOK_RBRACKET:
        close_bracket(r);
        break;
    case HMI_TOK_LBRACE:
    case HMI_TOK_RBRACE:
        read_brace(r, token.kind == HMI_TOK_LBRACE);
        break;
    case HMI_TOK_NEWLINE:
        if (r->brackets == 0 && !r->in_body && !continues_line(r->before.kind))
            end_statement(r);
        return; /* not a token before others */
    case HMI_TOK_SEMICOLON:
        end_statement(r);
        break;
    case HMI_TOK_COMMA:
        r->name_due = r->brackets == 0 && declares_list(r->statement);
        break;
    default:
        break;
    }
    r->before2 = r->before;
    r->before = token;
}

/* A constraint, servo or event without a name has no colon after its first word. */
static void withdraw_nameless(reader *r)
{
    for (size_t i = 1; i < r->words->count; i++) {
        hmi_word *word = &r->words->data[i];
        const hmi_word *opener = &r->words->data[i - 1];
        hmi_statement_kind kind = hmi_statement_kind_of(r->text + opener->span.start,
                                                        opener->span.length);
        if (!opener->statement || !word->declares ||
            !(kind == HMI_STMT_CONSTRAINT || kind == HMI_STMT_SERVO || kind == HMI_STMT_EVENT))
            continue;
        const char *at = r->text + word->span.start + word->span.length;
        int open = 0; /* rod[i]: is a name */
        while (*at && *at != '\n' && (open > 0 || *at == ' ' || *at == '\t' || *at == '[')) {
            open += (*at == '[') - (*at == ']');
            at++;
        }
        word->declares = *at == ':';
    }
}

hm_status hmi_read_words(hm_context *context, uint32_t file, hmi_words *words)
{
    hmi_lexer lexer;
    reader r = {.context = context,
                .text = hmi_context_source(context, file)->text,
                .words = words,
                .statement = HMI_STMT_COUNT,
                .at_start = true};
    hmi_lexer_init(&lexer, context, file);
    lexer.quiet = true;
    for (;;) {
        hmi_token token = hmi_lexer_next(&lexer);
        if (token.kind == HMI_TOK_END || r.failed)
            break;
        read_token(&r, token);
    }
    if (!r.failed)
        withdraw_nameless(&r);
    hmi_array_release(&context->allocator, &r.binders);
    return r.failed ? HM_ERR_NOMEM : HM_OK;
}
