/* One block of memory for everything a solve needs: counted once, handed out once. */
#include "dynamics/formulations/workspace.h"

/* Hands out memory from `base`; with base NULL it only counts. */
typedef struct carver {
    char *base;
    size_t used;
} carver;

static void *carve(carver *c, size_t count, size_t size)
{
    size_t at = (c->used + 15) / 16 * 16;
    c->used = at + (count ? count : 1) * size;
    return c->base ? c->base + at : NULL;
}

static double *doubles(carver *c, size_t count)
{
    return carve(c, count, sizeof(double));
}

static int *ints(carver *c, size_t count)
{
    return carve(c, count, sizeof(int));
}

static void carve_problem(hmi_dynamics *d, carver *c)
{
    int n = d->n, m = d->m, k = n < m ? n : m;
    d->D = doubles(c, (size_t)n);
    d->left_out = carve(c, (size_t)m, sizeof(bool));
    d->R = doubles(c, (size_t)m);
    d->M = doubles(c, hmi_area(n, n));
    d->A = doubles(c, hmi_area(m, n));
    d->b = doubles(c, (size_t)m);
    d->order = ints(c, (size_t)m);
    d->QR = doubles(c, hmi_area(m, n));
    d->tau = doubles(c, (size_t)k);
    d->Z = doubles(c, hmi_area(n, n));
    d->graded_doubles = doubles(c, hmi_graded_doubles(m, k));
    d->graded_ints = ints(c, hmi_graded_ints(m, k));
    d->L = doubles(c, hmi_area(n, n));
    d->W = doubles(c, hmi_area(n, n));
}

static void carve_held(hmi_dynamics *d, carver *c)
{
    size_t n = (size_t)d->n, m = (size_t)d->m, all = (size_t)d->held.all;
    hmi_held_rows *held = &d->held;
    if (!held->gathers)
        return;
    held->row = ints(c, m);
    held->A = doubles(c, m * n);
    held->A_error = doubles(c, m * n);
    held->b = doubles(c, m);
    held->b_error = doubles(c, m);
    for (int i = 0; i < 5; i++)
        held->of_model[i] = doubles(c, all);
    for (int i = 0; i < 3; i++)
        held->flags_of_model[i] = carve(c, all, sizeof(bool));
    for (int i = 0; i < 2; i++)
        held->reactions[i] = doubles(c, all);
}

/* The largest of what the methods need: see their factor functions. */
static void carve_factors(hmi_dynamics *d, carver *c)
{
    size_t n = (size_t)d->n, m = (size_t)d->m, s = n + m;
    size_t largest = 3 * s * s + 16 * s;
    if (d->size.compare)
        largest += (n + s) * (n + s);
    d->factor = doubles(c, largest);
    d->factor_ints = ints(c, 4 * s + n);
}

static void carve_motion(hmi_dynamics *d, carver *c)
{
    size_t n = (size_t)d->n, m = (size_t)d->m, servos = (size_t)d->size.servos;
    hmi_motion *motion = &d->motion;
    motion->Q = doubles(c, n);
    motion->C = doubles(c, n);
    motion->ideal = doubles(c, n);
    motion->extra = doubles(c, n);
    motion->ideal_l = doubles(c, m);
    motion->extra_l = doubles(c, m);
    motion->u = doubles(c, servos * n);
    d->law_ints = ints(c, 2 * (n + m));
    d->judge_ints = ints(c, n);
}

static void carve_servo(hmi_dynamics *d, carver *c)
{
    size_t n = (size_t)d->n, servos = (size_t)d->size.servos, rows = (size_t)d->size.servo_rows;
    hmi_servo_space *servo = &d->servo;
    size_t columns = servos * n;
    servo->A = doubles(c, rows * n);
    servo->b = doubles(c, rows);
    servo->free = doubles(c, rows);
    servo->R = doubles(c, rows);
    servo->first_row = ints(c, servos + 1);
    servo->group = ints(c, servos);
    servo->first_column = ints(c, servos + 1);
    servo->coordinate = ints(c, columns);
    servo->G = doubles(c, columns * n);
    servo->K = doubles(c, columns * n);
    servo->H = doubles(c, rows * columns);
    servo->reach = doubles(c, rows * columns);
    servo->ints = ints(c, 2 * (rows + columns + n));
}

