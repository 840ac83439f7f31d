/* hm_sim_linearize: searches for the state, finds out what kind of state it is, and gives matrix,
 * eigenvalues and verdict. */
#include <hamel/linearize.h>

#include "analyse/linearize/equilibrium.h"
#include "analyse/linearize/relative_equilibrium.h"
#include "analyse/linearize/spectrum.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

hm_linearize_options hm_linearize_options_default(void)
{
    return (hm_linearize_options){.tolerance = 1e-8};
}

const char *hm_stability_text(hm_stability stability)
{
    return stability == HM_STABILITY_STABLE     ? "stable"
           : stability == HM_STABILITY_MARGINAL ? "marginal"
                                                : "unstable";
}

const char *hm_rest_text(hm_rest rest)
{
    return rest == HM_REST_EQUILIBRIUM ? "equilibrium"
           : rest == HM_REST_STEADY    ? "steady motion"
           : rest == HM_REST_RELATIVE  ? "relative equilibrium"
                                       : "neither";
}

/* The public part with its memory. */
typedef struct linearization {
    hm_linearization face;
    const hm_allocator *allocator;
    hmi_arena arena;
} linearization;

typedef struct job {
    hm_sim *sim;
    const hm_linearize_options *options;
    linearization *out;
    hmi_reduction r;
    double t, *x; /* the state that is linearised, or where a search is */
    hmi_kept kept;
    hmi_search search;
    bool drop; /* ignorable coordinates are left out of y */
    hmi_relative_equilibrium relative;
} job;

void hm_linearization_destroy(hm_linearization *face)
{
    linearization *l = (linearization *)face;
    if (!l)
        return;
    const hm_allocator *allocator = l->allocator;
    hmi_arena_release(&l->arena);
    hmi_free(allocator, l, sizeof *l);
}

/* ---- names ---- */

static const char *copy_name(job *j, size_t variable)
{
    const char *name = hmi_reduction_name(j->sim, variable);
    return name ? hmi_arena_text(&j->out->arena, name, strlen(name)) : NULL;
}

static hm_status mark_held(job *j)
{
    const hm_linearize_options *o = j->options;
    bool *held = hmi_arena_alloc(&j->r.arena, j->r.size + 1);
    if (!held)
        return HM_ERR_NOMEM;
    for (size_t i = 0; i < o->hold_count; i++) {
        bool found = false;
        for (size_t k = 0; k < j->r.size; k++) {
            const char *name = hmi_reduction_name(j->sim, k);
            if (!name)
                return HM_ERR_NOMEM;
            if (strcmp(name, o->hold[i]) == 0)
                held[k] = found = true;
        }
        if (!found) {
            hmi_error(j->sim->context, hmi_no_span,
                      "names are those of coordinates (x), velocities (x') and states",
                      "there is no '%s' to hold", o->hold[i]);
            return HM_ERR_USAGE;
        }
    }
    j->r.held = held;
    return HM_OK;
}

/* ---- where ---- */

/* From the state where the search began. */
static hm_status search_relative(job *j, const double *start)
{
    hmi_copy((int)j->r.size, start, j->x);
    hm_status status = hmi_reduction_update(&j->r, j->t, j->x);
    if (status == HM_OK)
        status = hmi_relative_equilibrium_init(&j->relative, &j->r);
    if (status == HM_OK && j->relative.count == 0)
        status = HM_ERR_NUMERIC;
    if (status == HM_OK)
        status = hmi_relative_equilibrium_find(&j->relative, j->options->tolerance, 60, j->t, j->x);
    hmi_relative_equilibrium_release(&j->relative);
    return status == HM_OK ? hmi_reduction_update(&j->r, j->t, j->x) : status;
}

