/* The series of the motion at a time: see taylor.h.
 *
 * Even and odd terms by Horner's rule in x^2, which halves the wait for each other; of the derivative
 * too, whose coefficients are k Y_k. Four components at a time; Y has room behind it.
 */
#include "integrate/taylor.h"

typedef double block __attribute__((vector_size(32), aligned(8), may_alias));

#define INLINE __attribute__((always_inline)) static inline
#define AT(k)  (*(const block *)(c + (size_t)(k)*width))

/* By address: compilers differ in how they pass vectors. */
INLINE void store(const block *value, size_t count, double *out)
{
    for (size_t k = 0; k < 4 && k < count; k++)
        out[k] = (*value)[k];
}

/* Components from c on; f NULL: without their derivatives. */
INLINE void evaluate_four(const double *c, int order, size_t width, double h, double tau,
                          size_t count, double *y, double *f)
{
    const double x = h / tau, x2 = x * x;
    const block X = {x, x, x, x}, X2 = {x2, x2, x2, x2};
    block even = {0, 0, 0, 0}, odd = even, f_even = even, f_odd = even;
    int k = order;
    if (k % 2 == 1) {
        odd = AT(k);
        f_even = odd * (double)k;
        k--;
    }
    for (; k >= 2; k -= 2) { /* y: x^k, x^{k-1}; y': k x^{k-1}, (k-1) x^{k-2} */
        const block high = AT(k), low = AT(k - 1);
        even = even * X2 + high;
        odd = odd * X2 + low;
        if (f) {
            f_odd = f_odd * X2 + high * (double)k;
            f_even = f_even * X2 + low * (double)(k - 1);
        }
    }
    even = odd * X + (even * X2 + AT(0));
    store(&even, count, y);
    f_even = (f_odd * X + f_even) / tau;
    if (f)
        store(&f_even, count, f);
}

INLINE void evaluate_all(const hmi_taylor *T, double h, double *y, double *f)
{
    for (size_t i = 0; i < T->width; i += 4)
        if (f)
            evaluate_four(T->Y + i, T->order, T->width, h, T->tau, T->width - i, y + i, f + i);
        else
            evaluate_four(T->Y + i, T->order, T->width, h, T->tau, T->width - i, y + i, NULL);
}

static void evaluate_plain(const hmi_taylor *T, double h, double *y, double *f)
{
    evaluate_all(T, h, y, f);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* Without fused multiply-add: the same bits. */
__attribute__((target("avx2"))) static void evaluate_avx2(const hmi_taylor *T, double h, double *y,
                                                          double *f)
{
    evaluate_all(T, h, y, f);
}
#else
#define evaluate_avx2 evaluate_plain
#endif

void hmi_taylor_spread(const hmi_taylor *T, const double *x, double *y)
{
    for (size_t i = 0; i < T->width; i++)
        y[T->place[i]] = x[i];
}

void hmi_taylor_evaluate(const hmi_taylor *T, double h, double *y, double *f)
{
    if (T->jet.fused)
        evaluate_avx2(T, h, y, f);
    else
        evaluate_plain(T, h, y, f);
}
