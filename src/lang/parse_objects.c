/* Statements about objects with a label: constraints, servos, bodies, symmetries, events, outputs. */
#include "lang/parser_internal.h"

#include <string.h>

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
        hmi_error(p->context, s->first->span, NULL, "the text before ':' must be a name");
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
                      : "write lhs = rhs; use 'event' to detect that a bound is reached",
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

bool hmi_parse_constraint(hmi_parser *p, hmi_statement *s)
{
    return parse_labelled(p, s) && parse_equation(p, s);
}

/* by x, y */
static bool parse_actuators(hmi_parser *p, hmi_statement *s)
{
    hmi_entry_list list = {0};
    bool good;
    do {
        hmi_entry entry = {.word = HMI_NO_NAME};
        entry.target = hmi_parse_postfix(p);
        if (entry.target)
            entry.span = entry.target->span;
        good = entry.target && hmi_push_entry(p, &list, entry);
    } while (good && hmi_next_entry(p));
    return hmi_keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

bool hmi_parse_servo(hmi_parser *p, hmi_statement *s)
{
    s->word = HMI_NO_NAME;
    if (!hmi_parse_constraint(p, s))
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

static const char *const body_words[] = {"mass", "inertia", "at", "frame", "angle",
                                         "com",  "on",      "by", "free"};

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
        bool free = hmi_parser_at_word(p, "free");
        if (!hmi_take_word(p, entry))
            return false;
        if (free) {
            entry->guess = hmi_parser_accept_word(p, "planar");
            return true;
        }
        return (entry->value = hmi_parse_expr(p)) != NULL;
    }
    return report_body_word(p, brace);
}

static bool parse_body_items(hmi_parser *p, hmi_entry_list *list, hmi_span brace)
{
    while (p->token.kind != HMI_TOK_RBRACE) {
        hmi_entry entry = {.word = HMI_NO_NAME};
        if (!parse_body_item(p, &entry, brace) || !hmi_push_entry(p, list, entry))
            return false;
        while (hmi_parser_accept(p, HMI_TOK_COMMA) || hmi_parser_accept(p, HMI_TOK_SEMICOLON))
            continue;
    }
    p->in_body = false;
    hmi_parser_advance(p);
    return true;
}

bool hmi_parse_body(hmi_parser *p, hmi_statement *s)
{
    hmi_entry_list list = {0};
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
    return hmi_keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

bool hmi_parse_symmetry(hmi_parser *p, hmi_statement *s)
{
    s->label = parse_label(p, "the name of the symmetry");
    return s->label && hmi_parser_expect(p, HMI_TOK_COLON, "the name") &&
           hmi_parse_assignments_of(p, s);
}

static bool parse_event_action(hmi_parser *p, hmi_statement *s)
{
    if (hmi_parser_accept_word(p, "stop"))
        s->action = HMI_EVENT_STOP;
    else if (hmi_parser_accept_word(p, "record"))
        s->action = HMI_EVENT_RECORD;
    else if (hmi_parser_accept_word(p, "set")) {
        s->action = HMI_EVENT_SET;
        return hmi_parse_assignments_of(p, s);
    } else
        return hmi_parser_unexpected(p, "rising, falling, stop, record or set");
    return true;
}

bool hmi_parse_event(hmi_parser *p, hmi_statement *s)
{
    if (!hmi_parse_constraint(p, s))
        return false;
    if (hmi_parser_accept_word(p, "rising"))
        s->direction = HMI_EVENT_RISING;
    else if (hmi_parser_accept_word(p, "falling"))
        s->direction = HMI_EVENT_FALLING;
    else
        hmi_parser_accept_word(p, "both");
    return parse_event_action(p, s);
}

bool hmi_parse_output(hmi_parser *p, hmi_statement *s)
{
    s->label = parse_label(p, "the name of the output");
    if (!s->label || !hmi_parse_note(p, &s->note) ||
        !hmi_parser_expect(p, HMI_TOK_ASSIGN, "the name"))
        return false;
    s->first = hmi_parse_expr(p);
    return s->first != NULL;
}

/* color "name" and label "text", in any order. */
static bool parse_draw_options(hmi_parser *p, hmi_statement *s)
{
    while (hmi_parser_at_word(p, "color") || hmi_parser_at_word(p, "label")) {
        bool color = hmi_parser_at_word(p, "color");
        const char **text = color ? &s->color : &s->text;
        hmi_span word = p->token.span;
        hmi_parser_advance(p);
        if (p->token.kind != HMI_TOK_STRING)
            return hmi_parser_unexpected(p, "a text in quotes");
        if (*text) {
            hmi_error(p->context, word, NULL, "'%s' is given twice", color ? "color" : "label");
            return false;
        }
        if (!(*text = hmi_take_text(p)))
            return false;
    }
    return true;
}

/* draw KIND E, E, ... */
bool hmi_parse_draw(hmi_parser *p, hmi_statement *s)
{
    hmi_entry_list list = {0};
    hmi_ast *kind = p->token.kind == HMI_TOK_NAME ? hmi_parse_name(p, "what is drawn") : NULL;
    if (!kind)
        return hmi_parser_unexpected(p, "what is drawn: point, line, sphere, ...");
    s->word = kind->name;
    s->label = kind;
    bool good;
    do {
        hmi_entry entry = {.word = HMI_NO_NAME};
        good = (entry.value = hmi_parse_expr(p)) != NULL;
        if (good)
            entry.span = entry.value->span;
        good = good && hmi_push_entry(p, &list, entry);
    } while (good && hmi_next_entry(p));
    return hmi_keep_entries(p, &list, good, &s->entries, &s->entry_count) &&
           parse_draw_options(p, s);
}
