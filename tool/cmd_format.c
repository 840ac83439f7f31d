/* hamel format: the canonical layout of a model file. */
#include "buffer.h"
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* False after a message. */
static bool read_all(const char *path, buffer *text)
{
    bool good = buffer_read(text, path);
    if (!good)
        fprintf(stderr, "hamel: cannot read '%s': %s\n", path, strerror(errno));
    return good;
}

static int write_back(const char *path, const buffer *text)
{
    hm_file *file = NULL;
    hm_status status = hm_file_create(NULL, path, &file);
    if (status == HM_OK)
        status = hm_file_write(file, text->bytes, text->length);
    if (status == HM_OK)
        status = hm_file_finish(file, HM_FILE_END_COMPLETE);
    if (status != HM_OK)
        fprintf(stderr, "hamel: cannot write '%s': %s\n", path,
                file ? hm_file_error(file) : strerror(ENOMEM));
    hm_file_destroy(file);
    return status == HM_OK ? EXIT_DONE : EXIT_FAILED;
}

static int finish(const invocation *call, const buffer *text, const buffer *out)
{
    bool same = text->length == out->length &&
                (out->length == 0 || memcmp(text->bytes, out->bytes, out->length) == 0);
    if (option_value(call, "--check")) {
        if (!same && !call->quiet)
            fprintf(stderr, "hamel: '%s' is not in canonical layout\n", call->model);
        return same ? EXIT_DONE : EXIT_FAILED;
    }
    if (option_value(call, "--write"))
        return same ? EXIT_DONE : write_back(call->model, out);
    return fwrite(out->bytes ? out->bytes : "", 1, out->length, stdout) == out->length
               ? EXIT_DONE
               : EXIT_FAILED;
}

static int run(const invocation *call)
{
    buffer text = {0}, out = {0};
    bool write = option_value(call, "--write") != NULL;
    if (write && strcmp(call->model, "-") == 0)
        return usage_error("--write needs a file, not standard input");
    if (write && option_value(call, "--check"))
        return usage_error("--check and --write exclude each other");
    hm_context *context = hm_context_create(NULL);
    int status = EXIT_FAILED;
    if (context && read_all(call->model, &text)) {
        hm_status formatted = hm_text_format(context, call->model, text.bytes, text.length,
                                             buffer_append, &out);
        print_diagnostics(context, call->quiet);
        status = formatted == HM_OK ? finish(call, &text, &out) : exit_status_of(formatted);
    } else if (context) {
        status = EXIT_BAD_INPUT;
    }
    hm_context_destroy(context);
    buffer_release(&text);
    buffer_release(&out);
    return status;
}

static const option_spec options[] = {
    {"--write", NULL, "write the file anew instead of printing it"},
    {"--check", NULL, "print nothing; exit 1 where the layout is another"},
    {0},
};

const command command_format = {
    .name = "format",
    .summary = "write a model file in canonical layout",
    .usage = "FILE [options]",
    .example = "hamel format mine.hamel --write",
    .options = options,
    .needs_model = true,
    .run = run,
};
