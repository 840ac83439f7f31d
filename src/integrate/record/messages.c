/* Keeps warnings and the reason for the end of a run in the memory of the run. */
#include "integrate/record/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char lost[] = "a warning was lost: out of memory";
static const char more[] = "there were more warnings; these are the first";

void hmi_messages_init(hmi_messages *m, hmi_arena *arena)
{
    *m = (hmi_messages){.arena = arena};
    hmi_text_init(&m->text, arena->allocator);
}

void hmi_messages_release(hmi_messages *m)
{
    hmi_text_release(&m->text);
}

static bool is_known(const hmi_messages *m, const char *text)
{
    for (size_t i = 0; i < m->warning_count; i++)
        if (strcmp(m->warnings[i], text) == 0)
            return true;
    return false;
}

void hmi_messages_warn(hmi_messages *m, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    hmi_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (is_known(m, text) || m->warning_count > HMI_MOST_WARNINGS)
        return;
    const char *kept = m->warning_count == HMI_MOST_WARNINGS
                           ? more
                           : hmi_arena_text(m->arena, text, strlen(text));
    if (kept || !is_known(m, lost))
        m->warnings[m->warning_count++] = kept ? kept : lost;
}

void hmi_messages_fail(hmi_messages *m, const char *format, ...)
{
    va_list args;
    if (m->status == HM_RUN_FAILED)
        return;
    m->status = HM_RUN_FAILED;
    m->text.length = 0; /* it may tell of a `stop` event that the program stepped past */
    va_start(args, format);
    hmi_text_addv(&m->text, format, args);
    va_end(args);
}
