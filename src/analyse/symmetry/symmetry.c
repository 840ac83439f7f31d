/* hm_symmetries_find: finds symmetries and conserved quantities, checks them along a run, and
 * prints them as text. */
#include "base/argument.h"
#include "analyse/symmetry/elsewhere.h"

#include "dynamics/sim/sim.h"
#include "compile/jit/assemble.h"

#include <hamel/run.h>

#include <string.h>

/* The result with the memory it lives in. */
typedef struct report {
    hm_symmetries shown;     /* first: the pointer given out is one to this */
    const hm_system *system; /* shared: its allocator is used */
    const hm_allocator *allocator;
    hmi_arena arena;
} report;

typedef struct work {
    const hm_system *system;
    hm_symmetry_options options;
    report *report;
    hm_sim *sim; /* at the consistent initial state */
    hmi_forms forms;
    hmi_sampler sampler;
    hmi_generators generators;
    hmi_conserved integrals;
    hmi_sides sides;
} work;

hm_symmetry_options hm_symmetry_options_default(void)
{
    return (hm_symmetry_options){.discover = true, .steps = 300};
}

/* ---- text ---- */

static const char *text_of(work *w, hmi_expr e)
{
    hmi_text text;
    hmi_print_options print = {.style = HMI_PRINT_PLAIN,
                               .namer = hmi_model_namer(w->system->model)};
    hmi_text_init(&text, w->forms.allocator);
    hm_status status = hmi_print(&text, &w->forms.graph, hmi_forms_normal(&w->forms, e), &print);
    const char *copy = status == HM_ERR_LIMIT
                           ? hmi_arena_text(&w->report->arena, "(too long to print)", 19)
                           : hmi_arena_text(&w->report->arena, hmi_text_view(&text), text.length);
    bool failed = text.failed || status == HM_ERR_NOMEM;
    hmi_text_release(&text);
    return failed ? NULL : copy;
}

/* + f, and + multiplier(row)*(f) */
static void add_term(work *w, hmi_text *text, hmi_expr f, const char *row)
{
    const char *term = text_of(w, f);
    hmi_text_add(text, text->length ? " + " : "");
    if (row)
        hmi_text_addf(text, "multiplier(%s)", row);
    if (row && f != w->forms.graph.one)
        hmi_text_add(text, "*");
    if (!row || f != w->forms.graph.one)
        hmi_text_addf(text, "(%s)", term ? term : "");
    text->failed |= !term;
}

/* The right-hand side of the momentum equation. */
static const char *equation_of(work *w, const hmi_generator *g)
{
    hmi_text text;
    hmi_text_init(&text, w->forms.allocator);
    if (g->lagrangian != HM_ANSWER_YES)
        add_term(w, &text, g->change, NULL);
    if (g->workless != HM_ANSWER_YES)
        add_term(w, &text, g->work, NULL);
    for (size_t k = 0; k < w->forms.m; k++)
        if (g->crosses[k])
            add_term(w, &text, g->across[k], w->system->model->constraints.data[k].name);
    const char *copy = hmi_arena_text(&w->report->arena, hmi_text_view(&text), text.length);
    bool failed = text.failed;
    hmi_text_release(&text);
    return failed ? NULL : copy;
}

/* ---- along a run ---- */

/* A change of this size, relative to the parts of an integral, is no error of a run at these tolerances. */
#define CONTRADICTION 1e-5
enum { LONGEST_CHECK = 20 };

typedef struct watch {
    hmi_tape tape; /* every integral and its size, every conserved momentum likewise */
    double *memory, *start, *size, *change;
    size_t count, integrals;
    size_t *generator; /* of the momenta */
} watch;

