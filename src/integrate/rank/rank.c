/* Isolated rank drops of the constraints, that a step jumps over.
 *
 * With rows of unit length, A_old A_new^T is near the Gram matrix of either while nothing happens. A
 * direction in which the constraints lose rank and regain it changes its sign on the way, and so
 * does an eigenvalue of the symmetric part. A row that itself turns far in one step proves nothing,
 * but one that turns round does: it passed through zero (y^2 = x^3 at its cusp). Rows that depend on
 * others at the start are left out.
 *
 * The motion is continued across a drop where its velocity is continuous. Where it jumps q'' is not
 * bounded, or the state came to another branch: the run ends before.
 *
 * At the drop itself q'' is not determined, and near it (singular value s) an error e of the state
 * is one of e/s in q''. The motion, however, passes smoothly. So the drop is foreseen, on the
 * continuation of the last step by Hermite's polynomial of q, q', q'', and the next steps are chosen
 * such that no evaluation comes near it (hmi_place_step).
 * Verified: test/physics/test_rank_drop.c
 */
#include "integrate/rank/guard.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Steps of the present length to look ahead, and how often the interval is halved. */
enum { AHEAD = HMI_RANK_AHEAD, HALVINGS = 7 };
/* Steps with a drop, one after the other: not isolated then. */
enum { MOST_DROPS = 5 };
/* Of the time so far. */
#define SUDDEN 1e-8
#define UNBOUNDED                                                                                  \
    "the constraints lose rank here and the velocity would jump: accelerations are unbounded"

void hmi_guard_forget(hmi_guard *g, bool rows)
{
    if (rows)
        g->rank.count = 0;
    hmi_rank_watch_forget(&g->rank);
    g->stepper->singular = INFINITY;
    g->stepper->least = NULL;
}

/* ---- rows ---- */

/* M and A at a state, in the sim; dense too where the watch is. */
static void find_matrices(const hmi_guard *g, double t, const double *y)
{
    const hmi_point at = hmi_ode_point(g->ode, t, y);
    hmi_sim_evaluate(g->ode->sim, &at);
    if (!g->rank.sparse)
        hmi_sim_scatter(g->ode->sim);
}

/* The entries of the watched level's rows as last evaluated. */
static const double *collect_entries(const hmi_guard *g)
{
    const hm_sim *sim = g->ode->sim;
    const size_t *start = sim->system->derived.constraints.A.start;
    const double *A = hmi_sim_row_entries(sim);
    double *next = g->rank.entries;
    for (size_t k = 0; k < g->rank.m; k++) {
        size_t row = g->projection->velocity.row[k], count = start[row + 1] - start[row];
        memcpy(next, A + start[row], count * sizeof *next);
        next += count;
    }
    return g->rank.entries;
}

/* hmi_rank_take_rows at a state. */
static void find_rows(const hmi_guard *g, double t, const double *y, double *rows)
{
    size_t n = g->ode->n;
    const size_t *row = g->projection->velocity.row;
    find_matrices(g, t, y);
    if (g->rank.sparse) {
        hmi_rank_take_rows(&g->rank, collect_entries(g), rows);
        return;
    }
    for (size_t k = 0; k < g->rank.count; k++)
        hmi_rank_take_row(g->ode->sim->dense.A + row[g->rank.row[k]] * n, (int)n, rows + k * n);
}

/* ---- what comes ---- */

/* sqrt(x.M x), M as last evaluated */
static double mass_norm(const hmi_guard *g, const double *x)
{
    int n = (int)g->ode->n;
    double sum = 0;
    const hmi_expr_matrix *M = &g->ode->sim->system->derived.M;
    const double *value = hmi_sim_mass_entries(g->ode->sim);
    for (size_t i = 0; g->rank.sparse && i < M->rows; i++)
        for (size_t k = M->start[i]; k < M->start[i + 1]; k++) {
            size_t j = M->column.data[k];
            sum += (i == j ? 1 : 2) * value[k] * x[i] * x[j];
        }
    if (g->rank.sparse)
        return sqrt(fmax(sum, 0));
    for (int i = 0; i < n; i++)
        sum += x[i] * hmi_dot(n, g->ode->sim->dense.M + (size_t)i * (size_t)n, x);
    return sqrt(fmax(sum, 0));
}

/* The method evaluates f at the new state anyway, at once or in its next step. */
static bool find_rates(hmi_guard *g)
{
    hmi_stepper *s = g->stepper;
    if (!s->f_valid)
        s->f_valid = (s->method->carries_work ? hmi_ode_evaluate_all : hmi_ode_evaluate)(
                         g->ode, s->t, s->y, s->f) == HM_OK;
    return s->f_valid;
}

