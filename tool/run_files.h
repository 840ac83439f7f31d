/* Where the rows of a run go: CSV, HDF5, and a table for the plot. Files appear with the first row:
 * a run that never starts leaves none. */
#ifndef HAMEL_TOOL_RUN_FILES_H
#define HAMEL_TOOL_RUN_FILES_H

#include "hdf5_file.h"

typedef struct run_files {
    const char *csv_path, *hdf5_path, *plot_path; /* NULL: not wanted */
    bool event_rows;                              /* rows at events in the files too */
    double last_event;                            /* time of the last row, where it is such a row */
    const hm_model *model;
    column_set columns, plot_columns;
    hm_csv_writer *csv;
    hdf5_file *hdf5;
    hm_table *table;
    bool failed; /* a message was printed */
} run_files;

/* false: no memory. */
bool run_files_create(run_files *files, const hm_model *model, unsigned groups);
void run_files_destroy(run_files *files);
/* hm_frame_content that they need. */
unsigned run_files_content(const run_files *files);
/* false: something cannot be written; a message was printed. */
bool run_files_add(run_files *files, const hm_frame *frame);
/* Completes them, or keeps what is there under .partial and says so. */
bool run_files_finish(run_files *files, const hm_run_result *result, bool complete);

#endif
