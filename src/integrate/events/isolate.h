/* All roots of a function along a step, none overlooked.
 *
 * The function g is given by enclosures: bounds of g and of its rate over any piece of the step
 * (compile/tape/enclosure.h on the polynomial of the dense output). A piece is settled where
 *     0 is not in [g]:   it has no root;
 *     0 is not in [g']:  it has at most one, and the signs at its ends tell whether it has;
 * any other piece is halved. No pair of roots can hide: between two roots g' has a zero, so that
 * neither test settles a piece that holds both. [Moore 1966; Hansen & Walster 2004, ch. 9]
 *
 * What remains are pieces on which g is zero to within its noise (the error with which it is known),
 * or that are as short as `shortest`. Where the signs on both sides of such a piece differ it holds
 * a crossing; where they are equal g touches zero, or crosses it twice, or not at all: undecided,
 * and reported as a touch.
 *
 * Times are parts of the step, 0 .. 1. The sign before the step, `side`, is what held until now: at
 * the start g may be zero to within rounding, since the last root may have been there.
 * Verified: test/unit/integrate/test_isolate.c
 */
#ifndef HMI_INTEGRATE_EVENTS_ISOLATE_H
#define HMI_INTEGRATE_EVENTS_ISOLATE_H

#include "compile/tape/interval.h"

#include <hamel/base.h>
#include <stddef.h>

/* Bounds of g and of dg/ds over the piece [a, b] of the step; a == b: at a point, for its sign. */
typedef hmi_enclosure hmi_enclose_function(void *user, double a, double b);

typedef enum hmi_root_kind {
    HMI_ROOT_CROSSING, /* one root with a change of sign in [a, b] */
    HMI_ROOT_TOUCH     /* undecided: equal signs on both sides of [a, b] */
} hmi_root_kind;

typedef struct hmi_root {
    hmi_root_kind kind;
    double a, b;
    double side; /* sign of g before it */
} hmi_root;

/* The error with which g is known around s: |g| below that counts as zero. */
typedef double hmi_noise_function(void *user, double s);

/* Called in the order of time; false ends the search. */
typedef bool hmi_root_function(void *user, const hmi_root *root);

typedef struct hmi_isolation {
    hmi_enclose_function *enclose;
    hmi_root_function *found;
    hmi_noise_function *noise;  /* NULL: none */
    void *user;                 /* given to all of them */
    const hmi_enclosure *whole; /* over all that is looked through, where known; else NULL */
    double shortest;            /* pieces are not halved below that */
    long most_pieces;           /* looked at, at most */
    long pieces;                /* that were looked at */
    bool undecided;             /* g could not be told from zero, */
    double undecided_from;      /* from here up to what is looked at */
    double side;                /* sign of g before the step, and after what was found; +1 or -1 */
} hmi_isolation;

/* Looks through [a, b]. False: there are more than most_pieces pieces, and the rest was not looked
 * at. */
bool hmi_isolate_roots(hmi_isolation *search, double a, double b);

#endif