static void keep_motion(hmi_rank_watch *w, double t, const double *y, const double *qdd)
{
    size_t n = w->n;
    double *swap = w->motion[0];
    w->motion[0] = w->motion[1];
    w->motion[1] = swap;
    w->t[0] = w->t[1];
    w->smallest[0] = w->smallest[1];
    memcpy(swap, y, 2 * n * sizeof *swap);
    memcpy(swap + 2 * n, qdd, n * sizeof *swap);
    w->t[1] = t;
    w->smallest[1] = hmi_rank_least_angle(w, (int)n);
    w->steps += w->steps < 2;
}

/* Is it worth a look? The angle falls such that it may be gone soon. */
static bool is_near(const hmi_rank_watch *w)
{
    double h = w->t[1] - w->t[0], fall = w->smallest[0] - w->smallest[1];
    return w->steps == 2 && h > 0 && fall > 0 && w->smallest[1] <= AHEAD * fall;
}

/* q and q' at t[1] + x h by the Hermite polynomial of the last two states (order 6): by differences
 * with nodes t1, t1, t1, t0, t0, t0 in units of h = t1 - t0. */
static void foresee(const hmi_guard *g, double x, double *y)
{
    const hmi_rank_watch *w = &g->rank;
    size_t n = g->ode->n;
    double h = w->t[1] - w->t[0];
    for (size_t i = 0; i < n; i++) {
        double q0 = w->motion[0][i], v0 = h * w->motion[0][n + i];
        double a0 = h * h * w->motion[0][2 * n + i];
        double q1 = w->motion[1][i], v1 = h * w->motion[1][n + i];
        double a1 = h * h * w->motion[1][2 * n + i];
        double d1 = q1 - q0, c1 = v1 - d1, c0 = d1 - v0; /* second differences 110, 100 */
        double b11 = 0.5 * a1 - c1, b10 = c1 - c0, b00 = c0 - 0.5 * a0;
        double e1 = b11 - b10, e0 = b10 - b00, f = e1 - e0; /* fourth, fifth */
        double u = x + 1;
        y[i] = q1 + x * (v1 + x * (0.5 * a1 + x * (b11 + u * (e1 + u * f))));
        y[n + i] = (v1 + x * (a1 + x * (3 * b11 + e1 * (4 * x + 3) + f * u * (5 * x + 3)))) / h;
    }
    memcpy(y + 2 * n, g->stepper->y + 2 * n, g->ode->states * sizeof *y);
}

/* Would the rows be dependent soon if their angle went on falling? */
static bool is_coming(const hmi_rank_watch *w)
{
    double fall = w->smallest[0] - w->smallest[1];
    return w->steps == 2 && fall > 0 && w->smallest[1] <= HMI_RANK_COMING * fall;
}

/* M_ii as last evaluated */
static double inertia_of(const hmi_guard *g, size_t i)
{
    const hm_sim *sim = g->ode->sim;
    const hmi_expr_matrix *M = &sim->system->derived.M;
    for (size_t k = M->start[i]; k < M->start[i + 1]; k++)
        if (M->column.data[k] == i)
            return hmi_sim_mass_entries(sim)[k];
    return 0;
}

/* Near a drop q'' has an error along the directions that are lost, which are not those of coordinates:
 * a velocity that passes zero there (a linkage at its dead centre) cannot have it smaller than the
 * others do. Units are those of the inertias. */
static void relate_velocities(hmi_guard *g)
{
    hmi_rank_watch *w = &g->rank;
    size_t n = g->ode->n;
    if (!w->close && is_coming(w)) {
        w->close = true;
        w->close_at = w->smallest[1];
    } else if (w->close && w->smallest[1] > w->close_at && !is_coming(w)) {
        w->close = false;
    }
    g->stepper->least = w->close ? w->least : NULL;
    if (!w->close)
        return;
    find_matrices(g, g->stepper->t, g->stepper->y);
    double speed = mass_norm(g, g->stepper->y + n);
    memset(w->least, 0, g->ode->size * sizeof *w->least);
    for (size_t i = 0; i < n; i++) {
        double inertia = inertia_of(g, i);
        w->least[n + i] = inertia > 0 ? speed / sqrt(inertia) : 0;
    }
}

/* Has a direction that rows hold now turned round by then? */
static bool is_lost_at(hmi_guard *g, double x)
{
    hmi_rank_watch *w = &g->rank;
    foresee(g, x, w->y);
    find_rows(g, w->t[1] + x * (w->t[1] - w->t[0]), w->y, w->now);
    return hmi_all_finite((int)hmi_rank_size(w), w->now) && hmi_rank_turned_round(w);
}

