/* Refuses outputs that would overwrite an input or another output, before anything is written.
 * Files are told apart by device and inode, and where there is none yet by folder and name. */
#include "output_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct identity {
    bool exists, has_folder;
    struct stat about, folder;
    const char *base; /* the name inside the folder */
} identity;

static identity identity_of(const char *path)
{
    identity id = {0};
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    id.base = slash ? slash + 1 : path;
    id.exists = stat(path, &id.about) == 0;
    if (slash && (size_t)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path + 1), path) >=
                     sizeof folder)
        return id;
    id.has_folder = stat(folder, &id.folder) == 0;
    return id;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Two names of one file. A terminal or /dev/null may be written twice. */
static bool same_file(const char *a, const char *b)
{
    identity x = identity_of(a), y = identity_of(b);
    if (x.exists && y.exists)
        return same_inode(&x.about, &y.about) && !S_ISCHR(x.about.st_mode);
    return x.has_folder && y.has_folder && same_inode(&x.folder, &y.folder) &&
           strcmp(x.base, y.base) == 0;
}

/* Is an open descriptor this file? */
static bool is_descriptor(int descriptor, const char *path)
{
    struct stat about;
    identity id = identity_of(path);
    return id.exists && S_ISREG(id.about.st_mode) && fstat(descriptor, &about) == 0 &&
           same_inode(&about, &id.about);
}

/* The path itself or PATH.partial, under which it is written first. */
static bool touches(const char *output, const char *other)
{
    char partial[PATH_MAX];
    if (same_file(output, other))
        return true;
    int length = snprintf(partial, sizeof partial, "%s.partial", output);
    return length > 0 && (size_t)length < sizeof partial && same_file(partial, other);
}

/* ---- one output ---- */

static int refuse_input(const char *output, const char *input)
{
    if (strcmp(output, input) == 0)
        return usage_error("'%s' is read by this command and cannot be its output", output);
    return usage_error("the output '%s' would overwrite '%s', which this command reads", output,
                       input);
}

/* The shell's redirections: `hamel run - --csv m.hamel < m.hamel`, `--csv out > out`. */
static int check_streams(const invocation *call, const char *output)
{
    static const char *const names[] = {"standard input", "standard output", "standard error"};
    bool named = strncmp(output, "/dev/", 5) == 0 || strncmp(output, "/proc/", 6) == 0;
    bool reads = call->model && strcmp(call->model, "-") == 0;
    for (int stream = reads ? 0 : 1; stream < (named ? 1 : 3); stream++)
        if (is_descriptor(stream, output))
            return usage_error("the output '%s' is also the %s of this command", output,
                               names[stream]);
    return EXIT_DONE;
}

static int check_inputs(const invocation *call, const char *output)
{
    if (call->model && strcmp(call->model, "-") != 0 && touches(output, call->model))
        return refuse_input(output, call->model);
    if (call->argument_count > 0 && touches(output, call->arguments[0]))
        return refuse_input(output, call->arguments[0]);
    const option_spec *options = call->command->options;
    for (size_t i = 0; options[i].name; i++)
        if (option_file_role(options[i].name) == FILE_READ && call->values[i] &&
            touches(output, call->values[i]))
            return refuse_input(output, call->values[i]);
    return check_streams(call, output);
}

int output_check(const invocation *call, const char *path)
{
    char why[PATH_MAX + 64];
    if (!hm_file_possible(path, why, sizeof why))
        return usage_error("cannot write '%s': %s", path, why);
    return check_inputs(call, path);
}

/* ---- all outputs ---- */

static int check_pair(const option_spec *a, const char *first, const option_spec *b,
                      const char *second)
{
    if (touches(first, second) || touches(second, first))
        return usage_error("%s '%s' and %s '%s' are the same file", a->name, first, b->name,
                           second);
    return EXIT_DONE;
}

static int check_others(const invocation *call, size_t i)
{
    const option_spec *options = call->command->options;
    int status = EXIT_DONE;
    for (size_t j = 0; j < i && status == EXIT_DONE; j++)
        if (option_file_role(options[j].name) == FILE_WRITTEN && call->values[j])
            status = check_pair(&options[j], call->values[j], &options[i], call->values[i]);
    return status;
}

int outputs_check(const invocation *call)
{
    const option_spec *options = call->command->options;
    int status = EXIT_DONE;
    for (size_t i = 0; options[i].name && status == EXIT_DONE; i++) {
        const char *path = call->values[i];
        if (option_file_role(options[i].name) == FILE_NONE || !path)
            continue;
        if (path[0] == '\0')
            return usage_error("%s needs the name of a file", options[i].name);
        if (option_file_role(options[i].name) == FILE_WRITTEN)
            status = output_check(call, path);
        if (status == EXIT_DONE && option_file_role(options[i].name) == FILE_WRITTEN)
            status = check_others(call, i);
    }
    return status;
}

int outputs_spare_sources(const invocation *call, const hm_context *context)
{
    const option_spec *options = call->command->options;
    for (size_t i = 0; options[i].name; i++)
        for (size_t k = 0; k < hm_context_file_count(context); k++)
            if (option_file_role(options[i].name) == FILE_WRITTEN && call->values[i] &&
                touches(call->values[i], hm_context_file(context, k)))
                return refuse_input(call->values[i], hm_context_file(context, k));
    return EXIT_DONE;
}
