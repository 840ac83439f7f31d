/* The builder: the state of turning a syntax tree into a model, and the evaluator of expressions.
 * Internal to src/model.
 *
 * An expression of the language becomes a shaped value (value.h): a number, a vector or a matrix of
 * nodes of the model's graph. Nothing is numerical here, except where a number is needed to go on
 * (sizes, indices, bounds of loops): those are made of parameters, whose values are known.
 *
 * Names are bound to what was declared (hmi_binding), global ones in a table, those of loops and of
 * arguments in a chain of scopes that the evaluator passes down. A `let` is evaluated when it is
 * first used, in the scope where it was written, and at the end for its errors; so is each member
 * of a family let R[i] = E (let_values.c). A `let` with arguments is a pure function; its results are
 * remembered by its arguments (memo.c).
 *
 * The sections below are layers, each in the file named there. Evaluation is recursive between
 * expressions.c, calls.c, let_values.c and evaluate_as.c (an index is an expression, and an argument
 * is); nothing else calls upwards. Statements, which call all of this, are in model/build.
 *
 * Functions return false after an error that has been reported, and callers just pass it on. What
 * would go on for ever is ended by limits: nested loops by the product of their counts before they
 * start, the rest by counting steps and bytes (hmi_spend).
 */
#ifndef HMI_MODEL_EVALUATE_BUILDER_H
#define HMI_MODEL_EVALUATE_BUILDER_H

#include "base/hash.h"
#include "expr/graph/diff.h"
#include "lang/parser.h"
#include "model/model.h"
#include "model/evaluate/value.h"

/* Passes over the statements, so that order in the file does not matter except for parameters. */
typedef enum hmi_pass {
    HMI_PASS_DECLARE, /* model, param, coord; names of input, state, let */
    HMI_PASS_BODIES,  /* names of bodies, coordinates of free ones */
    HMI_PASS_SIGNALS, /* the right-hand sides of input and state */
    HMI_PASS_START,   /* initial, simulate: joints are measured there */
    HMI_PASS_PHYSICS, /* energies, bodies, masses, constraints, joints, servos */
    HMI_PASS_RUN      /* forces, non-ideal forces, symmetry, event, output */
} hmi_pass;

typedef struct hmi_scope hmi_scope;

typedef enum hmi_let_progress {
    HMI_LET_WAITING,
    HMI_LET_RUNNING,
    HMI_LET_DONE,
    HMI_LET_FAILED
} hmi_let_progress;

/* A `let`: evaluated lazily in the scope where it was written. */
typedef struct hmi_let hmi_let;
struct hmi_let {
    const hmi_ast *target; /* NAME, CALL with the names of the arguments, or INDEX: a member */
    const hmi_ast *body;
    const hmi_scope *scope;
    hmi_let_progress progress;
    uint32_t number; /* in the order made */
    int name;
    const int64_t *indices; /* of a member of a family */
    uint32_t index_count;
    hmi_value value;
    bool used;
    const hmi_let *within; /* a function that runs: the `let` that called it */
    hmi_let *needs;        /* what it asked for last: the chain that messages name */
    hmi_let *next;         /* in the order written */
};

typedef enum hmi_binding_kind {
    HMI_BIND_NONE,
    HMI_BIND_VALUE,   /* parameter, coordinate, input, state, argument, index */
    HMI_BIND_FAMILY,  /* coord q[a..b], param a[0..2] */
    HMI_BIND_INDEXED, /* states or inputs declared one by one as z[i] */
    HMI_BIND_LET,
    HMI_BIND_TABLE,
    HMI_BIND_MEMBERS, /* let R[i] = E; the members are in hmi_builder.members */
    HMI_BIND_FAILED   /* its declaration has an error; uses say nothing more */
} hmi_binding_kind;

/* The range of one index of a family. */
typedef struct hmi_bounds {
    int64_t lower, upper;
} hmi_bounds;

typedef struct hmi_binding {
    hmi_binding_kind kind;
    hmi_value value;
    hmi_let *let;
    const hmi_table *table;
    const hmi_bounds *bounds; /* family */
    uint32_t index_count;     /* family, members */
    hmi_symbol_kind symbol;   /* family: what its members are */
    uint32_t first;           /* the number of q[lower, lower], the others follow row by row */
    hmi_span span;            /* of the declaration */
    const char *what;         /* "parameter", "coordinate", ... */
    bool unknown;             /* used, never declared */
} hmi_binding;

/* Local names, innermost first: loop indices, arguments, lets inside `for`. */
struct hmi_scope {
    int name;
    hmi_binding binding;
    const hmi_scope *outer;
};

