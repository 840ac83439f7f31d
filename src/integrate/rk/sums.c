/* Sums over stages: see sums.h. One text, compiled twice. */
#include "integrate/rk/sums.h"

#include "compile/jit/jit.h"
#include "compile/tape/machine_code.h"

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

#define AT(p)  (*(const four *)(const void *)(p))
#define OUT(p) (*(four *)(void *)(p))
#define INLINE static inline __attribute__((always_inline))

/* Eight components from i on, or four: none waits for another. */
INLINE void add_eight(const hmi_rk_terms *row, const double *K, size_t n, const double *y, double h,
                      double *out, size_t i)
{
    const double *k = K + (size_t)row->stage[0] * n + i;
    four a = row->weight[0] * AT(k), b = row->weight[0] * AT(k + 4);
    for (int j = 1; j < row->count; j++) {
        k = K + (size_t)row->stage[j] * n + i;
        a += row->weight[j] * AT(k);
        b += row->weight[j] * AT(k + 4);
    }
    OUT(out + i) = y ? AT(y + i) + h * a : h * a;
    OUT(out + i + 4) = y ? AT(y + i + 4) + h * b : h * b;
}

INLINE void add_four(const hmi_rk_terms *row, const double *K, size_t n, const double *y, double h,
                     double *out, size_t i)
{
    four a = row->weight[0] * AT(K + (size_t)row->stage[0] * n + i);
    for (int j = 1; j < row->count; j++)
        a += row->weight[j] * AT(K + (size_t)row->stage[j] * n + i);
    OUT(out + i) = y ? AT(y + i) + h * a : h * a;
}

INLINE void add_one(const hmi_rk_terms *row, const double *K, size_t n, const double *y, double h,
                    double *out, size_t i)
{
    double a = row->weight[0] * K[(size_t)row->stage[0] * n + i];
    for (int j = 1; j < row->count; j++)
        a += row->weight[j] * K[(size_t)row->stage[j] * n + i];
    out[i] = y ? y[i] + h * a : h * a;
}

/* What is left over at the end is computed with some of those before, again. */
INLINE void add_all(const hmi_rk_terms *row, const double *K, size_t n, const double *y, double h,
                    double *out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        add_eight(row, K, n, y, h, out, i);
    if (i < n && n >= 8 && n - i > 4)
        add_eight(row, K, n, y, h, out, n - 8);
    else {
        if (i + 4 <= n) {
            add_four(row, K, n, y, h, out, i);
            i += 4;
        }
        if (i < n && n >= 4)
            add_four(row, K, n, y, h, out, n - 4);
        else
            for (; i < n; i++)
                add_one(row, K, n, y, h, out, i);
    }
}

#define SUMS(name, TARGET)                                                                         \
    TARGET void name(const hmi_rk_terms *row, const double *K, size_t n, const double *y,          \
                     double h, double *restrict out)                                               \
    {                                                                                              \
        if (y)                                                                                     \
            add_all(row, K, n, y, h, out);                                                         \
        else                                                                                       \
            add_all(row, K, n, NULL, h, out);                                                      \
    }

SUMS(hmi_rk_sums_portable, )

#if defined(__x86_64__)
SUMS(sums_avx2, __attribute__((target("avx2"))) static)
#endif

hmi_rk_sums *hmi_rk_sums_here(void)
{
#if defined(__x86_64__)
    if (hmi_machine_code_available())
        return sums_avx2;
#endif
    return hmi_rk_sums_portable;
}
