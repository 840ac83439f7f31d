/* Options of a run: what the model's `simulate` says, else the defaults. */
#include "integrate/driver.h"

#include <math.h>
#include <string.h>

hm_run_options hm_run_options_default(const hm_model *model)
{
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
        .formulation = HM_AUTO,
        .keep_initial = model->keep_initial,
        .content = HM_FRAME_FORCES,
    };
    options.every = run->has_every ? run->every : (options.end - options.start) / 200;
    if (run->drift && strcmp(run->drift, "baumgarte") == 0)
        memcpy(options.drift_gain, run->drift_gain, sizeof run->drift_gain);
    return options;
}

const char *hm_run_status_text(hm_run_status status)
{
    static const char *const texts[] = {"ok", "event", "failed", "interrupted"};
    return texts[status];
}
