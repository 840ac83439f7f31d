/* What a run says: its warnings, and how it ended.
 *
 * Whoever takes part in a run may say something here: recorder, events, guard, and the run itself.
 * A warning is kept once, however often it is given. The first failure counts; those that follow
 * from it are not told.                      Verified: test/unit/integrate/test_warnings.c
 */
#ifndef HMI_INTEGRATE_RECORD_MESSAGES_H
#define HMI_INTEGRATE_RECORD_MESSAGES_H

#include "base/memory.h"
#include "base/text.h"

#include <hamel/run.h>

enum { HMI_MOST_WARNINGS = 20 };

typedef struct hmi_messages {
    hmi_arena *arena;     /* of the run: texts of warnings */
    hm_run_status status; /* OK, failed or interrupted */
    hmi_text text;        /* why the run ended; empty: there is nothing to say */
    const char *warnings[HMI_MOST_WARNINGS + 1]; /* one more: that there were more */
    size_t warning_count;
} hmi_messages;

void hmi_messages_init(hmi_messages *messages, hmi_arena *arena);
void hmi_messages_release(hmi_messages *messages);
/* A warning for the result. Where there is no memory to keep it, another warning says so. */
void hmi_messages_warn(hmi_messages *messages, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The run has failed, for this reason. */
void hmi_messages_fail(hmi_messages *messages, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
