/* What kind of constraints are these? Classification, the set as a whole, the principles of
 * mechanics that apply, and whether the motion is well posed: what `hamel check` prints.
 *
 *   hm_analysis *analysis;
 *   if (hm_system_analyse(system, &analysis) == HM_OK)
 *       for (size_t i = 0; i < analysis->constraint_count; i++)
 *           puts(hm_class_text(analysis->constraints[i].kind));
 *   hm_analysis_destroy(analysis);
 *
 * Statements are decided at random points of the constraint manifold in ball arithmetic: "nonzero" is
 * proved, "zero" holds at so many points to so many bits (hm_evidence).
 *
 * This part of the library uses FLINT/Arb, which aborts the process when memory runs out.
 */
#ifndef HAMEL_ANALYSE_H
#define HAMEL_ANALYSE_H

#include <hamel/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Classes of a single constraint, on the manifold of the position constraints. */
typedef enum hm_class {
    HM_CLASS_HOLONOMIC,              /* position level */
    HM_CLASS_SEMIHOLONOMIC,          /* velocity level, exact: Flannery (33) */
    HM_CLASS_INTEGRABLE,             /* velocity level, exact after multiplication by a factor */
    HM_CLASS_NONHOLONOMIC,           /* not integrable (Frobenius) */
    HM_CLASS_NONLINEAR_NONHOLONOMIC, /* nonlinear in the velocities */
    HM_CLASS_UNCLASSIFIED            /* not decided: see the remark */
} hm_class;
/* "holonomic", "semiholonomic", ... */
HM_API const char *hm_class_text(hm_class kind);

/* How a statement was decided. */
typedef struct hm_evidence {
    int points;  /* random points */
    int bits;    /* what counts as zero is zero to so many bits, relative; 0: no zero was met */
    bool proved; /* the points lie on the position constraints, proved */
} hm_evidence;

/* A quadratic constraint that, with the others, amounts to linear ones. */
typedef enum hm_reduction {
    HM_REDUCTION_NONE,
    HM_REDUCTION_FOLLOWS,  /* it follows from the others */
    HM_REDUCTION_SQUARE,   /* the square of a linear form */
    HM_REDUCTION_BRANCHES, /* the product of two linear forms */
    HM_REDUCTION_SUM,      /* a sum of squares: several linear forms */
    HM_REDUCTION_LINEAR    /* one linear form in disguise, near the initial state: x'/y' = 1 */
} hm_reduction;

typedef struct hm_constraint_analysis {
    const char *name;
    hm_level level;
    bool linear;     /* in the velocities (affine ones too) */
    bool catastatic; /* satisfied at rest: no term without a velocity */
    bool rheonomic;  /* t occurs, or occurs in the integrated form */
    hm_class kind;   /* on every side of functions in it that are not smooth: the weakest */
    const char *
        parts; /* "semiholonomic where y < 50; nonholonomic where y > 50"; NULL: everywhere alike */
    bool redundant; /* depends on the constraints before it */
    const char *
        integrated; /* acceleration level: psi(q, q', t), whose derivative it is; NULL: none found */
    double constant;                /* the value that psi keeps, that of the initial state */
    const char *potential;          /* integrated form f(q, t); NULL: none, or not in closed form */
    const char *integrating_factor; /* NULL: none needed or found */
    const char
        *leaf; /* integrable, but no potential in closed form: hm_analysis_integral gives one in
                         numbers, the value of this coordinate; else NULL */
    const char *frobenius;  /* three coordinates: Zhao et al. (11); else NULL */
    double frobenius_value; /* at the initial state */
    hm_reduction reduction;
    const char *linear_form;    /* "... = 0" it is equivalent to; several are separated by ", " */
    hm_class linear_kind;       /* of the first of them */
    const char *other_form;     /* branches: linear_form holds at the initial state, or else this */
    const char *sign_condition; /* a square root was squared: this must be >= 0; else NULL */
    bool lost_at_rest;          /* nonlinear: its row of A vanishes, or does not exist, at q' = 0 */
    bool in_span; /* G_k lies in the span of the rows: the multiplier rule holds for it */
    double G;     /* largest part of G_k outside the span, at random states; 0 inside */
    hm_evidence evidence;
} hm_constraint_analysis;

/* An integrable combination of constraints that are not integrable one by one. */
typedef struct hm_combination {
    const char *combination; /* "a + (y)*b", names of constraints */
    const char *form;        /* "... = 0" in velocities */
    const char *
        integrated; /* acceleration level: psi(q, q', t), whose derivative it is; NULL: none found */
    double constant;                /* the value that psi keeps, that of the initial state */
    const char *potential;          /* integrated form f(q, t); NULL: not found by itself */
    const char *integrating_factor; /* NULL: none needed or found */
} hm_combination;

