/* The yardsticks: what an expert writes by hand in C, compiled -O3 -march=native (cmake/Bench.cmake),
 * with the loops that time it, so that calls cost what they cost within one program. */
#ifndef BENCH_HAND_H
#define BENCH_HAND_H

typedef enum hand_model {
    HAND_SKATE,
    HAND_HAMEL_SKATE,
    HAND_PENDULUM,
    HAND_DOUBLE_PENDULUM,
    HAND_LINKS, /* 10 */
    HAND_ANDREWS,
    HAND_DISC, /* reduced: 5 coordinates, 3 velocities */
    HAND_MODELS
} hand_model;

/* Coordinates, and components of the state. */
int hand_coordinates(hand_model model);
int hand_size(hand_model model);

/* count evaluations of q'' at (q, v); the last is in a. */
void hand_accelerate(hand_model model, const double *q, const double *v, double *a, long count);
/* The same of a chain of N particles; memory 6 N. */
void hand_chain(int N, const double *x, const double *v, double *a, double *memory, long count);

typedef struct hand_work {
    long evaluations, steps, rejected;
} hand_work;

/* y := y(end) from y(0) by DOP853, rtol = atol = tolerance. 0 where it worked. */
int hand_simulate(hand_model model, double end, double rtol, double atol, double *y,
                  hand_work *work);
/* The same in long double, to 1e-17: a reference. */
int hand_reference(hand_model model, double end, double *y);

#endif
