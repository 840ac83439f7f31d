/* Sweeps: a study of many runs of one system, over parameters, initial states and inputs.
 *
 *   hm_sweep_spec spec = hm_sweep_spec_default();
 *   spec.grid = "m=1:3:5, s=0.1|0.2|0.4";                       // 15 points
 *   hm_sweep_plan *plan;
 *   hm_status status = hm_sweep_plan_create(context, model, &spec, &plan);
 *   hm_sweep_plan_point(plan, 7, values);                       // what point 7 sets
 *
 * A plan says what each point sets. Point k depends on the specification and on k alone, never on the
 * machine, on the number of threads, or on the points before it: random numbers are a function of the
 * seed, the point and the dimension (Philox). A sweep can therefore be cut into pieces anywhere.
 *
 * A measure is a number that a run is reduced to while it goes: final(x), max(abs(y)), time(hit).
 * hm_sweep_run runs points of a plan and hands out their measures in order.
 */
#ifndef HAMEL_SWEEP_H
#define HAMEL_SWEEP_H

#include <hamel/ensemble.h>
#include <hamel/table.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- plans ------------------------------------------------------------------------------------ */

/* The points are all combinations of grid (or rows of `points`) and samples; samples vary fastest, then
 * the last name of the grid. Names are those of hm_ensemble_find_column: m, x, x', q[2]'. Numbers may be
 * expressions of the model's parameters. Texts and the table are only read by hm_sweep_plan_create. */
typedef struct hm_sweep_spec {
    const char *grid; /* "m=1:3:5, s=0.1|0.2": from:to:count, or a list; default NULL */
    const hm_table
        *points; /* a point per row, a name per column; not together with grid; default NULL */
    /* "m=uniform(1,2), x=normal(0,0.1)": uniform(a,b), normal(mean,deviation), lognormal(mean,deviation)
     * of the logarithm, triangular(a,mode,b), discrete(v1|v2|...); default NULL */
    const char *random;
    size_t samples; /* of `random`; default 0 */
    bool sobol; /* from a scrambled Sobol sequence in place of independent numbers; default false */
    uint64_t seed; /* default 1 */
} hm_sweep_spec;

HM_API hm_sweep_spec hm_sweep_spec_default(void);

typedef struct hm_sweep_plan hm_sweep_plan;

/* Errors are in the context. HM_ERR_USAGE: a specification is not valid. */
HM_API HM_MUST_CHECK hm_status hm_sweep_plan_create(hm_context *context, const hm_model *model,
                                                    const hm_sweep_spec *spec,
                                                    hm_sweep_plan **plan);
HM_API void hm_sweep_plan_destroy(hm_sweep_plan *plan);

HM_API size_t hm_sweep_plan_points(const hm_sweep_plan *plan);
/* What is varied: grid or points first, then random. */
HM_API size_t hm_sweep_plan_columns(const hm_sweep_plan *plan);
HM_API const char *hm_sweep_plan_name(const hm_sweep_plan *plan, size_t column);
/* How many different values a column of the grid has; 0 for other columns. */
HM_API size_t hm_sweep_plan_levels(const hm_sweep_plan *plan, size_t column);
/* What point k (from 0) sets: hm_sweep_plan_columns values. */
HM_API void hm_sweep_plan_point(const hm_sweep_plan *plan, size_t point, double *values);

/* ---- measures --------------------------------------------------------------------------------- */

/* "NAME = final(x), max(abs(y)), time(hit)": names are optional; the text stands for a missing one.
 *
 *   final(E)                     at the end of the run
 *   max(E) min(E) mean(E) rms(E) integral(E)   over the rows of the run: its start, the multiples of
 *                                `every` and its end; mean, rms and integral by the trapezoidal rule
 *   time(EVENT)                  when it first happens; NaN where it does not
 *   count(EVENT)                 how often
 *   first(EVENT, E)              E just before it first acts; NaN where it does not happen
 *   settled(E, tolerance)        the time from which on |E - E at the end| stays within the tolerance
 *   crossing(E1 = E2, E)         E where E1 = E2 first happens, interpolated between rows; NaN: never
 * E is anything that an output may be. */
typedef struct hm_measures hm_measures;

/* Splits the text; names of events are looked up by hm_sweep_run. Errors are in the context. */
HM_API HM_MUST_CHECK hm_status hm_measures_parse(hm_context *context, const char *text,
                                                 hm_measures **measures);
HM_API void hm_measures_destroy(hm_measures *measures);
HM_API size_t hm_measures_count(const hm_measures *measures);
HM_API const char *hm_measures_name(const hm_measures *measures, size_t index);
/* Statements that give a model the outputs that the measures need: for hm_model_options.more. */
HM_API const char *hm_measures_statements(const hm_measures *measures);

/* ---- runs ------------------------------------------------------------------------------------- */

/* Lives until the callback returns. */
typedef struct hm_sweep_row {
    size_t point;           /* from 0 */
    const double *values;   /* what it sets */
    const double *measures; /* NaN where the run did not get so far */
    hm_run_status status;
    const char *message; /* why, in a sentence; "" for a plain ok */
} hm_sweep_row;

/* In the order of points, never two calls at a time. false ends the sweep; no call follows. */
typedef bool (*hm_sweep_row_function)(void *user, const hm_sweep_row *row);
/* Rows of trajectories, before the row of their point: see hm_member_frame_function. */
typedef bool (*hm_sweep_frame_function)(void *user, size_t point, const hm_frame *frame);
typedef bool (*hm_sweep_progress_function)(void *user, size_t done, size_t count);

typedef struct hm_sweep_options {
    hm_run_options run; /* of every point */
    unsigned jobs;      /* threads; 0 (default): as many as there are processors */
    size_t first, end;  /* points first .. end - 1; default 0 and all of them */
    hm_sweep_row_function on_row;
    hm_sweep_frame_function on_frame;       /* default NULL */
    hm_sweep_progress_function on_progress; /* default NULL */
    void *user;
} hm_sweep_options;

HM_API hm_sweep_options hm_sweep_options_default(const hm_model *model, const hm_sweep_plan *plan);

typedef struct hm_sweep_result {
    size_t points, done, failed;
    bool interrupted; /* a callback ended it */
    double wall_s;
} hm_sweep_result;

/* The system's model must have been read with hm_measures_statements. A failed run is a row with its
 * status. HM_ERR_USAGE: an event of a measure does not exist; HM_ERR_NOMEM. */
HM_API HM_MUST_CHECK hm_status hm_sweep_run(hm_context *context, const hm_system *system,
                                            const hm_sweep_plan *plan, const hm_measures *measures,
                                            const hm_sweep_options *options,
                                            hm_sweep_result *result);

#ifdef __cplusplus
}
#endif
#endif
