/* Writes a robot as a model: bodies that carry bodies, in relative coordinates. */
#include "urdf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shortest text that reads back as the same number. */
static void put_number(FILE *out, double x)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    fputs(x == 0 ? "0" : text, out);
}

static void put_vector(FILE *out, const double x[3])
{
    for (int k = 0; k < 3; k++) {
        fputs(k ? ", " : "[", out);
        put_number(out, x[k]);
    }
    fputs("]", out);
}

static bool is_zero(const double *x, int count)
{
    for (int k = 0; k < count; k++)
        if (x[k] != 0)
            return false;
    return true;
}

/* rotz(yaw)*roty(pitch)*rotx(roll) without what is zero. */
static void put_rotation(FILE *out, const double rpy[3])
{
    const char *const names[] = {"rotx", "roty", "rotz"};
    const char *separator = "";
    for (int k = 2; k >= 0; k--) {
        if (rpy[k] == 0)
            continue;
        fprintf(out, "%s%s(", separator, names[k]);
        put_number(out, rpy[k]);
        fputs(")", out);
        separator = "*";
    }
}

/* ---- inertias ---- */

static void rotation_of(const double rpy[3], double R[3][3])
{
    double c[3], s[3];
    for (int k = 0; k < 3; k++) {
        c[k] = cos(rpy[k]);
        s[k] = sin(rpy[k]);
    }
    const double rows[3][3] = {
        {c[2] * c[1], c[2] * s[1] * s[0] - s[2] * c[0], c[2] * s[1] * c[0] + s[2] * s[0]},
        {s[2] * c[1], s[2] * s[1] * s[0] + c[2] * c[0], s[2] * s[1] * c[0] - c[2] * s[0]},
        {-s[1], c[1] * s[0], c[1] * c[0]}};
    memcpy(R, rows, sizeof rows);
}

/* R J R^T, symmetric to the last bit. */
static void turned_inertia(const urdf_link *l, double out[3][3])
{
    const double *j = l->J;
    const double J[3][3] = {{j[0], j[1], j[2]}, {j[1], j[3], j[4]}, {j[2], j[4], j[5]}};
    double R[3][3];
    rotation_of(l->com.rpy, R);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b <= a; b++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                for (int m = 0; m < 3; m++)
                    sum += R[a][k] * J[k][m] * R[b][m];
            out[a][b] = out[b][a] = is_zero(l->com.rpy, 3) ? J[a][b] : sum;
        }
}

static void put_inertial(FILE *out, const urdf_link *l)
{
    double J[3][3];
    if (l->mass > 0) {
        fputs(" mass ", out);
        put_number(out, l->mass);
    }
    if (!is_zero(l->J, 6)) {
        turned_inertia(l, J);
        bool diagonal = J[1][0] == 0 && J[2][0] == 0 && J[2][1] == 0;
        fputs(diagonal ? "  inertia diag(" : "  inertia [", out);
        for (int k = 0; k < 3; k++) {
            fputs(k ? ", " : "", out);
            if (diagonal)
                put_number(out, J[k][k]);
            else
                put_vector(out, J[k]);
        }
        fputs(diagonal ? ")" : "]", out);
    }
    if (!is_zero(l->com.xyz, 3)) {
        fputs("  com ", out);
        put_vector(out, l->com.xyz);
    }
}

/* ---- joints ---- */

/* The coordinate, or what a joint that mimics has in place of one. */
static void put_coordinate(FILE *out, const urdf_robot *r, const urdf_joint *j)
{
    if (urdf_is_stuck(j)) {
        put_number(out, j->lower);
        return;
    }
    if (!j->mimic_name) {
        fputs(j->id, out);
        return;
    }
    const urdf_joint *leader = &r->joints[j->mimic];
    if (j->multiplier != 1) {
        put_number(out, j->multiplier);
        fputs("*", out);
    }
    if (urdf_is_stuck(leader))
        put_number(out, leader->lower);
    else
        fputs(leader->id, out);
    if (j->offset != 0) {
        fputs(j->offset < 0 ? " - " : " + ", out);
        put_number(out, fabs(j->offset));
    }
}

/* Two vectors that are perpendicular to the axis and to each other. */
static void perpendicular(const double axis[3], double u[3], double v[3])
{
    int small = 0;
    for (int k = 1; k < 3; k++)
        small = fabs(axis[k]) < fabs(axis[small]) ? k : small;
    double e[3] = {0}, size = 0;
    e[small] = 1;
    for (int k = 0; k < 3; k++)
        u[k] = axis[(k + 1) % 3] * e[(k + 2) % 3] - axis[(k + 2) % 3] * e[(k + 1) % 3];
    for (int k = 0; k < 3; k++)
        v[k] = axis[(k + 1) % 3] * u[(k + 2) % 3] - axis[(k + 2) % 3] * u[(k + 1) % 3];
    size = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3; k++) {
        u[k] /= size;
        v[k] /= length;
    }
}

