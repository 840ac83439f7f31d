/* Explicit Runge-Kutta methods of any table: the first step, one step with its error control, dense
 * output. The arithmetic of the control is in control.inc, which batches share.
 */
#include "integrate/rk/rk.h"

#include "integrate/rk/sums.h"

#include <string.h>

#include "integrate/ode/width_one.h"

#include "integrate/rk/control.inc"

/* See allowed_error: relative to the state. */
#define CROSSING_NOISE 1e-9
#define CROSSING_WORST 1e-6

/* The method's memory: a header, then K (stages + 1 + extra rows), trial, dense rows. */
typedef struct memory {
    const hmi_rk_table *table;
    double h;        /* next step to try */
    double last_log; /* of the error of the last accepted step, for the PI controller */
    double h_done;   /* the step that led from t_old to t */
    bool just_rejected;
    bool fresh; /* K belongs to the last accepted step and its f is K[stages] */
    bool dense_ready;
    double suspicious, smooth; /* steps in a row */
    int turned_back;           /* attempts to cross a rank drop that failed */
    double *K, *trial, *r;
    double *before; /* the argument of the last stage, for the stiffness test */
    hmi_rk_rows rows;
    hmi_rk_sums *sums;
} memory;

static size_t width(const hmi_stepper *s)
{
    return s->size + s->works;
}

static int all_stages(const hmi_rk_table *t)
{
    return t->stages + 1 + t->extra;
}

/* Room for up to HMI_MOST_WORKS works. */
size_t hmi_rk_memory_size(const hmi_method *method, const hmi_ode *ode)
{
    const hmi_rk_table *table = method->table;
    size_t rows = (size_t)all_stages(table) + 2 + 4 + (size_t)table->dense_rows;
    return sizeof(memory) + rows * (ode->size + HMI_MOST_WORKS) * sizeof(double);
}

static memory *memory_of(const hmi_stepper *s)
{
    memory *m = s->memory;
    size_t n = width(s);
    m->table = s->method->table;
    m->K = (double *)(m + 1);
    m->trial = m->K + (size_t)all_stages(m->table) * n;
    m->before = m->trial + n;
    m->r = m->before + n;
    return m;
}

static double *stage(const hmi_stepper *s, const memory *m, int i)
{
    return m->K + (size_t)i * width(s);
}

double hmi_scaled_norm(const hmi_stepper *s, const double *x, const double *y1, const double *y2)
{
    double sum = 0;
    for (size_t i = 0; i < s->size; i++)
        add_square(x[i] / unit_of(s->atol, s->rtol, size_at_least(y1[i], s->least, i), fabs(y2[i])),
                   &sum);
    return s->size ? sqrt(sum / (double)s->size) : 0;
}

double hmi_place_step(const hmi_stepper *s, double h, double gap)
{
    double distance = s->singular - s->t;
    if (!(distance > 0) || distance > (1 + gap) * h)
        return h;
    return distance <= gap * h ? distance / gap : distance / (1 + gap);
}

/* ---- the first step ---- */

static void choose_first_step(hmi_stepper *s, memory *m, double most)
{
    if (s->step > 0) {
        m->h = s->step;
        return;
    }
    double *K1 = stage(s, m, 1);
    double d0 = hmi_scaled_norm(s, s->y, s->y, s->y), d1 = hmi_scaled_norm(s, s->f, s->y, s->y);
    double h0 = fmin(hmi_guess_first_step(d0, d1), most);
    for (size_t i = 0; i < width(s); i++)
        m->trial[i] = s->y[i] + h0 * s->f[i];
    if (hmi_ode_evaluate_all(s->ode, s->t + h0, m->trial, K1) != HM_OK) {
        m->h = fmin(h0 * 1e-3, most);
        return;
    }
    for (size_t i = 0; i < s->size; i++)
        K1[i] -= s->f[i];
    double d2 = hmi_scaled_norm(s, K1, s->y, s->y) / h0;
    m->h = fmin(hmi_improve_first_step(h0, d1, d2, m->table->order), most);
}

static hm_status refresh(hmi_stepper *s)
{
    if (s->f_valid)
        return HM_OK;
    hm_status status = hmi_ode_evaluate_all(s->ode, s->t, s->y, s->f);
    s->f_valid = status == HM_OK;
    if (status != HM_OK)
        s->trouble = "the accelerations cannot be evaluated at the present state";
    return status;
}

