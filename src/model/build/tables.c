/* The statement `table`: functions given at nodes (expr/graph/table.h), written in rows or in a file. */
#include "model/build/read_csv.h"
#include "model/build/statements.h"

#include "base/sort.h"

#include <math.h>
#include <string.h>

/* The rows of a table, with a place for messages about each cell. */
typedef struct rows {
    const double *values;  /* count x columns */
    const hmi_span *cells; /* likewise */
    size_t count, columns;
} rows;

static bool is_word(const hmi_builder *b, const hmi_entry *entry, const char *word)
{
    return strcmp(hmi_names_text(&b->tree->names, entry->word), word) == 0;
}

/* ---- the head: f(x) or f(x, y), and the words behind the rows ---- */

static bool check_head(hmi_builder *b, const hmi_ast *head)
{
    if (head->kind != HMI_AST_CALL || head->count < 1 || head->count > 2) {
        hmi_error(b->context, head->span, "write table f(x) or table f(x, y)",
                  "a table is a function of one or two arguments");
        return false;
    }
    const char *name = hmi_names_text(&b->tree->names, head->name);
    if (hmi_is_function(name) && !hmi_function_yields(name)) {
        hmi_error(b->context, head->span, "choose another name", "'%s' is a built-in function",
                  name);
        return false;
    }
    for (uint32_t k = 0; k < head->count; k++)
        if (head->items[k]->kind != HMI_AST_NAME) {
            hmi_error(b->context, head->items[k]->span, "write table f(x)",
                      "an argument of a table is a plain name");
            return false;
        }
    if (head->count == 2 && head->items[0]->name == head->items[1]->name) {
        hmi_error(b->context, head->items[1]->span, "choose another name",
                  "two arguments have the same name");
        return false;
    }
    return true;
}

/* 1 + the number of the word among these, or 0. */
static int number_of_word(const hmi_builder *b, const hmi_entry *e, const char *const words[3])
{
    for (int k = 0; k < 3; k++)
        if (is_word(b, e, words[k]))
            return k + 1;
    return 0;
}

static bool take_once(hmi_builder *b, const hmi_entry *e, int value, int *kept)
{
    if (*kept == 0)
        *kept = value;
    else
        hmi_error(b->context, e->span, "write one of them", "a second word of this kind");
    return *kept == value;
}

static bool read_words(hmi_builder *b, const hmi_statement *s, hmi_table *table)
{
    static const char *const kinds[3] = {"linear", "cubic", "monotone"};
    static const char *const outsides[3] = {"hold", "extend", "periodic"};
    int kind = 0, outside = 0;
    for (size_t i = 0; i < s->entry_count; i++) {
        const hmi_entry *e = &s->entries[i];
        int k = number_of_word(b, e, kinds), o = number_of_word(b, e, outsides);
        if ((k && !take_once(b, e, k, &kind)) || (o && !take_once(b, e, o, &outside)))
            return false;
        if (k == 3 && table->arguments == 2) {
            hmi_error(b->context, e->span, "write linear or cubic",
                      "a table of two arguments cannot be monotone");
            return false;
        }
    }
    table->kind = kind ? (hmi_table_kind)(kind - 1) : HMI_TABLE_LINEAR;
    table->outside = (hmi_table_outside)outside;
    return true;
}

/* The names behind `columns`; false after reporting. */
static bool read_columns(hmi_builder *b, const hmi_statement *s, size_t count,
                         hmi_csv_column columns[HMI_MOST_TABLE_COLUMNS])
{
    size_t given = 0;
    const hmi_entry *last = NULL;
    for (size_t i = 0; i < s->entry_count; i++) {
        const hmi_entry *e = &s->entries[i];
        if (!is_word(b, e, "columns"))
            continue;
        if (given < count)
            columns[given] = (hmi_csv_column){e->note.text, e->span};
        given++;
        last = e;
    }
    if (given == 0 || given == count)
        return true;
    hmi_error(b->context, last->span,
              count == 2 ? "write columns \"x\", \"y\"" : "write columns \"x\", \"y\", \"z\"",
              "this table has %zu columns, %zu %s named", count, given, given == 1 ? "is" : "are");
    return false;
}

