/* A reduction in progress: rows, speeds, kinematics, equations; and what its steps share.
 *
 * Every form is the same frame with other rows and speeds. Linear rows  c.v + rest = 0  (constraints on positions,
 * differentiated; constraints on velocities; with Routh also first integrals p_c = beta) and speeds
 * u = c.v + rest  determine the velocities together,
 *     v = N u + n,
 * and with D'Alembert's principle  N^T (M v' - Q) = 0  [Maggi 1896; Papastavridis 2002, section 3.5] becomes
 *     G u' = f,   G = N^T M N,   f = N^T (Q - M dv/dt at u' = 0).
 * Symbols: a speed that is a velocity q_i' is that symbol, its rate q_i''; any other speed r is the state
 * nz + r, its rate the velocity n + r (the printers then write u and u').
 * Verified: test/tool/reduce.sh
 */
#ifndef HMI_REDUCE_REDUCE_H
#define HMI_REDUCE_REDUCE_H

#include "compile/system/system.h"
#include "expr/normal/normal.h"

#include <hamel/reduce.h>

enum {
    HMI_MOST_REDUCED = 40, /* coordinates: symbols of more are not worth reading */
};

/* c.v + rest; the velocities are those of the model. */
typedef struct hmi_linear_form {
    const char *name;
    hmi_expr *c; /* n */
    hmi_expr rest;
    uint32_t wanted; /* of a row: the velocity to be solved for, + 1; 0: any */
} hmi_linear_form;

typedef struct hmi_speed {
    const char *name;    /* "u1"; "theta'" for a velocity */
    uint32_t coordinate; /* HMI_NONE: a quasi-velocity */
    hmi_linear_form form;
    hmi_expr symbol, rate;
} hmi_speed;

typedef struct hmi_quantity_line {
    const char *name;
    hmi_expr value;
} hmi_quantity_line;

/* A state that satisfies the constraints, with the answer of the multiplier form there. */
typedef struct hmi_reduced_state {
    double t;
    double *q, *v, *z, *inputs[3], *qdd;
} hmi_reduced_state;

typedef struct hmi_reduce {
    const hm_model *model;
    hm_system *system;
    const hmi_derived *eq;
    hm_context *context;
    const hm_allocator *allocator;
    hm_reduced_form form;
    hmi_graph graph; /* a copy of that of the equations, extended */
    hmi_normal *normal;
    hmi_adjoint adjoint;
    hmi_arena arena;
    bool failed; /* no memory for an array */

    size_t n, nz, np;       /* coordinates, states, parameters of the model */
    double *params;         /* np + cyclic: values; those of beta belong to the initial state */
    size_t cyclic;          /* Routh: parameters np, np + 1, ... are momenta */
    uint32_t *cyclic_index; /* their coordinates */

    size_t rows, k;
    hmi_linear_form *row;
    hmi_speed *speed;
    bool own_speeds;    /* given by the user */
    bool *solved_row;   /* m: constraints that `position` has solved */
    hmi_expr *position; /* n: HMI_NONE, or the coordinate as a function of others (embed) */

    hmi_expr *N;          /* n x k */
    hmi_expr *offset;     /* n */
    hmi_expr *velocity;   /* n: N u + n; before that is known, the symbols themselves */
    hmi_expr *drift;      /* n: dv/dt at u' = 0 */
    hmi_expr *state_rate; /* nz: z' in q, u */
    hmi_expr *force;      /* n: Q + C in q, u */
    hmi_expr *G, *f;      /* k x k, k */
    HMI_ARRAY(hmi_quantity_line) quantities;
    HMI_ARRAY(const char *) notes;

    hmi_reduced_state initial;
    hmi_reduced_state *state;
    size_t state_count;
} hmi_reduce;

/* ---- reduce_tools.c ---- */

hmi_expr *hmi_reduce_vector(hmi_reduce *r, size_t count);
const char *hmi_reduce_name(hmi_reduce *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void hmi_reduce_note(hmi_reduce *r, const char *text);
void hmi_reduce_quantity(hmi_reduce *r, const char *name, hmi_expr value);
hmi_expr hmi_reduce_normal(hmi_reduce *r, hmi_expr e);
hm_status hmi_reduce_status(const hmi_reduce *r);
/* Expressions of the model in q, u, t: positions and velocities put in, where they are known. */
hm_status hmi_reduce_express(hmi_reduce *r, hmi_expr *list, size_t count);
/* out[k] := d/dt of list[k](q, u, z, t) with the speeds held. */
hm_status hmi_reduce_along_motion(hmi_reduce *r, const hmi_expr *list, size_t count, hmi_expr *out);
/* out[count] := de/ds for the symbols s of a kind from `first` on. */
hm_status hmi_reduce_gradient(hmi_reduce *r, hmi_expr e, hmi_symbol_kind by, size_t count,
                              hmi_expr *out);
/* An expression that is linear in the velocities, as a form. false: it is not linear. */
bool hmi_reduce_linear(hmi_reduce *r, hmi_expr e, const char *name, hmi_linear_form *form);
/* Values at a state; speeds and their rates NULL where they do not occur. */
hm_status hmi_reduce_values(hmi_reduce *r, const hmi_expr *list, size_t count,
                            const hmi_reduced_state *state, const double *speeds, double *out);
/* Does the expression contain this symbol? */
bool hmi_reduce_contains(hmi_reduce *r, hmi_expr e, hmi_symbol_kind kind, uint32_t index);

/* ---- the steps ---- */

hm_status hmi_reduce_refuse(hmi_reduce *r);                                   /* refuse.c */
hm_status hmi_reduce_find_states(hmi_reduce *r, size_t count, uint64_t seed); /* states.c */
hm_status hmi_reduce_find_rows(hmi_reduce *r);                                /* rows.c */
hm_status hmi_reduce_embed(hmi_reduce *r);                                    /* embed.c */
hm_status hmi_reduce_routh(hmi_reduce *r);                                    /* routh.c */
/* speeds.c: text of the user, read into the model; before the system exists. */
hm_status hmi_reduce_read_speeds(hmi_reduce *r, hm_model *model, const char *text);
hm_status hmi_reduce_take_speeds(hmi_reduce *r);
hm_status hmi_reduce_choose_speeds(hmi_reduce *r);    /* choose.c */
hm_status hmi_reduce_solve_velocities(hmi_reduce *r); /* kinematics.c */
hm_status hmi_reduce_project(hmi_reduce *r);          /* project.c */
hm_status hmi_reduce_present(hmi_reduce *r);          /* forms.c: quantities of the form */
hm_status hmi_reduce_hamilton(hmi_reduce *r);         /* hamilton.c */
hm_status hmi_reduce_verify(hmi_reduce *r, double *difference, size_t *states);
hm_status hmi_reduce_write(hmi_reduce *r, hm_reduced *out, hmi_arena *arena);

#endif
