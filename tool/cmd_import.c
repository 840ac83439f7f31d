/* hamel import: a robot's URDF file as a model. */
#include "command.h"
#include "urdf.h"
#include "values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 };

static char *read_all(FILE *in, size_t *length)
{
    size_t capacity = 1 << 16;
    char *text = memory_new(1, capacity);
    *length = 0;
    while (text && !feof(in) && !ferror(in) && *length <= MOST_BYTES) {
        if (*length == capacity) {
            char *grown = memory_resize(text, capacity *= 2);
            if (!grown)
                free(text);
            text = grown;
        }
        if (text)
            *length += fread(text + *length, 1, capacity - *length, in);
    }
    return text;
}

/* The text of the file; NULL after a message. */
static char *read_file(const char *path, size_t *length)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    errno = 0;
    char *text = in ? read_all(in, length) : NULL;
    bool failed = !in || ferror(in);
    if (failed)
        usage_error("cannot read '%s': %s", path, strerror(errno ? errno : ENOENT));
    else if (text && *length > MOST_BYTES)
        usage_error("'%s' is larger than %d MiB", path, MOST_BYTES >> 20);
    if (in && !standard)
        fclose(in);
    if (!failed && text && *length <= MOST_BYTES)
        return text;
    free(text);
    return NULL;
}

static int write_json(const urdf_robot *robot, const char *text)
{
    json_t *renamed = json_object();
    for (size_t i = 0; i < robot->link_count; i++)
        if (strcmp(robot->links[i].name, robot->links[i].id) != 0)
            json_object_set_new(renamed, robot->links[i].id, json_string(robot->links[i].name));
    for (size_t i = 0; i < robot->joint_count; i++)
        if (strcmp(robot->joints[i].name, robot->joints[i].id) != 0)
            json_object_set_new(renamed, robot->joints[i].id, json_string(robot->joints[i].name));
    json_t *all = json_pack("{s:s, s:I, s:I, s:o, s:s}", "robot", robot->name, "links",
                            (json_int_t)robot->link_count, "joints", (json_int_t)robot->joint_count,
                            "renamed", renamed, "text", text);
    bool written = json_print(all);
    json_decref(all);
    return written ? EXIT_DONE : EXIT_FAILED;
}

/* All of it in memory first: nothing is printed of what could not be finished. */
static int write_model(const urdf_robot *robot, const urdf_options *options, bool json)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    bool good = out && urdf_write(robot, options, out);
    if (out)
        good = fclose(out) == 0 && good;
    int status = EXIT_FAILED;
    if (!good)
        memory_note_failure();
    else if (json)
        status = write_json(robot, text);
    else
        status = fwrite(text, 1, length, stdout) == length ? EXIT_DONE : EXIT_FAILED;
    free(text);
    return status;
}

static int import(const invocation *call, const char *path, const char *text, size_t length)
{
    urdf_robot robot = {.quiet = call->quiet};
    const urdf_options options = {.floating = option_value(call, "--floating") != NULL,
                                  .no_limits = option_value(call, "--no-limits") != NULL,
                                  .no_friction = option_value(call, "--no-friction") != NULL,
                                  .actuators = option_value(call, "--actuators") != NULL};
    int status = EXIT_BAD_INPUT;
    if (urdf_read(&robot, strcmp(path, "-") == 0 ? "<stdin>" : path, text, length) &&
        urdf_check(&robot, &options))
        status = write_model(&robot, &options, call->json);
    else if (robot.errors == 0)
        status = EXIT_FAILED; /* no memory: said at the end, by main.c */
    urdf_release(&robot);
    return status;
}

static int run(const invocation *call)
{
    if (call->argument_count != 1)
        return usage_error("one file at a time: hamel import arm.urdf > arm.hamel");
    const char *path = call->arguments[0];
    size_t length = 0;
    char *text = read_file(path, &length);
    if (!text)
        return memory_failed() ? EXIT_FAILED : EXIT_BAD_INPUT;
    int status = import(call, path, text, length);
    free(text);
    return status;
}

static const option_spec options[] = {
    {"--floating", NULL, "the base floats freely; else it is fixed to the ground"},
    {"--no-limits", NULL, "leave the limits of joints out; else they are one-sided constraints"},
    {"--no-friction", NULL, "leave the dry friction of joints out"},
    {"--actuators", NULL, "an input u_JOINT for the force of every joint"},
    {0},
};

const command command_import = {
    .name = "import",
    .summary = "a robot's URDF file as a model on standard output",
    .usage = "FILE.urdf",
    .example = "hamel import arm.urdf > arm.hamel",
    .options = options,
    .many_arguments = true,
    .run = run,
};
