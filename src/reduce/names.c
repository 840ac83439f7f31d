/* Symbols by name, in print and in files. */
#include "reduce/names.h"

#include <string.h>

/* Whether a name begins with the text; whole: whether it is the text. */
static bool matches(const char *name, const char *text, bool whole)
{
    return name && (whole ? strcmp(name, text) == 0 : strncmp(name, text, strlen(text)) == 0);
}

static bool any_matches(const hmi_reduce *r, const char *text, bool whole)
{
    const hm_model *model = r->model;
    bool found = false;
    for (size_t i = 0; i < model->params.count; i++)
        found |= matches(model->params.data[i].name, text, whole);
    for (size_t i = 0; i < model->coords.count; i++)
        found |= matches(model->coords.data[i].name, text, whole);
    for (size_t i = 0; i < model->states.count; i++)
        found |= matches(model->states.data[i].name, text, whole);
    for (size_t i = 0; i < model->inputs.count; i++)
        found |= matches(model->inputs.data[i].name, text, whole);
    for (size_t i = 0; i < model->outputs.count; i++)
        found |= matches(model->outputs.data[i].name, text, whole);
    for (size_t k = 0; k < r->k; k++)
        found |= matches(r->speed[k].name, text, whole);
    return found;
}

bool hmi_reduce_is_taken(const hmi_reduce *r, const char *name)
{
    return any_matches(r, name, true);
}

const char *hmi_reduce_part_prefix(const hmi_reduce *r)
{
    static const char *const prefixes[] = {"e", "h", "k", "w", "c", "s", "f", "part"};
    size_t last = sizeof prefixes / sizeof *prefixes - 1;
    for (size_t i = 0; i < last; i++)
        if (!any_matches(r, prefixes[i], false))
            return prefixes[i];
    return prefixes[last];
}

void hmi_reduce_file_name(hmi_reduce *r, const char *name, hmi_text *out)
{
    char plain[256];
    size_t length = 0;
    if (!strchr(name, '[')) {
        hmi_text_add(out, name);
        return;
    }
    for (; *name && length + 8 < sizeof plain; name++)
        if (*name != ']' && *name != ' ')
            plain[length++] = *name == '[' || *name == ',' ? '_' : *name == '-' ? 'm' : *name;
    plain[length] = '\0';
    while (length + 2 < sizeof plain && hmi_reduce_is_taken(r, plain)) {
        plain[length++] = '_';
        plain[length] = '\0';
    }
    hmi_text_add(out, plain);
}

static void add_name(void *user, hmi_symbol_kind kind, uint32_t index, hmi_text *out)
{
    const hmi_reduce_names *names = user;
    hmi_reduce *r = names->r;
    const char *own = NULL;
    if (kind == HMI_SYM_STATE && index >= r->nz)
        own = r->speed[index - r->nz].name;
    else if (kind == HMI_SYM_VELOCITY && index >= r->n)
        own = r->speed[index - r->n].name;
    if (own) {
        hmi_text_add(out, own);
        return;
    }
    if (kind == HMI_SYM_PARAM && index >= r->np) {
        hmi_text_add(out, hmi_reduce_name(r, "beta_"));
        kind = HMI_SYM_COORD;
        index = r->cyclic_index[index - r->np];
    }
    hmi_text text;
    hmi_namer namer = hmi_model_namer(r->model);
    hmi_text_init(&text, r->allocator);
    namer.name(namer.user, kind, index, &text);
    if (names->file)
        hmi_reduce_file_name(r, hmi_text_view(&text), out);
    else
        hmi_text_add(out, hmi_text_view(&text));
    out->failed |= text.failed;
    hmi_text_release(&text);
}

static bool is_literal(void *user, const char *name)
{
    const hmi_reduce_names *names = user;
    return hmi_model_is_literal(names->r->model, name);
}

hmi_namer hmi_reduce_namer(hmi_reduce_names *names)
{
    return (hmi_namer){add_name, names, is_literal};
}
