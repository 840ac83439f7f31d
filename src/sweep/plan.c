/* Plans from their specification: "m=1:3:5, s=0.1|0.2", "m=uniform(1,2)", a table of points.
 *
 *     ---- text ----       numbers that are expressions
 *     ---- columns ----    names and what they set
 *     ---- grid ----, ---- random ----, ---- points ----
 *     ---- the plan ----   how many points there are; what one of them sets
 *
 * Verified: test/unit/sweep/test_plan.c
 */
#include "base/argument.h"
#include "model/model.h"
#include "sweep/plan.h"

#include "sweep/pieces.h"
#include "sweep/random_point.h"

#include <math.h>
#include <string.h>

/* The most points and values that a plan may have: 2^53 counts exactly in a double. */
#define MOST_POINTS ((size_t)1 << 53)
enum { MOST_VALUES = 1 << 24 };

typedef struct hm_sweep_plan plan;

typedef hmi_text_piece piece;

/* ---- text ---- */

static hm_status refuse(const plan *p, const char *hint, const char *what, piece where)
{
    hmi_error(p->context, hmi_no_span, hint, "%s: '%.*s'", what, (int)where.length, where.text);
    return HM_ERR_USAGE;
}

/* An expression of the model's parameters. */
static hm_status read_number(plan *p, piece text, double *value)
{
    size_t errors = p->context->errors;
    if (hmi_piece_number(text, value)) /* nearly always */
        return HM_OK;
    const char *statement = text.length ? hmi_context_printf(p->context, "t = %.*s",
                                                             (int)text.length, text.text)
                                        : NULL;
    if (!statement ||
        hm_model_read_state(p->context, p->model, statement, value, NULL, NULL, NULL, NULL, NULL) !=
            HM_OK ||
        !isfinite(*value))
        return p->context->errors > errors ? HM_ERR_USAGE
                                           : refuse(p, NULL, "a number was expected", text);
    return HM_OK;
}

/* ---- columns ---- */

static hm_status add_column(plan *p, piece name, hmi_plan_column column)
{
    column.name = hmi_arena_text(&p->arena, name.text, name.length);
    if (!column.name)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < p->columns.count; i++)
        if (strcmp(p->columns.data[i].name, column.name) == 0)
            return refuse(p, NULL, "this is varied twice", name);
    hm_status status = hm_ensemble_find_column(p->context, p->model, column.name, &column.sets);
    if (status != HM_OK)
        return status;
    return hmi_array_push(&p->context->allocator, &p->columns, column) ? HM_OK : HM_ERR_NOMEM;
}

/* NAME = REST */
static hm_status split_entry(plan *p, piece entry, const char *hint, piece *name, piece *rest)
{
    const char *equals = entry.length ? memchr(entry.text, '=', entry.length) : NULL;
    if (!equals || equals == entry.text)
        return refuse(p, hint, "NAME=... was expected", entry);
    size_t at = (size_t)(equals - entry.text);
    *name = hmi_piece_trim((piece){entry.text, at});
    *rest = hmi_piece_trim((piece){equals + 1, entry.length - at - 1});
    return HM_OK;
}

static hm_status read_list(plan *p, piece text, char separator, double **values, size_t *count)
{
    bool failed = false;
    piece one;
    *count = hmi_piece_count(text, separator);
    *values = hmi_arena_doubles(&p->arena, *count, &failed);
    for (size_t i = 0; !failed && hmi_piece_next(&text, separator, &one); i++) {
        hm_status status = read_number(p, one, &(*values)[i]);
        if (status != HM_OK)
            return status;
    }
    return failed ? HM_ERR_NOMEM : HM_OK;
}

/* ---- grid ---- */

#define GRID_HINT "write NAME=from:to:count or a list NAME=a|b|c, separated by commas"

/* from:to:count, both ends included */
static hm_status read_range(plan *p, piece text, double **values, size_t *count)
{
    double *bound;
    size_t bounds;
    bool failed = false;
    hm_status status = read_list(p, text, ':', &bound, &bounds);
    if (status != HM_OK)
        return status;
    if (bounds != 3)
        return refuse(p, GRID_HINT, "from:to:count was expected", text);
    if (!(bound[2] >= 1 && bound[2] <= MOST_VALUES) || bound[2] != floor(bound[2]))
        return refuse(p, NULL, "the count must be a whole number of at least 1", text);
    *count = (size_t)bound[2];
    *values = hmi_arena_doubles(&p->arena, *count, &failed);
    for (size_t i = 0; !failed && i < *count; i++) {
        double part = *count > 1 ? (double)i / (double)(*count - 1) : 0;
        (*values)[i] = i + 1 == *count && i ? bound[1] : bound[0] + part * (bound[1] - bound[0]);
    }
    return failed ? HM_ERR_NOMEM : HM_OK;
}

