/* The reduced equations as a model file. Speeds that are velocities belong to coordinates; any other speed u is the
 * velocity of a coordinate int_u, whose value nobody needs. G is written as `mass`, f as `force`; coordinates that
 * are left are states with  q' = N u + n,  or outputs where they were solved for. */
#include "reduce/names.h"

typedef struct file {
    hmi_reduce *r;
    hmi_text *out;
    hmi_print_options print;
    hmi_shared shared;
    hmi_expr *outputs, *events, *inputs;
    hm_status status;
} file;

static void expression(file *f, hmi_expr e)
{
    hm_status status = hmi_print(f->out, &f->r->graph, e, &f->print);
    f->status = f->status == HM_OK ? status : f->status;
}

static void number(file *f, double value)
{
    char text[HMI_NUMBER_TEXT];
    hmi_text_add(f->out, hmi_number_text(value, text));
}

static void name(file *f, const char *text)
{
    hmi_reduce_file_name(f->r, text, f->out);
}

/* The coordinate of a speed. */
static void speed_coordinate(file *f, size_t k)
{
    const hmi_speed *s = &f->r->speed[k];
    if (s->coordinate != HMI_NONE)
        name(f, f->r->model->coords.data[s->coordinate].name);
    else
        hmi_text_addf(f->out, "int_%s%s", s->name,
                      hmi_reduce_is_taken(f->r, hmi_reduce_name(f->r, "int_%s", s->name)) ? "_"
                                                                                          : "");
}

static bool has_coordinate(const hmi_reduce *r, size_t i)
{
    for (size_t k = 0; k < r->k; k++)
        if (r->speed[k].coordinate == i)
            return true;
    return false;
}

/* ---- what may be carried over ---- */

typedef struct full {
    hmi_reduce *r;
} full;

/* Accelerations, velocities and positions of the model in those of the file. */
static hmi_expr in_file(hmi_graph *g, hmi_expr leaf, void *user)
{
    hmi_reduce *r = ((full *)user)->r;
    const hmi_node node = *hmi_node_at(g, leaf);
    if (node.a == HMI_SYM_COORD && r->position[node.b] != HMI_NONE)
        return r->position[node.b];
    if (node.a == HMI_SYM_VELOCITY && node.b < r->n)
        return r->velocity[node.b];
    if (node.a != HMI_SYM_ACCELERATION)
        return leaf;
    hmi_expr a = r->drift[node.b];
    for (size_t k = 0; k < r->k; k++)
        a = hmi_add(g, a, hmi_mul(g, r->N[node.b * r->k + k], r->speed[k].rate));
    return a;
}

static bool can_be_written(const hmi_reduce *r, hmi_expr e)
{
    const uint16_t unknown = HMI_DEP_FORCES | HMI_DEP(HMI_SYM_ENERGY) | HMI_DEP(HMI_SYM_MATRIX);
    return e != HMI_NONE && !(hmi_deps(&r->graph, e) & unknown);
}

static hmi_expr *carry(file *f, const hmi_expr *list, size_t count, const char *what)
{
    hmi_reduce *r = f->r;
    full user = {r};
    hmi_expr *out = hmi_reduce_vector(r, count);
    hmi_substitution replace;
    hmi_substitution_init(&replace, r->allocator, in_file, &user,
                          HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY) |
                              HMI_DEP(HMI_SYM_ACCELERATION));
    for (size_t i = 0; out && i < count; i++) {
        out[i] = can_be_written(r, list[i]) ? hmi_substitute(&replace, &r->graph, list[i])
                                            : HMI_NONE;
        if (list[i] != HMI_NONE && out[i] == HMI_NONE)
            hmi_reduce_note(
                r, hmi_reduce_name(r, "%s uses constraint forces or the energy: not in the file",
                                   what));
    }
    hmi_substitution_release(&replace);
    return out;
}

