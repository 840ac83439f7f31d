/* One generator of pseudo-random numbers: splitmix64 [Steele, Lea & Flood 2014]. The same seed gives
 * the same numbers on every machine; whoever draws owns the state. */
#ifndef HMI_BASE_RANDOM_H
#define HMI_BASE_RANDOM_H

#include <stdint.h>

typedef struct hmi_random {
    uint64_t state; /* the seed, to begin with */
} hmi_random;

static inline uint64_t hmi_random_bits(hmi_random *random)
{
    uint64_t x = random->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Uniform in [low, high). */
static inline double hmi_random_between(hmi_random *random, double low, double high)
{
    return low + (high - low) * ((double)(hmi_random_bits(random) >> 11) * 0x1p-53);
}

#endif
