/* Statements: one function a statement word. */
#include "lang/parser_internal.h"

#include <string.h>

/* ---- lists of entries ---- */

typedef HMI_ARRAY(hmi_entry) entry_array;

static bool no_memory(hmi_parser *p)
{
    p->context->out_of_memory = true;
    return false;
}

static bool push_entry(hmi_parser *p, entry_array *list, hmi_entry entry)
{
    return hmi_array_push(&p->context->allocator, list, entry) || no_memory(p);
}

/* The word of an entry, which stands at the present token. */
static bool take_word(hmi_parser *p, hmi_entry *entry)
{
    entry->span = p->token.span;
    entry->word = hmi_names_intern(&p->tree->names, p->lexer.text + entry->span.start,
                                   entry->span.length);
    if (entry->word == HMI_NO_NAME)
        return no_memory(p);
    hmi_parser_advance(p);
    return true;
}

/* Moves a list into the arena; passes `good` on. */
static bool keep_entries(hmi_parser *p, entry_array *list, bool good, hmi_entry **entries,
                         size_t *count)
{
    if (good && list->count) {
        *entries = hmi_parser_alloc(p, list->count * sizeof **entries);
        if (*entries)
            memcpy(*entries, list->data, list->count * sizeof **entries);
        good = *entries != NULL;
        *count = list->count;
    }
    hmi_array_release(&p->context->allocator, list);
    return good;
}

static bool next_entry(hmi_parser *p)
{
    if (!hmi_parser_accept(p, HMI_TOK_COMMA))
        return false;
    hmi_parser_skip_newlines(p);
    return true;
}

/* target = value, or target ~ value where guesses are allowed. */
static bool parse_assignment_to(hmi_parser *p, hmi_ast *target, bool guesses, hmi_entry *entry)
{
    entry->target = target;
    entry->guess = guesses && p->token.kind == HMI_TOK_TILDE;
    if (entry->guess) {
        hmi_parser_advance(p);
        hmi_parser_skip_newlines(p);
    } else {
        p->usage = hmi_name_hint(p);
        if (!hmi_parser_expect(p, HMI_TOK_ASSIGN, "the name"))
            return false;
    }
    entry->value = hmi_parse_expr(p);
    if (!entry->value)
        return false;
    entry->span = hmi_span_to(target->span, p->previous);
    return true;
}

/* What stands left of an =. A number there is most likely 1,5 for 1.5. */
static hmi_ast *parse_target(hmi_parser *p)
{
    bool comma = p->previous.length == 1 && p->lexer.text[p->previous.start] == ',';
    if (hmi_parser_at_statement(p) && !hmi_parser_said_enough(p)) {
        hmi_error(p->context, p->previous, p->usage, "a name is missing after this");
        return NULL;
    }
    if (p->token.kind != HMI_TOK_NAME) {
        if (p->token.kind == HMI_TOK_NUMBER)
            p->usage = comma ? "decimals are written with a point: 1.5"
                             : "a name starts with a letter";
        hmi_parser_unexpected(p, "a name");
        return NULL;
    }
    return hmi_parse_postfix(p);
}

bool hmi_parse_assignment_list(hmi_parser *p, bool guesses, hmi_entry **entries, size_t *count)
{
    entry_array list = {0};
    bool good;
    do {
        hmi_entry entry = {.word = HMI_NO_NAME};
        hmi_ast *target = parse_target(p);
        good = target && parse_assignment_to(p, target, guesses, &entry) &&
               push_entry(p, &list, entry);
    } while (good && next_entry(p));
    return keep_entries(p, &list, good, entries, count);
}

static bool parse_assignments(hmi_parser *p, hmi_statement *s)
{
    return hmi_parse_assignment_list(p, false, &s->entries, &s->entry_count);
}

/* ---- declarations ---- */

static bool parse_model(hmi_parser *p, hmi_statement *s)
{
    s->label = hmi_parse_name(p, "the name of the model");
    if (!s->label)
        return false;
    if (p->token.kind == HMI_TOK_STRING) {
        s->text = hmi_arena_text(&p->tree->arena, p->lexer.text + p->token.span.start + 1,
                                 p->token.span.length - 2);
        if (!s->text)
            return no_memory(p);
        hmi_parser_advance(p);
    }
    return true;
}

