/* Finds the words of a text: which statement they stand in, whether they declare a name and of what, and
 * which binder (`for i`, `sum(i = ...)`, `let f(a)`, `table f(x)`) they belong to.
 *
 * A binder is open from the name it binds to the end of its brace (for), bracket (sum, prod) or
 * definition (let, table). A word belongs to the innermost open binder of its name.
 *
 * The parser reads the text, too, and notes what it takes for names: other words are parts of statements.
 * Where it met errors, only words that are parts of some statement of this kind are taken for such. */
#include "lang/words.h"

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
    hmi_lexer lexer;
    const hmi_spans *names; /* what the parser took for names, in order */
    size_t name;            /* the next of these */
    bool sound;             /* it found no errors */
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
           kind == HMI_STMT_STATE || kind == HMI_STMT_LET;
}

/* NAME: or NAME[i]: ahead? A constraint, servo, event or friction may do without. */
static bool label_ahead(const reader *r)
{
    hmi_lexer ahead = r->lexer;
    hmi_token token = hmi_lexer_next(&ahead);
    size_t open = 0;
    if (token.kind == HMI_TOK_NAME)
        token = hmi_lexer_next(&ahead);
    while (token.kind == HMI_TOK_LBRACKET || (open > 0 && token.kind != HMI_TOK_END)) {
        open += token.kind == HMI_TOK_LBRACKET;
        open -= token.kind == HMI_TOK_RBRACKET;
        token = hmi_lexer_next(&ahead);
    }
    return token.kind == HMI_TOK_COLON;
}

static bool label_is_optional(hmi_statement_kind kind)
{
    return kind == HMI_STMT_CONSTRAINT || kind == HMI_STMT_SERVO || kind == HMI_STMT_EVENT ||
           kind == HMI_STMT_FRICTION;
}

static hm_name_space space_of(hmi_statement_kind kind)
{
    switch (kind) {
    case HMI_STMT_MODEL:
        return HM_NAME_SPACE_MODEL;
    case HMI_STMT_BODY:
        return HM_NAME_SPACE_BODY;
    case HMI_STMT_OUTPUT:
        return HM_NAME_SPACE_OUTPUT;
    case HMI_STMT_EVENT:
        return HM_NAME_SPACE_EVENT;
    case HMI_STMT_SYMMETRY:
        return HM_NAME_SPACE_SYMMETRY;
    case HMI_STMT_SERVO:
        return HM_NAME_SPACE_SERVO;
    case HMI_STMT_CONSTRAINT:
        return HM_NAME_SPACE_CONSTRAINT;
    case HMI_STMT_JOINT:
        return HM_NAME_SPACE_JOINT;
    case HMI_STMT_FRICTION:
        return HM_NAME_SPACE_FRICTION;
    default:
        return HM_NAME_SPACE_VARIABLE;
    }
}

