/* Lists of entries: "x = 1, y ~ 2", and what all lists of statements share. */
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

bool hmi_parse_assignments_of(hmi_parser *p, hmi_statement *s)
{
    return hmi_parse_assignment_list(p, false, &s->entries, &s->entry_count);
}
