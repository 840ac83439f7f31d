/* CSV, read line by line into a table.
 *
 * Bytes arrive in pieces; a line is put together, split into fields, and becomes the header or a
 * row. The first error ends the reading, with the number of its line: a table with holes where lines
 * were bad would plot as something else. A torn last line, which a killed run leaves in its
 * .partial, is skipped with a warning.     Verified: test/unit/output/test_csv.c
 */
#include "base/argument.h"
#include "output/table/table.h"
#include "base/context.h"

#include <hamel/table.h>

#include <errno.h>
#include <math.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINE = 1 << 26, PIECE = 1 << 16 };

typedef struct reader {
    hm_context *context;
    const char *name;
    hmi_text line;
    long number;              /* of the line, from 1 */
    bool torn;                /* this is the last line and lacks its newline */
    HMI_ARRAY(char *) fields; /* into line.data, unquoted in place */
    HMI_ARRAY(double) values;
    hm_table *table; /* NULL until the header was read */
    hm_status status;
} reader;

static void refuse(reader *r, const char *hint, const char *what)
{
    if (r->torn) {
        hmi_warning(r->context, hmi_no_span, NULL,
                    "%s:%ld: the last line is incomplete and was ignored", r->name, r->number);
        return;
    }
    hmi_error(r->context, hmi_no_span, hint, "%s:%ld: %s", r->name, r->number, what);
    r->status = r->context->out_of_memory ? HM_ERR_NOMEM : HM_ERR_INPUT;
}

/* ---- fields ---- */

static char *skip_blanks(char *c)
{
    while (*c == ' ' || *c == '\t')
        c++;
    return c;
}

/* Reads a quoted field that begins at c, in place. Returns what follows it, NULL without an end. */
static char *unquote(char *c, char **field)
{
    char *out = *field = c;
    for (c++; *c; c++) {
        if (*c == '"' && c[1] != '"') {
            c = skip_blanks(c + 1);
            *out = '\0';
            return c;
        }
        c += *c == '"';
        *out++ = *c;
    }
    return NULL;
}

static char *plain_field(char *c, char **field)
{
    *field = c;
    return c + strcspn(c, ",");
}

static void trim_end(char *field)
{
    size_t length = strlen(field);
    while (length > 0 && (field[length - 1] == ' ' || field[length - 1] == '\t'))
        field[--length] = '\0';
}

static void split(reader *r)
{
    r->fields.count = 0;
    for (char *c = r->line.data;;) {
        char *field;
        c = skip_blanks(c);
        bool quoted = *c == '"';
        c = quoted ? unquote(c, &field) : plain_field(c, &field);
        if (!c || (*c != ',' && *c != '\0')) {
            refuse(r, NULL, c ? "text after a closing quote" : "a quote is not closed");
            r->fields.count = 0;
            return;
        }
        bool last = *c == '\0';
        *c++ = '\0';
        if (!quoted)
            trim_end(field);
        if (!hmi_array_push(&r->context->allocator, &r->fields, field)) {
            r->status = HM_ERR_NOMEM;
            return;
        }
        if (last)
            return;
    }
}

/* ---- numbers ---- */

static bool same_word(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a | 0x20) != *b)
            return false;
    return *a == *b;
}

static size_t count_digits(const char **c)
{
    const char *start = *c;
    while (**c >= '0' && **c <= '9')
        ++*c;
    return (size_t)(*c - start);
}

/* Digits, point, exponent: what hmi_number_value reads. */
static bool is_decimal(const char *c)
{
    size_t digits = count_digits(&c);
    if (*c == '.') {
        c++;
        digits += count_digits(&c);
    }
    if (digits && (*c == 'e' || *c == 'E')) {
        c += 1 + (c[1] == '+' || c[1] == '-');
        digits = count_digits(&c);
    }
    return digits > 0 && *c == '\0';
}

static bool read_number(const char *field, double *value)
{
    *value = NAN;
    if (*field == '\0' || same_word(field, "na"))
        return true;
    bool negative = *field == '-';
    field += *field == '-' || *field == '+';
    if (same_word(field, "nan"))
        return true;
    double size;
    if (same_word(field, "inf") || same_word(field, "infinity"))
        size = INFINITY;
    else if (is_decimal(field) && strlen(field) < 500)
        size = hmi_number_value(field, strlen(field));
    else
        return false;
    *value = negative ? -size : size;
    return true;
}

/* ---- lines ---- */

