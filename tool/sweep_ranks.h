/* The processes of a sweep under mpirun (ranks), and the work they are dealt: pieces of what is to be done, larger
 * ones first, each to whoever asks next. Rank 0 deals, by a thread that sleeps most of the time, and works as well.
 * Alone, without mpirun, there is one process, and no MPI is loaded. */
#ifndef HAMEL_TOOL_SWEEP_RANKS_H
#define HAMEL_TOOL_SWEEP_RANKS_H

#include "sweep_parts.h"

#include <pthread.h>
#include <stdatomic.h>

struct ranks {
    int rank, size, local; /* local: of this machine */
    bool agreed;           /* ranks_agree was called */
};

/* Are we one of several processes of a launcher of MPI? Then MPI is started. An exit status; a message was printed
 * by rank 0 where it is not EXIT_DONE. */
int ranks_start(ranks *r, const invocation *call);
/* All get the word of rank 0. */
int ranks_agree(ranks *r, int code);
void ranks_end(ranks *r);
/* Ends the other processes: this one cannot go on, and they wait for it. */
void ranks_abort(const ranks *r);
/* Threads for this process: its share of the processors that it may use. */
unsigned ranks_jobs(const ranks *r);

/* How a rank's last piece went. */
typedef struct piece_report {
    size_t points;
    double seconds;
    bool leaves; /* it will not ask again, and its file is closed */
} piece_report;

typedef struct dealer {
    ranks *ranks;
    const point_range *left;
    size_t count, at;       /* ranges; the one that is being dealt */
    size_t next, remaining; /* its next point; points not dealt */
    atomic_size_t done;     /* points that were reported */
    atomic_bool stop;       /* nothing more is dealt */
    int working;            /* ranks that have not left, without this one */
    pthread_mutex_t lock;   /* of what is dealt */
    pthread_t thread;
    bool running;
} dealer;

/* On rank 0. An exit status. */
int dealer_start(dealer *d, ranks *r, const point_range *left, size_t count);
/* Waits until all ranks have left. */
void dealer_join(dealer *d);
/* The next piece of work, d NULL on other ranks than 0; false: there is none. */
bool dealer_next(dealer *d, const piece_report *last, point_range *piece);
/* Other ranks than 0, once, at their end. */
void dealer_leave(void);

#endif