static bool carry_all(file *f)
{
    const hm_model *model = f->r->model;
    f->outputs = carry(f, f->r->eq->outputs, model->outputs.count, "an output");
    f->events = carry(f, f->r->eq->events, model->events.count, "an event");
    f->inputs = hmi_reduce_vector(f->r, model->inputs.count);
    for (size_t i = 0; f->inputs && i < model->inputs.count; i++) {
        hmi_expr *one = carry(f, &model->inputs.data[i].value, 1, "an input");
        f->inputs[i] = one ? *one : HMI_NONE;
    }
    for (size_t i = 0; f->events && i < model->events.count; i++)
        if (model->events.data[i].action == HMI_EVENT_SET) {
            f->events[i] = HMI_NONE;
            hmi_reduce_note(f->r, hmi_reduce_name(f->r, "event %s sets values: not in the file",
                                                  model->events.data[i].name));
        }
    return !f->r->failed;
}

static void add_roots(const hmi_expr *list, size_t count, hmi_expr *roots, size_t *used)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] != HMI_NONE)
            roots[(*used)++] = list[i];
}

static hm_status choose_parts(file *f)
{
    hmi_reduce *r = f->r;
    const hm_model *model = r->model;
    size_t used = 0, most = r->k * r->k + r->k + 2 * r->n + r->nz + model->outputs.count +
                            model->events.count + model->inputs.count;
    hmi_expr *roots = hmi_reduce_vector(r, most);
    if (!roots)
        return HM_ERR_NOMEM;
    add_roots(r->G, r->k * r->k, roots, &used);
    add_roots(r->f, r->k, roots, &used);
    add_roots(r->velocity, r->n, roots, &used);
    add_roots(r->position, r->n, roots, &used);
    add_roots(r->state_rate, r->nz, roots, &used);
    add_roots(f->outputs, model->outputs.count, roots, &used);
    add_roots(f->events, model->events.count, roots, &used);
    const hmi_shared_options options = {.saving = 120, .longest = 2000};
    return hmi_shared_pick(&f->shared, &r->graph, roots, used, &options);
}

/* ---- the statements ---- */

static void write_parameters(file *f)
{
    const hm_model *model = f->r->model;
    for (size_t i = 0; i < model->params.count; i++) {
        const hmi_param *p = &model->params.data[i];
        hmi_text_add(f->out, "param ");
        name(f, p->name);
        hmi_text_add(f->out, " = ");
        if (p->overridden || p->value_expr == HMI_NONE)
            number(f, p->value);
        else
            expression(f, p->value_expr);
        hmi_text_add(f->out, "\n");
    }
    for (size_t c = 0; c < f->r->cyclic; c++) {
        hmi_text_add(f->out, "param ");
        expression(f, hmi_symbol(&f->r->graph, HMI_SYM_PARAM, (uint32_t)(f->r->np + c)));
        hmi_text_add(f->out, " = ");
        number(f, f->r->params[f->r->np + c]);
        hmi_text_add(f->out, "   # the momentum at the start\n");
    }
}

static void write_coordinates(file *f)
{
    hmi_reduce *r = f->r;
    hmi_text_add(f->out, "coord ");
    for (size_t k = 0; k < r->k; k++) {
        hmi_text_add(f->out, k ? ", " : "");
        speed_coordinate(f, k);
    }
    hmi_text_add(f->out, "\n");
    for (size_t k = 0; k < r->k; k++)
        if (r->speed[k].coordinate == HMI_NONE) {
            hmi_text_addf(f->out, "let %s = ", r->speed[k].name);
            speed_coordinate(f, k);
            hmi_text_add(f->out, "'\n");
        }
    for (size_t i = 0; i < r->model->inputs.count; i++) {
        hmi_text_add(f->out, "input ");
        name(f, r->model->inputs.data[i].name);
        hmi_text_add(f->out, " = ");
        expression(f, f->inputs[i]);
        hmi_text_add(f->out, "\n");
    }
}

