/* The accelerations of a comparison in closed form, as text. */
#include "base/argument.h"
#include "analyse/compare/comparison.h"
#include "output/derive/derivation.h"
#include "output/derive/layout.h"

#include <string.h>

enum { MOST_CHARACTERS = 1600 };

/* Names: those of the model; a mu is shown as a state after the model's own. */
typedef struct names {
    const hm_model *model;
    const hm_comparison *comparison;
} names;

static void name_symbol(void *user, hmi_symbol_kind kind, uint32_t index, hmi_text *out)
{
    const names *n = user;
    const hmi_namer namer = hmi_model_namer(n->model);
    size_t states = n->model->states.count;
    if (kind == HMI_SYM_STATE && index >= states)
        hmi_text_add(out, n->model->coords.data[n->comparison->n + index - states].name);
    else
        namer.name(namer.user, kind, index, out);
}

static bool is_literal(void *user, const char *name)
{
    const names *n = user;
    return hmi_model_is_literal(n->model, name);
}

/* s_k' is mu_k, whose name takes no dot. */
static hmi_expr show_mu(hmi_graph *graph, hmi_expr leaf, void *user)
{
    const names *n = user;
    const hmi_node *node = hmi_node_at(graph, leaf);
    if (node->a != HMI_SYM_VELOCITY || node->b < n->comparison->n)
        return leaf;
    uint32_t k = node->b - (uint32_t)n->comparison->n;
    return hmi_symbol(graph, HMI_SYM_STATE, (uint32_t)n->model->states.count + k);
}

static hm_status write_row(hmi_text *text, hmi_derivation_view *view, hmi_substitution *mu,
                           const names *n, size_t i)
{
    const hmi_print_options print = {.namer = {name_symbol, (void *)n, is_literal},
                                     .style = HMI_PRINT_TEXT};
    hmi_expr e = hmi_substitute(mu, &view->graph, view->qdd[i]);
    size_t start = text->length;
    if (e == HMI_NONE)
        return HM_ERR_NOMEM;
    hmi_text_add(text, "    ");
    hmi_model_print_name(view->model, text, HMI_PRINT_TEXT, view->model->coords.data[i].name,
                         i < n->comparison->n ? 2 : 1);
    hmi_text_add(text, " = ");
    hm_status status = hmi_print(text, &view->graph, e, &print);
    hmi_wrap_text(text, start, HMI_TEXT_COLUMNS, HMI_TEXT_FURTHER_INDENT);
    hmi_text_add(text, "\n");
    return status;
}

/* The closed forms of one system; nothing where there are none. */
static hm_status write_system(hmi_text *text, const hm_comparison *c, const hm_system *system,
                              const char *title, bool *closed)
{
    hmi_derivation_view view;
    hmi_substitution mu;
    const names n = {system->model, c};
    hm_status status = hmi_derivation_prepare(&view, system);
    hmi_substitution_init(&mu, system->allocator, show_mu, (void *)&n, HMI_DEP(HMI_SYM_VELOCITY));
    *closed = status == HM_OK && view.closed;
    if (*closed)
        hmi_text_addf(text, "%s\n", title);
    for (size_t i = 0; *closed && status == HM_OK && i < view.n; i++)
        status = write_row(text, &view, &mu, &n, i);
    if (status == HM_OK)
        status = hmi_derivation_status(&view);
    hmi_substitution_release(&mu);
    hmi_derivation_release(&view);
    return status;
}

hm_status hm_comparison_write(const hm_comparison *c, hm_writer writer, void *user, bool *written)
{
    HMI_ARGUMENT(NULL, c && writer && written, "a comparison and a writer are needed");
    hmi_text text;
    bool closed = false;
    hmi_text_init(&text, c->allocator);
    hm_status status = write_system(&text, c, c->system, "correct", &closed);
    if (status == HM_OK && closed)
        status = write_system(&text, c, c->variant.system, hm_comparison_kind(c), &closed);
    if (status == HM_OK && text.failed)
        status = HM_ERR_NOMEM;
    *written = status == HM_OK && closed && text.length <= MOST_CHARACTERS;
    if (*written && !writer(user, hmi_text_view(&text), text.length))
        status = HM_ERR_IO;
    hmi_text_release(&text);
    return status;
}
