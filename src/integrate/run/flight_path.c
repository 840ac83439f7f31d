/* Enclosures of gaps along parabolas and over boxes. */
#include "integrate/run/flight_path.h"

#include <math.h>
#include <string.h>

/* ---- gaps ---- */

static const hmi_expr_matrix *pattern_of(const hmi_flight *f)
{
    return &f->contact->sim->system->derived.constraints.A;
}

static hmi_enclosure enclose(hmi_flight *f, size_t row, hmi_enclose_symbol *symbol,
                             const void *path)
{
    const hmi_watched *g = &f->watch->functions[f->function[row]];
    const hmi_expr_matrix *A = pattern_of(f);
    for (size_t k = A->start[row]; k < A->start[row + 1]; k++)
        g->work[f->slot[k]] = symbol(path, HMI_SYM_COORD, A->column.data[k]);
    hmi_tape_enclose_body(&g->tape, g->work);
    return g->work[g->tape.output_slot];
}

/* ---- along parabolas ---- */

/* x0 + x1 s + a s^2/2 for lo <= s <= hi. */
typedef struct piece {
    const hmi_flight *flight;
    double lo, hi;
} piece;

/* Not fmin and fmax, which are calls. */
static inline hmi_interval between(double x, double y)
{
    return x < y ? (hmi_interval){x, y} : (hmi_interval){y, x};
}

static hmi_enclosure on_parabola(const void *user, hmi_symbol_kind kind, uint32_t i)
{
    const piece *p = user;
    const hmi_flight *f = p->flight;
    double x = f->x0[i], v = f->x1[i], a = f->a[i], s = p->lo, e = p->hi;
    double first = x + s * (v + 0.5 * a * s), last = x + e * (v + 0.5 * a * e);
    double v1 = v + a * s, v2 = v + a * e;
    hmi_interval value = between(first, last), rate = between(v1, v2);
    (void)kind; /* coordinates only */
    if ((v1 < 0) != (v2 < 0) && a != 0)
        value = hmi_interval_hull(value, between(x - 0.5 * v * v / a, first));
    return (hmi_enclosure){hmi_interval_widen(value.lo, value.hi),
                           hmi_interval_widen(rate.lo, rate.hi)};
}

static hmi_enclosure along(hmi_flight *f, size_t row, double lo, double hi)
{
    const piece p = {f, lo, hi};
    return enclose(f, row, on_parabola, &p);
}

/* The coordinates of a row at t. */
static void take_states(hmi_flight *f, size_t row, double t)
{
    const hmi_expr_matrix *A = pattern_of(f);
    for (size_t k = A->start[row]; k < A->start[row + 1]; k++) {
        size_t i = A->column.data[k];
        double dt = t - f->t[i];
        f->x0[i] = f->q[i] + dt * (f->v[i] + 0.5 * dt * f->a[i]);
        f->x1[i] = f->v[i] + dt * f->a[i];
    }
}

/* ---- when a row closes ---- */

typedef struct closing {
    hmi_flight *flight;
    size_t row;
    double time; /* of the first one; infinite: none */
} closing;

static hmi_enclosure look(void *user, double a, double b)
{
    const closing *c = user;
    return along(c->flight, c->row, a, b);
}

/* The root in the bracket: Newton's method, and halving where it leaves it or is slow. */
static double refine(const closing *c, double a, double b)
{
    enum { MOST_STEPS = 100 };
    double s = 0.5 * (a + b), last = INFINITY, t = fabs(c->flight->now);
    for (int i = 0; i < MOST_STEPS && b - a > 0x1p-52 * (t + b); i++) {
        hmi_enclosure e = along(c->flight, c->row, s, s);
        double g = 0.5 * (e.value.lo + e.value.hi), slope = 0.5 * (e.rate.lo + e.rate.hi);
        if (g > 0)
            a = s;
        else
            b = s;
        double next = s - g / slope, move = fabs(next - s);
        if (move <= 0x1p-53 * (t + s))
            return s;
        s = move < 0.5 * last && next > a && next < b ? next : 0.5 * (a + b);
        last = move;
    }
    return s;
}

static bool found(void *user, const hmi_root *root)
{
    closing *c = user;
    if (root->kind != HMI_ROOT_CROSSING) /* it touches, and opens again */
        return true;
    c->time = refine(c, root->a, root->b);
    return false;
}

/* The first time of closing within (from, to], after the state that was taken. */
static double find_closing(hmi_flight *f, size_t row, double from, double to)
{
    enum { MOST_PIECES = 100000 };
    closing c = {f, row, INFINITY};
    hmi_isolation search = {.enclose = look,
                            .found = found,
                            .user = &c,
                            .shortest = 1e-13 * to,
                            .most_pieces = MOST_PIECES,
                            .side = 1};
    if (!hmi_isolate_roots(&search, from, to))
        return from; /* the general way says what is the matter */
    return c.time;
}

/* The row opens at the start: a time up to which it surely does; 0: it is not seen to. */
static double find_open(hmi_flight *f, size_t row, double to)
{
    enum { MOST_HALVINGS = 40 };
    for (int i = 0; i < MOST_HALVINGS; i++, to *= 0.5)
        if (along(f, row, 0, to).rate.lo > 0)
            return to;
    return 0;
}

bool hmi_flight_predict(hmi_flight *f, size_t row, double t, bool struck, double touching)
{
    hmi_flight_window *w = &f->window;
    double to = w->end - t, from = 0;
    w->next[row] = INFINITY;
    if (!(to > 0))
        return true;
    take_states(f, row, t);
    const hmi_enclosure whole = along(f, row, 0, to);
    if (struck ? whole.rate.lo > 0 : whole.value.lo > touching)
        return true;
    if (!struck && !(along(f, row, 0, 0).value.lo > touching))
        return false;
    if (struck && !((from = find_open(f, row, to)) > 0))
        return false;
    w->next[row] = t + find_closing(f, row, from, to);
    return true;
}

