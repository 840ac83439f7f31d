/* Exported C: what depends on the model, between the templates. */
#include "output/export/export.h"

#include "derive/equation_derivatives.h"
#include "expr/print/print.h"
#include "output/export/c_code.h"
#include "output/export/templates.h"

#include <string.h>

/* ---- dialect ---- */

/* In single precision the functions of <math.h> end with f, helpers do not. */
static void float_function(hmi_text *out, hmi_op op)
{
    size_t start = out->length;
    hmi_code_c.function(out, op);
    const char *name = hmi_text_view(out) + (start < out->length ? start : out->length);
    if (strncmp(name, "hm_", 3) != 0 && strncmp(name, "hmi_", 4) != 0)
        hmi_text_add(out, "f");
}

static void float_number(hmi_text *out, double value)
{
    size_t start = out->length;
    hmi_code_number_c(out, value);
    if (out->failed || strpbrk(out->data + start, "NI"))
        return;
    bool bracket = out->data[out->length - 1] == ')';
    if (bracket)
        out->length--;
    hmi_text_add(out, bracket ? "F)" : "F");
}

static hmi_code_dialect dialect_of(const hmi_export *x)
{
    hmi_code_dialect dialect = hmi_code_c;
    if (x->single) {
        dialect.declare = "const float ";
        dialect.function = float_function;
        dialect.number = float_number;
    }
    return dialect;
}

/* ---- statements ---- */

/* One list of values to be assigned: NAME[0], NAME[1], ... */
typedef struct group {
    const char *array;
    const hmi_expr *values; /* NULL, or HMI_NONE among them: 0 */
    size_t count;
} group;

/* Assignments under way: where each value goes. */
typedef struct place {
    const char *array;
    size_t index;
} place;

typedef struct assignments {
    hmi_export *x;
    place *places;
    hmi_expr *roots;
    size_t count;
} assignments;

static assignments begin_assignments(hmi_export *x, size_t most)
{
    assignments list = {.x = x,
                        .places = hmi_arena_alloc(&x->arena, (most + 1) * sizeof *list.places),
                        .roots = hmi_arena_alloc(&x->arena, (most + 1) * sizeof *list.roots)};
    if (!list.places || !list.roots)
        x->status = HM_ERR_NOMEM;
    return list;
}

static void assign(assignments *list, const char *array, size_t index, hmi_expr value)
{
    if (!list->places || !list->roots)
        return;
    list->places[list->count] = (place){array, index};
    list->roots[list->count++] = value;
}

static void write_symbol(void *user, hmi_text *out, hmi_symbol_kind kind, uint32_t index)
{
    static const char *const arrays[HMI_SYM_KIND_COUNT] = {
        [HMI_SYM_COORD] = "q",
        [HMI_SYM_VELOCITY] = "v",
        [HMI_SYM_STATE] = "z",
        [HMI_SYM_ACCELERATION] = "w->qdd",
        [HMI_SYM_INPUT] = "w->u",
        [HMI_SYM_INPUT_RATE] = "w->du",
        [HMI_SYM_INPUT_RATE2] = "w->ddu",
        [HMI_SYM_REACTION] = "w->ideal",
        [HMI_SYM_MULTIPLIER] = "w->lambda",
        [HMI_SYM_TOTAL_REACTION] = "w->total",
        [HMI_SYM_TOTAL_MULTIPLIER] = "w->lambda_total",
        [HMI_SYM_ENERGY] = "w->quantity",
        [HMI_SYM_MATRIX] = "w->lambda_total",
    };
    const assignments *list = user;
    if (kind == HMI_SYM_TIME)
        hmi_text_add(out, "t");
    else if (kind == HMI_SYM_PARAM)
        hmi_text_addf(out, "p->%s", list->x->params[index]);
    else
        hmi_text_addf(out, "%s[%u]", arrays[kind], (unsigned)index);
}

static void write_target(void *user, hmi_text *out, size_t root)
{
    const place *at = &((const assignments *)user)->places[root];
    hmi_text_addf(out, "%s[%zu]", at->array, at->index);
}

