/* Watched functions: their tapes on intervals along the path, and the refinement of roots. */
#include "integrate/events/watch.h"

#include <string.h>

/* ---- tapes ----------------------------------------------------------------------------------- */

enum {
    ON_PATH = HMI_DEP(HMI_SYM_COORD) | HMI_DEP(HMI_SYM_VELOCITY) | HMI_DEP(HMI_SYM_STATE),
    INPUTS = HMI_DEP(HMI_SYM_INPUT) | HMI_DEP(HMI_SYM_INPUT_RATE) | HMI_DEP(HMI_SYM_INPUT_RATE2),
    CLOSED = ON_PATH | INPUTS | HMI_DEP(HMI_SYM_TIME) | HMI_DEP(HMI_SYM_PARAM) |
             HMI_DEP(HMI_SYM_MODE)
};

/* Components that a tape reads get a place on the path. */
static void place_components(hmi_watch *watch, const hmi_tape *tape)
{
    for (size_t i = tape->param_inputs; i < tape->inputs.count; i++) {
        const hmi_tape_input *input = &tape->inputs.data[i];
        size_t base = input->kind == HMI_SYM_COORD      ? 0
                      : input->kind == HMI_SYM_VELOCITY ? watch->n
                                                        : 2 * watch->n;
        bool on_path = HMI_DEP(input->kind) & ON_PATH;
        for (size_t k = 0; on_path && k < input->count; k++) {
            uint32_t *place = &watch->place[base + input->first + k];
            if (*place == UINT32_MAX)
                *place = (uint32_t)watch->used++;
        }
    }
}

static hm_status compile(hmi_watch *watch, hmi_watched *f, const hmi_graph *graph, hmi_expr g,
                         hmi_tape_scratch *scratch, hmi_arena *arena)
{
    uint16_t deps = hmi_deps(graph, g);
    f->closed = !(deps & ~CLOSED);
    f->time_only = f->closed && (deps & HMI_DEP(HMI_SYM_TIME)) && !(deps & (ON_PATH | INPUTS));
    if (!f->closed)
        return HM_OK;
    hm_status status = hmi_tape_build(&f->tape, graph, &g, 1, scratch);
    if (status != HM_OK)
        return status;
    bool failed = false;
    f->numbers = hmi_arena_doubles(arena, f->tape.work_size, &failed);
    f->work = hmi_arena_alloc(arena, (f->tape.work_size + 1) * sizeof *f->work);
    place_components(watch, &f->tape);
    f->plain = f->tape.body.count <= 2; /* one instruction, and the end */
    return failed || !f->work ? HM_ERR_NOMEM : HM_OK;
}

static hm_status allocate_path(hmi_watch *watch, hmi_arena *arena)
{
    bool failed = false;
    watch->coefficient = hmi_arena_doubles(arena, (HMI_PATH_MOST_DEGREE + 1) * watch->used,
                                           &failed);
    watch->bounds = hmi_arena_alloc(arena, (watch->used + 1) * sizeof *watch->bounds);
    return failed || !watch->bounds ? HM_ERR_NOMEM : HM_OK;
}

hm_status hmi_watch_init(hmi_watch *watch, const hmi_graph *graph, const hmi_expr *functions,
                         size_t count, size_t n, size_t size, const hmi_watch_inputs *inputs,
                         hmi_arena *arena)
{
    hmi_tape_scratch scratch;
    *watch = (hmi_watch){.allocator = graph->allocator, .inputs = *inputs, .n = n, .size = size};
    watch->place = hmi_arena_alloc(arena, (size + 1) * sizeof *watch->place);
    watch->functions = hmi_arena_alloc(arena, (count + 1) * sizeof *watch->functions);
    size_t input_size = inputs->tape ? inputs->tape->work_size : 0;
    watch->inputs.work = hmi_arena_alloc(arena, (input_size + 1) * sizeof *watch->inputs.work);
    bool failed = false;
    watch->inputs.numbers = hmi_arena_doubles(arena, input_size, &failed);
    if (failed || !watch->functions || !watch->inputs.work || !watch->place)
        return HM_ERR_NOMEM;
    memset(watch->place, 0xFF, (size + 1) * sizeof *watch->place);
    if (inputs->tape)
        place_components(watch, inputs->tape);
    hm_status status = HM_OK;
    hmi_tape_scratch_init(&scratch, graph->allocator);
    for (; watch->count < count && status == HM_OK; watch->count++)
        status = compile(watch, &watch->functions[watch->count], graph, functions[watch->count],
                         &scratch, arena);
    hmi_tape_scratch_release(&scratch);
    hmi_watch_renew(watch);
    return status == HM_OK ? allocate_path(watch, arena) : status;
}

