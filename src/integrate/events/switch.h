/* Functions that are not smooth: branches held during a step, switched at events, and sliding.
 *
 * Where `abs sign min max if` occur in M, Q, A, b, C, state rates or inputs with an argument g that moves,
 * the run works on tapes in which each of them depends on a mode s instead of on the sign of g:
 *     sign g -> s,  |g| -> s g,  min, max, if -> the branch of s (a blend for -1 < s < 1)
 * With s held at +1 or -1 the equations are smooth. g = 0 is an event; there the mode changes.
 *
 * Sliding (friction that sticks): where g' points to g = 0 on both sides, g stays 0 and s is what
 * makes g' = 0: Filippov's equivalent control, exact where forces are linear in s. It ends when s
 * leaves [-1, 1].                                            [Filippov 1988; Utkin 1992, ch. 2]
 *
 * Directions (friction along u/|u|, u velocities in a plane or along a line): the modes are |u| and
 * s = u/|u|, found before every solve. Where |u| falls below a small part of the tolerance u is set
 * to 0 by an impulse of the friction itself; there s is any vector of the unit ball (the limits of
 * u/|u|), and the one that makes u' = 0, of least norm, holds as long as |s| <= 1. When it no longer
 * can, u starts along s.
 *
 * Events of the model are functions g too, after the switches; they hold nothing.
 * Verified: test/unit/integrate/test_events.c, test/physics/test_friction.c
 */
#ifndef HMI_INTEGRATE_EVENTS_SWITCH_H
#define HMI_INTEGRATE_EVENTS_SWITCH_H

#include "integrate/contact/contact_run.h"
#include "integrate/ode/ode.h"

#include "expr/graph/table.h"

/* One u/|u|. Its functions, from number `first` on, are |u|, then u_1 .. u_count, then |s|; the first two
 * kinds have modes. */
typedef struct hmi_direction {
    size_t first, count;
    bool stuck;      /* u = 0 and friction keeps it so */
    double largest;  /* the largest |u| so far */
    double least;    /* a smaller |u| counts as rest */
    double loose;    /* after rest s is the heading until |u| is that large */
    double push;     /* how much friction changed u', at the last rest */
    double *heading; /* count: s where |u| = 0 and it does not stick */
} hmi_direction;

/* Where a function of pieces is: x of a table of the model, or of floor and ceil (table NULL), between
 * its knots. Function `first` is x - knot B with a mode s as any switch has: s = +1 behind knot B, -1 before
 * it. Function first + 1 is the way to the other end of the piece; its mode is B itself. */
typedef struct hmi_location {
    const hmi_table *table;
    int axis;
    hmi_expr x; /* of the copy */
    size_t first;
} hmi_location;

typedef struct hmi_switches {
    hmi_branches held; /* first: hmi_ode knows the switches by it */
    hm_sim *sim;
    size_t switches;           /* functions that switch: 0 .. switches - 1 */
    size_t count;              /* all functions: events of the model come after them, */
    size_t events_end;         /* and functions of contacts from this number on */
    double *mode;              /* by switch: s */
    bool *sliding;             /* by switch: s is found by the solve */
    hmi_direction *directions; /* held.directions of them */
    bool *of_direction;        /* by switch: it is part of a direction, or not used any more */
    hmi_location *locations;
    size_t location_count;
    bool *is_way;    /* by switch: it is the second function of a location */
    size_t *rest_of; /* by switch: it is |u| of this switch u (friction_rest.c); or HMI_NO_SWITCH */
    bool *has_rate;  /* by function: g' is known before the forces are */
    double *side;    /* by function: the sign of g that holds, +1 or -1 */
    bool needs_solve; /* some g depends on accelerations or constraint forces */

    hmi_tape dynamics, law, inputs; /* with modes */
    double *dynamics_work, *law_work, *inputs_work;
    hmi_tape outputs; /* of the model, by the modes; empty: none */
    double *outputs_work;
    hmi_tape values; /* g of all, then g' of all */
    double *values_work;

    /* Scratch of the search for sliding modes. */
    size_t *sliding_list;    /* the switches that slide */
    double *rates, *shifted; /* their g', and g' with a mode changed or the change of modes */
    double *jacobian;        /* of their g' by their modes */
    double *solver;          /* for its decomposition */
    int *pivots;

    /* The expressions behind `dynamics`, and powers of the ledger, for the motion tape. */
    hmi_graph graph;
    hmi_expr *list, *powers;
    hmi_expr *functions; /* count: g */
    /* Momenta, forces and residuals with modes, for the discrete methods; u/|u| as it is. All else is
     * the system's. */
    hmi_derived equations;
} hmi_switches;

#define HMI_NO_SWITCH SIZE_MAX

/* Does switch k have its mode from others, so that it is neither watched nor decided? */
static inline bool hmi_switch_follows(const hmi_switches *sw, size_t k)
{
    return sw->of_direction[k] || sw->rest_of[k] != HMI_NO_SWITCH;
}

/* Is switch k the way to the end of a piece that is left by sliding on its knot? Then it ends nowhere. */
static inline bool hmi_switch_has_no_way(const hmi_switches *sw, size_t k)
{
    return sw->is_way[k] && sw->sliding[k - 1];
}

/* friction_rest.c: modes of all |u| > 0, after what sticks has changed. */
void hmi_rests_settle(hmi_switches *sw);
/* The same as if the partner stuck or moved; false: nothing asks for that. */
bool hmi_rests_suppose(hmi_switches *sw, size_t partner, bool rests);

/* Finds the functions; count is 0 where there are none. Powers of the ledger go by the modes from then
 * on. Release also after a failure. */
hm_status hmi_switches_init(hmi_switches *sw, hm_sim *sim, struct hmi_ledger *ledger,
                            const hmi_contact_run *contact, hmi_arena *arena);
void hmi_switches_release(hmi_switches *sw);
void hmi_switches_prepare(hmi_switches *sw);
/* Puts the tapes with modes into the sim, and takes them out again. */
void hmi_switches_install(hmi_switches *sw);
void hmi_switches_remove(hmi_switches *sw);

/* held.accelerate: the solve with the modes that hold, sliding ones found. */
hm_status hmi_switches_accelerate(hmi_branches *held, hmi_ode *ode, const hmi_point *at,
                                  hmi_solution *solution);

/* friction_run.c, held.look_up: the modes of directions that move, at the point. */
void hmi_directions_update(hmi_branches *held, const hmi_point *at);
/* Is some |u| zero? */
bool hmi_directions_rest(hmi_switches *sw, const hmi_point *at);
/* |s| of the modes; after a solve with them. */
double hmi_direction_norm(hmi_switches *sw, const hmi_point *at, const hmi_direction *direction);

/* Outputs of the model, after a solve and a report at the point; NULL: as reported. */
const double *hmi_switches_outputs(hmi_switches *sw, const hmi_point *at);

/* g and g' of all functions (after a solve at the point where needs_solve, and always for g').
 * Arrays belong to sw. */
const double *hmi_switches_values(hmi_switches *sw, const hmi_point *at);
const double *hmi_switches_rates(hmi_switches *sw, const hmi_point *at);

#endif
