/* joint NAME: KIND of A at u axis d and B at w axis d2 */
#include "lang/parser_internal.h"

/* NAME or NAME[i] */
static hmi_ast *parse_indexed_name(hmi_parser *p, const char *what)
{
    hmi_ast *name = hmi_parse_name(p, what);
    return name && p->token.kind == HMI_TOK_LBRACKET ? hmi_parse_index(p, name) : name;
}

/* at E or axis E, once each; an `and` outside of brackets ends E. */
static bool parse_part(hmi_parser *p, const char *word, hmi_ast **slot)
{
    hmi_span at = p->token.span;
    hmi_parser_advance(p);
    if (*slot && !hmi_parser_said_enough(p)) {
        hmi_error(p->context, at, p->usage, "'%s' is given twice", word);
        return false;
    }
    return (*slot = hmi_parse_sum(p)) != NULL;
}

/* BODY at u axis d */
static bool parse_side(hmi_parser *p, hmi_entry_list *list)
{
    hmi_entry entry = {.word = HMI_NO_NAME};
    if (!(entry.target = parse_indexed_name(p, "the name of a body, or ground")))
        return false;
    bool good = true;
    for (bool more = true; good && more;) {
        if (hmi_parser_at_word(p, "at"))
            good = parse_part(p, "at", &entry.value);
        else if (hmi_parser_at_word(p, "axis"))
            good = parse_part(p, "axis", &entry.second);
        else
            more = false;
    }
    entry.span = hmi_span_to(entry.target->span, p->previous);
    return good && hmi_push_entry(p, list, entry);
}

static bool parse_sides(hmi_parser *p, hmi_entry_list *list)
{
    if (!parse_side(p, list))
        return false;
    if (!hmi_parser_accept(p, HMI_TOK_AND))
        return hmi_parser_unexpected(p, "'and' and the other body");
    hmi_parser_skip_newlines(p);
    return parse_side(p, list);
}

/* hinge of, or distance L of */
static bool parse_kind(hmi_parser *p, hmi_statement *s)
{
    hmi_ast *kind = hmi_parse_kind(p, "a kind of joint");
    if (!kind)
        return false;
    s->word = kind->name;
    if (!hmi_parser_at_word(p, "of") && !(s->first = hmi_parse_sum(p)))
        return false;
    return hmi_parser_accept_word(p, "of") || hmi_parser_unexpected(p, "'of' and two bodies");
}

bool hmi_parse_joint(hmi_parser *p, hmi_statement *s)
{
    hmi_entry_list list = {0};
    s->label = parse_indexed_name(p, "the name of the joint");
    if (!s->label || !hmi_parser_expect(p, HMI_TOK_COLON, "the name") || !parse_kind(p, s))
        return false;
    return hmi_keep_entries(p, &list, parse_sides(p, &list), &s->entries, &s->entry_count);
}
