/* The checked model: everything that was written, as expressions over one graph.
 *
 * Symbols of the graph count as the arrays here do: HMI_SYM_COORD i is coords[i], and so on.
 * Nothing is derived yet: constraints are lhs - rhs as written, forces at points keep their points.
 */
#ifndef HMI_MODEL_MODEL_H
#define HMI_MODEL_MODEL_H

#include "base/context.h"
#include "expr/graph/graph.h"
#include "expr/graph/table.h"
#include "expr/print/print.h"
#include "lang/ast.h"

#include <hamel/model.h>

/* What was written for axes, reports and sliders. */
typedef struct hmi_shown {
    const char *text; /* NULL: none */
    bool has_range;
    double low, high;
} hmi_shown;

typedef struct hmi_param {
    const char *name;
    const hmi_shown *shown; /* NULL: nothing */
    hmi_expr value_expr;    /* of earlier parameters */
    double value;
    bool overridden;
    bool structural;
} hmi_param;

/* How an initial value was given. */
typedef enum hmi_given {
    HMI_GIVEN_NOT,
    HMI_GIVEN_GUESS,
    HMI_GIVEN_FIXED,
    HMI_GIVEN_KEPT
} hmi_given;

typedef struct hmi_initial {
    hmi_given given;
    double value;
    hmi_expr
        expr; /* of parameters; `value` is what it gives with the model's own. Only where given */
    hmi_span span;
} hmi_initial;

typedef struct hmi_coord {
    const char *name;
    const hmi_shown *shown; /* NULL: nothing */
    hmi_span span;
    hmi_initial position, velocity;
} hmi_coord;

typedef struct hmi_state {
    const char *name;
    hmi_span span;
    hmi_expr rate;
    hmi_initial initial;
} hmi_state;

typedef struct hmi_input {
    const char *name;
    hmi_span span;
    hmi_expr value;  /* the default signal */
    const char *row; /* a constraint that has the default put in (build/followed.c); else NULL */
} hmi_input;

/* A constraint row, lhs - rhs = 0; one-sided: residual >= 0. */
typedef struct hmi_constraint {
    const char *name;
    hmi_span span;
    hmi_expr residual;
    hm_level level;
    bool linear, rheonomic;
    bool one_sided;
    hmi_expr restitution; /* of parameters; one-sided rows on positions */
    hmi_expr when;        /* a condition: the row holds while it is true; HMI_NONE: always */
} hmi_constraint;

/* Coulomb friction on a constraint row, with its sliding velocity: rows of model->tangents. */
typedef struct hmi_friction {
    const char *name;
    hmi_span span;
    uint32_t row;          /* the constraint that presses */
    uint32_t first, count; /* of tangents: 1 or 2 */
    hmi_expr mus, muk;
} hmi_friction;

typedef enum hmi_servo_law { HMI_LAW_IDEAL, HMI_LAW_LYAPUNOV } hmi_servo_law;

/* All rows of one `servo` statement share actuators, gain and law. */
typedef struct hmi_servo_row {
    hmi_constraint row;
    uint32_t servo; /* index into servos */
} hmi_servo_row;

typedef struct hmi_servo_group {
    const char *name;
    hmi_span span;
    hmi_expr gain;         /* zero where it is a matrix, or none is given */
    hmi_expr *gain_matrix; /* rows x rows; NULL: a number */
    size_t rows;
    hmi_expr limit; /* of the size of each component of u; HMI_NONE: none */
    hmi_servo_law law;
    uint32_t *actuated; /* coordinates, ascending; every one when `by` is left out */
    size_t actuated_count;
} hmi_servo_group;

/* A generalized force, F_i += value, or its vector forms: sum_k force_k d(point_k)/dq (`at`), and
 * sum_k force_k d(point_k)/dq' with the angular velocity as the point (`on`). */
typedef enum hmi_force_form {
    HMI_FORCE_COORDINATE,
    HMI_FORCE_AT_POINT,
    HMI_FORCE_ON_ROTATION
} hmi_force_form;

typedef struct hmi_force {
    hmi_force_form form;
    uint32_t coord;          /* HMI_FORCE_COORDINATE */
    hmi_expr *force, *point; /* `size` each; point is NULL for HMI_FORCE_COORDINATE */
    size_t size;
    hmi_span span;
} hmi_force;

/* One statement of an energy, as far as it is a term of its sum. */
typedef struct hmi_energy {
    hmi_statement_kind kind; /* kinetic, potential, lagrangian or dissipation */
    hmi_expr value;
    hmi_span span;
} hmi_energy;