/* ---- gradients ---- */

typedef struct seed {
    const hmi_flight *flight;
    uint32_t coordinate;
} seed;

static hmi_enclosure by_coordinate(const void *user, hmi_symbol_kind kind, uint32_t i)
{
    const seed *s = user;
    double x = s->flight->q[i], one = i == s->coordinate;
    (void)kind;
    return (hmi_enclosure){{x, x}, {one, one}};
}

void hmi_flight_gradient(hmi_flight *f, size_t row, double *gradient)
{
    const hmi_expr_matrix *A = pattern_of(f);
    for (size_t k = A->start[row]; k < A->start[row + 1]; k++) {
        const seed s = {f, A->column.data[k]};
        hmi_interval rate = enclose(f, row, by_coordinate, &s).rate;
        *gradient++ = 0.5 * (rate.lo + rate.hi);
    }
}

/* ---- windows ---- */

typedef struct box {
    const hmi_flight *flight;
    double radius;
} box;

static hmi_enclosure in_box(const void *user, hmi_symbol_kind kind, uint32_t i)
{
    const box *b = user;
    double x = b->flight->x0[i];
    (void)kind;
    return (hmi_enclosure){{x - b->radius, x + b->radius}, {0, 0}};
}

/* Does the row stay open for so long, whatever the coordinates do within the speed? */
static bool stays_open(hmi_flight *f, size_t row, double time)
{
    const box b = {f, f->window.speed * time};
    return enclose(f, row, in_box, &b).value.lo > 0;
}

/* A speed that lasts; what was known by another one is forgotten. */
static void choose_speed(hmi_flight *f)
{
    hmi_flight_window *w = &f->window;
    double ahead = HMI_FLIGHT_AHEAD * w->length, fastest = 0, needed = 0;
    for (size_t i = 0; i < f->n; i++) {
        double v = fabs(f->x1[i]), a = fabs(f->a[i]) * ahead;
        fastest = fmax(fastest, 1.5 * v + a);
        needed = fmax(needed, v + a);
    }
    if (needed <= w->speed)
        return;
    w->speed = fastest;
    for (size_t k = 0; k < f->m; k++)
        w->not_before[k] = -INFINITY;
}

static void list_active(hmi_flight *f)
{
    hmi_flight_window *w = &f->window;
    double t = f->now, end = t + w->length, ahead = HMI_FLIGHT_AHEAD * w->length;
    w->count = 0;
    for (size_t k = 0; k < f->m; k++) {
        if (w->not_before[k] >= end)
            continue;
        if (stays_open(f, k, ahead))
            w->not_before[k] = t + ahead;
        else if (stays_open(f, k, w->length))
            w->not_before[k] = end;
        else
            w->active[w->count++] = k;
    }
}

/* Long enough for some impacts, short enough for few active rows. */
static void choose_length(hmi_flight *f)
{
    enum { MOST_HALVINGS = 40 };
    hmi_flight_window *w = &f->window;
    if (!(w->length > 0))
        w->length = f->contact->span > 0 && isfinite(f->contact->span) ? f->contact->span : 1;
    else if (w->impacts < f->n / 6 && f->now > w->start + 0.5 * w->length)
        w->length *= 1.5;
    for (int i = 0; i < MOST_HALVINGS; i++) {
        choose_speed(f);
        list_active(f);
        if (w->count <= w->most)
            return;
        w->length *= 0.5;
    }
    w->most = 2 * w->count; /* so many are close together: they are not searched for again */
    w->length *= 1 << 20;
    list_active(f);
}

/* The active rows of every coordinate. */
static void list_by_coordinate(hmi_flight *f)
{
    const hmi_expr_matrix *A = pattern_of(f);
    hmi_flight_window *w = &f->window;
    memset(w->first, 0, (f->n + 2) * sizeof *w->first);
    for (size_t j = 0; j < w->count; j++)
        for (size_t k = A->start[w->active[j]]; k < A->start[w->active[j] + 1]; k++)
            w->first[A->column.data[k] + 2]++;
    for (size_t i = 2; i < f->n + 2; i++)
        w->first[i] += w->first[i - 1];
    for (size_t j = 0; j < w->count; j++)
        for (size_t k = A->start[w->active[j]]; k < A->start[w->active[j] + 1]; k++)
            w->of[w->first[A->column.data[k] + 1]++] = w->active[j];
}

void hmi_flight_open_window(hmi_flight *f)
{
    hmi_flight_window *w = &f->window;
    double t = f->now;
    for (size_t i = 0; i < f->n; i++) {
        double dt = t - f->t[i];
        f->x0[i] = f->q[i] + dt * (f->v[i] + 0.5 * dt * f->a[i]);
        f->x1[i] = f->v[i] + dt * f->a[i];
    }
    choose_length(f);
    list_by_coordinate(f);
    w->start = t;
    w->end = t + w->length;
    w->impacts = 0;
    for (size_t j = 0; j < w->count; j++) {
        size_t row = w->active[j];
        if (hmi_flight_predict(f, row, t, false, 0))
            continue;
        if (!hmi_flight_predict(f, row, t, true, 0))
            w->next[row] = t; /* closed, or about to be */
    }
}

size_t hmi_flight_first(const hmi_flight *f)
{
    const hmi_flight_window *w = &f->window;
    size_t first = f->m;
    double time = INFINITY;
    for (size_t j = 0; j < w->count; j++)
        if (w->next[w->active[j]] < time) {
            first = w->active[j];
            time = w->next[first];
        }
    return first;
}
