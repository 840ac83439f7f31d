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
                  s->kind == HMI_STMT_EVENT ? "the condition of an event" : "a servo");
    return false;
}

/* A constraint that is written as a comparison: E1 >= E2 or E1 <= E2, once, at the top. */
static bool take_relation(hmi_parser *p, hmi_statement *s)
{
    hmi_ast *e = s->first;
    uint8_t op = e->ops[0];
    if (op == HMI_TOK_EQUAL)
        return report_comparison(p, s);
    if (e->count > 2)
        hmi_error(p->context, e->span, "write two constraints: lower <= x and x <= upper",
                  "a constraint has one relation, not a chain");
    else if (op == HMI_TOK_LESS || op == HMI_TOK_GREATER)
        hmi_error(p->context, e->span, "a one-sided constraint includes its bound: write >= or <=",
                  "'%c' is not a relation of a constraint", op == HMI_TOK_LESS ? '<' : '>');
    else {
        s->relation = op;
        s->first = e->items[0];
        s->second = e->items[1];
        return true;
    }
    return false;
}

static bool is_logic(const hmi_ast *e)
{
    return e->kind == HMI_AST_NOT ||
           (e->kind == HMI_AST_CHAIN && (e->ops[0] == HMI_TOK_AND || e->ops[0] == HMI_TOK_OR));
}

/* lhs = rhs, after the label. */
static bool parse_equation(hmi_parser *p, hmi_statement *s)
{
    s->relation = HMI_TOK_ASSIGN;
    if (!s->first && !(s->first = hmi_parse_expr(p)))
        return false;
    if (p->token.kind != HMI_TOK_ASSIGN && is_comparison(s->first))
        return s->kind == HMI_STMT_CONSTRAINT ? take_relation(p, s) : report_comparison(p, s);
    if (s->kind == HMI_STMT_CONSTRAINT && p->token.kind != HMI_TOK_ASSIGN && is_logic(s->first)) {
        hmi_error(p->context, s->first->span,
                  "write a constraint for each relation; a condition goes behind 'when'",
                  "a constraint is one relation: 'and', 'or' and 'not' cannot join several");
        return false;
    }
    if (!hmi_parser_expect(p, HMI_TOK_ASSIGN, "the left-hand side"))
        return false;
    s->second = hmi_parse_expr(p);
    return s->second != NULL;
}

static bool parse_labelled_equation(hmi_parser *p, hmi_statement *s)
{
    return parse_labelled(p, s) && parse_equation(p, s);
}

/* NAME: relation, restitution e, when COND: in this order. */
bool hmi_parse_constraint(hmi_parser *p, hmi_statement *s)
{
    if (!parse_labelled_equation(p, s))
        return false;
    if (hmi_parser_accept_word(p, "restitution") && !(s->third = hmi_parse_expr(p)))
        return false;
    if (hmi_parser_accept_word(p, "when") && !(s->when = hmi_parse_expr(p)))
        return false;
    if (hmi_parser_at_word(p, "restitution") && !hmi_parser_said_enough(p)) {
        hmi_error(p->context, p->token.span,
                  s->third ? NULL : "write the relation, then restitution e, then when COND",
                  s->third ? "'restitution' is given twice" : "'restitution' stands before 'when'");
        return false;
    }
    return true;
}

/* NAME: U on C with mus, muk */
bool hmi_parse_friction(hmi_parser *p, hmi_statement *s)
{
    if (!parse_labelled(p, s) || (!s->first && !(s->first = hmi_parse_expr(p))))
        return false;
    if (!hmi_parser_accept_word(p, "on"))
        return hmi_parser_unexpected(p, "'on' and the name of a constraint");
    if (!(s->second = parse_label(p, "the name of a constraint")))
        return false;
    if (!hmi_parser_accept_word(p, "with"))
        return hmi_parser_unexpected(p, "'with' and a coefficient");
    if (!(s->third = hmi_parse_expr(p)))
        return false;
    return !hmi_parser_accept(p, HMI_TOK_COMMA) || (s->when = hmi_parse_expr(p)) != NULL;
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

/* gain K limit c, either of them */
static bool parse_gain(hmi_parser *p, hmi_statement *s)
{
    bool gain = hmi_parser_accept_word(p, "gain");
    if (gain && !(s->third = hmi_parse_expr(p)))
        return false;
    if (hmi_parser_accept_word(p, "limit"))
        return (s->when = hmi_parse_expr(p)) != NULL;
    return gain || hmi_parser_unexpected(p, "'gain'");
}

bool hmi_parse_servo(hmi_parser *p, hmi_statement *s)
{
    s->word = HMI_NO_NAME;
    if (!parse_labelled_equation(p, s))
        return false;
    if (hmi_parser_accept_word(p, "by") && !parse_actuators(p, s))
        return false;
    if (hmi_parser_accept_word(p, "with") && !parse_gain(p, s))
        return false;
    if (hmi_parser_accept_word(p, "law")) {
        if (!hmi_parser_at_word(p, "lyapunov"))
            return hmi_parser_unexpected(p, "'lyapunov'");
        hmi_ast *law = hmi_parse_kind(p, "'lyapunov'");
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
    if (!parse_labelled_equation(p, s))
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
    hmi_ast *kind = p->token.kind == HMI_TOK_NAME ? hmi_parse_kind(p, "what is drawn") : NULL;
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
