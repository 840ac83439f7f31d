/* hm_table: columns of numbers with names, and CSV files of them.
 *
 *   hm_table *table;
 *   if (hm_table_load_csv(context, "out.csv", &table) != HM_OK) ... diagnostics ...
 *   const double *x = hm_table_column(table, hm_table_find(table, "x"));
 */
#ifndef HAMEL_TABLE_H
#define HAMEL_TABLE_H

#include <hamel/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hm_table hm_table;

/* An empty table; names are copied. allocator NULL: hm_allocator_default(). */
HM_API HM_MUST_CHECK hm_status hm_table_create(const hm_allocator *allocator, size_t columns,
                                               const char *const *names, hm_table **table);
HM_API void hm_table_destroy(hm_table *table);
/* Appends one value a column; NaN stands for a missing value. */
HM_API HM_MUST_CHECK hm_status hm_table_add_row(hm_table *table, const double *values);

HM_API size_t hm_table_row_count(const hm_table *table);
HM_API size_t hm_table_column_count(const hm_table *table);
HM_API const char *hm_table_name(const hm_table *table, size_t column);
/* What plots write at the axis of a column: a text that was set, which is copied, else its name. */
HM_API HM_MUST_CHECK hm_status hm_table_set_text(hm_table *table, size_t column, const char *text);
HM_API const char *hm_table_text(const hm_table *table, size_t column);
/* The values of a column, valid until the next row is added. */
HM_API const double *hm_table_column(const hm_table *table, size_t column);

#define HM_NO_COLUMN ((size_t)-1)
/* HM_NO_COLUMN where there is none of that name. */
HM_API size_t hm_table_find(const hm_table *table, const char *name);
/* The name that was probably meant, or NULL. */
HM_API const char *hm_table_suggest(const hm_table *table, const char *name);

/* Reads CSV: a line of names, then lines of as many numbers. Names and numbers may be in quotes
 * ("a""b" is a"b); a field that is empty, or nan or NA, is a missing value, NaN; empty lines are
 * skipped. Errors are in the context, with the line number.
 *   HM_ERR_IO: the file cannot be read;  HM_ERR_INPUT: it is not such a table. */
HM_API HM_MUST_CHECK hm_status hm_table_load_csv(hm_context *context, const char *path,
                                                 hm_table **table);
/* The same from memory; name is shown in messages. */
HM_API HM_MUST_CHECK hm_status hm_table_parse_csv(hm_context *context, const char *name,
                                                  const char *text, size_t length,
                                                  hm_table **table);

/* Writes CSV row by row, with 17 significant digits. The rows go to PATH.partial, which takes the
 * name PATH when the writer is finished: a file called PATH is always whole. What is on the disk up
 * to the last flush survives the end of the process, whatever ends it. Devices and pipes, which
 * cannot be renamed, are written in place. */
typedef struct hm_csv_writer hm_csv_writer;

/* After HM_ERR_IO there is a writer too, for hm_csv_error. */
HM_API HM_MUST_CHECK hm_status hm_csv_create(const hm_allocator *allocator, const char *path,
                                             size_t columns, const char *const *names,
                                             hm_csv_writer **writer);
/* HM_ERR_IO: the disk is full, say; hm_csv_error tells. */
HM_API HM_MUST_CHECK hm_status hm_csv_row(hm_csv_writer *writer, const double *values);
/* Hands everything written so far to the operating system. */
HM_API HM_MUST_CHECK hm_status hm_csv_flush(hm_csv_writer *writer);
/* Ends the file. complete: it takes its name; else, or when writing fails, the .partial stays. The
 * writer remains for hm_csv_path and hm_csv_error until hm_csv_destroy. */
HM_API HM_MUST_CHECK hm_status hm_csv_finish(hm_csv_writer *writer, bool complete);
/* Where the rows are at present: PATH.partial, or PATH. */
HM_API const char *hm_csv_path(const hm_csv_writer *writer);
HM_API size_t hm_csv_row_count(const hm_csv_writer *writer);
/* Why writing failed ("No space left on device"); "" where it did not. */
HM_API const char *hm_csv_error(const hm_csv_writer *writer);
/* A writer that was not finished leaves its .partial. */
HM_API void hm_csv_destroy(hm_csv_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
