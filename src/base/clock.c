/* The monotonic clock of POSIX. */
#include "base/clock.h"

#include <time.h>

double hmi_wall_clock(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0
               ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
               : 0;
}
