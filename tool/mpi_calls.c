/* The table of MPI. */
#ifdef HAMEL_HAVE_MPI

#include "mpi_calls.h"

mpi_calls mpi_table;

static const char *const names[] = {
#define X(name) #name,
    MPI_FUNCTIONS(X) MPI_DATA(X)
#undef X
};

/* Open MPI loads parts of itself, which look for its symbols among those of the whole process. */
library mpi_library = {.file = HAMEL_MPI_FILE,
                       .names = names,
                       .table = (void **)&mpi_table,
                       .count = sizeof names / sizeof *names,
                       .global = true};

#else

typedef int mpi_is_not_part_of_this_build;

#endif
