/* Right-hand sides as an expert writes them by hand: closed forms and unrolled solves where they
 * exist, dense or tridiagonal factorisations where not. Included once a type: define REAL (double,
 * or long double for references) and HAND_NAME(x) before.
 *
 * They follow ../shared/yardsticks/common/models.h, with what made them faster: one reciprocal a
 * pivot, structural zeros of Andrews' matrices left out.
 */
#include <math.h>
#include <string.h>
#include <tgmath.h>

#define GRAVITY ((REAL)9.81L)

/* ---- knife-edge skate on an incline: x, y, theta; blade sin x' - cos y' = 0 ---- */

static inline void HAND_NAME(skate)(const REAL *q, const REAL *v, REAL *a)
{
    const REAL g = (REAL)4.905L, s = sin(q[2]), c = cos(q[2]);
    REAL force = -(v[2] * (v[0] * c + v[1] * s) + s * g);
    a[0] = g + s * force;
    a[1] = -c * force;
    a[2] = 0;
}

/* ---- Hamel's skate, mass centre s ahead of the blade: L D L^T of M, then the multiplier ---- */

static inline void HAND_NAME(hamel_skate)(const REAL *q, const REAL *v, REAL *a)
{
    const REAL m = 1, s = (REAL)0.3L, J = (REAL)0.5L, r = 1 / m, ms = m * s;
    REAL sn = sin(q[2]), cs = cos(q[2]), w = ms * v[2] * v[2];
    REAL M31 = -ms * sn, M32 = ms * cs, l31 = M31 * r, l32 = M32 * r;
    REAL e3 = J - l31 * M31 - l32 * M32, r3 = 1 / e3;
    REAL Q1 = w * cs, Q2 = w * sn, z3 = -l31 * Q1 - l32 * Q2;
    REAL W1 = -sn, W2 = cs, W3 = -l31 * W1 - l32 * W2;
    REAL G = W1 * W1 * r + W2 * W2 * r + W3 * W3 * r3;
    REAL b = v[2] * (v[0] * cs + v[1] * sn);
    REAL l = (b - W1 * Q1 * r - W2 * Q2 * r - W3 * z3 * r3) / G;
    a[2] = (z3 + W3 * l) * r3;
    a[0] = (Q1 + W1 * l) * r - l31 * a[2];
    a[1] = (Q2 + W2 * l) * r - l32 * a[2];
}

/* ---- Cartesian pendulum of length 1 ---- */

static inline void HAND_NAME(pendulum)(const REAL *q, const REAL *v, REAL *a)
{
    REAL l = (-(v[0] * v[0] + v[1] * v[1]) + GRAVITY * q[1]) / (q[0] * q[0] + q[1] * q[1]);
    a[0] = l * q[0];
    a[1] = l * q[1] - GRAVITY;
}

/* ---- double pendulum, absolute angles ---- */

static inline void HAND_NAME(double_pendulum)(const REAL *q, const REAL *v, REAL *a)
{
    REAL s = sin(q[0] - q[1]), c = cos(q[0] - q[1]);
    REAL f1 = -s * v[1] * v[1] - 2 * GRAVITY * sin(q[0]);
    REAL f2 = s * v[0] * v[0] - GRAVITY * sin(q[1]);
    REAL r = 1 / (2 - c * c);
    a[0] = (f1 - c * f2) * r;
    a[1] = (2 * f2 - c * f1) * r;
}

/* ---- pendulum of n links, absolute angles, dense ---- */

enum { HAND_NAME(MOST_LINKS) = 64 };

