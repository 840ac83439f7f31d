/* Crossings: found on the dense output of a step, none overlooked.
 *
 * Every function g has a side, the sign that holds. What is watched is h, positive while nothing
 * happens: side g, 1 - |s| while something slides, the distance of |u| from rest for friction along
 * u/|u|. Closed functions are followed by enclosures on the polynomials of the dense output (watch.h).
 * Functions that need a solve are sampled at 5, 9 or 17 Chebyshev points, as many as it takes until
 * their polynomial is known well enough to say where it has roots.
 *
 * The earliest root of a switch, or of an event that stops or sets, ends the step; functions that
 * cross within rounding of it act together. Events that are only recorded never end a step: their
 * roots before that are listed in `passed`.
 */
#include "integrate/events/events.h"

#include "base/sort.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { MOST_ROOT_STEPS = 100 };

/* ---- what is watched, in numbers -------------------------------------------------------------- */

static const hmi_direction *direction_of(const hmi_switches *sw, size_t k)
{
    for (size_t d = 0; d < sw->held.directions; d++)
        if (sw->directions[d].first == k)
            return &sw->directions[d];
    return NULL;
}

/* h of all functions at a state; false where it cannot be evaluated. */
static bool watch(hmi_events *ev, double t, const double *y, double *h)
{
    hmi_switches *sw = &ev->switches;
    hmi_point at = hmi_ode_point(ev->ode, t, y);
    if ((sw->needs_solve || sw->held.sliding || ev->ode->dirac) &&
        hmi_events_forces(ev, &at) != HM_OK)
        return false;
    const double *g = hmi_switches_values(sw, &at);
    for (size_t k = 0; k < sw->count; k++) {
        bool part = k < sw->switches && (hmi_switch_follows(sw, k) || hmi_switch_has_no_way(sw, k));
        bool slides = k < sw->switches && sw->sliding[k];
        h[k] = part ? 1 : slides ? 1 - fabs(sw->mode[k]) : sw->side[k] * g[k];
        if (k >= sw->events_end)
            h[k] = hmi_contact_watched_value(ev->contact, k - sw->events_end, g[k]);
    }
    for (size_t k = 0; k < sw->held.directions; k++) {
        const hmi_direction *u = &sw->directions[k];
        h[u->first] = u->stuck                 ? 1 + 1e-12 - g[u->first + u->count + 1]
                      : sw->side[u->first] > 0 ? g[u->first] - u->least
                                               : u->loose - g[u->first];
    }
    return true;
}

static bool watch_at(hmi_events *ev, double t, double *h)
{
    const hmi_stepper *s = ev->stepper;
    if (t == s->t)
        return watch(ev, t, s->y, h);
    if (t == s->t_old)
        return watch(ev, t, s->y_old, h);
    s->method->interpolate(s, t, ev->state);
    return watch(ev, t, ev->state, h);
}

/* ---- one function through the step ------------------------------------------------------------ */

/* A search for roots of one function. */
typedef struct chase {
    hmi_events *ev;
    size_t function;
    bool records;   /* roots do not end the step */
    bool skip;      /* the next root: h was on its way back when the step began */
    double flips;   /* -1 after an odd number of roots */
    double root[2]; /* bracket of the one that ends the step, as parts of it */
    bool found;
    hm_status status;
} chase;

static double time_of(const hmi_stepper *s, double part)
{
    return part >= 1 ? s->t : s->t_old + part * (s->t - s->t_old);
}

/* Does the event want a crossing from this side? */
static bool is_wanted(const hmi_event *event, double side)
{
    return !event || event->direction == HMI_EVENT_BOTH ||
           (event->direction == HMI_EVENT_RISING) == (side < 0);
}

