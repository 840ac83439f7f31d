/* Hamel from a C program: a model from a file's text, with a parameter overridden, derived to JSON;
 * and what a mistake in a model looks like from a program.
 *
 *     cc derive.c $(pkg-config --cflags --libs hamel) && ./a.out
 */
#include <hamel/hamel.h>

#include <stdio.h>
#include <string.h>

static const char chain[] = "param N = 2, m = 1, g = 9.81\n"
                            "coord x[1..N], y[1..N]\n"
                            "for i = 1..N {\n"
                            "    body bead[i] { mass m  at [x[i], y[i]] }\n"
                            "    constraint wire[i]: y[i] = x[i]^2\n"
                            "}\n"
                            "gravity [0, -g]\n";

/* Receives the text piece by piece; false would stop it. */
static bool print(void *user, const char *bytes, size_t length)
{
    return fwrite(bytes, 1, length, user) == length;
}

/* N sets a size, so it is overridden before the model is built; m could also be set later. */
static hm_status derive(hm_context *context, hm_format format, size_t *rows)
{
    const hm_override overrides[] = {{"N", "3"}, {"m", "1/4"}};
    hm_model_options options = hm_model_options_default();
    options.overrides = overrides;
    options.override_count = 2;
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_status status = hm_model_parse(context, chain, strlen(chain), &options, &model);
    if (status == HM_OK)
        status = hm_system_create(model, &system);
    if (status == HM_OK)
        status = hm_system_derive(system, format, print, stdout);
    *rows = status == HM_OK ? hm_model_constraint_count(model) : 0;
    hm_system_destroy(system);
    hm_model_destroy(model);
    return status;
}

/* Every mistake is a diagnostic with its place; the library itself prints nothing. */
static bool shows_mistakes(hm_context *context)
{
    static const char wrong[] = "coord theta\nkinetic thta'^2/2\n";
    hm_model *model = NULL;
    if (hm_model_parse(context, wrong, strlen(wrong), NULL, &model) != HM_ERR_INPUT)
        return false;
    const hm_diagnostic *first = hm_context_diagnostic(context, 0);
    printf("line %d, column %d: %s; %s\n", first->line, first->column, first->message, first->hint);
    bool right = first->severity == HM_SEVERITY_ERROR && first->line == 2 && first->column == 9;
    hm_context_clear(context);
    return right;
}

int main(void)
{
    size_t rows = 0;
    hm_context *context = hm_context_create(NULL);
    if (!context)
        return 1;
    hm_status status = derive(context, HM_FORMAT_JSON, &rows);
    if (status != HM_OK)
        fprintf(stderr, "derive: %s\n", hm_status_text(status));
    bool good = status == HM_OK && rows == 3 && shows_mistakes(context);
    hm_context_destroy(context);
    return good ? 0 : 1;
}
