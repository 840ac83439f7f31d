/* The result as lines, in the language and as text. */
#include "reduce/names.h"

#include <string.h>

typedef struct writer {
    hmi_reduce *r;
    hmi_arena *arena; /* of the result */
    hmi_shared shared;
    hmi_print_options plain, shown;
    hmi_text text;
    hm_status status;
} writer;

static const char *keep(writer *w)
{
    const char *copy = hmi_arena_text(w->arena, hmi_text_view(&w->text), w->text.length);
    if (!copy || w->text.failed)
        w->status = HM_ERR_NOMEM;
    w->text.length = 0;
    if (w->text.data)
        w->text.data[0] = '\0';
    return copy;
}

static void print(writer *w, hmi_expr e, bool shown)
{
    hm_status status = hmi_print(&w->text, &w->r->graph, e, shown ? &w->shown : &w->plain);
    if (w->status == HM_OK)
        w->status = status;
}

static hm_reduced_line *new_lines(writer *w, size_t count)
{
    hm_reduced_line *lines = hmi_arena_alloc(w->arena, (count + 1) * sizeof *lines);
    if (!lines)
        w->status = HM_ERR_NOMEM;
    return lines;
}

/* "theta'" with a dot, or a label like F(u1) as it is. */
static void show_name(writer *w, const char *name)
{
    size_t length = strlen(name);
    bool primed = length && name[length - 1] == '\'';
    char bare[128];
    if (length >= sizeof bare || strpbrk(name, "(*; ")) {
        hmi_text_add(&w->text, name);
        return;
    }
    memcpy(bare, name, length + 1);
    bare[length - primed] = '\0';
    hmi_model_print_name(w->r->model, &w->text, HMI_PRINT_TEXT, bare, primed);
}

static void one_line(writer *w, hm_reduced_line *line, const char *name, hmi_expr value)
{
    hmi_text_add(&w->text, name);
    line->name = keep(w);
    print(w, value, false);
    line->value = keep(w);
    show_name(w, name);
    hmi_text_add(&w->text, " = ");
    print(w, value, true);
    line->shown = keep(w);
}

static void one_equation(writer *w, hm_reduced_line *line, const char *name, hmi_expr left,
                         hmi_expr right)
{
    hmi_text_add(&w->text, name);
    line->name = keep(w);
    for (int shown = 0; shown < 2; shown++) {
        print(w, left, shown);
        hmi_text_add(&w->text, " = ");
        print(w, right, shown);
        *(shown ? &line->shown : &line->value) = keep(w);
    }
}

/* ---- expressions that are printed ---- */

static hmi_expr definition(hmi_reduce *r, const hmi_speed *speed)
{
    hmi_graph *g = &r->graph;
    hmi_expr sum = speed->form.rest;
    for (size_t i = 0; i < r->n; i++)
        sum = hmi_add(g, sum,
                      hmi_mul(g, speed->form.c[i], hmi_symbol(g, HMI_SYM_VELOCITY, (uint32_t)i)));
    return hmi_reduce_normal(r, sum);
}

static hmi_expr left_side(hmi_reduce *r, size_t k)
{
    hmi_graph *g = &r->graph;
    hmi_expr sum = g->zero;
    for (size_t l = 0; l < r->k; l++)
        sum = hmi_add(g, sum, hmi_mul(g, r->G[k * r->k + l], r->speed[l].rate));
    return sum;
}

static bool is_speed(const hmi_reduce *r, size_t i)
{
    for (size_t k = 0; k < r->k; k++)
        if (r->speed[k].coordinate == i)
            return true;
    return false;
}

/* Everything, so that parts are chosen over all. */
static hm_status choose_parts(writer *w)
{
    hmi_reduce *r = w->r;
    HMI_ARRAY(hmi_expr) roots = {0};
    bool good = true;
#define ROOT(e) good = good && hmi_array_push(r->allocator, &roots, (e))
    for (size_t i = 0; i < r->n; i++) {
        if (r->position[i] != HMI_NONE)
            ROOT(r->position[i]);
        ROOT(r->velocity[i]);
    }
    for (size_t k = 0; k < r->k; k++) {
        ROOT(r->f[k]);
        for (size_t l = 0; l < r->k; l++)
            ROOT(r->G[k * r->k + l]);
    }
    for (size_t i = 0; i < r->quantities.count; i++)
        ROOT(r->quantities.data[i].value);
#undef ROOT
    const hmi_shared_options options = {.saving = 200, .longest = 900};
    hm_status status = !good ? HM_ERR_NOMEM
                             : hmi_shared_pick(&w->shared, &r->graph, roots.data, roots.count,
                                               &options);
    hmi_array_release(r->allocator, &roots);
    return status;
}

/* ---- the groups ---- */

static void write_speeds(writer *w, hm_reduced *out)
{
    hmi_reduce *r = w->r;
    hm_reduced_line *lines = new_lines(w, r->k);
    for (size_t k = 0; lines && k < r->k; k++) {
        one_line(w, &lines[k], r->speed[k].name, definition(r, &r->speed[k]));
        if (r->speed[k].coordinate != HMI_NONE) { /* the name says it */
            show_name(w, r->speed[k].name);
            lines[k].shown = keep(w);
        }
    }
    out->speeds = (hm_reduced_lines){lines, r->k};
}

