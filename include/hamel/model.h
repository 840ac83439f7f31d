/* hm_model: what was written in a model file, checked and ready for derivation. Immutable.
 *
 *   hm_context *context = hm_context_create(NULL);
 *   hm_model *model;
 *   if (hm_model_load(context, "skate.hamel", NULL, &model) != HM_OK) ... diagnostics ...
 *
 * A model keeps its context alive.
 */
#ifndef HAMEL_MODEL_H
#define HAMEL_MODEL_H

#include <hamel/base.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hm_model hm_model;

/* `--set name=value`: value is an expression in the language, of parameters declared earlier.
 * The name may be a component, "a[2]" or "R[1,3]", of a vector or matrix. */
typedef struct hm_override {
    const char *name;
    const char *value;
} hm_override;

/* A text that stands for a file, as an editor has it before it is saved. */
typedef struct hm_open_text {
    const char *path; /* resolved */
    const char *text;
    size_t length;
} hm_open_text;

typedef struct hm_model_options {
    const hm_override *overrides; /* default NULL */
    size_t override_count;        /* default 0 */
    const char *name;             /* shown in messages for text from memory; default "<text>" */
    const char *more;             /* statements after those of the text or file; default NULL, */
    const char *more_name;        /* which messages call this; default "<more>" */
    bool scene;                   /* draw the model itself where it has no `draw`; default false */
    const char
        *path; /* of the file that a text from memory stands for: `include` is relative to its
                         folder; default NULL */
    const hm_open_text *open_texts; /* read instead of files that are included; default NULL */
    size_t open_text_count;         /* default 0 */
    bool names; /* keep what every name means, for hm_model_meaning; default false */
} hm_model_options;

HM_API hm_model_options hm_model_options_default(void);

/* From UTF-8 text in memory; need not be NUL-terminated. options NULL: the defaults.
 * `include` is then relative to the current folder, or to that of options->path. */
HM_API HM_MUST_CHECK hm_status hm_model_parse(hm_context *context, const char *text, size_t length,
                                              const hm_model_options *options, hm_model **model);
/* From a file. */
HM_API HM_MUST_CHECK hm_status hm_model_load(hm_context *context, const char *path,
                                             const hm_model_options *options, hm_model **model);
HM_API void hm_model_destroy(hm_model *model);

/* A hash of the text, of what it includes and of `more`: the same text gives the same number. */
HM_API uint64_t hm_model_fingerprint(const hm_model *model);

/* Names. Strings belong to the model. */
HM_API const char *hm_model_name(const hm_model *model);  /* "model" where none was given */
HM_API const char *hm_model_title(const hm_model *model); /* NULL where none was given */

HM_API size_t hm_model_coordinate_count(const hm_model *model);
HM_API const char *hm_model_coordinate_name(const hm_model *model, size_t index);

/* Parameters by scalar component, in declaration order. */
HM_API size_t hm_model_param_count(const hm_model *model);
HM_API const char *hm_model_param_name(const hm_model *model, size_t index);
HM_API double hm_model_param_value(const hm_model *model, size_t index);
/* A structural parameter sets a size or an index: it can be changed by an override only. */
HM_API bool hm_model_param_structural(const hm_model *model, size_t index);

HM_API size_t hm_model_input_count(const hm_model *model);
HM_API const char *hm_model_input_name(const hm_model *model, size_t index);
HM_API size_t hm_model_state_count(const hm_model *model);
HM_API const char *hm_model_state_name(const hm_model *model, size_t index);
HM_API size_t hm_model_output_count(const hm_model *model);
HM_API const char *hm_model_output_name(const hm_model *model, size_t index);

/* Texts and ranges as written after a parameter, coordinate or output, for axes, reports, sliders and
 * sweeps: param k = 100 in 0 .. 500 "spring (N/m)". The text is NULL where there is none; the range
 * functions return false and leave low and high alone. */
HM_API const char *hm_model_param_text(const hm_model *model, size_t index);
HM_API const char *hm_model_coordinate_text(const hm_model *model, size_t index);
HM_API const char *hm_model_output_text(const hm_model *model, size_t index);
HM_API bool hm_model_param_range(const hm_model *model, size_t index, double *low, double *high);
HM_API bool hm_model_coordinate_range(const hm_model *model, size_t index, double *low,
                                      double *high);
