/* The processes of a sweep under mpirun.
 *
 *     ---- launchers ----   what their variables say
 *     ---- sizes ----       how much is dealt at a time
 *     ---- MPI ----         start, messages, the thread that deals
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "sweep_ranks.h"

#include "mpi_calls.h"

#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- launchers ---- */

/* The first of these variables that is set to a number; -1: none is. */
static long environment_number(const char *const *names)
{
    for (; *names; names++) {
        const char *text = getenv(*names);
        char *end;
        long value = text ? strtol(text, &end, 10) : -1;
        if (text && end != text && *end == '\0' && value >= 0)
            return value;
    }
    return -1;
}

/* Open MPI, MPICH and its kin (also by Slurm's srun), MVAPICH. */
static long launched_size(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
                                        NULL};
    return environment_number(names);
}

static long launched_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "MV2_COMM_WORLD_RANK", NULL};
    return environment_number(names);
}

static long launched_here(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "MV2_COMM_WORLD_LOCAL_SIZE", NULL};
    return environment_number(names);
}

/* What several processes cannot do; said once. */
static int refuse(const invocation *call)
{
    const char *why = option_value(call, "--shard")
                          ? "under mpirun the points are dealt to its processes; --shard is for "
                            "schedulers without MPI"
                      : !option_value(call, "--out") ? "under mpirun --out FILE is needed"
                      : call->model && strcmp(call->model, "-") == 0
                          ? "under mpirun the model must be a file or an example: only one process "
                            "can read standard input"
                          : NULL;
    if (!why)
        return EXIT_DONE;
    return launched_rank() > 0 ? EXIT_BAD_INPUT : usage_error("%s", why);
}

unsigned ranks_jobs(const ranks *r)
{
    cpu_set_t allowed;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    long share = online > r->local ? online / r->local : 1;
    long bound = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : share;
    return (unsigned)(bound < share ? bound : share);
}

/* ---- sizes ---- */

/* A piece takes about this long, and at the end all ranks end together. */
#define PIECE_SECONDS 2.0
enum { FIRST_PIECE = 64, LEAST_PIECE = 4, MOST_PIECE = 1 << 16, GROWTH = 8, SHARES = 4 };

static size_t piece_size(const dealer *d, const piece_report *last)
{
    double wanted = FIRST_PIECE, share = (double)d->remaining / (SHARES * (double)d->ranks->size);
    if (last->points)
        wanted = fmin(GROWTH * (double)last->points,
                      (double)last->points * PIECE_SECONDS / fmax(last->seconds, 1e-9));
    return (size_t)fmin(fmax(fmin(wanted, share), LEAST_PIECE), MOST_PIECE);
}

static point_range deal(dealer *d, const piece_report *last)
{
    point_range piece = {0, 0};
    pthread_mutex_lock(&d->lock);
    while (d->at < d->count && d->next >= d->left[d->at].end)
        if (++d->at < d->count)
            d->next = d->left[d->at].first;
    if (d->at < d->count && !atomic_load(&d->stop)) {
        size_t size = piece_size(d, last), most = d->left[d->at].end - d->next;
        piece = (point_range){d->next, d->next + (size < most ? size : most)};
        d->next = piece.end;
        d->remaining -= piece.end - piece.first;
    }
    pthread_mutex_unlock(&d->lock);
    return piece;
}

/* ---- MPI ---- */

#ifdef HAMEL_HAVE_MPI

enum { TAG_REPORT = 1, TAG_PIECE = 2 };