typedef struct hmi_pair {
    uint32_t row, column;
    hmi_expr value;
    hmi_span span;
} hmi_pair;

typedef struct hmi_body {
    const char *name;
    hmi_expr mass;
    hmi_expr at[3], velocity[3];
    hmi_expr spin[3]; /* angular momentum about its own point, in space; in the plane spin[0] */
    int dimension;    /* 2 or 3 */
    hmi_expr energy;  /* its kinetic energy, a term of the sum */
    bool rigid;       /* it has an inertia, */
    bool turns;       /* and the next three are known (model/build/rates.c) */
    hmi_expr inertia[9], frame[9]; /* in the plane inertia[0] alone */
    hmi_expr omega[3];             /* in the axes of space; in the plane omega[0] */
    hmi_span span;
} hmi_body;

/* The time derivative of an expression, in a form that shares more than that of the chain rule:
 * omega x r where a rotation carries r along. */
typedef struct hmi_known_rate {
    hmi_expr value, rate;
} hmi_known_rate;

/* A `joint` statement, whose rows are among the constraints. What a unit multiplier of row k does to
 * body B is push[k * size ...]: a force (in base axes, at the point of B) and a moment about that point,
 * size = 6 numbers in space and 3 in the plane. */
typedef struct hmi_joint {
    const char *name;
    hmi_span span;
    uint32_t first, count; /* rows */
    int dimension;         /* 2 or 3 */
    hmi_expr side;     /* > 0 as meant, < 0 assembled like a mirror image; HMI_NONE: cannot be */
    hmi_expr at[2][3]; /* its points on A and B */
    hmi_expr *push;
} hmi_joint;

typedef struct hmi_component {
    hmi_symbol_kind kind; /* coordinate, velocity or state */
    uint32_t index;
    hmi_expr value;
} hmi_component;

typedef struct hmi_symmetry {
    const char *name;
    hmi_component *generator;
    size_t count;
    hmi_span span;
} hmi_symmetry;

typedef struct hmi_event {
    const char *name;
    hmi_expr expr;
    hmi_event_direction direction;
    hmi_event_action action;
    hmi_component *set;
    size_t set_count;
    hmi_span span;
} hmi_event;

/* Indices of HMI_SYM_ENERGY: quantities that are known once the equations are derived. Those before
 * HMI_QUANTITY_KINETIC belong to a solution of the equations; the others are expressions, which
 * derivation puts in their place (derive/quantities.c). */
typedef enum hmi_quantity {
    HMI_QUANTITY_TOTAL, /* `energy` */
    HMI_QUANTITY_IDEAL,
    HMI_QUANTITY_NONIDEAL,
    HMI_QUANTITY_SERVO,
    HMI_QUANTITY_KINETIC,
    HMI_QUANTITY_POTENTIAL,
    HMI_QUANTITY_IMPRESSED,
    HMI_QUANTITY_DISSIPATION,
    HMI_QUANTITY_GYROSCOPIC,
    HMI_QUANTITY_EXPLICIT_TIME,
    HMI_QUANTITY_MOMENTUM, /* and the number of the coordinate */
    HMI_SOLVED_QUANTITIES = HMI_QUANTITY_KINETIC
} hmi_quantity;
/* power(KIND): the words of KIND in the order of hmi_quantity; NULL for those that are no powers. */
const char *hmi_power_word(uint32_t quantity);

/* One `draw` statement: its expressions one after the other. */
typedef struct hmi_drawing {
    hm_drawing shown;
    hm_drawing_part *parts;
    hmi_expr *values; /* shown.value_count */
    hmi_span span;
} hmi_drawing;

typedef struct hmi_output {
    const char *name;
    const hmi_shown *shown; /* NULL: nothing */
    hmi_expr expr;
    hmi_span span;
} hmi_output;

/* `let` names of scalars, for readable output. */
typedef struct hmi_named_expr {
    const char *name;
    hmi_expr expr;
} hmi_named_expr;

/* What a declared name means, for editors; kept with hm_model_options.names. */
typedef struct hmi_meaning {
    const char *name, *what; /* what: "parameter" */
    size_t rows, columns;    /* 0: it has no value of its own (functions, families) */
    hmi_expr *items;         /* row by row */
} hmi_meaning;

typedef struct hmi_simulate {
    bool given;
    double start, end, every;
    hmi_expr start_expr, end_expr, every_expr; /* of parameters, as for initial values */
    bool has_every;
    const char *method; /* NULL: not given */
    const char *drift;
    double drift_gain[2];
    double rtol, atol, step; /* 0: not given */
    hmi_span span;
} hmi_simulate;

