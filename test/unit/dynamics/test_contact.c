/* Contacts with and without friction, in the space of contact directions: answers satisfy their laws, put
 * back into them by other code than that of the solver; the number of solutions is that of a search by
 * enumeration of open, stick and slip with a scan of slip directions in the plane. */
#include "dynamics/contact/contact.h"
#include "linalg/dense.h"
#include "unit/linalg/helpers.h"

#include <hamel/base.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12, DIM = 8 };

typedef struct question {
    hmi_contact_problem p;
    double B[MOST * DIM], W[MOST * MOST], w0[MOST], noise[MOST];
    bool two_sided[MOST];
    hmi_friction_item friction[4];
} question;

static void finish(question *q, int k)
{
    double a[DIM];
    int n = q->p.size;
    fill(k, a);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            q->W[i * n + j] = hmi_dot(k, q->B + i * k, q->B + j * k);
        q->w0[i] = hmi_dot(k, q->B + i * k, a);
        q->noise[i] = 1e-12;
    }
    q->p.W = q->W;
    q->p.w0 = q->w0;
    q->p.noise = q->noise;
    q->p.two_sided = q->two_sided;
    q->p.friction = q->friction;
}

/* Up to three contacts, each with a friction of one or two tangents. */
static void make(question *q, int contacts, bool plane, double mu, int sliding)
{
    int k = DIM;
    memset(q, 0, sizeof *q);
    q->p.normals = contacts;
    q->p.size = contacts * (plane ? 3 : 2);
    q->p.frictions = contacts;
    fill(q->p.size * k, q->B);
    for (int j = 0; j < contacts; j++) {
        hmi_friction_item *f = &q->friction[j];
        *f = (hmi_friction_item){.normal = j,
                                 .first = contacts + j * (plane ? 2 : 1),
                                 .count = plane ? 2 : 1,
                                 .muk = mu * (1 + 0.1 * random_real())};
        f->mus = f->muk * (1 + 0.3 * (random_real() + 1));
        f->slides = random_int(0, 2) < sliding;
        double angle = 3 * random_real();
        f->direction[0] = plane ? cos(angle) : angle > 0 ? 1 : -1;
        f->direction[1] = plane ? sin(angle) : 0;
        q->two_sided[j] = random_int(0, 3) == 0;
    }
    finish(q, k);
}

/* The laws, written down once more. */
static bool obeys(const question *q, const double *x)
{
    const hmi_contact_problem *p = &q->p;
    double w[MOST];
    for (int i = 0; i < p->size; i++)
        w[i] = p->w0[i] + hmi_dot(p->size, p->W + i * p->size, x);
    for (int i = 0; i < p->normals; i++) {
        bool good = p->two_sided[i] ? fabs(w[i]) < 1e-8
                                    : w[i] > -1e-8 && x[i] > -1e-8 && fabs(w[i] * x[i]) < 1e-8;
        if (!good)
            return false;
    }
    for (int j = 0; j < p->frictions; j++) {
        const hmi_friction_item *f = &p->friction[j];
        const double *T = x + f->first, *u = w + f->first;
        double N = fabs(x[f->normal]), size = hmi_norm(f->count, u);
        bool sticks = !f->slides && size < 1e-7 && hmi_norm(f->count, T) <= f->mus * N + 1e-7;
        bool slides = true;
        for (int k = 0; k < f->count; k++) {
            double s = f->slides ? f->direction[k] : size > 0 ? u[k] / size : 0;
            slides &= fabs(T[k] + f->muk * N * s) < 1e-6;
        }
        if (!sticks && !slides && N > 1e-8)
            return false;
        if (N <= 1e-8 && hmi_norm(f->count, T) > 1e-7)
            return false;
    }
    return true;
}

/* One contact in the plane of slip and normal: solutions counted by formulas, not by equations. */
static int count_single(const question *q, bool stick_first)
{
    const hmi_friction_item *f = &q->friction[0];
    double Wnn = q->W[0], Wnt = q->W[1], Wtt = q->W[3], wn = q->w0[0], wt = q->w0[1];
    int open = wn >= 0, slip = 0, stick = 0;
    for (int s = -1; s <= 1; s += 2) {
        if (f->slides && s != (f->direction[0] > 0 ? 1 : -1))
            continue;
        double N = -wn / (Wnn - f->muk * s * Wnt);
        double ut = wt + (Wnt - f->muk * s * Wtt) * N;
        slip += N > 0 && (f->slides || ut * s > 0);
    }
    double det = Wnn * Wtt - Wnt * Wnt;
    double N = (-wn * Wtt + wt * Wnt) / det, T = (-wt * Wnn + wn * Wnt) / det;
    stick = !f->slides && N > 0 && fabs(T) <= f->mus * N;
    return stick_first && stick ? 1 : open + slip + stick;
}

