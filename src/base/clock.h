/* The time that passes, for reports of how long something took. */
#ifndef HMI_BASE_CLOCK_H
#define HMI_BASE_CLOCK_H

/* Seconds since some moment, never going back; 0 where the system has no such clock. */
double hmi_wall_clock(void);

#endif