static void say_touch(const chase *c, const hmi_root *root)
{
    const hmi_event *event = hmi_events_model_event(c->ev, c->function);
    double t = time_of(c->ev->stepper, root->a);
    if (hmi_events_contact(c->ev, c->function))
        return; /* it has just opened, or only touches */
    if (hmi_locations_has_table(c->ev, c->function))
        return; /* both pieces have the same value there */
    if (event)
        hmi_messages_warn(c->ev->messages,
                          "event '%s' comes as near to zero at t = %.9g as its error: whether it "
                          "crosses or only touches is undecided",
                          event->name, t);
    else
        hmi_messages_warn(
            c->ev->messages,
            "a function that is not smooth comes as near to its switching at t = %.9g "
            "as its error: whether it switches is undecided",
            t);
}

static bool take_root(void *user, const hmi_root *root)
{
    chase *c = user;
    hmi_events *ev = c->ev;
    const hmi_event *event = hmi_events_model_event(ev, c->function);
    if (root->kind == HMI_ROOT_TOUCH) {
        say_touch(c, root);
        return true;
    }
    if (c->skip) {
        c->skip = false;
        return true;
    }
    bool wanted = is_wanted(event, (event ? ev->switches.side[c->function] : 1) * c->flips);
    if (event && (c->records || !wanted)) {
        const hmi_passed passed = {time_of(ev->stepper, root->b), c->function, wanted};
        c->flips = -c->flips;
        if (!hmi_array_push(ev->ode->sim->system->allocator, &ev->passed, passed))
            c->status = HM_ERR_NOMEM;
        return c->status == HM_OK;
    }
    c->found = true;
    c->root[0] = root->a;
    c->root[1] = root->b;
    return false;
}

/* How a function is looked at: h = sign (g - offset). */
static hmi_query query_of(const hmi_events *ev, size_t k)
{
    const hmi_switches *sw = &ev->switches;
    const hmi_direction *u = k < sw->switches ? direction_of(sw, k) : NULL;
    hmi_query query = {.function = k, .side = 1, .sign = sw->side[k], .end = 1, .found = take_root};
    if (u) {
        query.sign = sw->side[k] > 0 ? 1 : -1;
        query.offset = sw->side[k] > 0 ? u->least : u->loose;
    }
    const hmi_contact_function *f = hmi_events_contact(ev, k);
    if (f) {
        query.sign = f->side;
        query.offset = -f->side * f->slack;
    }
    return query;
}

/* Looks for roots in the first `end` of the step. */
static hm_status look_through(chase *c, hmi_query *query, double end)
{
    hmi_events *ev = c->ev;
    double side;
    query->user = c;
    query->end = end;
    const hmi_enclosure whole = hmi_watch_bounds(&ev->watch, query, 0, end);
    if (whole.value.lo > 0)
        return HM_OK; /* most steps */
    hmi_enclosure start = hmi_watch_bounds(&ev->watch, query, 0, 0);
    if (start.value.hi < 0 && start.rate.lo > 0) { /* past zero, and on the way back */
        query->side = -1;
        c->skip = true;
    }
    if (hmi_watch_search(&ev->watch, query, &whole, &side))
        return c->status;
    const hmi_event *event = hmi_events_model_event(ev, c->function);
    ev->trouble = event ? "an event changes its sign more often in one step than can be followed"
                        : "a function that is not smooth switches more often in one step than can "
                          "be followed";
    return HM_ERR_NUMERIC;
}

/* ---- functions that need a solve --------------------------------------------------------------- */

static bool is_sampled(const hmi_events *ev, size_t k)
{
    const hmi_switches *sw = &ev->switches;
    if (k >= sw->events_end)
        return hmi_contact_is_sampled(hmi_events_contact(ev, k)) || !ev->watch.functions[k].closed;
    if (k < sw->switches && (sw->sliding[k] || hmi_switch_follows(sw, k))) {
        const hmi_direction *u = direction_of(sw, k);
        return sw->sliding[k] || !u || u->stuck || !ev->watch.functions[k].closed;
    }
    return ev->ode->dirac || !ev->watch.functions[k].closed;
}

