/* Numbers that options give: `--to 10`, and `--to '2*pi'`. */
#include "command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An expression of parameters, such as 2*pi; NaN where it is none. */
static double evaluate_text(const session *s, const char *text)
{
    double number = NAN;
    size_t size = strlen(text) + 8;
    char *statement = memory_new(1, size);
    if (statement && !strpbrk(text, ",=;#")) {
        snprintf(statement, size, "t = %s", text);
        if (hm_model_read_state(s->context, s->model, statement, &number, NULL, NULL, NULL, NULL,
                                NULL) != HM_OK)
            number = NAN;
        hm_context_clear(s->context); /* the caller says it better */
    }
    free(statement);
    return number;
}

bool option_number(const session *s, const invocation *call, const char *option, double *value)
{
    const char *text = option_value(call, option);
    if (!text)
        return true;
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0')
        number = evaluate_text(s, text);
    if (isfinite(number)) {
        *value = number;
        return true;
    }
    usage_error("%s needs a number, not '%s'", option, text);
    return false;
}

bool option_positive(const session *s, const invocation *call, const char *option, double *value)
{
    if (!option_number(s, call, option, value))
        return false;
    if (!option_value(call, option) || *value > 0)
        return true;
    usage_error("%s must be positive", option);
    return false;
}
