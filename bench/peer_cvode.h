/* A peer: CVODE of SUNDIALS on the right sides written by hand (bench/hand). */
#ifndef BENCH_PEER_CVODE_H
#define BENCH_PEER_CVODE_H

#include "hand/hand.h"

#include <stdbool.h>

/* y := y(end) from y(0) = (q, v) by Adams' formulas and fixed-point iteration, rtol = atol =
 * tolerance. false: it failed, or SUNDIALS is not installed. */
bool peer_cvode(hand_model model, double end, double tolerance, double *y);

#endif
