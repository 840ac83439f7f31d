/* Robots by `hamel import`: accelerations at random states against inverse dynamics by the recursive
 * Newton-Euler algorithm, written here from the URDF file itself: with q'' of the model, the forces that the
 * joints would have to give are those of damping alone.
 * [Featherstone 2008, Rigid Body Dynamics Algorithms, section 5.3; in base axes, about each mass centre] */
#include "support/check.h"
#include "support/probe.h"

#include <hamel/hamel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, MOST_TEXT = 200000 };

typedef double vec[3];
typedef double mat[3][3];

typedef struct link {
    char name[64];
    double mass;
    vec com;
    mat J; /* about the mass centre, in link axes */
} link;

typedef struct joint {
    char name[64], mimic[64];
    char type;         /* r, p or f */
    int parent, child; /* links */
    vec at, axis;
    mat R0;
    double damping, multiplier, offset;
} joint;

typedef struct robot {
    link links[MOST];
    joint joints[MOST];
    int link_count, joint_count;
} robot;

/* ---- vectors ---- */

static void cross(const vec a, const vec b, vec c)
{
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const vec a, const vec b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void apply(mat R, const vec u, vec out)
{
    for (int i = 0; i < 3; i++)
        out[i] = R[i][0] * u[0] + R[i][1] * u[1] + R[i][2] * u[2];
}

static void multiply(mat A, mat B, mat C)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[i][j] = A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j];
}

/* Rodrigues */
static void turn(const vec axis, double angle, mat R)
{
    double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[i][j] = (i == j) * c + (1 - c) * axis[i] * axis[j];
    for (int i = 0; i < 3; i++) {
        R[(i + 1) % 3][(i + 2) % 3] -= s * axis[i];
        R[(i + 2) % 3][(i + 1) % 3] += s * axis[i];
    }
}

static void from_rpy(const vec rpy, mat R)
{
    static const vec x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    mat X, Y, Z, ZY;
    turn(x, rpy[0], X);
    turn(y, rpy[1], Y);
    turn(z, rpy[2], Z);
    multiply(Z, Y, ZY);
    multiply(ZY, X, R);
}

/* ---- the file: well-formed and simple, so that searching for texts is enough ---- */

/* The value of an attribute of an element inside a piece of text; NULL where it is not there. */
static const char *value_of(const char *piece, const char *element, const char *attribute)
{
    static char value[200];
    char head[40];
    snprintf(head, sizeof head, "<%s ", element);
    const char *at = strstr(piece, head), *end = at ? strchr(at, '>') : NULL;
    snprintf(head, sizeof head, " %s=\"", attribute);
    at = at ? strstr(at, head) : NULL;
    if (!at || at > end)
        return NULL;
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at + strlen(head), "\""), at + strlen(head));
    return value;
}

static void numbers_of(const char *piece, const char *element, const char *attribute, int count,
                       double *out)
{
    const char *text = value_of(piece, element, attribute);
    for (int k = 0; text && k < count; k++)
        out[k] = strtod(text, (char **)&text);
}

static int find_link(const robot *r, const char *name)
{
    for (int k = 0; k < r->link_count; k++)
        if (strcmp(r->links[k].name, name) == 0)
            return k;
    fail_msg("no link %s", name);
    return -1;
}

static void read_link(robot *r, const char *piece)
{
    static const char *const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    static const int row[] = {0, 0, 0, 1, 1, 2}, column[] = {0, 1, 2, 1, 2, 2};
    link *l = &r->links[r->link_count++];
    vec rpy = {0};
    mat J, R, RJ, T;
    *l = (link){.mass = 0};
    snprintf(l->name, sizeof l->name, "%s", value_of(piece, "link", "name"));
    numbers_of(piece, "mass", "value", 1, &l->mass);
    numbers_of(piece, "origin", "xyz", 3, l->com);
    numbers_of(piece, "origin", "rpy", 3, rpy);
    for (int k = 0; k < 6; k++) {
        double x = 0;
        numbers_of(piece, "inertia", names[k], 1, &x);
        J[row[k]][column[k]] = J[column[k]][row[k]] = x;
    }
    from_rpy(rpy, R);
    multiply(R, J, RJ);
    for (int i = 0; i < 9; i++)
        T[i / 3][i % 3] = R[i % 3][i / 3];
    multiply(RJ, T, l->J);
}

