/* hamel action: action integrals and varied paths. */
#include "command.h"
#include "figure_file.h"
#include "run_options.h"
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct acting {
    session *s;
    const invocation *call;
    hm_sim *sim;
    hm_action *action;
    double *end; /* --end; NULL: where the run ends */
} acting;

/* ---- JSON ---- */

static json_t *json_figure(const hm_action_figure *x)
{
    return json_pack("{s:o, s:o}", "value", json_number_or_null(x->value), "error",
                     json_number_or_null(x->error));
}

static json_t *by_coordinate(const hm_model *model, const double *values)
{
    json_t *object = json_object();
    for (size_t i = 0; i < hm_model_coordinate_count(model); i++)
        set_number(object, hm_model_coordinate_name(model, i), values[i]);
    return object;
}

static json_t *json_varied(const hm_varied_path *path)
{
    json_t *object = json_object();
    json_object_set_new(object, "delta_S", json_figure(&path->delta_S));
    json_object_set_new(object, "hamilton_dalembert", json_figure(&path->dalembert));
    json_object_set_new(object, "reaction_work", json_figure(&path->reaction_work));
    set_number(object, "scale", path->scale);
    set_number(object, "delta_g", path->delta_g);
    set_number(object, "off_virtual", path->off_virtual);
    json_object_set_new(object, "is_possible", json_boolean(path->is_possible));
    json_object_set_new(object, "is_virtual", json_boolean(path->is_virtual));
    set_number(object, "duration_change", path->duration_change);
    set_number(object, "end_miss", path->end_miss);
    return object;
}

