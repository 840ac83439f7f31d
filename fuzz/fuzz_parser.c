/* Bytes -> the whole pipeline: parse, derive, compile, evaluate, read a state.
 *
 * The input is the text of a model; what follows the first "@@" is read as a state, as `--at` does.
 * Checked besides crashes: a failure says why, a success says nothing, every message can be shown,
 * nothing is leaked, and the tree, the model and the equations keep their invariants. Memory and the number of steps are limited so that a run stays short.
 */
#include <hamel/hamel.h>

#include "base/context.h"
#include "compile/system/system.h"
#include "derive/verify.h"
#include "model/verify.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 24 << 20, MOST_SIMULATED = 24, MOST_DERIVED = 2000 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* ---- an allocator with a limit, which counts what is alive ---- */

static void *limited_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    size_t *live = user;
    if (new_size == 0) {
        *live -= old_size;
        free(ptr);
        return NULL;
    }
    if (*live - old_size + new_size > MOST_BYTES)
        return NULL;
    void *result = realloc(ptr, new_size);
    if (result)
        *live += new_size - old_size;
    return result;
}

/* ---- what must hold of the messages ---- */

static void check_messages(const hm_context *context, hm_status status)
{
    char shown[4096];
    size_t errors = 0;
    for (size_t i = 0; i < hm_context_diagnostic_count(context); i++) {
        const hm_diagnostic *d = hm_context_diagnostic(context, i);
        errors += d->severity == HM_SEVERITY_ERROR;
        require(d->message && d->message[0]);
        require(d->line >= 0 && (d->line == 0 || (d->file && d->column >= 1 && d->length >= 1)));
        require(hm_diagnostic_format(d, i % 2, shown, sizeof shown) > strlen(d->message));
    }
    if (status == HM_OK)
        require(errors == 0);
    else if (status != HM_ERR_NOMEM)
        require(errors > 0);
}

/* ---- the pipeline ---- */

static hm_status read_state(const hm_model *model, const char *text)
{
    size_t n = hm_model_coordinate_count(model), z = hm_model_state_count(model);
    size_t u = hm_model_input_count(model);
    double t = 0, *state = calloc(2 * n + z + u + 1, sizeof *state);
    bool *set = calloc(u + 1, sizeof *set);
    require(state && set);
    hm_status status = hm_model_read_state(model->context, model, text, &t, state, state + n,
                                           state + 2 * n, state + 2 * n + z, set);
    free(state);
    free(set);
    return status;
}

static hm_status evaluate(const hm_system *system)
{
    hm_sim *sim = NULL;
    hm_evaluation at;
    hm_status status = hm_sim_create(system, &sim);
    if (status != HM_OK)
        return status;
    hm_sim_evaluate_fast(sim);
    if (hm_model_coordinate_count(hm_system_model(system)) <= MOST_SIMULATED)
        check_messages(hm_sim_context(sim), hm_sim_evaluate(sim, NULL, &at));
    hm_sim_destroy(sim);
    return HM_OK;
}

static hm_status derive(const hm_model *model)
{
    hm_system *system = NULL;
    if (hm_model_coordinate_count(model) > MOST_DERIVED)
        return HM_OK;
    hm_status status = hm_system_create(model, &system);
    if (status == HM_OK) {
        require(!hmi_derived_verify(&system->derived, &(hmi_violation){.text = ""}));
        status = evaluate(system);
    }
    hm_system_destroy(system);
    return status;
}

static void run(hm_context *context, const char *text, size_t length, const char *state)
{
    hm_model *model = NULL;
    hm_status status = hm_model_parse(context, text, length, NULL, &model);
    check_messages(context, status);
    if (status == HM_OK) {
        require(!hmi_model_verify(model, &(hmi_violation){.text = ""}));
        check_messages(context, derive(model));
        hm_context_clear(context);
        if (state)
            check_messages(context, read_state(model, state));
    }
    hm_model_destroy(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t live = 0;
    const hm_allocator allocator = {limited_resize, &live};
    hm_context *context = hm_context_create(&allocator);
    char *text = malloc(size + 1);
    require(context && text);
    memcpy(text, data, size);
    text[size] = '\0';
    context->most_steps = 20000;
    char *state = strstr(text, "@@");
    run(context, text, state ? (size_t)(state - text) : size, state ? state + 2 : NULL);
    hm_context_destroy(context);
    require(live == 0);
    free(text);
    return 0;
}
