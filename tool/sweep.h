/* hamel sweep: the parts of the command.
 *
 * Rows go to FILE.rows while the sweep runs: a line that identifies the sweep, one that describes it (JSON), the
 * names, then a line per point in order. Whatever ends the process, --resume finds the whole lines there and goes on after them. At
 * the end FILE is written from it in one go, so that the bytes of FILE do not depend on interruptions.
 */
#ifndef HAMEL_TOOL_SWEEP_H
#define HAMEL_TOOL_SWEEP_H

#include "command.h"
#include "progress.h"

/* Lines before the rows. */
enum { ROWS_HEAD = 3 };

typedef struct ranks ranks; /* sweep_ranks.h */

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
    unsigned jobs;
    const char *out; /* NULL: no file is kept */
    char *out_text;  /* holds it */
    char *rows_path; /* FILE.rows; NULL: a temporary file */
    char *part_path; /* FILE.part-RANK, where the rows of this process go instead */
    double *line;    /* of the file */
    char identity[192];
    char *about; /* JSON, of the second line */
    FILE *rows;
    ranks *ranks;          /* the processes of this sweep */
    struct dealer *dealer; /* of the first of them, while it deals */
    bool shared;       /* parts are written, by these processes or by those of an earlier session */
    size_t first, end; /* the points of this shard */
    size_t next;       /* the first one that is not in the file */
    size_t failed;     /* points whose run failed, those of earlier sessions included */
    char **names;      /* columns of the file */
    size_t name_count;
    bool keep_every; /* rows of trajectories in place of one row per point */
    bool broken;     /* a file could not be written; a message was printed */
    double synced;
    size_t unsynced; /* rows */
    progress progress;
    column_statistics *statistics; /* by measure */
    hm_sweep_result result;
} sweep;

/* ---- sweep_setup.c: what the sweep is ---- */

/* A whole number; false after a message. */
bool sweep_read_count(const invocation *call, const char *option, unsigned long long least,
                      unsigned long long *value);
/* --shard I/N: N pieces of nearly the same length. */
bool sweep_read_shard(sweep *s, unsigned long long *index, unsigned long long *count);
bool sweep_read_keep(sweep *s);
int sweep_make_plan(sweep *s);
bool sweep_list_names(sweep *s);
/* s->about: version, text of the model, options, seed. */
bool sweep_describe(sweep *s);
/* s->identity: two sweeps with the same one have the same rows. */
void sweep_identify(sweep *s, unsigned long long index, unsigned long long count);

/* ---- sweep_share.c: several processes ---- */

/* Instead of rows_open and hm_sweep_run. An exit status; s->rows then holds all rows where all are done. */
int share_prepare(sweep *s);
hm_status share_run(sweep *s, const hm_sweep_options *options);
/* Points that all processes have finished in this session. */
size_t share_done(const sweep *s);

/* ---- sweep_rows.c: the growing file ---- */

/* The lines before the rows. */
void rows_head(const sweep *s);

/* Opens FILE.rows, new or (resume) with what is there. An exit status. */
int rows_open(sweep *s, bool resume);
bool rows_add(sweep *s, const double *values, size_t count, const char *status);
/* Everything so far is with the operating system; on the disk. */
bool rows_flush(sweep *s);
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

/* What a file of rows holds. */
typedef struct rows_about {
    char *const *names;
    size_t count;
    bool status; /* the last column is a text */
    const char *identity, *description;
    const char *path; /* of the rows, for messages */
} rows_about;

bool sweep_write_hdf5(const rows_about *about, FILE *rows, const char *path);

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
