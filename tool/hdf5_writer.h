/* The side of HDF5 that calls libhdf5: see hdf5_file.h for what is written. */
#ifndef HAMEL_TOOL_HDF5_WRITER_H
#define HAMEL_TOOL_HDF5_WRITER_H

#include "run_columns.h"

typedef struct hdf5_writer hdf5_writer;

/* What is known at the end of a run. */
typedef struct hdf5_end {
    hm_run_status status;
    double rtol, atol;
    char method[64], drift[64];
} hdf5_end;

/* Writes to the descriptor of `out`, which is open. NULL when there is no memory; whether HDF5 takes the file is
 * seen with the first row. */
hdf5_writer *hdf5_writer_create(hm_file *out, const column_set *columns);
bool hdf5_writer_row(hdf5_writer *writer, const double *row);
/* Rows so far go to the disk. */
bool hdf5_writer_flush(hdf5_writer *writer);
/* The attributes, and all that is left. */
bool hdf5_writer_end(hdf5_writer *writer, const hdf5_end *end);
/* Rows in the file. */
unsigned long long hdf5_writer_rows(const hdf5_writer *writer);
/* What went wrong; "" where nothing did. */
const char *hdf5_writer_error(const hdf5_writer *writer);

#endif
