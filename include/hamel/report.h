/* Readable output: the derivation of a system's equations, and what was compiled of them. */
#ifndef HAMEL_REPORT_H
#define HAMEL_REPORT_H

#include <hamel/compare.h>
#include <hamel/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Receives output piece by piece. Returns false to stop (the disk is full, say). */
typedef bool (*hm_writer)(void *user, const char *bytes, size_t length);

typedef enum hm_format { HM_FORMAT_TEXT, HM_FORMAT_LATEX, HM_FORMAT_JSON, HM_FORMAT_C } hm_format;

/* The seven steps of Zhao et al. (2018), section 7: coordinates, the unconstrained equation
 * M q'' = Q, the constraints, their standard form A q'' = b, the constraint force and the equations
 * of motion; in closed form for small systems, by named matrices beyond.
 *   HM_ERR_IO: the writer stopped. */
HM_API HM_MUST_CHECK hm_status hm_system_derive(const hm_system *system, hm_format format,
                                                hm_writer writer, void *user);

/* How much of it is shown. */
typedef struct hm_derive_options {
    bool on_constraints; /* also what is shorter where the constraints hold; not with HM_FORMAT_C */
} hm_derive_options;
HM_API hm_derive_options hm_derive_options_default(void); /* as hm_system_derive */
/* The same by options; NULL: the default ones. Forms on the constraints are compared with the others at random
 * states in ball arithmetic, whose library (FLINT) ends the process where memory runs out.
 *   HM_ERR_USAGE: said in the model's context. */
HM_API HM_MUST_CHECK hm_status hm_system_derive_with(const hm_system *system, hm_format format,
                                                     const hm_derive_options *options,
                                                     hm_writer writer, void *user);

/* What the program made of a model, for the curious and for bug reports. Text whose form may change
 * with any version; not for programs to read. */
typedef enum hm_stage {
    HM_STAGE_GRAPH, /* every expression of the derived equations */
    HM_STAGE_TAPE,  /* the instructions that compute M, Q, A, b and the rest */
    HM_STAGE_JET,   /* recurrences of the Taylor series of the motion */
    HM_STAGE_SOLVE  /* how accelerations are found, and why so */
} hm_stage;
HM_API const char *hm_stage_name(hm_stage stage); /* "graph", "tape", "jet", "solve" */
/* false: there is no such stage. */
HM_API bool hm_stage_find(const char *name, hm_stage *stage);
/* HM_ERR_IO: the writer stopped. */
HM_API HM_MUST_CHECK hm_status hm_system_explain(const hm_system *system, hm_stage stage,
                                                 hm_writer writer, void *user);

/* The accelerations of both systems of a comparison in closed form, side by side as text, where they
 * are short enough to read; *written tells whether. */
HM_API HM_MUST_CHECK hm_status hm_comparison_write(const hm_comparison *comparison,
                                                   hm_writer writer, void *user, bool *written);

#ifdef __cplusplus
}
#endif
#endif
