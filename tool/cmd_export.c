/* hamel export: the system in another language, as a file. */
#include "command.h"
#include "fmu_file.h"
#include "output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool write_stdout(void *user, const char *bytes, size_t length)
{
    (void)user;
    return fwrite(bytes, 1, length, stdout) == length;
}

static bool write_file(void *user, const char *bytes, size_t length)
{
    return hm_file_write(user, bytes, length) == HM_OK;
}

static int choose_format(const invocation *call, hm_export_format *format)
{
    const char *name = option_value(call, "--format");
    if (!name)
        return usage_error(
            "--format says as what: c, fmu2, fmu3, modelica, sympy, julia, matlab or auto");
    if (hm_export_format_find(name, format))
        return EXIT_DONE;
    return usage_error(
        "unknown format '%s'; one of c, fmu2, fmu3, modelica, sympy, julia, matlab, auto", name);
}

/* Ends a file after the status of what was written to it; prints a message on failure. */
static int end_file(hm_file *file, const char *path, hm_status status)
{
    hm_status end = hm_file_finish(file,
                                   status == HM_OK ? HM_FILE_END_COMPLETE : HM_FILE_END_DISCARD);
    if (status == HM_ERR_IO || (status == HM_OK && end != HM_OK)) {
        fprintf(stderr, "hamel: cannot write '%s': %s\n", path, hm_file_error(file));
        return EXIT_FAILED;
    }
    return exit_status_of(status);
}

static int export_file(const session *s, const hm_export_options *options, const char *path)
{
    hm_file *file = NULL;
    int result = EXIT_FAILED;
    if (hm_file_create(NULL, path, &file) == HM_OK)
        result = end_file(file, path,
                          hm_system_export(s->context, s->system, options, write_file, file));
    else
        fprintf(stderr, "hamel: cannot write '%s': %s\n", path,
                file ? hm_file_error(file) : strerror(ENOMEM));
    hm_file_destroy(file);
    return result;
}

/* "dir/skate.c" -> "dir/skate.h"; NULL: the name does not end in .c, a message was printed, or no memory. */
static char *header_path(const char *path)
{
    size_t length = strlen(path);
    if (length < 3 || strcmp(path + length - 2, ".c") != 0) {
        (void)usage_error("the name of a C source must end in .c, not '%s'", path);
        return NULL;
    }
    char *header = strdup(path);
    if (header)
        header[length - 1] = 'h';
    return header;
}

static int export_c_files(const invocation *call, const session *s, hm_export_options options,
                          const char *path)
{
    char *header = header_path(path);
    if (!header)
        return EXIT_BAD_INPUT;
    const char *slash = strrchr(header, '/');
    options.header = slash ? slash + 1 : header;
    int status = output_check(call, header);
    if (status == EXIT_DONE)
        status = export_file(s, &options, path);
    options.part = HM_EXPORT_PART_HEADER;
    if (status == EXIT_DONE)
        status = export_file(s, &options, header);
    free(header);
    return status;
}

static bool is_unit(hm_export_format format)
{
    return format == HM_EXPORT_FORMAT_FMU2 || format == HM_EXPORT_FORMAT_FMU3;
}

static int export_system(const invocation *call, const session *s, const hm_export_options *options)
{
    const char *path = option_value(call, "-o");
    if (is_unit(options->format))
        return path ? fmu_file_write(s, options, path) : usage_error("a unit needs -o FILE.fmu");
    if (!path)
        return exit_status_of(hm_system_export(s->context, s->system, options, write_stdout, NULL));
    return options->format == HM_EXPORT_FORMAT_C ? export_c_files(call, s, *options, path)
                                                 : export_file(s, options, path);
}

static void print_json(const invocation *call, const session *s)
{
    json_t *root = json_pack("{s:s, s:s, s:s}", "model", hm_model_name(s->model), "format",
                             option_value(call, "--format"), "out", option_value(call, "-o"));
    if (root)
        json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
}

static int run(const invocation *call)
{
    session s;
    hm_export_options options = hm_export_options_default();
    int status = choose_format(call, &options.format);
    if (status != EXIT_DONE)
        return status;
    if (call->json && !option_value(call, "-o"))
        return usage_error(
            "--json needs -o FILE: the export itself goes to standard output otherwise");
    options.name = option_value(call, "--name");
    options.single_precision = option_value(call, "--single") != NULL;
    if (options.single_precision && options.format != HM_EXPORT_FORMAT_C)
        return usage_error("--single is for --format c");
    status = session_open(&s, call, true);
    if (status == EXIT_DONE)
        status = outputs_spare_sources(call, s.context);
    if (status == EXIT_DONE) {
        status = export_system(call, &s, &options);
        print_diagnostics(s.context, call->quiet);
        if (status == EXIT_DONE && call->json)
            print_json(call, &s);
    }
    session_close(&s);
    return status;
}

static const option_spec options[] = {
    {"--format", "FORMAT", "c, fmu2, fmu3, modelica, sympy, julia, matlab or auto"},
    {"-o", "FILE", "write to a file; C: FILE.c with its header FILE.h beside it"},
    {"--name", "NAME", "what functions and types begin with; default: the model's name"},
    {"--single", NULL, "float instead of double (C)"},
    {0},
};

const command command_export = {
    .name = "export",
    .summary = "write the equations in another language",
    .usage = "MODEL --format FORMAT [options]",
    .example = "hamel export skate --format c -o skate.c",
    .options = options,
    .needs_model = true,
    .run = run,
};