static hm_status search(job *j)
{
    hm_context *context = j->sim->context;
    j->search.drop = j->options->steady;
    j->search.relax = !j->options->steady;
    j->search.tolerance = j->options->tolerance;
    j->search.most = 200;
    double *start = hmi_arena_alloc(&j->r.arena, (j->r.size + 1) * sizeof *start);
    hm_status status = start ? mark_held(j) : HM_ERR_NOMEM;
    if (status != HM_OK)
        return status;
    hmi_copy((int)j->r.size, j->x, start);
    status = hmi_find_rest(&j->r, &j->kept, &j->search, j->t, j->x);
    if (status == HM_ERR_NUMERIC && j->options->steady)
        status = search_relative(j, start);
    j->r.held = NULL;
    const char *what = j->options->steady ? "steady motion" : "equilibrium";
    double rate = hmi_kept_rate(&j->r, &j->kept);
    if (status == HM_ERR_NUMERIC && rate <= j->options->tolerance)
        hmi_error(context, hmi_no_span, "start nearer to it (--at)",
                  "no %s was found near the given state: the search diverges", what);
    else if (status == HM_ERR_NUMERIC)
        hmi_error(context, hmi_no_span, "start nearer to it (--at), or hold fewer values",
                  "no %s was found near the given state: the largest rate stays at %.3g", what,
                  rate);
    return status;
}

/* Is something that the kept rates depend on driven by t itself? */
static bool driven(const job *j)
{
    for (size_t k = 0; k < j->kept.count; k++)
        if (fabs(j->r.by_time[j->kept.index[k]]) > j->options->tolerance)
            return true;
    return false;
}

/* Equilibrium, steady motion or neither; leaves in `kept` what y is. */
static hm_status settle(job *j)
{
    hm_linearization *face = &j->out->face;
    double tolerance = j->options->tolerance;
    hmi_choose_kept(&j->r, false, &j->kept);
    /* Dependent variables count, too: constraints that move with t carry them along. */
    bool at_rest = hmi_max_abs((int)j->r.size, j->r.rate) <= tolerance && !driven(j);
    face->rest = at_rest ? HM_REST_EQUILIBRIUM : HM_REST_NONE;
    j->drop = j->options->ignorable == HM_IGNORABLE_DROP ||
              (j->options->ignorable == HM_IGNORABLE_WHEN_MOVING && !at_rest);
    if (!j->drop || j->kept.count == 0)
        return HM_OK;
    hmi_choose_kept(&j->r, true, &j->kept);
    if (at_rest)
        return HM_OK;
    if (hmi_kept_rate(&j->r, &j->kept) <= tolerance && !driven(j)) {
        bool steady = false;
        hm_status status = hmi_verify_steady(&j->r, &j->kept, tolerance, &steady);
        if (status != HM_OK)
            return status;
        if (steady)
            face->rest = HM_REST_STEADY;
    }
    j->drop = face->rest == HM_REST_STEADY || j->options->ignorable == HM_IGNORABLE_DROP;
    hmi_choose_kept(&j->r, j->drop, &j->kept);
    return HM_OK;
}

/* ---- relative equilibria ---- */

/* "x' = 1 - 2*y, ...": the velocity of the moving frame. */
static const char *frame_text(job *j)
{
    const hmi_relative_equilibrium *rel = &j->relative;
    size_t n = j->r.n;
    double largest = hmi_max_abs((int)rel->unknowns, rel->moving);
    hmi_text text;
    hmi_text_init(&text, j->out->allocator);
    for (size_t i = 0; i < n; i++) {
        bool begun = false;
        for (size_t k = 0; k <= n && (k == 0 || rel->unknowns > n); k++) {
            double c = rel->moving[k == 0 ? i : n + i * n + k - 1];
            if (fabs(c) <= 1e-9 * largest)
                continue;
            if (!begun)
                hmi_text_addf(&text, "%s%s = ", text.length ? ", " : "",
                              hmi_reduction_name(j->sim, n + i));
            hmi_text_addf(&text, "%s%.10g",
                          !begun  ? c < 0 ? "-" : ""
                          : c < 0 ? " - "
                                  : " + ",
                          fabs(c));
            if (k > 0)
                hmi_text_addf(&text, "*%s", hmi_reduction_name(j->sim, k - 1));
            begun = true;
        }
    }
    const char *kept = text.failed
                           ? NULL
                           : hmi_arena_text(&j->out->arena, hmi_text_view(&text), text.length);
    hmi_text_release(&text);
    return kept;
}