static void check_single(hmi_contact_solver *solver, int counts[3])
{
    question q;
    hmi_contact_answer a;
    make(&q, 1, false, 3 * (random_real() + 1.01), 1);
    q.two_sided[0] = false;
    hmi_contact_solve(solver, &q.p, &a);
    int expected = count_single(&q, true);
    assert_int_equal(a.solutions, expected > 2 ? 2 : expected);
    assert_true(a.complete);
    counts[a.solutions]++;
    if (a.solutions == 1)
        assert_true(obeys(&q, a.x));
}

/* Coefficients up to 6: no solution and several occur. */
static void test_single(void **state)
{
    hmi_contact_solver *solver = *state;
    int counts[3] = {0};
    for (int i = 0; i < 3000; i++)
        check_single(solver, counts);
    assert_true(counts[0] > 10 && counts[1] > 1500 && counts[2] > 10);
}

/* Small coefficients: there is one solution, and it obeys the laws. */
static void test_several(void **state)
{
    hmi_contact_solver *solver = *state;
    int solved = 0, cases = 1500;
    for (int i = 0; i < cases; i++) {
        question q;
        hmi_contact_answer a;
        make(&q, random_int(1, 3), i % 2, 0.1, i % 3);
        hmi_contact_solve(solver, &q.p, &a);
        if (a.solutions == 1) {
            assert_true(obeys(&q, a.x));
            solved++;
        }
    }
    assert_true(solved > cases * 95 / 100);
}

/* A friction in the plane: the scan of directions at 720 angles finds what the solver found. */
static void test_plane_scan(void **state)
{
    hmi_contact_solver *solver = *state;
    int slipping = 0;
    for (int i = 0; i < 1000; i++) {
        question q;
        hmi_contact_answer a;
        make(&q, 1, true, 0.4, 0);
        q.two_sided[0] = false;
        hmi_contact_solve(solver, &q.p, &a);
        if (a.solutions != 1 || a.mode[0] != HMI_FRICTION_SLIP)
            continue;
        double best = INFINITY, angle = 0;
        for (int k = 0; k < 720; k++) {
            double t = k * 3.14159265358979323846 / 360, c = cos(t), s = sin(t),
                   mu = q.friction[0].muk;
            double N = -q.w0[0] / (q.W[0] - mu * (c * q.W[1] + s * q.W[2]));
            double u = q.w0[1] + (q.W[3] - mu * (c * q.W[4] + s * q.W[5])) * N;
            double v = q.w0[2] + (q.W[6] - mu * (c * q.W[7] + s * q.W[8])) * N;
            double off = N > 0 ? hypot(u, v) - (c * u + s * v) : INFINITY;
            if (off < best) {
                best = off;
                angle = t;
            }
        }
        assert_true(hypot(cos(angle) - a.slip[0], sin(angle) - a.slip[1]) < 0.05);
        slipping++;
    }
    assert_true(slipping > 100);
}

/* A block on a slope: sticks below mus, slides down with muk beyond. */
static void test_block(void **state)
{
    hmi_contact_solver *solver = *state;
    const double W[] = {1, 0, 0, 1}, noise[] = {1e-12, 1e-12};
    const bool two_sided[] = {false};
    const hmi_friction_item f = {.normal = 0, .first = 1, .count = 1, .mus = 0.5, .muk = 0.3};
    for (int k = 0; k < 2; k++) {
        double w0[] = {-10, k ? -6 : -4};
        hmi_contact_answer a;
        const hmi_contact_problem p = {.size = 2,
                                       .normals = 1,
                                       .two_sided = two_sided,
                                       .W = W,
                                       .w0 = w0,
                                       .noise = noise,
                                       .frictions = 1,
                                       .friction = &f};
        hmi_contact_solve(solver, &p, &a);
        assert_int_equal(a.solutions, 1);
        assert_int_equal(a.mode[0], k ? HMI_FRICTION_SLIP : HMI_FRICTION_STICK);
        assert_true(fabs(a.x[0] - 10) < 1e-12 && fabs(a.x[1] - (k ? 3 : 4)) < 1e-12);
    }
}

int main(void)
{
    const hm_allocator allocator = hm_allocator_default();
    hmi_arena arena;
    hmi_contact_solver *solver;
    hmi_arena_init(&arena, &allocator);
    if (hmi_contact_solver_create(&arena, MOST, 4, &solver) != HM_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_single, solver),
        cmocka_unit_test_prestate(test_several, solver),
        cmocka_unit_test_prestate(test_plane_scan, solver),
        cmocka_unit_test_prestate(test_block, solver),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    hmi_arena_release(&arena);
    return failed;
}
