/* What a run may be asked for, and how much of it: options that make no sense are refused before anything
 * happens; steps, rows and events are counted, and a run that exceeds a limit ends with a sentence.
 * Verified: test/fault/test_run_limits.c
 */
#include "integrate/run/run.h"

#include <math.h>

/* ---- options that make no sense ---- */

static hm_status refuse(hm_context *context, const char *message, const char *word)
{
    hmi_error(context, hmi_no_span, NULL, message, word);
    return HM_ERR_USAGE;
}

static bool is_length(double value)
{
    return value >= 0 && isfinite(value);
}

static hm_status check_numbers(hm_context *context, const hm_run_options *o)
{
    if (isinf(o->start) || (isinf(o->end) && o->end < 0))
        return refuse(context, "the start%s of a run must be finite", " and the end");
    if (!is_length(o->rtol) || !is_length(o->atol))
        return refuse(context, "%s must be positive numbers (0: the default)", "rtol and atol");
    if (!is_length(o->step))
        return refuse(context, "%s must be a positive number (0: chosen)", "the step");
    if (!(o->largest_step >= 0))
        return refuse(context, "%s must be positive (0: no bound)", "the largest step");
    if (o->every < 0)
        return refuse(context, "%s must be positive", "the time between outputs");
    if (!isfinite(o->drift_gain[0]) || !isfinite(o->drift_gain[1]))
        return refuse(context, "the %s of Baumgarte's method must be finite", "gains");
    return HM_OK;
}

hm_status hmi_run_check_options(hm_context *context, const hm_run_options *o)
{
    hm_status status = check_numbers(context, o);
    if (status != HM_OK)
        return status;
    if ((unsigned)o->formulation > HM_FORMULATION_DIRAC)
        return refuse(context, "there is no such %s", "formulation");
    if (o->content & ~(unsigned)HM_FRAME_CONTENT_ALL)
        return refuse(context, "there is no such %s", "content of frames");
    if (o->most_steps < 0 || o->most_rows < 0 || o->most_events < 0)
        return refuse(context, "limits of %s are not negative (0: no limit)",
                      "steps, rows and events");
    return HM_OK;
}

/* ---- what would be too much, before it begins ---- */

hm_status hmi_run_check_rows(const hmi_run *run)
{
    const hm_run_options *o = &run->options;
    double rows = (o->end - o->start) / o->every;
    if (!o->most_rows || !isfinite(o->end) ||
        rows <= (double)o->most_rows) /* who steps himself has no end */
        return HM_OK;
    hmi_error(run->sim->context, hmi_no_span,
              "a longer `every`, or another limit: --max-rows, hm_run_options.most_rows",
              "there would be %.3g output times, more than %ld: `every` is too small", rows,
              o->most_rows);
    return HM_ERR_USAGE;
}

hm_status hmi_run_check_pace(const hmi_run *run)
{
    const hm_run_options *o = &run->options;
    double h = fmin(run->s.method->fixed_step ? o->step : INFINITY, o->largest_step);
    double steps = (o->end - o->start) / h;
    if (!o->most_steps || !isfinite(o->end) || !(steps > (double)o->most_steps))
        return HM_OK;
    hmi_error(run->sim->context, hmi_no_span,
              "a longer step, or another limit: --max-steps, hm_run_options.most_steps",
              "steps of %.3g would need %.3g of them to the end, more than %ld", h, steps,
              o->most_steps);
    return HM_ERR_LIMIT;
}

/* ---- on the way ---- */

/* Steps that do not move t, one after the other: some are an event at the same time. */
enum { MOST_STALLED = 200 };

hm_status hmi_run_watch_time(hmi_run *run, double before)
{
    run->stalled = run->s.t == before ? run->stalled + 1 : 0;
    if (run->stalled <= MOST_STALLED)
        return HM_OK;
    run->s.trouble = "steps no longer move t: they are shorter than its last digit";
    return HM_ERR_NUMERIC;
}

static hm_status exceed(hmi_run *run, const char *what, long most)
{
    hmi_messages_fail(&run->recorder.messages,
                      "stopped at t = %.12g after %ld %s, the limit (--max-%s)", run->s.t, most,
                      what, what);
    return HM_ERR_LIMIT;
}

hm_status hmi_run_watch_limits(hmi_run *run)
{
    const hm_run_options *o = &run->options;
    const hmi_recorder *r = &run->recorder;
    size_t events = r->events.count + r->events_dropped + run->contact.impacts.count +
                    run->contact.impacts_dropped;
    if (o->most_steps && run->s.steps >= o->most_steps)
        return exceed(run, "steps", o->most_steps);
    if (o->most_events && events > (size_t)o->most_events)
        return exceed(run, "events", o->most_events);
    return HM_OK;
}