static void begin_statement(reader *r, hmi_statement_kind kind)
{
    r->statement = kind;
    r->name_due = declares_first(kind) && (!label_is_optional(kind) || label_ahead(r));
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

/* Did the parser take it for a name? */
static bool read_as_name(reader *r, hmi_span span)
{
    while (r->name < r->names->count && r->names->data[r->name].start < span.start)
        r->name++;
    return r->name < r->names->count && r->names->data[r->name].start == span.start;
}

static bool is_part_of(const reader *r, hmi_span span)
{
    const char *part;
    for (size_t i = 0; (part = hmi_statement_part(r->statement, i)); i++)
        if (strlen(part) == span.length && memcmp(part, r->text + span.start, span.length) == 0)
            return true;
    return false;
}

/* Words that are read like names and are none: power(impressed), by hinge(q), method dop853, on ground. */
static bool is_kind(const reader *r, hmi_token token)
{
    bool argument = r->before.kind == HMI_TOK_LPAREN && is_word(r, r->before2, "power");
    bool joint = r->statement == HMI_STMT_BODY && is_word(r, r->before, "by");
    bool option = r->statement == HMI_STMT_SIMULATE &&
                  (is_word(r, r->before, "method") || is_word(r, r->before, "drift"));
    bool carries = r->statement == HMI_STMT_BODY || r->statement == HMI_STMT_JOINT;
    return argument || joint || option || (carries && is_word(r, token, "ground"));
}

/* What a name that is used names: most are variables. */
static hm_name_space used_space(const reader *r)
{
    static const char *const of_body[] = {"origin", "frame", "center", "point"};
    bool argument = r->before.kind == HMI_TOK_LPAREN;
    for (size_t i = 0; argument && i < sizeof of_body / sizeof *of_body; i++)
        if (is_word(r, r->before2, of_body[i]))
            return HM_NAME_SPACE_BODY;
    if (argument && is_word(r, r->before2, "wrench"))
        return HM_NAME_SPACE_JOINT;
    if (argument &&
        (is_word(r, r->before2, "multiplier") || is_word(r, r->before2, "total_multiplier")))
        return HM_NAME_SPACE_CONSTRAINT;
    bool on = is_word(r, r->before, "on");
    if (r->statement == HMI_STMT_FRICTION && on)
        return HM_NAME_SPACE_CONSTRAINT;
    if (r->statement == HMI_STMT_BODY && on)
        return HM_NAME_SPACE_BODY;
    bool side = is_word(r, r->before, "of") || r->before.kind == HMI_TOK_AND;
    return r->statement == HMI_STMT_JOINT && side && r->brackets == 0 ? HM_NAME_SPACE_BODY
                                                                      : HM_NAME_SPACE_VARIABLE;
}

static void read_name(reader *r, hmi_token token, hmi_word *word)
{
    bool name = read_as_name(r, token.span);
    word->space = used_space(r);
    word->part = is_kind(r, token) || (!name && (r->sound || is_part_of(r, token.span)));
    if (!word->part && word->space == HM_NAME_SPACE_VARIABLE)
        word->scope = scope_of(r, token.span);
}

static void read_word(reader *r, hmi_token token)
{
    hmi_word word = {.span = token.span};
    hmi_statement_kind kind = hmi_statement_kind_of(r->text + token.span.start, token.span.length);
    if (r->at_start && kind != HMI_STMT_COUNT && !r->in_body) {
        word.opens = true;
        begin_statement(r, kind);
    } else if (binds(r, token, &word.scope)) {
        word.declares = true;
    } else if (r->name_due) {
        word.declares = true;
        word.space = space_of(r->statement);
        r->name_due = false;
    } else {
        read_name(r, token, &word);
    }
    word.statement = r->statement;
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
    return last == HMI_TOK_COMMA || last == HMI_TOK_ASSIGN || last == HMI_TOK_COLON ||
           last == HMI_TOK_TILDE || last == HMI_TOK_RANGE ||
           (last >= HMI_TOK_PLUS && last <= HMI_TOK_OR);
}

/* A statement word that starts a line inside brackets means that a bracket was forgotten. */
static bool statement_ahead(const reader *r)
{
    hmi_lexer ahead = r->lexer;
    hmi_token token = hmi_lexer_next(&ahead);
    return token.kind == HMI_TOK_NAME &&
           hmi_statement_kind_of(r->text + token.span.start, token.span.length) != HMI_STMT_COUNT;
}

static void read_newline(reader *r)
{
    if (r->brackets > 0 && !r->in_body && statement_ahead(r)) {
        r->brackets = 0;
        close_binders(r, END_OF_BRACKET, 0);
        end_statement(r);
    } else if (r->brackets == 0 && !r->in_body && !continues_line(r->before.kind)) {
        end_statement(r);
    }
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
        read_newline(r);
        return; /* not a token before others */
    case HMI_TOK_SEMICOLON:
        end_statement(r);
        break;
    case HMI_TOK_COMMA:
        r->name_due = r->brackets == 0 && declares_list(r->statement);
        if (r->name_due) /* arguments of let f(a) = ..., g(b) = ... */
            close_binders(r, END_OF_STATEMENT, 0);
        break;
    default:
        break;
    }
    r->before2 = r->before;
    r->before = token;
}

/* What the parser takes for names, and whether it found no errors. A context of its own has what it says
 * about the text: nobody asked. */
static bool read_names(hm_context *context, const hmi_source *source, hmi_spans *names, bool *sound)
{
    hm_context *scratch = hm_context_create(&context->allocator);
    if (!scratch)
        return false;
    hmi_tree tree;
    hmi_context_begin(scratch);
    hmi_tree_init(&tree, scratch);
    tree.read_names = names;
    tree.alone = true;
    int includes = 0;
    hmi_statement **tail = &tree.statements;
    uint32_t file = hmi_context_add_source(scratch, "", NULL, source->text, source->length);
    hm_status status = file == HMI_NO_FILE ? HM_ERR_NOMEM
                                           : hmi_parse_file(NULL, &tree, file, &includes, NULL,
                                                            &tail, &tree.contains);
    *sound = status == HM_OK;
    hmi_tree_release(&tree);
    hm_context_destroy(scratch);
    return status != HM_ERR_NOMEM;
}

static void read_tokens(reader *r, uint32_t file)
{
    hmi_lexer_init(&r->lexer, r->context, file);
    r->lexer.quiet = true;
    for (;;) {
        hmi_token token = hmi_lexer_next(&r->lexer);
        if (token.kind == HMI_TOK_END || r->failed)
            return;
        read_token(r, token);
    }
}

hm_status hmi_read_words(hm_context *context, uint32_t file, hmi_words *words)
{
    hmi_spans names = {0};
    reader r = {.context = context,
                .text = hmi_context_source(context, file)->text,
                .words = words,
                .names = &names,
                .statement = HMI_STMT_COUNT,
                .at_start = true};
    r.failed = !read_names(context, hmi_context_source(context, file), &names, &r.sound);
    read_tokens(&r, file);
    hmi_array_release(&context->allocator, &names);
    hmi_array_release(&context->allocator, &r.binders);
    return r.failed ? HM_ERR_NOMEM : HM_OK;
}
