/* Singular values by one-sided Jacobi rotations (Hestenes).
 *
 * Pairs of columns are rotated until all are orthogonal; their lengths are then the singular
 * values. The longer column comes first in a pair [de Rijk 1989], which sorts them on the way.
 * Column scaling does not harm the relative accuracy of small singular values.
 */
#include "linalg/linalg.h"

static void rotate(int n, double *x, double *y, double c, double s)
{
    for (int i = 0; i < n; i++) {
        double u = x[i], v = y[i];
        x[i] = c * u + s * v;
        y[i] = c * v - s * u;
    }
}

/* Makes columns x and y orthogonal, the longer one first; false when they were. */
static bool rotate_pair(int rows, int cols, double *x, double *y, double *vx, double *vy)
{
    double xx = hmi_dot(rows, x, x), yy = hmi_dot(rows, y, y), xy = hmi_dot(rows, x, y);
    bool sorted = xx >= yy;
    if (sorted && fabs(xy) <= rows * HMI_EPSILON * sqrt(xx) * sqrt(yy))
        return false;
    double c = 0, s = 1; /* a plain exchange */
    if (fabs(xy) > rows * HMI_EPSILON * sqrt(xx) * sqrt(yy)) {
        double theta = (xx - yy) / (2 * xy), h = hypot(theta, 1);
        double t = (theta < 0 ? -1 : 1) / (fabs(theta) + h);
        c = 1 / hypot(t, 1);
        s = t * c;
        if (!sorted) { /* the complementary rotation puts the longer one first */
            double u = c;
            c = fabs(s);
            s = s < 0 ? u : -u;
        }
    }
    rotate(rows, x, y, c, s);
    rotate(cols, vx, vy, c, s);
    return true;
}

void hmi_svd(int rows, int cols, double *X, double *sigma, double *V)
{
    hmi_zero(cols * cols, V);
    for (int i = 0; i < cols; i++)
        V[(size_t)i * (size_t)cols + (size_t)i] = 1;
    bool rotated = true;
    for (int sweeps = 0; sweeps < 60 && rotated; sweeps++) {
        rotated = false;
        for (int p = 0; p < cols - 1; p++)
            for (int q = p + 1; q < cols; q++)
                rotated |= rotate_pair(rows, cols, X + (size_t)p * (size_t)rows,
                                       X + (size_t)q * (size_t)rows, V + (size_t)p * (size_t)cols,
                                       V + (size_t)q * (size_t)cols);
    }
    for (int j = 0; j < cols; j++)
        sigma[j] = hmi_norm(rows, X + (size_t)j * (size_t)rows);
}