void hmi_watch_release(hmi_watch *watch)
{
    for (size_t k = 0; k < watch->count; k++)
        hmi_tape_release(&watch->functions[k].tape);
    watch->count = 0;
}

void hmi_watch_prepare(hmi_watch *watch, const hmi_tape_values *values)
{
    hmi_watch_inputs *inputs = &watch->inputs;
    for (size_t k = 0; k < watch->count; k++) {
        hmi_watched *f = &watch->functions[k];
        if (!f->closed)
            continue;
        hmi_tape_prepare(&f->tape, values, f->numbers);
        hmi_tape_enclose_prepare(&f->tape, f->numbers, f->work);
    }
    if (inputs->tape) {
        hmi_tape_prepare(inputs->tape, values, inputs->numbers);
        hmi_tape_enclose_prepare(inputs->tape, inputs->numbers, inputs->work);
    }
    hmi_watch_renew(watch);
}

void hmi_watch_renew(hmi_watch *watch)
{
    watch->inputs.a = 1;
    watch->inputs.b = 0;
}

/* ---- symbols on a piece ---------------------------------------------------------------------- */

static hmi_enclosure number(double value)
{
    return (hmi_enclosure){{value, value}, {0, 0}};
}

static double time_at(const hmi_path *p, double s)
{
    return s == 0 ? p->t : s == 1 ? p->end : p->t + s * p->h;
}

static hmi_enclosure time_on_piece(const hmi_watch *w)
{
    const hmi_path *p = &w->path;
    double a = time_at(p, w->a), b = time_at(p, w->b);
    hmi_interval t = w->a == w->b ? (hmi_interval){a, a} : hmi_interval_widen(a, b);
    return (hmi_enclosure){t, {p->h, p->h}};
}

static hmi_enclosure component_on_piece(const hmi_watch *w, size_t i)
{
    hmi_enclosure e = hmi_path_enclose(&w->path, w->place[i], w->a, w->b);
    if (w->widening > 0) {
        double most = fmax(fabs(e.value.lo), fabs(e.value.hi));
        double width = w->widening * (w->atol + w->rtol * most);
        e.value = (hmi_interval){e.value.lo - width, e.value.hi + width};
    }
    return e;
}

static hmi_enclosure symbol_on_piece(const void *user, hmi_symbol_kind kind, uint32_t index);

static hmi_enclosure input_on_piece(const hmi_watch *w, int order, uint32_t index)
{
    hmi_watch_inputs *in = (hmi_watch_inputs *)&w->inputs; /* a cache of what the piece implies */
    if (in->held && in->held[index])
        return number(in->value[order][index]);
    if (in->a != w->a || in->b != w->b || w->widening > 0) {
        hmi_tape_enclose(in->tape, symbol_on_piece, w, in->work);
        in->a = w->widening > 0 ? 1 : w->a;
        in->b = w->widening > 0 ? 0 : w->b;
    }
    return in->work[in->tape->output_slot + (size_t)order * in->count + index];
}