static void read_header(reader *r)
{
    const hm_allocator *allocator = &r->context->allocator;
    double ignored;
    if (read_number(r->fields.data[0], &ignored) && r->fields.data[0][0]) {
        refuse(r, "the first line must name the columns, as in t,x,x'",
               "the header line is missing");
        return;
    }
    r->status = hm_table_create(allocator, r->fields.count, (const char *const *)r->fields.data,
                                &r->table);
    if (r->status == HM_OK && !hmi_array_reserve(allocator, &r->values, r->fields.count))
        r->status = HM_ERR_NOMEM;
    for (size_t i = 0; r->status == HM_OK && i < r->fields.count; i++)
        if (hm_table_find(r->table, r->fields.data[i]) != i) {
            char what[160];
            snprintf(what, sizeof what, "two columns are called '%.100s'", r->fields.data[i]);
            refuse(r, NULL, what);
        }
}

static void read_row(reader *r)
{
    char what[200];
    size_t columns = hm_table_column_count(r->table);
    if (r->fields.count != columns) {
        snprintf(what, sizeof what, "%zu values, but the header names %zu columns", r->fields.count,
                 columns);
        refuse(r, NULL, what);
        return;
    }
    for (size_t i = 0; i < columns; i++)
        if (!read_number(r->fields.data[i], &r->values.data[i])) {
            snprintf(what, sizeof what, "'%.60s' in column %.60s is not a number",
                     r->fields.data[i], hm_table_name(r->table, i));
            refuse(r, NULL, what);
            return;
        }
    r->status = hm_table_add_row(r->table, r->values.data);
}

static void end_line(reader *r)
{
    r->number++;
    while (r->line.length && r->line.data[r->line.length - 1] == '\r')
        r->line.data[--r->line.length] = '\0';
    if (r->line.length == 0)
        return;
    if (strlen(r->line.data) != r->line.length) {
        refuse(r, NULL, "not a text file");
        return;
    }
    if (!r->table && strncmp(r->line.data, "\xEF\xBB\xBF", 3) == 0)
        memmove(r->line.data, r->line.data + 3, r->line.length - 2); /* a byte-order mark */
    split(r);
    if (r->status == HM_OK && r->fields.count > 0)
        r->table ? read_row(r) : read_header(r);
    r->line.length = 0;
}

static void feed(reader *r, const char *bytes, size_t length)
{
    while (length > 0 && r->status == HM_OK) {
        const char *newline = memchr(bytes, '\n', length);
        size_t piece = newline ? (size_t)(newline - bytes) : length;
        hmi_text_add_bytes(&r->line, bytes, piece);
        if (r->line.failed)
            r->status = HM_ERR_NOMEM;
        else if (r->line.length > MOST_LINE) {
            r->number++;
            refuse(r, NULL, "the line is too long");
        } else if (newline)
            end_line(r);
        piece += newline != NULL;
        bytes += piece;
        length -= piece;
    }
}

/* The last line may lack its newline; where it is torn, that is the mark of a killed run. */
static void finish(reader *r)
{
    r->torn = r->table != NULL;
    if (r->status == HM_OK && r->line.length > 0)
        end_line(r);
    if (r->status == HM_OK && !r->table) {
        r->number = 1;
        r->torn = false;
        refuse(r, NULL, "the file is empty");
    }
}

static hm_status close_reader(reader *r, hm_table **table)
{
    const hm_allocator *allocator = &r->context->allocator;
    hmi_array_release(allocator, &r->fields);
    hmi_array_release(allocator, &r->values);
    hmi_text_release(&r->line);
    if (r->status == HM_OK) {
        r->table->owner = hmi_context_share(r->context);
        *table = r->table;
    } else
        hm_table_destroy(r->table);
    return r->status;
}

static void open_reader(reader *r, hm_context *context, const char *name)
{
    *r = (reader){.context = context, .name = name};
    hmi_text_init(&r->line, &context->allocator);
}

hm_status hm_table_parse_csv(hm_context *context, const char *name, const char *text, size_t length,
                             hm_table **table)
{
    HMI_ARGUMENT(context, context && name && table && (text || length == 0),
                 "a context, a name and a text are needed");
    reader r;
    open_reader(&r, context, name);
    feed(&r, text, length);
    finish(&r);
    return close_reader(&r, table);
}

static hm_status cannot_read(hm_context *context, const char *path)
{
    hmi_error(context, hmi_no_span, NULL, "cannot read '%s': %s", path, strerror(errno));
    return HM_ERR_IO;
}

hm_status hm_table_load_csv(hm_context *context, const char *path, hm_table **table)
{
    HMI_ARGUMENT(context, context && path && table, "a context and a path are needed");
    int file = open(path, O_RDONLY | O_CLOEXEC); /* fopen's buffer would not be the allocator's */
    if (file < 0)
        return cannot_read(context, path);
    reader r;
    open_reader(&r, context, path);
    char piece[PIECE];
    ssize_t got = 1;
    while (r.status == HM_OK && got != 0) {
        got = read(file, piece, sizeof piece);
        if (got > 0)
            feed(&r, piece, (size_t)got);
        else if (got < 0 && errno != EINTR)
            r.status = cannot_read(context, path);
    }
    finish(&r);
    close(file);
    return close_reader(&r, table);
}
