/* Comma-separated values: one row a line, cells may be in quotes, the first line may name the columns.
 * Empty lines and lines that begin with # are left out. What looks like another notation (semicolons,
 * decimal commas, tabs) is refused with what to write. */
#include "model/build/read_csv.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

enum { MOST_CELLS = 1000, SHOWN = 40 };

typedef struct reader {
    hmi_csv *csv;
    hm_context *context;
    uint32_t file;
    hmi_span statement;
    const char *text;
    size_t length, at;
    const hmi_csv_column *columns;
    size_t count;
    size_t wanted[HMI_MOST_TABLE_COLUMNS]; /* by column: its number in the file */
    size_t width;                          /* cells of a row; 0: not known yet */
    hmi_span cell[MOST_CELLS];             /* of the present row, without quotes and blanks */
    size_t cells;
} reader;

static const char *text_at(const reader *r, hmi_span cell)
{
    return r->text + cell.start;
}

/* ---- rows ---- */

static bool at_line_end(const reader *r)
{
    return r->at >= r->length || r->text[r->at] == '\n' || r->text[r->at] == '\r';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool take_quoted(reader *r, hmi_span *cell)
{
    size_t start = ++r->at;
    while (r->at < r->length && r->text[r->at] != '\n') {
        bool quote = r->text[r->at] == '"';
        if (quote && r->at + 1 < r->length && r->text[r->at + 1] == '"')
            r->at++;
        else if (quote) {
            *cell = (hmi_span){r->file, (uint32_t)start, (uint32_t)(r->at - start)};
            r->at++;
            return true;
        }
        r->at++;
    }
    hmi_error(r->context, (hmi_span){r->file, (uint32_t)(start - 1), 1}, NULL,
              "this quote is not closed");
    return false;
}

/* Up to a comma or the end of the line, which it leaves. */
static bool take_cell(reader *r, hmi_span *cell)
{
    while (!at_line_end(r) && is_blank(r->text[r->at]))
        r->at++;
    if (!at_line_end(r) && r->text[r->at] == '"') {
        if (!take_quoted(r, cell))
            return false;
        while (!at_line_end(r) && is_blank(r->text[r->at]))
            r->at++;
        if (at_line_end(r) || r->text[r->at] == ',')
            return true;
        hmi_error(r->context, (hmi_span){r->file, (uint32_t)r->at, 1}, NULL,
                  "a comma must follow the quoted cell");
        return false;
    }
    size_t start = r->at;
    while (!at_line_end(r) && r->text[r->at] != ',')
        r->at++;
    size_t end = r->at;
    while (end > start && is_blank(r->text[end - 1]))
        end--;
    *cell = (hmi_span){r->file, (uint32_t)start, (uint32_t)(end - start)};
    return true;
}

static void skip_line_end(reader *r)
{
    if (r->at < r->length && r->text[r->at] == '\r')
        r->at++;
    if (r->at < r->length && r->text[r->at] == '\n')
        r->at++;
}

/* To the next line with something in it; false at the end. */
static bool find_line(reader *r)
{
    while (r->at < r->length) {
        size_t start = r->at;
        while (!at_line_end(r) && is_blank(r->text[r->at]))
            r->at++;
        bool empty = at_line_end(r), comment = !empty && r->text[r->at] == '#';
        if (!empty && !comment) {
            r->at = start;
            return true;
        }
        while (!at_line_end(r))
            r->at++;
        skip_line_end(r);
    }
    return false;
}

/* Semicolons and tabs in a line without commas, or with commas inside of numbers. */
static bool check_separator(reader *r)
{
    for (size_t k = r->at; k < r->length && r->text[k] != '\n' && r->text[k] != '\r'; k++) {
        char c = r->text[k];
        if (c == '"')
            return true; /* quoted cells may hold anything */
        if (c != ';' && c != '\t')
            continue;
        hmi_error(r->context, (hmi_span){r->file, (uint32_t)k, 1},
                  "write commas between cells, and points in numbers: 1.5, 2.25",
                  "cells are separated by commas, not by %s", c == ';' ? "';'" : "tabs");
        return false;
    }
    return true;
}

static bool take_row(reader *r)
{
    r->cells = 0;
    if (!check_separator(r))
        return false;
    for (;;) {
        if (r->cells == MOST_CELLS) {
            hmi_error(r->context, (hmi_span){r->file, (uint32_t)r->at, 1}, NULL,
                      "more than %d cells in a row", MOST_CELLS);
            return false;
        }
        if (!take_cell(r, &r->cell[r->cells]))
            return false;
        r->cells++;
        if (at_line_end(r)) {
            skip_line_end(r);
            return true;
        }
        r->at++; /* the comma */
    }
}

/* ---- numbers ---- */

static size_t digits_from(const char *s, size_t length, size_t k)
{
    while (k < length && s[k] >= '0' && s[k] <= '9')
        k++;
    return k;
}

/* -1.5e-3, .5, 2. */
static bool read_number(const char *s, size_t length, double *value)
{
    size_t k = length && (s[0] == '-' || s[0] == '+') ? 1 : 0, start = k;
    size_t whole = digits_from(s, length, k);
    k = whole;
    size_t digits = whole - start;
    if (k < length && s[k] == '.') {
        k = digits_from(s, length, k + 1);
        digits += k - whole - 1;
    }
    if (digits == 0)
        return false;
    if (k < length && (s[k] == 'e' || s[k] == 'E')) {
        size_t sign = k + 1 < length && (s[k + 1] == '-' || s[k + 1] == '+') ? 2 : 1;
        size_t end = digits_from(s, length, k + sign);
        if (end == k + sign)
            return false;
        k = end;
    }
    if (k != length)
        return false;
    size_t plus = s[0] == '+' ? 1 : 0;
    *value = hmi_number_value(s + plus, length - plus);
    return isfinite(*value);
}

static bool is_number(const reader *r, hmi_span cell)
{
    double value;
    return read_number(text_at(r, cell), cell.length, &value);
}

static bool report_cell(reader *r, hmi_span cell)
{
    const char *s = text_at(r, cell);
    bool comma = cell.length && memchr(s, ',', cell.length);
    if (cell.length == 0)
        hmi_error(r->context, cell, NULL, "this cell is empty");
    else
        hmi_error(r->context, cell, comma ? "write a point in numbers: 1.5" : NULL,
                  "'%.*s' is not a finite number", cell.length < SHOWN ? (int)cell.length : SHOWN,
                  s);
    return false;
}

/* ---- the first line ---- */

static bool equals(const reader *r, hmi_span cell, const char *name)
{
    return strlen(name) == cell.length && memcmp(text_at(r, cell), name, cell.length) == 0;
}

/* A name that is spelt alike, or which there are. */
static const char *column_hint(reader *r, const char *wanted)
{
    const char *list = "the columns are:";
    for (size_t k = 0; k < r->cells; k++) {
        char name[64];
        size_t length = r->cell[k].length < 63 ? r->cell[k].length : 63;
        memcpy(name, text_at(r, r->cell[k]), length);
        name[length] = '\0';
        if (hmi_edit_distance(wanted, name, 2) <= 2)
            return hmi_context_printf(r->context, "did you mean '%s'?", name);
        if (list && k < 8)
            list = hmi_context_printf(r->context, "%s%s '%s'", list, k ? "," : "", name);
    }
    return list;
}

static bool find_column(reader *r, size_t k)
{
    const char *name = r->columns[k].name;
    size_t found = 0;
    for (size_t j = 0; j < r->cells; j++)
        if (equals(r, r->cell[j], name)) {
            r->wanted[k] = j;
            found++;
        }
    if (found == 1)
        return true;
    if (found > 1)
        hmi_error(r->context, r->columns[k].span, NULL, "the file has %zu columns '%s'", found,
                  name);
    else
        hmi_error(r->context, r->columns[k].span, column_hint(r, name),
                  "the file has no column '%s'", name);
    return false;
}

static bool choose_columns(reader *r, bool header)
{
    bool good = true;
    r->width = r->cells;
    if (!r->columns[0].name) {
        if (r->width == r->count)
            return true;
        if (r->width < r->count) {
            hmi_error(r->context, r->cell[r->cells - 1], NULL,
                      "this table needs %zu columns, the file has %zu", r->count, r->width);
            return false;
        }
        hmi_error(r->context, r->cell[r->count],
                  header ? "say which: columns \"a\", \"b\""
                         : "name them in the first line and say which: columns \"a\", \"b\"",
                  "this table needs %zu columns, the file has %zu", r->count, r->width);
        return false;
    }
    if (!header) {
        hmi_error(r->context, r->columns[0].span,
                  "write the names of the columns in the first line of the file",
                  "the file does not name its columns");
        return false;
    }
    for (size_t k = 0; k < r->count; k++)
        good = find_column(r, k) && good;
    return good;
}

/* ---- all rows ---- */

static bool keep_row(reader *r)
{
    hmi_csv *csv = r->csv;
    hmi_span last = r->cell[r->cells - 1];
    if (r->cells != r->width) {
        hmi_error(r->context, last, NULL, "this row has %zu cell%s, the first one has %zu",
                  r->cells, r->cells == 1 ? "" : "s", r->width);
        return false;
    }
    for (size_t k = 0; k < r->count; k++) {
        double value;
        hmi_span cell = r->cell[r->wanted[k]];
        if (!read_number(text_at(r, cell), cell.length, &value))
            return report_cell(r, cell);
        if (!hmi_array_push(&r->context->allocator, &csv->values, value) ||
            !hmi_array_push(&r->context->allocator, &csv->cells, cell)) {
            r->context->out_of_memory = true;
            return false;
        }
    }
    return true;
}

/* A first line with a cell that is no number, and is not empty, names the columns. */
static bool names_columns(const reader *r)
{
    for (size_t k = 0; k < r->cells; k++) {
        char first = r->cell[k].length ? text_at(r, r->cell[k])[0] : '0';
        bool digits = (first >= '0' && first <= '9') || first == '-' || first == '+' ||
                      first == '.';
        if (!digits && !is_number(r, r->cell[k]))
            return true;
    }
    return false;
}

static bool read_rows(reader *r)
{
    if (r->length >= 3 && memcmp(r->text, "\xEF\xBB\xBF", 3) == 0)
        r->at = 3; /* a byte order mark */
    if (!find_line(r)) {
        hmi_error(r->context, r->statement, NULL, "the file is empty");
        return false;
    }
    if (!take_row(r))
        return false;
    bool header = names_columns(r);
    if (!choose_columns(r, header) || (!header && !keep_row(r)))
        return false;
    while (find_line(r))
        if (!take_row(r) || !keep_row(r))
            return false;
    return true;
}

bool hmi_csv_read(hmi_csv *csv, hm_context *context, uint32_t file, hmi_span statement,
                  const hmi_csv_column *columns, size_t count)
{
    const hmi_source *source = hmi_context_source(context, file);
    *csv = (hmi_csv){.columns = count};
    reader *r = hmi_alloc(&context->allocator, sizeof *r);
    if (!r) {
        context->out_of_memory = true;
        return false;
    }
    *r = (reader){.csv = csv,
                  .context = context,
                  .file = file,
                  .statement = statement,
                  .text = source->text,
                  .length = source->length,
                  .columns = columns,
                  .count = count,
                  .wanted = {0, 1, 2}};
    bool good = read_rows(r);
    hmi_free(&context->allocator, r, sizeof *r);
    return good;
}

void hmi_csv_release(hmi_csv *csv, hm_context *context)
{
    hmi_array_release(&context->allocator, &csv->values);
    hmi_array_release(&context->allocator, &csv->cells);
}
