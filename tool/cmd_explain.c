/* hamel explain: what the program made of a model, for the curious. */
#include "command.h"
#include "values.h"

#include <string.h>

static bool write_stdout(void *user, const char *bytes, size_t length)
{
    (void)user;
    return fwrite(bytes, 1, length, stdout) == length;
}

/* Lines of text as strings of a list. */
static bool write_lines(void *user, const char *bytes, size_t length)
{
    json_t *lines = user;
    const char *end = bytes + length;
    for (const char *line = bytes; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        if (json_array_append_new(lines, json_stringn(line, (size_t)(stop - line))) != 0)
            return false;
        line = stop + 1;
    }
    return true;
}

static hm_status print_json(const session *s, hm_stage stage)
{
    json_t *object = json_object(), *lines = json_array();
    hm_status status = hm_system_explain(s->system, stage, write_lines, lines);
    set_text(object, "model", hm_model_name(s->model));
    set_text(object, "stage", hm_stage_name(stage));
    json_object_set_new(object, "lines", lines);
    json_object_set(object, "warnings", s->warnings);
    if (status == HM_OK && !json_print(object))
        status = HM_ERR_IO;
    json_decref(object);
    return status;
}

static int run(const invocation *call)
{
    const char *name = option_value(call, "--stage");
    hm_stage stage = HM_STAGE_SOLVE;
    session s;
    if (name && !hm_stage_find(name, &stage))
        return usage_error("unknown stage '%s'; one of graph, tape, jet, solve", name);
    int status = session_open(&s, call, true);
    if (status == EXIT_DONE) {
        hm_status explained = call->json ? print_json(&s, stage)
                                         : hm_system_explain(s.system, stage, write_stdout, NULL);
        print_diagnostics(s.context, call->quiet);
        if (explained != HM_OK)
            say("hamel: %s\n", hm_status_text(explained));
        status = explained == HM_ERR_IO ? EXIT_FAILED : exit_status_of(explained);
    }
    session_close(&s);
    return status;
}

static const option_spec options[] = {
    {"--stage", "STAGE",
     "graph: the expressions; tape: what computes M, Q, A, b;\n"
     "jet: the series of method taylor; solve (default): how\n"
     "accelerations are found, and why so"},
    {"--engine", "ENGINE", "auto (default), interp or jit"},
    {0},
};

const command command_explain = {
    .name = "explain",
    .summary = "show what the program made of the model, stage by stage",
    .usage = "MODEL [options]",
    .example = "hamel explain skate --stage tape",
    .options = options,
    .needs_model = true,
    .run = run,
};