static hmi_enclosure symbol_on_piece(const void *user, hmi_symbol_kind kind, uint32_t index)
{
    const hmi_watch *w = user;
    switch (kind) {
    case HMI_SYM_TIME:
        return time_on_piece(w);
    case HMI_SYM_COORD:
        return component_on_piece(w, index);
    case HMI_SYM_VELOCITY:
        return component_on_piece(w, w->n + index);
    case HMI_SYM_STATE:
        return component_on_piece(w, 2 * w->n + index);
    case HMI_SYM_MODE:
        return number(w->modes[index]);
    case HMI_SYM_INPUT:
        return input_on_piece(w, 0, index);
    case HMI_SYM_INPUT_RATE:
        return input_on_piece(w, 1, index);
    case HMI_SYM_INPUT_RATE2:
        return input_on_piece(w, 2, index);
    default:
        return (hmi_enclosure){hmi_everything, hmi_everything};
    }
}

/* ---- h on a piece ---------------------------------------------------------------------------- */

typedef struct searching {
    hmi_watch *watch;
    const hmi_query *query;
    const hmi_enclosure *whole; /* h over all that is looked at; NULL: not known */
    bool stopped;
} searching;

static hmi_enclosure evaluate(const searching *at, double a, double b)
{
    hmi_watch *w = at->watch;
    const hmi_watched *f = &w->functions[at->query->function];
    if (at->query->sampled) {
        hmi_enclosure h = hmi_path_enclose(at->query->sampled, 0, a, b);
        h.value.lo -= at->query->error;
        h.value.hi += at->query->error;
        return h;
    }
    w->a = a;
    w->b = b;
    hmi_tape_enclose(&f->tape, symbol_on_piece, w, f->work);
    hmi_enclosure h = f->work[f->tape.output_slot];
    if (at->query->offset != 0)
        h.value = hmi_interval_sub(h.value, (hmi_interval){at->query->offset, at->query->offset});
    if (at->query->sign < 0)
        h = (hmi_enclosure){{-h.value.hi, -h.value.lo}, {-h.rate.hi, -h.rate.lo}};
    return h;
}

/* The same, sharper on short pieces: h lies within h(m) + h' (s - m). */
static hmi_enclosure enclose(void *user, double a, double b)
{
    const searching *at = user;
    hmi_enclosure h = evaluate(at, a, b);
    bool settled = !hmi_interval_has(h.value, 0) || !hmi_interval_has(h.rate, 0);
    bool plain = at->query->sampled || at->watch->functions[at->query->function].plain;
    if (a == b || settled || plain || !isfinite(h.rate.lo) || !isfinite(h.rate.hi))
        return h;
    double m = 0.5 * (a + b), r = 0.5 * (b - a) * fmax(fabs(h.rate.lo), fabs(h.rate.hi));
    hmi_interval middle = evaluate(at, m, m).value;
    hmi_interval other = hmi_interval_widen(middle.lo - r, middle.hi + r);
    h.value = (hmi_interval){fmax(h.value.lo, other.lo), fmin(h.value.hi, other.hi)};
    return h;
}

/* The error of h by the tolerances of the motion. */
static double noise(void *user, double s)
{
    const searching *at = user;
    if (at->query->sampled)
        return 2 * at->query->error;
    at->watch->widening = 1;
    hmi_interval h = evaluate(at, s, s).value;
    at->watch->widening = 0;
    return 0.5 * (h.hi - h.lo);
}

double hmi_watch_noise(hmi_watch *watch, size_t function, double t, const double *y)
{
    const hmi_query query = {.function = function, .sign = 1};
    searching at = {.watch = watch, .query = &query};
    watch->path = (hmi_path){
        .t = t, .end = t, .coefficient = watch->coefficient, .bounds = watch->bounds};
    for (size_t i = 0; i < watch->size; i++)
        if (watch->place[i] != UINT32_MAX)
            watch->coefficient[watch->place[i]] = y[i];
    hmi_path_measure(&watch->path, watch->used);
    return noise(&at, 0);
}

/* ---- refinement ------------------------------------------------------------------------------ */

enum { MOST_REFINEMENTS = 100 };

