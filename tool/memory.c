/* One place for the command's memory: counts what the library takes and remembers failures. */
#include "memory.h"

#include <jansson.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* jansson's hooks have no user pointer, and a process has one memory. */
static struct {
    size_t limit;
    atomic_size_t used;
    atomic_bool failed, exceeded;
} state;

static void *noticed(void *block)
{
    if (!block)
        atomic_store(&state.failed, true);
    return block;
}

void *memory_new(size_t count, size_t size)
{
    return noticed(calloc(count ? count : 1, size));
}

char *memory_copy(const char *text)
{
    return noticed(strdup(text));
}

void *memory_resize(void *block, size_t size)
{
    return noticed(realloc(block, size));
}

static void *json_memory(size_t size)
{
    return noticed(malloc(size));
}

/* ---- for the library ---- */

static bool take(size_t less, size_t more)
{
    size_t used = atomic_fetch_add(&state.used, more - less) + more - less;
    if (more <= less || used <= state.limit)
        return true;
    atomic_fetch_sub(&state.used, more - less);
    atomic_store(&state.exceeded, true);
    return false;
}

static void *resize(void *user, void *block, size_t old_size, size_t new_size)
{
    hm_allocator plain = hm_allocator_default();
    (void)user;
    if (!take(old_size, new_size))
        return noticed(NULL);
    void *result = plain.resize(plain.user, block, old_size, new_size);
    if (new_size == 0)
        return NULL;
    if (!result)
        take(new_size, old_size);
    return noticed(result);
}

const hm_allocator *memory_allocator(void)
{
    static const hm_allocator allocator = {resize, NULL};
    return &allocator;
}

/* ---- limits ---- */

void memory_start(void)
{
    state.limit = hm_limits_default().memory;
    json_set_alloc_funcs(json_memory, free);
}

void memory_limit(size_t bytes)
{
    state.limit = bytes ? bytes : SIZE_MAX;
}

size_t memory_limit_now(void)
{
    return state.limit;
}

bool memory_read_size(const char *text, size_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    double value = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
    if (end == text || (*end && (!unit || (end[1] && strcmp(end + 1, "B") != 0))))
        return false;
    value = ldexp(value, unit ? 10 * (int)(unit - units + 1) : 0);
    if (!(value >= 0 && value < 9e15))
        return false;
    *bytes = (size_t)value;
    return true;
}

void memory_note_failure(void)
{
    atomic_store(&state.failed, true);
}

void memory_note_exceeded(void)
{
    atomic_store(&state.exceeded, true);
}

bool memory_failed(void)
{
    return atomic_load(&state.failed);
}

bool memory_exceeded(void)
{
    return atomic_load(&state.exceeded);
}

void memory_forget(void)
{
    atomic_store(&state.failed, false);
    atomic_store(&state.exceeded, false);
}