/* How often the expression being evaluated is repeated by the loops around it: those in the same
 * statement or `let`, and those around the calls too. Results of calls are remembered, so that the
 * second is only an upper bound. */
typedef struct hmi_repeats {
    double nested, called;
} hmi_repeats;

/* The items of a `body` statement; NULL where one is not written. */
typedef struct hmi_body_parts {
    const hmi_entry *mass, *inertia, *at, *frame, *angle, *com, *on, *by, *free;
} hmi_body_parts;

/* Where a body is; found when it is first asked for (model/build/places.c). */
typedef struct hmi_place hmi_place;
struct hmi_place {
    const char *name;
    const hmi_statement *statement;
    const hmi_scope *scope;
    hmi_body_parts parts;
    hmi_let_progress progress;
    uint32_t dimension;
    hmi_value origin, center, frame; /* a particle has no frame: rank 0 */
    hmi_expr rate;                   /* in the plane: of its angle */
    uint32_t first_coord;            /* of a free body */
    hmi_place *parent, *user;        /* user: of a walk, what is placed next */
};

/* A vector that a rotation carries: turned = frame vector. */
typedef struct hmi_carried {
    hmi_value frame, vector, turned;
} hmi_carried;

/* Results of calls of `let` by function and arguments (memo.c). */
typedef struct hmi_memo_entry {
    const hmi_let *let;
    const hmi_value *arguments;
    hmi_value result;
} hmi_memo_entry;

typedef struct hmi_memo {
    hmi_hash table; /* from a call to its number in `entries` */
    HMI_ARRAY(hmi_memo_entry) entries;
} hmi_memo;

typedef struct hmi_builder {
    hm_context *context;
    hmi_tree *tree;
    hm_model *model;
    hmi_graph *graph;               /* the model's */
    hmi_arena arena;                /* values, scopes */
    HMI_ARRAY(hmi_binding) globals; /* by name */
    HMI_ARRAY(double) param_values; /* by parameter, for sizes and indices */
    hmi_constants constants;        /* what they make of expressions */
    hmi_walk walk;
    hmi_let *lets, **lets_tail;
    uint32_t let_count;
    HMI_ARRAY(hmi_let *) members;   /* of all families */
    hmi_hash member_table;          /* from name and indices to the number in `members` */
    hmi_let *evaluating;            /* the innermost `let` that is being evaluated */
    HMI_ARRAY(hmi_let *) suspended; /* those that wait for another (let_values.c) */
    HMI_ARRAY(hmi_place *) places;  /* of bodies, in the order written */
    HMI_ARRAY(hmi_carried) carried; /* vectors that were turned by rotations */
    bool (*force_place)(struct hmi_builder *b, hmi_place *place); /* of model/build */
    hmi_let *postponed;     /* evaluation stopped because this one has to come first */
    int let_depth;          /* of expressions, where the outermost `let` began */
    uintptr_t let_floor;    /* how far down the stack `let`s may nest before they are postponed */
    hmi_names object_names; /* constraints, events, outputs ... "rod[3]" */
    HMI_ARRAY(hmi_binding) objects; /* by object name; value.scalar unused, first = index */
    hmi_tangent time_derivative;
    hmi_adjoint adjoint;
    int name_t, name_pi, name_greek_pi, name_energy, name_kinetic, name_potential;
    int unnamed_constraints, unnamed_servos, unnamed_frictions, unnamed_events;
    const hm_override *overrides;
    size_t override_count;
    bool *override_used;
    hmi_pass pass;
    hmi_span at; /* of the expression being evaluated */
    int depth;
    int64_t steps;
    size_t bytes; /* of the arena and of the model's */
    hmi_repeats repeats;
    int64_t calls; /* of functions that `let` defines, within the outermost one */
    int call_depth;
    hmi_memo memo;
    HMI_ARRAY(uint8_t) called; /* by name: which function of the language it is (functions.c) */
    hmi_scope *free_scopes;
    size_t errors; /* of the context, at the start */
    hmi_value gravity;
    bool has_gravity;
    hmi_span gravity_span;
} hmi_builder;

/* What ends a model that is written out for ever. Nested loops are refused by the product of their
 * counts before they start; HMI_MOST_STEPS (base/context.h) ends what cannot be foreseen. */