static hm_status add_grid(plan *p, const char *text)
{
    piece rest = {text, strlen(text)}, entry, name, value;
    while (hmi_piece_next(&rest, ',', &entry)) {
        double *values;
        hmi_plan_column column = {.random = false};
        hm_status status = split_entry(p, entry, GRID_HINT, &name, &value);
        if (status == HM_OK)
            status = memchr(value.text, ':', value.length)
                         ? read_range(p, value, &values, &column.count)
                         : read_list(p, value, '|', &values, &column.count);
        if (status != HM_OK)
            return status;
        if (column.count > MOST_POINTS / p->base)
            return refuse(p, NULL, "the grid has too many points", entry);
        column.values = values;
        p->base *= column.count;
        status = add_column(p, name, column);
        if (status != HM_OK)
            return status;
    }
    return HM_OK;
}

/* ---- random ---- */

#define RANDOM_HINT                                                                                \
    "write NAME=uniform(a,b), normal(mean,deviation), lognormal(mean,deviation), "                 \
    "triangular(a,mode,b) or discrete(a|b|c)"

static hm_status read_distribution(plan *p, piece text, hmi_distribution *d)
{
    size_t wanted;
    double *values;
    piece name, inside;
    if (!hmi_piece_call(text, &name, &inside))
        return refuse(p, RANDOM_HINT, "a distribution was expected", text);
    if (!hmi_distribution_find(name.text, name.length, &d->kind, &wanted))
        return refuse(p, RANDOM_HINT, "there is no such distribution", name);
    char separator = d->kind == HMI_DISTRIBUTION_DISCRETE && memchr(inside.text, '|', inside.length)
                         ? '|'
                         : ',';
    hm_status status = read_list(p, inside, separator, &values, &d->count);
    if (status != HM_OK)
        return status;
    if (wanted && d->count != wanted)
        return refuse(p, RANDOM_HINT, "the number of arguments is wrong", text);
    d->argument = values;
    const char *fault = hmi_distribution_fault(d);
    return fault ? refuse(p, NULL, fault, text) : HM_OK;
}

static hm_status add_random(plan *p, const char *text)
{
    piece rest = {text, strlen(text)}, entry, name, value;
    while (hmi_piece_next(&rest, ',', &entry)) {
        hmi_plan_column column = {.random = true};
        hm_status status = split_entry(p, entry, RANDOM_HINT, &name, &value);
        if (status == HM_OK)
            status = read_distribution(p, value, &column.distribution);
        if (status == HM_OK)
            status = add_column(p, name, column);
        if (status != HM_OK)
            return status;
    }
    return HM_OK;
}

/* ---- points ---- */

static hm_status add_points(plan *p, const hm_table *table)
{
    size_t rows = hm_table_row_count(table);
    bool failed = false;
    p->from_table = true;
    p->base = rows;
    for (size_t c = 0; c < hm_table_column_count(table); c++) {
        const char *name = hm_table_name(table, c);
        double *values = hmi_arena_doubles(&p->arena, rows, &failed);
        if (failed)
            return HM_ERR_NOMEM;
        memcpy(values, hm_table_column(table, c), rows * sizeof *values);
        for (size_t i = 0; i < rows; i++)
            if (!isfinite(values[i])) {
                hmi_error(p->context, hmi_no_span, NULL,
                          "points: row %zu has no finite value of '%s'", i + 1, name);
                return HM_ERR_USAGE;
            }
        hm_status status = add_column(p, (piece){name, strlen(name)},
                                      (hmi_plan_column){.values = values});
        if (status != HM_OK)
            return status;
    }
    return HM_OK;
}

/* ---- the plan ---- */

hm_sweep_spec hm_sweep_spec_default(void)
{
    return (hm_sweep_spec){.seed = 1};
}

static hm_status complain(const plan *p, const char *what, const char *hint)
{
    hmi_error(p->context, hmi_no_span, hint, "%s", what);
    return HM_ERR_USAGE;
}

