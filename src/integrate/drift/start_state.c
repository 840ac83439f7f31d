/* Finds the consistent state that a run starts from, and says why there is none. */
#include "base/argument.h"
#include "integrate/drift/start_state.h"

#include "dynamics/sim/contacts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

hm_status hmi_start_state_init(hmi_start_state *s, hmi_projection *projection, hmi_arena *arena)
{
    const hmi_ode *ode = projection->ode;
    bool failed = false;
    *s = (hmi_start_state){.projection = projection, .arena = arena};
    s->given = hmi_arena_doubles(arena, ode->size, &failed);
    s->found = hmi_arena_doubles(arena, ode->size, &failed);
    s->fixed = hmi_arena_alloc(arena, 2 * ode->n + 1);
    s->velocity_name = hmi_arena_alloc(arena, (ode->n + 1) * sizeof *s->velocity_name);
    if (ode->sim->contacts) {
        s->skip_position = hmi_arena_alloc(arena, ode->sim->contacts->m + 1);
        s->skip_velocity = hmi_arena_alloc(arena, ode->sim->contacts->m + 1);
        failed |= !s->skip_position || !s->skip_velocity;
    }
    return failed || !s->fixed || !s->velocity_name
               ? HM_ERR_NOMEM
               : hmi_mirrored_init(&s->mirrored, ode->sim->system->model, arena);
}

void hmi_start_state_release(hmi_start_state *s)
{
    if (!s->arena)
        return;
    hmi_array_release(s->arena->allocator, &s->moved);
    hmi_mirrored_release(&s->mirrored);
}

/* ---- the search ---- */

/* Rows whose condition is false need not hold, nor one-sided ones that are open or whose velocities an
 * impact will change. */
static void skip_contacts(hmi_start_state *s)
{
    const hmi_ode *ode = s->projection->ode;
    hmi_contacts *c = ode->sim->contacts;
    const hmi_point at = hmi_ode_point(ode, ode->sim->state.at.t, s->found);
    hmi_contacts_forget_sizes(c);
    hmi_contacts_measure(c, &at, 0);
    hmi_contacts_read(c, &at);
    for (size_t i = 0; i < c->m; i++) {
        bool one_sided = ode->sim->system->model->constraints.data[i].one_sided;
        s->skip_velocity[i] = one_sided || c->when[i] == 0;
        s->skip_position[i] = s->skip_velocity[i];
    }
}

/* Does another row have to be closed? One-sided rows are, where they are violated. */
static bool close_violated(hmi_start_state *s)
{
    const hmi_ode *ode = s->projection->ode;
    hmi_contacts *c = ode->sim->contacts;
    const hmi_point at = hmi_ode_point(ode, ode->sim->state.at.t, s->found);
    bool more = false;
    hmi_sim_evaluate(ode->sim, &at);
    hmi_contacts_read(c, &at);
    for (size_t i = 0; i < c->m; i++) {
        const hmi_constraint *row = &ode->sim->system->model->constraints.data[i];
        if (!row->one_sided || row->level != HM_LEVEL_POSITION || c->when[i] == 0 ||
            !s->skip_position[i] || c->gap[i] >= -hmi_contacts_gap_noise(c, i, &at))
            continue;
        s->skip_position[i] = false;
        more = true;
    }
    return more;
}

static hm_status try_state(hmi_start_state *s, hmi_consistent *c)
{
    const hmi_ode *ode = s->projection->ode;
    hm_status status;
    memcpy(s->found, s->given, ode->size * sizeof *s->given);
    c->skip_position = s->skip_position;
    c->skip_velocity = s->skip_velocity;
    if (ode->sim->contacts)
        skip_contacts(s);
    do
        status = hmi_make_consistent(c, ode->sim->state.at.t, s->found, s->fixed,
                                     s->fixed + ode->n);
    while (status == HM_OK && ode->sim->contacts && close_violated(s));
    return status;
}