/* M is lower triangular, row-major with rows of n; x := M^-1 x. */
static void HAND_NAME(solve)(int n, REAL *M, REAL *x)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            REAL s = M[i * n + j];
            for (int k = 0; k < j; k++)
                s -= M[i * n + k] * M[j * n + k];
            M[i * n + j] = i == j ? 1 / sqrt(s) : s * M[j * n + j];
        }
    for (int i = 0; i < n; i++) {
        REAL s = x[i];
        for (int k = 0; k < i; k++)
            s -= M[i * n + k] * x[k];
        x[i] = s * M[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        REAL s = x[i];
        for (int k = i + 1; k < n; k++)
            s -= M[k * n + i] * x[k];
        x[i] = s * M[i * n + i];
    }
}

static inline void HAND_NAME(links)(int n, const REAL *q, const REAL *v, REAL *a)
{
    REAL s[HAND_NAME(MOST_LINKS)], c[HAND_NAME(MOST_LINKS)];
    REAL M[HAND_NAME(MOST_LINKS) * HAND_NAME(MOST_LINKS)];
    for (int i = 0; i < n; i++) {
        s[i] = sin(q[i]);
        c[i] = cos(q[i]);
    }
    for (int i = 0; i < n; i++) {
        REAL f = -GRAVITY * (n - i) * s[i];
        for (int j = 0; j < n; j++) {
            int k = n - (i > j ? i : j);
            if (j <= i)
                M[i * n + j] = k * (c[i] * c[j] + s[i] * s[j]);
            f -= k * (s[i] * c[j] - c[i] * s[j]) * v[j] * v[j];
        }
        a[i] = f;
    }
    HAND_NAME(solve)(n, M, a);
}

/* ---- rolling disc, m = r = 1: u = (yaw', lean', spin') of the reduced form ---- */

static inline void HAND_NAME(disc)(const REAL *q, const REAL *u, REAL *a)
{
    REAL s = sin(q[3]), c = cos(q[3]), r = 1 / c, x = u[0] * c;
    a[0] = -2 * u[2] * u[1] * r;
    a[1] = (REAL)0.8L * GRAVITY * s + u[0] * s * x + (REAL)1.2L * u[2] * x;
    a[2] = -u[1] * (5 * x - 6 * u[2] * s * r) / 3;
}

/* ---- Andrews' squeezing mechanism [Hairer & Wanner II, VII.7] ---- */

typedef struct HAND_NAME(squeezer) {
    REAL M[7][7], f[7], G[6][7], gamma[6];
} HAND_NAME(squeezer);