static void carve_results(hmi_dynamics *d, carver *c)
{
    size_t n = (size_t)d->n, m = (size_t)d->m;
    for (int i = 0; i < 8; i++)
        d->result_n[i] = doubles(c, n);
    for (int i = 0; i < 5; i++)
        d->result_m[i] = doubles(c, m);
    for (int i = 0; i < 3; i++)
        d->flags[i] = carve(c, m, sizeof(bool));
    d->u = doubles(c, (size_t)d->size.servos * n);
    d->servo_residual = doubles(c, (size_t)d->size.servo_rows);
    d->directions = doubles(c, n * n);
    d->virtual_displacements = doubles(c, n * n);
}

/* Nested uses add up to no more than this; hmi_take asserts it. */
static void carve_scratch(hmi_dynamics *d, carver *c)
{
    size_t n = (size_t)d->n, m = (size_t)d->m, rows = (size_t)d->size.servo_rows;
    size_t columns = (size_t)d->size.servos * n, s = n + m;
    d->scratch_size = 6 * s * s + 48 * s + 2 * n * n + 6 * m * m;
    if (rows)
        d->scratch_size += 2 * (rows + 2) * (rows + columns + n) + 8 * (n + 1) * (n + 1) +
                           (2 * m + columns) * (3 * n + 2 * m) + 64 * s + 4 * columns;
    d->scratch = doubles(c, d->scratch_size);
}

static void carve_all(hmi_dynamics *d, carver *c)
{
    carve_problem(d, c);
    carve_held(d, c);
    carve_factors(d, c);
    carve_motion(d, c);
    carve_servo(d, c);
    carve_results(d, c);
    carve_scratch(d, c);
}

/* Sizes whose squares fit; far beyond what dense matrices are good for. */
enum { LARGEST_SIZE = 20000 };

static bool size_is_valid(const hmi_dynamics_size *size)
{
    return size->n >= 1 && size->m >= 0 && size->servos >= 0 && size->servo_rows >= 0 &&
           size->n <= LARGEST_SIZE && size->m <= LARGEST_SIZE && size->servos <= LARGEST_SIZE &&
           size->servo_rows <= LARGEST_SIZE;
}

hm_status hmi_dynamics_create(const hm_allocator *allocator, const hmi_dynamics_size *size,
                              hmi_dynamics **out)
{
    return hmi_dynamics_create_gathering(allocator, size, 0, out);
}

hm_status hmi_dynamics_create_gathering(const hm_allocator *allocator,
                                        const hmi_dynamics_size *size, int rows, hmi_dynamics **out)
{
    if (!size_is_valid(size) || rows < 0)
        return HM_ERR_USAGE;
    hmi_dynamics *d = hmi_alloc(allocator, sizeof *d);
    if (!d)
        return HM_ERR_NOMEM;
    memset(d, 0, sizeof *d);
    *d = (hmi_dynamics){.allocator = *allocator, .size = *size, .n = size->n, .m = size->m};
    d->held.gathers = rows > 0;
    d->held.all = rows;
    carver count = {0};
    carve_all(d, &count);
    d->bytes = count.used;
    carver give = {hmi_alloc(allocator, d->bytes), 0};
    if (!give.base) {
        hmi_free(allocator, d, sizeof *d);
        return HM_ERR_NOMEM;
    }
    carve_all(d, &give);
    memset(give.base, 0, (size_t)((char *)d->scratch - (char *)give.base)); /* scratch comes last */
    assert(hmi_saddle_doubles(d->n, d->m, false) + (size_t)d->m <= d->scratch_size);
    hmi_saddle_place(&d->saddle, d->n, d->m, false, d->scratch);
    d->saddle.left_out = d->left_out;
    if (d->held.gathers)
        hmi_dynamics_leave_out(d, NULL);
    *out = d;
    return HM_OK;
}

void hmi_dynamics_destroy(hmi_dynamics *d)
{
    if (!d)
        return;
    hm_allocator allocator = d->allocator;
    hmi_free(&allocator, d->D, d->bytes); /* the first thing carved */
    hmi_free(&allocator, d, sizeof *d);
}
