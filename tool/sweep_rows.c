/* The growing file of a sweep. */
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* On the disk after five seconds or so many rows. */
enum { MOST_UNSYNCED = 100000 };

static const char *path_of(const sweep *s)
{
    return s->part_path ? s->part_path : s->out ? s->rows_path : "a temporary file";
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool cannot_write(sweep *s, const char *path)
{
    if (!s->broken)
        say("hamel: cannot write '%s': %s\n", path, strerror(errno));
    s->broken = true;
    return false;
}

/* ---- lines ---- */

/* A name with a comma or a quote is put in quotes. */
static void put_name(FILE *file, const char *name)
{
    if (!strpbrk(name, ",\"\n")) {
        fputs(name, file);
        return;
    }
    putc('"', file);
    for (; *name; name++) {
        if (*name == '"')
            putc('"', file);
        putc(*name, file);
    }
    putc('"', file);
}

void rows_head(const sweep *s)
{
    fprintf(s->rows, "%s\n# %s\n", s->identity, s->about);
    for (size_t i = 0; i < s->name_count; i++) {
        if (i)
            putc(',', s->rows);
        put_name(s->rows, s->names[i]);
    }
    putc('\n', s->rows);
}

size_t rows_parse(char *line, double *values, size_t most, const char **status)
{
    size_t count = 0;
    *status = "";
    for (char *at = line, *comma; at; at = comma ? comma + 1 : NULL) {
        comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        char *end;
        double value = *at ? strtod(at, &end) : NAN;
        if (*at && *end != '\0')
            *status = at;
        else if (count < most)
            values[count++] = value;
    }
    return count;
}

bool rows_add(sweep *s, const double *values, size_t count, const char *status)
{
    for (size_t i = 0; i < count; i++) {
        if (i)
            putc(',', s->rows);
        if (isfinite(values[i]))
            fprintf(s->rows, "%.17g", values[i]);
    }
    fprintf(s->rows, "%s%s\n", status ? "," : "", status ? status : "");
    if (ferror(s->rows))
        return cannot_write(s, path_of(s));
    return (++s->unsynced < MOST_UNSYNCED && now() - s->synced < 5) || rows_sync(s);
}

bool rows_flush(sweep *s)
{
    return fflush(s->rows) == 0 || cannot_write(s, path_of(s));
}

bool rows_sync(sweep *s)
{
    s->synced = now();
    s->unsynced = 0;
    if (fflush(s->rows) != 0 || (s->out && fsync(fileno(s->rows)) != 0))
        return cannot_write(s, path_of(s));
    return true;
}

/* ---- opening ---- */

typedef struct found_rows {
    long lines, whole; /* whole lines, and where they end */
    long point;        /* where the rows of the last point begin */
    bool other;        /* the rows of another sweep */
} found_rows;

static void take_line(sweep *s, char *line, found_rows *found)
{
    const char *status;
    double index;
    if (found->lines++ == 0)
        found->other = strcmp(line, s->identity) != 0;
    if (found->lines <= ROWS_HEAD)
        return;
    rows_parse(line, &index, 1, &status);
    if ((size_t)index + 1 != s->next)
        found->point = found->whole;
    s->next = (size_t)index + 1;
    s->failed += strcmp(status, "failed") == 0;
}

static found_rows find_rows(sweep *s)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    found_rows found = {.point = -1};
    while ((length = getline(&line, &room, s->rows)) > 0 && line[length - 1] == '\n') {
        line[length - 1] = '\0';
        take_line(s, line, &found);
        if ((found.whole = ftell(s->rows)) < 0)
            break;
    }
    free(line);
    return found;
}