static void HAND_NAME(squeezer_matrices)(const REAL *q, const REAL *v, HAND_NAME(squeezer) * z)
{
    const REAL m1 = .04325L, m2 = .00365L, m3 = .02373L, m4 = .00706L, m5 = .07050L, m6 = .00706L,
               m7 = .05498L, xb = -.03635L, yb = .03273L, xc = .014L, yc = .072L, c0 = 4530,
               lo = .07785L, i1 = 2.194e-6L, i2 = 4.410e-7L, i3 = 5.255e-6L, i4 = 5.667e-7L,
               i5 = 1.169e-5L, i6 = 5.667e-7L, i7 = 1.912e-5L, d = 28e-3L, da = 115e-4L, e = 2e-2L,
               ea = 1421e-5L, rr = 7e-3L, ra = 92e-5L, ss = 35e-3L, sa = 1874e-5L, sb = 1043e-5L,
               sc = 18e-3L, sd = 2e-2L, ta = 2308e-5L, tb = 916e-5L, u = 4e-2L, ua = 1228e-5L,
               ub = 449e-5L, zf = 2e-2L, zt = 4e-2L, fa = 1421e-5L, drive = 33e-3L;
    REAL sbe = sin(q[0]), cbe = cos(q[0]), st = sin(q[1]), ct = cos(q[1]), sg = sin(q[2]),
         cg = cos(q[2]), sp = sin(q[3]), cp = cos(q[3]), sde = sin(q[4]), cde = cos(q[4]),
         so = sin(q[5]), co = cos(q[5]), se = sin(q[6]), ce = cos(q[6]);
    REAL sbt = sin(q[0] + q[1]), cbt = cos(q[0] + q[1]), spd = sin(q[3] + q[4]),
         cpd = cos(q[3] + q[4]), soe = sin(q[5] + q[6]), coe = cos(q[5] + q[6]);
    REAL(*M)[7] = z->M, (*G)[7] = z->G, *f = z->f, *gamma = z->gamma;
    memset(z->M, 0, sizeof z->M);
    memset(z->G, 0, sizeof z->G);
    M[0][0] = m1 * ra * ra + m2 * (rr * rr - 2 * da * rr * ct + da * da) + i1 + i2;
    M[1][0] = m2 * (da * da - da * rr * ct) + i2;
    M[1][1] = m2 * da * da + i2;
    M[2][2] = m3 * (sa * sa + sb * sb) + i3;
    M[3][3] = m4 * (e - ea) * (e - ea) + i4;
    M[4][3] = m4 * ((e - ea) * (e - ea) + zt * (e - ea) * sp) + i4;
    M[4][4] = m4 * (zt * zt + 2 * zt * (e - ea) * sp + (e - ea) * (e - ea)) +
              m5 * (ta * ta + tb * tb) + i4 + i5;
    M[5][5] = m6 * (zf - fa) * (zf - fa) + i6;
    M[6][5] = m6 * ((zf - fa) * (zf - fa) - u * (zf - fa) * so) + i6;
    M[6][6] = m6 * ((zf - fa) * (zf - fa) - 2 * u * (zf - fa) * so + u * u) +
              m7 * (ua * ua + ub * ub) + i6 + i7;
    REAL xd = sd * cg + sc * sg + xb - xc, yd = sd * sg - sc * cg + yb - yc;
    REAL length = sqrt(xd * xd + yd * yd), F = -c0 * (length - lo) / length;
    f[0] = drive - m2 * da * rr * v[1] * (v[1] + 2 * v[0]) * st;
    f[1] = m2 * da * rr * v[0] * v[0] * st;
    f[2] = F * (xd * (sc * cg - sd * sg) + yd * (sd * cg + sc * sg));
    f[3] = m4 * zt * (e - ea) * v[4] * v[4] * cp;
    f[4] = -m4 * zt * (e - ea) * v[3] * (v[3] + 2 * v[4]) * cp;
    f[5] = -m6 * u * (zf - fa) * v[6] * v[6] * co;
    f[6] = m6 * u * (zf - fa) * v[5] * (v[5] + 2 * v[6]) * co;
    for (int k = 0; k < 3; k++) {
        G[2 * k][0] = -rr * sbe + d * sbt;
        G[2 * k][1] = d * sbt;
        G[2 * k + 1][0] = rr * cbe - d * cbt;
        G[2 * k + 1][1] = -d * cbt;
    }
    G[0][2] = -ss * cg;
    G[1][2] = -ss * sg;
    G[2][3] = -e * cpd;
    G[2][4] = -e * cpd + zt * sde;
    G[3][3] = -e * spd;
    G[3][4] = -e * spd - zt * cde;
    G[4][5] = zf * soe;
    G[4][6] = zf * soe - u * ce;
    G[5][5] = -zf * coe;
    G[5][6] = -zf * coe - u * se;
    REAL w2 = (v[0] + v[1]) * (v[0] + v[1]), w4 = (v[3] + v[4]) * (v[3] + v[4]),
         w6 = (v[5] + v[6]) * (v[5] + v[6]);
    REAL gx = -rr * cbe * v[0] * v[0] + d * cbt * w2, gy = -rr * sbe * v[0] * v[0] + d * sbt * w2;
    gamma[0] = -(gx + ss * sg * v[2] * v[2]);
    gamma[1] = -(gy - ss * cg * v[2] * v[2]);
    gamma[2] = -(gx + e * spd * w4 + zt * cde * v[4] * v[4]);
    gamma[3] = -(gy - e * cpd * w4 + zt * sde * v[4] * v[4]);
    gamma[4] = -(gx + zf * coe * w6 + u * se * v[6] * v[6]);
    gamma[5] = -(gy + zf * soe * w6 - u * ce * v[6] * v[6]);
}