/* |J| + |dJ/dq'_i q'_i| and so on are made for integrals; a momentum is compared with itself. */
static hm_status list_outputs(watch *along, work *w, hmi_expr **outputs)
{
    hmi_arena *arena = &w->report->arena;
    hmi_graph *graph = &w->forms.graph;
    size_t most = w->integrals.list.count + w->generators.list.count;
    *outputs = hmi_arena_alloc(arena, (2 * most + 1) * sizeof **outputs);
    along->generator = hmi_arena_alloc(arena, (most + 1) * sizeof *along->generator);
    if (!*outputs || !along->generator)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < w->integrals.list.count; i++) {
        (*outputs)[2 * along->count] = w->integrals.list.data[i].value;
        (*outputs)[2 * along->count++ + 1] = w->integrals.list.data[i].size;
    }
    along->integrals = along->count;
    for (size_t i = 0; i < w->generators.list.count; i++) {
        const hmi_generator *g = &w->generators.list.data[i];
        if (g->conserved != HM_ANSWER_YES)
            continue;
        along->generator[along->count] = i;
        (*outputs)[2 * along->count] = g->momentum;
        (*outputs)[2 * along->count++ + 1] = hmi_conserved_size(&w->integrals, g->momentum);
    }
    return graph->status;
}

static hm_status watch_init(watch *along, work *w)
{
    hmi_arena *arena = &w->report->arena;
    hmi_expr *outputs;
    *along = (watch){.tape.allocator = w->forms.allocator};
    hm_status status = list_outputs(along, w, &outputs);
    size_t count = along->count;
    if (status == HM_OK)
        status = hmi_tape_compile(&along->tape, &w->forms.graph, outputs, 2 * count);
    if (status != HM_OK)
        return status;
    along->memory = hmi_arena_alloc(arena, (along->tape.work_size + 1) * sizeof(double));
    along->start = hmi_arena_alloc(arena, (3 * count + 1) * sizeof(double));
    if (!along->memory || !along->start)
        return HM_ERR_NOMEM;
    along->size = along->start + count;
    along->change = along->size + count;
    for (size_t i = 0; i < 3 * count; i++)
        along->start[i] = 0;
    return HM_OK;
}

static void look(watch *along, hm_sim *sim, bool first)
{
    hmi_sim_refresh(sim, hmi_sim_present(sim));
    const hmi_tape_values values = hmi_sim_values(sim, hmi_sim_present(sim));
    if (first)
        hmi_tape_prepare(&along->tape, &values, along->memory);
    hmi_tape_run(&along->tape, &values, along->memory);
    const double *now = hmi_tape_outputs(&along->tape, along->memory);
    for (size_t i = 0; i < along->count; i++) {
        if (first)
            along->start[i] = now[2 * i];
        along->size[i] = fmax(along->size[i], now[2 * i + 1]);
        along->change[i] = fmax(along->change[i], fabs(now[2 * i] - along->start[i]));
    }
}

/* Steps until the time is up, an event acts or the run ends by itself. */
static void follow(work *w, watch *along, double end, long steps)
{
    hm_run_result result;
    for (long k = 0; k < steps && hm_sim_time(w->sim) < end; k++) {
        if (hm_sim_step(w->sim) != HM_OK || hm_sim_result(w->sim, &result) != HM_OK ||
            result.event_count)
            return;
        look(along, w->sim, false);
        w->report->shown.run_end = hm_sim_time(w->sim);
    }
}

/* Takes what the run says; what it contradicts is dropped. */
static void conclude(work *w, watch *along)
{
    hmi_conserved *in = &w->integrals;
    bool ran = w->report->shown.run_end > w->report->shown.run_start;
    double scale = 0; /* what is 0 all along is not compared with its own rounding */
    size_t kept = 0;
    for (size_t i = 0; i < along->count; i++)
        scale = fmax(scale, along->size[i]);
    for (size_t i = 0; i < along->count && ran; i++) {
        double size = fmax(along->size[i], 1e-6 * scale);
        double drift = size > 0 ? along->change[i] / size : 0;
        if (i >= along->integrals) {
            hmi_generator *g = &w->generators.list.data[along->generator[i]];
            g->conserved = drift > CONTRADICTION ? HM_ANSWER_UNKNOWN : g->conserved;
            continue;
        }
        in->list.data[i].checked = true;
        in->list.data[i].drift = drift;
        if (!(drift > CONTRADICTION))
            in->list.data[kept++] = in->list.data[i];
    }
    if (ran)
        in->list.count = kept;
}