enum { HMI_MOST_EXPRESSION_DEPTH = 800, HMI_MOST_ARGUMENTS = 64 };
#define HMI_MOST_REPEATS      INT64_C(20000000)
#define HMI_MOST_CALL_REPEATS INT64_C(1000000000)
#define HMI_MOST_BUILD_BYTES  (512u << 20)
/* Functions of functions of functions grow by a factor with every level; loops are counted apart. */
#define HMI_MOST_CALLS INT64_C(300000)

/* ---- creation, memory, limits (builder.c) ---- */

/* Release also after a failure. */
bool hmi_builder_init(hmi_builder *b, hm_context *context, hmi_tree *tree, hm_model *model,
                      const hm_model_options *options);
void hmi_builder_release(hmi_builder *b);

/* Memory from the model's or the builder's arena; remembers failure. */
void *hmi_model_alloc(hmi_builder *b, size_t size);
void *hmi_builder_alloc(hmi_builder *b, size_t size);
/* Always returns false. */
bool hmi_no_memory(hmi_builder *b);
/* True while the graph is sound; otherwise reports memory or the limit. */
bool hmi_report_unsound(hmi_builder *b, hmi_span at);
static inline bool hmi_graph_sound(hmi_builder *b, hmi_span at)
{
    bool sound = b->graph->status == HM_OK && !b->context->out_of_memory;
    return sound || hmi_report_unsound(b, at);
}
/* Counts work; false after reporting that it is more than the limits. */
bool hmi_report_spent(hmi_builder *b, hmi_span at);
static inline bool hmi_spend(hmi_builder *b, int64_t steps, hmi_span at)
{
    b->steps += steps;
    return b->steps <= b->context->most_steps && b->bytes <= HMI_MOST_BUILD_BYTES
               ? hmi_graph_sound(b, at)
               : hmi_report_spent(b, at);
}

/* Where a loop will lead, from what it has written so far: what to give the other, when it begins; */
size_t hmi_forecast_begin(const hmi_builder *b);
/* and after `done` of `count` rounds: false after reporting that all of them would need more memory than the
 * limit, whatever follows from them. */
bool hmi_forecast_good(hmi_builder *b, size_t before, int64_t done, int64_t count, hmi_span at);

/* Reports what an expression may not contain; `where` reads "kinetic energy". */
bool hmi_check_contents(hmi_builder *b, hmi_expr e, uint16_t allowed, hmi_span at,
                        const char *where);
enum {
    HMI_STATE_DEPS = 1 << HMI_SYM_TIME | 1 << HMI_SYM_PARAM | 1 << HMI_SYM_COORD |
                     1 << HMI_SYM_VELOCITY | 1 << HMI_SYM_STATE | 1 << HMI_SYM_INPUT |
                     1 << HMI_SYM_INPUT_RATE | 1 << HMI_SYM_INPUT_RATE2,
    HMI_ALL_DEPS = 0xFFFF,
};

/* Reports floor and ceil of what moves, which jump, and with `kinks` tables that are not smooth. */
bool hmi_check_jumps(hmi_builder *b, hmi_expr e, hmi_span at, const char *where, bool kinks);

/* ---- names (names.c) ---- */

const hmi_binding *hmi_find_binding(const hmi_builder *b, const hmi_scope *scope, int name);
/* Declares a global name; reports a duplicate. */
hmi_binding *hmi_declare(hmi_builder *b, const hmi_ast *name, const char *what);
/* `t` and `pi` cannot be declared, nor name an argument or an index. */
bool hmi_check_reserved(hmi_builder *b, int name, hmi_span at);
/* Makes a name known whose declaration failed. Always returns false. */
bool hmi_declare_failed(hmi_builder *b, const hmi_ast *name);
/* A name that was used and is declared nowhere: what uses it again fails in silence. */
void hmi_declare_unknown(hmi_builder *b, int name, hmi_span at);
const hmi_scope *hmi_scope_push(hmi_builder *b, const hmi_scope *outer, int name, hmi_value value);
/* Gives the scopes from `inner` up to `outer` back for reuse. */
void hmi_scope_pop(hmi_builder *b, const hmi_scope *inner, const hmi_scope *outer);
/* Names an object (constraint, body, event, output ...); reports a duplicate within `what`. */
bool hmi_declare_object(hmi_builder *b, const char *name, const char *what, uint32_t index,
                        hmi_span at);
/* The index of a named object, or -1. */
int64_t hmi_find_object(const hmi_builder *b, const char *name, const char *what);

/* ---- shaped values (value.c) ---- */

