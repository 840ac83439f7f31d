/* Reading models and showing what was found in them. */
#include "command.h"
#include "examples.h"
#include "output_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- diagnostics ---- */

static bool use_color(void)
{
    const char *no_color = getenv("NO_COLOR");
    return isatty(STDERR_FILENO) && !(no_color && no_color[0]);
}

static void print_diagnostic(const hm_diagnostic *diagnostic)
{
    char local[2048], *text = local;
    size_t length = hm_diagnostic_format(diagnostic, use_color(), local, sizeof local);
    if (length >= sizeof local) {
        text = memory_new(1, length + 1);
        if (text)
            hm_diagnostic_format(diagnostic, use_color(), text, length + 1);
    }
    fputs(text ? text : local, stderr);
    if (text != local)
        free(text);
}

void print_diagnostics(hm_context *context, bool quiet)
{
    size_t shown = 0;
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++) {
        const hm_diagnostic *diagnostic = hm_context_diagnostic(context, i);
        if (quiet && diagnostic->severity != HM_SEVERITY_ERROR)
            continue;
        print_diagnostic(diagnostic);
        shown += diagnostic->severity == HM_SEVERITY_ERROR;
    }
    if (hm_context_error_count(context) > shown)
        fputs("hamel: more errors were found; fix these first\n", stderr);
    hm_context_clear(context);
}

void print_sim_diagnostics(const hm_sim *sim, bool quiet)
{
    if (sim)
        print_diagnostics(hm_sim_context(sim), quiet);
}

int exit_status_of(hm_status status)
{
    switch (status) {
    case HM_OK:
        return EXIT_DONE;
    case HM_ERR_INPUT:
    case HM_ERR_USAGE:
    case HM_ERR_LIMIT:
    case HM_ERR_IO:
        return EXIT_BAD_INPUT;
    case HM_ERR_NOMEM:
        memory_note_failure(); /* said at the end, by main.c */
        return EXIT_FAILED;
    default:
        return EXIT_FAILED;
    }
}

/* ---- reading ---- */

enum { MOST_INPUT = 17 << 20 };

/* All of standard input, at most a little more than the library accepts. */
static char *read_stdin(size_t *length)
{
    size_t capacity = 1 << 16;
    char *text = memory_new(1, capacity);
    *length = 0;
    while (text && !feof(stdin) && !ferror(stdin) && *length < MOST_INPUT) {
        if (*length == capacity) {
            char *grown = memory_resize(text, capacity *= 2);
            if (!grown) {
                free(text);
                return NULL;
            }
            text = grown;
        }
        *length += fread(text + *length, 1, capacity - *length, stdin);
    }
    return text;
}

static const char *example_name(const void *list, size_t i)
{
    return ((const struct hamel_example *)list)[i].name;
}

void hint_at_examples(const char *word)
{
    const char *slash = strrchr(word, '/');
    char stem[64];
    snprintf(stem, sizeof stem, "%s", slash ? slash + 1 : word);
    char *dot = strrchr(stem, '.');
    if (find_example(word) || (dot && strcmp(dot, ".hamel") != 0))
        return;
    if (dot)
        *dot = '\0';
    const char *meant = nearest_name(stem, hamel_example_count, example_name, hamel_examples);
    if (meant)
        say("  hint: did you mean the example '%s'?\n", meant);
    else if (!slash && !dot)
        fputs("  hint: 'hamel examples' lists the built-in examples\n", stderr);
}

static hm_status parse_stdin(session *s, hm_model_options *options)
{
    if (!s->text)
        s->text = read_stdin(&s->length);
    if (!s->text)
        return HM_ERR_NOMEM;
    options->name = "<stdin>";
    return hm_model_parse(s->context, s->text, s->length, options, &s->model);
}

