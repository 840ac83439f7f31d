/* Servos beside laws that use reactions: of all control forces that enforce the servo, with everything the law does
 * about them, the one of least u^T M^-1 u. The reference knows nothing of multipliers of servos: for given forces it
 * solves the equations by elimination and the law by bisection or iteration, and it looks for the least cost by
 * trying forces. */
#include "unit/dynamics/helpers.h"

enum { WIDE = 4 };

/* ---- problems -------------------------------------------------------------------------------- */

typedef enum law_kind { LINEAR, COULOMB, SMOOTH } law_kind;

/* n = 3 coordinates, one constraint (written twice where redundant), one servo row. The law is
 *     C_i = push_i f(R),   R = the reaction (ideal or total) on coordinate `seen`. */
typedef struct problem {
    int n, m;
    double M[9], Q[3], A[6], b[2], push[3], servo_A[3], servo_b[1];
    bool actuated[3], total;
    int seen;
    law_kind kind;
} problem;

static double law_value(const problem *p, double R)
{
    return p->kind == LINEAR ? R : p->kind == COULOMB ? fabs(R) : tanh(R) + 0.2 * R;
}

static int problem_law(void *user, const hmi_reactions *r, double *Q, double *C)
{
    const problem *p = user;
    double R = (p->total ? r->total_reaction : r->reaction)[p->seen];
    (void)Q;
    for (int i = 0; i < p->n; i++)
        C[i] = p->push[i] * law_value(p, R);
    return 0;
}

/* ---- the reference --------------------------------------------------------------------------- */

/* Solves K x = f (size numbers) by elimination with pivots; K and f are spoiled. */
static void eliminate(int size, double K[WIDE][WIDE], double *f, double *x)
{
    for (int k = 0; k < size; k++) {
        int pivot = k;
        for (int i = k + 1; i < size; i++)
            if (fabs(K[i][k]) > fabs(K[pivot][k]))
                pivot = i;
        for (int j = 0; j < size; j++) {
            double kept = K[k][j];
            K[k][j] = K[pivot][j];
            K[pivot][j] = kept;
        }
        double kept = f[k];
        f[k] = f[pivot];
        f[pivot] = kept;
        for (int i = k + 1; i < size; i++) {
            double t = K[i][k] / K[k][k];
            for (int j = k; j < size; j++)
                K[i][j] -= t * K[k][j];
            f[i] -= t * f[k];
        }
    }
    for (int k = size - 1; k >= 0; k--) {
        x[k] = f[k];
        for (int j = k + 1; j < size; j++)
            x[k] -= K[k][j] * x[j];
        x[k] /= K[k][k];
    }
}

/* x = (q'', lambda) of M q'' = force + A^T lambda, A q'' = b, with the first row of A alone. */
static void passive(const problem *p, const double *force, double *x)
{
    double K[WIDE][WIDE] = {{0}}, f[WIDE];
    for (int i = 0; i < p->n; i++) {
        for (int j = 0; j < p->n; j++)
            K[i][j] = p->M[p->n * i + j];
        K[i][p->n] = -p->A[i];
        K[p->n][i] = p->A[i];
        f[i] = force[i];
    }
    f[p->n] = p->b[0];
    eliminate(p->n + 1, K, f, x);
}

/* The motion when the law is told R; returns the reaction of the motion. */
static double motion_told(const problem *p, const double *u, double R, double *x)
{
    double force[3];
    for (int i = 0; i < p->n; i++)
        force[i] = p->Q[i] + u[i] + p->push[i] * law_value(p, R);
    passive(p, force, x);
    return p->A[p->seen] * x[p->n];
}

/* The motion under the control forces u, the law included. Loops of total reactions are contractions here. */
static void motion(const problem *p, const double *u, double *x)
{
    double force[3], R;
    for (int i = 0; i < p->n; i++)
        force[i] = p->Q[i] + u[i];
    passive(p, force, x);
    R = p->A[p->seen] * x[p->n];
    for (int k = 0; k < 200; k++) {
        double next = motion_told(p, u, R, x);
        if (!p->total || next == R)
            return;
        R = next;
    }
}