static json_t *json_variations(const acting *x)
{
    json_t *list = json_array();
    for (size_t k = 0; k < x->action->variation_count; k++) {
        const hm_variation *v = &x->action->variations[k];
        json_t *one = json_object();
        set_text(one, "coordinate", hm_model_coordinate_name(x->s->model, v->coordinate));
        set_count(one, "mode", v->mode);
        json_object_set_new(one, "displaced", v->exists ? json_varied(&v->displaced) : json_null());
        json_object_set_new(one, "possible", v->exists ? json_varied(&v->possible) : json_null());
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *json_principles(const hm_action *a)
{
    json_t *list = json_array();
    for (size_t k = 0; k < a->principle_count; k++) {
        const hm_action_principle *p = &a->principles[k];
        json_t *one = json_object();
        set_text(one, "name", p->name);
        set_text(one, "equation", p->equation);
        set_text(one, "paths", p->paths);
        json_object_set_new(one, "largest", json_figure(&p->largest));
        set_number(one, "scale", p->scale);
        set_text(one, "holds", hm_action_verdict_text(p->verdict));
        set_text(one, "reason", p->reason);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *json_maupertuis(const hm_maupertuis *m)
{
    json_t *object = json_object();
    json_object_set_new(object, "conservative", json_boolean(m->conservative));
    set_text(object, "reason", m->reason);
    json_object_set_new(object, "homogeneous", json_boolean(m->homogeneous));
    set_number(object, "energy", m->energy);
    set_number(object, "energy_drift", m->energy_drift);
    json_object_set_new(object, "abbreviated", json_figure(&m->abbreviated));
    json_object_set_new(object, "twice_T", json_figure(&m->twice_T));
    json_object_set_new(object, "modified", json_figure(&m->modified));
    return object;
}

static json_t *json_vakonomic(const acting *x, const hm_vakonomic_motion *v)
{
    json_t *object = json_object(), *mu = json_object();
    json_object_set_new(object, "found", json_boolean(v->found));
    set_text(object, "message", v->message);
    set_count(object, "iterations", (json_int_t)v->iterations);
    set_number(object, "residual", v->residual);
    if (v->found) {
        for (size_t k = 0; k < v->k; k++)
            set_number(mu, hm_model_constraint(x->s->model, v->row[k]).name, v->mu[k]);
        json_object_set_new(object, "S", json_figure(&v->S));
        json_object_set_new(object, "v", by_coordinate(x->s->model, v->v));
        json_object_set_new(object, "mu", json_incref(mu));
        set_number(object, "distance", v->distance);
        set_number(object, "violation", v->violation);
        set_count(object, "segments", (json_int_t)v->segments);
    }
    json_decref(mu);
    return object;
}

static bool print_json(const acting *x)
{
    const hm_action *a = x->action;
    json_t *object = json_object();
    set_text(object, "model", hm_model_name(x->s->model));
    set_text(object, "method", a->method);
    set_number(object, "t_start", a->t_start);
    set_number(object, "t_end", a->t_end);
    set_count(object, "panels", (json_int_t)a->panels);
    json_object_set_new(object, "S", json_figure(&a->S));
    json_object_set_new(object, "maupertuis", json_maupertuis(&a->maupertuis));
    json_object_set_new(object, "variations", json_variations(x));
    set_text(object, "no_variations", a->no_variations);
    json_object_set_new(object, "principles", json_principles(a));
    json_object_set_new(object, "vakonomic",
                        a->vakonomic ? json_vakonomic(x, a->vakonomic) : json_null());
    json_object_set(object, "warnings", x->s->warnings);
    bool written = json_print(object);
    json_decref(object);
    return written;
}

/* ---- text ---- */

static void print_figure(const char *name, const hm_action_figure *x)
{
    printf("  %-28s %20.13g   error %.1e\n", name, positive_zero(x->value), x->error);
}

static void print_maupertuis(const hm_maupertuis *m)
{
    if (!m->conservative) {
        printf("Maupertuis' principle does not apply: %s\n", m->reason);
        return;
    }
    printf("Maupertuis' action at the energy %.12g (which changes by %.1e)\n", m->energy,
           m->energy_drift);
    print_figure("integral of p.q'    (A5)", &m->abbreviated);
    if (m->homogeneous)
        print_figure("integral of 2T      (A6)", &m->twice_T);
    print_figure("S + E (t2 - t1)     (A7)", &m->modified);
}

/* Integrals that are zero but for rounding are shown as 0. */
static double shown(const hm_action_figure *x, double scale)
{
    return fabs(x->value) <= fmax(x->error, 1e-12 * scale) ? 0 : x->value;
}

static void print_path(const char *name, const char *kind, const hm_varied_path *p)
{
    printf("  %-12s %-10s %14.6g %14.6g %14.6g  %-12s %s\n", name, kind,
           shown(&p->delta_S, p->scale), shown(&p->dalembert, p->scale),
           shown(&p->reaction_work, p->scale), p->is_possible ? "0" : "", p->is_virtual ? "0" : "");
}

static void print_variations(const acting *x)
{
    const hm_action *a = x->action;
    if (*a->no_variations) {
        printf("no varied paths: %s\n", a->no_variations);
        return;
    }
    printf("varied paths, delta q = sin(k pi s) along a coordinate, projected\n"
           "  %-12s %-10s %14s %14s %14s  %-12s %s\n",
           "along", "kind", "delta S", "+ forces", "reactions", "delta g", "A delta q");
    for (size_t k = 0; k < a->variation_count; k++) {
        const hm_variation *v = &a->variations[k];
        char name[64];
        snprintf(name, sizeof name, "%s, k=%u",
                 hm_model_coordinate_name(x->s->model, v->coordinate), v->mode);
        if (!v->exists) {
            printf("  %-12s the constraints leave nothing of it\n", name);
            continue;
        }
        print_path(name, "displaced", &v->displaced);
        print_path("", "possible", &v->possible);
    }
    printf("principles on these paths\n");
    for (size_t k = 0; k < a->principle_count; k++) {
        const hm_action_principle *p = &a->principles[k];
        printf("  %-44s %-14s %-9s largest %.3g (error %.1e)\n", p->name, p->equation,
               hm_action_verdict_text(p->verdict), shown(&p->largest, p->scale), p->largest.error);
        if (*p->reason)
            printf("      %s\n", p->reason);
    }
}

static void print_vakonomic(const acting *x)
{
    const hm_vakonomic_motion *v = x->action->vakonomic;
    if (!v)
        return;
    if (!v->found) {
        printf("no vakonomic motion between the ends: %s\n", v->message);
        return;
    }
    printf("vakonomic motion between the ends (there may be others)\n");
    print_figure("S", &v->S);
    for (size_t i = 0; i < x->action->n; i++)
        printf("  %s'(start) = %.12g\n", hm_model_coordinate_name(x->s->model, i),
               positive_zero(v->v[i]));
    for (size_t k = 0; k < v->k; k++)
        printf("  mu %s (start) = %.12g\n", hm_model_constraint(x->s->model, v->row[k]).name,
               positive_zero(v->mu[k]));
    printf(
        "  farthest from the motion %.6g; misfit %.1e after %zu iterations; constraints to %.1e\n",
        v->distance, v->residual, v->iterations, v->violation);
}

static void print_text(const acting *x)
{
    const hm_action *a = x->action;
    printf("%s from t = %.9g to %.9g by %s, %zu panels\n", hm_model_name(x->s->model), a->t_start,
           a->t_end, a->method, a->panels);
    print_figure("S = integral of L", &a->S);
    print_maupertuis(&a->maupertuis);
    print_variations(x);
    print_vakonomic(x);
}

/* ---- the plot ---- */

/* The coordinate on the motion, on its first varied paths, and on the vakonomic motion. */
static hm_status add_panel(const acting *x, hm_figure *figure, size_t i, double *columns)
{
    const hm_action *a = x->action;
    size_t count = 0;
    hm_curve curves[4];
    const hm_variation *v = NULL;
    for (size_t k = 0; k < a->variation_count && !v; k++)
        if (a->variations[k].exists && a->variations[k].coordinate == i)
            v = &a->variations[k];
    const struct {
        const char *label;
        const double *q, *dq;
    } paths[4] = {
        {"motion", a->q, NULL},
        {"displaced", v ? a->q : NULL, v ? v->displaced.dq : NULL},
        {"possible", v ? a->q : NULL, v ? v->possible.dq : NULL},
        {"vakonomic", a->vakonomic && a->vakonomic->found ? a->vakonomic->q : NULL, NULL}};
    for (size_t p = 0; p < 4; p++) {
        double *y = columns + p * a->samples;
        if (!paths[p].q)
            continue;
        for (size_t k = 0; k < a->samples; k++)
            y[k] = paths[p].q[k * a->n + i] + (paths[p].dq ? 0.1 * paths[p].dq[k * a->n + i] : 0);
        curves[count++] = (hm_curve){
            .label = paths[p].label, .x = a->t, .y = y, .count = a->samples};
    }
    const hm_panel panel = {.x_label = "t",
                            .y_label = hm_model_coordinate_name(x->s->model, i),
                            .curves = curves,
                            .curve_count = count};
    return hm_figure_add(figure, &panel);
}

static bool write_plot(const acting *x, const char *path)
{
    const hm_action *a = x->action;
    size_t shown_count = a->n < 6 ? a->n : 6;
    hm_figure *figure = NULL;
    char title[200];
    double *columns = memory_new(4 * shown_count * a->samples + 1, sizeof *columns);
    snprintf(title, sizeof title, "%s: the motion and paths varied by 0.1",
             hm_model_name(x->s->model));
    hm_status status = columns ? hm_figure_create(memory_allocator(), title, NULL, &figure)
                               : HM_ERR_NOMEM;
    for (size_t i = 0; i < shown_count && status == HM_OK; i++)
        status = add_panel(x, figure, i, columns + 4 * i * a->samples);
    bool good = status == HM_OK && figure_file_write(figure, path);
    hm_figure_destroy(figure);
    free(columns);
    return good;
}

/* ---- the command ---- */

/* --modes and --end. */
static int read_options(acting *x, hm_action_options *o)
{
    double modes = 1;
    const char *end = option_value(x->call, "--end");
    if (!run_options_read(x->s, x->call, &o->run) ||
        !option_number(x->s, x->call, "--modes", &modes))
        return EXIT_BAD_INPUT;
    if (!(modes >= 0 && modes <= 50 && modes == floor(modes)))
        return usage_error("--modes needs a whole number from 0 to 50");
    if (!(o->run.end > o->run.start))
        return usage_error("--to must be later than the start");
    o->modes = (size_t)modes;
    o->vakonomic = end || option_value(x->call, "--vakonomic");
    return EXIT_DONE;
}

/* What --end names; the rest is where the run ends. */
static hm_status read_end(acting *x, hm_action_options *o)
{
    const hm_model *model = x->s->model;
    const char *text = option_value(x->call, "--end");
    size_t n = hm_model_coordinate_count(model), inputs = hm_model_input_count(model);
    if (!text)
        return HM_OK;
    double t = o->run.end,
           *rest = memory_new(n + hm_model_state_count(model) + inputs + 1, sizeof *rest);
    bool *set = memory_new(inputs + 1, sizeof *set);
    hm_run_result result;
    hm_status status = HM_ERR_NOMEM;
    x->end = memory_new(n + 1, sizeof *x->end);
    if (rest && set && x->end)
        status = hm_sim_run(x->sim, &o->run, &result);
    if (status == HM_OK) {
        hm_sim_state(x->sim, x->end, NULL, NULL);
        status = hm_model_read_state(hm_sim_context(x->sim), model, text, &t, x->end, rest,
                                     rest + n, rest + n + hm_model_state_count(model), set);
        o->end = x->end;
    }
    free(rest);
    free(set);
    return status == HM_OK ? state_from_text(x->sim, model, option_value(x->call, "--at")) : status;
}

static int act(acting *x)
{
    const char *plot = option_value(x->call, "--plot");
    hm_action_options o = hm_action_options_default(x->s->model);
    int code = plot ? figure_file_check(plot) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = read_options(x, &o);
    if (code != EXIT_DONE)
        return code;
    hm_status status = hm_sim_create(x->s->system, &x->sim);
    if (status == HM_OK)
        status = state_from_text(x->sim, x->s->model, option_value(x->call, "--at"));
    if (status == HM_OK)
        status = read_end(x, &o);
    if (status == HM_OK)
        status = hm_sim_action(x->sim, &o, &x->action);
    if (status != HM_OK)
        return exit_status_of(status);
    if (x->call->json && !print_json(x))
        return EXIT_FAILED;
    if (!x->call->json)
        print_text(x);
    if (plot && !write_plot(x, plot))
        return EXIT_FAILED;
    return x->action->vakonomic && !x->action->vakonomic->found ? EXIT_FAILED : EXIT_DONE;
}

static int run(const invocation *call)
{
    session s;
    acting x = {.s = &s, .call = call};
    int status = session_open(&s, call, true);
    if (status == EXIT_DONE) {
        status = act(&x);
        fflush(stdout);
        print_sim_diagnostics(x.sim, call->quiet);
    }
    hm_action_destroy(x.action);
    hm_sim_destroy(x.sim);
    session_close(&s);
    free(x.end);
    return status;
}

static const option_spec options[] = {
    {"--at", "STATE", "start here; default: the initial state"},
    {"--from", "T", "start time"},
    {"--to", "T", "end time"},
    {"--modes", "K", "vary paths by sin(k pi s), k = 1 .. K; 0: none; default 1"},
    {"--vakonomic", NULL, "also find the vakonomic motion between the ends"},
    {"--end", "STATE", "where that one ends, as in \"x=1, y=2\"; default: where the run ends"},
    {"--method", "NAME", "how to integrate, as for run"},
    {"--rtol", "R", "relative tolerance per step"},
    {"--atol", "A", "absolute tolerance per step"},
    {"--step", "H", "of fixed-step methods"},
    {"--plot", "FILE", "the motion and varied paths, .svg or .png"},
    {0},
};

const command command_action = {
    .name = "action",
    .summary = "action integrals and varied paths",
    .usage = "MODEL [options]",
    .example = "hamel action skate --to 2 --vakonomic --plot skate.svg",
    .options = options,
    .needs_model = true,
    .run = run,
};
