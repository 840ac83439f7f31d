/* A model from text to numbers in one object. What fails is shown with its diagnostics, and fails
 * the test. */
#ifndef TEST_SUPPORT_PROBE_H
#define TEST_SUPPORT_PROBE_H

#include <hamel/hamel.h>

typedef struct probe {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    hm_sim *sim;
    size_t n, m;             /* coordinates, constraint rows */
    hm_evaluation at;        /* of the last evaluation */
    hm_status status;        /* HM_OK, or that no (single) motion satisfies the equations */
    double *M, *A, *servo_A; /* the same as dense matrices, row-major */
} probe;

probe *probe_text(const char *text);
probe *probe_text_with(const char *text, const hm_override *overrides, size_t count);
probe *probe_file(const char *path, const hm_override *overrides, size_t count);
void probe_close(probe *p);

/* Sets the state (NULL leaves a part as it is) and evaluates. */
void probe_state(probe *p, double t, const double *q, const double *v);
/* The same with the state as text, "x = 1, x' = 2, t = 0". */
void probe_at(probe *p, const char *state);
void probe_evaluate(probe *p);

void probe_set(probe *p, const char *param, double value);

/* By name; a name that does not exist fails the test. */
size_t probe_coordinate(const probe *p, const char *name);
size_t probe_constraint(const probe *p, const char *name);
size_t probe_servo(const probe *p, const char *name);
double probe_output(const probe *p, const char *name);
double probe_M(const probe *p, const char *x, const char *y);

/* An expression must have this value, to 1e-14, in this model at a state ("x = 1, x' = 2"). */
void check_value(const char *model, const char *expression, const char *state, double expected);
/* A vector or matrix, row by row. */
void check_values(const char *model, const char *expression, const char *state, size_t count,
                  const double *expected);

/* Writes every diagnostic of the context to stderr. */
void show_diagnostics(const hm_context *context);

/* Reading the text must fail with this status and a message (or hint) that contains `fragment`. */
void check_rejected(const char *text, hm_status status, const char *fragment);

#endif
