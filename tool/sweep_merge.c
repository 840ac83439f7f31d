/* hamel sweep --merge: the parts that --shard wrote become one file, the same bytes as without shards. */
#include "sweep.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
    char *path, *first_line, *names;
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
    p->names = p->first_line ? read_line(p->file) : NULL;
    if (ferror(p->file))
        return usage_error("'%s' cannot be read: %s", p->path, strerror(errno));
    char *shard = p->names ? strstr(p->first_line, " shard ") : NULL;
    if (!shard || strncmp(p->first_line, "# hamel sweep ", 14) != 0 ||
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

static int write_merged(const merge *m, const char *path)
{
    char block[1 << 16];
    size_t length;
    hm_file *file = NULL;
    bool good = hm_file_create(memory_allocator(), path, &file) == HM_OK &&
                hm_file_write(file, m->parts[0].names, strlen(m->parts[0].names)) == HM_OK &&
                hm_file_write(file, "\n", 1) == HM_OK;
    for (size_t i = 0; good && i < m->count; i++) {
        while (good && (length = fread(block, 1, sizeof block, m->parts[i].file)) > 0)
            good = hm_file_write(file, block, length) == HM_OK;
        good = good && !ferror(m->parts[i].file);
    }
    good = file &&
           hm_file_finish(file, good ? HM_FILE_END_COMPLETE : HM_FILE_END_DISCARD) == HM_OK && good;
    if (!good)
        say("hamel: cannot write '%s'%s%s\n", path, file ? ": " : "",
            file ? hm_file_error(file) : "");
    hm_file_destroy(file);
    return good ? EXIT_DONE : EXIT_FAILED;
}

static int merge_parts(merge *m, const invocation *call, const char *out)
{
    int code = EXIT_DONE;
    for (size_t i = 0; code == EXIT_DONE && i < m->count; i++)
        code = open_part(&m->parts[i]);
    if (code != EXIT_DONE)
        return code;
    qsort(m->parts, m->count, sizeof *m->parts, by_index);
    code = check_parts(m);
    if (code == EXIT_DONE)
        code = write_merged(m, out);
    if (code == EXIT_DONE && call->json)
        printf("{\"parts\": %zu, \"out\": \"merged\"}\n", m->count);
    else if (code == EXIT_DONE && !call->quiet)
        printf("merged %zu parts into %s\n", m->count, out);
    return code;
}

int sweep_merge(const invocation *call)
{
    merge m = {0};
    const char *out = option_value(call, "--out");
    if (!out)
        return usage_error("--merge needs --out FILE");
    size_t length = strlen(out);
    if (length > 3 && strcmp(out + length - 3, ".h5") == 0)
        return usage_error("parts are merged as CSV; give --out a name that ends in .csv");
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
        free(m.parts[i].names);
    }
    free(m.parts);
    return code;
}
