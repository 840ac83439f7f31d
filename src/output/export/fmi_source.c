/* The C source of a unit: exported C, what an instance needs of the model, the functions of the standard. */
#include "output/export/c_code.h"
#include "output/export/fmi.h"
#include "output/export/templates.h"

static void write_param_access(hmi_export *x)
{
    hmi_text_addf(
        &x->text,
        "static double *%s_param_at(%s_params *p, int i)\n{\n    switch (i) {\n    default:\n",
        x->name, x->name);
    for (size_t i = 0; i < x->model->params.count; i++)
        hmi_text_addf(&x->text, "    case %zu: return &p->%s;\n", i, x->params[i]);
    if (x->model->params.count == 0)
        hmi_text_add(&x->text, "        return &p->none;\n");
    hmi_text_add(&x->text, "    }\n}\n\n");
}

typedef bool event_property(const hmi_event *event);

static bool rises(const hmi_event *event)
{
    return event->direction != HMI_EVENT_FALLING;
}
static bool falls(const hmi_event *event)
{
    return event->direction != HMI_EVENT_RISING;
}
static bool stops(const hmi_event *event)
{
    return event->action == HMI_EVENT_STOP;
}
static bool sets(const hmi_event *event)
{
    return event->action == HMI_EVENT_SET;
}

static void write_event_table(hmi_export *x, const char *name, event_property *has)
{
    hmi_text_addf(&x->text, "static const unsigned char %s_event_%s[] = {", x->name, name);
    for (size_t i = 0; i < x->events; i++)
        hmi_text_addf(&x->text, "%d, ", has(&x->model->events.data[i]));
    hmi_text_add(&x->text, "0};\n");
}

/* Where a component of `set` is in y. */
static size_t place_of(const hmi_export *x, const hmi_component *c)
{
    return c->kind == HMI_SYM_COORD      ? c->index
           : c->kind == HMI_SYM_VELOCITY ? x->n + c->index
                                         : 2 * x->n + c->index;
}

static void write_event(hmi_export *x, size_t k)
{
    const hmi_event *event = &x->model->events.data[k];
    if (event->set_count == 0)
        return;
    hmi_text_addf(&x->text, "    if (event == %zu) {\n    double set[%zu];\n    int j;\n", k,
                  event->set_count);
    hmi_text_addf(&x->text, "    static const int place[] = {");
    for (size_t i = 0; i < event->set_count; i++)
        hmi_text_addf(&x->text, "%s%zu", i ? ", " : "", place_of(x, &event->set[i]));
    hmi_text_add(&x->text, "};\n");
    hmi_c_values(x, "set", event->set, event->set_count);
    hmi_text_addf(&x->text, "    for (j = 0; j < %zu; j++)\n        y[place[j]] = set[j];\n    }\n",
                  event->set_count);
}

static void write_events(hmi_export *x)
{
    write_event_table(x, "rising", rises);
    write_event_table(x, "falling", falls);
    write_event_table(x, "stops", stops);
    write_event_table(x, "sets", sets);
    hmi_text_addf(&x->text,
                  "\n/* What an event sets, from the state before it. */\n"
                  "static void %s_apply_event(const %s_params *p, double t, double *y, int event, "
                  "%s_work *w)\n{\n"
                  "    const double *q = y, *v = y + %s_COORDINATES, *z = y + 2 * %s_COORDINATES;\n"
                  "    (void)p, (void)t, (void)q, (void)v, (void)z, (void)event, (void)w;\n",
                  x->name, x->name, x->name, x->capitals, x->capitals);
    for (size_t k = 0; k < x->events; k++)
        write_event(x, k);
    hmi_text_add(&x->text, "}\n\n");
}

void hmi_export_fmi_source(hmi_export *x, int version)
{
    char token[40];
    hmi_fmi_token(x, token);
    hmi_export_c_source(x);
    hmi_text_addf(&x->text,
                  "\n#define %s_PARAMS %zu\n#define %s_GUID \"%s\"\n#define %s_DRIFT 1e-9\n\n",
                  x->capitals, x->model->params.count, x->capitals, token, x->capitals);
    write_param_access(x);
    write_events(x);
    hmi_export_template(x, hmi_template_fmi_instance, hmi_template_fmi_instance_length);
    hmi_text_add(&x->text, "\n");
    if (version == 2)
        hmi_export_template(x, hmi_template_fmi2, hmi_template_fmi2_length);
    else
        hmi_export_template(x, hmi_template_fmi3, hmi_template_fmi3_length);
}
