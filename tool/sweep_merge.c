/* hamel sweep --merge: the parts that --shard wrote become one file, the same bytes as without shards. */
#include "hdf5_file.h"
#include "sweep.h"
#include "values.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct part {
    char *path, *first_line, *about, *names;
    size_t index, count; /* I of N */
    FILE *file;
} part;

typedef struct merge {
    part *parts;
    size_t count, room;
} merge;

static bool add_part(merge *m, const char *path)
{
    if (m->count == m->room) {
        size_t room = m->room ? 2 * m->room : 16;
        part *grown = memory_resize(m->parts, room * sizeof *grown);
        if (!grown)
            return false;
        m->parts = grown;
        m->room = room;
    }
    m->parts[m->count++] = (part){.path = memory_copy(path)};
    return m->parts[m->count - 1].path != NULL;
}

/* A pattern, or names. */
static int add_pattern(merge *m, const char *pattern)
{
    glob_t found;
    if (glob(pattern, GLOB_NOCHECK, NULL, &found) != 0) {
        say("hamel: out of memory\n");
        return EXIT_FAILED;
    }
    bool good = true;
    for (size_t i = 0; good && i < found.gl_pathc; i++)
        good = add_part(m, found.gl_pathv[i]);
    globfree(&found);
    if (!good)
        say("hamel: out of memory\n");
    return good ? EXIT_DONE : EXIT_FAILED;
}

