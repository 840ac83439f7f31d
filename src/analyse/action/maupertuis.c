/* Maupertuis' action on the motion                                          [Flannery 2005, appendix]
 *
 *     (A5)  integral of p.q' dt,   (A6)  integral of 2T dt where T is quadratic in the velocities,
 *     (A7)  integral of 2T + lambda (T + V - E) dt, which lambda = -1 makes  S + E (t2 - t1).
 *
 * Paths with the same energy E are compared, and each takes the time it needs. A path q + delta q that is passed in
 * the manner of the motion has the energy E + delta E; passed with the energy E instead, it takes longer by the integral of
 * delta E / 2T, and its action (A6) differs from that of the motion by the integral of delta L: what Hamilton's
 * principle says of paths with the same times, Maupertuis' says of those with the same energy.
 * Verified: test/tool/action.sh
 */
#include "analyse/action/action.h"
#include "linalg/dense.h"

#include <math.h>

static const char *const kinds[] = {
    "impressed forces work",
    "dissipative forces work",
    "gyroscopic forces work",
    "the ideal forces of moving constraints work",
    "non-ideal forces of constraints work",
    "servos work",
    "the Lagrangian contains the time",
};
static const double changes =
    1e-8; /* of the energy, relative to the largest T + |V| of the way, that count */

/* Why the energy is not constant; "" where it is. */
static const char *find_reason(const hmi_action_path *path, double size, double drift)
{
    double largest = changes * size;
    const char *reason = "";
    if (isnan(path->E[0]))
        return "the energy is not defined";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (path->power[k] > largest) {
            largest = path->power[k];
            reason = kinds[k];
        }
    return *reason || !(drift > changes * size) ? reason : "the energy changes on the way";
}

/* Sizes of energies on the way. */
static double energy_size(const hmi_action_path *path)
{
    double size = 0;
    for (size_t k = 0; k < path->points; k++)
        size = fmax(size, fabs(path->E[k]) + (isnan(path->T[k]) ? 0 : fabs(path->T[k])));
    return size;
}

void hmi_maupertuis(const hmi_action_path *path, hm_maupertuis *out)
{
    size_t n = path->n;
    double size = energy_size(path), length = path->h * (double)path->panels;
    *out = (hm_maupertuis){.energy = path->E[0], .homogeneous = true};
    for (size_t k = 0; k < path->points; k++) {
        double pv = hmi_dot((int)n, path->p + k * n, path->v + k * n), twice = 2 * path->T[k];
        out->abbreviated.value += path->weight[k] * pv;
        out->twice_T.value += path->weight[k] * twice;
        out->modified.value += path->weight[k] * path->L[k];
        out->energy_drift = fmax(out->energy_drift, fabs(path->E[k] - path->E[0]));
        out->homogeneous = out->homogeneous && fabs(pv - twice) <= 1e-12 * size;
    }
    out->modified.value += path->E[0] * length;
    out->reason = find_reason(path, size, out->energy_drift);
    out->conservative = !*out->reason;
}