bool hmi_value_new(hmi_builder *b, int rank, size_t rows, size_t columns, hmi_value *out);
/* Reports a value that is no number. */
bool hmi_need_scalar(hmi_builder *b, hmi_span at, const hmi_value *value, const char *hint);
bool hmi_value_scalar(hmi_builder *b, hmi_span at, const hmi_value *value, hmi_expr *out);
/* The operation behind + - * / and the comparisons. */
hmi_op hmi_op_of_token(hmi_token_kind token);
/* a op b with op one of + - * /; reports shapes that do not fit at `at`. */
bool hmi_value_combine(hmi_builder *b, hmi_span at, hmi_token_kind op, const hmi_value *x,
                       const hmi_value *y, hmi_value *out);
bool hmi_value_product(hmi_builder *b, hmi_span at, const hmi_value *x, const hmi_value *y,
                       hmi_value *out);
bool hmi_value_derivative(hmi_builder *b, hmi_span at, const hmi_value *x, hmi_value *out);
bool hmi_value_transpose(hmi_builder *b, const hmi_value *x, hmi_value *out);
bool hmi_value_dot(hmi_builder *b, const hmi_value *x, const hmi_value *y, hmi_expr *out);

/* ---- rotations (rotation.c) ---- */

typedef enum hmi_rotation_kind {
    HMI_ROT_FIXED, /* a matrix that does not move */
    HMI_ROT_AXIS,  /* about a fixed unit axis, by an angle */
    HMI_ROT_QUATERNION,
    HMI_ROT_PRODUCT,
    HMI_ROT_TRANSPOSE
} hmi_rotation_kind;

/* What the quaternions of a rotation are visited for: to constrain them, or to start them at ~ 1. */
typedef enum hmi_quaternion_purpose {
    HMI_QUATERNION_NORM,
    HMI_QUATERNION_START,
    HMI_QUATERNION_VISITS
} hmi_quaternion_purpose;

struct hmi_rotation {
    hmi_rotation_kind kind;
    hmi_expr axis[3], angle;
    hmi_expr quaternion[4];
    hmi_value matrix[2]; /* of the parts, where they are needed */
    hmi_rotation *part[2];
    /* A product may have as many factors as a chain has links: walks over them are not recursive,
     * and angular velocities are found once. [0] in base axes, [1] in body axes. */
    hmi_expr omega[2][3];
    bool omega_known[2], rates_known;
    bool visited[HMI_QUATERNION_VISITS];
    struct {
        hmi_rotation *rotation;
        bool body;
    } user[2]; /* of a walk: where to go on afterwards */
};

bool hmi_rotation_about(hmi_builder *b, hmi_span at, const hmi_expr axis[3], hmi_expr angle,
                        hmi_value *out);
bool hmi_rotation_quaternion(hmi_builder *b, const hmi_expr e[4], hmi_value *out);
/* The product's tag, where both factors are rotations; leaves `out` as it is otherwise. */
bool hmi_rotation_tag_product(hmi_builder *b, const hmi_value *x, const hmi_value *y,
                              hmi_value *out);
bool hmi_rotation_tag_transpose(hmi_builder *b, const hmi_value *x, hmi_value *out);
/* Notes that a rotation carries a vector, for rates that share more (model/build/rates.c). */
bool hmi_rotation_note_carried(hmi_builder *b, const hmi_value *R, const hmi_value *vector,
                               const hmi_value *out);
/* Calls `visit` once for every quaternion that a rotation is composed of and that was not visited
 * before for this purpose. False as soon as a visit fails. */
typedef bool hmi_quaternion_visit(void *context, const hmi_expr quaternion[4]);
bool hmi_rotation_quaternions(const hmi_rotation *rotation, hmi_quaternion_purpose purpose,
                              hmi_quaternion_visit *visit, void *context);
/* Angular velocity in body axes or in base axes. */
bool hmi_rotation_omega(hmi_builder *b, hmi_span at, const hmi_value *R, bool body_axes,
                        hmi_value *out);

/* ---- numbers made of parameters (numbers.c) ---- */

/* The value of an expression of parameters; false where it is none, or without memory. */
bool hmi_constant_value(hmi_builder *b, hmi_expr e, double *value);
/* The same where a number is wanted; reports what is none. */
bool hmi_number_of(hmi_builder *b, hmi_expr e, hmi_span at, const char *what, double *out);
/* The same for good: the parameters that it is made of become structural. */
bool hmi_fixed_number_of(hmi_builder *b, hmi_expr e, hmi_span at, const char *what, double *out);
/* A whole number; the parameters that it is made of become structural. */
bool hmi_whole_of(hmi_builder *b, hmi_expr e, hmi_span at, const char *what, int64_t *out);