/* Goes on after the last whole line. Of trajectories the last point may not be complete: it is run again. */
static int take_up(sweep *s)
{
    found_rows found = find_rows(s);
    if (ferror(s->rows) || found.whole < 0) {
        fprintf(stderr, "hamel: '%s' cannot be read: %s\n", s->rows_path, strerror(errno));
        s->broken = true;
        return EXIT_FAILED;
    }
    long end = found.lines < ROWS_HEAD ? 0 : found.whole;
    if (found.other)
        return usage_error("'%s' belongs to another sweep: model, points, measures or options "
                           "differ; remove it to start again",
                           s->rows_path);
    if (s->keep_every && found.point >= 0) {
        end = found.point;
        s->next--;
    }
    if (fflush(s->rows) != 0 || ftruncate(fileno(s->rows), end) != 0 ||
        fseek(s->rows, end, SEEK_SET) != 0)
        return cannot_write(s, s->rows_path) ? EXIT_DONE : EXIT_FAILED;
    if (end == 0)
        rows_head(s);
    return EXIT_DONE;
}

int rows_open(sweep *s, bool resume)
{
    int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    if (!s->out) {
        s->rows = tmpfile();
        if (!s->rows)
            return cannot_write(s, "a temporary file") ? EXIT_DONE : EXIT_FAILED;
        rows_head(s);
        return EXIT_DONE;
    }
    int descriptor = open(s->rows_path, resume ? flags : flags | O_EXCL, 0666);
    if (descriptor < 0 && errno == EEXIST)
        return usage_error(
            "'%s' holds an unfinished sweep: continue it with --resume, or remove it",
            s->rows_path);
    struct stat about;
    if (descriptor >= 0 && fstat(descriptor, &about) != 0) {
        close(descriptor);
        return cannot_write(s, s->rows_path) ? EXIT_DONE : EXIT_FAILED;
    }
    if (descriptor >= 0 && !S_ISREG(about.st_mode)) {
        close(descriptor);
        return usage_error("'%s' is not a regular file", s->rows_path);
    }
    s->rows = descriptor < 0 ? NULL : fdopen(descriptor, "r+");
    if (!s->rows) {
        if (descriptor >= 0)
            close(descriptor);
        return cannot_write(s, s->rows_path) ? EXIT_DONE : EXIT_FAILED;
    }
    s->synced = now();
    if (resume)
        return take_up(s);
    rows_head(s);
    return EXIT_DONE;
}

/* ---- the end ---- */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

bool rows_rewind(FILE *rows)
{
    clearerr(rows);
    return fseek(rows, 0, SEEK_SET) == 0; /* rewind() would not say */
}

static bool copy_rows(sweep *s, hm_file *file, bool identified)
{
    char block[1 << 16];
    size_t count;
    if (!rows_rewind(s->rows))
        return false;
    for (int line = 1; !identified && line < ROWS_HEAD; line++)
        for (int c = 0; c != '\n' && c != EOF;)
            c = getc(s->rows);
    while ((count = fread(block, 1, sizeof block, s->rows)) > 0)
        if (hm_file_write(file, block, count) != HM_OK)
            return false;
    return !ferror(s->rows);
}

bool rows_publish(sweep *s, bool identified)
{
    if (!s->out)
        return true;
    if (!identified && (ends_in(s->out, ".h5") || ends_in(s->out, ".hdf5")))
        return sweep_write_hdf5(&(rows_about){.names = s->names,
                                              .count = s->name_count,
                                              .status = !s->keep_every,
                                              .identity = s->identity,
                                              .description = s->about,
                                              .path = s->rows_path},
                                s->rows, s->out);
    hm_file *file = NULL;
    bool good = hm_file_create(memory_allocator(), s->out, &file) == HM_OK &&
                copy_rows(s, file, identified) &&
                hm_file_finish(file, HM_FILE_END_COMPLETE) == HM_OK;
    if (!good) {
        say("hamel: cannot write '%s'%s%s; the rows are in '%s'\n", s->out, file ? ": " : "",
            file ? hm_file_error(file) : "", s->rows_path);
        s->broken = true;
    }
    hm_file_destroy(file);
    return good;
}

void rows_discard(sweep *s)
{
    if (s->rows)
        fclose(s->rows);
    s->rows = NULL;
    if (s->out)
        unlink(s->rows_path);
}
