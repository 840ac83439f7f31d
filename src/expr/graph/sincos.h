/* Numbers of our sine and cosine: math.c evaluates with them, machine code too (compile/jit/sincos.c).
 *
 * For |x| < HMI_SINCOS_BOUND, all products and sums fused where written fma:
 *     m = fma(x, 2/pi, MAGIC), n = m - MAGIC: x 2/pi to the nearest integer, whose last bits are m's
 *     t = fma(-n, P1, x)        exact: a multiple of 2^-53 below 1
 *     r = fma(-n, P2, t), l = fma(-n, P3, fma(-n, P2, t - r)): P2 has 32 bits, so that l gets all that
 *                               r loses but 2^-53 of P3; P1 + P2 + P3 = pi/2 to 2^-140
 * Then with z = r^2, w = z^2, |r| <= pi/4, u = fma(-z, 1/2, 1),
 *     p = S1 + S2 z + w ((S3 + S4 z) + w (S5 + S6 z)),   q likewise of C1 .. C6,
 *     sin = r + fma(z r, p, l),   cos = u + fma(w, q, fma(-r, l, fma(-z, 1/2, 1 - u))),
 * with the minimax polynomials of fdlibm (Sun Microsystems 1993, k_sin.c and k_cos.c). Odd n swap the
 * two; the second last bit of n, of n + 1 for the cosine, changes the sign. The sign of r = -0 gets lost
 * and is put back. At most 0.9 ulp: test/unit/expr/test_math.c.
 */
#ifndef HMI_EXPR_GRAPH_SINCOS_H
#define HMI_EXPR_GRAPH_SINCOS_H

#define HMI_SINCOS_BOUND 0x1p19
enum { HMI_SINCOS_EXPONENT = 19 }; /* of the bound */

/* X(name, value) */
#define HMI_SINCOS_NUMBERS(X)                                                                      \
    X(BOUND, HMI_SINCOS_BOUND)                                                                     \
    X(TWO_BY_PI, 0x1.45f306dc9c883p-1)                                                             \
    X(MAGIC, 0x1.8p52)                                                                             \
    X(P1, 0x1.921fb54442d18p+0)                                                                    \
    X(P2, 0x1.1a626332p-54)                                                                        \
    X(P3, -0x1.747f23e32ed7p-87)                                                                   \
    X(HALF, 0.5)                                                                                   \
    X(S1, -1.66666666666666324348e-01)                                                             \
    X(S2, 8.33333333332248946124e-03)                                                              \
    X(S3, -1.98412698298579493134e-04)                                                             \
    X(S4, 2.75573137070700676789e-06)                                                              \
    X(S5, -2.50507602534068634195e-08)                                                             \
    X(S6, 1.58969099521155010221e-10)                                                              \
    X(C1, 4.16666666666666019037e-02)                                                              \
    X(C2, -1.38888888888741095749e-03)                                                             \
    X(C3, 2.48015872894767294178e-05)                                                              \
    X(C4, -2.75573143513906633035e-07)                                                             \
    X(C5, 2.08757232129817482790e-09)                                                              \
    X(C6, -1.13596475577881948265e-11)

#endif
