/* A model run from text or a file, for tests: whatever fails is shown and fails the test. */
#ifndef TEST_SUPPORT_MOTION_H
#define TEST_SUPPORT_MOTION_H

#include <hamel/hamel.h>

typedef struct motion {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
    size_t n;
    hm_run_options options; /* the model's; change before motion_run */
    hm_run_result result;
    hm_status status;
} motion;

motion *motion_text(const char *text);
/* path relative to the source folder; overrides as in hm_model_options. */
motion *motion_file(const char *path, const hm_override *overrides, size_t count);
void motion_close(motion *m);

/* Runs; motion_must fails the test (with diagnostics and message) unless the run is ok or ended by
 * an event. */
hm_status motion_run(motion *m);
void motion_must(motion *m);
/* From the present state to t by the step-wise API, after hm_sim_start. */
void motion_advance(motion *m, double t);

/* By name: "x" or "x'". */
double motion_value(const motion *m, const char *name);
/* The largest violation over all rows, as in the result. */
double motion_violation(const motion *m);
bool motion_says(const motion *m, const char *fragment); /* in message, warnings, diagnostics */

#endif