/* The whole span of the model where its branches could differ. */
static hm_status check_on_run(work *w)
{
    hm_run_options options = hm_run_options_default(w->system->model);
    watch along;
    options.rtol = 1e-10;
    options.atol = 1e-13;
    options.method = "dop853";
    options.drift = "project";
    bool branches = w->sides.list.count > 0;
    double end = branches ? options.end : fmin(options.end, options.start + LONGEST_CHECK);
    if (!w->options.steps)
        return HM_OK;
    hm_status status = hm_sim_start(w->sim, &options);
    if (status != HM_OK) /* no motion from here: not checked */
        return status == HM_ERR_NOMEM ? status : HM_OK;
    status = watch_init(&along, w);
    if (status == HM_OK && along.count) {
        w->report->shown.run_start = w->report->shown.run_end = hm_sim_time(w->sim);
        look(&along, w->sim, true);
        follow(w, &along, end, branches ? HMI_SIDE_STEPS : w->options.steps);
        conclude(w, &along);
    }
    hmi_tape_release(&along.tape);
    return status;
}

/* ---- what is shown ---- */

static hm_status show_generator(work *w, const hmi_generator *g, hm_symmetry *out)
{
    hmi_arena *arena = &w->report->arena;
    const char **components = hmi_arena_alloc(arena, (w->forms.n + 1) * sizeof *components);
    *out = (hm_symmetry){.discovered = g->discovered,
                         .generator = components,
                         .lagrangian_invariant = g->lagrangian,
                         .distribution_invariant = g->distribution,
                         .horizontal = g->horizontal,
                         .conserved = g->conserved,
                         .where = g->where};
    out->name = hmi_arena_text(arena, g->name, strlen(g->name));
    out->momentum = text_of(w, g->momentum);
    if (!components || !out->name || !out->momentum)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < w->forms.n; i++) {
        bool zero = g->xi[i] == w->forms.graph.zero;
        components[i] = zero ? NULL : text_of(w, g->xi[i]);
        if (!zero && !components[i])
            return HM_ERR_NOMEM;
    }
    if (g->conserved == HM_ANSWER_YES)
        return HM_OK;
    out->equation = equation_of(w, g);
    return out->equation ? HM_OK : HM_ERR_NOMEM;
}

static hm_status show(work *w)
{
    hm_symmetries *shown = &w->report->shown;
    size_t generators = w->generators.list.count, integrals = w->integrals.list.count;
    hm_symmetry *symmetry = hmi_arena_alloc(&w->report->arena, (generators + 1) * sizeof *symmetry);
    hm_integral *integral = hmi_arena_alloc(&w->report->arena, (integrals + 1) * sizeof *integral);
    if (!symmetry || !integral)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < generators; i++) {
        hm_status status = show_generator(w, &w->generators.list.data[i], &symmetry[i]);
        if (status != HM_OK)
            return status;
    }
    for (size_t i = 0; i < integrals; i++) {
        const hmi_first_integral *of = &w->integrals.list.data[i];
        integral[i].expression = text_of(w, of->value);
        integral[i].from = of->from;
        integral[i].where = of->where;
        integral[i].checked = of->checked;
        integral[i].drift = of->drift;
        if (!integral[i].expression)
            return HM_ERR_NOMEM;
    }
    shown->symmetries = symmetry;
    shown->symmetry_count = generators;
    shown->integrals = integral;
    shown->integral_count = integrals;
    shown->states = w->integrals.states;
    shown->bits = (int)w->integrals.zero_bits;
    return hmi_forms_status(&w->forms) == HM_ERR_NOMEM ? HM_ERR_NOMEM : HM_OK;
}

/* ---- all of it ---- */

