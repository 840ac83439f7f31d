/* `derive --format c`: the equations as C functions, for users who take them elsewhere. */
#include "output/derivation.h"

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

typedef struct root_list {
    const hm_allocator *allocator;
    HMI_ARRAY(hmi_expr) list;
    bool failed;
} root_list;

static void push(root_list *roots, hmi_expr e)
{
    roots->failed |= !hmi_array_push(roots->allocator, &roots->list, e);
}

/* Dense rows for systems of ordinary size, else the stored entries only. */
static void push_matrix(root_list *roots, hmi_expr zero, const hmi_sparse *pattern,
                        const hmi_expr *values, bool symmetric, bool dense)
{
    if (!dense) {
        for (size_t k = 0; k < pattern->value.count; k++)
            push(roots, values[k]);
        return;
    }
    for (size_t i = 0; i < pattern->rows; i++)
        for (size_t j = 0; j < pattern->columns; j++) {
            size_t row = symmetric && j > i ? j : i, column = symmetric && j > i ? i : j;
            hmi_expr entry = zero;
            for (size_t k = pattern->start[row]; k < pattern->start[row + 1]; k++)
                if (pattern->column.data[k] == column)
                    entry = values[k];
            push(roots, entry);
        }
}

static void comment(hmi_report *r, bool dense)
{
    const hmi_derivation_view *view = r->view;
    const hm_model *model = view->model;
    size_t n = view->n, m = view->m;
    hmi_text_addf(&r->text, "/* %s: M q'' = Q + Qc, A q'' = b. Made by hamel %s.\n *\n",
                  hm_model_name(model), hm_version());
    hmi_text_add(&r->text, " * q[i], v[i]:");
    for (size_t i = 0; i < n && i < 100; i++)
        hmi_text_addf(&r->text, " %s", hm_model_coordinate_name(model, i));
    hmi_text_add(&r->text, "\n * p[i]:");
    for (size_t i = 0; i < model->params.count && i < 100; i++)
        hmi_text_addf(&r->text, " %s=%.17g", model->params.data[i].name,
                      model->params.data[i].value);
    size_t mass = dense ? n * n : view->system->derived.M.value.count;
    size_t rows = dense ? m * n : view->system->derived.constraints.A.value.count;
    hmi_text_addf(&r->text,
                  "\n * out: M (%zu, %s), Q (%zu), A (%zu, %s), b (%zu), C (%zu)\n */\n", mass,
                  dense ? "row-major" : "stored entries of the lower triangle by rows", n, rows,
                  dense ? "row-major" : "stored entries by rows", m, n);
}

void hmi_report_c(hmi_report *r)
{
    const hmi_derivation_view *view = r->view;
    const hmi_derived *d = &view->system->derived;
    bool dense = view->n <= DENSE_MOST;
    char name[NAME_MOST + 16];
    root_list roots = {.allocator = view->allocator};
    identifier(hm_model_name(view->model), "_equations", name);
    push_matrix(&roots, view->graph.zero, &d->M, view->M, true, dense);
    for (size_t i = 0; i < view->n; i++)
        push(&roots, view->Q[i]);
    push_matrix(&roots, view->graph.zero, &d->constraints.A, view->A, false, dense);
    for (size_t i = 0; i < view->m; i++)
        push(&roots, view->b[i]);
    for (size_t i = 0; i < view->n; i++)
        push(&roots, view->C[i]);
    comment(r, dense);
    hmi_print_c_preamble(&r->text);
    hmi_text_add(&r->text, "\n");
    hmi_c_function function = {
        .name = name,
        .kinds = HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_PARAM) | HMI_DEP(HMI_SYM_COORD) |
                 HMI_DEP(HMI_SYM_VELOCITY),
        .roots = roots.list.data,
        .count = roots.list.count,
    };
    hm_status status = roots.failed ? HM_ERR_NOMEM
                                    : hmi_print_c_function(&r->text, &view->graph, &function);
    if (status != HM_OK && r->status == HM_OK)
        r->status = status;
    hmi_array_release(view->allocator, &roots.list);
}