static double missing(const problem *p, const double *u)
{
    double x[WIDE], sum = -p->servo_b[0];
    motion(p, u, x);
    for (int i = 0; i < p->n; i++)
        sum += p->servo_A[i] * x[i];
    return sum;
}

static double cost_of(const problem *p, const double *u)
{
    double K[WIDE][WIDE] = {{0}}, f[WIDE], x[WIDE], cost = 0;
    for (int i = 0; i < p->n; i++) {
        for (int j = 0; j < p->n; j++)
            K[i][j] = p->M[p->n * i + j];
        f[i] = u[i];
    }
    eliminate(p->n, K, f, x);
    for (int i = 0; i < p->n; i++)
        cost += u[i] * x[i];
    return cost;
}

/* The least cost of forces along the ray u = r (cos a, sin a) on the two actuators that reach the row: the first r
 * outward from 0 where `missing` changes sign, in either direction. */
static double cost_on_ray(const problem *p, double angle, double largest, double *best)
{
    enum { PIECES = 24 };
    double u[3] = {0}, at_rest = missing(p, u), least = INFINITY;
    for (int sense = -1; sense <= 1; sense += 2) {
        double low = 0, high = 0;
        bool found = false;
        for (int k = 1; k <= PIECES && !found; k++) {
            low = high;
            high = largest * k * k / (PIECES * PIECES);
            u[0] = sense * high * cos(angle);
            u[1] = sense * high * sin(angle);
            found = missing(p, u) * at_rest <= 0;
        }
        for (int k = 0; k < 48 && found; k++) {
            double middle = 0.5 * (low + high);
            u[0] = sense * middle * cos(angle);
            u[1] = sense * middle * sin(angle);
            if (missing(p, u) * at_rest <= 0)
                high = middle;
            else
                low = middle;
        }
        u[0] = sense * high * cos(angle);
        u[1] = sense * high * sin(angle);
        if (found && cost_of(p, u) < least) {
            least = cost_of(p, u);
            memcpy(best, u, 3 * sizeof *u);
        }
    }
    return least;
}

/* Rays all round, then around the best one ever closer. */
static double least_cost(const problem *p, double largest, double *u)
{
    double middle = 0, width = acos(-1.0) / 2, least = INFINITY, trial[3];
    for (int round = 0; round < 9; round++) {
        int count = round == 0 ? 40 : 5;
        double centre = middle;
        for (int k = -count; k <= count; k++) {
            double angle = centre + width * k / count, cost = cost_on_ray(p, angle, largest, trial);
            if (cost < least) {
                least = cost;
                middle = angle;
                memcpy(u, trial, sizeof trial);
            }
        }
        width *= round == 0 ? 0.05 : 0.25;
    }
    return least;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static hm_status answer(const problem *p, hmi_effort effort, double *u, double *qdd)
{
    hmi_reaction_law law = {problem_law, (void *)p, !p->total, p->total};
    hmi_servo servo = {1, p->servo_A, p->servo_b, NULL, p->actuated, NULL};
    hmi_equations e = {.M = p->M,
                       .Q = p->Q,
                       .A = p->A,
                       .b = p->b,
                       .law = &law,
                       .servos = &servo,
                       .servo_count = 1};
    hmi_dynamics *d = make_workspace(p->n, p->m, 1, 1);
    hmi_options options = hmi_options_default();
    hmi_solution s;
    options.effort = effort;
    hm_status status = hmi_dynamics_solve(d, &e, &options, &s);
    memcpy(u, s.u, (size_t)p->n * sizeof *u);
    memcpy(qdd, s.qdd, (size_t)p->n * sizeof *qdd);
    hmi_dynamics_destroy(d);
    return status;
}

static unsigned long seed = 1;

static double draw(void)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (double)(seed >> 11) / 4503599627370496.0 - 1;
}

static problem random_problem(int k)
{
    problem p = {.n = 3, .m = k % 2 + 1, .kind = (law_kind)(k % 3), .total = k / 3 % 2};
    double L[9];
    for (int i = 0; i < 9; i++)
        L[i] = draw();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int l = 0; l < 3; l++)
                p.M[3 * i + j] += L[3 * i + l] * L[3 * j + l] + (i == j ? 0.4 : 0);
    for (int i = 0; i < 3; i++) {
        p.Q[i] = 3 * draw();
        p.A[i] = draw();
        p.A[3 + i] = -2 * p.A[i];
        p.push[i] = (p.total ? 0.2 : 0.8) * draw();
        p.servo_A[i] = draw();
        p.actuated[i] = i < 2;
    }
    p.b[0] = draw();
    p.b[1] = -2 * p.b[0];
    p.servo_b[0] = 3 * draw();
    p.seen = k % 3;
    return p;
}

