/* Motion: a sim advanced in time, as a whole run or step by step.
 *
 *   hm_run_options options = hm_run_options_default(model);   // what `simulate` in the file says
 *   options.on_frame = write_row;                             // called at every output time
 *   hm_run_result result;
 *   hm_status status = hm_sim_run(sim, &options, &result);    // from the sim's present state
 *
 * or
 *
 *   hm_sim_start(sim, &options);
 *   while (hm_sim_time(sim) < 5 && hm_sim_step(sim) == HM_OK)
 *       ...                                                   // hm_sim_state, hm_sim_frame
 *
 * A run starts from the state the sim holds (a new sim holds the model's initial state), made
 * consistent with the constraints first. Nothing here prints; diagnostics go to hm_sim_context.
 */
#ifndef HAMEL_RUN_H
#define HAMEL_RUN_H

#include <hamel/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- frames: the motion at one time ---------------------------------------------------------- */

/* Work or power by kind; they sum to E(t) - E(0), or to dE/dt. `reset`: what events that `set`
 * values changed; `impacts`: what impacts did, negative where energy was lost. */
typedef struct hm_ledger {
    double impressed, dissipation, gyroscopic, ideal, nonideal, servo, explicit_time, reset,
        impacts;
} hm_ledger;

/* Why a frame is given. */
typedef enum hm_frame_reason {
    HM_FRAME_REASON_OUTPUT, /* the start, or a multiple of `every` after it */
    HM_FRAME_REASON_END,    /* the end of the run, where it is not an output time: also at an event
                             * that stops it, after the frame of that event */
    HM_FRAME_REASON_EVENT /* an event: the state just before it acts; one more follows where it `set`s */
} hm_frame_reason;

/* What a frame holds beyond t, q, v, z: ask only for what is used, each costs time. */
typedef enum hm_frame_content {
    HM_FRAME_CONTENT_STATE = 0,
    HM_FRAME_CONTENT_FORCES = 1,    /* qdd, lambda, Qi, Qni, Qc, C, outputs */
    HM_FRAME_CONTENT_ENERGY = 2,    /* kinetic, potential, total, work, balance */
    HM_FRAME_CONTENT_VIOLATION = 4, /* position_violation, velocity_violation */
    HM_FRAME_CONTENT_CHECKS = 8,    /* ideal_check; implies HM_FRAME_CONTENT_FORCES */
    HM_FRAME_CONTENT_ALL = 15
} hm_frame_content;

/* Arrays belong to the sim and live until its next call; NULL where not asked for or where the
 * quantity does not exist (q'' of a degenerate Lagrangian). n coordinates, m passive constraint
 * rows; signs as in hm_evaluation. */
typedef struct hm_frame {
    hm_frame_reason reason;
    size_t event; /* HM_FRAME_REASON_EVENT: index into the result's events */
    double t;
    const double *q, *v;             /* n */
    const double *z;                 /* hm_model_state_count */
    const double *qdd;               /* n */
    const double *lambda;            /* m, of the ideal constraint force */
    const double *Qi, *Qni, *Qc, *C; /* n */
    const double *u;                 /* hm_model_servo_group_count x n; NULL without servos */
    const double *outputs;           /* hm_model_output_count */
    const double *drawings;          /* hm_model_drawing_values, with the outputs */
    bool has_energy, has_total;      /* kinetic and potential, total are defined */
    double kinetic, potential, total;
    hm_ledger work; /* since the start of the run */
    double balance; /* total - total at the start - sum of work, at the end of the accepted
                                         step that the frame lies in: of these balance_error is the largest */
    const double *position_violation; /* m: phi; 0 for rows of velocity level */
    const double *velocity_violation; /* m: phi' or psi. Rows of acceleration level: by how much
                                         A q' differs from its start + the integral of b + A' q',
                                         and the integral of that over time as position */
    double ideal_check;               /* |N^T Qi| / |Qi|, N a basis of virtual displacements */
    double progress;                  /* 0 .. 1 of the run */
} hm_frame;

