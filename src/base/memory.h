/* Memory: one allocator callback, arenas for what lives and dies together, growable arrays.
 *
 * Invariants
 *   1. Every byte comes from the context's hm_allocator, so that a test can fail any allocation.
 *   2. A NULL return means no memory; nothing else is signalled by NULL.
 */
#ifndef HMI_BASE_MEMORY_H
#define HMI_BASE_MEMORY_H

#include <hamel/base.h>
#include <stdatomic.h>
#include <stdint.h>

void *hmi_alloc(const hm_allocator *allocator, size_t size);
void hmi_free(const hm_allocator *allocator, void *ptr, size_t size);

/* Objects that others need are shared: each of these holds a reference, and the object goes when its owner has
 * destroyed it and nobody needs it any more. So they may be destroyed in any order. Counts what is held beyond
 * the owner's: zeroed memory belongs to its owner alone. */
typedef atomic_size_t hmi_references;

static inline void hmi_share(const hmi_references *references)
{
    atomic_fetch_add_explicit((hmi_references *)references, 1, memory_order_relaxed);
}

/* Gives one up. true: it was the last one. */
static inline bool hmi_unshare(hmi_references *references)
{
    return atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 0;
}

/* An allocator that counts, and refuses what exceeds a limit. It remembers that something was refused, by
 * the limit or by the allocator that it asks, so that what follows from it is not blamed on anybody.
 * Threads may share it. */
typedef struct hmi_budget {
    hm_allocator inner;
    size_t limit; /* bytes */
    atomic_size_t used, peak;
    atomic_bool failed;   /* an allocation failed, */
    atomic_bool exceeded; /* because of the limit */
} hmi_budget;

void hmi_budget_init(hmi_budget *budget, const hm_allocator *inner, size_t limit);
/* The budget must outlive what is allocated. */
hm_allocator hmi_budget_allocator(hmi_budget *budget);

/* An arena hands out memory that is released all at once. */
typedef struct hmi_arena_block hmi_arena_block;
typedef struct hmi_arena {
    const hm_allocator *allocator;
    hmi_arena_block *blocks; /* newest first */
    size_t used;             /* bytes used of the newest block */
    size_t next_size;
} hmi_arena;

void hmi_arena_init(hmi_arena *arena, const hm_allocator *allocator);
void hmi_arena_release(hmi_arena *arena);
/* Zeroed memory, aligned for any type; NULL when there is none. */
void *hmi_arena_alloc(hmi_arena *arena, size_t size);
/* Zeroed doubles, at least one; *failed is set where there is no memory, and left alone else. */
double *hmi_arena_doubles(hmi_arena *arena, size_t count, bool *failed);
/* A copy of text[0..length) with a final NUL. */
char *hmi_arena_text(hmi_arena *arena, const char *text, size_t length);

/* A typed growable array:  HMI_ARRAY(int) xs = {0};  hmi_array_push(alloc, &xs, 3). */
#define HMI_ARRAY(type)                                                                            \
    struct {                                                                                       \
        type *data;                                                                                \
        size_t count, capacity;                                                                    \
    }

/* Makes room for `extra` more elements; false when there is no memory. */
#define hmi_array_reserve(allocator, array, extra)                                                 \
    ((size_t)(extra) <= (array)->capacity - (array)->count ||                                      \
     hmi_array_grow((allocator), (void **)&(array)->data, &(array)->capacity, (array)->count,      \
                    (extra), sizeof *(array)->data))

/* Appends; false when there is no memory. */
#define hmi_array_push(allocator, array, value)                                                    \
    (hmi_array_reserve((allocator), (array), 1)                                                    \
         ? ((array)->data[(array)->count++] = (value), true)                                       \
         : false)

#define hmi_array_release(allocator, array)                                                        \
    (hmi_free((allocator), (array)->data, (array)->capacity * sizeof *(array)->data),              \
     (array)->data = NULL, (array)->count = (array)->capacity = 0)

bool hmi_array_grow(const hm_allocator *allocator, void **data, size_t *capacity, size_t count,
                    size_t extra, size_t element_size);

#endif
