/* Files: loading with limits, and what `include` may reach.
 *
 * An include names a file by a path relative to the including file, and never reaches outside the
 * including file's folder tree, whether by an absolute path, by "..", or through a symbolic link.
 */
#include "lang/parser_internal.h"

#include <hamel/model.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

static void report_too_large(hm_context *context, hmi_span at, const char *name)
{
    hmi_error(context, at, "split the model, or write repeated parts with 'for'",
              "'%s' is larger than %d MiB", name, HMI_MOST_SOURCE_BYTES >> 20);
    context->limit_exceeded = true;
}

/* Opens a regular file (or a pipe) of acceptable size; -1 after reporting. Not with fopen, whose
 * buffer would not come from the context's allocator. */
static int open_source(hm_context *context, const char *path, const char *name, hmi_span at)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &info) != 0) {
        hmi_error(context, at, NULL, "cannot read '%s': %s", name, strerror(errno));
    } else if (S_ISDIR(info.st_mode)) {
        hmi_error(context, at, NULL, "'%s' is a folder, not a model", name);
    } else if (S_ISREG(info.st_mode) && info.st_size > HMI_MOST_SOURCE_BYTES) {
        report_too_large(context, at, name);
    } else {
        return file;
    }
    if (file >= 0)
        close(file);
    return -1;
}

