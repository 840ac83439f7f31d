/* What every part of the analysis uses: text that lives as long as the analysis, expressions and
 * forms as they are written in the language, and values at the initial state. */
#include "analyse/classify/analysis.h"

#include "expr/print/print.h"

#include <math.h>
#include <stdarg.h>

/* ---- text ---- */

static const char *keep_text(hmi_analysis *a, hmi_text *text)
{
    const char *kept = text->failed ? NULL
                                    : hmi_arena_text(&a->arena, hmi_text_view(text), text->length);
    hmi_text_release(text);
    return kept;
}

const char *hmi_analysis_text(hmi_analysis *a, const char *format, ...)
{
    hmi_text text;
    va_list args;
    hmi_text_init(&text, a->allocator);
    va_start(args, format);
    hmi_text_addv(&text, format, args);
    va_end(args);
    return keep_text(a, &text);
}

hm_status hmi_analysis_remark(hmi_analysis *a, const char *format, ...)
{
    hmi_text text;
    va_list args;
    hmi_text_init(&text, a->allocator);
    va_start(args, format);
    hmi_text_addv(&text, format, args);
    va_end(args);
    const char *kept = keep_text(a, &text);
    return kept && hmi_array_push(a->allocator, &a->remarks, kept) ? HM_OK : HM_ERR_NOMEM;
}

/* In the forms, position n of z is t, and auxiliary states are signals after the inputs. */
static void print_symbol(void *user, hmi_symbol_kind kind, uint32_t index, hmi_text *out)
{
    const hm_model *model = user;
    const hmi_namer namer = hmi_model_namer(model);
    bool motion = kind == HMI_SYM_COORD || kind == HMI_SYM_VELOCITY || kind == HMI_SYM_ACCELERATION;
    bool signal = kind == HMI_SYM_INPUT || kind == HMI_SYM_INPUT_RATE ||
                  kind == HMI_SYM_INPUT_RATE2;
    if (motion && index >= model->coords.count)
        hmi_text_add(out, "t");
    else if (signal && index >= model->inputs.count)
        namer.name(namer.user, HMI_SYM_STATE, index - (uint32_t)model->inputs.count, out);
    else
        namer.name(namer.user, kind, index, out);
}

const char *hmi_analysis_print(hmi_analysis *a, const hmi_graph *graph, hmi_expr e)
{
    enum { LONGEST = 2000 };
    hmi_text text;
    const hmi_print_options options = {.style = HMI_PRINT_PLAIN,
                                       .namer = {.name = print_symbol, .user = (void *)a->model}};
    hmi_text_init(&text, a->allocator);
    hm_status status = hmi_print(&text, graph, e, &options);
    if (status == HM_ERR_LIMIT || text.length > LONGEST) {
        hmi_text_release(&text);
        hmi_text_add(&text, "(too long to print)");
    }
    if (status == HM_ERR_NOMEM) {
        hmi_text_release(&text);
        return NULL;
    }
    return keep_text(a, &text);
}

const char *hmi_analysis_form(hmi_analysis *a, const hmi_form *form, const char *before)
{
    hmi_graph *g = &a->forms.graph;
    hmi_expr sum = g->zero;
    for (size_t i = 0; i < form->count; i++) {
        hmi_expr rate = form->at[i] == a->forms.n ? g->one
                                                  : hmi_symbol(g, HMI_SYM_VELOCITY, form->at[i]);
        sum = hmi_add(g, sum, hmi_mul(g, form->value[i], rate));
    }
    const char *text = hmi_analysis_print(a, g, sum);
    if (!text)
        return NULL;
    return before ? hmi_analysis_text(a, "%s, %s = 0", before, text)
                  : hmi_analysis_text(a, "%s = 0", text);
}

hm_evidence hmi_analysis_evidence(const hmi_evidence *e)
{
    double bits = e->zero == -INFINITY ? (double)HMI_BITS : -e->zero;
    return (hm_evidence){
        .points = e->points, .bits = (int)fmin(bits, HMI_BITS), .proved = e->proved};
}

/* ---- values at the initial state ---- */

hmi_series_state hmi_analysis_initial(const hmi_analysis *a)
{
    return (hmi_series_state){.q = a->q0, .v = a->v0, .z = a->z0, .t = a->t0};
}

hm_status hmi_analysis_values(hmi_analysis *a, const hmi_graph *graph, const hmi_expr *list,
                              size_t count, double *values)
{
    const hmi_series_state initial = hmi_analysis_initial(a);
    hm_status status = HM_OK;
    for (size_t i = 0; i < count && status != HM_ERR_NOMEM; i++)
        status = hmi_series_value(a->allocator, a->model, graph, list[i], &initial, &values[i]);
    return status == HM_ERR_NOMEM ? status : HM_OK;
}