static void collect_terms(const double *weight, int count, hmi_rk_terms *row)
{
    row->count = 0;
    for (int j = 0; j < count; j++)
        if (weight[j] != 0) {
            row->stage[row->count] = j;
            row->weight[row->count++] = weight[j];
        }
}

void hmi_rk_collect(const hmi_rk_table *table, hmi_rk_rows *rows)
{
    int count = table->stages + (table->error_uses_last ? 1 : 0);
    for (int i = 0; i < all_stages(table); i++)
        collect_terms(table->A[i], i, &rows->A[i]);
    collect_terms(table->b, table->stages, &rows->b);
    for (int k = 0; k < table->errors; k++)
        collect_terms(table->error[k], count, &rows->estimate[k]);
    for (int row = 0; row < table->dense_rows; row++)
        collect_terms(table->D[row], all_stages(table), &rows->D[row]);
}

hm_status hmi_rk_start(hmi_stepper *s)
{
    memory *m = memory_of(s);
    if (!m->sums) {
        hmi_rk_collect(m->table, &m->rows);
        m->sums = hmi_rk_sums_here();
    }
    m->h = 0;
    m->last_log = HMI_LEAST_LOG;
    m->just_rejected = m->fresh = m->dense_ready = false;
    m->suspicious = m->smooth = 0;
    s->t_old = s->t;
    memcpy(s->y_old, s->y, width(s) * sizeof *s->y);
    return refresh(s);
}

/* ---- one step ---- */

/* out = y + h sum_j w_j K_j; y NULL: without it */
static void advance(const hmi_stepper *s, const memory *m, const double *y, double h,
                    const hmi_rk_terms *row, double *restrict out)
{
    m->sums(row, m->K, width(s), y, h, out);
}

/* Stages 1 .. stages-1 and the new state in m->trial. */
static hm_status run_stages(hmi_stepper *s, memory *m, double h)
{
    memcpy(stage(s, m, 0), s->f, width(s) * sizeof(double));
    for (int i = 1; i < m->table->stages; i++) {
        advance(s, m, s->y, h, &m->rows.A[i], m->trial);
        hm_status status = hmi_ode_evaluate_all(s->ode, s->t + m->table->c[i] * h, m->trial,
                                                stage(s, m, i));
        if (status != HM_OK)
            return status;
    }
    memcpy(m->before, m->trial, width(s) * sizeof(double));
    advance(s, m, s->y, h, &m->rows.b, m->trial);
    if (m->table->error_uses_last)
        return hmi_ode_evaluate_all(s->ode, s->t + h, m->trial, stage(s, m, m->table->stages));
    return HM_OK;
}

static double norm_of_works(const hmi_stepper *s, double h, const double *x, const double *y)
{
    double largest = 0;
    for (size_t i = s->size; i < s->size + s->works; i++)
        largest = larger(largest, error_of_work(s->atol, s->rtol, s->work_scale, y[i], h * x[i]));
    return largest;
}

/* The squares of the norms of h e[k], as hmi_scaled_norm measures them. */
static void square_estimates(const hmi_stepper *s, int errors, double h, double *const e[2],
                             const double *next, double square[2])
{
    for (size_t i = 0; i < s->size; i++) {
        double first = size_at_least(s->y[i], s->least, i);
        double factor = h / unit_of(s->atol, s->rtol, first, fabs(next[i]));
        for (int k = 0; k < errors; k++)
            add_square(e[k][i] * factor, &square[k]);
    }
    for (int k = 0; k < errors && s->size; k++)
        square[k] /= (double)s->size;
}

/* Do the constraints lose rank within this step? */
static bool crosses(const hmi_stepper *s, double h)
{
    return s->singular > s->t && s->singular < s->t + h;
}