HM_API bool hm_model_output_range(const hm_model *model, size_t index, double *low, double *high);

/* `draw` statements, for animations; with hm_model_options.scene bodies by their inertia, particles,
 * joints and the coordinates x, y, z of points where there are none. Their values at a state, those of all drawings one after the
 * other, are in hm_evaluation.drawings and, along a run, in hm_frame.drawings. */
typedef enum hm_drawing_kind {
    HM_DRAWING_POINT,    /* P */
    HM_DRAWING_LINE,     /* P, Q, ... */
    HM_DRAWING_SPHERE,   /* P, r; of a body drawn by itself P, r, R */
    HM_DRAWING_BOX,      /* P, R, [a, b, c] */
    HM_DRAWING_CYLINDER, /* P, Q, r */
    HM_DRAWING_DISC,     /* P, R, r */
    HM_DRAWING_ARROW,    /* P, F */
    HM_DRAWING_TRACE,    /* P */
    HM_DRAWING_GROUND    /* z */
} hm_drawing_kind;

/* One argument: a number (1 x 1), a vector (rows x 1) or a matrix, row by row from `first` of all
 * values. */
typedef struct hm_drawing_part {
    size_t first, rows, columns;
} hm_drawing_part;

typedef struct hm_drawing {
    hm_drawing_kind kind;
    const char *color, *label; /* NULL where not given */
    const hm_drawing_part *parts;
    size_t part_count;
    size_t first, value_count; /* of its values among those of all drawings */
    double weight;             /* points: the size of their mark relative to others, 0 .. 1 */
    int32_t
        place[3]; /* the coordinates that the first part consists of, each; -1: something else */
} hm_drawing;

HM_API size_t hm_model_drawing_count(const hm_model *model);
HM_API size_t hm_model_drawing_values(const hm_model *model); /* of all drawings together */
HM_API hm_drawing hm_model_drawing(const hm_model *model, size_t index);
/* What `gravity` says, as numbers of the model's own parameters, so that pictures know which way is down;
 * zeros where there is none, and without hm_model_options.scene. */
HM_API void hm_model_gravity(const hm_model *model, double gravity[3]);
/* "point", "line", ... */
HM_API const char *hm_drawing_kind_text(hm_drawing_kind kind);

typedef enum hm_level { HM_LEVEL_POSITION, HM_LEVEL_VELOCITY, HM_LEVEL_ACCELERATION } hm_level;
/* "position", "velocity", "acceleration" */
HM_API const char *hm_level_text(hm_level level);

/* One scalar constraint row. */
typedef struct hm_constraint_info {
    const char *name;
    hm_level level;
    bool linear;    /* in the velocities (position level: true) */
    bool rheonomic; /* t or an input occurs */
    bool servo;     /* enforced by a controller */
    bool one_sided; /* lhs >= rhs */
    bool switched;  /* holds while its condition is true */
} hm_constraint_info;

/* Passive constraints, then nothing else: servos are listed by their own functions. */
HM_API size_t hm_model_constraint_count(const hm_model *model);
HM_API hm_constraint_info hm_model_constraint(const hm_model *model, size_t index);
HM_API size_t hm_model_servo_count(const hm_model *model); /* scalar rows */
HM_API hm_constraint_info hm_model_servo(const hm_model *model, size_t index);
/* Servo statements; the forces of one are reported together. */
HM_API size_t hm_model_servo_group_count(const hm_model *model);
HM_API const char *hm_model_servo_group_name(const hm_model *model, size_t index);

/* The initial state as written: guesses unmoved, unmentioned values 0 (quaternions: 1). q and v
 * hold hm_model_coordinate_count doubles, z hm_model_state_count (NULL: not wanted). */
HM_API void hm_model_initial(const hm_model *model, double *q, double *v, double *z);

/* Reads "x = 1, x' = 0.2, t = 0" into arrays that hold the state so far; what is not mentioned is
 * left as it is. Values are expressions of parameters. u holds hm_model_input_count doubles and
 * u_set as many flags (either may be NULL when the model has no inputs). Errors are in the context,
 * which need not be that of the model. */
HM_API HM_MUST_CHECK hm_status hm_model_read_state(hm_context *context, const hm_model *model,
                                                   const char *text, double *t, double *q,
                                                   double *v, double *z, double *u, bool *u_set);

#ifdef __cplusplus
}
#endif
#endif
