/* Random numbers that are a function of where they are used: of the seed, the point and the dimension.
 * There is no state, so that any piece of a sweep can be done anywhere, again, and in any order. */
#ifndef HMI_SWEEP_RANDOM_POINT_H
#define HMI_SWEEP_RANDOM_POINT_H

#include <stdint.h>

/* Dimensions of the Sobol sequence. */
enum { HMI_SOBOL_DIMENSIONS = 64 };

/* Philox4x32 with 10 rounds.    [Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"] */
void hmi_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);

/* In (0, 1), never at either end, so that every distribution has a finite value there. */
double hmi_uniform_at(uint64_t seed, uint64_t point, uint32_t dimension);

/* Coordinate `dimension` of point `point` of the Sobol sequence, with 32 bits, as integers. */
uint32_t hmi_sobol_bits(uint32_t point, uint32_t dimension);
/* The same with Owen's nested scrambling (a random permutation of digits that depends on those before), in
 * (0, 1). Every seed gives an unbiased sequence of the same uniformity. `point` below 2^32. */
double hmi_sobol_at(uint64_t seed, uint64_t point, uint32_t dimension);

#endif
