/* A system written in other languages: `hamel export`.
 *
 * All formats start from one object, hmi_export: the derived equations as expressions over a copy of
 * the system's graph, the names of everything as identifiers, and the text under way. Each format is a
 * file that writes them in its own dialect (expr/print/code.h).
 *
 * C (c_source.c, c_header.c) is whole: equations, solve, forces, outputs, events, Jacobian, integrators,
 * without dependencies beyond libm and without allocation. Its fixed parts are templates/ *.in, in which
 * '@' stands for the model's name and '$' for that in capitals; what depends on the model is generated.
 * The other formats write the equations as a function or a model of the language and leave the solve to
 * its linear algebra.
 *
 * Models with one-sided constraints, `when`, `friction` or servos are refused by name.
 * Verified: test/tool/export.sh, test/unit/output/test_export.c
 */
#ifndef HMI_OUTPUT_EXPORT_EXPORT_H
#define HMI_OUTPUT_EXPORT_EXPORT_H

#include "compile/solve/motion.h"
#include "compile/system/system.h"
#include "expr/print/code.h"

#include <hamel/export.h>

enum { HMI_EXPORT_NAME = 48, HMI_MOST_EXPORTED = 200 };

typedef struct hmi_export {
    hm_context *context;
    const hm_system *system;
    const hm_model *model;
    const hmi_derived *eq;
    const hm_allocator *allocator;
    hmi_arena arena;
    hmi_graph graph; /* of the equations, with the compiled solve behind them */
    hmi_text text;
    hm_status status;

    char name[HMI_EXPORT_NAME], capitals[HMI_EXPORT_NAME]; /* of the model, as identifiers */
    const char **params; /* identifiers that are unique among the parameters */
    const char *header;  /* C: the file to include; NULL: written into the source */
    bool single;
    size_t n, m, states, inputs, outputs, events;

    hmi_expr *M, *A;        /* n x n, m x n, row by row */
    hmi_expr *free_force;   /* n: Q without terms that use constraint forces */
    hmi_expr *residuals[2]; /* m: phi; phi' or psi; HMI_NONE: none */
    hmi_expr *motion; /* q'', then margin and lambda as `motion_at` says; NULL: no such form */
    hmi_motion_layout motion_at;
    bool laws, total_laws; /* forces besides Q without reactions; of total reactions */
    double *q, *v, *z, t;  /* the consistent initial state; z follows v, which follows q */
    double *u;             /* inputs there */
} hmi_export;

/* export.c: refuses what cannot be exported, in the context. Release also after a failure. */
hm_status hmi_export_begin(hmi_export *x, hm_context *context, const hm_system *system,
                           const hm_export_options *options);
void hmi_export_release(hmi_export *x);

/* names.c: an identifier of letters, digits and '_' from any name. */
void hmi_export_identifier(const char *name, char out[HMI_EXPORT_NAME]);
/* Those of the parameters, none of which is a word of `more` (" a b "); false: no memory. */
bool hmi_export_name_params(hmi_export *x, const char *more);

/* c_source.c, c_header.c */
void hmi_export_c_source(hmi_export *x);
void hmi_export_c_header(hmi_export *x);
/* Appends a template with '@' and '$' replaced. */
void hmi_export_template(hmi_export *x, const char *text, size_t length);

#endif
