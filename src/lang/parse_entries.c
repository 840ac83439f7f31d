/* Lists of entries: "x = 1, y ~ 2", and what all lists of statements share. */
#include "base/visible.h"
#include "lang/parser_internal.h"

#include <string.h>

bool hmi_push_entry(hmi_parser *p, hmi_entry_list *list, hmi_entry entry)
{
    return hmi_array_push(&p->context->allocator, list, entry) || hmi_parser_no_memory(p);
}

bool hmi_take_word(hmi_parser *p, hmi_entry *entry)
{
    entry->span = p->token.span;
    entry->word = hmi_names_intern(&p->tree->names, p->lexer.text + entry->span.start,
                                   entry->span.length);
    if (entry->word == HMI_NO_NAME)
        return hmi_parser_no_memory(p);
    hmi_parser_advance(p);
    return true;
}

bool hmi_keep_entries(hmi_parser *p, hmi_entry_list *list, bool good, hmi_entry **entries,
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

bool hmi_next_entry(hmi_parser *p)
{
    if (!hmi_parser_accept(p, HMI_TOK_COMMA))
        return false;
    hmi_parser_skip_newlines(p);
    return true;
}

bool hmi_parse_assignment_to(hmi_parser *p, hmi_ast *target, bool guesses, hmi_entry *entry)
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

/* Is there a name left of an =? A number there is most likely 1,5 for 1.5. */
static bool starts_with_name(hmi_parser *p)
{
    bool comma = p->previous.length == 1 && p->lexer.text[p->previous.start] == ',';
    if (hmi_parser_at_statement(p) && !hmi_parser_said_enough(p)) {
        hmi_error(p->context, p->previous, p->usage, "a name is missing after this");
        return false;
    }
    if (p->token.kind == HMI_TOK_NAME)
        return true;
    if (p->token.kind == HMI_TOK_NUMBER)
        p->usage = comma ? "decimals are written with a point: 1.5" : "a name starts with a letter";
    return hmi_parser_unexpected(p, "a name");
}

static hmi_ast *parse_target(hmi_parser *p)
{
    return starts_with_name(p) ? hmi_parse_postfix(p) : NULL;
}

bool hmi_parse_assignment_list(hmi_parser *p, bool guesses, hmi_entry **entries, size_t *count)
{
    hmi_entry_list list = {0};
    bool good;
    do {
        hmi_entry entry = {.word = HMI_NO_NAME};
        hmi_ast *target = parse_target(p);
        good = target && hmi_parse_assignment_to(p, target, guesses, &entry) &&
               hmi_push_entry(p, &list, entry);
    } while (good && hmi_next_entry(p));
    return hmi_keep_entries(p, &list, good, entries, count);
}

/* ---- names with the bounds of their indices ---- */

typedef HMI_ARRAY(hmi_ast *) bound_list;

/* lower .. upper, lower .. upper */
static bool parse_bound_pairs(hmi_parser *p, bound_list *list)
{
    const hm_allocator *allocator = &p->context->allocator;
    do {
        hmi_ast *lower = hmi_parse_expr(p);
        if (!lower || !hmi_parser_expect(p, HMI_TOK_RANGE, "the lower index"))
            return false;
        hmi_ast *upper = hmi_parse_expr(p);
        if (!upper)
            return false;
        if (!hmi_array_push(allocator, list, lower) || !hmi_array_push(allocator, list, upper))
            return hmi_parser_no_memory(p);
    } while (hmi_next_entry(p));
    p->brackets--;
    return hmi_parser_expect(p, HMI_TOK_RBRACKET, "the upper index");
}

static bool keep_bounds(hmi_parser *p, const bound_list *list, hmi_entry *entry)
{
    size_t size = list->count * sizeof *list->data;
    if (!(entry->bounds = hmi_parser_alloc(p, size)))
        return false;
    memcpy(entry->bounds, list->data, size);
    entry->index_count = (uint32_t)(list->count / 2);
    return true;
}

bool hmi_parse_declared(hmi_parser *p, const char *what, hmi_entry *entry)
{
    entry->target = hmi_parse_name(p, what);
    if (!entry->target)
        return false;
    entry->span = entry->target->span;
    if (p->token.kind != HMI_TOK_LBRACKET)
        return true;
    bound_list list = {0};
    p->bracket = p->token.span;
    p->brackets++;
    hmi_parser_advance(p);
    bool good = parse_bound_pairs(p, &list) && keep_bounds(p, &list, entry);
    hmi_array_release(&p->context->allocator, &list);
    entry->span = hmi_span_to(entry->span, p->previous);
    return good;
}

/* ---- texts and ranges ---- */

/* Between the quotes. */
static const char *take(hmi_parser *p, char *(*copy)(hmi_arena *, const char *, size_t))
{
    const char *text = copy(&p->tree->arena, p->lexer.text + p->token.span.start + 1,
                            p->token.span.length - 2);
    if (!text)
        hmi_parser_no_memory(p);
    hmi_parser_advance(p);
    return text;
}

const char *hmi_take_text(hmi_parser *p)
{
    return take(p, hmi_arena_shown);
}

const char *hmi_take_path(hmi_parser *p)
{
    return take(p, hmi_arena_text);
}

bool hmi_parse_note(hmi_parser *p, hmi_caption *note)
{
    if (hmi_parser_accept_word(p, "in")) {
        p->usage = "write a range as in 0 .. 10";
        if (!(note->low = hmi_parse_expr(p)) ||
            !hmi_parser_expect(p, HMI_TOK_RANGE, "the lower bound") ||
            !(note->high = hmi_parse_expr(p)))
            return false;
    }
    return p->token.kind != HMI_TOK_STRING || (note->text = hmi_take_text(p)) != NULL;
}

/* a = 1 or a[0..2] = [1, 2, 3], with a range and a text */
static bool parse_param(hmi_parser *p, hmi_entry *entry)
{
    return starts_with_name(p) && hmi_parse_declared(p, "a name", entry) &&
           hmi_parse_assignment_to(p, entry->target, false, entry) &&
           hmi_parse_note(p, &entry->note);
}

bool hmi_parse_coord(hmi_parser *p, hmi_statement *s)
{
    hmi_entry_list list = {0};
    bool good;
    do {
        hmi_entry entry = {.word = HMI_NO_NAME};
        good = hmi_parse_declared(p, "the name of a coordinate", &entry) &&
               hmi_parse_note(p, &entry.note) && hmi_push_entry(p, &list, entry);
    } while (good && hmi_next_entry(p));
    return hmi_keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

bool hmi_parse_params(hmi_parser *p, hmi_statement *s)
{
    hmi_entry_list list = {0};
    bool good;
    do {
        hmi_entry entry = {.word = HMI_NO_NAME};
        good = parse_param(p, &entry) && hmi_push_entry(p, &list, entry);
    } while (good && hmi_next_entry(p));
    return hmi_keep_entries(p, &list, good, &s->entries, &s->entry_count);
}

bool hmi_parse_assignments_of(hmi_parser *p, hmi_statement *s)
{
    return hmi_parse_assignment_list(p, false, &s->entries, &s->entry_count);
}
