/* Results in HDF5, for large runs, where the command was built with it.
 *
 *   t (rows), q, v, outputs, states, columns (rows x their number; what is empty is left out), each
 *   with an attribute `names`; attributes of the file: model, title, method, rtol, atol, drift,
 *   status, hamel (the version).
 * Written in blocks, flushed about once a second, under NAME.partial until it is complete.
 */
#ifndef HAMEL_TOOL_HDF5_FILE_H
#define HAMEL_TOOL_HDF5_FILE_H

#include "run_columns.h"

extern const bool hdf5_available;

typedef struct hdf5_file hdf5_file;

/* NULL when it cannot be made. */
hdf5_file *hdf5_create(const char *path, const column_set *columns);
bool hdf5_row(hdf5_file *file, const double *row);
/* Writes the attributes; complete: the file takes its name. */
bool hdf5_finish(hdf5_file *file, const hm_run_result *result, bool complete);
/* Where the rows are at present. */
const char *hdf5_path(const hdf5_file *file);
void hdf5_destroy(hdf5_file *file);

#endif