/* ---- functions of the language (functions.c) ---- */

/* Their names, one after the other; NULL after the last. */
const char *hmi_function_name(size_t index);
bool hmi_is_function(const char *name);
/* Does a model's own function of this name win over it? So do those of the second edition. */
bool hmi_function_yields(const char *name);
/* The function that a call names, or HMI_NO_FUNCTION. */
enum { HMI_NO_FUNCTION = -1 };
int hmi_function_called(hmi_builder *b, const hmi_ast *e);
typedef enum hmi_argument_kind {
    HMI_ARGUMENT_VALUES,
    HMI_ARGUMENT_COORDINATE, /* one coordinate, by name: reaction(x) */
    HMI_ARGUMENT_BODY,       /* a body, by name: origin(b), point(b, u) */
    HMI_ARGUMENT_MOMENTUM,   /* the same: momentum(x) */
    HMI_ARGUMENT_POWER,      /* a word: power(impressed) */
    HMI_ARGUMENT_JOINT,      /* a joint, by name: wrench(j) */
    HMI_ARGUMENT_CONSTRAINT  /* one constraint, by name: multiplier(c) */
} hmi_argument_kind;
hmi_argument_kind hmi_function_argument(int function);
/* Reports a wrong number of arguments. */
bool hmi_function_takes(hmi_builder *b, const hmi_ast *e, int function);
/* Of those that take values. */
bool hmi_apply_function(hmi_builder *b, const hmi_ast *e, int function, const hmi_value *arguments,
                        hmi_value *out);

/* ---- names that mean nothing (unknown.c) ---- */

/* Reports such a name, once. */
void hmi_report_unknown(hmi_builder *b, hmi_span at, int name);

/* ---- results of calls (memo.c) ---- */

/* The result of an earlier call with the same arguments, NULL where there was none. */
const hmi_value *hmi_memo_find(const hmi_builder *b, const hmi_let *let,
                               const hmi_value *arguments);
/* Remembers a result; forgetting one is no error. Keeps a copy of the arguments. */
void hmi_memo_add(hmi_builder *b, const hmi_let *let, const hmi_value *arguments,
                  const hmi_value *result);

/* ---- values of `let` (let_values.c) ---- */

/* Files a member of a family; NULL after reporting that it is there already. */
hmi_let *hmi_add_member(hmi_builder *b, hmi_let *let);
/* NAME[i, j] of a family of `let`. */
bool hmi_build_member(hmi_builder *b, const hmi_ast *e, uint32_t index_count,
                      const hmi_scope *scope, hmi_value *out);
/* Reports "'NAME' PROBLEM" with the chain of definitions that led to it. Always returns false. */
bool hmi_report_in_chain(hmi_builder *b, hmi_span at, const char *name, const char *problem,
                         const char *hint);

/* ---- expressions (expressions.c, calls.c): false after an error that has been reported ---- */

bool hmi_build_value(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out);
bool hmi_build_scalar(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_expr *out);
bool hmi_build_call(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_value *out);
/* Evaluates a `let` without arguments, or a member of a family (let_values.c). */
bool hmi_force_let(hmi_builder *b, hmi_let *let, hmi_span at, hmi_value *out);

/* ---- expressions where something particular is wanted (evaluate_as.c) ---- */

/* A whole number made of parameters and indices. */
bool hmi_build_whole(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, const char *what,
                     int64_t *out);
/* A number made of parameters. */
bool hmi_build_number(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, double *out);
/* And the expression of parameters behind the number. */
bool hmi_build_number_expr(hmi_builder *b, const hmi_ast *e, const hmi_scope *scope, hmi_expr *expr,
                           double *out);
/* The bounds of sum, prod and for: checked whole numbers, a bounded number of repeats, which
 * b->repeats is multiplied by; the caller puts it back after the loop. */
bool hmi_build_range(hmi_builder *b, const hmi_ast *low, const hmi_ast *high,
                     const hmi_scope *scope, int64_t *lower, int64_t *upper);
/* "rod[3]" for a label NAME or NAME[i, j]; NULL after an error. */
const char *hmi_label_text(hmi_builder *b, const hmi_ast *label, const hmi_scope *scope);
/* A coordinate (x, q[i]), its velocity (x') or a state, named on the left of an =. */
bool hmi_build_target(hmi_builder *b, const hmi_ast *target, const hmi_scope *scope,
                      hmi_component *out);
bool hmi_build_coordinate(hmi_builder *b, const hmi_ast *target, const hmi_scope *scope,
                          uint32_t *coord);

#endif
