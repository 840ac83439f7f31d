/* Inner sums of all pairs at one order: a text that jet_inner.c reads three times, with
 *   NAME(function)   the names it makes
 *   TARGET           attributes of functions
 *   MADD(a, b, c)    a b + c of blocks
 */

/* Inner sums of even order k >= 4, and those of order k + 1 as far as they are known now: series are read
 * once for both. What was found one order ago comes last: a vector must not be loaded just after its
 * numbers were stored, processors wait for that. */
TARGET static void NAME(even)(const double *X, int order, int k, double *out, double *ahead)
{
    const double *Y = X + 4 * order, *end = X + 4 * (k - 2);
    const double *x = X + 4, *y = Y + 4 * (k - 3);
    block s = {0, 0, 0, 0}, next = {0, 0, 0, 0}, odd = s, odd_next = s;
    for (; x + 4 < end; x += 8, y -= 8) { /* two sums each: additions wait for each other */
        s = MADD(AT(x, 1), AT(y, 1), s);
        next = MADD(AT(x, 2), AT(y, 1), next);
        odd = MADD(AT(x, 2), AT(y, 0), odd);
        odd_next = MADD(AT(x, 3), AT(y, 0), odd_next);
    }
    s = MADD(AT(x, 1), AT(y, 1), s); /* k - 3 terms: an odd number */
    next = MADD(AT(x, 2), AT(y, 1), next);
    next = MADD(AT(X, 2), AT(Y, k - 1), next);
    s = MADD(AT(X, 1), AT(Y, k - 1), s);
    s = MADD(AT(X, k - 1), AT(Y, 1), s);
    *(block *)out = s + odd;
    *(block *)ahead = next + odd_next;
}

/* The others: order 2 has one term, 3 has no sums ready. */
TARGET static void NAME(odd)(const double *X, int order, int k, double *out, const double *ahead)
{
    const double *Y = X + 4 * order;
    block s = {0, 0, 0, 0};
    if (k > 3)
        s = *(const block *)ahead;
    s = MADD(AT(X, 1), AT(Y, k - 1), s);
    if (k > 2)
        s = MADD(AT(X, k - 1), AT(Y, 1), s);
    *(block *)out = s;
}

TARGET static void NAME(find)(const hmi_jet *jet, int k)
{
    const size_t stride = 8 * (size_t)jet->order, blocks = jet->block_count;
    const double *x = jet->series;
    double *inner = jet->inner, *ahead = jet->ahead;
    if (k % 2 == 1 || k == 2) {
        for (size_t g = 0; g < blocks; g++)
            NAME(odd)(x + g * stride, jet->order, k, inner + 4 * g, ahead + 4 * g);
        return;
    }
    for (size_t g = 0; g < blocks; g++)
        NAME(even)(x + g * stride, jet->order, k, inner + 4 * g, ahead + 4 * g);
}
