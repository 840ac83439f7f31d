/* What the names of a model mean, kept for editors: the shaped value of every declared name, which the
 * model itself does not need once its statements are evaluated. */
#include "model/build/statements.h"

#include <string.h>

/* Rows and columns of a family: with one index a vector, with two a matrix, with more a list. */
static void shape_family(const hmi_binding *family, size_t *rows, size_t *columns)
{
    *rows = *columns = 1;
    for (uint32_t k = 0; k < family->index_count; k++) {
        size_t count = (size_t)(family->bounds[k].upper - family->bounds[k].lower + 1);
        *(k == 1 && family->index_count == 2 ? columns : rows) *= count;
    }
}

static bool keep_family(hmi_builder *b, const hmi_binding *family, hmi_meaning *meaning)
{
    shape_family(family, &meaning->rows, &meaning->columns);
    size_t count = meaning->rows * meaning->columns;
    if (count == 0)
        return true;
    meaning->items = hmi_arena_alloc(&b->model->arena, count * sizeof *meaning->items);
    for (size_t k = 0; meaning->items && k < count; k++)
        meaning->items[k] = hmi_symbol(b->graph, family->symbol, family->first + (uint32_t)k);
    return meaning->items != NULL;
}

static bool keep_value(hmi_builder *b, const hmi_value *value, hmi_meaning *meaning)
{
    size_t count = hmi_value_count(value);
    meaning->rows = value->rows;
    meaning->columns = value->columns;
    if (count == 0)
        return true;
    meaning->items = hmi_arena_alloc(&b->model->arena, count * sizeof *meaning->items);
    for (size_t k = 0; meaning->items && k < count; k++)
        meaning->items[k] = hmi_value_item(value, k);
    return meaning->items != NULL;
}

static bool keep_binding(hmi_builder *b, const hmi_binding *binding, hmi_meaning *meaning)
{
    const hmi_let *let = binding->let;
    switch (binding->kind) {
    case HMI_BIND_VALUE:
        return keep_value(b, &binding->value, meaning);
    case HMI_BIND_FAMILY:
        return keep_family(b, binding, meaning);
    case HMI_BIND_LET:
        meaning->what = let->target->kind == HMI_AST_CALL ? "function" : "named expression";
        return let->target->kind == HMI_AST_CALL || let->progress != HMI_LET_DONE ||
               keep_value(b, &let->value, meaning);
    case HMI_BIND_MEMBERS:
        meaning->what = "family of named expressions";
        return true;
    default:
        return true;
    }
}

void hmi_keep_meanings(hmi_builder *b)
{
    for (size_t i = 0; i < b->globals.count; i++) {
        const hmi_binding *binding = &b->globals.data[i];
        if (binding->kind == HMI_BIND_NONE || binding->kind == HMI_BIND_FAILED)
            continue;
        const char *name = hmi_names_text(&b->tree->names, (int)i);
        hmi_meaning meaning = {.what = binding->what};
        meaning.name = hmi_arena_text(&b->model->arena, name, strlen(name));
        if (!meaning.name || !keep_binding(b, binding, &meaning) ||
            !hmi_array_push(&b->context->allocator, &b->model->meanings, meaning)) {
            hmi_no_memory(b);
            return;
        }
    }
}
