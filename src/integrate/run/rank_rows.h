/* The rows that the rank watch compares (rank.c): of unit length, at one state and at the next. */
#ifndef HMI_INTEGRATE_RUN_RANK_ROWS_H
#define HMI_INTEGRATE_RUN_RANK_ROWS_H

#include "integrate/run/driver.h"

/* Its length; rows of zeros stay. */
double hmi_rank_take_row(const double *row, int n, double *unit);
/* Rows out of all m into `rows`. Their lengths are kept. */
void hmi_rank_take_rows(const hmi_rank_watch *w, const double *all, double *rows);
/* w->row: those that do not depend on others. left_out: by row of the model, which `model_row` gives;
 * NULL: none. */
void hmi_rank_choose_rows(hmi_rank_watch *w, const double *all, const bool *left_out,
                          const size_t *model_row);
/* Is there a sign of a drop between the states of w->last and w->now? */
bool hmi_rank_shows_drop(hmi_rank_watch *w, size_t n);
/* Of w->now; w->apart is theirs then. */
double hmi_rank_least_angle(hmi_rank_watch *w, int n);

#endif