/* ---- checks of rows ---- */

static bool check_count(hmi_builder *b, const hmi_statement *s, const rows *r)
{
    if (r->count >= 2)
        return true;
    hmi_error(b->context, s->span, NULL, "a table needs at least two rows, this one has %zu",
              r->count);
    return false;
}

static bool check_increasing(hmi_builder *b, const rows *r)
{
    for (size_t k = 1; k < r->count; k++) {
        double before = r->values[(k - 1) * r->columns], x = r->values[k * r->columns];
        if (x > before)
            continue;
        hmi_error(b->context, r->cells[k * r->columns], NULL,
                  "the first column must increase: %.12g comes after %.12g", x, before);
        return false;
    }
    return true;
}

static bool nearly_equal(double a, double b, double size)
{
    return fabs(a - b) <= 1e-12 * size;
}

static double largest(const double *values, size_t count)
{
    double most = 0;
    for (size_t k = 0; k < count; k++)
        most = fmax(most, fabs(values[k]));
    return most;
}

static bool report_period(hmi_builder *b, const rows *r, size_t row, double first, double last)
{
    hmi_error(b->context, r->cells[row * r->columns + r->columns - 1],
              "repeat the first value at the end of the period",
              "a periodic table ends with its first value: %.12g, not %.12g", first, last);
    return false;
}

/* ---- one argument ---- */

static bool build_line(hmi_builder *b, const rows *r, hmi_table *table)
{
    double *knots = hmi_model_alloc(b, r->count * sizeof *knots);
    double *values = hmi_model_alloc(b, r->count * sizeof *values);
    if (!knots || !values || !check_increasing(b, r))
        return false;
    for (size_t k = 0; k < r->count; k++) {
        knots[k] = r->values[2 * k];
        values[k] = r->values[2 * k + 1];
    }
    table->axis[0] = (hmi_table_axis){.knot = knots, .count = r->count};
    table->axis[1] = (hmi_table_axis){.count = 1};
    if (table->outside == HMI_OUTSIDE_PERIODIC) {
        double *last = &values[r->count - 1];
        if (!nearly_equal(values[0], *last, largest(values, r->count)))
            return report_period(b, r, r->count - 1, values[0], *last);
        *last = values[0];
    }
    return hmi_table_build(table, values, &b->model->arena) == HM_OK || hmi_no_memory(b);
}

/* ---- two arguments: a full grid, in any order of rows ---- */

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The different values of a column, in order. */
static bool make_axis(hmi_builder *b, const rows *r, size_t column, hmi_table_axis *axis)
{
    double *knots = hmi_model_alloc(b, r->count * sizeof *knots);
    size_t count = 0;
    if (!knots)
        return false;
    for (size_t k = 0; k < r->count; k++)
        knots[k] = r->values[k * r->columns + column];
    hmi_sort(knots, r->count, sizeof *knots, by_value);
    for (size_t k = 0; k < r->count; k++)
        if (count == 0 || knots[k] != knots[count - 1])
            knots[count++] = knots[k];
    *axis = (hmi_table_axis){.knot = knots, .count = count};
    return true;
}

