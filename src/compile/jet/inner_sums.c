/* Forms the inner sums of an order. inner_sums.inc is read three times: for processors with fused
 * multiply-add, in blocks of four; for these again number by number, as the oracle of the first; and for
 * all other processors. */
#include "compile/jet/code.h"

#include <string.h>

typedef double block __attribute__((vector_size(32), aligned(8), may_alias));

#define INLINE   __attribute__((always_inline)) static inline
#define AT(p, j) (*(const block *)((p) + 4 * ((j)-1)))

#define NAME(f)       f##_plain
#define TARGET        __attribute__((unused))
#define MADD(a, b, c) ((a) * (b) + (c))
#include "compile/jet/inner_sums.inc"
#undef NAME
#undef TARGET
#undef MADD

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define FUSED __attribute__((target("avx2,fma")))

FUSED static inline block add_by_number(block a, block b, block c)
{
    for (int i = 0; i < 4; i++)
        c[i] = __builtin_fma(a[i], b[i], c[i]);
    return c;
}

#define NAME(f)       f##_fused
#define TARGET        FUSED
#define MADD(a, b, c) ((block)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#include "compile/jet/inner_sums.inc"
#undef NAME
#undef MADD

#define NAME(f)       f##_by_number
#define MADD(a, b, c) add_by_number(a, b, c)
#include "compile/jet/inner_sums.inc"
#undef NAME
#undef TARGET
#undef MADD
#else
#define find_fused         find_plain
#define find_by_number     find_plain
#define complete_fused     complete_plain
#define complete_by_number complete_plain
#endif

static void find_part(const hmi_jet *jet, int k)
{
    if (jet->find_part[k])
        jet->find_part[k](jet->memory, jet->series + 4 * (k - 2));
    else if (jet->vectors)
        find_fused(jet, k);
    else if (jet->fused)
        find_by_number(jet, k);
    else
        find_plain(jet, k);
}

void hmi_jet_begin_order(const hmi_jet *jet, int k)
{
    jet->scale[HMI_JET_K] = k;
    if (k == 1) {
        memset(jet->inner, 0, 4 * jet->block_count * sizeof *jet->inner);
        return;
    }
    find_part(jet, k);
    if (jet->vectors)
        complete_fused(jet, k);
    else if (jet->fused)
        complete_by_number(jet, k);
    else
        complete_plain(jet, k);
}
