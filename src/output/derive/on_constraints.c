/* What is shorter where the constraints hold: made of the expressions of a derivation, and written as lines. */
#include "analyse/surface/surface.h"
#include "output/derive/equations.h"

#include <string.h>

enum { LISTS = 9 };

/* The lists of the derivation, or those on the constraints, with their lengths. */
static void lists_of(hmi_derivation_view *view, hmi_expr **from, hmi_expr ***to, size_t *count)
{
    hmi_on_constraints *on = view->on;
    const hmi_derived *d = &view->system->derived;
    size_t n = view->n, m = view->m, closed = view->closed ? n : 0;
    hmi_expr *own[LISTS] = {view->M,      view->Q,  view->A,   view->b,  view->C,
                            view->lambda, view->Qi, view->Qni, view->qdd};
    hmi_expr **other[LISTS] = {&on->M,      &on->Q,  &on->A,   &on->b,  &on->C,
                               &on->lambda, &on->Qi, &on->Qni, &on->qdd};
    const size_t counts[LISTS] = {
        d->M.value.count, n,     d->constraints.A.value.count, m, n, view->closed ? m : 0, closed,
        closed,           closed};
    memcpy(from, own, sizeof own);
    memcpy(to, other, sizeof other);
    memcpy(count, counts, sizeof counts);
}

size_t hmi_on_constraints_roots(const hmi_derivation_view *view, const hmi_expr **lists,
                                size_t *counts)
{
    hmi_expr *from[LISTS], **to[LISTS];
    if (!view->on)
        return 0;
    lists_of((hmi_derivation_view *)view, from, to, counts);
    for (size_t k = 0; k < LISTS; k++)
        lists[k] = *to[k];
    return LISTS;
}

/* ---- the expressions ---- */

static hm_status take_relations(hmi_derivation_view *view, const hmi_surface *s)
{
    hmi_on_constraints *on = view->on;
    size_t most = 0;
    for (size_t k = 0; k < s->tried.count; k++)
        most += s->tried.data[k].count;
    on->relation = hmi_arena_alloc(&view->arena, (most + 1) * sizeof *on->relation);
    if (!on->relation)
        return HM_ERR_NOMEM;
    for (size_t k = 0; k < s->tried.count; k++)
        for (size_t i = 0; s->tried.data[k].used && i < s->tried.data[k].count; i++) {
            on->relation[on->relations++] = s->tried.data[k].relation[i];
            on->row_used[s->tried.data[k].relation[i].row] = true;
        }
    return HM_OK;
}

static hm_status name_rows(hmi_derivation_view *view)
{
    const hmi_rows *rows = &view->system->derived.constraints;
    hmi_on_constraints *on = view->on;
    for (size_t i = 0; i < view->m; i++) {
        on->position[i] = hmi_derivation_normal(view, rows->position_residual[i]);
        on->velocity[i] = hmi_derivation_normal(view, rows->velocity_residual[i]);
    }
    return hmi_derivation_status(view);
}

static hm_status shorten(hmi_derivation_view *view, hmi_expr *all, size_t count)
{
    hmi_surface s;
    hmi_on_constraints *on = view->on;
    hmi_surface_init(&s, view->system, &view->graph, view->normal);
    hm_status status = hmi_surface_shorten(&s, all, count);
    if (status == HM_OK)
        status = take_relations(view, &s);
    on->refusal = s.refusal;
    on->states = s.states;
    on->unproved = s.unproved;
    on->bits = s.bits;
    hmi_surface_release(&s);
    return status == HM_OK ? name_rows(view) : status;
}