/* Is the loop of the law a clear contraction, so that the reference is right? */
static bool is_tame(const problem *p)
{
    double x[WIDE], none[3] = {0};
    double slope = fabs(motion_told(p, none, 1.5, x) - motion_told(p, none, 0.5, x));
    double other = fabs(motion_told(p, none, -0.5, x) - motion_told(p, none, -1.5, x));
    double within = fabs(motion_told(p, none, 0.1, x) - motion_told(p, none, -0.1, x)) / 0.2;
    return fmax(fmax(slope, other), within) < 0.5;
}

/* Minima at a kink of the law may stay undecided; what is answered must be right. */
static void random_against_trial(void **state)
{
    (void)state;
    int compared = 0, undecided = 0;
    for (int k = 0; k < 120; k++) {
        problem p = random_problem(k);
        double u[3], qdd[3], tried[3] = {0};
        if (!is_tame(&p))
            continue;
        double least = least_cost(&p, 60, tried);
        if (!isfinite(least))
            continue;
        hm_status status = answer(&p, k % 2 ? HMI_ANSWER : HMI_COMPARE, u, qdd);
        if (status == HM_ERR_UNDETERMINED && p.kind == COULOMB) {
            undecided++;
            continue;
        }
        assert_int_equal(status, HM_OK);
        double cost = cost_of(&p, u), size = fmax(1, cost), left = missing(&p, u);
        if (fabs(left) > 1e-11 * size || fabs(cost - least) > 1e-7 * size)
            fail_msg(
                "problem %d: u = (%g, %g) costs %.9g and misses the row by %g, (%g, %g) costs %.9g",
                k, u[0], u[1], cost, left, tried[0], tried[1], least);
        compared++;
    }
    assert_true(compared > 100);
    assert_true(undecided < 5);
}

/* A floor, and a force along it of half the reaction: pressing down helps to push. */
static void pressing_helps(void **state)
{
    (void)state;
    problem p = {.n = 2, .m = 1, .M = {1, 0, 0, 1}, .A = {0, 1}, .push = {0.5}, .seen = 1};
    double u[2], qdd[2], expected[2] = {0.8, -0.4}, ahead[2] = {1, 0};
    p.servo_A[0] = p.servo_b[0] = 1;
    p.actuated[0] = p.actuated[1] = true;
    for (p.kind = LINEAR; p.kind <= COULOMB; p.kind++)
        for (int effort = HMI_ANSWER; effort <= HMI_COMPARE; effort++) {
            hm_status status = answer(&p, (hmi_effort)effort, u, qdd);
            if (p.kind == COULOMB) { /* pulling helps as much */
                assert_int_equal(status, HM_ERR_UNDETERMINED);
                continue;
            }
            assert_int_equal(status, HM_OK);
            assert_close(2, u, expected, 1e-12);
            assert_close(2, qdd, ahead, 1e-13);
        }
}

/* One actuator leaves no choice: then M may be singular, and u is what elimination gives. */
static void singular_mass(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        problem p = random_problem(k);
        double u[3], qdd[3], x[WIDE];
        for (int i = 0; i < 3; i++)
            p.M[6 + i] = p.M[3 * i + 2] = 0;
        p.A[2] = p.A[2] < 0 ? p.A[2] - 0.5 : p.A[2] + 0.5;
        p.A[5] = -2 * p.A[2];
        p.Q[2] = p.push[2] = 0;
        p.actuated[1] = false;
        if (!is_tame(&p) || answer(&p, HMI_COMPARE, u, qdd) != HM_OK)
            continue;
        motion(&p, u, x);
        assert_close(3, qdd, x, 1e-11);
        assert_true(fabs(missing(&p, u)) < 1e-11 * fmax(1, fabs(u[0])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_against_trial),
        cmocka_unit_test(pressing_helps),
        cmocka_unit_test(singular_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