/* w->last holds the rows at the present state. */
static double foresee_drop(hmi_guard *g)
{
    hmi_rank_watch *w = &g->rank;
    double low = 0, high = 0, h = w->t[1] - w->t[0];
    hmi_rank_begin_looking(w);
    for (int k = 1; k <= 2 * AHEAD && high == 0; k++) { /* the first interval that has it */
        if (is_lost_at(g, 0.5 * k))
            high = 0.5 * k;
        else
            low = 0.5 * k;
    }
    for (int k = 0; k < HALVINGS && high > 0; k++) {
        double x = 0.5 * (low + high);
        if (is_lost_at(g, x))
            high = x;
        else
            low = x;
    }
    return high > 0 ? g->stepper->t + 0.5 * (low + high) * h : INFINITY;
}

/* Where rows were left out, one that was kept may pass through zero while another one that says the same
 * does not: the rows that are watched in a part of the step are the best at its beginning. */
static bool loses_rank_with_all(hmi_guard *g)
{
    enum { PARTS = 32 };
    hmi_rank_watch *w = &g->rank;
    const hmi_stepper *s = g->stepper;
    double part = (s->t - s->t_old) / PARTS;
    bool found = false;
    w->apart = 0;
    for (int k = 0; k < PARTS && !found; k++) {
        s->method->interpolate(s, s->t_old + part * k, w->y);
        if (!hmi_guard_watch_best_rows(g, s->t_old + part * k, w->y))
            break;
        find_rows(g, s->t_old + part * k, w->y, w->last);
        s->method->interpolate(s, s->t_old + part * (k + 1), w->y);
        find_rows(g, s->t_old + part * (k + 1), w->y, w->now);
        found = hmi_rank_shows_drop(w, g->ode->n);
    }
    hmi_guard_forget(g, true);
    return found;
}

/* A row may turn far in a long step and look as if it changed sign: a drop shows in some short part
 * of the step too. The rows at its end stay in w->now. */
static bool is_confirmed(hmi_guard *g)
{
    enum { PARTS = 16 };
    hmi_rank_watch *w = &g->rank;
    hmi_stepper *s = g->stepper;
    size_t bytes = hmi_rank_size(w) * sizeof(double);
    bool found = false;
    if (g->rows.any && !w->sparse)
        return loses_rank_with_all(g);
    w->apart = 0;
    memcpy(w->end, w->now, bytes);
    for (int k = 1; k <= PARTS && !found; k++) {
        double t = s->t_old + (s->t - s->t_old) * k / PARTS;
        if (k < PARTS) {
            s->method->interpolate(s, t, w->y);
            find_rows(g, t, w->y, w->now);
        } else {
            memcpy(w->now, w->end, bytes);
        }
        found = hmi_rank_shows_drop(w, g->ode->n);
        memcpy(w->last, w->now, bytes);
    }
    memcpy(w->now, w->end, bytes);
    return found;
}

/* Is the change of the velocity over the last step beyond what accelerations at its ends explain: as a
 * whole, or of one coordinate, measured by its own speed or the mean of all? One bar of many that stops
 * is a jump. */
static bool velocity_jumps(hmi_guard *g)
{
    hmi_stepper *s = g->stepper;
    size_t n = g->ode->n;
    double h = s->t - s->t_old, *jump = g->rank.motion[0], *change = jump + n, *f = g->rates;
    const double *now = s->y + n, *before = s->y_old + n;
    for (size_t i = 0; i < n; i++)
        jump[i] = change[i] = now[i] - before[i];
    for (int end = 0; end < 2; end++) {
        const double *y = end ? s->y : s->y_old;
        if (hmi_ode_evaluate(g->ode, end ? s->t : s->t_old, y, f) != HM_OK)
            continue;
        for (size_t i = 0; i < n; i++)
            jump[i] -= 0.5 * h * f[n + i];
    }
    find_matrices(g, s->t, s->y);
    double left = mass_norm(g, jump), speed = fmax(mass_norm(g, now), mass_norm(g, before));
    if (left > 0.5 * mass_norm(g, change) && left > 0.3 * speed)
        return true;
    for (size_t i = 0; i < n; i++) {
        double inertia = inertia_of(g, i),
               least = inertia > 0 ? speed / sqrt(inertia * (double)n) : 0;
        double own = fmax(fmax(fabs(now[i]), fabs(before[i])), least);
        if (fabs(jump[i]) > 0.5 * fabs(change[i]) && fabs(jump[i]) > 0.3 * own && own > 0)
            return true;
    }
    return false;
}

static bool has_short_row(hmi_rank_watch *w)
{
    bool short_row = false;
    for (size_t k = 0; k < w->count; k++) {
        double length = w->length[k];
        double *longest = &w->longest[w->row[k]];
        *longest = fmax(*longest, length);
        short_row |= length < HMI_RANK_SHORT * *longest;
    }
    return short_row;
}