static void read_joint(robot *r, const char *piece)
{
    joint *j = &r->joints[r->joint_count++];
    vec rpy = {0};
    *j = (joint){.multiplier = 1, .axis = {1, 0, 0}};
    snprintf(j->name, sizeof j->name, "%s", value_of(piece, "joint", "name"));
    const char *type = value_of(piece, "joint", "type");
    j->type = type[0] == 'c' ? 'r' : type[0];
    j->parent = find_link(r, value_of(piece, "parent", "link"));
    j->child = find_link(r, value_of(piece, "child", "link"));
    numbers_of(piece, "origin", "xyz", 3, j->at);
    numbers_of(piece, "origin", "rpy", 3, rpy);
    numbers_of(piece, "axis", "xyz", 3, j->axis);
    numbers_of(piece, "dynamics", "damping", 1, &j->damping);
    if (value_of(piece, "mimic", "joint"))
        snprintf(j->mimic, sizeof j->mimic, "%s", value_of(piece, "mimic", "joint"));
    numbers_of(piece, "mimic", "multiplier", 1, &j->multiplier);
    numbers_of(piece, "mimic", "offset", 1, &j->offset);
    from_rpy(rpy, j->R0);
    double size = sqrt(dot(j->axis, j->axis));
    for (int k = 0; k < 3; k++)
        j->axis[k] /= size;
}

/* Calls read for every element <name ...> ... </name>; links that end at once have nothing inside. */
static void read_elements(robot *r, const char *text, const char *name,
                          void (*read)(robot *, const char *))
{
    char head[20], foot[20];
    snprintf(head, sizeof head, "\n  <%s ", name);
    snprintf(foot, sizeof foot, "</%s>", name);
    for (const char *at = strstr(text, head); at; at = strstr(at + 1, head)) {
        const char *close = strchr(at, '>');
        const char *end = close[-1] == '/' ? close + 1 : strstr(at, foot);
        char *piece = calloc(1, (size_t)(end - at) + 1);
        memcpy(piece, at, (size_t)(end - at));
        read(r, piece);
        free(piece);
    }
}

/* ---- inverse dynamics ---- */

typedef struct moving {
    mat R;
    vec at, v, w, dv, dw; /* of the link's frame; dv includes -g */
    vec force, moment;    /* on the link, about its frame's origin */
} moving;

/* The link's motion from its parent's. */
static void move(const robot *r, const joint *j, moving *all, double q, double v, double a)
{
    const moving *p = &all[j->parent];
    moving *m = &all[j->child];
    mat R0, R;
    vec shift = {0}, arm, axis, t, u;
    (void)r;
    multiply((double(*)[3])p->R, (double(*)[3])j->R0, R0);
    turn(j->axis, j->type == 'r' ? q : 0, R);
    multiply(R0, R, m->R);
    apply(R0, j->axis, axis);
    apply((double(*)[3])p->R, j->at, arm);
    for (int k = 0; k < 3; k++) {
        shift[k] = j->type == 'p' ? q * axis[k] : 0;
        arm[k] += shift[k];
        m->at[k] = p->at[k] + arm[k];
        m->w[k] = p->w[k] + (j->type == 'r' ? v * axis[k] : 0);
    }
    cross(p->w, axis, t);
    for (int k = 0; k < 3; k++)
        m->dw[k] = p->dw[k] + (j->type == 'r' ? a * axis[k] + v * t[k] : 0);
    cross(p->w, arm, u);
    for (int k = 0; k < 3; k++)
        m->v[k] = p->v[k] + u[k] + (j->type == 'p' ? v * axis[k] : 0);
    vec centripetal, tangential;
    cross(p->w, u, centripetal);
    cross(p->dw, arm, tangential);
    for (int k = 0; k < 3; k++)
        m->dv[k] = p->dv[k] + tangential[k] + centripetal[k] +
                   (j->type == 'p' ? a * axis[k] + 2 * v * t[k] : 0);
}

