/* Halving until every piece of the step is settled. */
#include "integrate/events/isolate.h"

#include <math.h>

enum { MOST_HALVINGS = 64 };

typedef enum verdict { SETTLED, HALVE, STOP } verdict;

/* The sign of g at s: +1, -1, or 0 where it is zero to within the error. */
static double sign_at(const hmi_isolation *search, double s)
{
    hmi_interval g = search->enclose(search->user, s, s).value;
    return g.lo > 0 ? 1 : g.hi < 0 ? -1 : 0;
}

static verdict report(hmi_isolation *search, hmi_root_kind kind, double a, double b)
{
    const hmi_root root = {kind, a, b, search->side};
    search->undecided = false;
    if (kind == HMI_ROOT_CROSSING)
        search->side = -search->side;
    return search->found(search->user, &root) ? SETTLED : STOP;
}

/* Up to a g could not be told from zero, and from there it has its old sign: a touch, if so. */
static verdict leave(hmi_isolation *search, double a)
{
    return search->undecided ? report(search, HMI_ROOT_TOUCH, search->undecided_from, a) : SETTLED;
}

/* On [a, b] g has the sign `sign` throughout: a crossing at a where another one held before. */
static verdict without_root(hmi_isolation *search, double sign, double a)
{
    return sign == search->side ? leave(search, a) : report(search, HMI_ROOT_CROSSING, a, a);
}

/* On [a, b] g rises (slope 1) or falls (-1): at most one root. */
static verdict monotone(hmi_isolation *search, double slope, double a, double b)
{
    if (slope == search->side && sign_at(search, a) == -search->side &&
        report(search, HMI_ROOT_CROSSING, a, a) == STOP) /* it was at a, and comes back */
        return STOP;
    if (slope == search->side && leave(search, a) == STOP)
        return STOP;
    return sign_at(search, b) == -search->side ? report(search, HMI_ROOT_CROSSING, a, b) : SETTLED;
}

/* A piece that cannot be halved any more, or on which g cannot be told from zero. */
static verdict unsettled(hmi_isolation *search, double a, double b)
{
    double end = sign_at(search, b);
    double from = search->undecided ? search->undecided_from : a;
    if (end != 0)
        return report(search, end == search->side ? HMI_ROOT_TOUCH : HMI_ROOT_CROSSING, from, b);
    search->undecided = a > 0 || search->undecided; /* at the start it only leaves zero */
    search->undecided_from = from;
    return SETTLED;
}

/* Long pieces are halved first: that costs less than to ask. */
#define LONG_PIECE (1.0 / 64)

static bool is_noise(const hmi_isolation *search, hmi_interval g, double a, double b)
{
    return search->noise && b - a <= LONG_PIECE &&
           fmax(fabs(g.lo), fabs(g.hi)) <= search->noise(search->user, 0.5 * (a + b));
}

static verdict look_at(hmi_isolation *search, double a, double b)
{
    hmi_enclosure g = search->whole ? *search->whole : search->enclose(search->user, a, b);
    search->whole = NULL;
    search->pieces++;
    if (!hmi_interval_has(g.value, 0))
        return without_root(search, g.value.lo > 0 ? 1 : -1, a);
    if (!hmi_interval_has(g.rate, 0))
        return monotone(search, g.rate.lo > 0 ? 1 : -1, a, b);
    return b - a <= search->shortest || is_noise(search, g.value, a, b) ? unsettled(search, a, b)
                                                                        : HALVE;
}

bool hmi_isolate_roots(hmi_isolation *search, double a, double b)
{
    double waiting[MOST_HALVINGS + 1]; /* right ends of pieces not looked at, the next one last */
    int count = 0;
    waiting[count++] = b;
    while (count > 0) {
        if (search->pieces >= search->most_pieces)
            return false;
        b = waiting[count - 1];
        verdict said = look_at(search, a, b);
        double middle = 0.5 * (a + b);
        if (said == HALVE && (count > MOST_HALVINGS || middle <= a || middle >= b))
            said = unsettled(search, a, b);
        if (said == STOP)
            return true;
        if (said == HALVE) {
            waiting[count++] = middle;
        } else {
            a = b;
            count--;
        }
    }
    return true;
}
