/* HDF5 is written by a child: rows go there through a pipe, and at the end it says how it went. libhdf5 crashes
 * in places where memory runs out; then the child ends, and that is said like any other failure. */
#include "command.h"
#include "hdf5_calls.h"
#include "hdf5_file.h"
#include "hdf5_writer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HAMEL_HAVE_HDF5
int hdf5_check(const char *instead)
{
    if (library_load(&hdf5_library))
        return EXIT_DONE;
    say("hamel: HDF5 cannot be loaded (%s); %s\n", hdf5_library.why, instead);
    return EXIT_FAILED;
}
#else
int hdf5_check(const char *instead)
{
    return usage_error("built without HDF5; %s", instead);
}
#endif

/* What the child says at its end. */
typedef struct answer {
    bool good;
    unsigned long long rows;
    char why[160];
} answer;

/* What precedes rows, and the end, in the pipe. */
enum { ROW = 'r', END = 'e' };

struct hdf5_file {
    size_t columns;
    hm_file *out;
    pid_t child; /* 0: there is none any more */
    int to, from;
    bool failed;
    answer said;
};

/* ---- pipes ---- */

static bool send_all(int to, const void *bytes, size_t length)
{
    const char *at = bytes;
    while (length > 0) {
        ssize_t sent = write(to, at, length);
        if (sent < 0 && errno != EINTR)
            return false;
        if (sent > 0) {
            at += sent;
            length -= (size_t)sent;
        }
    }
    return true;
}

static bool receive_all(int from, void *bytes, size_t length)
{
    char *at = bytes;
    while (length > 0) {
        ssize_t got = read(from, at, length);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        if (got > 0) {
            at += got;
            length -= (size_t)got;
        }
    }
    return true;
}

/* ---- the child ---- */

#ifdef HAMEL_HAVE_HDF5

/* Until the end comes. Without one, because the parent was killed, what is there is kept. */
static bool write_rows(hdf5_writer *writer, int from, double *row, size_t columns)
{
    hdf5_end end;
    char kind;
    while (receive_all(from, &kind, 1)) {
        if (kind == END)
            return receive_all(from, &end, sizeof end) && hdf5_writer_end(writer, &end);
        if (!receive_all(from, row, columns * sizeof *row) || !hdf5_writer_row(writer, row))
            return false;
    }
    (void)hdf5_writer_flush(writer);
    return false;
}

/* Ends without what atexit has: the parent's buffers are not the child's to write. */
static void write_and_exit(hm_file *out, const column_set *columns, int from, int to)
{
    answer said = {0};
    signal(SIGINT, SIG_IGN); /* the parent ends, and says so */
    signal(SIGPIPE, SIG_IGN);
    double *row = memory_new(columns->count, sizeof *row);
    hdf5_writer *writer = row ? hdf5_writer_create(out, columns) : NULL;
    if (writer) {
        said.good = write_rows(writer, from, row, columns->count);
        said.rows = hdf5_writer_rows(writer);
    }
    snprintf(said.why, sizeof said.why, "%s",
             said.good                    ? ""
             : writer && !memory_failed() ? hdf5_writer_error(writer)
                                          : hm_status_text(HM_ERR_NOMEM));
    (void)send_all(to, &said, sizeof said);
    _exit(said.good ? EXIT_SUCCESS : EXIT_FAILURE);
}

#else

static void write_and_exit(hm_file *out, const column_set *columns, int from, int to)
{
    (void)out, (void)columns, (void)from, (void)to;
    _exit(EXIT_FAILURE);
}

#endif

/* ---- the parent ---- */

static bool fail(hdf5_file *f, const char *why)
{
    if (!f->failed)
        snprintf(f->said.why, sizeof f->said.why, "%s", why);
    f->failed = true;
    return false;
}

static bool start_child(hdf5_file *f, const column_set *columns)
{
    int rows[2], end[2];
    if (pipe(rows) != 0)
        return fail(f, strerror(errno));
    if (pipe(end) != 0) {
        close(rows[0]);
        close(rows[1]);
        return fail(f, strerror(errno));
    }
    fflush(NULL);
    f->child = fork();
    if (f->child == 0) {
        close(rows[1]);
        close(end[0]);
        write_and_exit(f->out, columns, rows[0], end[1]);
    }
    close(rows[0]);
    close(end[1]);
    f->to = rows[1];
    f->from = end[0];
    if (f->child > 0)
        return true;
    f->child = 0;
    close(f->to);
    close(f->from);
    return fail(f, strerror(errno));
}

/* The child's last words; where it has none it crashed. */
static bool end_child(hdf5_file *f)
{
    int status = 0;
    if (f->child == 0)
        return !f->failed;
    close(f->to);
    answer said;
    bool spoke = receive_all(f->from, &said, sizeof said);
    close(f->from);
    while (waitpid(f->child, &status, 0) < 0 && errno == EINTR)
        continue;
    f->child = 0;
    if (spoke)
        f->said.rows = said.rows;
    if (!spoke)
        return fail(f, "the HDF5 library ended, probably for want of memory");
    return said.good || fail(f, said.why);
}

hdf5_file *hdf5_create(const char *path, const column_set *columns)
{
    hdf5_file *f = memory_new(1, sizeof *f);
    if (!f)
        return NULL;
    f->columns = columns->count;
    signal(SIGPIPE, SIG_IGN); /* a child that has gone is an error of writing */
    hm_status status = hm_file_create(memory_allocator(), path, &f->out);
    if (status != HM_OK)
        fail(f, f->out ? hm_file_error(f->out) : hm_status_text(status));
    else
        (void)start_child(f, columns);
    return f;
}

bool hdf5_row(hdf5_file *f, const double *row)
{
    const char kind = ROW;
    if (f->failed)
        return false;
    if (f->child && send_all(f->to, &kind, 1) && send_all(f->to, row, f->columns * sizeof *row))
        return true;
    return end_child(f) && false;
}

static bool send_end(hdf5_file *f, const hm_run_result *result)
{
    const char kind = END;
    hdf5_end end = {.status = result->status, .rtol = result->rtol, .atol = result->atol};
    snprintf(end.method, sizeof end.method, "%s", result->method);
    snprintf(end.drift, sizeof end.drift, "%s", result->drift);
    if (f->child)
        (void)(send_all(f->to, &kind, 1) && send_all(f->to, &end, sizeof end));
    return end_child(f);
}

bool hdf5_finish(hdf5_file *f, const hm_run_result *result, bool complete)
{
    bool good = !f->failed && send_end(f, result);
    if (!f->out)
        return false;
    hm_file_end end = f->said.rows == 0 && !good ? HM_FILE_END_DISCARD
                      : good && complete         ? HM_FILE_END_COMPLETE
                                                 : HM_FILE_END_KEEP;
    if (hm_file_finish(f->out, end) != HM_OK)
        fail(f, hm_file_error(f->out));
    return !f->failed;
}

const char *hdf5_path(const hdf5_file *f)
{
    return f->out && f->said.rows > 0 ? hm_file_path(f->out) : NULL;
}

const char *hdf5_error(const hdf5_file *f)
{
    return f->said.why;
}

void hdf5_destroy(hdf5_file *f)
{
    if (!f)
        return;
    (void)end_child(f);
    hm_file_destroy(f->out);
    free(f);
}
