/* Values of `let`: plain names, and members NAME[i, j] of families, which may be recurrences over 10^5
 * members in any order of writing.
 *
 * A `let` is evaluated when it is first used. Where definitions are nested deeply, going on would
 * cost the C stack. After NESTED levels, or half of the stack that was left, the evaluation stops and
 * names what has to come first (hmi_builder.postponed), everything unwinds to the outermost `let`,
 * which is suspended, and the postponed one is evaluated on the same level of the stack; afterwards
 * the suspended one starts again and finds it done. Each segment of levels is so evaluated twice at
 * most, and the cost stays linear.
 *
 * Every `let` remembers what it asked for last (`needs`). Following these from the outermost one
 * gives the chain of definitions that an error message names, and the circle where there is one.
 * Verified: test/unit/model/test_families.c
 */
#include "model/evaluate/builder.h"

#include <string.h>

enum { NESTED = 100, SHOWN_LINKS = 4, MOST_LINKS = 10000000 };

/* ---- the members of families ---- */

static uint32_t hash_member(const hmi_let *let)
{
    uint64_t hash = hmi_hash_mix((uint64_t)let->name, let->index_count);
    for (uint32_t k = 0; k < let->index_count; k++)
        hash = hmi_hash_mix(hash, (uint64_t)let->indices[k]);
    return hmi_hash_fold(hash);
}

static bool same_member(const void *wanted, uint32_t number, const void *members)
{
    const hmi_let *x = wanted, *y = ((hmi_let *const *)members)[number];
    return x->name == y->name && x->index_count == y->index_count &&
           memcmp(x->indices, y->indices, x->index_count * sizeof *x->indices) == 0;
}

static hmi_let *find_member(const hmi_builder *b, const hmi_let *wanted)
{
    uint32_t number = hmi_hash_find(&b->member_table, hash_member(wanted), same_member, wanted,
                                    b->members.data);
    return number == HMI_HASH_NONE ? NULL : b->members.data[number];
}

static void add_name(const hmi_builder *b, hmi_text *text, const hmi_let *let)
{
    hmi_text_add(text, hmi_names_text(&b->tree->names, let->name));
    for (uint32_t k = 0; k < let->index_count; k++)
        hmi_text_addf(text, "%s%lld", k ? "," : "[", (long long)let->indices[k]);
    hmi_text_add(text, let->index_count ? "]" : "");
}

static const char *kept_text(hmi_builder *b, hmi_text *text)
{
    const char *kept = text->failed ? NULL : hmi_context_printf(b->context, "%s", text->data);
    if (!kept)
        hmi_no_memory(b);
    hmi_text_release(text);
    return kept;
}

static const char *name_of(hmi_builder *b, const hmi_let *let)
{
    hmi_text text;
    hmi_text_init(&text, &b->context->allocator);
    add_name(b, &text, let);
    return kept_text(b, &text);
}

hmi_let *hmi_add_member(hmi_builder *b, hmi_let *let)
{
    const hmi_let *first = find_member(b, let);
    if (first) {
        int line, column;
        hmi_source_position(hmi_context_source(b->context, first->target->span.file),
                            first->target->span.start, &line, &column);
        const char *name = name_of(b, let);
        if (name)
            hmi_error(b->context, let->target->span, NULL, "'%s' is already defined on line %d",
                      name, line);
        return NULL;
    }
    if (hmi_array_push(&b->context->allocator, &b->members, let) &&
        hmi_hash_add(&b->member_table, hash_member(let), (uint32_t)b->members.count - 1))
        return let;
    hmi_no_memory(b);
    return NULL;
}

/* ---- chains of definitions ---- */

/* "a -> b -> ... -> y -> z": from `first` along what each one needs, up to `last`, and back to
 * `first` where it is a circle. */
static const char *chain_text(hmi_builder *b, const hmi_let *first, const hmi_let *last,
                              const char *end)
{
    hmi_text text;
    size_t count = 1;
    for (const hmi_let *let = first; let != last && let->needs && count < MOST_LINKS; count++)
        let = let->needs;
    hmi_text_init(&text, &b->context->allocator);
    const hmi_let *let = first;
    for (size_t k = 0; k < count; k++, let = let->needs) {
        if (k < SHOWN_LINKS || k + SHOWN_LINKS >= count) {
            add_name(b, &text, let);
            hmi_text_add(&text, " -> ");
        } else if (k == SHOWN_LINKS) {
            hmi_text_add(&text, "... -> ");
        }
    }
    hmi_text_add(&text, end);
    return kept_text(b, &text);
}

