/* The statements of the language: one function each, called by build.c in the passes of builder.h.
 * They return false after an error that has been reported. */
#ifndef HMI_MODEL_BUILD_STATEMENTS_H
#define HMI_MODEL_BUILD_STATEMENTS_H

#include "model/evaluate/builder.h"

typedef bool (*hmi_statement_builder)(hmi_builder *b, const hmi_statement *s,
                                      const hmi_scope *scope);

bool hmi_build_param(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_coord(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_input_name(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_state_name(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_input(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_state(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_model_name(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_energy(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_mass(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_gyroscopic(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_force(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_torque(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_body(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_gravity(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_constraint(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_joint(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_servo(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_friction(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_initial(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_simulate(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_symmetry(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_event(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_output(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_table(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
bool hmi_build_draw(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);

/* A drawing that no statement wrote (drawings.c). */
bool hmi_add_drawing(hmi_builder *b, hm_drawing_kind kind, const hmi_value *parts, size_t count,
                     const char *label, double weight);
/* After all statements: drawings of the model itself, where no `draw` says what is shown (scene.c). */
bool hmi_build_scene(hmi_builder *b);
bool hmi_draw_constraints(hmi_builder *b);

/* The text and the range of a declaration; reports a range that is empty (notes.c). */
bool hmi_build_note(hmi_builder *b, const hmi_caption *note, const hmi_scope *scope,
                    const hmi_shown **out);
/* Warns of a value outside of its range. */
void hmi_check_range(hmi_builder *b, const hmi_shown *shown, const char *name, double value,
                     hmi_span at);
/* After all statements: are the initial values of coordinates inside of their ranges? */
void hmi_check_initial_ranges(hmi_builder *b);

/* After all statements: what the names mean, for hm_model_meaning (meanings.c). */
void hmi_keep_meanings(hmi_builder *b);

/* Adds a coordinate; `symbol` is the new one. */
bool hmi_add_coord(hmi_builder *b, const char *name, const hmi_shown *shown, hmi_span at,
                   hmi_expr *symbol);

/* What a row has beside its residual, where it is one-sided or switched (contacts.c). */
typedef struct hmi_row_parts {
    bool one_sided, bounces; /* bounces: restitution is written */
    hmi_value restitution;   /* a scalar, or one for each row */
    hmi_expr when;           /* HMI_NONE: always */
} hmi_row_parts;

/* The parts behind the relation. */
bool hmi_build_row_parts(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                         const hmi_value *residual, hmi_row_parts *parts);
/* Parts of row k of the statement, which has its level: are they sound? */
bool hmi_apply_row_parts(hmi_builder *b, const hmi_row_parts *parts, size_t k, hmi_constraint *row);
/* The written label, or prefix1, prefix2, ... skipping names that are taken. NULL after an error. */
const char *hmi_statement_name(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope,
                               const char *what, const char *prefix, int *unnamed);
/* Level, linearity and soundness of a row that has its name, residual and span. */
bool hmi_check_row(hmi_builder *b, hmi_constraint *row);
/* Puts defaults of inputs into a row that cannot be differentiated otherwise (followed.c). */
bool hmi_put_followed_inputs(hmi_builder *b, hmi_constraint *row);
/* Adds a constraint row from an expression; shared by `constraint` and by quaternions. */
bool hmi_add_constraint(hmi_builder *b, const char *name, hmi_expr residual, hmi_span at);
/* After all statements: gravity acts on all bodies. */
bool hmi_apply_gravity(hmi_builder *b);
/* Declares the lets of a statement, at the top or in a block. */
bool hmi_declare_lets(hmi_builder *b, const hmi_statement *s, const hmi_scope **scope, bool top);

#endif