static bool is_watched(const hmi_events *ev, size_t k)
{
    const hmi_switches *sw = &ev->switches;
    if (k >= sw->events_end)
        return hmi_events_contact(ev, k)->watched;
    if (k < sw->switches && hmi_switch_has_no_way(sw, k))
        return false;
    return k >= sw->switches || !hmi_switch_follows(sw, k) || direction_of(sw, k);
}

/* Values at the points of `degree` that those of half the degree do not have; place j of function k
 * is sampled[k HMI_MOST_SAMPLES + j stride]. What cannot be evaluated is NaN. */
static void sample(hmi_events *ev, int degree, bool all)
{
    const hmi_stepper *s = ev->stepper;
    int stride = (HMI_MOST_SAMPLES - 1) / degree;
    for (int j = 0; j <= degree; j++) {
        if (!all && j % 2 == 0)
            continue;
        bool good = watch_at(ev, time_of(s, hmi_path_place(degree, j)), ev->between);
        for (size_t k = 0; k < ev->switches.count; k++)
            ev->sampled[k * HMI_MOST_SAMPLES + (size_t)(j * stride)] = good ? ev->between[k] : NAN;
    }
}

/* The values of function k in a row; false where one is missing. */
static bool take_samples(const hmi_events *ev, size_t k, int degree, double *value)
{
    int stride = (HMI_MOST_SAMPLES - 1) / degree;
    bool good = true;
    for (int j = 0; j <= degree; j++) {
        value[j] = ev->sampled[k * HMI_MOST_SAMPLES + (size_t)(j * stride)];
        good = good && isfinite(value[j]);
    }
    return good;
}

/* Is h clearly positive throughout, by its polynomial and ten times its error? */
static bool stays_positive(int degree, const double *value)
{
    double coefficient[HMI_MOST_SAMPLES];
    hmi_path_fit(degree, value, coefficient);
    hmi_path_bounds bounds;
    const hmi_path path = {
        .origin = 0.5, .degree = degree, .coefficient = coefficient, .bounds = &bounds};
    hmi_path_measure(&path, 1);
    double margin = 10 * hmi_path_tail(degree, value);
    for (int piece = 0; piece < 8; piece++)
        if (!(hmi_path_enclose(&path, 0, piece / 8.0, (piece + 1) / 8.0).value.lo > margin))
            return false;
    return true;
}

/* The degree up to which all sampled functions had to be sampled. */
static int sample_all(hmi_events *ev)
{
    double value[HMI_MOST_SAMPLES];
    for (int degree = 4;; degree *= 2) {
        sample(ev, degree, degree == 4);
        bool settled = true;
        for (size_t k = 0; k < ev->switches.count && settled; k++)
            if (is_watched(ev, k) && is_sampled(ev, k) && take_samples(ev, k, degree, value))
                settled = stays_positive(degree, value);
        if (settled || degree == HMI_MOST_SAMPLES - 1)
            return degree;
    }
}

/* A value that is missing ends the part that can be looked at. */
static hm_status chase_sampled(chase *c, int degree, double end)
{
    double value[HMI_MOST_SAMPLES], coefficient[HMI_MOST_SAMPLES];
    if (!take_samples(c->ev, c->function, degree, value))
        return HM_OK;
    hmi_path_fit(degree, value, coefficient);
    hmi_path_bounds bounds;
    const hmi_path path = {
        .origin = 0.5, .degree = degree, .coefficient = coefficient, .bounds = &bounds};
    hmi_path_measure(&path, 1);
    hmi_query query = {.function = c->function,
                       .side = 1,
                       .sampled = &path,
                       .error = fmin(hmi_path_tail(degree, value), 1e-3 * fabs(value[0])),
                       .found = take_root};
    return look_through(c, &query, end);
}

/* ---- the last bits of the root that ends the step --------------------------------------------- */

/* The first time at which h of function k is negative within the bracket, h(b) < 0: Illinois with
 * bisection on the dense output itself. Where its rounding hides the change of sign: b. */
