/* Ensembles: a pool of workers (ensemble.c), each with sims and a batch of its own (worker.c).
 *
 * Invariants
 *   1. A member's result depends on the system, its values and the options alone: not on the thread,
 *      the lane, or what ran there before.
 *   2. Workers share the system, which is const. Each has sims of its own, and these their own
 *      diagnostics.
 *   3. The machine code of batches is compiled once, by the worker that the calling thread runs: it
 *      outlives the others.
 *   4. The lock guards records, counts and the user's callbacks.
 */
#ifndef HMI_INTEGRATE_ENSEMBLE_ENSEMBLE_H
#define HMI_INTEGRATE_ENSEMBLE_ENSEMBLE_H

#include "integrate/ensemble/batch.h"

#include <hamel/ensemble.h>

#include <pthread.h>
#include <stdatomic.h>

typedef HMI_ARRAY(double) hmi_frame_rows;

/* The result of a member until its turn comes. */
typedef struct hmi_member_record {
    struct hmi_member_record *next; /* of spare ones */
    hm_member_result result;        /* q, v, z, outputs and message are in the same block */
    hmi_frame_rows rows;            /* frames: see hmi_pool_keep_frame */
    size_t bytes;                   /* of the block */
} hmi_member_record;

/* Variables that threads write often are on lines of their own. */
#define HMI_OWN_LINE _Alignas(64)

typedef struct hmi_pool {
    hm_context *context; /* of the caller; the first worker reports there, before others start */
    const hm_system *system;
    const hm_ensemble_members *members;
    hm_ensemble_options options;
    hm_ensemble_result *result;
    const hm_allocator *allocator; /* the system's */
    size_t reference;              /* the member that systems are compiled at; count: none starts */
    bool batched, sets_params;
    bool
        own_span; /* members have time spans of their own: it depends on parameters that they set */
    hmi_batch_code code; /* of all batches, from the run of the first worker */
    size_t n, states, outputs, row_size;
    HMI_OWN_LINE atomic_size_t next;
    HMI_OWN_LINE atomic_bool stop;
    HMI_OWN_LINE pthread_mutex_t lock; /* of all below */
    hmi_member_record **records;       /* NULL: not done, or given out */
    hmi_member_record *spare;          /* blocks for records without a message */
    size_t cursor, done, given;        /* given: told to the user */
    bool cancelled;                    /* a callback said stop: no call follows */
    hm_status status;
} hmi_pool;

/* The next members to run, from the result on up to *end; fewer as the end comes near, so that no
 * thread has much left when the others are done. */
size_t hmi_pool_take(hmi_pool *pool, size_t *end);
/* Takes the records (and their rows); results go out in order. Gives blocks back into *spare. false:
 * nothing of that, another thread is at it; unless `wait`. */
bool hmi_pool_deliver(hmi_pool *pool, hmi_member_record **records, size_t count, bool wait,
                      hmi_member_record **spare);
/* The user looks at what is done. */
void hmi_pool_poll(hmi_pool *pool);
void hmi_pool_fail(hmi_pool *pool, hm_status status);
/* A record with room for its arrays, where it can be from *spare; message is copied. NULL: no memory,
 * the pool has failed. */
hmi_member_record *hmi_pool_record(hmi_pool *pool, const hm_member_result *result,
                                   hmi_frame_rows *rows, hmi_member_record **spare);
void hmi_pool_release_spare(hmi_pool *pool, hmi_member_record *spare);
/* A frame as one row more; false: no memory. */
bool hmi_pool_keep_frame(hmi_pool *pool, hmi_frame_rows *rows, const hm_frame *frame);

/* So many results are delivered at a time; so many may wait while another thread delivers. */
enum { HMI_DELIVERY = 8, HMI_MOST_WAITING = 64 };

typedef struct hmi_worker {
    hmi_pool *pool;
    hm_sim *starter, *single; /* of the batch; for hm_sim_run, made when first needed */
    hmi_batch *batch;
    hmi_frame_rows rows[HMI_LANES + 1]; /* a lane each, and the single sim's */
    size_t slot;                        /* whose frames come */
    bool has_params[HMI_LANES];         /* parameters are on the lane */
    unsigned ticks;
    size_t next, end; /* members taken, not begun */
    hmi_member_record *done[HMI_MOST_WAITING], *spare;
    size_t done_count;
} hmi_worker;

/* Starts the starter with the pool's reference member; the batch where pool->batched. Release also
 * after a failure. */
hm_status hmi_worker_init(hmi_worker *worker, hmi_pool *pool);
/* Does the member start? HM_ERR_NOMEM, else whatever is wrong with it. */
hm_status hmi_worker_start(hmi_worker *worker, size_t member);
/* With the pool's code. */
hm_status hmi_worker_make_batch(hmi_worker *worker);
void hmi_worker_release(hmi_worker *worker);
/* Members until none is left. */
void hmi_worker_run(hmi_worker *worker);

#endif
