/* RK5: the method of Dormand and Prince of order 5 with an error estimate of order 4 and a dense
 * output of order 4.                                         [HNW93, II.5 table 5.2, II.6 (6.13)]
 * Verified: test/unit/integrate/test_rk.c
 */
#include "integrate/rk/rk.h"

/* clang-format off */
static const hmi_rk_table table = {
    .stages = 6,
    .extra = 0,
    .A = {
        [1] = {[0] = 1.0 / 5},
        [2] = {[0] = 3.0 / 40, [1] = 9.0 / 40},
        [3] = {[0] = 44.0 / 45, [1] = -56.0 / 15, [2] = 32.0 / 9},
        [4] = {[0] = 19372.0 / 6561, [1] = -25360.0 / 2187, [2] = 64448.0 / 6561, [3] = -212.0 / 729},
        [5] = {[0] = 9017.0 / 3168, [1] = -355.0 / 33, [2] = 46732.0 / 5247, [3] = 49.0 / 176, [4] = -5103.0 / 18656},
    },
    .c = {[1] = 0.2, [2] = 0.3, [3] = 0.8, [4] = 8.0 / 9, [5] = 1, [6] = 1},
    .b = {[0] = 35.0 / 384, [2] = 500.0 / 1113, [3] = 125.0 / 192, [4] = -2187.0 / 6784, [5] = 11.0 / 84},
    .errors = 1,
    .error = {{[0] = 71.0 / 57600, [2] = -71.0 / 16695, [3] = 71.0 / 1920, [4] = -17253.0 / 339200, [5] = 22.0 / 525, [6] = -1.0 / 40}},
    .error_uses_last = true,
    .dense_rows = 1,
    .D = {{[0] = -12715105075.0 / 11282082432, [2] = 87487479700.0 / 32700410799, [3] = -10690763975.0 / 1880347072, [4] = 701980252875.0 / 199316789632, [5] = -1453857185.0 / 822651844, [6] = 69997945.0 / 29380423}},
    .order = 5,
    .beta = 0.04,
    .least_factor = 0.2,
    .largest_factor = 10,
    .safety = 0.9,
    .gap = 0.55,
    .stiff_limit = 2.8, /* 3.25 is the boundary */
};
/* clang-format on */

const hmi_method hmi_method_rk5 = {
    .name = "rk5",
    .doc = "Dormand-Prince of order 5 with adaptive steps and dense output of order 4: for low "
           "accuracy or motion that is not very smooth. Hairer, Norsett & Wanner (1993), II.5.",
    .order = 5,
    .dense_degree = 4,
    .table = &table,
    .carries_work = true,
    .places_steps = true,
    .memory_size = hmi_rk_memory_size,
    .start = hmi_rk_start,
    .step = hmi_rk_step,
    .interpolate = hmi_rk_interpolate,
    .polynomial = hmi_rk_polynomial,
};