/* What the link's own inertia needs, about its origin. */
static void add_inertia(const link *l, moving *m)
{
    vec c, t, u, acceleration, spin, rate, w, dw;
    apply(m->R, l->com, c);
    cross(m->w, c, t);
    cross(m->w, t, u);
    cross(m->dw, c, t);
    for (int k = 0; k < 3; k++)
        acceleration[k] = m->dv[k] + t[k] + u[k];
    mat T;
    for (int i = 0; i < 9; i++)
        T[i / 3][i % 3] = m->R[i % 3][i / 3];
    apply(T, m->w, w);
    apply(T, m->dw, dw);
    apply((double(*)[3])l->J, w, spin);
    apply((double(*)[3])l->J, dw, rate);
    vec gyro, total;
    cross(w, spin, gyro);
    for (int k = 0; k < 3; k++)
        rate[k] += gyro[k];
    apply(m->R, rate, total);
    vec force;
    for (int k = 0; k < 3; k++)
        force[k] = l->mass * acceleration[k];
    cross(c, force, t);
    for (int k = 0; k < 3; k++) {
        m->force[k] += force[k];
        m->moment[k] += total[k] + t[k];
    }
}

/* Joints in an order in which parents come first. */
static int order_joints(const robot *r, int *order)
{
    bool placed[MOST] = {false};
    int count = 0;
    for (int k = 0; k < r->link_count; k++) {
        placed[k] = true;
        for (int j = 0; j < r->joint_count; j++)
            if (r->joints[j].child == k)
                placed[k] = false;
    }
    while (count < r->joint_count) {
        int before = count;
        for (int j = 0; j < r->joint_count; j++)
            if (placed[r->joints[j].parent] && !placed[r->joints[j].child]) {
                placed[r->joints[j].child] = true;
                order[count++] = j;
            }
        assert_true(count > before);
    }
    return count;
}

static void inverse_dynamics(const robot *r, const double *q, const double *v, const double *a,
                             double *tau)
{
    moving all[MOST];
    int order[MOST], count = order_joints(r, order);
    memset(all, 0, sizeof all);
    for (int k = 0; k < r->link_count; k++) {
        for (int i = 0; i < 3; i++)
            all[k].R[i][i] = 1;
        all[k].dv[2] = 9.81;
    }
    for (int i = 0; i < count; i++)
        move(r, &r->joints[order[i]], all, q[order[i]], v[order[i]], a[order[i]]);
    for (int k = 0; k < r->link_count; k++)
        add_inertia(&r->links[k], &all[k]);
    for (int i = count - 1; i >= 0; i--) {
        const joint *j = &r->joints[order[i]];
        moving *m = &all[j->child], *p = &all[j->parent];
        vec axis, arm, t;
        apply(m->R, j->axis,
              axis); /* the joint turns about its own axis: the same in both frames */
        tau[order[i]] = dot(axis, j->type == 'p' ? m->force : m->moment);
        for (int k = 0; k < 3; k++)
            arm[k] = m->at[k] - p->at[k];
        cross(arm, m->force, t);
        for (int k = 0; k < 3; k++) {
            p->force[k] += m->force[k];
            p->moment[k] += m->moment[k] + t[k];
        }
    }
}

/* ---- the comparison ---- */

static char *read_all(const char *path)
{
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    char *text = calloc(1, MOST_TEXT);
    assert_true(fread(text, 1, MOST_TEXT - 1, in) > 0);
    fclose(in);
    return text;
}

static char *imported(const char *path)
{
    char command[1000];
    snprintf(command, sizeof command, "'%s' import --no-limits '%s'", HAMEL_TOOL, path);
    FILE *in = popen(command, "r");
    assert_non_null(in);
    char *text = calloc(1, MOST_TEXT);
    assert_true(fread(text, 1, MOST_TEXT - 1, in) > 0);
    assert_int_equal(pclose(in), 0);
    return text;
}

static int find_joint(const robot *r, const char *name)
{
    for (int k = 0; k < r->joint_count; k++)
        if (strcmp(r->joints[k].name, name) == 0)
            return k;
    return -1;
}