typedef struct hm_set_analysis {
    bool known;     /* false: too large, or no point was found (remark) */
    size_t rank;    /* of A at generic admissible states */
    bool with_time; /* growth is in (q, t); else in q */
    size_t growth_count;
    const size_t *growth;  /* dimensions of D, D + [D, D], ... */
    size_t holonomic_part; /* independent integrable combinations, position constraints included */
    size_t hidden;         /* of these, how many no single constraint shows */
    size_t combination_count; /* hidden ones in symbols, where that is short enough */
    const hm_combination *combinations;
    size_t degrees_of_freedom, configuration_dimension;
    const char *parts; /* as of a constraint: sides on which rank or growth differ; NULL: none */
    size_t omitted;    /* constraints that are no forms: nonlinear ones, accelerations */
    hm_evidence evidence;
} hm_set_analysis;

/* Flannery's principles for this model. */
typedef struct hm_principles {
    bool
        basic; /* Flannery (14): all constraints are linear in the velocities, or amount to linear ones */
    bool holonomic;     /* Flannery (22), (52): all are of position level */
    bool semiholonomic; /* Flannery (29), (53): the multiplier rule is valid */
    bool exact;         /* every G_kj is 0: lambda = -mu' */
    bool ideal;     /* the constraints do no work under virtual displacements; where they do, only
                           Udwadia and Kalaba 2002 (35) holds, v.Qc = v.C */
    bool nonlinear; /* some are nonlinear in the velocities: by Chetaev's rule only */
    bool acceleration; /* some are on accelerations: by Gauss's principle only */
    bool potential;    /* no forces but those of L: the variational forms apply */
    double G;          /* largest part of G_kj outside the span of the rows */
    const char *worst; /* of this constraint; NULL: none */
} hm_principles;

typedef struct hm_singular_function {
    const char *expression; /* "sqrt(x)" */
    const char *why;        /* "not smooth where x = 0" */
    bool here;              /* not Lipschitz at the initial state */
    bool discontinuous;
} hm_singular_function;

typedef struct hm_wellposedness {
    bool known; /* the initial state could be evaluated */
    bool
        wellposed; /* q'' unique there and along the run, Lipschitz there, and the run comes nowhere
                        where a function has an infinite slope */
    bool consistent; /* the initial state is, or could be made so */
    bool kept;       /* `initial keep`: it is run as it is, consistent or not */
    bool unique_acceleration, unique_multipliers;
    int rank_M, rank_A, rank_lowest, rank_highest; /* of A along the run */
    bool definite, semidefinite;
    double gram_condition;  /* at the initial state; 0 unless M > 0 */
    double distance;        /* smallest singular value of A of that rank, rows of unit length, */
    double distance_lowest; /* and the lowest along the run: distance to a lower rank */
    double distance_time;   /* when */
    double run_end;         /* the run went from the start to here */
    const char *
        lipschitz_lost; /* "x = 0": what the motion meets where it is not Lipschitz; NULL: nothing */
    double lipschitz_until; /* when */
    size_t function_count;
    const hm_singular_function *functions;
    size_t moved_count;
    const char *const *moved_name; /* initial values that were moved, */
    const double *moved_to;
    const char *message; /* why not, or NULL */
} hm_wellposedness;

/* Everything belongs to the analysis. */
typedef struct hm_analysis {
    size_t constraint_count;
    const hm_constraint_analysis *constraints;
    hm_set_analysis set;
    hm_principles principles;
    hm_wellposedness wellposedness;
    size_t remark_count;
    const char *const *remarks;
} hm_analysis;

/* Systems with more coordinates are not classified (hm_set_analysis.known is false). */
enum { HM_MOST_CLASSIFIED = 150 };

/* Analyses a system about its initial state.
 *   HM_ERR_NOMEM, HM_ERR_LIMIT; an initial state that cannot be made consistent is a diagnostic in
 *   the context, and wellposedness.consistent is false. */
HM_API HM_MUST_CHECK hm_status hm_system_analyse(hm_context *context, const hm_system *system,
                                                 hm_analysis **analysis);
HM_API void hm_analysis_destroy(hm_analysis *analysis);

/* The integrated form f(q, t) of an integrable constraint in numbers, where `leaf` names a coordinate:
 * the surface through (q, t) on which the constraint leaves the motion is followed to the other
 * coordinates of the initial state; f is the value of `leaf` there. Constant along every motion.
 *   HM_ERR_USAGE    the constraint has no `leaf`;
 *   HM_ERR_NUMERIC  the surface cannot be followed from there. */
HM_API HM_MUST_CHECK hm_status hm_analysis_integral(const hm_analysis *analysis, size_t constraint,
                                                    const double *q, double t, double *f);

#ifdef __cplusplus
}
#endif
#endif
