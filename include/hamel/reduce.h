/* Reduced equations: the motion in independent speeds, without multipliers.
 *
 *   hm_reduce_options options = hm_reduce_options_default();
 *   options.form = HM_REDUCED_FORM_KANE;
 *   options.speeds = "u = x'*cos(theta) + y'*sin(theta), w = theta'";
 *   hm_reduced *reduced;
 *   if (hm_model_reduce(model, &options, &reduced) == HM_OK)
 *       ... reduced->equations, reduced->file ...
 *   hm_reduced_destroy(reduced);
 *
 * Constraints on positions, and those on velocities that are linear in them, leave k = n - rank independent
 * speeds u:  q' = N(q,t) u + n(q,t).  All forms end in  G u' = f(q,u,t)  and differ in the way there, which
 * `quantities` shows. What is returned was compared with the multiplier form at random states that satisfy the
 * constraints; where they differ there is an error and no result.
 */
#ifndef HAMEL_REDUCE_H
#define HAMEL_REDUCE_H

#include <hamel/model.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hm_reduced_form {
    HM_REDUCED_FORM_MAGGI,           /* N^T (M q'' - Q) = 0 */
    HM_REDUCED_FORM_KANE,            /* F_r + F*_r = 0 */
    HM_REDUCED_FORM_VORONETS,        /* some velocities in terms of the others */
    HM_REDUCED_FORM_APPELL,          /* dS/du' = Gamma */
    HM_REDUCED_FORM_BOLTZMANN_HAMEL, /* quasi-velocities, with the coefficients gamma */
    HM_REDUCED_FORM_ROUTH,           /* momenta of cyclic coordinates are constants */
    HM_REDUCED_FORM_HAMILTON,        /* momenta in place of speeds */
    HM_REDUCED_FORM_EMBED            /* constraints on positions solved for coordinates */
} hm_reduced_form;
/* "maggi", "kane", "voronets", "appell", "boltzmann-hamel", "routh", "hamilton", "embed" */
HM_API const char *hm_reduced_form_name(hm_reduced_form form);
/* false: there is no such form. */
HM_API bool hm_reduced_form_find(const char *name, hm_reduced_form *form);

typedef struct hm_reduce_options {
    hm_reduced_form form; /* default HM_REDUCED_FORM_MAGGI */
    const char *speeds;   /* "u1 = x' + y', theta'"; NULL (default): found */
    size_t states;        /* to compare at; default 24 */
    uint64_t seed;        /* of their choice; default 1 */
} hm_reduce_options;
HM_API hm_reduce_options hm_reduce_options_default(void);

/* NAME = VALUE, in the language of models, and as it is printed. An equation's name is that of its speed, and
 * its value has both sides. */
typedef struct hm_reduced_line {
    const char *name, *value;
    const char *shown; /* the whole line as text */
} hm_reduced_line;

typedef struct hm_reduced_lines {
    const hm_reduced_line *line;
    size_t count;
} hm_reduced_lines;

typedef struct hm_reduced {
    const char *model;
    hm_reduced_form form;
    hm_reduced_lines speeds;     /* what they stand for */
    hm_reduced_lines positions;  /* coordinates that were solved for */
    hm_reduced_lines kinematics; /* q' in terms of the speeds */
    hm_reduced_lines quantities; /* what the form is known by: S, gamma, F_r ... */
    hm_reduced_lines equations;
    hm_reduced_lines solved; /* u' = ..., where that is short */
    hm_reduced_lines parts;  /* long parts of the others, which have names */
    const char *const *notes;
    size_t note_count;
    struct {
        size_t states;
        double difference; /* of q'' and q' from those of the multiplier form, at most; relative */
    } verified;
    const char *file; /* a model of the same motion */
} hm_reduced;

/* The speeds are read into the model: nothing may have been derived from it yet.
 *   HM_ERR_USAGE, HM_ERR_INPUT  the form does not apply to this model, or the speeds are none: said in the
 *                               model's context
 *   HM_ERR_LIMIT                too large for symbols
 *   HM_ERR_NUMERIC              the comparison failed */
HM_API HM_MUST_CHECK hm_status hm_model_reduce(hm_model *model, const hm_reduce_options *options,
                                               hm_reduced **reduction);
HM_API void hm_reduced_destroy(hm_reduced *reduction);

#ifdef __cplusplus
}
#endif
#endif
