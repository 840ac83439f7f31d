/* hamel sweep: the parts of the command.
 *
 * Rows go to FILE.rows while the sweep runs: a line that identifies the sweep, the names, then a line per
 * point in order. Whatever ends the process, --resume finds the whole lines there and goes on after them. At
 * the end FILE is written from it in one go, so that the bytes of FILE do not depend on interruptions.
 */
#ifndef HAMEL_TOOL_SWEEP_H
#define HAMEL_TOOL_SWEEP_H

#include "command.h"
#include "progress.h"

/* Of one numeric column, over the rows that have a value. */
typedef struct column_statistics {
    size_t count;
    double mean, squares, least, largest; /* squares: sum of squared distances from the mean */
    double quantile[5];                   /* 5, 25, 50, 75, 95 % */
} column_statistics;

typedef struct sweep {
    const invocation *call;
    session *s;
    hm_sweep_plan *plan;
    hm_measures *measures;
    hm_run_options run;
    const char *out; /* NULL: no file is kept */
    char *out_text;  /* holds it */
    char *rows_path; /* FILE.rows; NULL: a temporary file */
    double *line;    /* of the file */
    char identity[192];
    FILE *rows;
    size_t first, end; /* the points of this shard */
    size_t next;       /* the first one that is not in the file */
    size_t failed;     /* points whose run failed, those of earlier sessions included */
    char **names;      /* columns of the file */
    size_t name_count;
    bool keep_every; /* rows of trajectories in place of one row per point */
    bool broken;     /* a file could not be written; a message was printed */
    double synced;
    progress progress;
    column_statistics *statistics; /* by measure */
    hm_sweep_result result;
} sweep;

/* ---- sweep_rows.c: the growing file ---- */

/* Opens FILE.rows, new or (resume) with what is there. An exit status. */
int rows_open(sweep *s, bool resume);
bool rows_add(sweep *s, const double *values, size_t count, const char *status);
/* Everything so far is on the disk. */
bool rows_sync(sweep *s);
/* FILE from FILE.rows; or, with `identified`, a part of a sweep that keeps its first line. */
bool rows_publish(sweep *s, bool identified);
/* Closes and removes FILE.rows. */
void rows_discard(sweep *s);
/* false where the file cannot be read from its start. */
bool rows_rewind(FILE *rows);
/* The numbers of a line; *status is the word behind them. Returns how many. */
size_t rows_parse(char *line, double *values, size_t most, const char **status);

/* ---- sweep_hdf5.c ---- */

bool sweep_write_hdf5(const sweep *s, FILE *rows, const char *path);

/* ---- sweep_merge.c ---- */

int sweep_merge(const invocation *call);

/* ---- sweep_report.c ---- */

/* Statistics of the measures, from the file. */
bool sweep_find_statistics(sweep *s);
void sweep_print(const sweep *s);
bool sweep_json(const sweep *s);

/* ---- sweep_plot.c: --plot ---- */

/* Before anything is run: can there be a plot? An exit status. */
int sweep_plot_check(const invocation *call);
/* Draws it, where it was asked for. */
bool sweep_plot(sweep *s);

#endif
