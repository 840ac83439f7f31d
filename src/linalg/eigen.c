/* Eigenvalues and vectors of a symmetric matrix by cyclic Jacobi rotations.
 *
 * An off-diagonal element counts as zero when it is small against the geometric mean of its
 * diagonal elements: for M > 0 small eigenvalues then keep their relative accuracy
 * [Demmel & Veselic 1992].
 */
#include "linalg/linalg.h"

#define AT(i, j) M[(size_t)(i) * (size_t)n + (size_t)(j)]

/* Cosine and sine of the rotation that annihilates the off-diagonal element. */
static void rotation(double p, double q, double off, double *c, double *s)
{
    double theta = (q - p) / (2 * off);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
    *c = 1 / hypot(t, 1);
    *s = t * *c;
}

static void rotate_rows(int n, double *x, double *y, double c, double s)
{
    for (int i = 0; i < n; i++) {
        double u = x[i], v = y[i];
        x[i] = c * u - s * v;
        y[i] = s * u + c * v;
    }
}

/* M := J^T M J for the rotation of the axes p and q, both triangles kept */
static void rotate(int n, double *M, double *vectors, int p, int q)
{
    double c, s, t, off = AT(p, q);
    rotation(AT(p, p), AT(q, q), off, &c, &s);
    t = s / c;
    double pp = AT(p, p) - t * off, qq = AT(q, q) + t * off;
    rotate_rows(n, &AT(p, 0), &AT(q, 0), c, s);
    AT(p, p) = pp;
    AT(q, q) = qq;
    AT(p, q) = AT(q, p) = 0;
    for (int i = 0; i < n; i++)
        if (i != p && i != q) {
            AT(i, p) = AT(p, i);
            AT(i, q) = AT(q, i);
        }
    rotate_rows(n, vectors + (size_t)p * (size_t)n, vectors + (size_t)q * (size_t)n, c, s);
}

/* One sweep over all pairs; false when nothing was left to do. */
static bool sweep(int n, double *M, double *vectors, double floor)
{
    bool rotated = false;
    for (int p = 0; p < n - 1; p++)
        for (int q = p + 1; q < n; q++) {
            double off = fabs(AT(p, q));
            if (off <= floor || off <= HMI_EPSILON * sqrt(fabs(AT(p, p)) * fabs(AT(q, q))))
                continue;
            rotate(n, M, vectors, p, q);
            rotated = true;
        }
    return rotated;
}

void hmi_eigen(int n, double *M, double *values, double *vectors)
{
    double floor = hmi_max_abs(n * n, M) * HMI_EPSILON * HMI_EPSILON;
    hmi_zero(n * n, vectors);
    for (int i = 0; i < n; i++)
        vectors[(size_t)i * (size_t)n + (size_t)i] = 1;
    for (int sweeps = 0; sweeps < 40 && sweep(n, M, vectors, floor); sweeps++)
        ;
    for (int i = 0; i < n; i++)
        values[i] = AT(i, i);
}