/* M is three blocks of two and one of one: their Cholesky factors by hand, then the 6 x 6 Gram. */
static void HAND_NAME(andrews)(const REAL *q, const REAL *v, REAL *a)
{
    static const int first[3] = {0, 3, 5};
    HAND_NAME(squeezer) z;
    REAL d[7], l[7] = {0}, W[6][7], y[7], S[36], lambda[6];
    HAND_NAME(squeezer_matrices)(q, v, &z);
    d[2] = 1 / sqrt(z.M[2][2]);
    for (int k = 0; k < 3; k++) {
        int i = first[k];
        d[i] = 1 / sqrt(z.M[i][i]);
        l[i + 1] = z.M[i + 1][i] * d[i];
        d[i + 1] = 1 / sqrt(z.M[i + 1][i + 1] - l[i + 1] * l[i + 1]);
    }
    for (int r = 0; r < 6; r++)
        for (int i = 0; i < 7; i++)
            W[r][i] = (z.G[r][i] - (l[i] != 0 ? l[i] * W[r][i - 1] : 0)) * d[i];
    for (int i = 0; i < 7; i++)
        y[i] = (z.f[i] - (l[i] != 0 ? l[i] * y[i - 1] : 0)) * d[i];
    for (int r = 0; r < 6; r++) {
        REAL s = -z.gamma[r];
        for (int k = 0; k < 7; k++)
            s += W[r][k] * y[k];
        lambda[r] = s;
        for (int c = 0; c <= r; c++) {
            s = 0;
            for (int k = 0; k < 7; k++)
                s += W[r][k] * W[c][k];
            S[r * 6 + c] = s;
        }
    }
    HAND_NAME(solve)(6, S, lambda);
    for (int i = 0; i < 7; i++)
        for (int r = 0; r < 6; r++)
            y[i] -= W[r][i] * lambda[r];
    for (int i = 6; i >= 0; i--)
        a[i] = (y[i] - (i < 6 && l[i + 1] != 0 ? l[i + 1] * a[i + 1] : 0)) * d[i];
}

/* ---- chain of N particles with rods, anchored at the origin: tridiagonal Schur complement ---- */

/* memory: 6 N */
static inline void HAND_NAME(chain)(int N, const REAL *x, const REAL *v, REAL *a, REAL *memory)
{
    REAL *R = memory, *d = R + 3 * N, *e = d + N, *l = e + N;
    REAL p[3] = {0, 0, 0}, pv[3] = {0, 0, 0};
    for (int i = 0; i < N; i++) {
        REAL *r = R + 3 * i, w2 = 0, rr = 0;
        for (int k = 0; k < 3; k++) {
            r[k] = x[3 * i + k] - p[k];
            REAL w = v[3 * i + k] - pv[k];
            w2 += w * w;
            rr += r[k] * r[k];
            p[k] = x[3 * i + k];
            pv[k] = v[3 * i + k];
        }
        d[i] = i ? 2 * rr : rr;
        l[i] = w2 - (i ? 0 : GRAVITY * r[2]);
        if (i)
            e[i - 1] = -(r[0] * r[-3] + r[1] * r[-2] + r[2] * r[-1]);
    }
    for (int i = 1; i < N; i++) {
        REAL m = e[i - 1] / d[i - 1];
        d[i] -= m * e[i - 1];
        l[i] -= m * l[i - 1];
    }
    l[N - 1] /= d[N - 1];
    for (int i = N - 2; i >= 0; i--)
        l[i] = (l[i] - e[i] * l[i + 1]) / d[i];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++)
            a[3 * i + k] = -l[i] * R[3 * i + k] + (i + 1 < N ? l[i + 1] * R[3 * i + 3 + k] : 0) -
                           (k == 2 ? GRAVITY : 0);
}
