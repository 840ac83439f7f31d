/* Options of a run: what is given, what the model's `simulate` says, else the defaults. */
#include "integrate/run/run.h"

#include <math.h>
#include <string.h>

hm_run_options hm_run_options_default(const hm_model *model)
{
    if (!model)
        return (hm_run_options){0};
    const hmi_simulate *run = &model->simulate;
    hm_run_options options = {
        .start = run->given ? run->start : 0,
        .end = run->given ? run->end : 10,
        .method = run->method ? run->method : "auto",
        .rtol = run->rtol > 0 ? run->rtol : 1e-9,
        .atol = run->atol > 0 ? run->atol : HMI_DEFAULT_ATOL,
        .step = run->step,
        .largest_step = INFINITY,
        .drift = run->drift ? run->drift : "project",
        .drift_gain = {5, 5},
        .formulation = HM_FORMULATION_AUTO,
        .keep_initial = model->keep_initial,
        .most_steps = HMI_MOST_STEPS_OF_RUN,
        .most_rows = HMI_MOST_ROWS_OF_RUN,
        .most_events = HMI_MOST_EVENTS_OF_RUN,
        .content = HM_FRAME_CONTENT_FORCES,
    };
    options.every = run->has_every ? run->every : HMI_DEFAULT_EVERY(options.start, options.end);
    if (run->drift && strcmp(run->drift, "baumgarte") == 0)
        memcpy(options.drift_gain, run->drift_gain, sizeof run->drift_gain);
    return options;
}

hm_status hmi_run_refuse(const hmi_run *run, const char *message, const char *word)
{
    hmi_error(run->sim->context, hmi_no_span, NULL, message, word);
    return HM_ERR_USAGE;
}

static hm_status read_drift(hmi_run *run)
{
    static const char *const names[] = {"project", "baumgarte", "none"};
    const char *wanted = run->options.drift ? run->options.drift : "project";
    for (int k = 0; k < 3; k++)
        if (strcmp(names[k], wanted) == 0) {
            run->drift = (hmi_drift)k;
            run->options.drift = names[k];
            if (run->options.keep_initial) {
                run->drift = HMI_DRIFT_NONE;
                run->options.drift = names[HMI_DRIFT_NONE];
            }
            return HM_OK;
        }
    return hmi_run_refuse(run, "unknown drift control '%s'; one of project, baumgarte, none",
                          wanted);
}

static void fill_in(hm_run_options *o, const hm_run_options *defaults)
{
    if (isnan(o->start))
        o->start = defaults->start;
    if (isnan(o->end))
        o->end = defaults->end;
    if (isnan(o->every) || o->every == 0)
        o->every = defaults->every;
    if (!o->method)
        o->method = defaults->method;
    if (!(o->rtol > 0))
        o->rtol = defaults->rtol;
    if (!(o->atol > 0))
        o->atol = defaults->atol;
    if (!(o->largest_step > 0))
        o->largest_step = INFINITY;
    if (!o->drift)
        o->drift = defaults->drift;
}

hm_status hmi_run_read_options(hmi_run *run, const hm_run_options *options)
{
    const hm_run_options defaults = hm_run_options_default(run->model);
    run->options = options ? *options : defaults;
    hm_status status = hmi_run_check_options(run->sim->context, &run->options);
    if (status != HM_OK)
        return status;
    fill_in(&run->options, &defaults);
    if (!(run->options.end >= run->options.start) || !(run->options.every > 0))
        return hmi_run_refuse(
            run,
            "the run must end after it starts, and the time between outputs must be positive%s",
            "");
    status = hmi_run_check_rows(run);
    if (status != HM_OK)
        return status;
    if (run->options.rtol < 2e-15)
        run->options.rtol = 2e-15;
    return read_drift(run);
}

const char *hm_run_status_text(hm_run_status status)
{
    static const char *const texts[] = {"ok", "event", "failed", "interrupted"};
    return (size_t)status < sizeof texts / sizeof *texts ? texts[status] : "unknown status";
}