/* With all values free, is there a consistent state near this one? */
static bool could_move(hmi_start_state *s)
{
    hmi_consistent c = {.projection = s->projection};
    memset(s->fixed, 0, 2 * s->projection->ode->n);
    return try_state(s, &c) == HM_OK;
}

/* What to do about the row that is violated most. A circle seen from its centre says nowhere to go:
 * there only other guesses help. */
static const char *hint_for(hmi_start_state *s, const hmi_consistent *c, bool all_free, char *text,
                            size_t size)
{
    const hm_sim *sim = s->projection->ode->sim;
    const hmi_expr_matrix *pattern = &sim->system->derived.constraints.A;
    size_t first = pattern->start[c->worst_row];
    bool flat = hmi_row_length(sim, c->worst_row) <= 1e-9 * fabs(c->violated_by);
    if (!flat || first == pattern->start[c->worst_row + 1])
        return !all_free && could_move(s)
                   ? "write `~` for values that may be moved, or `initial keep` to use them as "
                     "they are"
                   : "nor can it with all values free: do the constraints contradict each other, "
                     "or are the guesses far off?";
    snprintf(text, size,
             "small changes of the coordinates do not affect it there: try other guesses, such as "
             "`initial %s%s ~ 1`",
             sim->system->model->coords.data[pattern->column.data[first]].name,
             c->violated_level == HM_LEVEL_VELOCITY ? "'" : "");
    return text;
}

static hm_status refuse_state(hmi_start_state *s, const hmi_consistent *c, bool all_free)
{
    const hm_sim *sim = s->projection->ode->sim;
    const hmi_constraint *row = &sim->system->model->constraints.data[c->worst_row];
    char hint[256];
    hmi_error(
        sim->context, row->span, hint_for(s, c, all_free, hint, sizeof hint),
        "the initial state cannot be made consistent: constraint '%s' is violated by %.6g at %s "
        "level",
        row->name, c->violated_by, hm_level_text(c->violated_level));
    return HM_ERR_INPUT;
}

/* What the model, or hm_sim_hold, fixes: n coordinates, then n velocities. */
static void list_fixed(hmi_start_state *s, bool with_held)
{
    const hmi_ode *ode = s->projection->ode;
    const bool *held = ode->sim->state.held;
    size_t n = ode->n;
    for (size_t i = 0; i < n; i++) {
        const hmi_coord *coord = &ode->sim->system->model->coords.data[i];
        s->fixed[i] = s->fix_all || coord->position.given == HMI_GIVEN_FIXED ||
                      (with_held && held[i]);
        s->fixed[n + i] = s->fix_all || coord->velocity.given == HMI_GIVEN_FIXED ||
                          (with_held && held[n + i]);
    }
}

hm_status hmi_start_state_move(hmi_start_state *s, bool all_free)
{
    hmi_ode *ode = s->projection->ode;
    hmi_consistent c = {.projection = s->projection};
    hmi_ode_load(ode, s->given);
    memset(s->fixed, 0, 2 * ode->n);
    if (!all_free)
        list_fixed(s, true);
    hm_status status = try_state(s, &c);
    if (status == HM_ERR_INCONSISTENT && !all_free &&
        memchr(ode->sim->state.held, true, 2 * ode->n)) {
        list_fixed(s, false);
        status = try_state(s, &c);
    }
    if (status == HM_ERR_INCONSISTENT)
        return refuse_state(s, &c, all_free);
    hmi_ode_store(ode, ode->sim->state.at.t, s->found);
    if (status == HM_OK && !all_free)
        status = hmi_refuse_mirrored(&s->mirrored, ode->sim);
    return status == HM_ERR_NUMERIC ? HM_OK : status; /* what follows says what is not finite */
}

/* ---- what moved ---- */

/* The name of coordinate i, or of its velocity; NULL: there is no memory for it. */
static const char *name_of(hmi_start_state *s, size_t i, bool velocity)
{
    const char *name = s->projection->ode->sim->system->model->coords.data[i].name;
    if (velocity && !s->velocity_name[i]) {
        char text[256];
        snprintf(text, sizeof text, "%s'", name);
        s->velocity_name[i] = hmi_arena_text(s->arena, text, strlen(text));
    }
    return velocity ? s->velocity_name[i] : name;
}

