/* Results of calls of `let` functions by their arguments.
 *
 * A `let` is a pure function of its arguments, so that calling it again with the same ones gives the
 * same handles. Remembering them makes X(i) cost once whatever the number of its uses, and a tower
 * of definitions, f1(a) = f0(a) + f0(a), f2(a) = f1(a) + f1(a), ..., linear in its height.
 * The table starts empty when it has grown to MOST_RESULTS: it saves time, nothing depends on it.
 */
#include "model/builder.h"

#include <string.h>

enum { FIRST_CAPACITY = 64, MOST_RESULTS = 1 << 18, HASHED_COMPONENTS = 16 };

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_call(const hmi_let *let, const hmi_value *arguments)
{
    uint64_t hash = mix(let->number, let->target->count);
    for (uint32_t i = 0; i < let->target->count; i++) {
        size_t count = hmi_value_count(&arguments[i]);
        hash = mix(hash, (uint64_t)arguments[i].rank << 32 | arguments[i].rows);
        for (size_t k = 0; k < count && k < HASHED_COMPONENTS; k++)
            hash = mix(hash, hmi_value_item(&arguments[i], k));
    }
    return hash;
}

static bool same_value(const hmi_value *x, const hmi_value *y)
{
    if (!hmi_same_shape(x, y) || x->boolean != y->boolean || x->empty_sum != y->empty_sum ||
        x->rotation != y->rotation)
        return false;
    if (x->rank == 0)
        return x->scalar == y->scalar;
    return x->items == y->items ||
           memcmp(x->items, y->items, hmi_value_count(x) * sizeof *x->items) == 0;
}

static bool same_call(const hmi_memo_entry *entry, const hmi_let *let, const hmi_value *arguments)
{
    if (entry->let != let)
        return false;
    for (uint32_t i = 0; i < let->target->count; i++)
        if (!same_value(&entry->arguments[i], &arguments[i]))
            return false;
    return true;
}

/* The entry of a call, or the free one where it belongs. */
static hmi_memo_entry *slot_of(const hmi_memo *memo, const hmi_let *let, const hmi_value *arguments)
{
    size_t mask = memo->capacity - 1;
    for (size_t i = hash_call(let, arguments) & mask;; i = (i + 1) & mask)
        if (!memo->entries[i].let || same_call(&memo->entries[i], let, arguments))
            return &memo->entries[i];
}

const hmi_value *hmi_memo_find(const hmi_builder *b, const hmi_let *let, const hmi_value *arguments)
{
    if (!b->memo.capacity)
        return NULL;
    const hmi_memo_entry *entry = slot_of(&b->memo, let, arguments);
    return entry->let ? &entry->result : NULL;
}

static bool grow(hmi_builder *b)
{
    const hm_allocator *allocator = &b->context->allocator;
    hmi_memo old = b->memo, grown = {.capacity = old.capacity ? 2 * old.capacity : FIRST_CAPACITY};
    size_t size = grown.capacity * sizeof *grown.entries;
    grown.entries = hmi_alloc(allocator, size);
    if (!grown.entries)
        return hmi_no_memory(b);
    memset(grown.entries, 0, size);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.entries[i].let) {
            *slot_of(&grown, old.entries[i].let, old.entries[i].arguments) = old.entries[i];
            grown.count++;
        }
    hmi_free(allocator, old.entries, old.capacity * sizeof *old.entries);
    b->memo = grown;
    return true;
}

void hmi_memo_add(hmi_builder *b, const hmi_let *let, const hmi_value *arguments,
                  const hmi_value *result)
{
    if (b->memo.count >= MOST_RESULTS) {
        memset(b->memo.entries, 0, b->memo.capacity * sizeof *b->memo.entries);
        b->memo.count = 0;
    }
    if (2 * (b->memo.count + 1) > b->memo.capacity && !grow(b))
        return;
    size_t size = let->target->count * sizeof *arguments;
    hmi_value *kept = hmi_builder_alloc(b, size ? size : 1);
    if (!kept)
        return;
    if (size)
        memcpy(kept, arguments, size);
    *slot_of(&b->memo, let, arguments) = (hmi_memo_entry){let, kept, *result};
    b->memo.count++;
}