static void write_assignments(assignments *list, const hmi_graph *graph)
{
    hmi_export *x = list->x;
    hmi_code_dialect dialect = dialect_of(x);
    const hmi_code code = {.dialect = &dialect,
                           .roots = list->roots,
                           .count = list->count,
                           .user = list,
                           .symbol = write_symbol,
                           .target = write_target};
    hm_status status = x->status == HM_OK ? hmi_code_write(&x->text, graph, &code) : x->status;
    if (status != HM_OK)
        x->status = status;
}

/* The statements that assign all groups (the last one has no array). */
static void write_groups(hmi_export *x, const group *groups)
{
    size_t count = 0;
    for (const group *g = groups; g->array; g++)
        count += g->count;
    assignments list = begin_assignments(x, count);
    for (const group *g = groups; g->array; g++)
        for (size_t i = 0; i < g->count; i++)
            assign(&list, g->array, i, g->values ? g->values[i] : HMI_NONE);
    write_assignments(&list, &x->graph);
}

void hmi_c_values(hmi_export *x, const char *array, const hmi_component *components, size_t count)
{
    assignments list = begin_assignments(x, count);
    for (size_t i = 0; i < count; i++)
        assign(&list, array, i, components[i].value);
    write_assignments(&list, &x->graph);
}

static void add(hmi_export *x, const char *text)
{
    hmi_export_template(x, text, strlen(text));
}

#define STATE  "const @_params *p, @_real t, const @_real *q, const @_real *v, const @_real *z"
#define UNUSED "    (void)p, (void)t, (void)q, (void)v, (void)z;\n"

/* ---- opening ---- */

/* The helpers that the code calls; in single precision of float, not double. */
static void write_helpers(hmi_export *x, const char *code)
{
    hmi_text helpers = {.allocator = x->allocator};
    hmi_print_c_helpers(&helpers, code);
    const char *from = hmi_text_view(&helpers), *word;
    while (x->single && (word = strstr(from, "double")) != NULL) {
        hmi_text_add_bytes(&x->text, from, (size_t)(word - from));
        hmi_text_add(&x->text, "float");
        from = word + strlen("double");
    }
    hmi_text_add(&x->text, from);
    x->text.failed |= helpers.failed;
    hmi_text_release(&helpers);
}

static void write_opening(hmi_export *x, const char *code)
{
    if (x->header)
        hmi_text_addf(&x->text, "/* %s: see %s. Made by hamel %s. */\n#include \"%s\"\n\n",
                      hm_model_name(x->model), x->header, hm_version(), x->header);
    else
        hmi_export_c_header(x);
    write_helpers(x, code);
    add(x, x->single ? "#define @_SQRT sqrtf\n#define @_ABS fabsf\n#define @_POW powf\n"
                       "#define $_RANK_TOLERANCE 1e-4F\n#define $_LAW_TOLERANCE 1e-5F\n"
                       "#define $_DIFFERENCE 3e-3F\n"
                     : "#define @_SQRT sqrt\n#define @_ABS fabs\n#define @_POW pow\n"
                       "#define $_RANK_TOLERANCE 1e-10\n#define $_LAW_TOLERANCE 1e-13\n"
                       "#define $_DIFFERENCE 1e-6\n");
}

static bool uses_forces(const hmi_export *x, const hmi_expr *list, size_t count)
{
    return (hmi_code_kinds(&x->graph, list, count) &
            (HMI_DEP_FORCES | HMI_DEP(HMI_SYM_ACCELERATION) | HMI_DEP(HMI_SYM_ENERGY))) != 0;
}