static hm_status check(const plan *p, const hm_sweep_spec *spec)
{
    size_t random = 0;
    for (size_t i = 0; i < p->columns.count; i++)
        random += p->columns.data[i].random;
    if (p->columns.count == 0)
        return complain(p, "nothing is varied", "give a grid, random values or points");
    if (random && spec->samples == 0)
        return complain(p, "random values need a number of samples", "--samples 1000");
    if (!random && (spec->samples > 0 || spec->sobol))
        return complain(p, "samples are drawn, but nothing is random",
                        "--random \"NAME=uniform(a,b)\"");
    if (spec->sobol && random > HMI_SOBOL_DIMENSIONS)
        return complain(p, "the Sobol sequence has 64 dimensions here", "vary fewer names");
    if (p->samples > MOST_POINTS / (p->base ? p->base : 1) ||
        (spec->sobol && p->base * p->samples > UINT32_MAX))
        return complain(p, "there are too many points", NULL);
    return HM_OK;
}

static hm_status read_spec(plan *p, const hm_sweep_spec *spec)
{
    hm_status status = HM_OK;
    if (spec->grid && spec->points)
        return complain(p, "a grid and points cannot be combined",
                        "put all of it into the file of points");
    if (spec->grid)
        status = add_grid(p, spec->grid);
    else if (spec->points)
        status = add_points(p, spec->points);
    if (status == HM_OK && spec->random)
        status = add_random(p, spec->random);
    return status == HM_OK ? check(p, spec) : status;
}

hm_status hm_sweep_plan_create(hm_context *context, const hm_model *model,
                               const hm_sweep_spec *spec, hm_sweep_plan **out)
{
    HMI_ARGUMENT(context, context && model && spec && out,
                 "a model and a specification are needed");
    const hm_allocator *allocator = &context->allocator;
    plan *p = hmi_alloc(allocator, sizeof *p);
    *out = NULL;
    if (!p)
        return HM_ERR_NOMEM;
    hmi_share(&model->references);
    *p = (plan){
        .context = hmi_context_share(context), .model = model, .base = 1, .seed = spec->seed};
    p->samples = spec->random ? spec->samples : 1;
    p->sobol = spec->sobol;
    hmi_arena_init(&p->arena, allocator);
    hm_status status = read_spec(p, spec);
    if (status != HM_OK) {
        hm_sweep_plan_destroy(p);
        return context->out_of_memory ? HM_ERR_NOMEM : status;
    }
    *out = p;
    return HM_OK;
}

void hm_sweep_plan_destroy(hm_sweep_plan *p)
{
    if (!p)
        return;
    const hm_allocator *allocator = &p->context->allocator;
    hmi_array_release(allocator, &p->columns);
    hmi_arena_release(&p->arena);
    hm_context *context = p->context;
    const hm_model *model = p->model;
    hmi_free(allocator, p, sizeof *p);
    hm_model_destroy((hm_model *)model);
    hm_context_destroy(context);
}

size_t hm_sweep_plan_points(const hm_sweep_plan *p)
{
    if (!p)
        return 0;
    return p->base * p->samples;
}

size_t hm_sweep_plan_columns(const hm_sweep_plan *p)
{
    if (!p)
        return 0;
    return p->columns.count;
}

const char *hm_sweep_plan_name(const hm_sweep_plan *p, size_t column)
{
    if (!p || column >= p->columns.count)
        return NULL;
    return p->columns.data[column].name;
}

size_t hm_sweep_plan_levels(const hm_sweep_plan *p, size_t column)
{
    if (!p || column >= p->columns.count)
        return 0;
    const hmi_plan_column *c = &p->columns.data[column];
    return c->random || p->from_table ? 0 : c->count;
}

void hm_sweep_plan_point(const hm_sweep_plan *p, size_t point, double *values)
{
    if (!p || !values || point >= hm_sweep_plan_points(p))
        return;
    size_t row = point / p->samples, left = row;
    uint32_t dimension = 0;
    for (size_t i = 0; i < p->columns.count; i++) {
        const hmi_plan_column *c = &p->columns.data[i];
        if (c->random) {
            double u = (p->sobol ? hmi_sobol_at : hmi_uniform_at)(p->seed, point, dimension++);
            values[i] = hmi_distribution_value(&c->distribution, u);
        } else if (p->from_table) {
            values[i] = c->values[row];
        }
    }
    for (size_t i = p->columns.count; i-- > 0;) { /* the last name of a grid varies fastest */
        const hmi_plan_column *c = &p->columns.data[i];
        if (c->random || p->from_table)
            continue;
        values[i] = c->values[left % c->count];
        left /= c->count;
    }
}
