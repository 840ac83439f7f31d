/* Philox, and Sobol's sequence with Owen's scrambling.
 * Verified: test/unit/sweep/test_random_point.c
 */
#include "sweep/random_point.h"

/* ---- Philox ---- */

void hmi_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
    uint32_t k0 = key[0], k1 = key[1];
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = UINT64_C(0xD2511F53) * c[0], p1 = UINT64_C(0xCD9E8D57) * c[2];
        uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k0, (uint32_t)p1,
                            (uint32_t)(p0 >> 32) ^ c[3] ^ k1, (uint32_t)p0};
        for (int i = 0; i < 4; i++)
            c[i] = next[i];
        k0 += UINT32_C(0x9E3779B9);
        k1 += UINT32_C(0xBB67AE85);
    }
    for (int i = 0; i < 4; i++)
        out[i] = c[i];
}

/* `purpose` tells streams of one seed apart. */
static uint64_t bits_at(uint64_t seed, uint64_t point, uint32_t dimension, uint32_t purpose)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)point, (uint32_t)(point >> 32), dimension, purpose};
    uint32_t out[4];
    hmi_philox(key, counter, out);
    return (uint64_t)out[1] << 32 | out[0];
}

enum { INDEPENDENT, SCRAMBLING };

double hmi_uniform_at(uint64_t seed, uint64_t point, uint32_t dimension)
{
    return ((double)(bits_at(seed, point, dimension, INDEPENDENT) >> 12) + 0.5) * 0x1p-52;
}

/* ---- Sobol ---- */

typedef struct dimension {
    uint8_t degree;
    uint16_t polynomial;
    uint16_t m[10];
} dimension;

static const dimension dimensions[HMI_SOBOL_DIMENSIONS - 1] = {
#define DIMENSION(degree, polynomial, ...) {degree, polynomial, {__VA_ARGS__}},
#include "sweep/sobol_directions.inc"
#undef DIMENSION
};

/* m_1 .. m_32 of a dimension: m_k = m_{k-s} ^ 2^s m_{k-s} ^ (those of the polynomial's middle bits).
 *                                                                         [Bratley & Fox 1988] */
static void find_directions(uint32_t which, uint32_t m[32])
{
    if (which == 0) {
        for (int k = 0; k < 32; k++)
            m[k] = 1;
        return;
    }
    const dimension *d = &dimensions[which - 1];
    for (int k = 0; k < 32; k++) {
        if (k < d->degree) {
            m[k] = d->m[k];
            continue;
        }
        m[k] = m[k - d->degree] ^ m[k - d->degree] << d->degree;
        for (int i = 1; i < d->degree; i++)
            if (d->polynomial >> (d->degree - i) & 1)
                m[k] ^= m[k - i] << i;
    }
}

uint32_t hmi_sobol_bits(uint32_t point, uint32_t which)
{
    uint32_t m[32], bits = 0;
    find_directions(which, m);
    for (int k = 0; point; k++, point >>= 1)
        if (point & 1)
            bits ^= m[k] << (31 - k);
    return bits;
}

/* Owen's scrambling digit by digit: whether a digit is turned is a random bit that depends on the digits
 * before it. They and their number make the counter. */
static uint32_t scramble(uint64_t seed, uint32_t which, uint32_t bits)
{
    uint32_t turned = 0;
    for (int digit = 0; digit < 32; digit++) {
        uint32_t before = digit ? bits >> (32 - digit) : 0;
        uint64_t place = (uint64_t)(digit + 1) << 32 | before;
        turned |= (uint32_t)(bits_at(seed, place, which, SCRAMBLING) & 1) << (31 - digit);
    }
    return bits ^ turned;
}

double hmi_sobol_at(uint64_t seed, uint64_t point, uint32_t which)
{
    uint32_t bits = scramble(seed, which, hmi_sobol_bits((uint32_t)point, which));
    return ((double)bits + 0.5) * 0x1p-32;
}
