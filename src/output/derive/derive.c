/* hm_system_derive: prepares the expressions and writes them in one of the formats. */
#include "base/argument.h"
#include "output/derive/derivation.h"

#include <string.h>

/* Would the name clash with prefix1, prefix2, ... however it is written? */
static bool looks_numbered(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0)
        return false;
    char next = name[length + (name[length] == '_')];
    return next == '[' || (next >= '0' && next <= '9');
}

static bool prefix_is_free(const hm_model *model, const char *prefix)
{
    for (size_t i = 0; i < model->params.count; i++)
        if (looks_numbered(model->params.data[i].name, prefix))
            return false;
    for (size_t i = 0; i < model->coords.count; i++)
        if (looks_numbered(model->coords.data[i].name, prefix))
            return false;
    for (size_t i = 0; i < model->states.count; i++)
        if (looks_numbered(model->states.data[i].name, prefix))
            return false;
    for (size_t i = 0; i < model->inputs.count; i++)
        if (looks_numbered(model->inputs.data[i].name, prefix))
            return false;
    return true;
}

/* A letter for named parts that no symbol of the model is numbered by. */
static const char *choose_prefix(const hm_model *model)
{
    static const char *const prefixes[] = {"e", "h", "k", "w", "c", "s", "f", "part"};
    size_t last = sizeof prefixes / sizeof *prefixes - 1;
    for (size_t i = 0; i < last; i++)
        if (prefix_is_free(model, prefixes[i]))
            return prefixes[i];
    return prefixes[last];
}

static hm_status write_format(hmi_report *report, hm_format format)
{
    switch (format) {
    case HM_FORMAT_TEXT:
        hmi_report_text(report);
        break;
    case HM_FORMAT_LATEX:
        hmi_report_latex(report);
        break;
    case HM_FORMAT_JSON:
        hmi_report_json(report);
        break;
    case HM_FORMAT_C:
        hmi_report_c(report);
        break;
    }
    if (report->status == HM_OK)
        report->status = hmi_derivation_status(report->view);
    hmi_report_flush(report);
    return report->status;
}

/* Which rows hold and what friction does is decided along a run: no function of the state says it. */
static hm_status refuse_contacts(const hm_model *model)
{
    const char *name = model->frictions.count ? model->frictions.data[0].name : NULL;
    for (size_t i = 0; !name; i++)
        if (model->constraints.data[i].one_sided || model->constraints.data[i].when != HMI_NONE)
            name = model->constraints.data[i].name;
    hmi_error(model->context, hmi_no_span,
              "--format text, latex and json show the equations while all rows hold",
              "C code is not written for one-sided constraints, `when` and `friction`: '%s'", name);
    return HM_ERR_USAGE;
}

/* Code evaluates what the model says at any state, on the constraints or off them. */
static hm_status refuse_code(const hm_model *model)
{
    hmi_error(model->context, hmi_no_span, "--format text, latex and json show them",
              "C code is not written for forms that hold on the constraints only");
    return HM_ERR_USAGE;
}

/* Shorter forms that the comparison did not confirm are left out, and that is said. */
static void warn_unproved(const hmi_derivation_view *view)
{
    if (view->on && view->on->unproved && !view->on->refusal)
        hmi_warning(view->model->context, hmi_no_span, NULL,
                    "%zu forms on the constraints could not be confirmed, and are left as they are",
                    view->on->unproved);
}

hm_derive_options hm_derive_options_default(void)
{
    return (hm_derive_options){.on_constraints = false};
}

hm_status hm_system_derive(const hm_system *system, hm_format format, hm_writer writer, void *user)
{
    return hm_system_derive_with(system, format, NULL, writer, user);
}

hm_status hm_system_derive_with(const hm_system *system, hm_format format,
                                const hm_derive_options *options, hm_writer writer, void *user)
{
    hm_derive_options chosen = options ? *options : hm_derive_options_default();
    HMI_ARGUMENT(system ? system->model->context : NULL,
                 system && writer && (unsigned)format <= HM_FORMAT_C,
                 "a writer and a format that exists are needed");
    hmi_derivation_view view;
    if (format == HM_FORMAT_C && system->model->has_contacts)
        return refuse_contacts(system->model);
    if (format == HM_FORMAT_C && chosen.on_constraints)
        return refuse_code(system->model);
    hm_status status = hmi_derivation_prepare(&view, system);
    if (status == HM_OK && chosen.on_constraints)
        status = hmi_derivation_on_constraints(&view);
    if (status == HM_OK) {
        hmi_report report = {.view = &view,
                             .writer = writer,
                             .user = user,
                             .status = HM_OK,
                             .plain = view.n <= HMI_PLAIN_MOST_COORDS};
        hmi_text_init(&report.text, system->allocator);
        hmi_shared_init(&report.shared, system->allocator, choose_prefix(system->model));
        report.print.namer = hmi_model_namer(system->model);
        report.print.style = format == HM_FORMAT_TEXT    ? HMI_PRINT_TEXT
                             : format == HM_FORMAT_LATEX ? HMI_PRINT_LATEX
                                                         : HMI_PRINT_PLAIN;
        status = write_format(&report, format);
        warn_unproved(&view);
        hmi_shared_release(&report.shared);
        hmi_text_release(&report.text);
    }
    hmi_derivation_release(&view);
    return status;
}
