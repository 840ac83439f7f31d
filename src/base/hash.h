/* One hash table for everything that is interned: from the hash of a thing to its number.
 *
 * The things themselves lie in an array of the caller's, which also knows when two of them are the
 * same. The table holds pairs (hash, number), so that it grows without asking the caller again.
 *
 * Invariants
 *   1. Open addressing with linear probing; at most half of the slots are taken.
 *   2. What is found does not depend on the order of insertion; nothing hashes a pointer.
 * Verified: test/unit/base/test_hash.c
 */
#ifndef HMI_BASE_HASH_H
#define HMI_BASE_HASH_H

#include "base/memory.h"

typedef struct hmi_hash_slot {
    uint32_t hash;
    uint32_t entry; /* the number + 1; 0: the slot is free */
} hmi_hash_slot;

typedef struct hmi_hash {
    const hm_allocator *allocator;
    hmi_hash_slot *slots;
    size_t size, count; /* size: of slots, a power of two or 0 */
} hmi_hash;

#define HMI_HASH_NONE UINT32_MAX

void hmi_hash_init(hmi_hash *table, const hm_allocator *allocator);
void hmi_hash_release(hmi_hash *table);
/* A copy with the same allocator. False without memory; `to` is then empty. */
bool hmi_hash_copy(hmi_hash *to, const hmi_hash *from);
/* Forgets all entries and keeps the memory. */
void hmi_hash_clear(hmi_hash *table);
/* Files a number under a hash; whether it is there already is not looked at. False: no memory. */
bool hmi_hash_add(hmi_hash *table, uint32_t hash, uint32_t number);

/* One step of a hash over several values; begin with any number. */
static inline uint64_t hmi_hash_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* The hash at the end, good in its low bits too: those of small whole numbers as doubles, whose own
 * low bits are all 0, would else be nearly equal. */
static inline uint32_t hmi_hash_fold(uint64_t hash)
{
    return (uint32_t)((hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

uint32_t hmi_hash_bytes(const void *bytes, size_t length);

/* Is the thing with this number the one that is looked for? */
typedef bool hmi_hash_same(const void *wanted, uint32_t number, const void *things);

/* The number of the thing that is the same as `wanted`, or HMI_HASH_NONE. Inline, so that `same`
 * is, too. */
static inline uint32_t hmi_hash_find(const hmi_hash *table, uint32_t hash, hmi_hash_same *same,
                                     const void *wanted, const void *things)
{
    if (table->size == 0)
        return HMI_HASH_NONE;
    size_t mask = table->size - 1;
    for (size_t i = hash & mask; table->slots[i].entry; i = (i + 1) & mask)
        if (table->slots[i].hash == hash && same(wanted, table->slots[i].entry - 1, things))
            return table->slots[i].entry - 1;
    return HMI_HASH_NONE;
}

#endif
