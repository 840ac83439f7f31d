/* Inner sums of all pairs at one order: a text that jet_inner.c reads three times, with
 *   NAME(function)   the names it makes
 *   TARGET           attributes of functions
 *   MADD(a, b, c)    a b + c of blocks
 *
 * Orders come by fours: at k = 4, 8, .. the sums of orders k .. k + 3 are made as far as they are known
 * then,
 *     Sum_{j=i+1..k-1} x_j y_{k+i-j},   i = 0 .. 3,
 * for which a number that is loaded serves four times; the orders k + 1 .. k + 3 add what they lack.
 */

#define STEP(x, y0, y1, y2, y3, s)                                                                 \
    do {                                                                                           \
        const block X_ = (x);                                                                      \
        s[0] = MADD(X_, y0, s[0]);                                                                 \
        s[1] = MADD(X_, y1, s[1]);                                                                 \
        s[2] = MADD(X_, y2, s[2]);                                                                 \
        s[3] = MADD(X_, y3, s[3]);                                                                 \
    } while (0)

/* k = 4, 8, ..; two sums each, since additions wait for each other. */
TARGET INLINE void NAME(find_four)(const double *X, int order, int k, double *out, double *ahead,
                                   size_t apart)
{
    const double *Y = X + 4 * order, *x = X + 12, *y = Y + 4 * (k - 5), *end = X + 4 * (k - 1);
    block s[4], r[4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
    block y1 = AT(Y, k - 3), y2 = AT(Y, k - 2), y3 = AT(Y, k - 1), y0;
    s[3] = r[0];
    s[0] = MADD(AT(X, 3), y1, MADD(AT(X, 1), y3, r[0]));
    r[0] = MADD(AT(X, 2), y2, r[0]);
    s[1] = MADD(AT(X, 3), y2, r[1]);
    r[1] = MADD(AT(X, 2), y3, r[1]);
    s[2] = MADD(AT(X, 3), y3, r[2]);
    for (; x < end; x += 16, y -= 16) {
        y0 = AT(y, 1);
        STEP(AT(x, 1), y0, y1, y2, y3, s);
        y3 = AT(y, 0);
        STEP(AT(x, 2), y3, y0, y1, y2, r);
        y2 = AT(y, -1);
        STEP(AT(x, 3), y2, y3, y0, y1, s);
        y1 = AT(y, -2);
        STEP(AT(x, 4), y1, y2, y3, y0, r);
    }
    *(block *)out = s[0] + r[0];
    *(block *)ahead = s[1] + r[1];
    *(block *)(ahead + apart) = s[2] + r[2];
    *(block *)(ahead + 2 * apart) = s[3] + r[3];
}
#undef STEP

/* Orders 2 and 3, which have no sums ready. */
TARGET INLINE void NAME(find_small)(const double *X, int order, int k, double *out)
{
    const double *Y = X + 4 * order;
    block s = AT(X, 1) * AT(Y, k - 1);
    if (k > 2)
        s = MADD(AT(X, 2), AT(Y, 1), s);
    *(block *)out = s;
}

/* Order k = 4 n + i, i = 1, 2, 3. What was found one order ago comes last: it has just been stored. */
TARGET INLINE void NAME(find_rest)(const double *X, int order, int k, int i, double *out,
                                   const double *ahead)
{
    const double *Y = X + 4 * order, *x = X + 4 * (k - 1),
                 *y = Y + 4 * (k - 1); /* AT(x, 1 - j): x_{k-j} */
    block s = *(const block *)ahead, r = {0, 0, 0, 0};
    if (i > 2) {
        s = MADD(AT(X, 3), AT(y, -2), s);
        r = MADD(AT(x, -2), AT(Y, 3), r);
    }
    if (i > 1) {
        s = MADD(AT(X, 2), AT(y, -1), s);
        r = MADD(AT(x, -1), AT(Y, 2), r);
    }
    s = MADD(AT(X, 1), AT(y, 0), s);
    r = MADD(AT(x, 0), AT(Y, 1), r);
    *(block *)out = s + r;
}

TARGET static void NAME(find)(const hmi_jet *jet, int k)
{
    const int order = jet->order;
    const size_t stride = 8 * (size_t)order, blocks = jet->block_count, apart = 4 * blocks;
    const double *x = jet->series, *end = x + blocks * stride;
    double *inner = jet->inner, *ahead = jet->ahead;
    if (k < 4)
        for (; x < end; x += stride, inner += 4)
            NAME(find_small)(x, order, k, inner);
    else if (k % 4 == 0)
        for (; x < end; x += stride, inner += 4, ahead += 4)
            NAME(find_four)(x, order, k, inner, ahead, apart);
    else if (k % 4 == 1)
        for (; x < end; x += stride, inner += 4, ahead += 4)
            NAME(find_rest)(x, order, k, 1, inner, ahead);
    else if (k % 4 == 2)
        for (ahead += apart; x < end; x += stride, inner += 4, ahead += 4)
            NAME(find_rest)(x, order, k, 2, inner, ahead);
    else
        for (ahead += 2 * apart; x < end; x += stride, inner += 4, ahead += 4)
            NAME(find_rest)(x, order, k, 3, inner, ahead);
}