bool hmi_report_in_chain(hmi_builder *b, hmi_span at, const char *name, const char *problem,
                         const char *hint)
{
    const hmi_let *first = b->suspended.count ? b->suspended.data[0] : b->evaluating;
    const char *chain = first ? chain_text(b, first, b->evaluating, name) : NULL;
    if (b->context->out_of_memory)
        return false;
    if (chain)
        hmi_error(b->context, at, hint, "'%s' %s (%s)", name, problem, chain);
    else
        hmi_error(b->context, at, hint, "'%s' %s", name, problem);
    return false;
}

/* The `let` that is evaluated just now needs `let`, which waits for it. */
static bool report_circle(hmi_builder *b, const hmi_let *let, hmi_span at)
{
    const char *name = name_of(b, let);
    const char *chain = name ? chain_text(b, let, b->evaluating, name) : NULL;
    if (!chain)
        return false;
    if (b->evaluating == let)
        hmi_error(b->context, at, NULL, "'%s' is defined in terms of itself", name);
    else
        hmi_error(b->context, at, NULL, "'%s' is defined in terms of itself: %s", name, chain);
    return false;
}

/* ---- evaluation ---- */

static bool evaluate(hmi_builder *b, hmi_let *let)
{
    hmi_repeats outer = b->repeats;
    hmi_let *user = b->evaluating;
    b->repeats = (hmi_repeats){1, 1}; /* evaluated once, wherever it is used */
    b->evaluating = let;
    let->progress = HMI_LET_RUNNING;
    let->needs = NULL;
    bool good = hmi_build_value(b, let->body, let->scope, &let->value);
    let->progress = good ? HMI_LET_DONE : b->postponed ? HMI_LET_WAITING : HMI_LET_FAILED;
    b->evaluating = user;
    b->repeats = outer;
    return good;
}

/* The outermost `let`: evaluates it and what is postponed meanwhile, last things first. */
static bool evaluate_outermost(hmi_builder *b, hmi_let *first)
{
    bool good = hmi_array_push(&b->context->allocator, &b->suspended, first) || hmi_no_memory(b);
    int outer = b->let_depth;
    uintptr_t outer_floor = b->let_floor;
    b->let_depth = b->depth;
    b->let_floor = hmi_stack_middle(b->context->stack_floor);
    while (b->suspended.count) {
        hmi_let *let = b->suspended.data[b->suspended.count - 1];
        if (good)
            good = evaluate(b, let);
        else
            let->progress = HMI_LET_FAILED; /* it needs the one that failed */
        if (b->postponed) {
            hmi_let *next = b->postponed;
            b->postponed = NULL;
            let->progress = HMI_LET_RUNNING; /* so that circles are found */
            good = hmi_array_push(&b->context->allocator, &b->suspended, next) || hmi_no_memory(b);
            continue;
        }
        b->suspended.count--;
    }
    b->let_depth = outer;
    b->let_floor = outer_floor;
    return good;
}

bool hmi_force_let(hmi_builder *b, hmi_let *let, hmi_span at, hmi_value *out)
{
    let->used = true;
    if (let->progress == HMI_LET_DONE) {
        *out = let->value;
        return true;
    }
    if (b->evaluating)
        b->evaluating->needs = let;
    if (let->progress == HMI_LET_RUNNING)
        return report_circle(b, let, at);
    if (let->progress == HMI_LET_FAILED)
        return false;
    bool good = false;
    if (!b->evaluating)
        good = evaluate_outermost(b, let);
    else if (b->depth - b->let_depth <= NESTED && !hmi_stack_is_low(b->let_floor))
        good = evaluate(b, let);
    else
        b->postponed = let;
    *out = let->value;
    return good;
}

bool hmi_build_member(hmi_builder *b, const hmi_ast *e, uint32_t index_count,
                      const hmi_scope *scope, hmi_value *out)
{
    int64_t few[4], *indices = few;
    hmi_let wanted = {.name = e->items[0]->name, .index_count = e->count - 1};
    if (wanted.index_count != index_count) {
        const char *name = hmi_names_text(&b->tree->names, wanted.name);
        hmi_error(b->context, e->span,
                  wanted.index_count > index_count ? "write R[i][1,2] for an entry of a member"
                                                   : NULL,
                  "'%s' has members of %u ind%s, not %u", name, index_count,
                  index_count == 1 ? "ex" : "ices", wanted.index_count);
        return false;
    }
    if (index_count > 4 && !(indices = hmi_builder_alloc(b, index_count * sizeof *indices)))
        return false;
    for (uint32_t k = 0; k < index_count; k++)
        if (!hmi_build_whole(b, e->items[k + 1], scope, "an index", &indices[k]))
            return false;
    wanted.indices = indices;
    hmi_let *member = find_member(b, &wanted);
    if (member)
        return hmi_force_let(b, member, e->span, out);
    const char *name = name_of(b, &wanted);
    return name && hmi_report_in_chain(b, e->span, name, "is not defined", NULL);
}