/* Coordinates of the model, in order, are joints of the file, in order. */
static int list_own(const robot *r, int *own)
{
    int n = 0;
    for (int k = 0; k < r->joint_count; k++)
        if (r->joints[k].type != 'f' && !r->joints[k].mimic[0])
            own[n++] = k;
    return n;
}

static void spread(const robot *r, const int *own, int n, const double *x, bool offset, double *all)
{
    memset(all, 0, MOST * sizeof *all);
    for (int i = 0; i < n; i++)
        all[own[i]] = x[i];
    for (int k = 0; k < r->joint_count; k++)
        if (r->joints[k].mimic[0])
            all[k] = r->joints[k].multiplier * all[find_joint(r, r->joints[k].mimic)] +
                     (offset ? r->joints[k].offset : 0);
}

/* The largest force that is left over, relative to the largest force. */
static double left_over(const robot *r, const int *own, int n, const double *q, const double *v,
                        const double *a)
{
    double all[3][MOST], tau[MOST] = {0}, zero[MOST] = {0}, held[MOST], worst = 0, size = 1e-3;
    spread(r, own, n, q, true, all[0]);
    spread(r, own, n, v, false, all[1]);
    spread(r, own, n, a, false, all[2]);
    inverse_dynamics(r, all[0], all[1], all[2], tau);
    inverse_dynamics(r, all[0], all[1], zero, held);
    for (int i = 0; i < n; i++) {
        double sum = tau[own[i]] + r->joints[own[i]].damping * v[i];
        for (int k = 0; k < r->joint_count; k++)
            if (r->joints[k].mimic[0] && find_joint(r, r->joints[k].mimic) == own[i])
                sum += r->joints[k].multiplier * (tau[k] + r->joints[k].damping * all[1][k]);
        worst = fmax(worst, fabs(sum));
        size = fmax(size, fabs(held[own[i]]));
    }
    return worst / size;
}

static void check_robot(void **state)
{
    char path[500];
    snprintf(path, sizeof path, "%s/test/physics/models/robots/%s.urdf", HAMEL_SOURCE_DIR,
             (const char *)*state);
    robot *r = calloc(1, sizeof *r);
    char *file = read_all(path), *text = imported(path);
    read_elements(r, file, "link", read_link);
    read_elements(r, file, "joint", read_joint);
    hm_context *context = hm_context_create(NULL);
    hm_model *model = NULL;
    hm_system *system = NULL;
    hm_sim *sim = NULL;
    if (hm_model_parse(context, text, strlen(text), NULL, &model) != HM_OK)
        fail_msg("%s", hm_context_diagnostic(context, 0)->message);
    assert_int_equal(hm_system_create(model, &system), HM_OK);
    assert_int_equal(hm_sim_create(system, &sim), HM_OK);
    int own[MOST], n = list_own(r, own);
    assert_int_equal(n, hm_model_coordinate_count(model));
    random_source random = {11};
    double worst = 0;
    for (int trial = 0; trial < 20; trial++) {
        double q[MOST], v[MOST];
        const hm_evaluate_options options = {.formulation = HM_FORMULATION_AUTO};
        hm_evaluation at;
        random_fill(&random, -1.5, 1.5, (size_t)n, q);
        random_fill(&random, -2, 2, (size_t)n, v);
        assert_int_equal(hm_sim_set_state(sim, 0, q, v, NULL), HM_OK);
        assert_int_equal(hm_sim_evaluate(sim, &options, &at), HM_OK);
        worst = fmax(worst, left_over(r, own, n, q, v, at.qdd));
    }
    printf("# %-14s %2d coordinates, forces left over %.1e\n", (const char *)*state, n, worst);
    assert_true(worst <= 1e-10);
    hm_sim_destroy(sim);
    hm_system_destroy(system);
    hm_model_destroy(model);
    hm_context_destroy(context);
    free(text);
    free(file);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"ur5", check_robot, NULL, NULL, "ur5"},
        {"iiwa7", check_robot, NULL, NULL, "iiwa7"},
        {"mini_cheetah", check_robot, NULL, NULL, "mini_cheetah"},
        {"gripper", check_robot, NULL, NULL, "gripper"},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