static double find_root(hmi_events *ev, size_t k, double a, double b)
{
    const double *h = ev->between;
    double least = 2 * HMI_EPSILON * fmax(fabs(a), fabs(b));
    double ha = watch_at(ev, a, ev->between) ? h[k] : NAN;
    double hb = watch_at(ev, b, ev->between) ? h[k] : NAN;
    if (!(hb < 0) || !(ha > 0))
        return b;
    for (int i = 0; i < MOST_ROOT_STEPS && b - a > least; i++) {
        double t = i % 3 == 2 || !isfinite(ha - hb) ? 0.5 * (a + b) : b - hb * (b - a) / (hb - ha);
        t = fmin(fmax(t, a + 0.5 * least), b - 0.5 * least);
        if (!watch_at(ev, t, ev->between))
            return b;
        if (h[k] < 0) {
            if (i > 0)
                ha *= 0.5;
            b = t;
            hb = h[k];
        } else {
            a = t;
            ha = h[k] > 0 ? h[k] : 1e-300;
        }
    }
    return b;
}

static double polish(const chase *c)
{
    const hmi_stepper *s = c->ev->stepper;
    double slack = 1e-13, a = fmax(c->root[0] - slack, 0), b = fmin(c->root[1] + slack, 1);
    if (c->root[0] == 0 && c->root[1] == 0)
        return fmin(s->t_old + 2 * HMI_EPSILON * fmax(fabs(s->t_old), fabs(s->t)), s->t);
    return find_root(c->ev, c->function, time_of(s, a), time_of(s, b));
}

/* ---- all functions ---------------------------------------------------------------------------- */

/* hmi_path_fit as a matrix, for all components of all steps. */
static void prepare_fit(hmi_events *ev, int degree)
{
    double unit[HMI_MOST_SAMPLES] = {0};
    if (ev->fitted == degree)
        return;
    for (int j = 0; j <= degree; j++) {
        unit[j] = 1;
        hmi_path_fit(degree, unit, ev->fit + j * HMI_MOST_SAMPLES);
        ev->places[j] = hmi_path_place(degree, j);
        unit[j] = 0;
    }
    ev->fitted = degree;
}

/* Coefficients from values of the dense output at Chebyshev points. */
static void fit_path(hmi_events *ev, int degree)
{
    const hmi_stepper *s = ev->stepper;
    const hmi_watch *w = &ev->watch;
    double value[HMI_PATH_MOST_DEGREE + 1];
    prepare_fit(ev, degree);
    for (int j = 0; j <= degree; j++) {
        s->method->interpolate(s, time_of(s, ev->places[j]), ev->state);
        for (size_t i = 0; i < s->size; i++)
            if (w->place[i] != UINT32_MAX)
                w->coefficient[w->place[i] * ((size_t)degree + 1) + (size_t)j] = ev->state[i];
    }
    for (size_t p = 0; p < w->used; p++) {
        double *c = w->coefficient + p * ((size_t)degree + 1);
        memcpy(value, c, ((size_t)degree + 1) * sizeof *c);
        for (int k = 0; k <= degree; k++) {
            c[k] = 0;
            for (int j = 0; j <= degree; j++)
                c[k] += ev->fit[j * HMI_MOST_SAMPLES + k] * value[j];
        }
    }
}

/* The polynomials of the dense output. */
static void find_path(hmi_events *ev)
{
    const hmi_stepper *s = ev->stepper;
    hmi_watch *w = &ev->watch;
    w->path = (hmi_path){.t = s->t_old,
                         .h = s->t - s->t_old,
                         .end = s->t,
                         .coefficient = w->coefficient,
                         .bounds = w->bounds};
    w->rtol = s->rtol;
    w->atol = s->atol;
    hmi_watch_renew(w);
    if (w->used == 0)
        return;
    int degree = s->method->polynomial ? s->method->polynomial(s, w->place, HMI_PATH_MOST_DEGREE,
                                                               w->coefficient, &w->path.origin)
                                       : -1;
    w->path.degree = degree >= 0 ? degree : s->method->dense_degree;
    if (degree < 0) {
        w->path.origin = 0.5;
        fit_path(ev, w->path.degree);
    }
    hmi_path_measure(&w->path, w->used);
}