/* A file takes precedence over an example of the same name. */
static hm_status read_model(session *s, const invocation *call, const char *more,
                            const char *more_name)
{
    hm_model_options options = hm_model_options_default();
    options.more = more;
    options.more_name = more_name;
    options.overrides = call->overrides;
    options.override_count = call->override_count;
    options.scene = call->command->scene;
    if (strcmp(call->model, "-") == 0)
        return parse_stdin(s, &options);
    const struct hamel_example *example = access(call->model, F_OK) != 0 ? find_example(call->model)
                                                                         : NULL;
    if (!example)
        return hm_model_load(s->context, call->model, &options, &s->model);
    options.name = call->model;
    return hm_model_parse(s->context, example->text, example->length, &options, &s->model);
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = memory_new(1, length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

static char *read_text_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = file ? memory_new(1, MOST_INPUT + 1) : NULL;
    *length = text ? fread(text, 1, MOST_INPUT, file) : 0;
    if (file)
        fclose(file);
    return text;
}

char *session_model_text(const session *s, const invocation *call, size_t *length)
{
    const struct hamel_example *example = access(call->model, F_OK) != 0 ? find_example(call->model)
                                                                         : NULL;
    *length = s->text ? s->length : example ? example->length : 0;
    if (s->text || example)
        return copy_text(s->text ? s->text : example->text, *length);
    return read_text_file(call->model, length);
}

static json_t *warnings_of(const hm_context *context)
{
    json_t *list = json_array();
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++) {
        const hm_diagnostic *d = hm_context_diagnostic(context, i);
        if (d->severity == HM_SEVERITY_WARNING)
            json_array_append_new(list, json_string(d->message));
    }
    return list;
}

void session_take_warnings(session *s, bool quiet)
{
    json_t *more = warnings_of(s->context);
    json_array_extend(s->warnings, more);
    json_decref(more);
    print_diagnostics(s->context, quiet);
}

static hm_status create_system(session *s, hm_engine engine)
{
    hm_system_options options = hm_system_options_default();
    options.engine = engine;
    return hm_system_create_with(s->model, &options, &s->system);
}

int session_open_with(session *s, const invocation *call, bool with_system, const char *more,
                      const char *more_name)
{
    const char *engine_name = option_value(call, "--engine");
    hm_engine engine = HM_ENGINE_AUTO;
    *s = (session){0};
    if (engine_name && !hm_engine_find(engine_name, &engine))
        return usage_error("unknown engine '%s'; one of auto, interp, jit", engine_name);
    *s = (session){.context = hm_context_create(memory_allocator())};
    if (!s->context)
        return EXIT_FAILED;
    hm_limits limits = hm_limits_default();
    limits.memory = memory_limit_now();
    hm_context_set_limits(s->context, &limits);
    hm_status status = read_model(s, call, more, more_name);
    if (status == HM_OK && with_system)
        status = create_system(s, engine);
    bool silent = status != HM_OK && hm_context_diagnostic_count(s->context) == 0;
    s->warnings = warnings_of(s->context);
    print_diagnostics(s->context, call->quiet);
    if (silent && status != HM_ERR_NOMEM)
        say("hamel: %s\n", hm_status_text(status));
    if (status == HM_ERR_IO)
        hint_at_examples(call->model);
    return status == HM_OK ? outputs_spare_sources(call, s->context) : exit_status_of(status);
}

int session_open(session *s, const invocation *call, bool with_system)
{
    return session_open_with(s, call, with_system, NULL, NULL);
}

void session_close(session *s)
{
    if (s->context && hm_context_memory_exceeded(s->context))
        memory_note_exceeded();
    hm_system_destroy(s->system);
    hm_model_destroy(s->model);
    hm_context_destroy(s->context);
    json_decref(s->warnings);
    free(s->text);
}

int session_reread(const session *s, const invocation *call, const char *name, const char *value,
                   session *again)
{
    invocation changed = *call;
    *again = (session){.context = hm_context_create(memory_allocator()), .length = s->length};
    changed.overrides = memory_new(call->override_count + 1, sizeof *changed.overrides);
    again->text = s->text ? memory_new(1, s->length + 1) : NULL;
    hm_status status = HM_ERR_NOMEM;
    if (again->context && changed.overrides && (!s->text || again->text)) {
        if (s->text)
            memcpy(again->text, s->text, s->length);
        if (call->override_count)
            memcpy(changed.overrides, call->overrides,
                   call->override_count * sizeof *call->overrides);
        changed.overrides[changed.override_count++] = (hm_override){name, value};
        status = read_model(again, &changed, NULL, NULL);
        print_diagnostics(again->context, true);
    }
    free(changed.overrides);
    return exit_status_of(status);
}