/* The bracket of a crossing down to the last bits of time: Newton, and halving where it leaves the
 * bracket or is slow. h has the sign `side` at a and the other one at b, up to rounding. */
static void refine(const searching *at, hmi_root *root)
{
    const hmi_path *path = &at->watch->path;
    double a = root->a, b = root->b, s = 0.5 * (a + b);
    double least = 2 * 0x1p-52 * (fabs(path->t) / fabs(path->h) + 1);
    double last = INFINITY;
    for (int i = 0; i < MOST_REFINEMENTS && b - a > least; i++) {
        hmi_enclosure e = evaluate(at, s, s);
        double h = 0.5 * (e.value.lo + e.value.hi), slope = 0.5 * (e.rate.lo + e.rate.hi);
        if (h * root->side > 0)
            a = s;
        else
            b = s;
        double next = s - h / slope;
        bool quick = fabs(next - s) < 0.5 * last;
        last = fabs(next - s);
        if (last < least) { /* as good as can be: close the bracket around it */
            a = fmax(a, next - least);
            b = fmin(b, next + least);
            break;
        }
        s = quick && next > a && next < b ? next : 0.5 * (a + b);
    }
    root->a = fmin(a, b);
    root->b = fmax(a, b);
}

static bool found(void *user, const hmi_root *root)
{
    searching *at = user;
    hmi_root refined = *root;
    if (root->kind == HMI_ROOT_CROSSING)
        refine(at, &refined);
    bool go_on = at->query->found(at->query->user, &refined);
    at->stopped = !go_on;
    return go_on;
}

/* ---- searches -------------------------------------------------------------------------------- */

enum { MOST_PIECES = 4000000 };

static bool search(searching *at, double *side)
{
    hmi_isolation isolation = {.enclose = enclose,
                               .noise = noise,
                               .found = found,
                               .user = at,
                               .whole = at->whole,
                               .shortest = 1e-12,
                               .most_pieces = MOST_PIECES,
                               .side = at->query->side};
    bool complete = hmi_isolate_roots(&isolation, 0, at->query->end);
    *side = isolation.side;
    return complete;
}

hmi_enclosure hmi_watch_bounds(hmi_watch *watch, const hmi_query *query, double a, double b)
{
    const searching at = {.watch = watch, .query = query};
    return evaluate(&at, a, b);
}

bool hmi_watch_search(hmi_watch *watch, const hmi_query *query, const hmi_enclosure *whole,
                      double *side)
{
    searching at = {.watch = watch, .query = query, .whole = whole};
    return search(&at, side);
}

static bool take_first(void *user, const hmi_root *root)
{
    double *first = user;
    if (root->kind != HMI_ROOT_CROSSING)
        return true;
    *first = root->b;
    return false;
}

/* A time at or after a root of a function of t alone at which its sign is certainly the new one. */
static double past_root(hmi_watch *watch, const hmi_query *query, double root)
{
    double t = root, step = 2 * 0x1p-52 * fmax(fabs(root), 0x1p-1000);
    for (int i = 0; i < 30; i++, step *= 2) {
        watch->path = (hmi_path){.t = t, .end = t};
        hmi_interval h = hmi_watch_bounds(watch, query, 0, 0).value;
        if (query->side > 0 ? h.hi < 0 : h.lo > 0)
            return t;
        t = root + step;
    }
    return root; /* it only just touches: the step looks at it again */
}

double hmi_watch_next_time(hmi_watch *watch, size_t function, double side, double t, double limit,
                           bool *sure)
{
    hmi_path kept = watch->path;
    double first = INFINITY, after, next = limit;
    const hmi_query query = {.function = function,
                             .side = side,
                             .sign = 1,
                             .end = 1,
                             .found = take_first,
                             .user = &first};
    watch->path = (hmi_path){.t = t, .h = limit - t, .end = limit};
    *sure = hmi_watch_search(watch, &query, NULL, &after);
    if (first <= 1)
        next = past_root(watch, &query, t + first * (limit - t));
    watch->path = kept;
    return next;
}