static void write_flags(hmi_export *x)
{
    const struct {
        const char *name;
        bool value;
    } flags[] = {{"LAWS", x->laws},
                 {"TOTAL_LAWS", x->total_laws},
                 {"FAST", x->motion != NULL},
                 {"OUTPUTS_NEED_FORCES", uses_forces(x, x->eq->outputs, x->outputs)},
                 {"EVENTS_NEED_FORCES", uses_forces(x, x->eq->events, x->events)},
                 {"RATES_NEED_FORCES", uses_forces(x, x->eq->state_rates, x->states)},
                 {"EXACT_JACOBIAN", !x->eq->force_symbols}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        hmi_text_addf(&x->text, "#define %s_%s %d\n", x->capitals, flags[i].name, flags[i].value);
    hmi_text_add(&x->text, "\n");
}

/* ---- parameters and the initial state ---- */

static void write_number(hmi_export *x, double value)
{
    (x->single ? float_number : hmi_code_number_c)(&x->text, value);
}

/* Those that are computed from others, in their order. */
static void write_dependent_params(hmi_export *x)
{
    for (size_t i = 0; i < x->model->params.count; i++) {
        const hmi_param *param = &x->model->params.data[i];
        if (param->structural || param->overridden || !hmi_deps(&x->graph, param->value_expr))
            continue;
        const group groups[] = {{"value", &param->value_expr, 1}, {0}};
        hmi_text_addf(&x->text, "    {\n    %s_real value[1];\n", x->name);
        write_groups(x, groups);
        hmi_text_addf(&x->text, "    p->%s = value[0];\n    }\n", x->params[i]);
    }
}

static void write_params(hmi_export *x)
{
    add(x, "void @_params_default(@_params *p)\n{\n");
    for (size_t i = 0; i < x->model->params.count; i++) {
        hmi_text_addf(&x->text, "    p->%s = ", x->params[i]);
        write_number(x, x->model->params.data[i].value);
        hmi_text_add(&x->text, ";\n");
    }
    if (x->model->params.count == 0)
        hmi_text_add(&x->text, "    p->none = 0;\n");
    add(x, "}\n\nvoid @_params_update(@_params *p)\n{\n    (void)p;\n");
    write_dependent_params(x);
    hmi_text_add(&x->text, "}\n\n");
}

static void write_initial(hmi_export *x)
{
    const struct {
        const char *array;
        const double *values;
        size_t count;
    } lists[] = {{"q", x->q, x->n}, {"v", x->v, x->n}, {"z", x->z, x->states}};
    add(x, "void @_initial(@_real *t, @_real *q, @_real *v, @_real *z)\n{\n    (void)q, (void)v, "
           "(void)z;\n    *t = ");
    write_number(x, x->t);
    hmi_text_add(&x->text, ";\n");
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < lists[k].count; i++) {
            hmi_text_addf(&x->text, "    %s[%zu] = ", lists[k].array, i);
            write_number(x, lists[k].values[i]);
            hmi_text_add(&x->text, ";\n");
        }
    hmi_text_add(&x->text, "}\n\n");
}

/* ---- functions of the state ---- */

/* A function: its head, what is unused, the statements, and what follows. */
static void write_function(hmi_export *x, const char *head, const group *groups, const char *end)
{
    add(x, head);
    add(x, "\n{\n" UNUSED);
    write_groups(x, groups);
    add(x, end);
    add(x, "}\n\n");
}

static void write_inputs(hmi_export *x)
{
    const group groups[] = {{"u", x->eq->input_values[0], x->inputs},
                            {"du", x->eq->input_values[1], x->inputs},
                            {"ddu", x->eq->input_values[2], x->inputs},
                            {0}};
    write_function(x, "void @_inputs(" STATE ", @_real *u, @_real *du,\n    @_real *ddu)", groups,
                   "    (void)u, (void)du, (void)ddu;\n");
}

static void write_matrices(hmi_export *x)
{
    const hmi_derived *eq = x->eq;
    bool given = !eq->force_symbols; /* by the state alone */
    const group groups[] = {{"w->M", x->M, x->n * x->n},
                            {"w->free_force", x->free_force, x->n},
                            {"w->Q", given ? eq->Q : x->free_force, x->n},
                            {"w->A", x->A, x->m * x->n},
                            {"w->b", eq->constraints.b, x->m},
                            {"w->C", given ? eq->C : NULL, x->n},
                            {0}};
    write_function(x, "static void @_matrices(" STATE ", @_work *w)", groups, "");
    const group laws[] = {{"w->Q", eq->Q, x->n}, {"w->C", eq->C, x->n}, {0}};
    if (x->laws)
        write_function(x, "static void @_laws(" STATE ", @_work *w)", laws, "");
}