/* Everything up to the end, at most HMI_MOST_SOURCE_BYTES and a block. */
static bool read_all(int file, hmi_text *text)
{
    char block[65536];
    for (;;) {
        ssize_t got = read(file, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        hmi_text_add_bytes(text, block, (size_t)got);
        if (text->failed || text->length > HMI_MOST_SOURCE_BYTES)
            return true;
    }
}

/* The text that stands for a file; NULL: none does. */
static const hm_open_text *open_text_of(const hm_context *context, const char *path)
{
    for (size_t i = 0; i < context->open_text_count; i++)
        if (strcmp(context->open_texts[i].path, path) == 0)
            return &context->open_texts[i];
    return NULL;
}

uint32_t hmi_load_source(hm_context *context, const char *path, const char *name, hmi_span at)
{
    const hm_open_text *open = open_text_of(context, path);
    if (open && open->length <= HMI_MOST_SOURCE_BYTES)
        return hmi_context_add_source(context, name, path, open->text, open->length);
    int file = open_source(context, path, name, at);
    if (file < 0)
        return HMI_NO_FILE;
    hmi_text text;
    hmi_text_init(&text, &context->allocator);
    uint32_t source = HMI_NO_FILE;
    char resolved[PATH_MAX];
    if (!read_all(file, &text))
        hmi_error(context, at, NULL, "cannot read '%s': %s", name, strerror(errno));
    else if (text.failed)
        context->out_of_memory = true;
    else if (text.length > HMI_MOST_SOURCE_BYTES)
        report_too_large(context, at, name);
    else
        source = hmi_context_add_source(context, name, realpath(path, resolved),
                                        hmi_text_view(&text), text.length);
    close(file);
    hmi_text_release(&text);
    return source;
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Does some component read ".."? */
static bool climbs(const char *path)
{
    for (const char *s = path; s; s = strchr(s, '/') ? strchr(s, '/') + 1 : NULL)
        if (strncmp(s, "..", 2) == 0 && (s[2] == '/' || s[2] == '\0'))
            return true;
    return false;
}

/* The folder of the including file, with a final slash; for text from memory the current one. */
static const char *including_folder(hmi_parser *p, size_t *length)
{
    const char *path = hmi_context_source(p->context, p->lexer.file)->path;
    if (path) {
        *length = folder_length(path);
        return path;
    }
    char here[PATH_MAX];
    if (!realpath(".", here)) {
        hmi_error(p->context, p->previous, NULL, "the current folder does not exist any more: %s",
                  strerror(errno));
        return NULL;
    }
    const char *slash = strcmp(here, "/") == 0 ? "" : "/";
    const char *copy = hmi_context_printf(p->context, "%s%s", here, slash);
    *length = copy ? strlen(copy) : 0;
    return copy;
}

static bool included_already(const hmi_parser *p, const char *path)
{
    for (const hmi_include_frame *frame = p->frames; frame; frame = frame->outer)
        if (frame->path && strcmp(frame->path, path) == 0)
            return true;
    return false;
}

/* The resolved path of an include, checked; NULL after reporting. */
static const char *resolve_include(hmi_parser *p, hmi_span at, const char *path, bool numbers)
{
    const char *rule =
        numbers ? "a file of numbers must lie inside the folder of the file that names it"
                : "an included file must lie inside the folder of the file that includes it";
    const char *what = numbers ? "the path" : "include of";
    size_t length;
    if (path[0] == '\0') {
        hmi_error(p->context, at, numbers ? "write \"file.csv\"" : "write include \"other.hamel\"",
                  "the path is empty");
        return NULL;
    }
    if (path[0] == '/' || climbs(path)) {
        hmi_error(p->context, at, rule, "%s '%s' leaves the model's folder", what, path);
        return NULL;
    }
    const char *folder = including_folder(p, &length);
    const char *joined = folder
                             ? hmi_context_printf(p->context, "%.*s%s", (int)length, folder, path)
                             : NULL;
    if (!joined)
        return NULL;
    char resolved[PATH_MAX];
    struct stat info;
    if (!realpath(joined, resolved) || stat(resolved, &info) != 0)
        hmi_error(p->context, at, NULL, "cannot read '%s': %s", path, strerror(errno));
    else if (strncmp(resolved, folder, length) != 0)
        hmi_error(p->context, at, rule, "%s '%s' leaves the model's folder", what, path);
    else if (!S_ISREG(info.st_mode)) /* opening a pipe could wait for ever */
        hmi_error(p->context, at, NULL, "'%s' is %s, not a %s", path,
                  S_ISDIR(info.st_mode) ? "a folder" : "not a regular file",
                  numbers ? "file" : "model");
    else if (!numbers && included_already(p, resolved))
        hmi_error(p->context, at, NULL, "'%s' includes itself, directly or indirectly", path);
    else
        return hmi_context_printf(p->context, "%s", resolved);
    return NULL;
}

static int include_depth(const hmi_parser *p)
{
    int depth = 0;
    for (const hmi_include_frame *frame = p->frames; frame; frame = frame->outer)
        depth++;
    return depth;
}

/* One file included again and again is bounded too. */
static bool within_total(hm_context *context, hmi_span at)
{
    size_t total = 0;
    for (size_t i = 0; i < context->sources.count; i++)
        total += context->sources.data[i].length;
    if (total <= HMI_MOST_TOTAL_BYTES)
        return true;
    hmi_error(context, at, NULL, "more than %d MiB of included files", HMI_MOST_TOTAL_BYTES >> 20);
    context->limit_exceeded = true;
    return false;
}

bool hmi_parse_include(hmi_parser *p, hmi_span at, const char *path, hmi_statement ***tail,
                       uint32_t *contains)
{
    if (++*p->includes > HMI_MOST_INCLUDES || include_depth(p) > HMI_MOST_INCLUDE_DEPTH) {
        hmi_error(p->context, at, NULL, "too many included files");
        return false;
    }
    const char *resolved = resolve_include(p, at, path, false);
    if (!resolved)
        return false;
    uint32_t file = hmi_load_source(p->context, resolved, path, at);
    if (file == HMI_NO_FILE || !within_total(p->context, at))
        return false;
    hmi_include_frame frame = {resolved, p->frames};
    return hmi_parse_file(p, p->tree, file, p->includes, &frame, tail, contains) == HM_OK;
}

uint32_t hmi_load_numbers(hmi_parser *p, hmi_span at, const char *path)
{
    const char *resolved = resolve_include(p, at, path, true);
    uint32_t file = resolved ? hmi_load_source(p->context, resolved, path, at) : HMI_NO_FILE;
    return file != HMI_NO_FILE && within_total(p->context, at) ? file : HMI_NO_FILE;
}
