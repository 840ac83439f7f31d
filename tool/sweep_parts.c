/* Parts of a sweep.
 *
 *     ---- finding ----    which files there are
 *     ---- reading ----    which points are finished in them
 *     ---- writing ----    the part of this process
 *     ---- gathering ----  all rows in order
 */
#include "sweep_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finding ---- */

static bool add_path(part_list *p, const char *path)
{
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 16;
        char **grown = memory_resize(p->paths, room * sizeof *grown);
        if (!grown)
            return false;
        p->paths = grown;
        p->room = room;
    }
    p->paths[p->count] = memory_copy(path);
    return p->paths[p->count++] != NULL;
}

static bool is_number(const char *text)
{
    return text[0] && strspn(text, "0123456789") == strlen(text);
}

/* The folder is read: a pattern would take brackets in the name for its own. */
static bool add_numbered(const sweep *s, part_list *p)
{
    const char *slash = strrchr(s->out, '/'), *name = slash ? slash + 1 : s->out;
    size_t length = strlen(name), before = (size_t)(name - s->out);
    char *path = memory_new(1, before + NAME_MAX + 2);
    bool good = path != NULL;
    if (!good)
        return false;
    memcpy(path, s->out, before);
    DIR *folder = opendir(before ? path : ".");
    for (struct dirent *e; good && folder && (e = readdir(folder));) {
        if (strncmp(e->d_name, name, length) != 0 ||
            strncmp(e->d_name + length, ".part-", 6) != 0 || !is_number(e->d_name + length + 6))
            continue;
        strcpy(path + before, e->d_name);
        good = add_path(p, path);
    }
    if (folder)
        closedir(folder);
    free(path);
    return good;
}

bool parts_find(const sweep *s, part_list *p)
{
    *p = (part_list){0};
    return (access(s->rows_path, F_OK) != 0 || add_path(p, s->rows_path)) && add_numbered(s, p);
}

/* ---- reading ---- */

typedef struct scan {
    const sweep *s;
    part_list *list; /* NULL: only `sure` is wanted */
    size_t file;
    segment now;
    bool open;    /* `now` has rows */
    size_t point; /* of the last row */
    long sure;    /* behind the last finished point */
    bool starved;
} scan;

static void push_segment(scan *c)
{
    part_list *p = c->list;
    bool any = c->open && c->now.end > c->now.first;
    c->open = false;
    if (!any || !p)
        return;
    if (p->segment_count == p->segment_room) {
        size_t room = p->segment_room ? 2 * p->segment_room : 64;
        segment *grown = memory_resize(p->segments, room * sizeof *grown);
        if (!grown) {
            c->starved = true;
            return;
        }
        p->segments = grown;
        p->segment_room = room;
    }
    p->segments[p->segment_count++] = c->now;
}

/* The last point is finished with what is before `at`. */
static void finish_point(scan *c, long at)
{
    if (!c->open || c->now.end > c->point)
        return;
    c->now.end = c->point + 1;
    c->now.length = at - c->now.at;
    c->sure = at;
}

/* A row from `at` to `end`. Of trajectories a point is finished where another one, or a #, follows. */
static void take_row(scan *c, const char *line, long at, long end)
{
    size_t point = (size_t)strtoull(line, NULL, 10);
    if (!c->open || point != c->point) {
        finish_point(c, at);
        if (c->open && point != c->now.end)
            push_segment(c);
        if (!c->open)
            c->now = (segment){.first = point, .end = point, .file = c->file, .at = at};
        c->open = true;
        c->point = point;
    }
    if (!c->s->keep_every)
        finish_point(c, end);
}

static int cannot_read(const char *path)
{
    say("hamel: '%s' cannot be read: %s\n", path, errno ? strerror(errno) : "no memory");
    return EXIT_FAILED;
}

/* Lines up to the first that is torn. */
static int scan_file(scan *c, FILE *file, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    long at = 0, number = 0;
    bool other = false;
    errno = 0;
    while (!other && (length = getline(&line, &room, file)) > 0 && line[length - 1] == '\n') {
        line[length - 1] = '\0';
        if (number++ == 0)
            other = strcmp(line, c->s->identity) != 0;
        else if (number > ROWS_HEAD && line[0] == '#') {
            finish_point(c, at);
            push_segment(c);
            c->sure = at + length;
        } else if (number > ROWS_HEAD)
            take_row(c, line, at, at + length);
        else
            c->sure = number == ROWS_HEAD ? at + length : 0;
        at += length;
    }
    free(line);
    push_segment(c);
    if (other)
        return usage_error("'%s' belongs to another sweep: model, points, measures or options "
                           "differ; remove it to start again",
                           path);
    return ferror(file) || !(feof(file) || errno == 0) || c->starved ? cannot_read(path)
                                                                     : EXIT_DONE;
}

static int by_first(const void *x, const void *y)
{
    const segment *a = x, *b = y;
    return a->first != b->first ? (a->first > b->first) - (a->first < b->first)
                                : (a->end < b->end) - (a->end > b->end);
}

