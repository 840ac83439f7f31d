/* Rows of constraints at one state and at the next, of unit length: have they lost rank between?
 *
 * hmi_rank_watch is the memory of the watch over isolated rank drops (rank.c): the rows of the last
 * two steps, and the motion there. The functions here compare rows and know nothing of a run; a
 * batch of an ensemble uses them, too. Rows are dense, or where that is far cheaper sparse
 * (row_products.h): entries only, of all m rows, with zeros in those that are not watched. */
#ifndef HMI_INTEGRATE_RANK_RANK_ROWS_H
#define HMI_INTEGRATE_RANK_RANK_ROWS_H

#include "base/memory.h"
#include "integrate/rank/row_products.h"
#include "linalg/tolerances.h"

/* Steps of the present length to look ahead for angles that vanish, and such steps until errors of
 * velocities count together. */
enum { HMI_RANK_AHEAD = 3, HMI_RANK_COMING = 30 };

typedef struct hmi_rank_watch {
    size_t m, n;              /* rows of the velocity level, coordinates */
    size_t count;             /* independent rows; sparse: all */
    size_t *row;              /* of the velocity level */
    hmi_row_products *sparse; /* NULL: rows are dense */
    bool *unwatched;          /* sparse, m: rows that follow from others */
    double *entries;          /* sparse: as evaluated, not yet of unit length */
    double *now, *last;       /* count x n: of unit length */
    double *end;              /* the same, scratch */
    double *longest;          /* m: the largest length of a row so far */
    double *length;           /* m: of the rows of `now` */
    double *product, *tau;    /* count^2; of the QR decomposition */
    int *pivots;
    bool known;                           /* last is */
    double t[2], *motion[2], smallest[2]; /* at the last two steps: q, v, q''; least pivot */
    double apart;    /* least singular value of `last`: not less; 0: not known */
    size_t steps;    /* of these that are known */
    double *y;       /* foreseen state */
    double *least;   /* of the stepper, while `close` */
    bool close;      /* a drop is coming, or just passed: since the least pivot */
    double close_at; /* was that */
    int drops;       /* in the last steps, one after the other */
} hmi_rank_watch;

/* m rows, n coordinates, states of `size` components and works. */
hm_status hmi_rank_watch_allocate(hmi_rank_watch *w, hmi_arena *arena, size_t m, size_t n,
                                  size_t size);
/* The same with sparse rows. */
hm_status hmi_rank_watch_allocate_sparse(hmi_rank_watch *w, hmi_arena *arena,
                                         hmi_row_products *sparse, size_t size);
/* Doubles that hold the rows of one state. */
size_t hmi_rank_size(const hmi_rank_watch *w);
void hmi_rank_watch_forget(hmi_rank_watch *w);
/* unit := the row at unit length, or zeros where it is zero. Returns its length. */
double hmi_rank_take_row(const double *row, int n, double *unit);
/* Rows out of all m (dense, or sparse entries of all) into `rows`, at unit length. Their lengths are
 * kept. */
void hmi_rank_take_rows(const hmi_rank_watch *w, const double *all, double *rows);
/* w->row: those that do not depend on others. left_out: by row of the model, which `model_row` gives;
 * NULL: none. */
void hmi_rank_choose_rows(hmi_rank_watch *w, const double *all, const bool *left_out,
                          const size_t *model_row);
/* For batches: are the m dense rows independent? */
bool hmi_rank_rows_independent(hmi_rank_watch *w, const double *all);
/* Is there a sign of a drop between the states of w->last and w->now? */
bool hmi_rank_shows_drop(hmi_rank_watch *w, size_t n);
/* Has a direction that the rows hold turned round on the way from w->last to w->now, which may be longer
 * than a step? A row that turned too far to say counts as no. w->end: what hmi_rank_begin_looking made of
 * w->last. */
bool hmi_rank_turned_round(hmi_rank_watch *w);
void hmi_rank_begin_looking(hmi_rank_watch *w);
/* The least sine of the angle between a row of w->now and those before it; w->apart is theirs then. */
double hmi_rank_least_angle(hmi_rank_watch *w, int n);

#endif
