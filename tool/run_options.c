/* Reads the options of runs. */
#include "run_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool read_method(const invocation *call, hm_run_options *options)
{
    const char *name = option_value(call, "--method");
    if (!name)
        return true;
    options->method = name;
    if (strcmp(name, "auto") == 0)
        return true;
    for (size_t i = 0; hm_method_name(i); i++)
        if (strcmp(hm_method_name(i), name) == 0)
            return true;
    say("hamel: unknown method '%s'; one of auto", name);
    for (size_t i = 0; hm_method_name(i); i++)
        if (strcmp(hm_method_name(i), "auto") != 0)
            say(", %s", hm_method_name(i));
    fputc('\n', stderr);
    return false;
}

/* project, none, baumgarte or baumgarte(a,b) */
static bool read_drift(const invocation *call, hm_run_options *options)
{
    const char *text = option_value(call, "--drift");
    double a, b;
    char rest;
    if (!text)
        return true;
    if (strcmp(text, "project") == 0 || strcmp(text, "none") == 0 ||
        strcmp(text, "baumgarte") == 0) {
        options->drift = text;
        return true;
    }
    if (sscanf(text, "baumgarte(%lf,%lf%c", &a, &b, &rest) == 3 && rest == ')') {
        options->drift = "baumgarte";
        options->drift_gain[0] = a;
        options->drift_gain[1] = b;
        return true;
    }
    usage_error("--drift is project, baumgarte, baumgarte(a,b) or none, not '%s'", text);
    return false;
}

static bool read_formulation(const invocation *call, hm_run_options *options)
{
    const char *name = option_value(call, "--formulation");
    if (!name || hm_formulation_find(name, &options->formulation))
        return true;
    usage_error("unknown formulation '%s'; one of auto, uk, gram, kkt, nullspace, gauss, "
                "singular, dirac",
                name);
    return false;
}

/* A whole number up to 10^18; 1e9 is one. */
static bool read_limit(const session *s, const invocation *call, const char *option, long *limit)
{
    double value = (double)*limit;
    if (!option_number(s, call, option, &value))
        return false;
    if (value >= 0 && value <= 1e18 && value == floor(value)) {
        *limit = (long)value;
        return true;
    }
    usage_error("%s needs a whole number (0: no limit), not '%s'", option,
                option_value(call, option));
    return false;
}

static bool read_limits(const session *s, const invocation *call, hm_run_options *options)
{
    return read_limit(s, call, "--max-steps", &options->most_steps) &&
           read_limit(s, call, "--max-rows", &options->most_rows) &&
           read_limit(s, call, "--max-events", &options->most_events);
}

static bool check_span(const hm_run_options *o)
{
    if (o->end > o->start)
        return true;
    usage_error("--to must be later than --from");
    return false;
}

/* Options on the command line take precedence over `simulate`. */
bool run_options_read(const session *s, const invocation *call, hm_run_options *options)
{
    return option_number(s, call, "--from", &options->start) &&
           option_number(s, call, "--to", &options->end) &&
           option_positive(s, call, "--every", &options->every) &&
           option_positive(s, call, "--rtol", &options->rtol) &&
           option_positive(s, call, "--atol", &options->atol) &&
           option_positive(s, call, "--step", &options->step) && read_method(call, options) &&
           read_drift(call, options) && read_formulation(call, options) &&
           read_limits(s, call, options) && check_span(options);
}