static double estimate_error(hmi_stepper *s, memory *m, double h)
{
    double square[2] = {0, 0}, works[2] = {0, 0};
    double *const e[2] = {m->r, m->r + width(s)};
    for (int k = 0; k < m->table->errors; k++) {
        advance(s, m, NULL, 1, &m->rows.estimate[k], e[k]);
        if (crosses(s, h))
            s->tangent(s, s->t + h, m->trial, e[k]);
        double most = norm_of_works(s, h, e[k], m->trial);
        works[k] = most * most;
    }
    square_estimates(s, m->table->errors, h, e, m->trial, square);
    double error = join_estimates(m->table->errors, square[0], square[1]);
    return s->works ? larger(error, join_estimates(m->table->errors, works[0], works[1])) : error;
}

static void look_for_stiffness(hmi_stepper *s, memory *m, double h)
{
    const double *f_new = stage(s, m, m->table->stages);
    double df = square_distance(f_new, f_new - width(s), s->size);
    double dy = square_distance(m->trial, m->before, s->size);
    if (m->suspicious <= 0 && is_surely_calm(m->table, h, df, dy))
        return;
    s->stiff |= count_stiff_step(m->table, h, df, dy, &m->suspicious, &m->smooth);
}

/* Drift control and f at the new state. Fails where the step has to be tried again: so too where
 * drift control moves the state much further than the error can be, as it does near places where
 * the constraints lose rank; *beyond is what it moved then, relative to the most. */
static hm_status settle(hmi_stepper *s, memory *m, double t, double *beyond)
{
    double moved = 0;
    double *f_new = stage(s, m, m->table->stages);
    if (s->settle) {
        hm_status status = s->settle(s, t, m->trial, &moved);
        if (status != HM_OK)
            return status;
        s->settled = true;
        double most = crosses(s, t - s->t) ? 1 / sqrt(s->rtol) : HMI_MOST_MOVED;
        if (moved > most) {
            *beyond = moved / most;
            return HM_OK;
        }
    }
    if (!m->table->error_uses_last || moved > HMI_MOVED)
        return hmi_ode_evaluate_all(s->ode, t, m->trial, f_new);
    return HM_OK;
}

static void accept(hmi_stepper *s, memory *m, double t, double h, double wanted, double error)
{
    size_t bytes = width(s) * sizeof(double);
    look_for_stiffness(s, m, h);
    m->turned_back = crosses(s, h) ? 0 : m->turned_back;
    memcpy(s->y_old, s->y, bytes);
    memcpy(s->y, m->trial, bytes);
    memcpy(s->f, stage(s, m, m->table->stages), bytes);
    s->t_old = s->t;
    s->t = t;
    s->f_valid = true;
    s->error = error;
    s->steps++;
    double factor = accept_factor(m->table, error, &m->last_log);
    m->h_done = h;
    m->h = next_step(h, wanted, factor, m->just_rejected);
    m->just_rejected = m->dense_ready = false;
    m->fresh = true;
}

static void reject(hmi_stepper *s, memory *m, double error)
{
    s->rejected++;
    m->turned_back += crosses(s, m->h);
    m->just_rejected = true;
    m->fresh = false;
    m->h *= reject_factor(m->table, error);
}

static hm_status give_up(hmi_stepper *s, hm_status last)
{
    s->trouble = last == HM_OK ? "the step size became too small: the motion is singular, or too "
                                 "stiff for an explicit method"
                               : "no further step can be taken";
    return last == HM_OK ? HM_ERR_NUMERIC : last;
}

/* The largest error of a step, in tolerances. One step across a rank drop may err more: noise, which
 * grows as the drop comes nearer, so that a shorter step is no better, and after several attempts more
 * still. */
static double allowed_error(const hmi_stepper *s, const memory *m, double h)
{
    if (!crosses(s, h))
        return 1;
    double noise = fmin(CROSSING_NOISE * pow(10, m->turned_back), CROSSING_WORST);
    return fmax(1, noise / s->rtol);
}

hm_status hmi_rk_step(hmi_stepper *s, double t_limit)
{
    memory *m = memory_of(s);
    hm_status status = refresh(s), last = HM_OK;
    if (status != HM_OK)
        return status;
    if (m->h == 0)
        choose_first_step(s, m, fmin(s->largest, t_limit - s->t));
    while (status == HM_OK) {
        double wanted = m->h;
        double h = hmi_place_step(s, smaller(wanted, s->largest), m->table->gap);
        double t = fit_step(s->t, t_limit, &h);
        if (is_too_small(h, s->t, t_limit))
            return give_up(s, last);
        m->h = h;
        last = run_stages(s, m, h);
        double error = last == HM_OK ? estimate_error(s, m, h) : INFINITY;
        if (last == HM_OK && error < allowed_error(s, m, h)) {
            double moved = 0;
            last = settle(s, m, t, &moved);
            if (last == HM_OK && moved < 1) {
                accept(s, m, t, h, wanted, error);
                return HM_OK;
            }
            error = moved;
        }
        reject(s, m, last == HM_OK ? error : INFINITY);
    }
    return status;
}

