/* What is used of MPI, through a table (library.h): `hamel sweep` under mpirun. */
#ifndef HAMEL_TOOL_MPI_CALLS_H
#define HAMEL_TOOL_MPI_CALLS_H

#include "library.h"

#ifdef HAMEL_HAVE_MPI

#include <mpi.h>

/* clang-format off */
#define MPI_FUNCTIONS(X)                                                                         \
    X(MPI_Abort) X(MPI_Bcast) X(MPI_Comm_rank) X(MPI_Comm_size) X(MPI_Finalize)                  \
    X(MPI_Init_thread) X(MPI_Iprobe) X(MPI_Recv) X(MPI_Send)
#ifdef OPEN_MPI /* its constants are addresses; MPICH's are numbers */
#define MPI_DATA(X) X(ompi_mpi_byte) X(ompi_mpi_comm_world)
#else
#define MPI_DATA(X)
#endif
/* clang-format on */

/* Pointers alone, in the order of the lists. */
typedef struct mpi_calls {
#define X(name) __typeof__(name) *name##_;
    MPI_FUNCTIONS(X)
    MPI_DATA(X)
#undef X
} mpi_calls;

extern mpi_calls mpi_table;
extern library mpi_library;

#define MPI_Abort           (*mpi_table.MPI_Abort_)
#define MPI_Bcast           (*mpi_table.MPI_Bcast_)
#define MPI_Comm_rank       (*mpi_table.MPI_Comm_rank_)
#define MPI_Comm_size       (*mpi_table.MPI_Comm_size_)
#define MPI_Finalize        (*mpi_table.MPI_Finalize_)
#define MPI_Init_thread     (*mpi_table.MPI_Init_thread_)
#define MPI_Iprobe          (*mpi_table.MPI_Iprobe_)
#define MPI_Recv            (*mpi_table.MPI_Recv_)
#define MPI_Send            (*mpi_table.MPI_Send_)
#define ompi_mpi_byte       (*mpi_table.ompi_mpi_byte_)
#define ompi_mpi_comm_world (*mpi_table.ompi_mpi_comm_world_)

#endif

#endif
