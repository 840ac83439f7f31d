/* CSV, written row by row.
 *
 * Invariants
 *   1. PATH is never seen half written: hm_file sees to it (src/output/file/file.c).
 *   2. The file holds whole rows after every flush, since a row is given to hm_file at once; a process
 *      killed in between leaves at most one row torn at the end.
 * Verified: test/unit/output/test_csv.c, test/fault/run_cut.sh
 */
#include "base/argument.h"
#include "output/table/table.h"

#include <hamel/file.h>
#include <hamel/table.h>

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FLUSH_SECONDS = 1, NUMBER_BYTES = 32 };

struct hm_csv_writer {
    hm_allocator allocator;
    hm_file *file;
    hmi_text row;
    size_t columns, rows;
    time_t flushed;
    char point[8]; /* the locale's decimal point, which printf uses */
};

/* ---- rows ---- */

/* A name in quotes where it needs them: "R[1,2]". */
static void add_name(hmi_text *text, const char *name)
{
    if (!strpbrk(name, ",\"\n\r") && name[0] != ' ' && name[0] != '\0') {
        hmi_text_add(text, name);
        return;
    }
    hmi_text_add(text, "\"");
    for (const char *c = name; *c; c++)
        hmi_text_add_bytes(text, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    hmi_text_add(text, "\"");
}

static void add_number(hm_csv_writer *w, double value)
{
    char number[NUMBER_BYTES + 8];
    if (value != value) {
        hmi_text_add(&w->row, "nan"); /* printf may print "-nan" */
        return;
    }
    int length = snprintf(number, sizeof number, "%.17g", value);
    if (w->point[0] != '.') {
        char *point = strchr(number, w->point[0]);
        if (point)
            *point = '.';
    }
    hmi_text_add_bytes(&w->row, number, (size_t)length);
}

hm_status hm_csv_flush(hm_csv_writer *w)
{
    HMI_ARGUMENT(NULL, w, "a writer is needed");
    w->flushed = time(NULL);
    return hm_file_flush(w->file);
}

static hm_status end_row(hm_csv_writer *w)
{
    hmi_text_add(&w->row, "\n");
    if (w->row.failed)
        return HM_ERR_NOMEM;
    hm_status status = hm_file_write(w->file, w->row.data, w->row.length);
    w->row.length = 0;
    bool due = time(NULL) - w->flushed >= FLUSH_SECONDS;
    return status == HM_OK && due ? hm_csv_flush(w) : status;
}

hm_status hm_csv_row(hm_csv_writer *w, const double *values)
{
    HMI_ARGUMENT(NULL, w && values, "a writer and values are needed");
    for (size_t i = 0; i < w->columns; i++) {
        if (i)
            hmi_text_add(&w->row, ",");
        add_number(w, values[i]);
    }
    w->rows++;
    return end_row(w);
}

static hm_status write_header(hm_csv_writer *w, const char *const *names)
{
    for (size_t i = 0; i < w->columns; i++) {
        if (i)
            hmi_text_add(&w->row, ",");
        add_name(&w->row, names[i]);
    }
    hm_status status = end_row(w);
    return status == HM_OK ? hm_csv_flush(w) : status; /* seen at once: the disk may be full */
}

/* ---- the writer ---- */

hm_status hm_csv_create(const hm_allocator *allocator, const char *path, size_t columns,
                        const char *const *names, hm_csv_writer **writer)
{
    HMI_ARGUMENT(NULL,
                 path && writer && hmi_allocator_is_valid(allocator) &&
                     hmi_names_are_valid(columns, names),
                 "a path and names are needed");
    hm_allocator memory = allocator ? *allocator : hm_allocator_default();
    hm_csv_writer *w = hmi_alloc(&memory, sizeof *w);
    if (!w)
        return HM_ERR_NOMEM;
    *w = (hm_csv_writer){.allocator = memory, .columns = columns};
    hmi_text_init(&w->row, &w->allocator);
    snprintf(w->point, sizeof w->point, "%s", localeconv()->decimal_point);
    hm_status status = hm_file_create(&memory, path, &w->file);
    if (status == HM_OK)
        status = write_header(w, names);
    if (status == HM_ERR_NOMEM) {
        if (w->file)
            (void)!hm_file_finish(w->file, HM_FILE_END_DISCARD);
        hm_csv_destroy(w);
        return status;
    }
    *writer = w; /* also after an I/O error, for hm_csv_error */
    return status;
}

hm_status hm_csv_finish(hm_csv_writer *w, bool complete)
{
    HMI_ARGUMENT(NULL, w, "a writer is needed");
    return hm_file_finish(w->file, complete ? HM_FILE_END_COMPLETE : HM_FILE_END_KEEP);
}

const char *hm_csv_path(const hm_csv_writer *w)
{
    if (!w)
        return "";
    return hm_file_path(w->file);
}

size_t hm_csv_row_count(const hm_csv_writer *w)
{
    if (!w)
        return 0;
    return w->rows;
}

const char *hm_csv_error(const hm_csv_writer *w)
{
    if (!w)
        return "";
    return hm_file_error(w->file);
}

void hm_csv_destroy(hm_csv_writer *w)
{
    if (!w)
        return;
    hm_allocator memory = w->allocator;
    hm_file_destroy(w->file);
    hmi_text_release(&w->row);
    hmi_free(&memory, w, sizeof *w);
}
