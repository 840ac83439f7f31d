/* A sweep by several processes, or one that several began: what is missing is dealt out, every process writes a part,
 * and the first one puts the parts together in the end. */
#include "sweep_ranks.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool resumes(const sweep *s)
{
    return option_value(s->call, "--resume") != NULL;
}

/* Only the first process looks at what is there. */
static int look_at_parts(sweep *s, part_list *parts)
{
    if (!parts_find(s, parts))
        return EXIT_FAILED;
    if (parts->count && !resumes(s))
        return usage_error(
            "'%s' holds an unfinished sweep: continue it with --resume, or remove it",
            parts->paths[0]);
    return parts_read(s, parts);
}

int share_prepare(sweep *s)
{
    part_list parts = {0};
    int code = s->ranks->rank == 0 ? look_at_parts(s, &parts) : EXIT_DONE;
    parts_release(&parts);
    return code;
}

/* Piece after piece. */
static hm_status work(sweep *s, const hm_sweep_options *all, dealer *d, piece_report *last)
{
    hm_status status = HM_OK;
    hm_sweep_options options = *all;
    hm_sweep_result result;
    point_range piece;
    while (status == HM_OK && dealer_next(d, last, &piece)) {
        double begin = now();
        options.first = piece.first;
        options.end = piece.end;
        s->next = piece.first;
        *last = (piece_report){0};
        status = hm_sweep_run(s->s->context, s->s->system, s->plan, s->measures, &options, &result);
        s->result.done += result.done;
        if (status != HM_OK || result.interrupted || s->broken)
            break;
        fputs("#\n", s->rows);
        if (!rows_flush(s))
            break;
        *last = (piece_report){.points = piece.end - piece.first, .seconds = now() - begin};
    }
    return status;
}

/* What all processes have done together. */
static bool put_together(sweep *s)
{
    part_list parts = {0};
    size_t missing = 0, left = 0;
    if (!parts_find(s, &parts) || parts_read(s, &parts) != EXIT_DONE) {
        parts_release(&parts);
        s->broken = true;
        return false;
    }
    point_range *ranges = parts_missing(s, &parts, &missing);
    for (size_t i = 0; ranges && i < missing; i++)
        left += ranges[i].end - ranges[i].first;
    bool good = ranges != NULL;
    s->next = s->end - left; /* a number of points, not the next one */
    if (good && left == 0) {
        good = parts_gather(s, &parts);
        if (good)
            parts_remove(s, &parts);
    }
    free(ranges);
    parts_release(&parts);
    return good;
}

static hm_status run_first(sweep *s, const hm_sweep_options *options)
{
    part_list parts = {0};
    dealer d;
    size_t count = 0;
    point_range *left = NULL;
    piece_report last = {0};
    hm_status status = HM_OK;
    if (parts_find(s, &parts) && parts_read(s, &parts) == EXIT_DONE)
        left = parts_missing(s, &parts, &count);
    parts_release(&parts);
    if (!left || parts_open(s, 0, resumes(s)) != EXIT_DONE ||
        dealer_start(&d, s->ranks, left, count) != EXIT_DONE) {
        free(left);
        ranks_abort(s->ranks); /* the others wait for work */
        s->broken = true;
        return HM_OK;
    }
    s->dealer = &d;
    status = work(s, options, &d, &last);
    if (status != HM_OK || s->broken || interrupt_seen())
        atomic_store(&d.stop, true);
    if (!s->broken)
        (void)rows_sync(s);
    dealer_join(&d);
    s->result.done = atomic_load(&d.done);
    s->dealer = NULL;
    ranks_end(s->ranks);
    free(left);
    if (status == HM_OK && !s->broken)
        (void)put_together(s);
    return status;
}

/* The first process says what came of it; this one only what went wrong here. */
static hm_status run_other(sweep *s, const hm_sweep_options *options)
{
    piece_report last = {0};
    hm_status status = HM_OK;
    if (parts_open(s, s->ranks->rank, resumes(s)) == EXIT_DONE) {
        status = work(s, options, NULL, &last);
        if (!s->broken)
            (void)rows_sync(s);
    }
    dealer_leave();
    ranks_end(s->ranks);
    return status;
}

size_t share_done(const sweep *s)
{
    return s->dealer ? atomic_load(&s->dealer->done) : 0;
}

hm_status share_run(sweep *s, const hm_sweep_options *options)
{
    double begin = now();
    s->result = (hm_sweep_result){.points = s->end - s->first};
    hm_status status = s->ranks->rank == 0 ? run_first(s, options) : run_other(s, options);
    s->result.wall_s = now() - begin;
    return status;
}
