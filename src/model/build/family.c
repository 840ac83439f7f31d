/* Families: the bounds of their indices and the names of their members. */
#include "model/build/family.h"

#include <string.h>

size_t hmi_index_range(const hmi_family *family, uint32_t index)
{
    return (size_t)(family->bounds[index].upper - family->bounds[index].lower) + 1;
}

static bool check_bounds(hmi_builder *b, const hmi_entry *entry, size_t most,
                         const hmi_bounds *bounds, hmi_family *family)
{
    bool empty = bounds->upper < bounds->lower;
    size_t range = empty ? 0 : (size_t)(bounds->upper - bounds->lower) + 1;
    if (range && range <= most / family->count) {
        family->count *= range;
        return true;
    }
    hmi_error(b->context, entry->span, NULL,
              empty ? "'%s' has no members: it runs from %lld to %lld"
                    : "'%s' is too large: it runs from %lld to %lld",
              family->base, (long long)bounds->lower, (long long)bounds->upper);
    b->context->limit_exceeded |= !empty;
    return false;
}

bool hmi_build_family(hmi_builder *b, const hmi_entry *entry, size_t most, hmi_family *out)
{
    hmi_bounds *bounds = hmi_builder_alloc(b, entry->index_count * sizeof *bounds);
    *out = (hmi_family){.base = hmi_names_text(&b->tree->names, entry->target->name),
                        .bounds = bounds,
                        .index_count = entry->index_count,
                        .count = 1};
    if (!bounds)
        return false;
    for (uint32_t k = 0; k < entry->index_count; k++)
        if (!hmi_build_whole(b, entry->bounds[2 * k], NULL, "an index", &bounds[k].lower) ||
            !hmi_build_whole(b, entry->bounds[2 * k + 1], NULL, "an index", &bounds[k].upper) ||
            !check_bounds(b, entry, most, &bounds[k], out))
            return false;
    return true;
}

/* Writes a whole number backwards, ending before `end`; families are large, so without printf. */
static char *digits_before(char *end, int64_t index)
{
    uint64_t rest = index < 0 ? (uint64_t)-index : (uint64_t)index;
    do
        *--end = (char)('0' + rest % 10);
    while (rest /= 10);
    if (index < 0)
        *--end = '-';
    return end;
}

const char *hmi_member_name(hmi_builder *b, const hmi_family *family, size_t k)
{
    enum { MOST_DIGITS = 22 };
    size_t base = strlen(family->base), most = base + family->index_count * MOST_DIGITS + 2;
    char few[128], *buffer = most <= sizeof few ? few : hmi_builder_alloc(b, most);
    if (!buffer)
        return NULL;
    char *s = buffer + most;
    *--s = '\0';
    for (uint32_t i = family->index_count; i-- > 0; k /= hmi_index_range(family, i)) {
        *--s = i + 1 == family->index_count ? ']' : ',';
        s = digits_before(s, family->bounds[i].lower + (int64_t)(k % hmi_index_range(family, i)));
    }
    *--s = '[';
    s -= base;
    memcpy(s, family->base, base);
    size_t length = (size_t)(buffer + most - s);
    char *name = hmi_model_alloc(b, length);
    if (name)
        memcpy(name, s, length);
    return name;
}

bool hmi_declare_family(hmi_builder *b, const hmi_entry *entry, const hmi_family *family,
                        const char *what, hmi_symbol_kind kind, size_t first)
{
    hmi_binding *slot = hmi_declare(b, entry->target, what);
    if (!slot)
        return false;
    slot->kind = HMI_BIND_FAMILY;
    slot->bounds = family->bounds;
    slot->index_count = family->index_count;
    slot->symbol = kind;
    slot->first = (uint32_t)first;
    return true;
}