static bool note_move(hmi_start_state *s, size_t i, bool velocity, double from, double to)
{
    if (fabs(from - to) <= 1e-13 * (fabs(from) + fabs(to)) || fabs(from - to) < 1e-15)
        return true;
    const hm_moved moved = {name_of(s, i, velocity), from, to};
    return moved.name && hmi_array_push(s->arena->allocator, &s->moved, moved);
}

hm_status hmi_start_state_find(hmi_start_state *s, bool all_free)
{
    size_t n = s->projection->ode->n;
    s->moved.count = 0;
    hm_status status = hmi_start_state_move(s, all_free);
    for (size_t i = 0; i < 2 * n && status == HM_OK; i++)
        if (!note_move(s, i % n, i >= n, s->given[i], s->found[i]))
            status = HM_ERR_NOMEM;
    return status;
}

/* ---- without a run ---- */

/* What hm_sim_make_consistent keeps with the sim. */
typedef struct consistency {
    hm_sim *sim;
    hmi_arena arena;
    hmi_ode ode;
    hmi_residuals residuals;
    hmi_projection projection;
    hmi_start_state start;
} consistency;

static void destroy(void *memory)
{
    consistency *c = memory;
    const hm_allocator *allocator = c->arena.allocator;
    hmi_start_state_release(&c->start);
    hmi_projection_release(&c->projection);
    hmi_residuals_release(&c->residuals);
    hmi_arena_release(&c->arena);
    c->sim->extras.consistency = NULL;
    hmi_free(allocator, c, sizeof *c);
}

static hm_status build(consistency *c)
{
    hm_status status = c->sim->dense.dynamics ? HM_OK : hmi_sim_prepare_large(c->sim);
    if (status == HM_OK)
        status = hmi_residuals_init(&c->residuals, c->sim, &c->arena);
    if (status == HM_OK)
        status = hmi_projection_init(&c->projection, &c->ode, &c->residuals, &c->arena);
    return status == HM_OK ? hmi_start_state_init(&c->start, &c->projection, &c->arena) : status;
}

/* HM_ERR_LIMIT: the system is too large for this. */
static hm_status create(hm_sim *sim)
{
    const hm_allocator *allocator = sim->system->allocator;
    consistency *c = hmi_alloc(allocator, sizeof *c);
    if (!c)
        return HM_ERR_NOMEM;
    *c = (consistency){.sim = sim};
    hmi_arena_init(&c->arena, allocator);
    hm_status status = hmi_ode_init(&c->ode, sim);
    if (status == HM_OK)
        status = build(c);
    if (status == HM_OK) {
        sim->extras.consistency = c;
        sim->extras.consistency_destroy = destroy;
    } else
        destroy(c);
    return status;
}

hm_status hm_sim_make_consistent(hm_sim *sim, bool all_free, const hm_moved **moved, size_t *count)
{
    HMI_ARGUMENT(sim ? sim->context : NULL, sim && !sim->in_callback && (!moved || count),
                 "a place for the count is needed; no call from a callback of the sim");
    const hm_evaluate_options defaults = {.formulation = HM_FORMULATION_AUTO};
    hm_evaluation at;
    if (sim->extras.run) /* it cannot go on from another state */
        sim->extras.run_destroy(sim->extras.run);
    hm_status status = sim->extras.consistency ? HM_OK : create(sim);
    if (status == HM_ERR_LIMIT)
        return hm_sim_evaluate(sim, &defaults, &at); /* says why */
    if (status != HM_OK)
        return status;
    consistency *c = sim->extras.consistency;
    hmi_residuals_prepare(&c->residuals);
    status = hmi_start_state_find(&c->start, all_free);
    if (status == HM_OK && moved) {
        *moved = c->start.moved.data;
        *count = c->start.moved.count;
    }
    return status;
}
