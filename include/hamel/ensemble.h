/* Ensembles: one system, many initial states and parameters.
 *
 *   hm_ensemble_column columns[2];
 *   hm_ensemble_find_column(model, "theta", &columns[0]);       // a coordinate
 *   hm_ensemble_find_column(model, "L", &columns[1]);           // a parameter
 *   hm_ensemble_members members = {.count = 10000, .columns = columns, .column_count = 2,
 *                                  .values = values};           // 10000 rows of 2
 *   hm_ensemble_options options = hm_ensemble_options_default(model);
 *   options.on_member = keep_final_state;
 *   hm_ensemble_result result;
 *   hm_status status = hm_ensemble_run(system, &members, &options, &result);
 *
 * Every member is the run that hm_sim_run makes from its values, to the last bit, whatever the
 * number of threads. Explicit methods (dop853, rk5) take four members at a time on the lanes of
 * vector registers; a member that needs more than that (events, functions that are not smooth,
 * servos, constraints that lose rank, ...) is run by hm_sim_run itself.
 */
#ifndef HAMEL_ENSEMBLE_H
#define HAMEL_ENSEMBLE_H

#include <hamel/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- members --------------------------------------------------------------------------------- */

typedef enum hm_column_kind {
    HM_COLUMN_PARAM,
    HM_COLUMN_COORDINATE,
    HM_COLUMN_VELOCITY,
    HM_COLUMN_STATE,
    HM_COLUMN_INPUT /* held at the value */
} hm_column_kind;

/* What a column of values sets; index as in hm_model_coordinate_name and so on. */
typedef struct hm_ensemble_column {
    hm_column_kind kind;
    size_t index;
} hm_ensemble_column;

/* The column called as in the language: m, x, x', q[2]'. HM_ERR_USAGE: there is no such name, or it
 * is a structural parameter; a diagnostic says so. */
HM_API HM_MUST_CHECK hm_status hm_ensemble_find_column(hm_context *context, const hm_model *model,
                                                       const char *name,
                                                       hm_ensemble_column *column);

/* What has no column is as the model says under the member's parameters: a member is what `hamel run` makes of the
 * model with these `--set` and `--at`. Coordinates and velocities with a column are held (hm_sim_hold) where initial
 * states are made consistent, member by member. */
typedef struct hm_ensemble_members {
    size_t count;
    size_t column_count;
    const hm_ensemble_column *columns;
    const double *values; /* count x column_count, a member after the other */
} hm_ensemble_members;

/* ---- results --------------------------------------------------------------------------------- */

/* Strings and arrays live until the callback returns. */
typedef struct hm_member_result {
    size_t member; /* from 0 */
    hm_run_status status;
    const char *message;   /* why, in a sentence; "" for a plain ok */
    bool batched;          /* vectorised, four at a time; else by hm_sim_run */
    double t_end;          /* reached */
    const double *q, *v;   /* final state; NULL where the run did not start */
    const double *z;       /* hm_model_state_count */
    const double *outputs; /* at the end; NULL unless content has HM_FRAME_CONTENT_FORCES */
    long steps, rejected, evaluations;
    double violation; /* of the constraints: the largest of all, over the whole run */
    bool has_total;
    double energy_initial, energy_final, balance_error; /* as in hm_run_result */
    const hm_run_event *events;                         /* as in hm_run_result */
    size_t event_count, events_dropped;
} hm_member_result;

/* Called in the order of members, never two calls at a time, but not always from one thread. Return
 * false, as from the other callbacks, to end the ensemble: no call of any of them follows, and members that
 * the caller was not told of count as interrupted. */
typedef bool (*hm_member_function)(void *user, const hm_member_result *result);
/* A member's frames come before its result. They hold reason, event, t, q, v, z, and outputs, energies
 * and balance as the content asks; nothing else. */
typedef bool (*hm_member_frame_function)(void *user, size_t member, const hm_frame *frame);
/* Called now and then, by the same rules. */
typedef bool (*hm_ensemble_progress_function)(void *user, size_t done, size_t count);

typedef struct hm_ensemble_options {
    hm_run_options
        run; /* of every member; its callbacks are not called. Start, end and every are NAN by default
                           where the model's depend on parameters: then each member has its own */
    unsigned jobs;                     /* threads; 0 (default): as many as there are processors */
    bool one_by_one;                   /* every member by hm_sim_run; default false */
    hm_member_function on_member;      /* default NULL */
    hm_member_frame_function on_frame; /* default NULL: no trajectories are kept */
    hm_ensemble_progress_function on_progress; /* default NULL */
    void *user;                                /* given to all */
} hm_ensemble_options;

HM_API hm_ensemble_options hm_ensemble_options_default(const hm_model *model);

typedef struct hm_ensemble_result {
    size_t members;
    size_t ok, events, failed; /* by status; `events`: ended by a `stop` event */
    size_t interrupted;        /* not done */
    size_t batched;            /* vectorised; the others by hm_sim_run, */
    char why_not[128];         /* for this reason where it holds for all; "" */
    unsigned jobs;
    double wall_s;
} hm_ensemble_result;

/* Runs all members. HM_OK also where members failed: their results say so. Diagnostics
 * of members become messages of their results; the context gets those of the call itself. The threads
 * call the system's allocator at the same time.
 *   HM_ERR_USAGE: a column or an option is not valid; HM_ERR_NOMEM. */
HM_API HM_MUST_CHECK hm_status hm_ensemble_run(hm_context *context, const hm_system *system,
                                               const hm_ensemble_members *members,
                                               const hm_ensemble_options *options,
                                               hm_ensemble_result *result);

#ifdef __cplusplus
}
#endif
#endif