/* ---- dense output ---- */

/* The extra stages and the rows r4 and on; once a step, when first asked for. */
static bool prepare_dense(const hmi_stepper *s, memory *m)
{
    int count = m->table->stages + 1;
    size_t n = width(s);
    double h = m->h_done;
    if (!m->fresh)
        return false;
    if (m->dense_ready)
        return true;
    for (int k = 0; k < m->table->extra; k++, count++) {
        advance(s, m, s->y_old, h, &m->rows.A[count], m->trial);
        if (hmi_ode_evaluate_all(s->ode, s->t_old + m->table->c[count] * h, m->trial,
                                 stage(s, m, count)) != HM_OK)
            return false;
    }
    for (int row = 0; row < m->table->dense_rows; row++)
        advance(s, m, NULL, h, &m->rows.D[row], m->r + (size_t)(4 + row) * n);
    const double *f0 = stage(s, m, 0), *f1 = stage(s, m, m->table->stages);
    double *r1 = m->r + n, *r2 = m->r + 2 * n, *r3 = m->r + 3 * n;
    for (size_t i = 0; i < n; i++) {
        r1[i] = s->y[i] - s->y_old[i];
        r2[i] = h * f0[i] - r1[i];
        r3[i] = r1[i] - h * f1[i] - r2[i];
    }
    m->dense_ready = true;
    return true;
}

void hmi_rk_interpolate(const hmi_stepper *s, double t, double *y)
{
    memory *m = memory_of(s);
    size_t n = width(s);
    if (t == s->t || s->t == s->t_old || !prepare_dense(s, m)) {
        const double *end = t <= s->t_old && s->t != s->t_old ? s->y_old : s->y;
        memcpy(y, end, n * sizeof *y);
        return;
    }
    double x = (t - s->t_old) / m->h_done, x1 = 1 - x;
    const double *r = m->r;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (int k = 3 + m->table->dense_rows; k > 0; k--)
            sum = (r[(size_t)k * n + i] + sum) * (k % 2 ? x : x1);
        y[i] = s->y_old[i] + sum;
    }
}

/* The nested form multiplied out, in powers of u = s - 1/2: s = 1/2 + u, s1 = 1/2 - u. */
int hmi_rk_polynomial(const hmi_stepper *s, const uint32_t *place, int most_degree,
                      double *coefficient, double *origin)
{
    memory *m = memory_of(s);
    size_t n = width(s);
    int degree = 3 + m->table->dense_rows;
    *origin = 0.5;
    if (degree > most_degree || !prepare_dense(s, m))
        return -1;
    for (size_t i = 0; i < s->size; i++) {
        if (place[i] == UINT32_MAX)
            continue;
        double *c = coefficient + (size_t)place[i] * ((size_t)degree + 1);
        c[0] = 0;
        for (int k = degree, top = 0; k > 0; k--, top++) {
            double sign = k % 2 ? 1 : -1;
            c[0] += m->r[(size_t)k * n + i];
            c[top + 1] = sign * c[top];
            for (int j = top; j > 0; j--)
                c[j] = 0.5 * c[j] + sign * c[j - 1];
            c[0] *= 0.5;
        }
        c[0] += s->y_old[i];
    }
    return degree;
}

/* ---- for batches ---- */

double hmi_rk_first_step(hmi_stepper *s, double t_limit)
{
    memory *m = memory_of(s);
    if (refresh(s) != HM_OK)
        return 0;
    choose_first_step(s, m, fmin(s->largest, t_limit - s->t));
    return m->h;
}

double *hmi_rk_foreign_step(hmi_stepper *s, double h_done)
{
    memory *m = memory_of(s);
    m->h_done = h_done;
    m->fresh = true;
    m->dense_ready = false;
    return m->K;
}