static char *read_line(FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    if (getline(&line, &room, file) <= 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* "... shard I/N" ends the first line. */
static int open_part(part *p)
{
    p->file = fopen(p->path, "r");
    if (!p->file)
        return usage_error("'%s' cannot be read", p->path);
    p->first_line = read_line(p->file);
    p->about = p->first_line ? read_line(p->file) : NULL;
    p->names = p->about ? read_line(p->file) : NULL;
    if (ferror(p->file))
        return usage_error("'%s' cannot be read: %s", p->path, strerror(errno));
    char *shard = p->names ? strstr(p->first_line, " shard ") : NULL;
    if (!shard || strncmp(p->first_line, "# hamel sweep ", 14) != 0 ||
        strncmp(p->about, "# {", 3) != 0 ||
        sscanf(shard, " shard %zu/%zu", &p->index, &p->count) != 2)
        return usage_error("'%s' is not a part of a sweep (--shard I/N writes them)", p->path);
    *shard = '\0';
    return EXIT_DONE;
}

static int by_index(const void *x, const void *y)
{
    const part *a = x, *b = y;
    return (a->index > b->index) - (a->index < b->index);
}

static int check_parts(const merge *m)
{
    const part *p = m->parts;
    for (size_t i = 0; i < m->count; i++) {
        if (strcmp(p[i].first_line, p[0].first_line) != 0 || strcmp(p[i].names, p[0].names) != 0 ||
            p[i].count != p[0].count)
            return usage_error("'%s' and '%s' belong to different sweeps", p[0].path, p[i].path);
        if (i && p[i].index == p[i - 1].index)
            return usage_error("'%s' and '%s' are the same shard", p[i - 1].path, p[i].path);
    }
    for (size_t i = 0; i < m->count; i++)
        if (p[i].index != i + 1)
            return usage_error("shard %zu of %zu is missing", i + 1, p[0].count);
    if (m->count != p[0].count)
        return usage_error("shard %zu of %zu is missing", m->count + 1, p[0].count);
    return EXIT_DONE;
}

/* ---- the whole ---- */

typedef struct merged {
    size_t points, failed;
    char **names;
    size_t count;
} merged;

/* A column's name up to the next comma outside quotes; quotes are taken away, in place. */
static char *next_name(char **rest)
{
    char *name = *rest, *to = name, *from = name;
    bool quoted = *from == '"';
    for (from += quoted; *from && (quoted ? *from != '"' || from[1] == '"' : *from != ',');) {
        from += quoted && *from == '"';
        *to++ = *from++;
    }
    from += quoted && *from == '"';
    *rest = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    return name;
}

/* Into pieces of `line`, which is changed. */
static bool split_names(char *line, merged *m)
{
    size_t room = 2;
    for (const char *c = line; *c; c++)
        room += *c == ',';
    m->names = memory_new(room, sizeof *m->names);
    for (char *rest = line; m->names && rest;)
        m->names[m->count++] = next_name(&rest);
    return m->names != NULL;
}

/* Rows of all parts, with what is to be known of them on the way. */
static bool copy_rows(const merge *m, merged *all, FILE *to)
{
    char *line = NULL;
    size_t room = 0, last = SIZE_MAX;
    ssize_t length;
    bool good = true;
    for (size_t i = 0; good && i < m->count; i++) {
        while (good && (length = getline(&line, &room, m->parts[i].file)) > 0) {
            size_t point = (size_t)strtoull(line, NULL, 10);
            all->points += point != last;
            all->failed += length > 8 && strcmp(line + length - 8, ",failed\n") == 0;
            last = point;
            good = fwrite(line, 1, (size_t)length, to) == (size_t)length;
        }
        good = good && feof(m->parts[i].file);
    }
    free(line);
    return good;
}

static bool keeps_every(const char *about)
{
    json_t *object = json_loads(about, 0, NULL);
    const char *keep = json_string_value(json_object_get(object, "keep"));
    bool every = keep && strcmp(keep, "every") == 0;
    json_decref(object);
    return every;
}

/* The same bytes as from one process. */
static bool write_csv(FILE *rows, const char *path)
{
    char block[1 << 16];
    size_t length;
    hm_file *file = NULL;
    bool good = hm_file_create(memory_allocator(), path, &file) == HM_OK && rows_rewind(rows);
    for (int line = 1; good && line < ROWS_HEAD; line++)
        for (int c = 0; c != '\n' && c != EOF;)
            c = getc(rows);
    while (good && (length = fread(block, 1, sizeof block, rows)) > 0)
        good = hm_file_write(file, block, length) == HM_OK;
    good = good && !ferror(rows);
    good = file &&
           hm_file_finish(file, good ? HM_FILE_END_COMPLETE : HM_FILE_END_DISCARD) == HM_OK && good;
    if (!good)
        say("hamel: cannot write '%s'%s%s\n", path, file ? ": " : "",
            file ? hm_file_error(file) : "");
    hm_file_destroy(file);
    return good;
}

static bool is_hdf5(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0);
}

static bool write_rows(const merge *m, merged *all, FILE *rows, const char *out)
{
    const part *first = &m->parts[0];
    const char *about = first->about + 2;
    fprintf(rows, "%s\n%s\n%s\n", first->first_line, first->about, first->names);
    bool good = copy_rows(m, all, rows) && fflush(rows) == 0;
    if (!good) {
        say("hamel: cannot write what is to become '%s': %s\n", out, strerror(errno));
        return false;
    }
    if (!split_names(first->names, all))
        return false;
    const rows_about what = {.names = all->names,
                             .count = all->count,
                             .status = !keeps_every(about),
                             .identity = first->first_line,
                             .description = about,
                             .path = first->path};
    return is_hdf5(out) ? sweep_write_hdf5(&what, rows, out) : write_csv(rows, out);
}

static void tell(const merge *m, const merged *all, const invocation *call, const char *out)
{
    if (!call->json) {
        if (!call->quiet)
            printf("merged %zu parts into %s: %zu points, %zu failed\n", m->count, out, all->points,
                   all->failed);
        return;
    }
    json_t *object = json_object(), *columns = json_array(),
           *about = json_loads(m->parts[0].about + 2, 0, NULL);
    for (size_t i = 0; i < all->count; i++)
        json_array_append_new(columns, json_string(all->names[i]));
    json_object_set(object, "model", json_object_get(about, "model"));
    set_count(object, "parts", (json_int_t)m->count);
    set_count(object, "points", (json_int_t)all->points);
    set_count(object, "done", (json_int_t)all->points);
    set_count(object, "failed", (json_int_t)all->failed);
    json_object_set_new(object, "columns", columns);
    set_text(object, "out", out);
    (void)json_print(object);
    json_decref(object);
    json_decref(about);
}

/* Rows go through a file beside the result that has no name any more. */
static int write_merged(const merge *m, const invocation *call, const char *out)
{
    merged all = {0};
    size_t size = strlen(out) + 16;
    char *path = memory_new(1, size);
    if (path)
        snprintf(path, size, "%s.merging", out);
    FILE *rows = path ? fopen(path, "w+x") : NULL;
    if (!rows)
        say("hamel: cannot write '%s': %s\n", path ? path : out, strerror(errno));
    else
        unlink(path);
    bool good = rows && write_rows(m, &all, rows, out);
    if (good)
        tell(m, &all, call, out);
    if (rows)
        fclose(rows);
    free(all.names);
    free(path);
    return good ? EXIT_DONE : EXIT_FAILED;
}

static int merge_parts(merge *m, const invocation *call, const char *out)
{
    int code = is_hdf5(out) ? hdf5_check("give --out a name that ends in .csv") : EXIT_DONE;
    for (size_t i = 0; code == EXIT_DONE && i < m->count; i++)
        code = open_part(&m->parts[i]);
    if (code != EXIT_DONE)
        return code;
    qsort(m->parts, m->count, sizeof *m->parts, by_index);
    code = check_parts(m);
    return code == EXIT_DONE ? write_merged(m, call, out) : code;
}

int sweep_merge(const invocation *call)
{
    merge m = {0};
    const char *out = option_value(call, "--out");
    if (!out)
        return usage_error("--merge needs --out FILE");
    int code = add_pattern(&m, option_value(call, "--merge"));
    for (size_t i = 0; code == EXIT_DONE && i < call->argument_count; i++)
        code = add_pattern(&m, call->arguments[i]);
    if (code == EXIT_DONE)
        code = merge_parts(&m, call, out);
    for (size_t i = 0; i < m.count; i++) {
        if (m.parts[i].file)
            fclose(m.parts[i].file);
        free(m.parts[i].path);
        free(m.parts[i].first_line);
        free(m.parts[i].about);
        free(m.parts[i].names);
    }
    free(m.parts);
    return code;
}
