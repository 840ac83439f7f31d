/* Warnings and failures of a run, in words. See driver.h. */
#include "integrate/run/driver.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char lost[] = "a warning was lost: out of memory";
static const char more[] = "there were more warnings; these are the first";

static bool is_known(const hmi_driver *d, const char *text)
{
    for (size_t i = 0; i < d->warning_count; i++)
        if (strcmp(d->warnings[i], text) == 0)
            return true;
    return false;
}

void hmi_driver_warn(hmi_driver *d, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (is_known(d, text) || d->warning_count > HMI_MOST_WARNINGS)
        return;
    const char *kept = d->warning_count == HMI_MOST_WARNINGS
                           ? more
                           : hmi_arena_text(&d->arena, text, strlen(text));
    if (kept || !is_known(d, lost))
        d->warnings[d->warning_count++] = kept ? kept : lost;
}

void hmi_driver_fail(hmi_driver *d, const char *format, ...)
{
    va_list args;
    if (d->status == HM_RUN_FAILED)
        return;
    d->status = HM_RUN_FAILED;
    d->message.length = 0; /* a `stop` event that the program stepped past */
    va_start(args, format);
    hmi_text_addv(&d->message, format, args);
    va_end(args);
}

hm_status hmi_driver_refuse(const hmi_driver *d, const char *message, const char *word)
{
    hmi_error(d->sim->context, hmi_no_span, NULL, message, word);
    return HM_ERR_USAGE;
}

/* ---- failures in words ---- */

/* The component of y that grows fastest relative to its size, as a name; NULL where none is large. */
static const char *fastest(const hmi_driver *d, char *text, size_t size)
{
    size_t n = d->ode.n, worst = 0;
    double most = -1;
    for (size_t i = 0; i < d->ode.size && d->s.f_valid; i++) {
        double rate = fabs(d->s.f[i]) / (1e-300 + fabs(d->s.y[i]));
        if (fabs(d->s.y[i]) > 1e6 && rate > most) {
            most = rate;
            worst = i;
        }
    }
    if (most < 0)
        return NULL;
    const char *name = worst < 2 * n ? d->model->coords.data[worst % n].name
                                     : d->model->states.data[worst - 2 * n].name;
    snprintf(text, size, "%s%s = %.6g", name, worst >= n && worst < 2 * n ? "'" : "",
             d->s.y[worst]);
    return text;
}

/* No step right after several events: they have come too near to each other. */
static bool events_accumulate(const hmi_driver *d)
{
    long count = d->event_total;
    double span = fmax(d->options.end - d->t_begin, fabs(d->s.t));
    return count >= HMI_QUICK && d->s.t - d->recent[(count - 1) % HMI_CHATTER] < 1e-12 * span &&
           d->s.t - d->recent[(count - HMI_QUICK) % HMI_CHATTER] < 1e-6 * span;
}

void hmi_driver_explain(hmi_driver *d, hm_status status)
{
    char text[256];
    if (events_accumulate(d)) {
        hmi_driver_fail(d, "stopped at t = %.12g: events repeat ever faster (Zeno)", d->s.t);
        return;
    }
    const char *trouble = d->s.trouble ? d->s.trouble : "no further step can be taken";
    if (status == HM_ERR_NUMERIC) {
        const char *what = fastest(d, text, sizeof text);
        if (what)
            hmi_driver_fail(d, "stopped at t = %.12g: the motion grows without bound: %s", d->s.t,
                            what);
        else
            hmi_driver_fail(d, "stopped at t = %.12g: %s", d->s.t, trouble);
    } else {
        hmi_driver_fail(d, "stopped at t = %.12g: %s; %s", d->s.t, trouble, hm_status_text(status));
    }
}
