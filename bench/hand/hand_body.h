/* Right-hand sides y' = f(y), y = (q, v), and the choice between them. Once a type, as models.h. */

#define HAND_RATES(model, n)                                                                       \
    static void HAND_NAME(rates_##model)(const REAL *y, REAL *dy)                                  \
    {                                                                                              \
        for (int i = 0; i < n; i++)                                                                \
            dy[i] = y[n + i];                                                                      \
        HAND_NAME(model)(y, y + n, dy + n);                                                        \
    }

static inline void HAND_NAME(ten_links)(const REAL *q, const REAL *v, REAL *a)
{
    HAND_NAME(links)(10, q, v, a);
}

HAND_RATES(skate, 3)
HAND_RATES(hamel_skate, 3)
HAND_RATES(pendulum, 2)
HAND_RATES(double_pendulum, 2)
HAND_RATES(ten_links, 10)
HAND_RATES(andrews, 7)

/* (x, y, yaw, lean, spin, yaw', lean', spin'); the centre's contact point follows the spin */
static void HAND_NAME(rates_disc)(const REAL *y, REAL *dy)
{
    dy[0] = y[7] * cos(y[2]);
    dy[1] = y[7] * sin(y[2]);
    for (int i = 0; i < 3; i++)
        dy[2 + i] = y[5 + i];
    HAND_NAME(disc)(y, y + 5, dy + 5);
}

/* Back to length 1, and the velocity to the tangent: without it the error grows like t^2. */
static void HAND_NAME(settle_pendulum)(REAL *y)
{
    REAL r = 1 / sqrt(y[0] * y[0] + y[1] * y[1]);
    y[0] *= r;
    y[1] *= r;
    REAL d = y[0] * y[2] + y[1] * y[3];
    y[2] -= d * y[0];
    y[3] -= d * y[1];
}

static int HAND_NAME(run)(hand_model model, REAL end, REAL rtol, REAL atol, REAL *y,
                          hand_work *work)
{
    switch (model) {
    case HAND_SKATE:
        return HAND_NAME(integrate)(HAND_NAME(rates_skate), NULL, 6, end, rtol, atol, y, work);
    case HAND_HAMEL_SKATE:
        return HAND_NAME(integrate)(HAND_NAME(rates_hamel_skate), NULL, 6, end, rtol, atol, y,
                                    work);
    case HAND_PENDULUM:
        return HAND_NAME(integrate)(HAND_NAME(rates_pendulum), HAND_NAME(settle_pendulum), 4, end,
                                    rtol, atol, y, work);
    case HAND_DOUBLE_PENDULUM:
        return HAND_NAME(integrate)(HAND_NAME(rates_double_pendulum), NULL, 4, end, rtol, atol, y,
                                    work);
    case HAND_LINKS:
        return HAND_NAME(integrate)(HAND_NAME(rates_ten_links), NULL, 20, end, rtol, atol, y, work);
    case HAND_ANDREWS:
        return HAND_NAME(integrate)(HAND_NAME(rates_andrews), NULL, 14, end, rtol, atol, y, work);
    case HAND_DISC:
        return HAND_NAME(integrate)(HAND_NAME(rates_disc), NULL, 8, end, rtol, atol, y, work);
    default:
        return -1;
    }
}