/* P + R0*(what a joint of several coordinates shifts by) */
static void put_place(FILE *out, const urdf_joint *j)
{
    bool shifts = j->type == URDF_FLOATING || j->type == URDF_PLANAR;
    if (is_zero(j->origin.xyz, 3) && !shifts)
        return;
    fputs("at ", out);
    put_vector(out, j->origin.xyz);
    if (shifts) {
        fputs(" + ", out);
        put_rotation(out, j->origin.rpy);
        fputs(is_zero(j->origin.rpy, 3) ? "" : "*", out);
    }
    if (j->type == URDF_FLOATING)
        fprintf(out, "[%s_x, %s_y, %s_z]", j->id, j->id, j->id);
    if (j->type == URDF_PLANAR) {
        double u[3], v[3];
        perpendicular(j->axis, u, v);
        fprintf(out, "(%s_x*", j->id);
        put_vector(out, u);
        fprintf(out, " + %s_y*", j->id);
        put_vector(out, v);
        fputs(")", out);
    }
    fputs("  ", out);
}

static void put_motion(FILE *out, const urdf_robot *r, const urdf_joint *j)
{
    if (j->type == URDF_FIXED)
        fputs("by weld", out);
    else if (j->type == URDF_FLOATING)
        fprintf(out, "by ball(%s_e0, %s_e1, %s_e2, %s_e3)", j->id, j->id, j->id, j->id);
    else {
        fputs(j->type == URDF_PRISMATIC ? "by slider(" : "by hinge(", out);
        if (j->type == URDF_PLANAR)
            fprintf(out, "%s_a", j->id);
        else
            put_coordinate(out, r, j);
        fputs(", ", out);
        put_vector(out, j->axis);
        fputs(")", out);
    }
}

static void put_body(FILE *out, const urdf_robot *r, const urdf_options *options, int k)
{
    const urdf_link *l = &r->links[k];
    fprintf(out, "body %s {", l->id);
    put_inertial(out, l);
    if (l->joint == URDF_NONE) {
        if (options->floating)
            fprintf(out,
                    "\n    on ground at [%s_x, %s_y, %s_z] by ball(%s_e0, %s_e1, %s_e2, %s_e3)",
                    l->id, l->id, l->id, l->id, l->id, l->id, l->id);
        else
            fputs(" on ground by weld", out);
    } else {
        const urdf_joint *j = &r->joints[l->joint];
        fprintf(out, "\n    on %s ", r->links[j->parent].id);
        put_place(out, j);
        if (!is_zero(j->origin.rpy, 3)) {
            fputs("frame ", out);
            put_rotation(out, j->origin.rpy);
            fputs("  ", out);
        }
        put_motion(out, r, j);
    }
    fputs(" }\n", out);
}

/* ---- declarations ---- */

/* Has it a coordinate of its own that `coord` declares? */
static bool has_own(const urdf_joint *j)
{
    return urdf_is_single(j) && !j->mimic_name && !urdf_is_stuck(j);
}

static void put_coords(FILE *out, const urdf_robot *r, const urdf_options *options)
{
    const char *base = r->links[r->root].id;
    if (options->floating)
        fprintf(out, "coord %s_x, %s_y, %s_z, %s_e0, %s_e1, %s_e2, %s_e3\n", base, base, base, base,
                base, base, base);
    for (size_t k = 0; k < r->joint_count; k++) {
        const urdf_joint *j = &r->joints[k];
        const char *id = j->id;
        if (has_own(j))
            fprintf(out, "coord %s\n", id);
        else if (j->type == URDF_FLOATING)
            fprintf(out, "coord %s_x, %s_y, %s_z, %s_e0, %s_e1, %s_e2, %s_e3\n", id, id, id, id, id,
                    id, id);
        else if (j->type == URDF_PLANAR)
            fprintf(out, "coord %s_x, %s_y, %s_a\n", id, id, id);
    }
}

static void put_limit(FILE *out, const urdf_robot *r, const urdf_joint *j, bool upper)
{
    fprintf(out, "constraint %s_%s: ", j->id, upper ? "high" : "low");
    put_coordinate(out, r, j);
    fputs(upper ? " <= " : " >= ", out);
    put_number(out, upper ? j->upper : j->lower);
    fputs("\n", out);
}

static bool is_moved(const urdf_robot *r, const urdf_joint *j)
{
    return urdf_is_single(j) && !urdf_is_stuck(j) &&
           !(j->mimic_name && urdf_is_stuck(&r->joints[j->mimic]));
}