static void write_states(file *f)
{
    hmi_reduce *r = f->r;
    for (size_t i = 0; i < r->n; i++) {
        if (has_coordinate(r, i) || r->position[i] != HMI_NONE)
            continue;
        hmi_text_add(f->out, "state ");
        name(f, r->model->coords.data[i].name);
        hmi_text_add(f->out, "' = ");
        expression(f, r->velocity[i]);
        hmi_text_add(f->out, "\n");
    }
    for (size_t i = 0; i < r->nz; i++) {
        hmi_text_add(f->out, "state ");
        name(f, r->model->states.data[i].name);
        hmi_text_add(f->out, "' = ");
        expression(f, r->state_rate[i]);
        hmi_text_add(f->out, "\n");
    }
}

static void write_parts(file *f)
{
    for (size_t i = 0; i < f->shared.nodes.count; i++) {
        hmi_text_add(f->out, "let ");
        hm_status status = hmi_print_part_name(f->out, i, &f->print);
        hmi_text_add(f->out, " = ");
        if (status == HM_OK)
            status = hmi_print_part_value(f->out, &f->r->graph, i, &f->print);
        hmi_text_add(f->out, "\n");
        f->status = f->status == HM_OK ? status : f->status;
    }
}

static void write_equations(file *f)
{
    hmi_reduce *r = f->r;
    for (size_t k = 0; k < r->k; k++)
        for (size_t l = 0; l <= k; l++) {
            if (r->G[k * r->k + l] == r->graph.zero)
                continue;
            hmi_text_add(f->out, "mass ");
            speed_coordinate(f, k);
            if (l < k) {
                hmi_text_add(f->out, ", ");
                speed_coordinate(f, l);
            }
            hmi_text_add(f->out, " = ");
            expression(f, r->G[k * r->k + l]);
            hmi_text_add(f->out, "\n");
        }
    for (size_t k = 0; k < r->k; k++) {
        if (r->f[k] == r->graph.zero)
            continue;
        hmi_text_add(f->out, "force ");
        speed_coordinate(f, k);
        hmi_text_add(f->out, " = ");
        expression(f, r->f[k]);
        hmi_text_add(f->out, "\n");
    }
}

static void initial_value(file *f, const char *of, const char *prime, double value)
{
    hmi_text_add(f->out, "initial ");
    name(f, of);
    hmi_text_addf(f->out, "%s = ", prime);
    number(f, value);
    hmi_text_add(f->out, "\n");
}

static void write_initial(file *f, const double *speeds)
{
    hmi_reduce *r = f->r;
    for (size_t i = 0; i < r->n; i++)
        if (r->position[i] == HMI_NONE)
            initial_value(f, r->model->coords.data[i].name, "", r->initial.q[i]);
    for (size_t i = 0; i < r->nz; i++)
        initial_value(f, r->model->states.data[i].name, "", r->initial.z[i]);
    for (size_t k = 0; k < r->k; k++) {
        hmi_text_add(f->out, "initial ");
        speed_coordinate(f, k);
        hmi_text_add(f->out, "' = ");
        number(f, speeds[k]);
        hmi_text_add(f->out, "\n");
    }
}

static void write_outputs(file *f)
{
    hmi_reduce *r = f->r;
    const hm_model *model = r->model;
    for (size_t i = 0; i < r->n; i++)
        if (r->position[i] != HMI_NONE) {
            hmi_text_add(f->out, "output ");
            name(f, model->coords.data[i].name);
            hmi_text_add(f->out, " = ");
            expression(f, r->position[i]);
            hmi_text_add(f->out, "\n");
        }
    for (size_t i = 0; i < model->outputs.count; i++) {
        if (f->outputs[i] == HMI_NONE)
            continue;
        hmi_text_add(f->out, "output ");
        name(f, model->outputs.data[i].name);
        hmi_text_add(f->out, " = ");
        expression(f, f->outputs[i]);
        hmi_text_add(f->out, "\n");
    }
}