/* Tried where the state is neither at rest nor steady: does it move along a symmetry? */
static hm_status settle_relative(job *j)
{
    hm_linearization *face = &j->out->face;
    hm_status status = hmi_relative_equilibrium_init(&j->relative, &j->r);
    if (status != HM_OK || j->relative.count == 0)
        return status;
    status = hmi_relative_equilibrium_update(&j->relative);
    if (status != HM_OK || !(j->relative.residual <= j->options->tolerance)) {
        hm_status again = hmi_reduction_update(&j->r, j->t, j->x); /* A as it was */
        return status == HM_OK ? again : status;
    }
    face->rest = HM_REST_RELATIVE;
    face->symmetries = j->relative.count;
    face->frame = frame_text(j);
    j->kept.count = 0;
    for (size_t k = 0; k < j->r.dimension; k++)
        if (!j->relative.out[k])
            j->kept.index[j->kept.count++] = k;
    return face->frame ? HM_OK : HM_ERR_NOMEM;
}

/* ---- results ---- */

static const double *copy_doubles(job *j, const double *from, size_t count)
{
    double *to = hmi_arena_alloc(&j->out->arena, (count + 1) * sizeof *to);
    if (to)
        hmi_copy((int)count, from, to);
    return to;
}

static hm_status take_state(job *j)
{
    hm_linearization *face = &j->out->face;
    face->t = j->t;
    face->n = j->r.n;
    face->states = j->r.states;
    face->q = copy_doubles(j, j->x, j->r.n);
    face->v = copy_doubles(j, j->x + j->r.n, j->r.n);
    face->z = copy_doubles(j, j->x + 2 * j->r.n, j->r.states);
    face->iterations = j->search.iterations;
    double rate = face->rest == HM_REST_RELATIVE ? j->relative.residual
                                                 : hmi_kept_rate(&j->r, &j->kept);
    face->residual = fmax(rate, hmi_max_abs((int)(2 * j->r.m), j->r.residual));
    return face->q && face->v && face->z ? HM_OK : HM_ERR_NOMEM;
}

static hm_status take_names(job *j)
{
    hm_linearization *face = &j->out->face;
    size_t d = j->r.dimension, dropped = d - j->kept.count, at = 0;
    const char **names = hmi_arena_alloc(&j->out->arena, (d + 1) * sizeof *names);
    const char **others = hmi_arena_alloc(&j->out->arena, (dropped + 1) * sizeof *others);
    bool good = names && others;
    for (size_t k = 0, i = 0; k < d && good; k++) {
        const char *name = copy_name(j, j->r.independent[k]);
        good = name != NULL;
        if (i < j->kept.count && j->kept.index[i] == k)
            names[i++] = name;
        else
            others[at++] = name;
    }
    face->names = names;
    face->dropped = others;
    face->dropped_count = dropped;
    face->dimension = j->kept.count;
    return good ? HM_OK : HM_ERR_NOMEM;
}

static hm_status take_spectrum(job *j)
{
    hm_linearization *face = &j->out->face;
    hmi_spectrum spectrum;
    double *A = hmi_arena_alloc(&j->out->arena,
                                (face->dimension * face->dimension + 1) * sizeof *A);
    if (!A)
        return HM_ERR_NOMEM;
    hm_status status = HM_OK;
    if (face->rest == HM_REST_RELATIVE) {
        hmi_relative_equilibrium_matrix(&j->relative, A);
        status = hmi_relative_equilibrium_family(&j->relative, A, &face->family);
    } else {
        hmi_kept_matrix(&j->r, &j->kept, A);
    }
    if (status == HM_OK)
        status = hmi_spectrum_of(&spectrum, &j->out->arena, face->dimension, A);
    face->A = A;
    face->re = spectrum.re;
    face->im = spectrum.im;
    face->error = spectrum.error;
    face->modes_re = spectrum.modes_re;
    face->modes_im = spectrum.modes_im;
    return status;
}

/* Zero eigenvalues that belong to a family of states at rest do not decide: where the others have
 * negative real parts the state is stable (Lyapunov-Malkin), and a disturbed motion settles on a
 * neighbour. */
