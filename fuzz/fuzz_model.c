/* Bytes -> a valid model (grammar.c) -> everything that is done with models.
 *
 * Checked besides crashes and leaks: the model reads, is derived and compiled; both engines give the same
 * bits; the equations hold at the initial state; a run of some steps ends well or says why; what is printed
 * is printed to its end.
 */
#include <hamel/hamel.h>

#include "grammar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 15, MOST_COORDINATES = 64 };
static const char *shown; /* the model at work, for reports */

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "wrong: %s\n%s\n", what, shown);
    abort();
}

static void *counted_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    size_t *live = user;
    if (new_size == 0) {
        *live -= old_size;
        free(ptr);
        return NULL;
    }
    void *result = realloc(ptr, new_size);
    if (result)
        *live += new_size - old_size;
    return result;
}

static void require_done(const hm_context *context, hm_status status, const char *what)
{
    char text[1024];
    if (status == HM_OK)
        return;
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++) {
        hm_diagnostic_format(hm_context_diagnostic(context, i), false, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    require(false, what);
}

static bool count_bytes(void *user, const char *bytes, size_t length)
{
    (void)bytes;
    *(size_t *)user += length;
    return true;
}

static void print(const hm_system *system, bool contacts)
{
    for (int format = HM_FORMAT_TEXT; format <= HM_FORMAT_C; format++) {
        size_t length = 0;
        hm_status status = hm_system_derive(system, (hm_format)format, count_bytes, &length);
        require((status == HM_OK && length > 0) || (format == HM_FORMAT_C && status != HM_OK) ||
                    contacts,
                "derive");
    }
}

static void evaluate(hm_sim *sim)
{
    hm_evaluation at;
    hm_status status = hm_sim_evaluate(sim, NULL, &at);
    if (status != HM_OK) {
        require(hm_context_error_count(hm_sim_context(sim)) > 0,
                "evaluating fails without a message");
        return;
    }
    if (!at.solved || at.gram_condition > 1e8)
        return;
    require(at.check.constraint < 1e-6, "A q'' = b");
    require(at.check.balance < 1e-6, "M q'' = Q + Qc");
}

static void compare_engines(hm_sim *one, hm_sim *other, size_t n)
{
    double a[MOST_COORDINATES] = {0}, b[MOST_COORDINATES] = {0};
    hm_status first = hm_sim_accelerate(one, a), second = hm_sim_accelerate(other, b);
    require(first == second, "engines: statuses");
    for (size_t i = 0; first == HM_OK && i < n; i++)
        require(memcmp(&a[i], &b[i], sizeof *a) == 0 || (isnan(a[i]) && isnan(b[i])),
                "engines: bits");
}

static void run(hm_sim *sim, const hm_model *model, uint32_t choice)
{
    hm_run_result result;
    hm_run_options options = hm_run_options_default(model);
    options.most_steps = 25;
    options.method = hm_method_name(choice % 8);
    options.content = HM_FRAME_CONTENT_ALL;
    hm_status status = hm_sim_run(sim, &options, &result);
    if (status != HM_OK)
        require((result.message && result.message[0]) ||
                    hm_context_error_count(hm_sim_context(sim)) > 0,
                "a run fails without a message");
}

static void work(hm_context *context, const grammar *g, uint32_t choice)
{
    hm_model *model = NULL;
    hm_system *system = NULL, *interpreted = NULL;
    hm_sim *sim = NULL, *other = NULL;
    const hm_system_options interpreter = {.engine = HM_ENGINE_INTERP};
    require_done(context, hm_model_parse(context, g->text, g->length, NULL, &model),
                 "the model is valid");
    require_done(context, hm_system_create(model, &system), "it is derived");
    require_done(context, hm_system_create_with(model, &interpreter, &interpreted),
                 "it is derived");
    require(hm_sim_create(system, &sim) == HM_OK && hm_sim_create(interpreted, &other) == HM_OK,
            "sims");
    compare_engines(sim, other, hm_model_coordinate_count(model));
    evaluate(sim);
    run(sim, model, choice);
    if (choice % 16 == 0)
        print(system, g->contacts);
    hm_sim_destroy(sim);
    hm_sim_destroy(other);
    hm_system_destroy(interpreted);
    hm_system_destroy(system);
    hm_model_destroy(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[ROOM];
    size_t live = 0;
    grammar g;
    uint32_t choice = size ? data[0] : 0;
    if (!grammar_write(&g, data + (size > 0), size - (size > 0), text, sizeof text))
        return 0;
    shown = text;
    const hm_allocator allocator = {counted_resize, &live};
    hm_context *context = hm_context_create(&allocator);
    require(context != NULL, "memory");
    work(context, &g, choice);
    hm_context_destroy(context);
    require(live == 0, "memory is left");
    return 0;
}