hm_status hmi_derivation_on_constraints(hmi_derivation_view *view)
{
    hmi_expr *from[LISTS], **to[LISTS];
    size_t count[LISTS], all = 0, m = view->m + 1;
    hmi_on_constraints *on = hmi_arena_alloc(&view->arena, sizeof *on);
    bool *used = hmi_arena_alloc(&view->arena, m);
    hmi_expr *residuals = hmi_arena_alloc(&view->arena, 2 * m * sizeof *residuals);
    if (!on || !used || !residuals)
        return HM_ERR_NOMEM;
    memset(used, 0, m);
    *on = (hmi_on_constraints){.row_used = used, .position = residuals, .velocity = residuals + m};
    view->on = on;
    lists_of(view, from, to, count);
    for (size_t k = 0; k < LISTS; k++)
        all += count[k];
    hmi_expr *list = hmi_arena_alloc(&view->arena, (all + 1) * sizeof *list);
    if (!list)
        return HM_ERR_NOMEM;
    for (size_t k = 0, at = 0; k < LISTS; at += count[k++]) {
        *to[k] = list + at;
        if (count[k])
            memcpy(list + at, from[k], count[k] * sizeof *list);
    }
    hm_status status = HM_OK;
    if (view->normal)
        status = shorten(view, list, all);
    else
        on->refusal = "the model has more coordinates than normal forms are made for";
    for (size_t k = 0, at = 0; status == HM_OK && k < LISTS; at += count[k++])
        for (size_t i = 0; i < count[k]; i++)
            on->shorter += list[at + i] != from[k][i];
    return status;
}

/* ---- lines ---- */

static void write_relation(hmi_report *r, const char *name, hmi_expr e)
{
    if (e == HMI_NONE || e == r->view->graph.zero)
        return;
    size_t start = hmi_line_begin(r);
    r->style->name(r, name);
    hmi_text_add(&r->text, r->style->colon);
    hmi_report_expr(r, e);
    hmi_text_add(&r->text, " = 0");
    hmi_line_end(r, start);
}

void hmi_write_where_it_holds(hmi_report *r)
{
    const hmi_on_constraints *on = r->view->on;
    for (size_t i = 0; i < r->view->m; i++) {
        const char *name = r->view->model->constraints.data[i].name;
        if (!on->row_used[i])
            continue;
        write_relation(r, name, on->position[i]);
        write_relation(r, name, on->velocity[i]);
    }
}

/* letter[x] = e, where it is not the same as before. */
static void write_changed(hmi_report *r, const char *letter, const hmi_expr *from,
                          const hmi_expr *to)
{
    for (size_t i = 0; i < r->view->n; i++) {
        if (from[i] == to[i])
            continue;
        size_t start = hmi_line_begin(r);
        hmi_text_addf(&r->text, "%s%s", letter, r->style->index);
        hmi_write_coordinate(r, i, 0);
        hmi_text_add(&r->text, r->style->index_end);
        hmi_line_equals(r, start, to[i]);
    }
}

static void write_changed_rows(hmi_report *r, const char *letter, const hmi_expr *from,
                               const hmi_expr *to)
{
    for (size_t k = 0; k < r->view->m; k++)
        if (from[k] != to[k])
            hmi_write_row_value(r, letter, r->view->model->constraints.data[k].name, to[k]);
}

/* Entries that are the same are not written: a copy has 0 in their place. */
static void write_changed_entries(hmi_report *r, const char *letter, const hmi_expr_matrix *pattern,
                                  const hmi_expr *from, const hmi_expr *to, bool rows)
{
    size_t count = pattern->value.count;
    hmi_expr *changed = hmi_arena_alloc(&r->view->arena, (count + 1) * sizeof *changed);
    if (!changed) {
        hmi_report_note(r, HM_ERR_NOMEM);
        return;
    }
    for (size_t k = 0; k < count; k++)
        changed[k] = from[k] == to[k] ? r->view->graph.zero : to[k];
    hmi_write_entries(r, letter, pattern, changed, rows);
}

void hmi_write_on_constraints(hmi_report *r)
{
    hmi_derivation_view *view = r->view;
    const hmi_on_constraints *on = view->on;
    const hmi_derived *d = &view->system->derived;
    write_changed_entries(r, "M", &d->M, view->M, on->M, false);
    write_changed(r, "Q", view->Q, on->Q);
    write_changed_entries(r, "A", &d->constraints.A, view->A, on->A, true);
    write_changed_rows(r, "b", view->b, on->b);
    write_changed(r, "C", view->C, on->C);
    if (!view->closed)
        return;
    write_changed_rows(r, r->style->lambda, view->lambda, on->lambda);
    write_changed(r, r->style->Qi, view->Qi, on->Qi);
    write_changed(r, r->style->Qni, view->Qni, on->Qni);
    for (size_t i = 0; i < view->n; i++) {
        if (view->qdd[i] == on->qdd[i])
            continue;
        size_t start = hmi_line_begin(r);
        hmi_write_coordinate(r, i, 2);
        hmi_line_equals(r, start, on->qdd[i]);
    }
}
