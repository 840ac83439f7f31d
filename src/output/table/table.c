/* Adds rows to a table and finds columns by name. Verified: test/unit/output/test_csv.c */
#include "base/argument.h"
#include "output/table/table.h"

#include "base/text.h"

#include <string.h>

bool hmi_names_are_valid(size_t columns, const char *const *names)
{
    if (columns == 0 || columns > SIZE_MAX / 64 || !names)
        return false;
    for (size_t i = 0; i < columns; i++)
        if (!names[i])
            return false;
    return true;
}

static bool set_names(hm_table *table, const char *const *names)
{
    table->name = hmi_alloc(&table->allocator, table->columns * sizeof *table->name);
    table->text = hmi_alloc(&table->allocator, table->columns * sizeof *table->text);
    table->first = hmi_alloc(&table->allocator, table->columns * sizeof *table->first);
    if (!table->name || !table->text || !table->first)
        return false;
    for (size_t i = 0; i < table->columns; i++)
        table->text[i] = NULL;
    for (size_t i = 0; i < table->columns; i++) {
        size_t known = table->names.text.count;
        int id = hmi_names_intern(&table->names, names[i], strlen(names[i]));
        if (id == HMI_NO_NAME)
            return false;
        table->name[i] = hmi_names_text(&table->names, id);
        if ((size_t)id == known)
            table->first[id] = i;
    }
    return true;
}

hm_status hm_table_create(const hm_allocator *allocator, size_t columns, const char *const *names,
                          hm_table **table)
{
    HMI_ARGUMENT(NULL,
                 table && hmi_allocator_is_valid(allocator) && hmi_names_are_valid(columns, names),
                 "names of columns are needed");
    hm_allocator memory = allocator ? *allocator : hm_allocator_default();
    hm_table *made = hmi_alloc(&memory, sizeof *made);
    if (!made)
        return HM_ERR_NOMEM;
    *made = (hm_table){.allocator = memory, .columns = columns};
    hmi_names_init(&made->names, &made->allocator);
    hmi_names_init(&made->texts, &made->allocator);
    if (!set_names(made, names)) {
        hm_table_destroy(made);
        return HM_ERR_NOMEM;
    }
    *table = made;
    return HM_OK;
}

void hm_table_destroy(hm_table *table)
{
    if (!table)
        return;
    hm_allocator memory = table->allocator;
    hmi_free(&memory, table->data, table->columns * table->capacity * sizeof *table->data);
    hmi_free(&memory, table->name, table->columns * sizeof *table->name);
    hmi_free(&memory, table->text, table->columns * sizeof *table->text);
    hmi_free(&memory, table->first, table->columns * sizeof *table->first);
    hmi_names_release(&table->names);
    hmi_names_release(&table->texts);
    hm_context *owner = table->owner;
    hmi_free(&memory, table, sizeof *table);
    if (owner)
        hm_context_destroy(owner);
}

/* Twice the rows; the old columns are copied to where the new ones begin. */
static bool grow(hm_table *table)
{
    size_t wanted = table->capacity ? 2 * table->capacity : 256;
    if (table->columns && wanted > SIZE_MAX / 2 / sizeof(double) / table->columns)
        return false;
    double *data = hmi_alloc(&table->allocator, table->columns * wanted * sizeof *data);
    if (!data)
        return false;
    for (size_t c = 0; table->rows && c < table->columns; c++)
        memcpy(data + c * wanted, table->data + c * table->capacity, table->rows * sizeof *data);
    hmi_free(&table->allocator, table->data,
             table->columns * table->capacity * sizeof *table->data);
    table->data = data;
    table->capacity = wanted;
    return true;
}

hm_status hm_table_add_row(hm_table *table, const double *values)
{
    HMI_ARGUMENT(NULL, table && values, "a table and values are needed");
    if (table->rows == table->capacity && !grow(table))
        return HM_ERR_NOMEM;
    for (size_t c = 0; c < table->columns; c++)
        table->data[c * table->capacity + table->rows] = values[c];
    table->rows++;
    return HM_OK;
}

size_t hm_table_row_count(const hm_table *table)
{
    if (!table)
        return 0;
    return table->rows;
}

size_t hm_table_column_count(const hm_table *table)
{
    if (!table)
        return 0;
    return table->columns;
}

const char *hm_table_name(const hm_table *table, size_t column)
{
    if (!table || column >= table->columns)
        return NULL;
    return table->name[column];
}

hm_status hm_table_set_text(hm_table *table, size_t column, const char *text)
{
    HMI_ARGUMENT(NULL, table && text && column < table->columns, "there is no such column");
    int id = hmi_names_intern(&table->texts, text, strlen(text));
    if (id == HMI_NO_NAME)
        return HM_ERR_NOMEM;
    table->text[column] = hmi_names_text(&table->texts, id);
    return HM_OK;
}

const char *hm_table_text(const hm_table *table, size_t column)
{
    if (!table || column >= table->columns)
        return NULL;
    return table->text[column] ? table->text[column] : table->name[column];
}

const double *hm_table_column(const hm_table *table, size_t column)
{
    if (!table || column >= table->columns)
        return NULL;
    return table->data ? table->data + column * table->capacity : NULL; /* no rows yet */
}

size_t hm_table_find(const hm_table *table, const char *name)
{
    if (!table || !name)
        return HM_NO_COLUMN;
    int id = hmi_names_find(&table->names, name, strlen(name));
    return id == HMI_NO_NAME ? HM_NO_COLUMN : table->first[id];
}

const char *hm_table_suggest(const hm_table *table, const char *name)
{
    if (!table || !name)
        return NULL;
    size_t length = strlen(name);
    int most = length <= 2 ? 1 : length <= 6 ? 2 : 3;
    const char *best = NULL;
    for (size_t i = 0; i < table->columns; i++) {
        int distance = hmi_edit_distance(name, table->name[i], most);
        if (distance <= most && strlen(table->name[i]) > (size_t)distance) {
            best = table->name[i];
            most = distance - 1;
        }
    }
    return best;
}