static size_t index_of(const hmi_table_axis *axis, double x)
{
    size_t low = 0, high = axis->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (axis->knot[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool check_grid(hmi_builder *b, const hmi_statement *s, const hmi_table *table)
{
    size_t nx = table->axis[0].count, ny = table->axis[1].count;
    if (nx < 2 || ny < 2) {
        hmi_error(b->context, s->span, NULL,
                  "a grid needs at least two different values of each argument, this one has %zu "
                  "and %zu",
                  nx, ny);
        return false;
    }
    return true;
}

/* Puts every row at its node; reports nodes that are given twice or not at all. */
static bool place_rows(hmi_builder *b, const hmi_statement *s, const rows *r,
                       const hmi_table *table, double *values)
{
    size_t nx = table->axis[0].count, ny = table->axis[1].count;
    for (size_t k = 0; k < nx * ny; k++)
        values[k] = NAN;
    for (size_t k = 0; k < r->count; k++) {
        const double *row = r->values + 3 * k;
        size_t i = index_of(&table->axis[0], row[0]), j = index_of(&table->axis[1], row[1]);
        if (!isnan(values[i * ny + j])) {
            hmi_error(b->context, r->cells[3 * k], NULL, "the node %.12g, %.12g is given twice",
                      row[0], row[1]);
            return false;
        }
        values[i * ny + j] = row[2];
    }
    for (size_t k = 0; k < nx * ny; k++)
        if (isnan(values[k])) {
            hmi_error(b->context, s->span, "rows x, y, z must cover every x with every y",
                      "the grid is not full: there is no row for %.12g, %.12g",
                      table->axis[0].knot[k / ny], table->axis[1].knot[k % ny]);
            return false;
        }
    return true;
}

static bool close_periods(hmi_builder *b, const rows *r, const hmi_table *table, double *values)
{
    size_t nx = table->axis[0].count, ny = table->axis[1].count;
    double size = largest(values, nx * ny);
    for (size_t k = 0; k < nx + ny; k++) {
        double *first = k < nx ? &values[k * ny] : &values[k - nx];
        double *last = k < nx ? first + ny - 1 : first + (nx - 1) * ny;
        if (!nearly_equal(*first, *last, size))
            return report_period(b, r, r->count - 1, *first, *last);
        *last = *first;
    }
    return true;
}

static bool build_grid(hmi_builder *b, const hmi_statement *s, const rows *r, hmi_table *table)
{
    if (!make_axis(b, r, 0, &table->axis[0]) || !make_axis(b, r, 1, &table->axis[1]) ||
        !check_grid(b, s, table))
        return false;
    size_t nodes = table->axis[0].count * table->axis[1].count;
    if (nodes > 4 * r->count && nodes > 1000000) {
        hmi_error(b->context, s->span, "rows x, y, z must cover every x with every y",
                  "the grid is not full: %zu rows for %zu nodes", r->count, nodes);
        return false;
    }
    double *values = hmi_builder_alloc(b, nodes * sizeof *values);
    if (!values || !place_rows(b, s, r, table, values))
        return false;
    if (table->outside == HMI_OUTSIDE_PERIODIC && !close_periods(b, r, table, values))
        return false;
    return hmi_table_build(table, values, &b->model->arena) == HM_OK || hmi_no_memory(b);
}

static bool build_rows(hmi_builder *b, const hmi_statement *s, const rows *r, hmi_table *table)
{
    if (!check_count(b, s, r))
        return false;
    return table->arguments == 1 ? build_line(b, r, table) : build_grid(b, s, r, table);
}

/* ---- where rows come from ---- */

static bool build_from_file(hmi_builder *b, const hmi_statement *s, hmi_table *table)
{
    hmi_csv csv = {0};
    hmi_csv_column columns[HMI_MOST_TABLE_COLUMNS] = {{0}};
    size_t count = (size_t)table->arguments + 1;
    bool good = read_columns(b, s, count, columns) &&
                hmi_csv_read(&csv, b->context, s->file, s->span, columns, count);
    const rows r = {csv.values.data, csv.cells.data, good ? csv.values.count / count : 0, count};
    good = good && build_rows(b, s, &r, table);
    hmi_csv_release(&csv, b->context);
    return good;
}

static bool refuse_columns(hmi_builder *b, const hmi_statement *s)
{
    for (size_t i = 0; i < s->entry_count; i++)
        if (is_word(b, &s->entries[i], "columns")) {
            hmi_error(b->context, s->entries[i].span, NULL, "columns are named for a file only");
            return false;
        }
    return true;
}

/* Where each number was written, as far as the rows are written out. */
static hmi_span cell_span(const hmi_ast *list, size_t i, size_t j)
{
    if (list->kind != HMI_AST_LIST || i >= list->count)
        return list->span;
    const hmi_ast *row = list->items[i];
    return row->kind == HMI_AST_LIST && j < row->count ? row->items[j]->span : row->span;
}

static bool build_from_list(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                            hmi_table *table)
{
    hmi_value list;
    char shape[HMI_SHAPE_TEXT];
    size_t columns = (size_t)table->arguments + 1;
    if (!refuse_columns(b, s) || !hmi_build_value(b, s->first, scope, &list))
        return false;
    if (list.rank != 2 || list.columns != columns) {
        hmi_error(b->context, s->first->span,
                  columns == 2 ? "write [[x0, y0], [x1, y1], ...]"
                               : "write [[x, y, z], [x, y, z], ...]",
                  "the rows of this table have %zu numbers each, not %s", columns,
                  hmi_shape_text(&list, shape));
        return false;
    }
    size_t count = list.rows * columns;
    double *values = hmi_builder_alloc(b, count * sizeof *values);
    hmi_span *cells = hmi_builder_alloc(b, count * sizeof *cells);
    for (size_t k = 0; values && cells && k < count; k++) {
        cells[k] = cell_span(s->first, k / columns, k % columns);
        if (!hmi_fixed_number_of(b, hmi_value_item(&list, k), cells[k], "a number of a table",
                                 &values[k]))
            return false;
    }
    const rows r = {values, cells, list.rows, columns};
    return values && cells && build_rows(b, s, &r, table);
}

/* ---- the statement ---- */

static size_t count_tables(const hmi_statement *s)
{
    size_t count = 0;
    for (; s; s = s->next)
        count += s->kind == HMI_STMT_TABLE;
    return count;
}

/* All tables of a model are one array, in the order of their statements. */
static hmi_table *new_table(hmi_builder *b)
{
    hm_model *model = b->model;
    if (!model->tables) {
        size_t count = count_tables(b->tree->statements);
        model->tables = hmi_model_alloc(b, count * sizeof *model->tables);
    }
    return model->tables ? &model->tables[model->table_count] : NULL;
}

/* The name with \\_ for every _. */
static const char *escaped(hmi_builder *b, const char *text)
{
    char *copy = hmi_model_alloc(b, 2 * strlen(text) + 1), *to = copy;
    for (; copy && *text; text++) {
        if (*text == '_')
            *to++ = '\\';
        *to++ = *text;
    }
    if (copy)
        *to = '\0';
    return copy;
}

bool hmi_build_table(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope)
{
    const hmi_ast *head = s->label;
    if (!check_head(b, head))
        return hmi_declare_failed(b, head);
    hmi_ast name = *head;
    const char *text = hmi_names_text(&b->tree->names, head->name);
    name.span.length = (uint32_t)strlen(text);
    hmi_table *table = new_table(b);
    if (!table)
        return false;
    *table = (hmi_table){.number = (int)b->model->table_count,
                         .arguments = (int)head->count,
                         .name = hmi_arena_text(&b->model->arena, text, strlen(text))};
    table->latex = escaped(b, text);
    bool good = table->name && table->latex && read_words(b, s, table) &&
                (s->first ? build_from_list(b, s, scope, table) : build_from_file(b, s, table));
    if (!good)
        return hmi_declare_failed(b, &name);
    hmi_binding *slot = hmi_declare(b, &name, "table");
    if (!slot)
        return false;
    slot->kind = HMI_BIND_TABLE;
    slot->table = table;
    b->model->table_count++;
    return true;
}
