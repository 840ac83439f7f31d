/* The copy of the expressions in which modes stand for functions that are not smooth, while it is
 * made: switch_build.c replaces switches, friction_find.c directions. */
#ifndef HMI_INTEGRATE_EVENTS_SWITCH_BUILD_H
#define HMI_INTEGRATE_EVENTS_SWITCH_BUILD_H

#include "integrate/events/switch.h"

/* A switching function g = a - b (b HMI_NONE: g = a), as nodes of the copy. */
typedef struct hmi_switch_function {
    hmi_expr a, b;
    bool of_direction; /* its mode is part of a direction */
} hmi_switch_function;

enum { HMI_MOST_PARTS = 8 };

/* A direction as it is found. */
typedef struct hmi_direction_build {
    hmi_expr norm;                 /* |u|, of the original */
    size_t first, count;           /* functions: |u|, u_1 .. u_count, |modes| */
    hmi_expr *map;                 /* by handle of the original: with u_i -> |u| s_i; 0: not yet */
    hmi_expr part[HMI_MOST_PARTS]; /* u_i, of the original */
} hmi_direction_build;

typedef struct hmi_rebuilder {
    const hm_allocator *allocator;
    hmi_arena *arena;
    const hmi_graph *from;
    const hmi_contact_run *contact;
    hmi_graph graph; /* the copy, which grows */
    hmi_expr *map;   /* by handle of the original; 0: not yet (no root maps to 0) */
    HMI_ARRAY(hmi_switch_function) functions;
    HMI_ARRAY(hmi_location) locations;
    HMI_ARRAY(hmi_direction_build) directions;
    hmi_walk walk;
    hmi_expr *state_rates; /* mapped */
    const bool *unused;    /* functions that are not watched; given: no new ones are made */
    bool keeps_directions; /* u/|u| stays as it is */
    hm_status status;
} hmi_rebuilder;

/* held_powers.c: the base of a power, its original and what it became with modes; and a branch on which
 * `positive` is positive, where it is the base of powers. */
hmi_expr hmi_hold_base(hmi_rebuilder *r, hmi_expr original, hmi_expr rebuilt);
hmi_expr hmi_hold_branch(hmi_rebuilder *r, hmi_expr branch, hmi_expr positive);

/* Defaults of u of all inputs, then of u', then of u''; HMI_NONE: none. */
static inline hmi_expr hmi_input_value(const hm_system *system, size_t i)
{
    size_t count = system->model->inputs.count;
    return system->derived.input_values[i / count][i % count];
}

/* The quotient a/b of the original, where b has a factor |u| of velocities u: rebuilt with modes for
 * u/|u|. HMI_NONE: it is not of that kind. */
hmi_expr hmi_rebuild_direction(hmi_rebuilder *r, hmi_expr a, hmi_expr b);
/* What nodes became with modes is found anew: r->map is another. */
void hmi_directions_forget(hmi_rebuilder *r);
/* After all is built: the directions for running. */
hm_status hmi_directions_finish(hmi_rebuilder *r, hmi_switches *sw);

/* locations.c: floor, ceil and tables by the piece that is held, of operands that are rebuilt; HMI_NONE:
 * nothing holds them. */
hmi_expr hmi_rebuild_pieces(hmi_rebuilder *r, hmi_op op, hmi_expr x, hmi_expr y, hmi_expr z);
hm_status hmi_locations_finish(const hmi_rebuilder *r, hmi_switches *sw, hmi_arena *arena);

/* Is e the other's negative? a - b and b - a are nodes of their own. */
bool hmi_is_negative_of(const hmi_graph *g, hmi_expr e, hmi_expr other);
/* friction_rest.c: sw->rest_of, after everything was rebuilt. */
hm_status hmi_rests_find(const hmi_rebuilder *r, hmi_switches *sw);

#endif
