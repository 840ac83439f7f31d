/* What is used of HDF5, through a table (library.h). */
#ifndef HAMEL_TOOL_HDF5_CALLS_H
#define HAMEL_TOOL_HDF5_CALLS_H

#include "library.h"

#ifdef HAMEL_HAVE_HDF5

#include <hdf5.h>

/* clang-format off */
#define HDF5_FUNCTIONS(X)                                                                        \
    X(H5Aclose) X(H5Acreate2) X(H5Awrite) X(H5Dclose) X(H5Dcreate2) X(H5Dget_space)              \
    X(H5Dset_extent) X(H5Dwrite) X(H5Eset_auto2) X(H5Ewalk2) X(H5Fclose) X(H5Fcreate)            \
    X(H5Fflush) X(H5Pclose) X(H5Pcreate) X(H5Pset_chunk) X(H5Pset_deflate)                       \
    X(H5Pset_obj_track_times) X(H5Pset_shuffle) X(H5Sclose) X(H5Screate) X(H5Screate_simple)     \
    X(H5Sselect_hyperslab) X(H5Tclose) X(H5Tcopy) X(H5Tset_cset) X(H5Tset_size)                  \
    X(H5check_version) X(H5dont_atexit) X(H5open)
#define HDF5_DATA(X)                                                                             \
    X(H5T_C_S1_g) X(H5T_IEEE_F64LE_g) X(H5T_NATIVE_DOUBLE_g) X(H5P_CLS_FILE_CREATE_ID_g)         \
    X(H5P_CLS_DATASET_CREATE_ID_g)
/* clang-format on */

/* Pointers alone, in the order of the lists. */
typedef struct hdf5_calls {
#define X(name) __typeof__(name) *name##_;
    HDF5_FUNCTIONS(X)
    HDF5_DATA(X)
#undef X
} hdf5_calls;

extern hdf5_calls hdf5_table;
extern library hdf5_library;

#define H5Aclose                    (*hdf5_table.H5Aclose_)
#define H5Acreate2                  (*hdf5_table.H5Acreate2_)
#define H5Awrite                    (*hdf5_table.H5Awrite_)
#define H5Dclose                    (*hdf5_table.H5Dclose_)
#define H5Dcreate2                  (*hdf5_table.H5Dcreate2_)
#define H5Dget_space                (*hdf5_table.H5Dget_space_)
#define H5Dset_extent               (*hdf5_table.H5Dset_extent_)
#define H5Dwrite                    (*hdf5_table.H5Dwrite_)
#define H5Eset_auto2                (*hdf5_table.H5Eset_auto2_)
#define H5Ewalk2                    (*hdf5_table.H5Ewalk2_)
#define H5Fclose                    (*hdf5_table.H5Fclose_)
#define H5Fcreate                   (*hdf5_table.H5Fcreate_)
#define H5Fflush                    (*hdf5_table.H5Fflush_)
#define H5Pclose                    (*hdf5_table.H5Pclose_)
#define H5Pcreate                   (*hdf5_table.H5Pcreate_)
#define H5Pset_chunk                (*hdf5_table.H5Pset_chunk_)
#define H5Pset_deflate              (*hdf5_table.H5Pset_deflate_)
#define H5Pset_obj_track_times      (*hdf5_table.H5Pset_obj_track_times_)
#define H5Pset_shuffle              (*hdf5_table.H5Pset_shuffle_)
#define H5Sclose                    (*hdf5_table.H5Sclose_)
#define H5Screate                   (*hdf5_table.H5Screate_)
#define H5Screate_simple            (*hdf5_table.H5Screate_simple_)
#define H5Sselect_hyperslab         (*hdf5_table.H5Sselect_hyperslab_)
#define H5Tclose                    (*hdf5_table.H5Tclose_)
#define H5Tcopy                     (*hdf5_table.H5Tcopy_)
#define H5Tset_cset                 (*hdf5_table.H5Tset_cset_)
#define H5Tset_size                 (*hdf5_table.H5Tset_size_)
#define H5check_version             (*hdf5_table.H5check_version_)
#define H5dont_atexit               (*hdf5_table.H5dont_atexit_)
#define H5open                      (*hdf5_table.H5open_)
#define H5T_C_S1_g                  (*hdf5_table.H5T_C_S1_g_)
#define H5T_IEEE_F64LE_g            (*hdf5_table.H5T_IEEE_F64LE_g_)
#define H5T_NATIVE_DOUBLE_g         (*hdf5_table.H5T_NATIVE_DOUBLE_g_)
#define H5P_CLS_FILE_CREATE_ID_g    (*hdf5_table.H5P_CLS_FILE_CREATE_ID_g_)
#define H5P_CLS_DATASET_CREATE_ID_g (*hdf5_table.H5P_CLS_DATASET_CREATE_ID_g_)

#endif

#endif