static void write_fast(hmi_export *x)
{
    if (!x->motion)
        return;
    const group groups[] = {
        {"qdd", x->motion, x->n}, {"margin", x->motion + x->motion_at.margin, 1}, {0}};
    add(x, "/* The solve written out; 0 where it loses too many digits. */\n"
           "static int @_fast(" STATE ", @_work *w, @_real *qdd)\n{\n    @_real margin[1];\n" UNUSED
           "    (void)w;\n");
    write_groups(x, groups);
    hmi_text_add(&x->text, "    return margin[0] > 0;\n}\n\n");
}

static void write_state_functions(hmi_export *x)
{
    const hmi_derived *eq = x->eq;
    const hmi_expr energies[] = {eq->kinetic, eq->potential, eq->total};
    const group rates[] = {{"rate", eq->state_rates, x->states}, {0}};
    const group outputs[] = {{"out", eq->outputs, x->outputs}, {0}};
    const group events[] = {{"out", eq->events, x->events}, {0}};
    const group energy[] = {{"energy", energies, 3}, {0}};
    const group residuals[] = {{"phi", x->residuals[0], x->m}, {"psi", x->residuals[1], x->m}, {0}};
    write_function(x, "void @_energies(" STATE ", @_work *w, @_real energy[3])", energy,
                   "    (void)w;\n");
    write_function(x, "void @_state_rates(" STATE ", @_work *w, @_real *rate)", rates,
                   "    (void)w, (void)rate;\n");
    add(x,
        "#if $_OUTPUTS_NEED_FORCES || $_EVENTS_NEED_FORCES\n/* energy, and the powers of the ideal "
        "and of the other forces of constraints */\n"
        "static void @_quantities(" STATE ", @_work *w)\n{\n    @_real energy[3];\n    int j;\n"
        "    @_energies(p, t, q, v, z, w, energy);\n"
        "    w->quantity[0] = energy[2];\n    w->quantity[1] = w->quantity[2] = w->quantity[3] = "
        "0;\n"
        "    for (j = 0; j < $_COORDINATES; j++) {\n        w->quantity[1] += w->ideal[j] * v[j];\n"
        "        w->quantity[2] += (w->constraint_force[j] - w->ideal[j]) * v[j];\n    "
        "}\n}\n#endif\n\n");
    add(x, "static void @_output_values(" STATE ", @_work *w, @_real *out);\n"
           "static void @_event_values(" STATE ", @_work *w, @_real *out);\n\n");
    write_function(x, "static void @_output_values(" STATE ", @_work *w, @_real *out)", outputs,
                   "    (void)w, (void)out;\n");
    write_function(x, "static void @_event_values(" STATE ", @_work *w, @_real *out)", events,
                   "    (void)w, (void)out;\n");
    add(x, "static void @_inputs_of(" STATE ",\n    const @_real *u, @_work *w);\n\n");
    add(x, "void @_residuals(" STATE
           ", const @_real *u,\n    @_real *phi, @_real *psi, @_work *w)\n{\n"
           "    (void)phi, (void)psi;\n    @_inputs_of(p, t, q, v, z, u, w);\n    {\n");
    write_groups(x, residuals);
    hmi_text_add(&x->text, "    }\n}\n\n");
}

/* ---- the Jacobian ---- */

/* Where derivatives go: rows of a block are rows of an array with the columns q, v, z. */
typedef struct slope_block {
    hmi_block block;
    const char *array;
} slope_block;

