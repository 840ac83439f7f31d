/* Results of calls of `let` functions by their arguments.
 *
 * A `let` is a pure function of its arguments, so that calling it again with the same ones gives the
 * same handles. Remembering them makes X(i) cost once whatever the number of its uses, and a tower
 * of definitions, f1(a) = f0(a) + f0(a), f2(a) = f1(a) + f1(a), ..., linear in its height.
 * The table starts empty when it has grown to MOST_RESULTS: it saves time, nothing depends on it.
 */
#include "model/evaluate/builder.h"

#include <string.h>

enum { MOST_RESULTS = 1 << 18, HASHED_COMPONENTS = 16 };

static uint32_t hash_call(const hmi_let *let, const hmi_value *arguments)
{
    uint64_t hash = hmi_hash_mix(let->number, let->target->count);
    for (uint32_t i = 0; i < let->target->count; i++) {
        size_t count = hmi_value_count(&arguments[i]);
        hash = hmi_hash_mix(hash, (uint64_t)arguments[i].rank << 32 | arguments[i].rows);
        for (size_t k = 0; k < count && k < HASHED_COMPONENTS; k++)
            hash = hmi_hash_mix(hash, hmi_value_item(&arguments[i], k));
    }
    return hmi_hash_fold(hash);
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

static bool same_call(const void *wanted, uint32_t number, const void *entries)
{
    const hmi_memo_entry *call = wanted, *known = (const hmi_memo_entry *)entries + number;
    if (known->let != call->let)
        return false;
    for (uint32_t i = 0; i < call->let->target->count; i++)
        if (!same_value(&known->arguments[i], &call->arguments[i]))
            return false;
    return true;
}

const hmi_value *hmi_memo_find(const hmi_builder *b, const hmi_let *let, const hmi_value *arguments)
{
    const hmi_memo_entry call = {.let = let, .arguments = arguments};
    uint32_t number = hmi_hash_find(&b->memo.table, hash_call(let, arguments), same_call, &call,
                                    b->memo.entries.data);
    return number == HMI_HASH_NONE ? NULL : &b->memo.entries.data[number].result;
}

void hmi_memo_add(hmi_builder *b, const hmi_let *let, const hmi_value *arguments,
                  const hmi_value *result)
{
    hmi_memo *memo = &b->memo;
    if (memo->entries.count >= MOST_RESULTS) {
        hmi_hash_clear(&memo->table);
        memo->entries.count = 0;
    }
    size_t size = let->target->count * sizeof *arguments;
    hmi_value *kept = hmi_builder_alloc(b, size ? size : 1);
    if (!kept)
        return;
    if (size)
        memcpy(kept, arguments, size);
    const hmi_memo_entry entry = {let, kept, *result};
    if (!hmi_array_push(&b->context->allocator, &memo->entries, entry) ||
        !hmi_hash_add(&memo->table, hash_call(let, arguments), (uint32_t)memo->entries.count - 1))
        hmi_no_memory(b);
}