static void put_limits(FILE *out, const urdf_robot *r)
{
    bool any = false;
    for (size_t k = 0; k < r->joint_count; k++) {
        const urdf_joint *j = &r->joints[k];
        if (!is_moved(r, j) || !(j->has_lower || j->has_upper))
            continue;
        fputs(any ? "" : "\n# limits: stops without bounce\n", out);
        any = true;
        if (j->has_lower)
            put_limit(out, r, j, false);
        if (j->has_upper)
            put_limit(out, r, j, true);
    }
}

/* -f sign of the joint's own velocity, on the coordinate that it follows. */
static void put_friction(FILE *out, const urdf_robot *r, const urdf_joint *j)
{
    const char *id = j->mimic_name ? r->joints[j->mimic].id : j->id;
    double factor = j->mimic_name ? fabs(j->multiplier) * j->friction : j->friction;
    fprintf(out, "force %s = -", id);
    put_number(out, factor);
    fprintf(out, "*sign(%s')\n", id);
}

static void put_losses(FILE *out, const urdf_robot *r, const urdf_options *options)
{
    bool any = false;
    for (size_t k = 0; k < r->joint_count; k++) {
        const urdf_joint *j = &r->joints[k];
        if (!is_moved(r, j) || !(j->damping > 0 || j->friction > 0))
            continue;
        fputs(any ? "" : "\n# damping and dry friction of the joints\n", out);
        any = true;
        if (j->damping > 0) {
            fputs("dissipation ", out);
            put_number(out, j->damping);
            fputs("/2*(", out);
            put_coordinate(out, r, j);
            fputs(")'^2\n", out);
        }
        if (j->friction > 0 && !options->no_friction)
            put_friction(out, r, j);
    }
}

static void put_actuators(FILE *out, const urdf_robot *r)
{
    fputs("\n# actuators\n", out);
    for (size_t k = 0; k < r->joint_count; k++)
        if (has_own(&r->joints[k]))
            fprintf(out, "input u_%s = 0\nforce %s = u_%s\n", r->joints[k].id, r->joints[k].id,
                    r->joints[k].id);
}

/* Where 0 is outside of the limits, the start is in their middle. */
static void put_starts(FILE *out, const urdf_robot *r)
{
    for (size_t k = 0; k < r->joint_count; k++) {
        const urdf_joint *j = &r->joints[k];
        bool outside = (j->has_lower && j->lower > 0) || (j->has_upper && j->upper < 0);
        if (!has_own(j) || !outside)
            continue;
        fprintf(out, "initial %s ~ ", j->id);
        put_number(out, (j->lower + j->upper) / 2);
        fputs("\n", out);
    }
}

/* ---- the whole ---- */

/* In a comment or a title: without what would end it. */
static void put_text(FILE *out, const char *text)
{
    for (int k = 0; text[k] && k < 200; k++)
        fputc((unsigned char)text[k] < 32 || text[k] == '"' ? ' ' : text[k], out);
}

static void put_names(FILE *out, const urdf_robot *r)
{
    if (!r->renamed)
        return;
    fputs("# names that were changed: here, in the file\n", out);
    for (size_t i = 0; i < r->link_count; i++)
        if (strcmp(r->links[i].id, r->links[i].name) != 0) {
            fprintf(out, "#   body  %-30s ", r->links[i].id);
            put_text(out, r->links[i].name);
            fputs("\n", out);
        }
    for (size_t k = 0; k < r->joint_count; k++)
        if (strcmp(r->joints[k].id, r->joints[k].name) != 0) {
            fprintf(out, "#   joint %-30s ", r->joints[k].id);
            put_text(out, r->joints[k].name);
            fputs("\n", out);
        }
}

static void put_header(FILE *out, const urdf_robot *r)
{
    fputs("model robot \"", out);
    put_text(out, r->name);
    fputs("\"\n# imported from ", out);
    put_text(out, r->file);
    fprintf(out, ": %zu link%s, %zu joint%s\n", r->link_count, r->link_count == 1 ? "" : "s",
            r->joint_count, r->joint_count == 1 ? "" : "s");
    put_names(out, r);
    fputs("\nparam g = 9.81\ngravity [0, 0, -g]\n\n", out);
}

bool urdf_write(const urdf_robot *r, const urdf_options *options, FILE *out)
{
    put_header(out, r);
    put_coords(out, r, options);
    fputs("\n", out);
    for (size_t i = 0; i < r->link_count; i++)
        put_body(out, r, options, r->order[i]);
    if (!options->no_limits)
        put_limits(out, r);
    put_losses(out, r, options);
    if (options->actuators)
        put_actuators(out, r);
    fputs("\n", out);
    put_starts(out, r);
    fputs("simulate 0 .. 1 every 0.01\n", out);
    return !ferror(out);
}
