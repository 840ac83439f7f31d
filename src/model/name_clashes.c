/* Names of one model that would be printed alike: x1, x_1, x[1] are all an x with a 1 below. Those that
 * are no elements of x are shown as they are written. Whoever reads x_1 in the equations finds it in
 * the model. Verified: test/unit/model/test_name_clashes.c
 */
#include "base/sort.h"
#include "model/model.h"

#include <string.h>

typedef struct pool {
    const hm_allocator *allocator;
    HMI_ARRAY(hmi_shown_name) names; /* one of each family of elements */
    bool failed;
} pool;

static size_t base_length(const char *name)
{
    return strcspn(name, "[");
}

static bool same_base(const char *x, const char *y)
{
    size_t length = base_length(x);
    return length == base_length(y) && memcmp(x, y, length) == 0;
}

static bool is_numbered(const char *name)
{
    return hmi_subscript_of(name) == HMI_SUBSCRIPT_NUMBER;
}

/* Of elements x[1], x[2] ... */
static bool is_family(const char *name)
{
    return hmi_subscript_of(name) == HMI_SUBSCRIPT_NONE && strchr(name, '[');
}

/* Elements of a family follow each other. */
static void add(pool *p, const char *name)
{
    size_t count = p->names.count;
    if (count && same_base(p->names.data[count - 1].name, name))
        return;
    if (!is_numbered(name) && !is_family(name))
        return;
    p->failed |= !hmi_array_push(p->allocator, &p->names, hmi_shown_name_of(name));
}

static int by_look(const void *x, const void *y)
{
    const hmi_shown_name *a = x, *b = y;
    int order = hmi_shown_order(a, b);
    return order ? order : strcmp(a->name, b->name);
}

/* Beside an x[...] every numbered x is meant, else those with the same number. */
static void mark(hm_model *model, pool *p)
{
    if (p->names.count == 0)
        return;
    const hmi_shown_name *names = p->names.data, *end = names + p->names.count;
    const hmi_shown_name *first = names; /* of those with one base: the family, if there is one */
    hmi_sort(p->names.data, p->names.count, sizeof *p->names.data, by_look);
    for (const hmi_shown_name *n = names; n < end && !p->failed; n++) {
        if (n > names && hmi_shown_base_order(n - 1, n) != 0)
            first = n;
        bool twin = (n > names && hmi_shown_order(n - 1, n) == 0) ||
                    (n + 1 < end && hmi_shown_order(n, n + 1) == 0);
        if (is_numbered(n->name) && (is_family(first->name) || twin))
            p->failed |= !hmi_array_push(p->allocator, &model->literal, n->name);
    }
    p->names.count = 0;
}

bool hmi_model_find_name_clashes(hm_model *m)
{
    pool p = {.allocator = &m->context->allocator};
    for (size_t i = 0; i < m->constraints.count; i++) /* below a lambda */
        add(&p, m->constraints.data[i].name);
    mark(m, &p);
    for (size_t i = 0; i < m->params.count; i++)
        add(&p, m->params.data[i].name);
    for (size_t i = 0; i < m->coords.count; i++)
        add(&p, m->coords.data[i].name);
    for (size_t i = 0; i < m->states.count; i++)
        add(&p, m->states.data[i].name);
    for (size_t i = 0; i < m->inputs.count; i++)
        add(&p, m->inputs.data[i].name);
    mark(m, &p);
    hmi_array_release(p.allocator, &p.names);
    return !p.failed;
}

bool hmi_model_is_literal(const hm_model *model, const char *name)
{
    for (size_t i = 0; i < model->literal.count; i++)
        if (same_base(model->literal.data[i], name))
            return true;
    return false;
}

void hmi_model_print_name(const hm_model *model, hmi_text *out, hmi_print_style style,
                          const char *name, int dots)
{
    (hmi_model_is_literal(model, name) ? hmi_print_literal_name : hmi_print_name)(out, style, name,
                                                                                  dots);
}
