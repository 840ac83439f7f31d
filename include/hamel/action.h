/* Action integrals and varied paths.
 *
 *   hm_action_options options = hm_action_options_default(model);
 *   hm_action *action;
 *   if (hm_sim_action(sim, &options, &action) == HM_OK)
 *       ... action->S.value, action->variations[0].displaced.delta_S ...
 *   hm_action_destroy(action);
 *
 * S is the integral of L over the motion that starts at the sim's present state. A path is varied in two ways that
 * agree for holonomic constraints only [Flannery 2005, sections II C to II E]; both leave the ends alone, and
 * (delta q)' = delta(q'):
 *   displaced  A delta q = 0 at every time: virtual displacements, on which D'Alembert's principle stands (26);
 *   possible   delta g = 0 at every time: the varied path satisfies the constraints, as the multiplier rule demands
 *              (37), (38). It is the one whose controlled velocities are nearest to those of the displaced path.
 * All integrals are linear in delta q; the amplitudes below are 1.
 */
#ifndef HAMEL_ACTION_H
#define HAMEL_ACTION_H

#include <hamel/run.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hm_action_options {
    hm_run_options run; /* start, end, method, tolerances, steps and formulation count */
    size_t
        modes; /* shapes sin(k pi s) of every coordinate, k = 1 .. modes; 0: no varied paths; default 1 */
    bool vakonomic;    /* also find the vakonomic motion between the ends; default false */
    const double *end; /* n: where that one ends; NULL (default): where the run ends */
    double tolerance;  /* of integrals, relative to those of absolute values; default 1e-9 */
} hm_action_options;
HM_API hm_action_options hm_action_options_default(const hm_model *model);

/* Of two computations, with twice the panels and a tenth of the run's tolerance: the better one, and by how much
 * they differ. */
typedef struct hm_action_figure {
    double value, error;
} hm_action_figure;

typedef struct hm_varied_path {
    hm_action_figure delta_S;   /* integral of delta L (45) */
    hm_action_figure dalembert; /* of delta L + F.delta q, F: forces neither of L nor ideal (50) */
    hm_action_figure reaction_work; /* of Qi.delta q, Qi the ideal forces of constraints */
    double scale;                   /* integral of |delta L| + |F.delta q| + |Qi.delta q| */
    double delta_g;                 /* largest |delta g_k| on the way (38) */
    double off_virtual;             /* largest |A_k delta q| on the way */
    bool is_possible, is_virtual;   /* these are rounding */
    double
        duration_change; /* passed at the energy of the motion, the path takes longer by this (A5); NaN where
                                 the energy changes, or vanishing velocities leave it open */
    double end_miss;  /* by how much delta q misses 0 at the end, relative */
    const double *dq; /* samples x n */
} hm_varied_path;

typedef struct hm_variation {
    size_t coordinate; /* which the displacement sin(mode pi s) follows, before it is projected */
    unsigned mode;
    bool exists; /* false: the constraints leave nothing of it */
    hm_varied_path displaced, possible;
} hm_variation;

typedef enum hm_action_verdict {
    HM_ACTION_VERDICT_HOLDS, /* on the varied paths that were tried */
    HM_ACTION_VERDICT_FAILS,
    HM_ACTION_VERDICT_OPEN /* errors are too large to tell */
} hm_action_verdict;
/* "yes", "no", "undecided" */
HM_API const char *hm_action_verdict_text(hm_action_verdict verdict);

/* An integral principle on the varied paths. */
typedef struct hm_action_principle {
    const char *name, *equation, *paths; /* paths: "displaced" or "possible" */
    hm_action_figure largest;            /* of its integral, where it is farthest from 0 */
    double scale;
    hm_action_verdict verdict;
    const char *reason;
} hm_action_principle;

/* [Flannery 2005, (A5)-(A7)] */
typedef struct hm_maupertuis {
    bool conservative;            /* the energy is constant, and no force works */
    const char *reason;           /* why not; "" */
    bool homogeneous;             /* p.q' = 2T on the way: (A6) is (A5) */
    double energy, energy_drift;  /* at the start; largest change */
    hm_action_figure abbreviated; /* integral of p.q' (A5) */
    hm_action_figure twice_T;     /* integral of 2T (A6); NaN where T is not defined */
    hm_action_figure modified;    /* S + E (t2 - t1), that is (A7) with its multiplier -1 */
} hm_maupertuis;

/* The vakonomic motion: S is stationary among the paths that satisfy the constraints and have these ends and times.
 * There may be others. */
typedef struct hm_vakonomic_motion {
    bool found;
    const char *message; /* why not; "" */
    size_t k;            /* multipliers mu */
    const size_t *row;   /* the constraint row each belongs to */
    const double *mu;    /* at the start; that of exact rows is arbitrary, chosen small */
    const double *v;     /* n, at the start */
    hm_action_figure S;
    double distance; /* largest |q - q of the run| at the samples, in the coordinates as they are */
    double residual; /* relative misfit of segments and ends */
    double violation; /* of the constraints, largest on the way */
    size_t iterations, segments;
    const double *q; /* samples x n */
} hm_vakonomic_motion;

typedef struct hm_action {
    size_t n, m;
    double t_start, t_end;
    const char *method;
    size_t panels; /* of four Gauss points each */
    hm_action_figure S;
    double S_scale; /* integral of |L| */
    hm_maupertuis maupertuis;
    const hm_variation *variations;
    size_t variation_count;
    const char *no_variations; /* why there are none; "" */
    const hm_action_principle *principles;
    size_t principle_count;
    const hm_vakonomic_motion *vakonomic; /* NULL: not asked for */
    size_t samples;                       /* times at which paths are given */
    const double *t, *q;                  /* samples, samples x n: the motion */
} hm_action;

/* Follows the motion from the sim's present state, made consistent; the sim ends where the motion does. The result
 * holds what the sim need not live for. Diagnostics are in hm_sim_context.
 *   HM_ERR_USAGE         there is no Lagrangian (`mass` with variable entries), or options make no sense;
 *   statuses of hm_sim_run where the motion does not reach its end. */
HM_API HM_MUST_CHECK hm_status hm_sim_action(hm_sim *sim, const hm_action_options *options,
                                             hm_action **action);
HM_API void hm_action_destroy(hm_action *action);

#ifdef __cplusplus
}
#endif
#endif