/* Adds the derivatives of a block to a dense matrix of expressions. */
static void add_slopes(hmi_export *x, hmi_derived_jacobian *j, hmi_block block, hmi_expr *sum)
{
    static const hmi_symbol_kind kinds[] = {HMI_SYM_COORD, HMI_SYM_VELOCITY, HMI_SYM_STATE,
                                            HMI_SYM_INPUT};
    const hmi_expr_matrix *by = &j->by[block];
    const size_t first[5] = {0, x->n, 2 * x->n, 2 * x->n + x->states,
                             2 * x->n + x->states + x->inputs};
    for (size_t i = 0; i < by->rows; i++)
        for (size_t k = by->start[i]; k < by->start[i + 1]; k++)
            for (int kind = 0; kind < 4; kind++) {
                size_t start = j->columns.start[kinds[kind]], column = by->column.data[k];
                if (start == SIZE_MAX || column < start ||
                    column - start >= first[kind + 1] - first[kind])
                    continue;
                hmi_expr *entry = sum + i * first[4] + first[kind] + column - start;
                *entry = hmi_add(&j->eq.graph, *entry, by->value.data[k]);
            }
}

/* Nonzero entries alone: the caller clears the arrays. */
static void write_slopes(hmi_export *x, hmi_derived_jacobian *j)
{
    static const slope_block blocks[] = {
        {HMI_BLOCK_FORCE, "J"}, {HMI_BLOCK_CONSTRAINT, "w->slope"}, {HMI_BLOCK_STATE, "Z"}};
    size_t width = 2 * x->n + x->states + x->inputs, rows[] = {x->n, x->m, x->states};
    assignments list = begin_assignments(x, (x->n + x->m + x->states) * width);
    for (size_t k = 0; k < 3; k++) {
        hmi_expr *sum = hmi_arena_alloc(&x->arena, (rows[k] * width + 1) * sizeof *sum);
        if (!sum) {
            x->status = HM_ERR_NOMEM;
            return;
        }
        for (size_t i = 0; i < rows[k] * width; i++)
            sum[i] = j->eq.graph.zero;
        add_slopes(x, j, blocks[k].block, sum);
        if (blocks[k].block == HMI_BLOCK_FORCE)
            add_slopes(x, j, HMI_BLOCK_NONIDEAL, sum);
        for (size_t i = 0; i < rows[k] * width; i++)
            if (sum[i] != j->eq.graph.zero)
                assign(&list, blocks[k].array, i, sum[i]);
    }
    write_assignments(&list, &j->eq.graph);
}

static void write_exact_jacobian(hmi_export *x)
{
    hmi_derived_jacobian j;
    hm_status status = hmi_derive_jacobian(&j, x->eq, HMI_JACOBIAN_STATE);
    add(x, "/* Adds the derivatives of Q + C - M q'' + A^T lambda to J, of b - A q'' to the work "
           "space and of z'\n"
           " * to Z. */\n"
           "static void @_slopes(" STATE ", @_work *w, @_real *J,\n    @_real *Z)\n{\n" UNUSED
           "    (void)w, (void)J, (void)Z;\n");
    if (status == HM_OK)
        write_slopes(x, &j);
    else
        x->status = status;
    hmi_text_add(&x->text, "}\n\n");
    hmi_derived_jacobian_release(&j);
}

static void write_code(hmi_export *x)
{
    write_flags(x);
    write_params(x);
    write_initial(x);
    write_inputs(x);
    write_matrices(x);
    write_fast(x);
    write_state_functions(x);
    hmi_export_template(x, hmi_template_solve, hmi_template_solve_length);
    hmi_text_add(&x->text, "\n");
    hmi_export_template(x, hmi_template_motion, hmi_template_motion_length);
    hmi_text_add(&x->text, "\n");
    if (!x->eq->force_symbols)
        write_exact_jacobian(x);
    hmi_export_template(x, hmi_template_jacobian, hmi_template_jacobian_length);
    hmi_text_add(&x->text, "\n");
    hmi_export_template(x, hmi_template_integrate, hmi_template_integrate_length);
}

void hmi_export_c_source(hmi_export *x)
{
    write_code(x);
    hmi_text code = x->text; /* what it needs stands before it */
    hmi_text_init(&x->text, x->allocator);
    x->text.failed = code.failed;
    write_opening(x, hmi_text_view(&code));
    hmi_text_add(&x->text, hmi_text_view(&code));
    hmi_text_release(&code);
}
