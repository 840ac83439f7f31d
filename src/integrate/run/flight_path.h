/* Gaps along parabolas: when rows can close, when they do, and their gradients. For flight.c only. */
#ifndef HMI_INTEGRATE_RUN_FLIGHT_PATH_H
#define HMI_INTEGRATE_RUN_FLIGHT_PATH_H

#include "integrate/run/flight.h"

/* Boxes are made for so many windows. */
enum { HMI_FLIGHT_AHEAD = 8 };

/* The derivatives of the gap of a row by its coordinates, in the order of its entries, at their own states. */
void hmi_flight_gradient(hmi_flight *flight, size_t row, double *gradient);

/* window.next of an active row from t on. struck: it has just been, and opens. False: its gap is not larger
 * than `touching` at t (without struck), or it cannot be seen to open (with it). */
bool hmi_flight_predict(hmi_flight *flight, size_t row, double t, bool struck, double touching);

/* A window from flight->now on: which rows are active, and when they close. */
void hmi_flight_open_window(hmi_flight *flight);

/* The active row that closes first; m: none in the window. */
size_t hmi_flight_first(const hmi_flight *flight);

#endif
