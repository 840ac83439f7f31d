/* hamel derive: the equations of motion, step by step. */
#include "command.h"

#include <string.h>

static bool write_stdout(void *user, const char *bytes, size_t length)
{
    (void)user;
    return fwrite(bytes, 1, length, stdout) == length;
}

static int choose_format(const invocation *call, hm_format *format)
{
    static const char *const names[] = {"text", "latex", "json", "c"};
    const char *name = option_value(call, "--format");
    *format = call->json ? HM_FORMAT_JSON : HM_FORMAT_TEXT;
    if (!name)
        return EXIT_DONE;
    for (int i = 0; i < 4; i++)
        if (strcmp(names[i], name) == 0) {
            *format = (hm_format)i;
            return EXIT_DONE;
        }
    return usage_error("unknown format '%s'; one of text, latex, json, c", name);
}

static int derive(const invocation *call)
{
    session s;
    hm_format format;
    hm_derive_options options = hm_derive_options_default();
    options.on_constraints = option_value(call, "--on-constraints") != NULL;
    int status = choose_format(call, &format);
    if (status != EXIT_DONE)
        return status;
    status = session_open(&s, call, true);
    if (status == EXIT_DONE) {
        hm_status derived = hm_system_derive_with(s.system, format, &options, write_stdout, NULL);
        print_diagnostics(s.context, call->quiet);
        if (derived != HM_OK)
            say("hamel: %s\n", hm_status_text(derived));
        status = derived == HM_ERR_IO ? EXIT_FAILED : exit_status_of(derived);
    }
    session_close(&s);
    return status;
}

/* The arithmetic that compares forms (FLINT, GMP) aborts the process when memory runs out. */
static int run(const invocation *call)
{
    return option_value(call, "--on-constraints") ? run_in_child(derive, call) : derive(call);
}

static const option_spec options[] = {
    {"--format", "FORMAT", "text (default), latex, json or c"},
    {"--on-constraints", NULL, "also what is shorter where the constraints hold"},
    {0},
};

const command command_derive = {
    .name = "derive",
    .summary = "derive the equations of motion step by step",
    .usage = "MODEL [options]",
    .example = "hamel derive skate --format latex > skate.tex",
    .options = options,
    .needs_model = true,
    .run = run,
};
