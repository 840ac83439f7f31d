/* Symmetries and conserved quantities of a system.
 *
 *   hm_symmetries *found;
 *   if (hm_symmetries_find(system, NULL, &found) == HM_OK) {
 *       for (size_t i = 0; i < found->integral_count; i++)
 *           puts(found->integrals[i].expression);
 *       hm_symmetries_destroy(found);
 *   }
 *
 * Statements are decided at random states on the constraint manifold, in ball arithmetic: "no" is
 * proved, "yes" means zero at all of them (`states`, `bits`), and at states on the other side of every
 * function that is not smooth. What is called conserved is checked along a run besides; what the run
 * contradicts is left out. Allocations inside FLINT do not go through the context's allocator, and FLINT
 * aborts the process when memory runs out.
 */
#ifndef HAMEL_SYMMETRY_H
#define HAMEL_SYMMETRY_H

#include <hamel/system.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hm_answer { HM_ANSWER_NO, HM_ANSWER_YES, HM_ANSWER_UNKNOWN } hm_answer;

/* A generator xi(q, t) of transformations q -> q + eps xi, with its momentum J = p xi. */
typedef struct hm_symmetry {
    const char *name;
    bool discovered;              /* not from a `symmetry` statement */
    const char *const *generator; /* hm_model_coordinate_count components; NULL where 0 */
    hm_answer lagrangian_invariant;
    hm_answer distribution_invariant; /* unknown where constraints are nonlinear in velocities */
    hm_answer horizontal;             /* a virtual displacement: A xi = 0 */
    hm_answer conserved;
    const char *momentum; /* J, in the language */
    const char *equation; /* dJ/dt, where J is not conserved; else NULL */
    const char
        *where; /* "x - 100 < 0": the answers hold there, elsewhere not, or nobody has looked;
                             NULL: on both sides of every function that is not smooth */
} hm_symmetry;

typedef struct hm_integral {
    const char *expression; /* in the language */
    const char *from;       /* why, in words */
    const char *where;      /* as of hm_symmetry */
    bool checked;           /* along a run; false where no run was possible */
    double drift;           /* largest change on the run, relative to the size of its parts */
} hm_integral;

typedef struct hm_symmetries {
    const char *refusal; /* why nothing was sought ("the model has servos"); NULL: sought */
    size_t symmetry_count;
    const hm_symmetry *symmetries; /* given ones, then discovered ones */
    size_t integral_count;
    const hm_integral *integrals;
    size_t states;             /* random states that the integrals were found at */
    int bits;                  /* what counts as zero there is zero to so many bits, relative */
    double run_start, run_end; /* of the run that checked them */
} hm_symmetries;

typedef struct hm_symmetry_options {
    bool discover; /* default true; false: only the model's `symmetry` statements */
    long steps;    /* of the checking run at most; default 300, 0: no run */
} hm_symmetry_options;
HM_API hm_symmetry_options hm_symmetry_options_default(void);

/* options NULL: the defaults. HM_OK also where nothing could be sought: see refusal. HM_ERR_NOMEM. */
HM_API HM_MUST_CHECK hm_status hm_symmetries_find(const hm_system *system,
                                                  const hm_symmetry_options *options,
                                                  hm_symmetries **found);
HM_API void hm_symmetries_destroy(hm_symmetries *found);

#ifdef __cplusplus
}
#endif

#endif