static void decide(hm_linearization *face)
{
    bool growing = false, neutral = false;
    face->zeros = 0;
    for (size_t k = 0; k < face->dimension; k++) {
        double error = face->error[k];
        bool zero = hypot(face->re[k], face->im[k]) <= error;
        face->zeros += zero;
        growing |= !zero && face->re[k] > error;
        neutral |= !zero && fabs(face->re[k]) <= error;
    }
    neutral |= face->zeros > face->family;
    face->stability = growing   ? HM_STABILITY_UNSTABLE
                      : neutral ? HM_STABILITY_MARGINAL
                                : HM_STABILITY_STABLE;
}

static hm_status describe(job *j)
{
    hm_status status = settle(j);
    if (status == HM_OK && j->out->face.rest == HM_REST_NONE &&
        j->options->ignorable != HM_IGNORABLE_KEEP)
        status = settle_relative(j);
    hm_rest rest = j->out->face.rest;
    if (status == HM_OK && rest != HM_REST_NONE && rest != HM_REST_RELATIVE)
        status = hmi_family_dimension(&j->r, &j->kept, j->drop, &j->out->face.family);
    if (status == HM_OK)
        status = take_state(j);
    if (status == HM_OK)
        status = take_names(j);
    if (status == HM_OK)
        status = take_spectrum(j);
    if (status == HM_OK)
        decide(&j->out->face);
    return status;
}

static linearization *new_linearization(const hm_allocator *allocator)
{
    linearization *l = hmi_alloc(allocator, sizeof *l);
    if (l) {
        *l = (linearization){.allocator = allocator};
        hmi_arena_init(&l->arena, allocator);
    }
    return l;
}

/* The sim's present state, as the array x. */
static hm_status begin(job *j)
{
    const hmi_point *at = hmi_sim_present(j->sim);
    size_t n = j->r.n;
    bool failed = false;
    j->t = at->t;
    j->x = hmi_arena_doubles(&j->r.arena, j->r.size, &failed);
    if (failed)
        return HM_ERR_NOMEM;
    hmi_copy((int)n, at->q, j->x);
    hmi_copy((int)n, at->v, j->x + n);
    hmi_copy((int)j->r.states, at->z, j->x + 2 * n);
    return HM_OK;
}

static hm_status linearize(job *j)
{
    size_t n = j->r.n;
    j->kept.index = hmi_arena_alloc(&j->r.arena, (j->r.size + 1) * sizeof *j->kept.index);
    if (!j->kept.index)
        return HM_ERR_NOMEM;
    hm_status status = begin(j);
    if (status == HM_OK)
        status = j->options->find ? search(j) : hmi_reduction_update(&j->r, j->t, j->x);
    if (j->options->find && j->x) /* what the search is asked for: the sim is left there */
        hm_sim_set_state(j->sim, j->t, j->x, j->x + n, j->x + 2 * n);
    if (status == HM_ERR_UNDETERMINED || status == HM_ERR_INCONSISTENT)
        hmi_error(j->sim->context, hmi_no_span, "hamel eval shows the equations at this state",
                  "the accelerations are not determined at this state");
    return status == HM_OK ? describe(j) : status;
}

hm_status hm_sim_linearize(hm_sim *sim, const hm_linearize_options *options, hm_linearization **out)
{
    const hm_linearize_options standard = hm_linearize_options_default();
    if (!sim->dense.dynamics) {
        hmi_error(sim->context, hmi_no_span, NULL,
                  "systems with more than %d coordinates are not linearised", HM_MOST_DENSE);
        return HM_ERR_USAGE;
    }
    job j = {.sim = sim, .options = options ? options : &standard};
    hm_status status = hmi_reduction_init(&j.r, sim);
    j.out = status == HM_OK ? new_linearization(sim->system->allocator) : NULL;
    if (status == HM_OK && !j.out)
        status = HM_ERR_NOMEM;
    if (status == HM_OK)
        status = linearize(&j);
    hmi_relative_equilibrium_release(&j.relative);
    hmi_reduction_release(&j.r);
    if (status == HM_OK)
        *out = &j.out->face;
    else if (j.out)
        hm_linearization_destroy(&j.out->face);
    return status;
}
