/* The state a run starts from: consistent, and what moved for it. See driver.h. */
#include "integrate/run/driver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* From the state in d->y. */
static hm_status try_state(hmi_driver *d, hmi_consistent *c)
{
    memcpy(d->s.y, d->y, d->ode.size * sizeof *d->y);
    return hmi_make_consistent(c, d->sim->state.at.t, d->s.y, d->fixed, d->fixed + d->ode.n);
}

/* With all values free, is there a consistent state near this one? */
static bool could_move(hmi_driver *d)
{
    hmi_consistent c = {.projection = &d->projection};
    memset(d->fixed, 0, 2 * d->ode.n);
    return try_state(d, &c) == HM_OK;
}

/* What to do about the row that is missed most. A circle seen from its centre says nowhere to go:
 * there it is other guesses that help. */
static const char *hint_for(hmi_driver *d, const hmi_consistent *c, bool all_free, char *text,
                            size_t size)
{
    const hmi_expr_matrix *pattern = &d->sim->system->derived.constraints.A;
    size_t first = pattern->start[c->worst_row];
    bool flat = hmi_row_length(d->sim, c->worst_row) <= 1e-9 * fabs(c->missed_by);
    if (!flat || first == pattern->start[c->worst_row + 1])
        return !all_free && could_move(d) ? "write `~` for values that may be moved, or `initial "
                                            "keep` to use them as they are"
                                          : "nor can it with all values free: do the constraints "
                                            "contradict each other, or are the guesses far off?";
    snprintf(text, size,
             "small changes of the coordinates do not affect it there: try other guesses, such as "
             "`initial %s%s ~ 1`",
             d->model->coords.data[pattern->column.data[first]].name,
             c->missed_level == HM_LEVEL_VELOCITY ? "'" : "");
    return text;
}

static hm_status refuse_state(hmi_driver *d, const hmi_consistent *c, bool all_free)
{
    const hmi_constraint *row = &d->model->constraints.data[c->worst_row];
    char hint[256];
    hmi_error(d->sim->context, row->span, hint_for(d, c, all_free, hint, sizeof hint),
              "the initial state cannot be made consistent: constraint '%s' is violated by %.6g at "
              "%s level",
              row->name, c->missed_by, hm_level_text(c->missed_level));
    return HM_ERR_INPUT;
}

static bool note_move(hmi_driver *d, const char *name, bool velocity, double from, double to)
{
    if (fabs(from - to) <= 1e-13 * (fabs(from) + fabs(to)) || fabs(from - to) < 1e-15)
        return true;
    char text[256];
    snprintf(text, sizeof text, "%s%s", name, velocity ? "'" : "");
    const char *kept = hmi_arena_text(&d->arena, text, strlen(text));
    const hm_moved moved = {kept, from, to};
    return kept && hmi_array_push(d->arena.allocator, &d->moved, moved);
}

static hm_status note_moves(hmi_driver *d, const double *from, const double *to)
{
    size_t n = d->ode.n;
    for (size_t i = 0; i < 2 * n; i++)
        if (!note_move(d, d->model->coords.data[i % n].name, i >= n, from[i], to[i]))
            return HM_ERR_NOMEM;
    return HM_OK;
}

/* What the model, or hm_sim_hold, fixes: n coordinates, then n velocities. */
static void list_fixed(hmi_driver *d, bool with_held)
{
    size_t n = d->ode.n;
    for (size_t i = 0; i < n; i++) {
        const hmi_coord *coord = &d->model->coords.data[i];
        const bool *held = d->sim->state.held;
        d->fixed[i] = d->options.fix_state || coord->position.given == HMI_GIVEN_FIXED ||
                      (with_held && held[i]);
        d->fixed[n + i] = d->options.fix_state || coord->velocity.given == HMI_GIVEN_FIXED ||
                          (with_held && held[n + i]);
    }
}

hm_status hmi_driver_move_state(hmi_driver *d, bool all_free)
{
    size_t n = d->ode.n;
    hmi_consistent c = {.projection = &d->projection};
    hmi_ode_load(&d->ode, d->y);
    memset(d->fixed, 0, 2 * n);
    if (!all_free)
        list_fixed(d, true);
    hm_status status = try_state(d, &c);
    if (status == HM_ERR_INCONSISTENT && !all_free && memchr(d->sim->state.held, true, 2 * n)) {
        list_fixed(d, false);
        status = try_state(d, &c);
    }
    if (status == HM_ERR_INCONSISTENT)
        return refuse_state(d, &c, all_free);
    hmi_ode_store(&d->ode, d->sim->state.at.t, d->s.y);
    return status == HM_ERR_NUMERIC ? HM_OK : status; /* what follows says what is not finite */
}

hm_status hmi_driver_find_state(hmi_driver *d, bool all_free)
{
    hm_status status = hmi_driver_move_state(d, all_free); /* from d->y */
    return status == HM_OK ? note_moves(d, d->y, d->s.y) : status;
}