static hm_status begin(work *w)
{
    hm_status status = hm_sim_create(w->system, &w->sim);
    if (status != HM_OK)
        return status;
    if (hm_sim_make_consistent(w->sim, true, NULL, NULL) == HM_ERR_NOMEM)
        return HM_ERR_NOMEM;
    status = hmi_forms_init(&w->forms, w->system);
    if (status == HM_OK)
        status = hmi_sampler_init(&w->sampler, &w->forms, w->sim->state.q, w->sim->state.at.t);
    if (status == HM_OK)
        status = hmi_generators_init(&w->generators, &w->sampler);
    return status == HM_OK ? hmi_conserved_init(&w->integrals, &w->generators) : status;
}

static void end(work *w)
{
    hmi_sides_release(&w->sides);
    hmi_conserved_release(&w->integrals);
    hmi_generators_release(&w->generators);
    hmi_sampler_release(&w->sampler);
    hmi_forms_release(&w->forms);
    hm_sim_destroy(w->sim);
}

/* The sim stands at the consistent initial state. */
static hm_status try_elsewhere(work *w)
{
    size_t n = w->forms.n;
    double *start = hmi_arena_alloc(&w->report->arena, (2 * n + 1) * sizeof *start);
    if (!start)
        return HM_ERR_NOMEM;
    start[0] = hm_sim_time(w->sim);
    hm_sim_state(w->sim, start + 1, start + 1 + n, NULL);
    return hmi_try_elsewhere(&w->integrals, &w->sides, start, &w->report->arena);
}

static hm_status find(work *w)
{
    hm_status status = begin(w);
    if (status == HM_OK)
        status = hmi_generators_given(&w->generators);
    if (status == HM_OK && w->options.discover)
        status = hmi_generators_discover(&w->generators);
    if (status == HM_OK)
        status = hmi_generators_judge(&w->generators, w->generators.list.data,
                                      w->generators.list.count);
    if (status == HM_OK)
        hmi_generators_sift(&w->generators);
    if (status == HM_OK && w->options.discover)
        status = hmi_conserved_gather(&w->integrals);
    if (status == HM_OK && w->options.discover)
        status = hmi_conserved_find(&w->integrals);
    if (status == HM_OK)
        status = hmi_conserved_drop_trivial(&w->integrals, w->sim);
    if (status == HM_OK)
        status = hmi_sides_find(&w->sides, w->system);
    if (status == HM_OK)
        status = try_elsewhere(w);
    if (status == HM_OK)
        status = check_on_run(w);
    if (status == HM_OK)
        hmi_generators_sift(&w->generators); /* after what other sides and the run have said */
    return status == HM_OK ? show(w) : status;
}

hm_status hm_symmetries_find(const hm_system *system, const hm_symmetry_options *options,
                             hm_symmetries **found)
{
    HMI_ARGUMENT(system ? system->model->context : NULL,
                 system && found && (!options || options->steps >= 0),
                 "a system and a number of steps are needed");
    const hm_allocator *allocator = system->allocator;
    report *result = hmi_alloc(allocator, sizeof *result);
    if (!result)
        return HM_ERR_NOMEM;
    hmi_share(&system->references);
    *result = (report){
        .system = system, .allocator = allocator, .shown.refusal = hmi_states_refusal(system)};
    hmi_arena_init(&result->arena, allocator);
    work w = {.system = system,
              .options = options ? *options : hm_symmetry_options_default(),
              .report = result};
    hm_status status = HM_OK;
    if (!result->shown.refusal) {
        status = find(&w);
        end(&w);
        if (status == HM_ERR_NUMERIC || status == HM_ERR_LIMIT) {
            result->shown = (hm_symmetries){
                .refusal = "q'' could not be evaluated at any sample point"};
            status = HM_OK;
        }
    }
    if (status != HM_OK) {
        hm_symmetries_destroy(&result->shown);
        return status;
    }
    *found = &result->shown;
    return HM_OK;
}

void hm_symmetries_destroy(hm_symmetries *found)
{
    if (!found)
        return;
    report *result = (report *)found;
    hmi_arena_release(&result->arena);
    const hm_system *system = result->system;
    hmi_free(result->allocator, result, sizeof *result);
    hm_system_destroy((hm_system *)system);
}
