/* Gauss' quadrature with four points, and the Runge-Kutta method of order 8 that belongs to it
 * [Hairer, Norsett & Wanner 1993, II.7]. */
#include "analyse/action/action.h"
#include "linalg/linalg.h"

#include <math.h>

/* a_ij from  sum_j a_ij c_j^(k-1) = c_i^k / k,  k = 1 .. 4. */
static void find_coefficients(hmi_gauss *g, int i)
{
    enum { S = HMI_GAUSS_POINTS };
    double V[S * S], right[S];
    int pivots[S];
    for (int k = 0; k < S; k++) {
        for (int j = 0; j < S; j++)
            V[k * S + j] = pow(g->c[j], k);
        right[k] = pow(g->c[i], k + 1) / (k + 1);
    }
    (void)hmi_lu(S, V, pivots, 0); /* a Vandermonde matrix of four different points */
    hmi_lu_solve(S, V, pivots, right);
    for (int j = 0; j < S; j++)
        g->a[i][j] = right[j];
}

void hmi_gauss_init(hmi_gauss *g)
{
    const double inner = sqrt(3.0 / 7 - 2.0 / 7 * sqrt(1.2));
    const double outer = sqrt(3.0 / 7 + 2.0 / 7 * sqrt(1.2));
    const double x[HMI_GAUSS_POINTS] = {-outer, -inner, inner, outer};
    for (int i = 0; i < HMI_GAUSS_POINTS; i++) {
        double sign = i == 1 || i == 2 ? 1 : -1;
        g->c[i] = (1 + x[i]) / 2;
        g->b[i] = (18 + sign * sqrt(30)) / 72;
    }
    for (int i = 0; i < HMI_GAUSS_POINTS; i++)
        find_coefficients(g, i);
}
