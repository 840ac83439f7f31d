/* CSV, written row by row.
 *
 * Invariants
 *   1. PATH is never seen half written: rows go to PATH.partial, which is renamed at the end.
 *   2. The file holds whole rows after every flush, since a flush writes the buffer to the last
 *      newline with one call; a process killed in between leaves at most one row torn at the end.
 *   3. After the first failure nothing more is written and every call returns HM_ERR_IO.
 * Verified: test/unit/output/test_csv.c, test/fault/run_cut.sh
 */
#include "base/text.h"

#include <hamel/table.h>

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FLUSH_BYTES = 1 << 16, FLUSH_SECONDS = 1, NUMBER_BYTES = 32 };

struct hm_csv_writer {
    hm_allocator allocator;
    hmi_text path, partial; /* partial is empty where the file is written in place */
    hmi_text buffer;
    size_t columns, rows;
    int file; /* -1: closed */
    time_t flushed;
    bool renamed;
    int error;     /* errno of the first failure */
    char point[8]; /* the locale's decimal point, which printf uses */
};

/* ---- the file ---- */

static hm_status fail(hm_csv_writer *w, int error)
{
    if (!w->error)
        w->error = error ? error : EIO;
    return HM_ERR_IO;
}

hm_status hm_csv_flush(hm_csv_writer *w)
{
    const char *bytes = w->buffer.data;
    size_t left = w->buffer.length;
    while (left > 0 && !w->error) {
        ssize_t written = write(w->file, bytes, left);
        if (written < 0 && errno != EINTR)
            return fail(w, errno);
        if (written > 0) {
            bytes += written;
            left -= (size_t)written;
        }
    }
    w->buffer.length = 0;
    w->flushed = time(NULL);
    return w->error ? HM_ERR_IO : HM_OK;
}

/* Large enough or old enough. */
static hm_status flush_if_due(hm_csv_writer *w)
{
    bool due = w->buffer.length >= FLUSH_BYTES || time(NULL) - w->flushed >= FLUSH_SECONDS;
    return due ? hm_csv_flush(w) : HM_OK;
}

/* A device or pipe cannot be renamed onto, and /dev/stdout may be a file. */
static bool in_place(const char *path)
{
    struct stat about;
    if (strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0)
        return true;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode);
}

static bool open_file(hm_csv_writer *w, const char *path)
{
    hmi_text_add(&w->path, path);
    if (!in_place(path)) {
        hmi_text_add(&w->partial, path);
        hmi_text_add(&w->partial, ".partial");
    }
    if (w->path.failed || w->partial.failed)
        return false;
    w->file = open(hm_csv_path(w), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (w->file < 0)
        (void)fail(w, errno);
    return true;
}

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
        hmi_text_add(&w->buffer, "nan"); /* printf may print "-nan" */
        return;
    }
    int length = snprintf(number, sizeof number, "%.17g", value);
    if (w->point[0] != '.') {
        char *point = strchr(number, w->point[0]);
        if (point)
            *point = '.';
    }
    hmi_text_add_bytes(&w->buffer, number, (size_t)length);
}

static hm_status end_row(hm_csv_writer *w)
{
    hmi_text_add(&w->buffer, "\n");
    if (w->buffer.failed)
        return HM_ERR_NOMEM;
    return flush_if_due(w);
}

hm_status hm_csv_row(hm_csv_writer *w, const double *values)
{
    if (w->error || w->file < 0)
        return HM_ERR_IO;
    for (size_t i = 0; i < w->columns; i++) {
        if (i)
            hmi_text_add(&w->buffer, ",");
        add_number(w, values[i]);
    }
    w->rows++;
    return end_row(w);
}

static hm_status write_header(hm_csv_writer *w, const char *const *names)
{
    for (size_t i = 0; i < w->columns; i++) {
        if (i)
            hmi_text_add(&w->buffer, ",");
        add_name(&w->buffer, names[i]);
    }
    hm_status status = end_row(w);
    return status == HM_OK ? hm_csv_flush(w) : status; /* seen at once: the disk may be full */
}

/* ---- the writer ---- */

hm_status hm_csv_create(const hm_allocator *allocator, const char *path, size_t columns,
                        const char *const *names, hm_csv_writer **writer)
{
    hm_allocator memory = allocator ? *allocator : hm_allocator_default();
    hm_csv_writer *w = hmi_alloc(&memory, sizeof *w);
    if (!w)
        return HM_ERR_NOMEM;
    *w = (hm_csv_writer){.allocator = memory, .columns = columns, .file = -1};
    hmi_text_init(&w->path, &w->allocator);
    hmi_text_init(&w->partial, &w->allocator);
    hmi_text_init(&w->buffer, &w->allocator);
    snprintf(w->point, sizeof w->point, "%s", localeconv()->decimal_point);
    hm_status status = open_file(w, path) ? HM_OK : HM_ERR_NOMEM;
    if (status == HM_OK && !w->error)
        status = write_header(w, names);
    if (status == HM_ERR_NOMEM) {
        hm_csv_destroy(w);
        return status;
    }
    *writer = w; /* also after an I/O error, for hm_csv_error */
    return w->error ? HM_ERR_IO : HM_OK;
}

static hm_status close_file(hm_csv_writer *w, bool complete)
{
    hm_status status = w->error ? HM_ERR_IO : hm_csv_flush(w);
    if (complete && w->partial.length && fsync(w->file) != 0 && status == HM_OK)
        status = fail(w, errno); /* the rename must not overtake the rows */
    if (close(w->file) != 0 && status == HM_OK)
        status = fail(w, errno);
    w->file = -1;
    if (status != HM_OK || !complete || w->partial.length == 0)
        return status;
    if (rename(hmi_text_view(&w->partial), hmi_text_view(&w->path)) != 0)
        return fail(w, errno);
    w->renamed = true;
    return HM_OK;
}

hm_status hm_csv_finish(hm_csv_writer *w, bool complete)
{
    if (w->file < 0)
        return w->error ? HM_ERR_IO : HM_ERR_USAGE;
    return close_file(w, complete);
}

const char *hm_csv_path(const hm_csv_writer *w)
{
    bool partial = w->partial.length > 0 && !w->renamed;
    return hmi_text_view(partial ? &w->partial : &w->path);
}

size_t hm_csv_row_count(const hm_csv_writer *w)
{
    return w->rows;
}

const char *hm_csv_error(const hm_csv_writer *w)
{
    return w->error ? strerror(w->error) : "";
}

void hm_csv_destroy(hm_csv_writer *w)
{
    if (!w)
        return;
    if (w->file >= 0)
        (void)!close_file(w, false);
    hm_allocator memory = w->allocator;
    hmi_text_release(&w->path);
    hmi_text_release(&w->partial);
    hmi_text_release(&w->buffer);
    hmi_free(&memory, w, sizeof *w);
}
