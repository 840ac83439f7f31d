/* Draws the progress line, and notes Ctrl-C. */
#include "progress.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double first_after = 0.6, every = 0.2;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_start(progress *p, bool quiet)
{
    *p = (progress){.shown = !quiet && isatty(STDERR_FILENO), .start = now()};
    p->last = p->start + first_after - every;
}

/* "12 s", "3 min 20 s", "2 h 5 min" */
static void format_duration(double seconds, char text[32])
{
    long s = seconds < 1e9 ? lround(seconds) : 1000000000;
    if (s < 100)
        snprintf(text, 32, "%ld s", s);
    else if (s < 3600)
        snprintf(text, 32, "%ld min %ld s", s / 60, s % 60);
    else
        snprintf(text, 32, "%ld h %ld min", s / 3600, s / 60 % 60);
}

/* The bar, then what is said of the present, then the time left. */
static void draw(progress *p, double at, double part, double left_s, const char *present)
{
    char left[32] = "", bar[41];
    if (left_s >= 0)
        format_duration(left_s, left);
    int full = (int)(part * 40);
    full = full < 0 ? 0 : full > 40 ? 40 : full;
    memset(bar, '.', 40);
    memset(bar, '=', (size_t)full);
    bar[40] = '\0';
    fprintf(stderr, "\r[%s] %3.0f %%  %s %s%s\033[K", bar, 100 * part, present, left,
            left[0] ? " left" : "");
    fflush(stderr);
    p->last = at;
    p->drawn = true;
}

void progress_update(progress *p, double t, double part)
{
    char present[32];
    double at = p->shown ? now() : 0;
    if (!p->shown || at - p->last < every)
        return;
    snprintf(present, sizeof present, "t = %-10.6g", t);
    draw(p, at, part, part > 1e-6 ? (at - p->start) * (1 - part) / part : -1, present);
}

void progress_count(progress *p, size_t done, size_t count)
{
    char present[96];
    double at = p->shown ? now() : 0;
    if (!p->counted)
        p->first = (double)done;
    p->counted = true;
    if (!p->shown || at - p->last < every)
        return;
    double rate = ((double)done - p->first) / (at - p->start);
    snprintf(present, sizeof present, "%zu of %zu, %.3g per second", done, count, rate);
    draw(p, at, count ? (double)done / (double)count : 1,
         rate > 0 ? (double)(count - done) / rate : -1, present);
}

void progress_end(progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = false;
}

/* ---- Ctrl-C ---- */

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static void watch(int signal)
{
    struct sigaction action = {.sa_handler = note_interrupt};
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

void interrupt_watch(void)
{
    watch(SIGINT);
}

void terminate_watch(void)
{
    watch(SIGTERM);
}

bool interrupt_seen(void)
{
    return interrupted != 0;
}
