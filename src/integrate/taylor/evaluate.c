/* The polynomial of the series and its derivative at a time.
 *
 * Even and odd terms by Horner's rule in x^2, which halves the wait for each other; of the derivative
 * too, whose coefficients are k Y_k. Four components in a block, two blocks at a time, since each sum waits
 * for itself; Y, y and f have room behind them.
 */
#include "integrate/taylor/taylor.h"

typedef double block __attribute__((vector_size(32), aligned(8), may_alias));

#define INLINE   __attribute__((always_inline)) static inline
#define AT(k, b) (*(const block *)(c + (size_t)(k)*width + 4 * (size_t)(b)))

/* Once for each block: written out, so that all of them are in registers. */
#define EACH(...)                                                                                  \
    do {                                                                                           \
        {                                                                                          \
            enum { b = 0 };                                                                        \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        if (blocks > 1) {                                                                          \
            enum { b = 1 };                                                                        \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    } while (0)

/* Components from c on, `blocks` of four (1 or 2) side by side; f NULL: without their derivatives. */
INLINE void evaluate_blocks(const hmi_taylor *T, const double *c, int blocks, double h, double *y,
                            double *f)
{
    const double x = h / T->tau, x2 = x * x;
    const block X = {x, x, x, x}, X2 = {x2, x2, x2, x2}, zero = {0, 0, 0, 0};
    const size_t width = T->width;
    block even[2] = {zero, zero}, odd[2] = {zero, zero};
    block f_even[2] = {zero, zero}, f_odd[2] = {zero, zero};
    int k = T->order;
    if (k % 2 == 1)
        EACH(odd[b] = AT(k, b); f_even[b] = odd[b] * (double)k);
    for (k -= k % 2; k >= 2; k -= 2) { /* y: x^k, x^{k-1}; y': k x^{k-1}, (k-1) x^{k-2} */
        EACH(even[b] = even[b] * X2 + AT(k, b); odd[b] = odd[b] * X2 + AT(k - 1, b));
        if (f)
            EACH(f_odd[b] = f_odd[b] * X2 + AT(k, b) * (double)k;
                 f_even[b] = f_even[b] * X2 + AT(k - 1, b) * (double)(k - 1));
    }
    EACH(((block *)y)[b] = odd[b] * X + (even[b] * X2 + AT(0, b)));
    if (f)
        EACH(((block *)f)[b] = (f_odd[b] * X + f_even[b]) / T->tau);
}
#undef EACH

INLINE void evaluate_rows(const hmi_taylor *T, double h, double *y, double *f)
{
    size_t i = 0, width = T->width;
    for (; i + 4 < width; i += 8)
        evaluate_blocks(T, T->Y + i, 2, h, y + i, f ? f + i : NULL);
    if (i < width)
        evaluate_blocks(T, T->Y + i, 1, h, y + i, f ? f + i : NULL);
}

/* Each on its own, for the compiler. */
INLINE void evaluate_all(const hmi_taylor *T, double h, double *y, double *f)
{
    if (f)
        evaluate_rows(T, h, y, f);
    else
        evaluate_rows(T, h, y, NULL);
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