/* Return false to stop the run: its status is then HM_RUN_INTERRUPTED. */
typedef bool (*hm_frame_function)(void *user, const hm_frame *frame);
/* Called after every accepted step with the time and the part done (0 .. 1); false stops the run. */
typedef bool (*hm_progress_function)(void *user, double t, double part);

/* ---- options --------------------------------------------------------------------------------- */

/* The method that is chosen by the system and the tolerance. */
#define HM_METHOD_AUTO "auto"

typedef struct hm_run_options {
    double start, end; /* default: `simulate`, else 0 and 10. The sim's time is set to start */
    double every;      /* between output times; default: `simulate`, else (end - start)/200 */
    const char
        *method; /* HM_METHOD_AUTO, "rk5", "dop853", "taylor", "radau", "rattle", "dla", ...; NULL:
                             the model's, else auto */
    double rtol,
        atol;    /* of a step; default: the model's, else 1e-9 and 1e-12, the latter less where
                             the state is below 1e-3 */
    double step; /* of fixed-step methods; for others the first one; 0: chosen */
    double largest_step;  /* default infinity */
    const char *drift;    /* "project", "baumgarte", "none"; NULL: the model's, else project */
    double drift_gain[2]; /* (a, b) of Baumgarte: phi'' + 2a phi' + b^2 phi = 0; default 5, 5 */
    hm_formulation formulation; /* default HM_FORMULATION_AUTO */
    bool keep_initial; /* start from the state as it is; default: `initial keep` in the model */
    bool fix_state;    /* all of the sim's state counts as given by `=`; default false */
    /* What a run may take; 0: no limit. A run that would exceed a limit of rows (output times), or of steps of a
     * given length, is refused; one that exceeds one of steps or events (impacts are some) fails there. */
    long most_steps;  /* default 10^9 */
    long most_rows;   /* default 10^9 */
    long most_events; /* default 10^8 */
    unsigned content; /* hm_frame_content bits of the frames; default HM_FRAME_CONTENT_FORCES */
    hm_frame_function on_frame;       /* default NULL */
    hm_progress_function on_progress; /* default NULL */
    void *user;                       /* given to both */
} hm_run_options;

/* What the model says in `simulate`, else the defaults. Strings belong to the model. */
HM_API hm_run_options hm_run_options_default(const hm_model *model);

/* Methods by index, in the order of documentation; NULL past the last. doc: what it is, its order,
 * when to use it. */
HM_API const char *hm_method_name(size_t index);
HM_API const char *hm_method_doc(size_t index);

/* ---- results --------------------------------------------------------------------------------- */

typedef enum hm_run_status {
    HM_RUN_OK,         /* reached the end */
    HM_RUN_EVENT,      /* a `stop` event ended it */
    HM_RUN_FAILED,     /* stopped at the last good state: see message */
    HM_RUN_INTERRUPTED /* a callback asked to stop */
} hm_run_status;
/* "ok", "event", "failed", "interrupted" */
HM_API const char *hm_run_status_text(hm_run_status status);

typedef struct hm_run_event {
    const char *name;
    double t;
} hm_run_event;

/* An impact: the rows that took an impulse. Of an accumulation of impacts: the rows that came to rest. */
typedef struct hm_run_impact {
    double t; /* accumulations: their limit */
    const char *const *names;
    size_t name_count;
    double energy_lost; /* 0 for accumulations */
} hm_run_impact;

/* An initial value that the consistency solver moved; name as written, "x" or "x'". */
typedef struct hm_moved {
    const char *name;
    double from, to;
} hm_moved;

