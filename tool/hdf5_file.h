/* Results in HDF5, for large runs, where the command was built with it.
 *
 *   t (rows), q, v, outputs, states, columns (rows x their number; what is empty is left out), each
 *   with an attribute `names`; attributes of the file: model, title, method, rtol, atol, drift,
 *   status, hamel (the version).
 * Written in blocks, flushed about once a second, through hm_file: under NAME.partial until it is
 * complete. A pipe or device gets the whole file at the end.
 */
#ifndef HAMEL_TOOL_HDF5_FILE_H
#define HAMEL_TOOL_HDF5_FILE_H

#include "run_columns.h"

/* An exit status; where it is not EXIT_DONE, a message was printed: EXIT_BAD_INPUT, HDF5 is not in this build,
 * EXIT_FAILED, it cannot be loaded. `instead` says what to do then. To be asked before any file is made. */
int hdf5_check(const char *instead);

typedef struct hdf5_file hdf5_file;

/* NULL when there is no memory. Whether the file can be written is seen with the first row. */
hdf5_file *hdf5_create(const char *path, const column_set *columns);
bool hdf5_row(hdf5_file *file, const double *row);
/* Writes the attributes; complete: the file takes its name. */
bool hdf5_finish(hdf5_file *file, const hm_run_result *result, bool complete);
/* Where the rows are at present; NULL where none are on the disk. */
const char *hdf5_path(const hdf5_file *file);
/* What went wrong; "" where nothing did. */
const char *hdf5_error(const hdf5_file *file);
void hdf5_destroy(hdf5_file *file);

#endif
