/* Bodies: what their statements say, and where they are. */
#ifndef HMI_MODEL_BUILD_BODY_H
#define HMI_MODEL_BUILD_BODY_H

#include "model/build/statements.h"

/* Names a body and declares the coordinates of a free one. */
bool hmi_declare_body(hmi_builder *b, const hmi_statement *s, const hmi_scope *scope);
/* Finds where a body is, and before it those that carry it. */
bool hmi_force_place(hmi_builder *b, hmi_place *place);

/* After all bodies: their angular velocities in space, and the rates of what they carry (rates.c). */
bool hmi_share_rates(hmi_builder *b);
/* Is `ground` written here? */
bool hmi_is_ground(hmi_builder *b, const hmi_ast *e);
/* The place of the body that a label names; reports that there is none. */
hmi_place *hmi_named_place(hmi_builder *b, const hmi_ast *label, const hmi_scope *scope,
                           const char *hint);

/* ---- bodies.c ---- */

/* The items of a statement; reports what is given twice, missing, or does not go together. */
bool hmi_sort_body_items(hmi_builder *b, const hmi_statement *s, hmi_body_parts *parts);
/* Which parts of a body at P go together in the plane and in space. */
bool hmi_check_body_parts(hmi_builder *b, const hmi_body_parts *parts, uint32_t dimension);

/* Gives e0 of the quaternions in a frame its start ~ 1 where `initial` gives none. */
bool hmi_start_quaternions(hmi_builder *b, const hmi_value *frame);

#endif
