/* The progress line of a run, on a terminal only; and Ctrl-C. */
#ifndef HAMEL_TOOL_PROGRESS_H
#define HAMEL_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct progress {
    bool shown;         /* there is a terminal to show it on */
    bool drawn;         /* a line stands there */
    double start, last; /* seconds */
    double first;       /* of progress_count: what was done before the first call */
    bool counted;
} progress;

void progress_start(progress *p, bool quiet);
/* part: 0 .. 1 of the run is done, at time t of the motion. Cheap: draws a few times a second. */
void progress_update(progress *p, double t, double part);
/* The same for `done` of `count` things, with their rate. */
void progress_count(progress *p, size_t done, size_t count);
/* Takes the line away. */
void progress_end(progress *p);

/* From now on Ctrl-C is noted; a second one ends the process at once. */
void interrupt_watch(void);
bool interrupt_seen(void);
/* From now on SIGTERM is noted like Ctrl-C: schedulers send it before they kill. */
void terminate_watch(void);

#endif