/* Strings and arrays belong to the sim and live until its next start, run or destruction. */
typedef struct hm_run_result {
    hm_run_status status;
    const char *message;     /* why, in a sentence; "" for a plain ok */
    const char *method;      /* used; where auto switched, the last one */
    const char *formulation; /* of the last solve */
    const char *drift;
    double rtol, atol;
    double t_start, t_end;   /* t_end: reached */
    const double *q, *v, *z; /* final state */
    long steps, rejected, evaluations, projections;
    double wall_s;
    bool stiff; /* the method found the problem stiff */
    size_t constraints;
    const double *position_violation; /* constraints: largest over the run, by row */
    const double *velocity_violation;
    const double *violation; /* the larger of both; acceleration level: drift of its integral */
    bool has_total;
    double energy_initial, energy_final;
    double balance_error; /* largest |E(t) - E(0) - work| at accepted steps, 0 without a total */
    hm_ledger work;
    const hm_run_event *events;
    size_t event_count;
    size_t events_dropped; /* beyond the 10 000 that are kept */
    const hm_run_impact *impacts;
    size_t impact_count;
    size_t impacts_dropped; /* beyond the 20 000 that are kept */
    const hm_run_impact *accumulations;
    size_t accumulation_count;
    const hm_moved *moved;
    size_t moved_count;
    const char *const *warnings; /* the first 20; the last of them says where there were more */
    size_t warning_count;
} hm_run_result;

/* The whole run. options NULL: the model's defaults.
 * Returns HM_OK for the statuses ok, event and interrupted. A run that failed on its way returns
 * HM_ERR_NUMERIC, HM_ERR_UNDETERMINED, HM_ERR_INCONSISTENT or HM_ERR_LIMIT with the result filled in up to
 * the last good state. HM_ERR_USAGE, HM_ERR_INPUT (an initial state that cannot be made consistent),
 * HM_ERR_NOMEM: nothing ran; the result is empty with status HM_RUN_FAILED; errors are in
 * hm_sim_context. */
HM_API HM_MUST_CHECK hm_status hm_sim_run(hm_sim *sim, const hm_run_options *options,
                                          hm_run_result *result);

/* ---- step by step ---------------------------------------------------------------------------- */

/* Makes the state consistent and gets ready to step; `end` bounds nothing here. Call again after
 * hm_sim_set_state, or to change options. */
HM_API HM_MUST_CHECK hm_status hm_sim_start(hm_sim *sim, const hm_run_options *options);
/* One accepted step (to the next event at most, which then has acted). A `stop` event does not
 * stop anything here: hm_sim_result tells HM_RUN_EVENT from then on. */
HM_API HM_MUST_CHECK hm_status hm_sim_step(hm_sim *sim);
/* Steps until t, exactly. Inputs set before the call hold during it. */
HM_API HM_MUST_CHECK hm_status hm_sim_advance(hm_sim *sim, double t);
/* The state at a time within the last step (clamped to it); NULL: not wanted. */
HM_API HM_MUST_CHECK hm_status hm_sim_interpolate(hm_sim *sim, double t, double *q, double *v,
                                                  double *z);
/* Present state; NULL: not wanted. */
HM_API void hm_sim_state(const hm_sim *sim, double *q, double *v, double *z);
/* Forces, energies, violations at the present state; after hm_sim_start. */
HM_API HM_MUST_CHECK hm_status hm_sim_frame(hm_sim *sim, unsigned content, hm_frame *frame);
/* What happened since hm_sim_start. */
HM_API HM_MUST_CHECK hm_status hm_sim_result(const hm_sim *sim, hm_run_result *result);

/* Moves what may be moved of the present state (values the model gives by `~`, and unmentioned
 * ones; everything where all_free) as little as possible, in the mass metric, onto the constraints.
 * moved: owned by the sim, as in the result; NULL: not wanted.
 *   HM_ERR_INPUT: it cannot be; a diagnostic names the constraint and by how much it is violated. */
HM_API HM_MUST_CHECK hm_status hm_sim_make_consistent(hm_sim *sim, bool all_free,
                                                      const hm_moved **moved, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
