/* Bytes -> specifications of a sweep: grid, random, measures, each a line -> plans and measures.
 *
 * Checked besides crashes: a failure says why, nothing is leaked; a plan has as many points as its parts
 * multiply to, a point is the same whenever it is asked for, in whatever order, and within what its
 * distribution allows.
 */
#include <hamel/hamel.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 48 << 20, MOST_COLUMNS = 64 };

static const char model_text[] = "param m = 1, k = 4, w = [1, 2], N = 2\n"
                                 "coord x, q[1..2]\ninput u = 0\nstate z' = -z\n"
                                 "kinetic m/2*x'^2 + dot(q', q')/2\npotential k/2*x^2\n"
                                 "force q[1] = u\nevent hit: x = 0 record\ninitial x = 1\n";

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    abort();
}

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

static void require_said(const hm_context *context, hm_status status)
{
    if (status != HM_OK && status != HM_ERR_NOMEM)
        require(hm_context_error_count(context) > 0, "a failure without a message");
}

static void check_plan(const hm_sweep_plan *plan, const hm_sweep_spec *spec)
{
    double first[MOST_COLUMNS], again[MOST_COLUMNS];
    size_t columns = hm_sweep_plan_columns(plan), points = hm_sweep_plan_points(plan), product = 1;
    if (columns > MOST_COLUMNS)
        return;
    for (size_t c = 0; c < columns; c++) {
        require(hm_sweep_plan_name(plan, c)[0] != '\0', "a column without a name");
        if (hm_sweep_plan_levels(plan, c))
            product *= hm_sweep_plan_levels(plan, c);
    }
    require(points == product * (spec->random ? spec->samples : 1), "number of points");
    const size_t asked[] = {0, points / 2, points - 1, points / 3};
    for (int i = 0; points && i < 4; i++) {
        hm_sweep_plan_point(plan, asked[i], first);
        hm_sweep_plan_point(plan, asked[(i + 1) % 4], again);
        hm_sweep_plan_point(plan, asked[i], again);
        require(memcmp(first, again, columns * sizeof *first) == 0, "a point changes");
        for (size_t c = 0; c < columns; c++)
            require(!isnan(first[c]), "a point is not a number");
    }
}

/* The next line, ended by NUL; NULL where there is none or it is empty. */
static char *next_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (end)
        *end = '\0';
    *at = end ? end + 1 : line + strlen(line);
    return line[0] ? line : NULL;
}

static void try_text(hm_context *context, const hm_model *model, char *text)
{
    hm_sweep_plan *plan = NULL;
    hm_measures *measures = NULL;
    hm_sweep_spec spec = hm_sweep_spec_default();
    const char *numbers = next_line(&text);
    spec.samples = numbers ? (size_t)strtoul(numbers, NULL, 10) % 100000 : 3;
    spec.sobol = numbers && strchr(numbers, 's');
    spec.seed = numbers ? strlen(numbers) : 1;
    spec.grid = next_line(&text);
    spec.random = next_line(&text);
    const char *measure = next_line(&text);
    hm_status status = hm_sweep_plan_create(context, model, &spec, &plan);
    require_said(context, status);
    if (status == HM_OK)
        check_plan(plan, &spec);
    hm_sweep_plan_destroy(plan);
    hm_context_clear(context);
    if (!measure)
        return;
    status = hm_measures_parse(context, measure, &measures);
    require_said(context, status);
    for (size_t i = 0; status == HM_OK && i < hm_measures_count(measures); i++)
        require(hm_measures_name(measures, i)[0] != '\0', "a measure without a name");
    if (status == HM_OK)
        require(hm_measures_statements(measures) != NULL, "statements");
    hm_measures_destroy(measures);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static hm_context *models;
    static hm_model *model;
    size_t live = 0;
    if (!model) {
        models = hm_context_create(NULL);
        require(hm_model_parse(models, model_text, sizeof model_text - 1, NULL, &model) == HM_OK,
                "the model reads");
    }
    const hm_allocator allocator = {limited_resize, &live};
    hm_context *context = hm_context_create(&allocator);
    char *text = malloc(size + 1);
    require(context && text, "memory");
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    try_text(context, model, text);
    hm_context_destroy(context);
    require(live == 0, "memory is left");
    free(text);
    return 0;
}
