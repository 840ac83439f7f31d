/* `derive --format c`: the equations as C functions, for users who take them elsewhere. */
#include "output/derive/derivation.h"

#include <ctype.h>
#include <string.h>

enum { DENSE_MOST = 60, NAME_MOST = 60 };

/* The model's name as a C identifier. */
static void identifier(const char *name, const char *suffix, char out[NAME_MOST + 16])
{
    size_t length = 0;
    for (const char *s = name; *s && length < NAME_MOST; s++)
        out[length++] = isalnum((unsigned char)*s) && (unsigned char)*s < 0x80 ? *s : '_';
    if (length == 0 || isdigit((unsigned char)out[0]))
        out[0] = '_', length = length ? length : 1;
    memcpy(out + length, suffix, strlen(suffix) + 1);
}

/* Dense rows for systems of ordinary size, else the stored entries only. */
static void push_matrix(hmi_roots *roots, hmi_expr zero, const hmi_expr_matrix *pattern,
                        const hmi_expr *values, bool symmetric, bool dense)
{
    if (!dense) {
        for (size_t k = 0; k < pattern->value.count; k++)
            hmi_roots_add(roots, values[k]);
        return;
    }
    for (size_t i = 0; i < pattern->rows; i++)
        for (size_t j = 0; j < pattern->columns; j++) {
            size_t row = symmetric && j > i ? j : i, column = symmetric && j > i ? i : j;
            hmi_expr entry = zero;
            for (size_t k = pattern->start[row]; k < pattern->start[row + 1]; k++)
                if (pattern->column.data[k] == column)
                    entry = values[k];
            hmi_roots_add(roots, entry);
        }
}

/* " * z[i]: a b c" */
static void name_list(hmi_report *r, const char *array, size_t count,
                      const char *(*name)(const hm_model *model, size_t index))
{
    enum { MOST_NAMES = 100 };
    hmi_text_addf(&r->text, " * %s:", array);
    for (size_t i = 0; i < count && i < MOST_NAMES; i++)
        hmi_text_addf(&r->text, " %s", name(r->view->model, i));
    hmi_text_add(&r->text, count > MOST_NAMES ? " ...\n" : "\n");
}

static const char *constraint_name(const hm_model *model, size_t index)
{
    return model->constraints.data[index].name;
}

/* What the arrays hold that the function takes. */
static void comment_arguments(hmi_report *r, uint16_t kinds)
{
    const hm_model *model = r->view->model;
    name_list(r, "q[i], v[i]", r->view->n, hm_model_coordinate_name);
    hmi_text_add(&r->text, " * p[i]:");
    for (size_t i = 0; i < model->params.count && i < 100; i++)
        hmi_text_addf(&r->text, " %s=%.17g", model->params.data[i].name,
                      model->params.data[i].value);
    hmi_text_add(&r->text, "\n");
    if (kinds & HMI_DEP(HMI_SYM_STATE))
        name_list(r, "z[i]", model->states.count, hm_model_state_name);
    if (kinds &
        (HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_INPUT_RATE) | HMI_DEP(HMI_SYM_INPUT_RATE2)))
        name_list(r, "u[i], du[i], ddu[i] (inputs and their rates)", model->inputs.count,
                  hm_model_input_name);
    if (kinds & (HMI_DEP(HMI_SYM_REACTION) | HMI_DEP(HMI_SYM_TOTAL_REACTION)))
        hmi_text_add(&r->text, " * r[i], rt[i]: components of Qi and of A^T lambda in all\n");
    if (kinds & (HMI_DEP(HMI_SYM_MULTIPLIER) | HMI_DEP(HMI_SYM_TOTAL_MULTIPLIER)))
        name_list(r, "l[i], lt[i] (multipliers of Qi, and in all)", r->view->m, constraint_name);
}

static void comment(hmi_report *r, bool dense, uint16_t kinds)
{
    const hmi_derivation_view *view = r->view;
    const hmi_derived *d = &view->system->derived;
    size_t n = view->n, m = view->m, states = view->model->states.count, rows = d->servos.count;
    hmi_text_addf(&r->text, "/* %s: M q'' = Q + Qc, A q'' = b. Made by hamel %s.\n *\n",
                  hm_model_name(view->model), hm_version());
    comment_arguments(r, kinds);
    hmi_text_addf(&r->text, " * out: M (%zu, %s), Q (%zu), A (%zu, %s), b (%zu), C (%zu)",
                  dense ? n * n : d->M.value.count,
                  dense ? "row-major" : "stored entries of the lower triangle by rows", n,
                  dense ? m * n : d->constraints.A.value.count,
                  dense ? "row-major" : "stored entries by rows", m, n);
    if (rows)
        hmi_text_addf(&r->text, ",\n *      servo A (%zu, %s), servo b (%zu)",
                      dense ? rows * n : d->servos.A.value.count,
                      dense ? "row-major" : "stored entries by rows", rows);
    if (states)
        hmi_text_addf(&r->text, ",\n *      rates of the states (%zu)", states);
    hmi_text_add(&r->text, "\n */\n");
}

static void push_all(hmi_roots *roots, const hmi_expr *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hmi_roots_add(roots, list[i]);
}

static void push_equations(hmi_roots *roots, const hmi_derivation_view *view, bool dense)
{
    const hmi_derived *d = &view->system->derived;
    hmi_expr zero = view->graph.zero;
    push_matrix(roots, zero, &d->M, view->M, true, dense);
    push_all(roots, view->Q, view->n);
    push_matrix(roots, zero, &d->constraints.A, view->A, false, dense);
    push_all(roots, view->b, view->m);
    push_all(roots, view->C, view->n);
    push_matrix(roots, zero, &d->servos.A, view->servo_A, false, dense);
    push_all(roots, view->servo_b, d->servos.count);
    for (size_t i = 0; i < view->model->states.count; i++)
        hmi_roots_add(roots, view->model->states.data[i].rate);
}

void hmi_report_c(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    bool dense = view->n <= DENSE_MOST;
    char name[NAME_MOST + 16];
    hmi_roots roots = {.allocator = view->allocator};
    identifier(hm_model_name(view->model), "_equations", name);
    push_equations(&roots, view, dense);
    hmi_c_function function = {
        .name = name,
        .kinds = HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_PARAM) | HMI_DEP(HMI_SYM_COORD) |
                 HMI_DEP(HMI_SYM_VELOCITY),
        .roots = roots.list.data,
        .count = roots.list.count,
    };
    uint16_t kinds = function.kinds;
    for (size_t i = 0; i < roots.list.count; i++)
        kinds |= roots.list.data[i] == HMI_NONE ? 0 : hmi_deps(&view->graph, roots.list.data[i]);
    comment(r, dense, kinds);
    hmi_print_c_preamble(&r->text);
    hmi_text_add(&r->text, "\n");
    hmi_print_c_tables(&r->text, view->model->tables, view->model->table_count);
    hm_status status = roots.failed ? HM_ERR_NOMEM
                                    : hmi_print_c_function(&r->text, &view->graph, &function);
    hmi_report_note(r, status);
    hmi_array_release(view->allocator, &roots.list);
}
