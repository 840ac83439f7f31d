/* The table of HDF5. */
#ifdef HAMEL_HAVE_HDF5

#include "hdf5_calls.h"

hdf5_calls hdf5_table;

static const char *const names[] = {
#define X(name) #name,
    HDF5_FUNCTIONS(X) HDF5_DATA(X)
#undef X
};

library hdf5_library = {.file = HAMEL_HDF5_FILE,
                        .names = names,
                        .table = (void **)&hdf5_table,
                        .count = sizeof names / sizeof *names};

#else

typedef int hdf5_is_not_part_of_this_build;

#endif