/* x, y or q[lo .. hi]. */
static bool parse_coordinate(hmi_parser *p, hmi_entry *entry)
{
    entry->target = hmi_parse_name(p, "the name of a coordinate");
    if (!entry->target)
        return false;
    entry->span = entry->target->span;
    if (p->token.kind != HMI_TOK_LBRACKET)
        return true;
    p->bracket = p->token.span;
    p->brackets++;
    hmi_parser_advance(p);
    entry->value = hmi_parse_expr(p);
    if (!entry->value || !hmi_parser_expect(p, HMI_TOK_RANGE, "the lower index"))
        return false;
    entry->second = hmi_parse_expr(p);
    p->brackets--;
    if (!entry->second || !hmi_parser_expect(p, HMI_TOK_RBRACKET, "the upper index"))
        return false;
    entry->span = hmi_span_to(entry->span, p->previous);
    return true;
}

static bool parse_coord(hmi_parser *p, hmi_statement *s)
{
    entry_array list = {0};
    bool good;
    do {
        hmi_entry entry = {.word = HMI_NO_NAME};
        good = parse_coordinate(p, &entry) && push_entry(p, &list, entry);
    } while (good && next_entry(p));
    return keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

static bool parse_energy(hmi_parser *p, hmi_statement *s)
{
    s->first = hmi_parse_expr(p);
    return s->first != NULL;
}

/* mass x, y = E    gyroscopic x, y = G */
static bool parse_pairs(hmi_parser *p, hmi_statement *s)
{
    entry_array list = {0};
    bool good;
    do {
        hmi_entry entry = {.word = HMI_NO_NAME};
        hmi_ast *first = hmi_parse_postfix(p);
        good = first != NULL;
        if (good && next_entry(p))
            good = (entry.second = hmi_parse_postfix(p)) != NULL;
        good = good && parse_assignment_to(p, first, false, &entry) && push_entry(p, &list, entry);
    } while (good && next_entry(p));
    return keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

/* x = E, y = E    or    F at P */
static bool parse_force(hmi_parser *p, hmi_statement *s)
{
    hmi_ast *first = hmi_parse_expr(p);
    if (!first)
        return false;
    if (hmi_parser_accept_word(p, "at")) {
        s->first = first;
        s->second = hmi_parse_expr(p);
        return s->second != NULL;
    }
    if (p->token.kind != HMI_TOK_ASSIGN)
        return hmi_parser_unexpected(p, "'=' or 'at'");
    entry_array list = {0};
    hmi_entry entry = {.word = HMI_NO_NAME};
    bool good = parse_assignment_to(p, first, false, &entry) && push_entry(p, &list, entry);
    while (good && next_entry(p)) {
        hmi_ast *target = hmi_parse_postfix(p);
        entry = (hmi_entry){.word = HMI_NO_NAME};
        good = target && parse_assignment_to(p, target, false, &entry) &&
               push_entry(p, &list, entry);
    }
    return keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

static bool parse_torque(hmi_parser *p, hmi_statement *s)
{
    if (!(s->first = hmi_parse_expr(p)))
        return false;
    if (!hmi_parser_accept_word(p, "on"))
        return hmi_parser_unexpected(p, "'on' and a rotation");
    s->second = hmi_parse_expr(p);
    return s->second != NULL;
}

/* ---- objects with a label ---- */

static bool is_label(const hmi_ast *e)
{
    if (e->kind == HMI_AST_INDEX)
        e = e->items[0];
    return e->kind == HMI_AST_NAME;
}

/* NAME or NAME[i], which must be there. */
static hmi_ast *parse_label(hmi_parser *p, const char *what)
{
    hmi_ast *name = hmi_parse_name(p, what);
    return name && p->token.kind == HMI_TOK_LBRACKET ? hmi_parse_index(p, name) : name;
}

/* NAME: expr    or    expr, the label left out. */
static bool parse_labelled(hmi_parser *p, hmi_statement *s)
{
    s->first = hmi_parse_expr(p);
    if (!s->first || p->token.kind != HMI_TOK_COLON)
        return s->first != NULL;
    if (!is_label(s->first)) {
        hmi_error(p->context, s->first->span, NULL, "what stands before ':' must be a name");
        return false;
    }
    s->label = s->first;
    s->first = NULL;
    return hmi_parser_expect(p, HMI_TOK_COLON, "the name");
}

static bool is_comparison(const hmi_ast *e)
{
    return e->kind == HMI_AST_CHAIN && e->ops[0] >= HMI_TOK_LESS && e->ops[0] <= HMI_TOK_EQUAL;
}

static bool report_comparison(hmi_parser *p, const hmi_statement *s)
{
    if (s->first->ops[0] == HMI_TOK_EQUAL)
        hmi_error(p->context, s->first->span,
                  "write a single =", "'==' compares; an equation is written with '='");
    else
        hmi_error(p->context, s->first->span,
                  s->kind == HMI_STMT_EVENT
                      ? "write E = 0, and rising or falling for the direction"
                      : "write lhs = rhs; an 'event' tells when a bound is reached",
                  "%s is an equation, not an inequality",
                  s->kind == HMI_STMT_EVENT   ? "the condition of an event"
                  : s->kind == HMI_STMT_SERVO ? "a servo"
                                              : "a constraint");
    return false;
}

/* lhs = rhs, after the label. */
static bool parse_equation(hmi_parser *p, hmi_statement *s)
{
    if (!s->first && !(s->first = hmi_parse_expr(p)))
        return false;
    if (p->token.kind != HMI_TOK_ASSIGN && is_comparison(s->first))
        return report_comparison(p, s);
    if (!hmi_parser_expect(p, HMI_TOK_ASSIGN, "the left-hand side"))
        return false;
    s->second = hmi_parse_expr(p);
    return s->second != NULL;
}

static bool parse_constraint(hmi_parser *p, hmi_statement *s)
{
    return parse_labelled(p, s) && parse_equation(p, s);
}

/* by x, y */
static bool parse_actuators(hmi_parser *p, hmi_statement *s)
{
    entry_array list = {0};
    bool good;
    do {
        hmi_entry entry = {.word = HMI_NO_NAME};
        entry.target = hmi_parse_postfix(p);
        if (entry.target)
            entry.span = entry.target->span;
        good = entry.target && push_entry(p, &list, entry);
    } while (good && next_entry(p));
    return keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

static bool parse_servo(hmi_parser *p, hmi_statement *s)
{
    s->word = HMI_NO_NAME;
    if (!parse_constraint(p, s))
        return false;
    if (hmi_parser_accept_word(p, "by") && !parse_actuators(p, s))
        return false;
    if (hmi_parser_accept_word(p, "with")) {
        if (!hmi_parser_accept_word(p, "gain"))
            return hmi_parser_unexpected(p, "'gain'");
        if (!(s->third = hmi_parse_expr(p)))
            return false;
    }
    if (hmi_parser_accept_word(p, "law")) {
        if (!hmi_parser_at_word(p, "lyapunov"))
            return hmi_parser_unexpected(p, "'lyapunov'");
        hmi_ast *law = hmi_parse_name(p, "'lyapunov'");
        s->word = law ? law->name : HMI_NO_NAME;
        return law != NULL;
    }
    return true;
}

/* Skips what is left of a body after an error, up to and over its '}'. */
static void skip_body(hmi_parser *p)
{
    while (!hmi_parser_at_statement(p) && p->token.kind != HMI_TOK_RBRACE &&
           p->token.kind != HMI_TOK_END) {
        p->brackets = 0;
        hmi_parser_advance(p);
    }
    p->in_body = false;
    hmi_parser_accept(p, HMI_TOK_RBRACE);
}

static const char *const body_words[] = {"mass", "inertia", "at", "frame", "angle"};

static bool report_body_word(hmi_parser *p, hmi_span brace)
{
    const char *word = hmi_context_printf(p->context, "%.*s",
                                          hmi_shown_length(p->token.span.length),
                                          p->lexer.text + p->token.span.start);
    if (!word || hmi_parser_said_enough(p))
        return false;
    if (p->token.kind == HMI_TOK_END || hmi_parser_at_statement(p)) {
        hmi_error(p->context, brace, NULL, "this body is not closed");
        return false;
    }
    for (size_t i = 0; i < sizeof body_words / sizeof *body_words; i++)
        if (p->token.kind == HMI_TOK_NAME && hmi_edit_distance(word, body_words[i], 1) <= 1)
            p->usage = hmi_context_printf(p->context, "did you mean '%s'?", body_words[i]);
    return hmi_parser_unexpected(p, "mass, inertia, at, frame, angle or '}'");
}

/* One "word value" of a body. `mass` is a statement word elsewhere. */
static bool parse_body_item(hmi_parser *p, hmi_entry *entry, hmi_span brace)
{
    const char *const *words = body_words;
    for (size_t i = 0; i < sizeof body_words / sizeof *body_words; i++) {
        if (!hmi_parser_at_word(p, words[i]))
            continue;
        return take_word(p, entry) && (entry->value = hmi_parse_expr(p)) != NULL;
    }
    return report_body_word(p, brace);
}

static bool parse_body_items(hmi_parser *p, entry_array *list, hmi_span brace)
{
    while (p->token.kind != HMI_TOK_RBRACE) {
        hmi_entry entry = {.word = HMI_NO_NAME};
        if (!parse_body_item(p, &entry, brace) || !push_entry(p, list, entry))
            return false;
        while (hmi_parser_accept(p, HMI_TOK_COMMA) || hmi_parser_accept(p, HMI_TOK_SEMICOLON))
            continue;
    }
    p->in_body = false;
    hmi_parser_advance(p);
    return true;
}

static bool parse_body(hmi_parser *p, hmi_statement *s)
{
    entry_array list = {0};
    s->label = parse_label(p, "the name of the body");
    if (!s->label)
        return false;
    hmi_parser_skip_newlines(p);
    if (p->token.kind != HMI_TOK_LBRACE)
        return hmi_parser_unexpected(p, "'{'");
    hmi_span brace = p->token.span;
    p->in_body = true;
    hmi_parser_advance(p);
    bool good = parse_body_items(p, &list, brace);
    if (!good)
        skip_body(p);
    return keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

static bool parse_symmetry(hmi_parser *p, hmi_statement *s)
{
    s->label = parse_label(p, "the name of the symmetry");
    return s->label && hmi_parser_expect(p, HMI_TOK_COLON, "the name") && parse_assignments(p, s);
}

static bool parse_event_action(hmi_parser *p, hmi_statement *s)
{
    if (hmi_parser_accept_word(p, "stop"))
        s->action = HMI_EVENT_STOP;
    else if (hmi_parser_accept_word(p, "record"))
        s->action = HMI_EVENT_RECORD;
    else if (hmi_parser_accept_word(p, "set")) {
        s->action = HMI_EVENT_SET;
        return parse_assignments(p, s);
    } else
        return hmi_parser_unexpected(p, "rising, falling, stop, record or set");
    return true;
}

static bool parse_event(hmi_parser *p, hmi_statement *s)
{
    if (!parse_constraint(p, s))
        return false;
    if (hmi_parser_accept_word(p, "rising"))
        s->direction = HMI_EVENT_RISING;
    else if (hmi_parser_accept_word(p, "falling"))
        s->direction = HMI_EVENT_FALLING;
    else
        hmi_parser_accept_word(p, "both");
    return parse_event_action(p, s);
}

static bool parse_output(hmi_parser *p, hmi_statement *s)
{
    s->label = parse_label(p, "the name of the output");
    if (!s->label || !hmi_parser_expect(p, HMI_TOK_ASSIGN, "the name"))
        return false;
    s->first = hmi_parse_expr(p);
    return s->first != NULL;
}

/* ---- runs ---- */

static bool parse_initial(hmi_parser *p, hmi_statement *s)
{
    if (hmi_parser_at_word(p, "keep")) {
        hmi_parser before = *p;
        hmi_parser_advance(p);
        s->keep = p->token.kind == HMI_TOK_NAME;
        if (!s->keep)
            *p = before; /* a coordinate called keep */
    }
    return hmi_parse_assignment_list(p, true, &s->entries, &s->entry_count);
}

static bool parse_range(hmi_parser *p, hmi_statement *s)
{
    return (s->first = hmi_parse_expr(p)) != NULL &&
           hmi_parser_expect(p, HMI_TOK_RANGE, "the start") &&
           (s->second = hmi_parse_expr(p)) != NULL;
}

static bool parse_simulate(hmi_parser *p, hmi_statement *s)
{
    entry_array list = {0};
    bool good = parse_range(p, s);
    if (good && hmi_parser_accept_word(p, "every"))
        good = (s->third = hmi_parse_expr(p)) != NULL;
    while (good && p->token.kind == HMI_TOK_NAME) {
        hmi_entry entry = {0};
        good = take_word(p, &entry) && (entry.value = hmi_parse_expr(p)) != NULL &&
               push_entry(p, &list, entry);
    }
    return keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

/* ---- blocks ---- */

static void parse_statements(hmi_parser *p, bool in_block, hmi_statement ***tail,
                             uint32_t *contains);

/* The statements between braces; the present token is '{'. */
static bool parse_block(hmi_parser *p, hmi_statement *s)
{
    hmi_span brace = p->token.span;
    if (++p->blocks > HMI_MOST_BLOCKS) {
        hmi_error(p->context, brace, NULL, "'for' is nested more than %d levels deep",
                  HMI_MOST_BLOCKS);
        p->lexer.position = p->lexer.length; /* what follows would not fit together */
        p->given_up = true;
    }
    hmi_parser_advance(p);
    hmi_statement **tail = &s->block;
    parse_statements(p, true, &tail, &s->contains);
    p->blocks--;
    if (p->token.kind != HMI_TOK_RBRACE) {
        if (!p->given_up)
            hmi_error(p->context, brace, NULL, "this block is not closed");
        return false;
    }
    hmi_parser_advance(p);
    return true;
}

static bool parse_for_header(hmi_parser *p, hmi_statement *s)
{
    hmi_ast *index = hmi_parse_name(p, "the index");
    if (!index || !hmi_parser_expect(p, HMI_TOK_ASSIGN, "the index") || !parse_range(p, s))
        return false;
    s->word = index->name;
    hmi_parser_skip_newlines(p);
    return p->token.kind == HMI_TOK_LBRACE || hmi_parser_unexpected(p, "'{'");
}

/* After an error in the header the block is still read, for its own errors and its '}'. */
static bool parse_for(hmi_parser *p, hmi_statement *s)
{
    bool good = parse_for_header(p, s);
    p->brackets = 0;
    while (p->token.kind != HMI_TOK_LBRACE && p->token.kind != HMI_TOK_NEWLINE &&
           p->token.kind != HMI_TOK_END)
        hmi_parser_advance(p);
    if (p->token.kind != HMI_TOK_LBRACE)
        return false;
    return parse_block(p, s) && good;
}

static bool parse_include(hmi_parser *p, hmi_statement *s)
{
    if (p->token.kind != HMI_TOK_STRING)
        return hmi_parser_unexpected(p, "the path of a file in quotes");
    s->text = hmi_arena_text(&p->tree->arena, p->lexer.text + p->token.span.start + 1,
                             p->token.span.length - 2);
    if (!s->text)
        p->context->out_of_memory = true;
    hmi_parser_advance(p);
    return s->text != NULL;
}

typedef bool (*statement_parser)(hmi_parser *p, hmi_statement *s);

static const statement_parser parsers[HMI_STMT_COUNT] = {
    [HMI_STMT_MODEL] = parse_model,
    [HMI_STMT_PARAM] = parse_assignments,
    [HMI_STMT_COORD] = parse_coord,
    [HMI_STMT_LET] = parse_assignments,
    [HMI_STMT_KINETIC] = parse_energy,
    [HMI_STMT_POTENTIAL] = parse_energy,
    [HMI_STMT_LAGRANGIAN] = parse_energy,
    [HMI_STMT_MASS] = parse_pairs,
    [HMI_STMT_FORCE] = parse_force,
    [HMI_STMT_INPUT] = parse_assignments,
    [HMI_STMT_STATE] = parse_assignments,
    [HMI_STMT_TORQUE] = parse_torque,
    [HMI_STMT_DISSIPATION] = parse_energy,
    [HMI_STMT_GYROSCOPIC] = parse_pairs,
    [HMI_STMT_BODY] = parse_body,
    [HMI_STMT_GRAVITY] = parse_energy,
    [HMI_STMT_CONSTRAINT] = parse_constraint,
    [HMI_STMT_SERVO] = parse_servo,
    [HMI_STMT_NONIDEAL] = parse_force,
    [HMI_STMT_INITIAL] = parse_initial,
    [HMI_STMT_SIMULATE] = parse_simulate,
    [HMI_STMT_SYMMETRY] = parse_symmetry,
    [HMI_STMT_EVENT] = parse_event,
    [HMI_STMT_OUTPUT] = parse_output,
    [HMI_STMT_FOR] = parse_for,
    [HMI_STMT_INCLUDE] = parse_include,
};

/* ---- the sequence of statements, and recovery ---- */

static void skip_statement(hmi_parser *p, bool in_block)
{
    bool inside = p->brackets > 0;
    p->brackets = 0;
    p->in_body = false;
    p->lexer.quiet = true; /* one error a statement */
    if (inside && p->token.kind == HMI_TOK_SEMICOLON)
        hmi_parser_advance(p);
    while (!hmi_parser_at_statement(p) && p->token.kind != HMI_TOK_NEWLINE &&
           p->token.kind != HMI_TOK_SEMICOLON && p->token.kind != HMI_TOK_END &&
           !(in_block && p->token.kind == HMI_TOK_RBRACE))
        hmi_parser_advance(p);
    p->lexer.quiet = false;
}

static void report_no_statement(hmi_parser *p)
{
    if (p->token.kind == HMI_TOK_NAME)
        hmi_report_unknown_statement(p);
    else if (p->token.kind == HMI_TOK_RBRACE)
        hmi_error(p->context, p->token.span, NULL, "this '}' closes nothing");
    else if (p->token.kind >= HMI_TOK_PLUS && p->token.kind <= HMI_TOK_CARET)
        hmi_error(p->context, p->token.span,
                  "a line goes on after an operator: write it at the end of the line before",
                  "a statement cannot start with %s", hmi_token_kind_text(p->token.kind));
    else
        hmi_parser_unexpected(p, "a statement");
}

static bool at_statement_end(const hmi_parser *p, bool in_block)
{
    return p->token.kind == HMI_TOK_NEWLINE || p->token.kind == HMI_TOK_SEMICOLON ||
           p->token.kind == HMI_TOK_END || (in_block && p->token.kind == HMI_TOK_RBRACE);
}

/* One statement; links it in where it is good. */
static bool parse_statement(hmi_parser *p, bool in_block, hmi_statement ***tail, uint32_t *contains)
{
    hmi_token word = p->token;
    hmi_statement_kind kind = word.kind == HMI_TOK_NAME
                                  ? hmi_statement_kind_of(p->lexer.text + word.span.start,
                                                          word.span.length)
                                  : HMI_STMT_COUNT;
    if (kind == HMI_STMT_COUNT) {
        report_no_statement(p);
        if (p->token.kind == HMI_TOK_RBRACE)
            hmi_parser_advance(p);
        return false;
    }
    hmi_statement *s = hmi_parser_alloc(p, sizeof *s);
    if (!s)
        return false;
    s->kind = p->kind = kind;
    p->usage = hmi_statement_usage(kind);
    hmi_parser_advance(p);
    if (!parsers[kind](p, s) || (!at_statement_end(p, in_block) && !hmi_report_no_end(p, kind)))
        return false;
    s->span = hmi_span_to(word.span, p->previous);
    if (kind == HMI_STMT_INCLUDE)
        return hmi_parse_include(p, s->span, s->text, tail, contains);
    **tail = s;
    *tail = &s->next;
    *contains |= 1u << kind | (kind == HMI_STMT_FOR ? s->contains : 0);
    return true;
}

static void parse_statements(hmi_parser *p, bool in_block, hmi_statement ***tail,
                             uint32_t *contains)
{
    for (;;) {
        p->errors = p->context->errors;
        p->usage = NULL;
        p->kind = HMI_STMT_COUNT;
        while (p->token.kind == HMI_TOK_NEWLINE || p->token.kind == HMI_TOK_SEMICOLON)
            hmi_parser_advance(p);
        if (p->token.kind == HMI_TOK_END || (in_block && p->token.kind == HMI_TOK_RBRACE) ||
            hmi_context_too_many(p->context))
            return;
        int blocks = p->blocks;
        if (!parse_statement(p, in_block, tail, contains)) {
            p->nesting = 0;
            p->blocks = blocks;
            skip_statement(p, in_block);
        }
    }
}

hm_status hmi_parse_file(hmi_parser *outer, hmi_tree *tree, uint32_t file, int *includes,
                         const hmi_include_frame *frames, hmi_statement ***tail, uint32_t *contains)
{
    hmi_parser parser;
    size_t errors = tree->context->errors;
    hmi_parser_start(&parser, tree, file);
    parser.includes = includes;
    parser.frames = frames;
    parser.blocks = outer ? outer->blocks : 0;
    parse_statements(&parser, false, tail, contains);
    return hmi_context_status(tree->context, errors);
}
