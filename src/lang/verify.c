/* The checks of verify.h, statement by statement. */
#include "lang/verify.h"

/* Deeper expressions, which the builder refuses, are not looked at: this recurses. */
enum { MOST_VERIFIED_DEPTH = 1000 };

static const char *verify_span(const hmi_tree *tree, hmi_span span, hmi_violation *violation)
{
    const hm_context *context = tree->context;
    return hmi_context_source(context, span.file) &&
                   (size_t)span.start + span.length <=
                       hmi_context_source(context, span.file)->length
               ? NULL
               : hmi_violated(violation, "bytes %u to %u are outside of source %u", span.start,
                              span.start + span.length, span.file);
}

static bool has_name(const hmi_tree *tree, int name)
{
    return name >= 0 && (size_t)name < tree->names.text.count;
}

/* Do name, number of items and operators fit the kind? */
static bool fits_kind(const hmi_tree *tree, const hmi_ast *e)
{
    switch ((hmi_ast_kind)e->kind) {
    case HMI_AST_NUMBER:
        return e->count == 0;
    case HMI_AST_NAME:
        return e->count == 0 && has_name(tree, e->name);
    case HMI_AST_CALL:
        return has_name(tree, e->name);
    case HMI_AST_INDEX:
        return e->count >= 1;
    case HMI_AST_PRIME:
    case HMI_AST_NEGATE:
    case HMI_AST_NOT:
        return e->count == 1;
    case HMI_AST_CHAIN:
        return e->count >= 2 && e->ops;
    case HMI_AST_POWER:
        return e->count == 2;
    case HMI_AST_LIST:
        return true;
    case HMI_AST_SUM:
    case HMI_AST_PROD:
        return e->count == 3 && has_name(tree, e->name);
    }
    return false;
}

static const char *verify_expression(const hmi_tree *tree, const hmi_ast *e, int depth,
                                     hmi_violation *violation)
{
    if (!e || depth > MOST_VERIFIED_DEPTH)
        return NULL;
    if (!fits_kind(tree, e))
        return hmi_violated(violation, "an expression of kind %u has %u items", e->kind, e->count);
    const char *found = verify_span(tree, e->span, violation);
    for (uint32_t i = 0; !found && i < e->count; i++)
        found = e->items[i] ? verify_expression(tree, e->items[i], depth + 1, violation)
                            : hmi_violated(violation, "item %u of an expression is missing", i);
    return found;
}

static const char *verify_statements(const hmi_tree *tree, const hmi_statement *first,
                                     uint32_t contains, int blocks, hmi_violation *violation);

static const char *verify_entry(const hmi_tree *tree, const hmi_entry *entry,
                                hmi_violation *violation)
{
    const hmi_ast *parts[] = {entry->target, entry->second, entry->value, entry->note.low,
                              entry->note.high};
    const char *found = NULL;
    for (size_t k = 0; !found && k < sizeof parts / sizeof *parts; k++)
        found = verify_expression(tree, parts[k], 0, violation);
    for (uint32_t k = 0; !found && k < 2 * entry->index_count; k++)
        found = verify_expression(tree, entry->bounds[k], 0, violation);
    return found;
}

static const char *verify_statement(const hmi_tree *tree, const hmi_statement *s, int blocks,
                                    hmi_violation *violation)
{
    const hmi_ast *parts[] = {s->label, s->first,    s->second,   s->third,
                              s->when,  s->note.low, s->note.high};
    const char *found = s->kind < HMI_STMT_COUNT
                            ? verify_span(tree, s->span, violation)
                            : hmi_violated(violation, "a statement of no kind (%d)", s->kind);
    for (size_t i = 0; !found && i < sizeof parts / sizeof *parts; i++)
        found = verify_expression(tree, parts[i], 0, violation);
    for (size_t i = 0; !found && i < s->entry_count; i++)
        found = verify_entry(tree, &s->entries[i], violation);
    return found ? found : verify_statements(tree, s->block, s->contains, blocks + 1, violation);
}

static const char *verify_statements(const hmi_tree *tree, const hmi_statement *first,
                                     uint32_t contains, int blocks, hmi_violation *violation)
{
    uint32_t kinds = 0;
    const char *found = NULL;
    if (first && blocks > HMI_MOST_BLOCKS)
        return hmi_violated(violation, "blocks nest more than %d deep", HMI_MOST_BLOCKS);
    for (const hmi_statement *s = first; s && !found; s = s->next) {
        found = verify_statement(tree, s, blocks, violation);
        kinds |= 1u << s->kind | s->contains;
    }
    if (!found && kinds != contains)
        found = hmi_violated(violation, "statements of the kinds %#x are said to be %#x", kinds,
                             contains);
    return found;
}

const char *hmi_tree_verify(const hmi_tree *tree, hmi_violation *violation)
{
    return verify_statements(tree, tree->statements, tree->contains, 0, violation);
}
