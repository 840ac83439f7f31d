/* --speeds "u1 = x'*cos(theta) + y'*sin(theta), theta'": the user's speeds. */
#include "reduce/reduce.h"

#include <ctype.h>
#include <string.h>

/* The end of an entry: a comma outside of brackets, or the end of the text. */
static const char *entry_end(const char *s)
{
    int depth = 0;
    for (; *s && (depth > 0 || *s != ','); s++)
        depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
    return s;
}

static void trim(const char **begin, const char **end)
{
    while (*begin < *end && isspace((unsigned char)**begin))
        (*begin)++;
    while (*begin < *end && isspace((unsigned char)(*end)[-1]))
        (*end)--;
}

static bool is_name(const char *begin, const char *end)
{
    if (begin == end || isdigit((unsigned char)*begin))
        return false;
    for (; begin < end; begin++)
        if (!isalnum((unsigned char)*begin) && *begin != '_' && (unsigned char)*begin < 0x80)
            return false;
    return true;
}

static bool is_taken(const hm_model *model, const char *name)
{
#define LOOK(array)                                                                                \
    for (size_t i = 0; i < model->array.count; i++)                                                \
        if (model->array.data[i].name && strcmp(model->array.data[i].name, name) == 0)             \
            return true;
    LOOK(params)
    LOOK(coords)
    LOOK(states)
    LOOK(inputs)
    LOOK(outputs)
    LOOK(named)
#undef LOOK
    return false;
}

static hm_status complain(hmi_reduce *r, const char *what, const char *begin, const char *end)
{
    hmi_error(r->context, hmi_no_span,
              "as in --speeds \"u1 = x'*cos(theta) + y'*sin(theta), theta'\"", "%s: '%.*s'", what,
              (int)(end - begin), begin);
    return HM_ERR_INPUT;
}

static hm_status read_entry(hmi_reduce *r, hm_model *model, const char *begin, const char *end)
{
    const char *equals = memchr(begin, '=', (size_t)(end - begin));
    const char *name = begin, *name_end = equals ? equals : begin,
               *text = equals ? equals + 1 : begin;
    trim(&name, &name_end);
    trim(&text, &end);
    if (text == end)
        return complain(r, "a speed is missing", begin, end);
    if (equals && !is_name(name, name_end))
        return complain(r, "not a name of a speed", name, name_end);
    hmi_speed *speed = &r->speed[r->k];
    *speed = (hmi_speed){.coordinate = HMI_NONE};
    if (equals)
        speed->name = hmi_reduce_name(r, "%.*s", (int)(name_end - name), name);
    if (speed->name && is_taken(model, speed->name))
        return complain(r, "the model uses this name already", name, name_end);
    for (size_t i = 0; speed->name && i < r->k; i++)
        if (r->speed[i].name && strcmp(r->speed[i].name, speed->name) == 0)
            return complain(r, "two speeds have the same name", name, name_end);
    hm_status status = hmi_model_read_expression(model, "--speeds", text, (size_t)(end - text),
                                                 &speed->form.rest);
    r->k += status == HM_OK;
    return status;
}

hm_status hmi_reduce_read_speeds(hmi_reduce *r, hm_model *model, const char *text)
{
    size_t most = model->coords.count;
    hm_status status = HM_OK;
    r->own_speeds = true;
    while (status == HM_OK && *text) {
        const char *end = entry_end(text);
        if (r->k == most)
            return complain(r, "more speeds than coordinates, from", text, end);
        status = read_entry(r, model, text, end);
        text = *end ? end + 1 : end;
    }
    return status;
}

/* x' alone is that velocity, under its own name or, where another was given, as a quasi-velocity. */
static void recognise(hmi_reduce *r, hmi_speed *speed, hmi_expr e)
{
    const hmi_node *node = hmi_node_at(&r->graph, e);
    if (node->op == HMI_SYMBOL && node->a == HMI_SYM_VELOCITY && !speed->name) {
        speed->coordinate = node->b;
        speed->name = hmi_reduce_name(r, "%s'", r->model->coords.data[node->b].name);
    }
}

hm_status hmi_reduce_take_speeds(hmi_reduce *r)
{
    for (size_t k = 0; k < r->k; k++) {
        hmi_speed *speed = &r->speed[k];
        hmi_expr e = speed->form.rest;
        recognise(r, speed, e);
        if (!speed->name)
            speed->name = hmi_reduce_name(r, "u%zu", k + 1);
        hm_status status = hmi_reduce_express(r, &e, 1);
        if (status != HM_OK)
            return status;
        const uint16_t known = HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_PARAM) |
                               HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY);
        if ((hmi_deps(&r->graph, e) & ~known) ||
            !hmi_reduce_linear(r, e, speed->name, &speed->form)) {
            status = hmi_reduce_status(r);
            if (status == HM_OK)
                hmi_error(r->context, hmi_no_span,
                          "a speed is a sum of velocities times functions of positions and time",
                          "the speed '%s' is not linear in the velocities", speed->name);
            return status == HM_OK ? HM_ERR_INPUT : status;
        }
    }
    return hmi_reduce_status(r);
}