static void write_events(file *f)
{
    static const char *const direction[] = {"both", "rising", "falling"};
    const hm_model *model = f->r->model;
    for (size_t i = 0; i < model->events.count; i++) {
        const hmi_event *e = &model->events.data[i];
        if (f->events[i] == HMI_NONE)
            continue;
        hmi_text_add(f->out, "event ");
        name(f, e->name);
        hmi_text_add(f->out, ": ");
        expression(f, f->events[i]);
        hmi_text_addf(f->out, " = 0 %s %s\n", direction[e->direction],
                      e->action == HMI_EVENT_STOP ? "stop" : "record");
    }
}

static void write_simulate(file *f)
{
    const hmi_simulate *s = &f->r->model->simulate;
    if (!s->given)
        return;
    hmi_text_add(f->out, "simulate ");
    number(f, s->start);
    hmi_text_add(f->out, " .. ");
    number(f, s->end);
    if (s->has_every) {
        hmi_text_add(f->out, " every ");
        number(f, s->every);
    }
    if (s->rtol > 0) {
        hmi_text_add(f->out, " rtol ");
        number(f, s->rtol);
    }
    if (s->atol > 0) {
        hmi_text_add(f->out, " atol ");
        number(f, s->atol);
    }
    hmi_text_add(f->out, "\n");
}

static hm_status initial_speeds(hmi_reduce *r, double *u)
{
    hmi_graph *g = &r->graph;
    hmi_expr *list = hmi_reduce_vector(r, r->k);
    for (size_t k = 0; list && k < r->k; k++) {
        list[k] = r->speed[k].form.rest;
        for (size_t i = 0; i < r->n; i++)
            list[k] = hmi_add(
                g, list[k],
                hmi_mul(g, r->speed[k].form.c[i], hmi_symbol(g, HMI_SYM_VELOCITY, (uint32_t)i)));
    }
    return list ? hmi_reduce_values(r, list, r->k, &r->initial, NULL, u) : HM_ERR_NOMEM;
}

static void write_statements(file *f, const double *speeds)
{
    const char *title = f->r->model->title;
    hmi_text_addf(f->out,
                  "# Made by hamel reduce --form %s: the same motion in independent speeds.\n",
                  hm_reduced_form_name(f->r->form));
    hmi_text_addf(f->out, "model %s_reduced", hm_model_name(f->r->model));
    if (title)
        hmi_text_addf(f->out, " \"%s (%s)\"", title, hm_reduced_form_name(f->r->form));
    hmi_text_add(f->out, "\n\n");
    f->print.shared = NULL;
    write_parameters(f);
    f->print.shared = &f->shared;
    write_coordinates(f);
    write_parts(f);
    hmi_text_add(f->out, "\n# the velocities\n");
    write_states(f);
    hmi_text_add(f->out, "\n# the equations of motion\n");
    write_equations(f);
    hmi_text_add(f->out, "\n");
    write_outputs(f);
    write_events(f);
    write_initial(f, speeds);
    write_simulate(f);
}

hm_status hmi_reduce_write_model(hmi_reduce *r, hmi_reduce_names *names, hmi_text *out)
{
    bool failed = false;
    double *speeds = hmi_arena_doubles(&r->arena, r->k, &failed);
    file f = {.r = r, .out = out};
    if (failed)
        return HM_ERR_NOMEM;
    if (r->model->table_count) {
        hmi_reduce_note(r, "the model has tables: no file is written");
        return HM_OK;
    }
    f.print = (hmi_print_options){.style = HMI_PRINT_PLAIN, .namer = hmi_reduce_namer(names)};
    hmi_shared_init(&f.shared, r->allocator, hmi_reduce_part_prefix(r));
    f.status = initial_speeds(r, speeds);
    if (f.status == HM_OK)
        f.status = carry_all(&f) ? choose_parts(&f) : HM_ERR_NOMEM;
    if (f.status == HM_OK)
        write_statements(&f, speeds);
    hmi_shared_release(&f.shared);
    return f.status;
}
