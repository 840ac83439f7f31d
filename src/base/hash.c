/* The hash table's memory: growing and filing. Finding is inline in hash.h. */
#include "base/hash.h"

#include <string.h>

enum { FIRST_SIZE = 64 };

void hmi_hash_init(hmi_hash *table, const hm_allocator *allocator)
{
    *table = (hmi_hash){.allocator = allocator};
}

void hmi_hash_release(hmi_hash *table)
{
    if (table->slots)
        hmi_free(table->allocator, table->slots, table->size * sizeof *table->slots);
    *table = (hmi_hash){.allocator = table->allocator};
}

bool hmi_hash_copy(hmi_hash *to, const hmi_hash *from)
{
    size_t bytes = from->size * sizeof *from->slots;
    hmi_hash_init(to, from->allocator);
    if (!bytes)
        return true;
    to->slots = hmi_alloc(from->allocator, bytes);
    if (!to->slots)
        return false;
    memcpy(to->slots, from->slots, bytes);
    to->size = from->size;
    to->count = from->count;
    return true;
}

void hmi_hash_clear(hmi_hash *table)
{
    if (table->slots)
        memset(table->slots, 0, table->size * sizeof *table->slots);
    table->count = 0;
}

static void file(hmi_hash *table, hmi_hash_slot slot)
{
    size_t mask = table->size - 1, i = slot.hash & mask;
    while (table->slots[i].entry)
        i = (i + 1) & mask;
    table->slots[i] = slot;
    table->count++;
}

static bool grow(hmi_hash *table)
{
    hmi_hash old = *table;
    size_t size = old.size ? 2 * old.size : FIRST_SIZE;
    hmi_hash_slot *slots = hmi_alloc(old.allocator, size * sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0, size * sizeof *slots);
    *table = (hmi_hash){.allocator = old.allocator, .slots = slots, .size = size};
    for (size_t i = 0; i < old.size; i++)
        if (old.slots[i].entry)
            file(table, old.slots[i]);
    hmi_hash_release(&old);
    return true;
}

bool hmi_hash_add(hmi_hash *table, uint32_t hash, uint32_t number)
{
    if (2 * (table->count + 1) > table->size && !grow(table))
        return false;
    file(table, (hmi_hash_slot){hash, number + 1});
    return true;
}

uint32_t hmi_hash_bytes(const void *bytes, size_t length)
{
    const unsigned char *byte = bytes;
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ byte[i]) * 16777619u;
    return hash;
}
