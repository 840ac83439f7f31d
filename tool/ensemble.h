/* hamel run --ensemble: members from a CSV file, results as CSV, summary or JSON. */
#ifndef HAMEL_TOOL_ENSEMBLE_H
#define HAMEL_TOOL_ENSEMBLE_H

#include "command.h"
#include "progress.h"

/* Of one final value, over the members that reached the end. */
typedef struct spread {
    double least, largest, mean, squares; /* squares: sum of squared distances from the mean */
} spread;

typedef struct failure {
    size_t member;
    char *message;
} failure;

enum { MOST_FAILURES = 100 };

typedef struct ensemble {
    const invocation *call;
    session *s;
    hm_run_options run;
    const char *file, *csv_path;
    bool trajectories; /* --every was given: one row per output time */
    hm_table *table;   /* the file */
    hm_ensemble_column *columns;
    double *values;                    /* member after member */
    size_t n, states, outputs, inputs; /* inputs: columns of the file */
    hm_csv_writer *csv;
    double *row;
    bool failed; /* a file could not be written; a message was printed */
    progress progress;
    spread *final; /* coordinates, velocities, states */
    size_t counted;
    double violation, balance_error; /* largest of all members */
    failure failures[MOST_FAILURES];
    size_t failure_count;
    hm_ensemble_result result;
} ensemble;

/* The whole command, after the model was read. Returns an exit status. */
int run_ensemble(const invocation *call, session *s, const hm_run_options *run);

/* ensemble_report.c */
void ensemble_print(const ensemble *e);
bool ensemble_json(const ensemble *e);
/* Name of final value i: x, x' or a state's. */
void ensemble_value_name(const ensemble *e, size_t i, char text[128]);

#endif
