/* Rotations by hand, for tests: matrices row-major, quaternions (e0, e1, e2, e3). */
#ifndef TEST_SUPPORT_SPACE_H
#define TEST_SUPPORT_SPACE_H

#include <math.h>
#include <string.h>

static inline double dot3(const double u[3], const double v[3])
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

static inline void cross3(const double u[3], const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = u[j] * v[k] - u[k] * v[j];
    }
}

static inline void apply3(const double R[9], const double u[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = dot3(R + 3 * i, u);
}

static inline void multiply3(const double A[9], const double B[9], double out[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/* About coordinate axis k (0, 1, 2) by the angle a. */
static inline void turn3(int k, double a, double out[9])
{
    int i = (k + 1) % 3, j = (k + 2) % 3;
    memset(out, 0, 9 * sizeof *out);
    out[4 * k] = 1;
    out[4 * i] = out[4 * j] = cos(a);
    out[3 * j + i] = sin(a);
    out[3 * i + j] = -sin(a);
}

/* Quaternion product p q: first q turns, then p. */
static inline void multiply_quaternions(const double p[4], const double q[4], double out[4])
{
    double cross[3];
    cross3(p + 1, q + 1, cross);
    out[0] = p[0] * q[0] - dot3(p + 1, q + 1);
    for (int i = 0; i < 3; i++)
        out[i + 1] = p[0] * q[i + 1] + q[0] * p[i + 1] + cross[i];
}

static inline void turn_quaternion(int k, double a, double out[4])
{
    out[0] = cos(a / 2);
    out[1] = out[2] = out[3] = 0;
    out[k + 1] = sin(a / 2);
}

/* e' = e (0, omega_body)/2 */
static inline void quaternion_rate(const double e[4], const double omega_body[3], double out[4])
{
    const double w[4] = {0, omega_body[0], omega_body[1], omega_body[2]};
    multiply_quaternions(e, w, out);
    for (int i = 0; i < 4; i++)
        out[i] /= 2;
}

#endif
