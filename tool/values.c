/* Writes vectors and matrices as JSON and as aligned text. */
#include "values.h"

#include <math.h>
#include <stdlib.h>

enum { DENSE_MOST = 200 };

json_t *json_number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

void set_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, text ? json_string(text) : json_null());
}

void set_number(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, json_number_or_null(value));
}

void set_count(json_t *object, const char *key, json_int_t count)
{
    json_object_set_new(object, key, json_integer(count));
}

json_t *json_vector(const double *values, size_t count)
{
    if (!values)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_number_or_null(values[i]));
    return list;
}

static json_t *json_dense(const hm_matrix *matrix)
{
    double *dense = memory_new(1, (matrix->rows * matrix->columns + 1) * sizeof *dense);
    json_t *rows = json_array();
    if (!dense || !rows) {
        free(dense);
        return rows;
    }
    hm_matrix_dense(matrix, dense);
    for (size_t i = 0; i < matrix->rows; i++)
        json_array_append_new(rows, json_vector(dense + i * matrix->columns, matrix->columns));
    free(dense);
    return rows;
}

static void append_entry(json_t *entries, size_t i, size_t j, double value)
{
    json_t *entry = json_array();
    json_array_append_new(entry, json_integer((json_int_t)i));
    json_array_append_new(entry, json_integer((json_int_t)j));
    json_array_append_new(entry, json_number_or_null(value));
    json_array_append_new(entries, entry);
}

static json_t *json_sparse(const hm_matrix *matrix)
{
    json_t *entries = json_array();
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t k = matrix->row_start[i]; k < matrix->row_start[i + 1]; k++) {
            append_entry(entries, i, matrix->column[k], matrix->value[k]);
            if (matrix->lower && matrix->column[k] != i)
                append_entry(entries, matrix->column[k], i, matrix->value[k]);
        }
    return json_pack("{s:I, s:I, s:o}", "rows", (json_int_t)matrix->rows, "cols",
                     (json_int_t)matrix->columns, "entries", entries);
}

json_t *json_matrix(const hm_matrix *matrix, size_t coordinates)
{
    return coordinates > DENSE_MOST ? json_sparse(matrix) : json_dense(matrix);
}

/* Characters that cannot be seen are escapes in JSON, too; jansson writes whole characters at a time. */
static int write_json(const char *bytes, size_t length, void *user)
{
    size_t from = 0;
    (void)user;
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)bytes[i];
        int size = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        uint32_t character = size == 1 ? c : c & (0xFFu >> (size + 1));
        for (int k = 1; k < size && i + (size_t)k < length; k++)
            character = character << 6 | ((unsigned char)bytes[i + (size_t)k] & 0x3Fu);
        if ((size > 1 || c == 0x7F) && hm_character_hidden(character)) {
            fwrite(bytes + from, 1, i - from, stdout);
            from = i + (size_t)size;
            if (character < 0x10000)
                printf("\\u%04X", (unsigned)character);
            else
                printf("\\u%04X\\u%04X", (unsigned)(0xD800 + ((character - 0x10000) >> 10)),
                       (unsigned)(0xDC00 + (character & 0x3FF)));
        }
        i += (size_t)size;
    }
    if (from < length)
        fwrite(bytes + from, 1, length - from, stdout);
    return ferror(stdout) ? -1 : 0;
}

bool json_print(json_t *value)
{
    const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(17);
    if (memory_failed()) /* something is missing in it */
        return false;
    return value && json_dump_callback(value, write_json, NULL, flags) == 0 && putchar('\n') != EOF;
}

/* ---- text ---- */

enum { MOST_LISTED = 60, MOST_COLUMNS = 8 };

double positive_zero(double value)
{
    return value == 0 ? 0 : value;
}

void print_vector(const hm_model *model, const char *title, const double *values)
{
    size_t n = hm_model_coordinate_count(model);
    if (!values)
        return;
    printf("%s\n", title);
    for (size_t i = 0; i < n && i < MOST_LISTED; i++)
        printf("    %-12s %22.15g\n", hm_model_coordinate_name(model, i), positive_zero(values[i]));
    if (n > MOST_LISTED)
        printf("    ... and %zu more (--json gives all)\n", n - MOST_LISTED);
}

static void print_dense(const hm_matrix *matrix)
{
    double dense[MOST_COLUMNS * MOST_LISTED];
    hm_matrix_dense(matrix, dense);
    for (size_t i = 0; i < matrix->rows; i++) {
        printf("   ");
        for (size_t j = 0; j < matrix->columns; j++)
            printf(" %13.7g", positive_zero(dense[i * matrix->columns + j]));
        printf("\n");
    }
}

void print_matrix(const char *title, const hm_matrix *matrix)
{
    size_t count = matrix->row_start[matrix->rows], shown = 0;
    printf("%s\n", title);
    if (matrix->columns <= MOST_COLUMNS && matrix->rows <= MOST_LISTED) {
        print_dense(matrix);
        return;
    }
    for (size_t i = 0; i < matrix->rows && shown < MOST_LISTED; i++)
        for (size_t k = matrix->row_start[i]; k < matrix->row_start[i + 1] && shown < MOST_LISTED;
             k++, shown++)
            printf("    (%zu, %u) %22.15g\n", i + 1, matrix->column[k] + 1, matrix->value[k]);
    if (shown < count)
        printf("    ... %zu entries in all (--json gives them)\n", count);
}

json_t *json_by_constraint(const hm_model *model, const double *values)
{
    json_t *object = json_object();
    for (size_t i = 0; values && i < hm_model_constraint_count(model); i++)
        json_object_set_new(object, hm_model_constraint(model, i).name,
                            json_number_or_null(values[i]));
    return object;
}
