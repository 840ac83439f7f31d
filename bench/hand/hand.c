/* The yardsticks in double: see hand.h. */
#include "hand/hand.h"

#include <stdbool.h>

#define REAL         double
#define HAND_NAME(x) d_##x
#include "hand/models.inc"
#include "hand/dop853.inc"
#include "hand/hand_body.inc"

int hand_coordinates(hand_model model)
{
    static const int n[HAND_MODELS] = {3, 3, 2, 2, 10, 7, 5};
    return n[model];
}

int hand_size(hand_model model)
{
    return model == HAND_DISC ? 8 : 2 * hand_coordinates(model);
}

/* The compiler may not take an evaluation out of the loop: it is told that memory changed. */
#define REPEAT(call)                                                                               \
    for (long k = 0; k < count; k++) {                                                             \
        __asm__ volatile("" : "+r"(q), "+r"(v), "+r"(a)::"memory");                                \
        call;                                                                                      \
    }                                                                                              \
    break

void hand_accelerate(hand_model model, const double *q, const double *v, double *a, long count)
{
    switch (model) {
    case HAND_SKATE:
        REPEAT(d_skate(q, v, a));
    case HAND_HAMEL_SKATE:
        REPEAT(d_hamel_skate(q, v, a));
    case HAND_PENDULUM:
        REPEAT(d_pendulum(q, v, a));
    case HAND_DOUBLE_PENDULUM:
        REPEAT(d_double_pendulum(q, v, a));
    case HAND_LINKS:
        REPEAT(d_ten_links(q, v, a));
    case HAND_ANDREWS:
        REPEAT(d_andrews(q, v, a));
    default:
        REPEAT(d_disc(q, v, a));
    }
}

void hand_chain(int N, const double *x, const double *v, double *a, double *memory, long count)
{
    for (long k = 0; k < count; k++)
        d_chain(N, x, v, a, memory);
}

int hand_simulate(hand_model model, double end, double rtol, double atol, double *y,
                  hand_work *work)
{
    return d_run(model, end, rtol, atol, y, work);
}