int ranks_start(ranks *r, const invocation *call)
{
    long size = launched_size(), here = launched_here();
    int provided = 0;
    *r = (ranks){.size = 1, .local = 1};
    if (size == 1 || (size < 0 && launched_rank() < 0))
        return EXIT_DONE;
    int code = refuse(call);
    if (code != EXIT_DONE)
        return code;
    if (!library_load(&mpi_library)) {
        if (launched_rank() <= 0)
            say("hamel: MPI cannot be loaded (%s): without it %ld processes would all do the "
                "same\n",
                mpi_library.why, size);
        return EXIT_FAILED;
    }
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    r->local = here > 0 ? (int)here : r->size;
    if (provided < MPI_THREAD_SERIALIZED || (size > 0 && r->size != size)) {
        say("hamel: this MPI is not the one of the launcher, or lets no thread but the first use "
            "it; %d of %ld processes found each other\n",
            r->size, size);
        ranks_end(r);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

int ranks_agree(ranks *r, int code)
{
    if (r->size > 1 && !r->agreed)
        MPI_Bcast(&code, (int)sizeof code, MPI_BYTE, 0, MPI_COMM_WORLD);
    r->agreed = true;
    return code;
}

void ranks_end(ranks *r)
{
    if (r->size > 1)
        MPI_Finalize();
    r->size = 1;
}

void ranks_abort(const ranks *r)
{
    if (r->size > 1)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILED);
}

/* The next report of any rank, where there is one. */
static bool receive_report(piece_report *report, int *from)
{
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG_REPORT, MPI_COMM_WORLD, &there, &status);
    if (!there)
        return false;
    *from = status.MPI_SOURCE;
    MPI_Recv(report, (int)sizeof *report, MPI_BYTE, *from, TAG_REPORT, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return true;
}

/* Blocking calls of MPI keep a processor busy, which a rank may need to work: this looks and sleeps in turns. */
static void *serve(void *user)
{
    dealer *d = user;
    piece_report report;
    int from;
    const struct timespec nap = {.tv_nsec = 200000};
    while (d->working > 0) {
        if (!receive_report(&report, &from)) {
            nanosleep(&nap, NULL);
            continue;
        }
        atomic_fetch_add(&d->done, report.points);
        if (report.leaves) {
            d->working--;
            continue;
        }
        point_range piece = deal(d, &report);
        MPI_Send(&piece, (int)sizeof piece, MPI_BYTE, from, TAG_PIECE, MPI_COMM_WORLD);
    }
    return NULL;
}

static bool ask(const piece_report *last, point_range *piece)
{
    MPI_Send(last, (int)sizeof *last, MPI_BYTE, 0, TAG_REPORT, MPI_COMM_WORLD);
    MPI_Recv(piece, (int)sizeof *piece, MPI_BYTE, 0, TAG_PIECE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return piece->end > piece->first;
}

void dealer_leave(void)
{
    const piece_report report = {.leaves = true};
    MPI_Send(&report, (int)sizeof report, MPI_BYTE, 0, TAG_REPORT, MPI_COMM_WORLD);
}

#else

int ranks_start(ranks *r, const invocation *call)
{
    long size = launched_size();
    *r = (ranks){.size = 1, .local = 1};
    if (size == 1 || (size < 0 && launched_rank() < 0))
        return EXIT_DONE;
    int code = refuse(call);
    if (code != EXIT_DONE || launched_rank() > 0)
        return EXIT_BAD_INPUT;
    return usage_error(
        "this build has no MPI, and %ld processes would all do the same; --shard I/N "
        "divides a sweep without it",
        size);
}

int ranks_agree(ranks *r, int code)
{
    r->agreed = true;
    return code;
}

void ranks_end(ranks *r)
{
    r->size = 1;
}

void ranks_abort(const ranks *r)
{
    (void)r;
}

static void *serve(void *user)
{
    return user;
}

static bool ask(const piece_report *last, point_range *piece)
{
    (void)last;
    (void)piece;
    return false;
}

void dealer_leave(void)
{
}

#endif

/* ---- the dealer ---- */

int dealer_start(dealer *d, ranks *r, const point_range *left, size_t count)
{
    *d = (dealer){.ranks = r, .left = left, .count = count, .working = r->size - 1};
    d->next = count ? left[0].first : 0;
    for (size_t i = 0; i < count; i++)
        d->remaining += left[i].end - left[i].first;
    pthread_mutex_init(&d->lock, NULL);
    if (r->size > 1 && pthread_create(&d->thread, NULL, serve, d) != 0) {
        say("hamel: no thread can be made that deals the points\n");
        pthread_mutex_destroy(&d->lock);
        return EXIT_FAILED;
    }
    d->running = r->size > 1;
    return EXIT_DONE;
}

void dealer_join(dealer *d)
{
    if (d->running)
        pthread_join(d->thread, NULL);
    d->running = false;
    pthread_mutex_destroy(&d->lock);
}

bool dealer_next(dealer *d, const piece_report *last, point_range *piece)
{
    if (!d)
        return ask(last, piece);
    atomic_fetch_add(&d->done, last->points);
    *piece = deal(d, last);
    return piece->end > piece->first;
}
