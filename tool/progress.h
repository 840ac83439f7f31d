/* The progress line of a run, on a terminal only; and Ctrl-C. */
#ifndef HAMEL_TOOL_PROGRESS_H
#define HAMEL_TOOL_PROGRESS_H

#include <stdbool.h>

typedef struct progress {
    bool shown;         /* there is a terminal to show it on */
    bool drawn;         /* a line stands there */
    double start, last; /* seconds */
} progress;

void progress_start(progress *p, bool quiet);
/* part: 0 .. 1 of the run is done, at time t of the motion. Cheap: draws a few times a second. */
void progress_update(progress *p, double t, double part);
/* Takes the line away. */
void progress_end(progress *p);

/* From now on Ctrl-C is noted; a second one ends the process at once. */
void interrupt_watch(void);
bool interrupt_seen(void);

#endif