struct hm_model {
    hm_context *context;       /* shared */
    hmi_references references; /* of systems, plans */
    hmi_arena arena;
    hmi_graph graph;
    const char *name, *title;
    uint64_t fingerprint; /* of the text */

    HMI_ARRAY(hmi_param) params;
    HMI_ARRAY(hmi_coord) coords;
    HMI_ARRAY(hmi_state) states;
    HMI_ARRAY(hmi_input) inputs;

    hmi_expr kinetic, potential, lagrangian, dissipation; /* sums; zero where none */
    HMI_ARRAY(hmi_energy) energies; /* as written; bodies and gravity are in the sums alone */
    bool has_lagrangian;
    HMI_ARRAY(hmi_pair) mass;
    HMI_ARRAY(hmi_pair) gyroscopic;
    HMI_ARRAY(hmi_force) forces;
    HMI_ARRAY(hmi_force) nonideal;
    HMI_ARRAY(hmi_body) bodies;
    HMI_ARRAY(hmi_known_rate) rates; /* of what bodies carry; the first of several counts */
    HMI_ARRAY(hmi_joint) joints;

    HMI_ARRAY(hmi_constraint) constraints;
    HMI_ARRAY(hmi_friction) frictions;
    HMI_ARRAY(hmi_constraint) tangents; /* sliding velocities, as rows of velocity level */
    HMI_ARRAY(hmi_servo_group) servos;
    HMI_ARRAY(hmi_servo_row) servo_rows;

    HMI_ARRAY(hmi_symmetry) symmetries;
    HMI_ARRAY(hmi_event) events;
    HMI_ARRAY(hmi_output) outputs;
    HMI_ARRAY(hmi_drawing) drawings;
    size_t drawing_values; /* of all drawings */
    double gravity[3];     /* numbers, for pictures; with hm_model_options.scene */
    hmi_table *tables;     /* one array, as constants of the graph refer to it */
    size_t table_count;
    HMI_ARRAY(hmi_named_expr) named;
    HMI_ARRAY(hmi_meaning) meanings; /* of names, where they are kept */
    HMI_ARRAY(const char *) literal; /* names that would be printed like others (name_clashes.c) */
    hmi_simulate simulate;
    bool keep_initial; /* `initial keep` was used */
    bool
        has_contacts; /* some constraint is one-sided, holds under a condition only, or has friction */
};

/* A model without anything in it, to be released by hm_model_destroy. NULL without memory. */
hm_model *hmi_new_model(hm_context *context);
/* The name of a symbol as written in the language ("x'", "q[3]''", "m"). NULL for none. Texts that
 * have to be made are made in `context`: a model is shared by threads, and its own is not theirs. */
const char *hmi_model_symbol_name(hm_context *context, const hm_model *model, hmi_symbol_kind kind,
                                  uint32_t index);
/* Lists the names that would be printed like others in model->literal. False without memory. */
bool hmi_model_find_name_clashes(hm_model *model);
/* Is the name, or the family of an element, shown as it is written? */
bool hmi_model_is_literal(const hm_model *model, const char *name);
/* hmi_print_name, or as it is written. */
void hmi_model_print_name(const hm_model *model, hmi_text *out, hmi_print_style style,
                          const char *name, int dots);
/* May a program set this input? Reports the constraint that it belongs to (hmi_input.row). */
bool hmi_model_input_is_free(hm_context *context, const hm_model *model, size_t index, hmi_span at);
/* "the kinetic energy" and so on. */
const char *hmi_energy_text(hmi_statement_kind kind);
/* What the printers of expr/print/print.h ask for. */
hmi_namer hmi_model_namer(const hm_model *model);

/* initial_values.c: initial values, and the span of a model with `simulate`, as they are under other parameters
 * (all of them given; values need not be finite). */
hm_status hmi_model_initial_under(const hm_model *model, const double *params, double *q, double *v,
                                  double *z);
bool hmi_model_span_varies(const hm_model *model);
hm_status hmi_model_span_under(const hm_model *model, const double *params, double *start,
                               double *end, double *every);
/* Outputs of a run that does not say how often. */
#define HMI_DEFAULT_EVERY(start, end) (((end) - (start)) / 200)

/* A scalar expression of t, parameters, coordinates, velocities, states, inputs and scalar `let`
 * names, made in the model's graph: only for a model that nothing is derived from yet. `name` is
 * shown in messages. */
hm_status hmi_model_read_expression(hm_model *model, const char *name, const char *text,
                                    size_t length, hmi_expr *out);

enum {
    HMI_MOST_COORDS = 4000000,
    HMI_MOST_COMPONENTS = 1 << 20, /* of one vector or matrix */
};

#endif