static void write_kinematics(writer *w, hm_reduced *out)
{
    hmi_reduce *r = w->r;
    hm_reduced_line *v = new_lines(w, r->n), *q = new_lines(w, r->n);
    for (size_t i = 0; v && q && i < r->n; i++) {
        const char *name = r->model->coords.data[i].name;
        if (r->position[i] != HMI_NONE)
            one_line(w, &q[out->positions.count++], name, r->position[i]);
        if (!is_speed(r, i))
            one_line(w, &v[out->kinematics.count++], hmi_reduce_name(r, "%s'", name),
                     r->velocity[i]);
    }
    out->positions.line = q;
    out->kinematics.line = v;
}

static void write_equations(writer *w, hm_reduced *out)
{
    hmi_reduce *r = w->r;
    hm_reduced_line *lines = new_lines(w, r->k), *more = new_lines(w, r->quantities.count);
    for (size_t k = 0; lines && k < r->k; k++)
        one_equation(w, &lines[k], r->speed[k].name, left_side(r, k), r->f[k]);
    for (size_t i = 0; more && i < r->quantities.count; i++)
        one_line(w, &more[i], r->quantities.data[i].name, r->quantities.data[i].value);
    out->equations = (hm_reduced_lines){lines, r->k};
    out->quantities = (hm_reduced_lines){more, r->quantities.count};
}

/* u' = G^-1 f where that is short, and G is not the identity anyway. */
static void write_solved(writer *w, hm_reduced *out)
{
    enum { MOST = 3, LONGEST = 160 };
    hmi_reduce *r = w->r;
    hmi_expr rates[MOST];
    if (r->k > MOST || r->form == HM_REDUCED_FORM_HAMILTON || w->shared.nodes.count)
        return;
    hm_status status = hmi_symbolic_solve(r->normal, r->k, r->G, 1, r->f, rates, NULL);
    if (status == HM_ERR_NOMEM)
        w->status = status;
    for (size_t k = 0; status == HM_OK && k < r->k; k++)
        if (hmi_normal_cost(r->normal, rates[k]) > LONGEST)
            return;
    hm_reduced_line *lines = status == HM_OK ? new_lines(w, r->k) : NULL;
    for (size_t k = 0; lines && k < r->k; k++)
        one_equation(w, &lines[k], r->speed[k].name, r->speed[k].rate, rates[k]);
    out->solved = (hm_reduced_lines){lines, lines ? r->k : 0};
}

static void write_parts(writer *w, hm_reduced *out)
{
    size_t count = w->shared.nodes.count;
    hm_reduced_line *lines = new_lines(w, count);
    for (size_t i = 0; lines && i < count; i++)
        for (int shown = 0; shown < 2; shown++) {
            const hmi_print_options *options = shown ? &w->shown : &w->plain;
            hm_status status = hmi_print_part_name(&w->text, i, options);
            if (shown)
                hmi_text_add(&w->text, " = ");
            else
                lines[i].name = keep(w);
            if (status == HM_OK)
                status = hmi_print_part_value(&w->text, &w->r->graph, i, options);
            *(shown ? &lines[i].shown : &lines[i].value) = keep(w);
            w->status = w->status == HM_OK ? status : w->status;
        }
    out->parts = (hm_reduced_lines){lines, count};
}

static void write_notes(writer *w, hm_reduced *out)
{
    const hmi_reduce *r = w->r;
    const char **notes = hmi_arena_alloc(w->arena, (r->notes.count + 1) * sizeof *notes);
    if (!notes) {
        w->status = HM_ERR_NOMEM;
        return;
    }
    for (size_t i = 0; i < r->notes.count; i++) {
        hmi_text_add(&w->text, r->notes.data[i]);
        notes[i] = keep(w);
    }
    out->notes = notes;
    out->note_count = r->notes.count;
}

hm_status hmi_reduce_write(hmi_reduce *r, hm_reduced *out, hmi_arena *arena)
{
    hmi_reduce_names names = {r, false}, file_names = {r, true};
    writer w = {.r = r, .arena = arena};
    hmi_text_init(&w.text, r->allocator);
    hmi_shared_init(&w.shared, r->allocator, hmi_reduce_part_prefix(r));
    w.plain = (hmi_print_options){
        .style = HMI_PRINT_PLAIN, .namer = hmi_reduce_namer(&names), .shared = &w.shared};
    w.shown = w.plain;
    w.shown.style = HMI_PRINT_TEXT;
    w.status = choose_parts(&w);
    if (w.status == HM_OK) {
        write_speeds(&w, out);
        write_kinematics(&w, out);
        write_equations(&w, out);
        write_solved(&w, out);
        write_parts(&w, out);
        hm_status status = hmi_reduce_write_model(r, &file_names, &w.text);
        if (status == HM_OK && w.text.length)
            out->file = keep(&w);
        w.status = w.status == HM_OK ? status : w.status;
        write_notes(&w, out);
    }
    hmi_shared_release(&w.shared);
    hmi_text_release(&w.text);
    hm_status status = hmi_reduce_status(r);
    return w.status == HM_OK ? status : w.status;
}