int parts_read(const sweep *s, part_list *p)
{
    int code = EXIT_DONE;
    for (size_t i = 0; code == EXIT_DONE && i < p->count; i++) {
        FILE *file = fopen(p->paths[i], "r");
        scan c = {.s = s, .list = p, .file = i};
        code = file ? scan_file(&c, file, p->paths[i]) : cannot_read(p->paths[i]);
        if (file)
            fclose(file);
    }
    if (code == EXIT_DONE && p->segment_count)
        qsort(p->segments, p->segment_count, sizeof *p->segments, by_first);
    return code;
}

point_range *parts_missing(const sweep *s, const part_list *p, size_t *count)
{
    point_range *missing = memory_new(p->segment_count + 1, sizeof *missing);
    size_t next = s->first;
    *count = 0;
    for (size_t i = 0; missing && i < p->segment_count; i++) {
        if (p->segments[i].first > next)
            missing[(*count)++] = (point_range){next, p->segments[i].first};
        next = p->segments[i].end > next ? p->segments[i].end : next;
    }
    if (missing && next < s->end)
        missing[(*count)++] = (point_range){next, s->end};
    return missing;
}

/* ---- writing ---- */

static int cannot_write(sweep *s, const char *path)
{
    say("hamel: cannot write '%s': %s\n", path, strerror(errno));
    s->broken = true;
    return EXIT_FAILED;
}

int parts_open(sweep *s, int rank, bool resume)
{
    size_t size = strlen(s->out) + 32;
    scan c = {.s = s};
    s->part_path = memory_new(1, size);
    if (!s->part_path)
        return EXIT_FAILED;
    snprintf(s->part_path, size, "%s.part-%d", s->out, rank);
    int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (resume ? 0 : O_EXCL);
    int descriptor = open(s->part_path, flags, 0666);
    s->rows = descriptor < 0 ? NULL : fdopen(descriptor, "r+");
    if (!s->rows) {
        int code = cannot_write(s, s->part_path);
        if (descriptor >= 0)
            close(descriptor);
        return code;
    }
    int code = scan_file(&c, s->rows, s->part_path);
    if (code != EXIT_DONE)
        return code;
    if (fflush(s->rows) != 0 || ftruncate(descriptor, c.sure) != 0 ||
        fseek(s->rows, c.sure, SEEK_SET) != 0)
        return cannot_write(s, s->part_path);
    if (c.sure == 0)
        rows_head(s);
    return EXIT_DONE;
}

/* ---- gathering ---- */

static bool is_failed(const char *line, ssize_t length)
{
    return length > 8 && strcmp(line + length - 8, ",failed\n") == 0;
}

/* The rows of points from s->next on, which goes behind them. */
static bool copy_segment(sweep *s, const segment *g, FILE *from)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    long at = g->at;
    bool good = fseek(from, g->at, SEEK_SET) == 0;
    while (good && at < g->at + g->length && (length = getline(&line, &room, from)) > 0) {
        at += length;
        if (line[0] == '#' || strtoull(line, NULL, 10) < s->next)
            continue;
        s->failed += is_failed(line, length);
        good = fwrite(line, 1, (size_t)length, s->rows) == (size_t)length;
    }
    free(line);
    s->next = g->end;
    return good && at == g->at + g->length;
}

/* One file at a time is open: there may be more parts than a process may open. */
static bool copy_all(sweep *s, const part_list *p)
{
    size_t open = p->count;
    FILE *from = NULL;
    bool good = true;
    s->next = s->first;
    s->failed = 0;
    for (size_t i = 0; good && i < p->segment_count; i++) {
        const segment *g = &p->segments[i];
        if (g->end <= s->next)
            continue;
        if (open != g->file) {
            if (from)
                fclose(from);
            from = fopen(p->paths[open = g->file], "r");
        }
        good = from && copy_segment(s, g, from);
    }
    if (from)
        fclose(from);
    return good && s->next == s->end;
}

bool parts_gather(sweep *s, const part_list *p)
{
    size_t size = strlen(s->rows_path) + 16;
    char *path = memory_new(1, size);
    if (!path)
        return false;
    snprintf(path, size, "%s.new", s->rows_path);
    if (s->rows)
        fclose(s->rows);
    s->rows = fopen(path, "w+");
    bool good = s->rows != NULL;
    if (good) {
        rows_head(s);
        good = copy_all(s, p) && fflush(s->rows) == 0 && fsync(fileno(s->rows)) == 0 &&
               rename(path, s->rows_path) == 0;
    }
    if (!good)
        (void)cannot_write(s, path);
    free(path);
    return good;
}

void parts_remove(const sweep *s, const part_list *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->paths[i], s->rows_path) != 0)
            unlink(p->paths[i]);
}

void parts_release(part_list *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->paths[i]);
    free(p->paths);
    free(p->segments);
    *p = (part_list){0};
}