/* A row that has become far shorter than it was (the cusp of y^2 = x^3) holds nothing any more. Are
 * accelerations beyond bounds there: such that the velocity changes at once? */
static bool runs_into_nothing(hmi_guard *g)
{
    const hmi_stepper *s = g->stepper;
    size_t n = g->ode->n;
    bool short_row = has_short_row(&g->rank);
    if (!short_row || !find_rates(g))
        return false;
    find_matrices(g, s->t, s->y);
    double time = s->t - s->t_begin;
    return mass_norm(g, s->f + n) * time * SUDDEN > mass_norm(g, s->y + n);
}

/* The last step is taken back. */
static hm_status take_back(hmi_stepper *s, const char *why)
{
    s->trouble = why;
    s->t = s->t_old;
    memcpy(s->y, s->y_old, (s->size + s->works) * sizeof *s->y);
    s->f_valid = false;
    return HM_ERR_UNDETERMINED;
}

/* A drop within the last step: the motion goes on, or the step is taken back. */
static hm_status cross_drop(hmi_guard *g)
{
    hmi_stepper *s = g->stepper;
    bool jumps = velocity_jumps(g);
    g->rank.steps = 0; /* its memory was used */
    if (!jumps && ++g->rank.drops <= MOST_DROPS) {
        hmi_messages_warn(g->messages,
                          "the constraints momentarily lost rank before t = %.6g: the motion was "
                          "continued across it",
                          s->t);
        return HM_OK;
    }
    return take_back(s, jumps ? UNBOUNDED : "the constraints lose rank and do not regain it");
}

static void turn_rows(hmi_rank_watch *w)
{
    double *swap = w->last;
    w->last = w->now;
    w->now = swap;
    w->known = true;
}

hm_status hmi_guard_watch_rank(hmi_guard *g)
{
    hmi_rank_watch *w = &g->rank;
    g->stepper->singular = INFINITY;
    if (!w->now)
        return HM_OK;
    if (w->sparse)
        find_matrices(g, g->stepper->t, g->stepper->y);
    const double *all = w->sparse ? collect_entries(g) : g->projection->rows;
    if (w->count == 0)
        hmi_rank_choose_rows(w, all, g->ode->sim->solve.left_out, g->projection->velocity.row);
    hmi_rank_take_rows(w, all, w->now);
    hm_status status = HM_OK;
    bool drops = w->known && hmi_rank_shows_drop(w, g->ode->n) && is_confirmed(g);
    if (drops)
        status = cross_drop(g);
    else
        w->drops = 0;
    if (w->count == 0) { /* other rows were looked at */
        hmi_rank_choose_rows(w, all, g->ode->sim->solve.left_out, g->projection->velocity.row);
        hmi_rank_take_rows(w, all, w->now);
    }
    if (status == HM_OK && runs_into_nothing(g))
        status = take_back(g->stepper, UNBOUNDED);
    if (status != HM_OK)
        return status;
    bool look = w->count > 1 && g->stepper->method->places_steps && find_rates(g);
    w->apart = 0;
    if (look)
        keep_motion(w, g->stepper->t, g->stepper->y, g->stepper->f + g->ode->n);
    turn_rows(w);
    if (look)
        relate_velocities(g);
    if (look && is_near(w))
        g->stepper->singular = foresee_drop(g);
    return HM_OK;
}

/* ---- where there is no exact answer ---- */

enum { MOST_FORGIVEN_STEPS = 50 };

/* Where constraints lose rank (a four-bar in its flat position) q'' has no exact answer for a
 * moment. The least-squares answer leads across as long as it is for a moment only: q'' stays
 * bounded and drift control brings the state back. */
hm_status hmi_guard_begin_forgiving(hmi_guard *g)
{
    hmi_stepper *s = g->stepper;
    hmi_messages_warn(
        g->messages,
        "the constraints lose rank at t = %.9g: the motion is continued by least squares", s->t);
    g->ode->forgiving = true;
    g->forgiven_steps = 1;
    s->f_valid = false;
    return s->method->start(s);
}

hm_status hmi_guard_watch_forgiving(hmi_guard *g, long forgiven)
{
    if (g->forgiven_steps == 0)
        return HM_OK;
    if (g->ode->forgiven == forgiven) {
        g->ode->forgiving = false;
        g->forgiven_steps = 0;
    } else if (++g->forgiven_steps > MOST_FORGIVEN_STEPS) {
        g->stepper->trouble = "the constraints lose rank and do not regain it";
        return HM_ERR_UNDETERMINED;
    }
    return HM_OK;
}
