/* References in long double: see hand.h. */
#include "hand/hand.h"

#include <stdbool.h>

#define REAL         long double
#define HAND_NAME(x) l_##x
#include "hand/models.inc"
#include "hand/dop853.inc"
#include "hand/hand_body.inc"

int hand_reference(hand_model model, double end, double *y)
{
    long double state[l_MOST];
    hand_work work;
    int n = hand_size(model);
    for (int i = 0; i < n; i++)
        state[i] = y[i];
    int failed = l_run(model, end, 1e-17L, 1e-17L, state, &work);
    for (int i = 0; i < n; i++)
        y[i] = (double)state[i];
    return failed;
}