static int by_time(const void *x, const void *y)
{
    const hmi_passed *a = x, *b = y;
    return a->t != b->t ? (a->t > b->t) - (a->t < b->t)
                        : (a->function > b->function) - (a->function < b->function);
}

/* Only what passed before the crossing happened; sides follow. What passes together with it acts with
 * it. */
static void settle_passed(hmi_events *ev, double until, bool crossed)
{
    hmi_switches *sw = &ev->switches;
    size_t kept = 0;
    const hmi_stepper *s = ev->stepper;
    double apart = crossed ? 1e-13 * fabs(until) + 1e-11 * (s->t - s->t_old) : 0;
    hmi_sort(ev->passed.data, ev->passed.count, sizeof *ev->passed.data, by_time);
    for (size_t i = 0; i < ev->passed.count; i++) {
        hmi_passed *p = &ev->passed.data[i];
        if (p->t > until + apart)
            continue;
        if (crossed && p->t >= until - apart && p->wanted) {
            ev->crossing.which[ev->crossing.count++] = p->function;
            continue;
        }
        sw->side[p->function] = -sw->side[p->function];
        ev->passed.data[kept++] = *p;
    }
    ev->passed.count = kept;
}

/* The root of function k that ends the step; infinite where there is none. */
static hm_status chase_function(hmi_events *ev, size_t k, int degree, double *first)
{
    const hmi_stepper *s = ev->stepper;
    const hmi_event *event = hmi_events_model_event(ev, k);
    chase c = {
        .ev = ev, .function = k, .records = event && event->action == HMI_EVENT_RECORD, .flips = 1};
    double end = isfinite(*first) ? fmin((*first - s->t_old) / (s->t - s->t_old) + 1e-10, 1) : 1;
    hmi_query query = query_of(ev, k);
    hm_status status = is_sampled(ev, k) ? chase_sampled(&c, degree, end)
                                         : look_through(&c, &query, end);
    ev->roots[k] = c.found ? polish(&c) : INFINITY;
    *first = fmin(*first, ev->roots[k]);
    return status;
}

static hm_status chase_all(hmi_events *ev, double *first)
{
    size_t count = ev->switches.count;
    hm_status status = HM_OK;
    int degree = 0;
    for (size_t k = 0; k < count && !degree; k++)
        if (is_watched(ev, k) && is_sampled(ev, k))
            degree = sample_all(ev);
    for (size_t k = 0; k < count && status == HM_OK; k++) {
        ev->roots[k] = INFINITY;
        if (is_watched(ev, k))
            status = chase_function(ev, k, degree, first);
    }
    return status;
}

hm_status hmi_events_find(hmi_events *ev, bool *found)
{
    const hmi_stepper *s = ev->stepper;
    hmi_crossing *c = &ev->crossing;
    double first = INFINITY;
    ev->passed.count = 0;
    ev->trouble = NULL;
    if (ev->switches.held.directions) {
        (void)watch(ev, s->t_old, s->y_old, ev->between);
        hmi_watch_directions(ev, hmi_tape_outputs(&ev->switches.values, ev->switches.values_work));
    }
    find_path(ev);
    hm_status status = chase_all(ev, &first);
    c->count = 0;
    c->t = first;
    *found = isfinite(first);
    for (size_t k = 0; k < ev->switches.count && *found; k++)
        if (ev->roots[k] <= first + 1e-13 * fmax(fabs(first), s->t - s->t_old)) {
            c->which[c->count++] = k;
            ev->next_time[k] = -INFINITY; /* it is here: the next one is looked for */
        }
    if (status == HM_OK)
        settle_passed(ev, *found ? first : s->t, *found);
    return status;
}
