/* What a robot's links and joints must be: names that are there once, one tree, axes, limits and masses that
 * mean something; and the names that the model gives them. */
#include "urdf.h"

#include "memory.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool urdf_is_single(const urdf_joint *j)
{
    return j->type == URDF_REVOLUTE || j->type == URDF_CONTINUOUS || j->type == URDF_PRISMATIC;
}

bool urdf_is_stuck(const urdf_joint *j)
{
    return urdf_is_single(j) && j->type != URDF_CONTINUOUS && j->has_lower && j->has_upper &&
           j->lower == j->upper;
}

/* ---- finding by name ---- */

typedef struct entry {
    const char *name;
    int index;
} entry;

typedef struct index_by_name {
    entry *entries;
    size_t count;
} index_by_name;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->index - y->index;
}

static int find(const index_by_name *index, const char *name)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(index->entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->count && strcmp(index->entries[low].name, name) == 0
               ? index->entries[low].index
               : URDF_NONE;
}

static bool make_index(urdf_robot *r, bool links, index_by_name *index)
{
    index->count = links ? r->link_count : r->joint_count;
    index->entries = memory_new(index->count + 1, sizeof *index->entries);
    if (!index->entries)
        return false;
    for (size_t i = 0; i < index->count; i++)
        index->entries[i] = (entry){links ? r->links[i].name : r->joints[i].name, (int)i};
    qsort(index->entries, index->count, sizeof *index->entries, compare_entries);
    for (size_t i = 1; i < index->count; i++)
        if (strcmp(index->entries[i - 1].name, index->entries[i].name) == 0) {
            int second = index->entries[i].index;
            urdf_error(r, links ? r->links[second].place : r->joints[second].place, NULL,
                       "there are two %s called '%.60s'", links ? "links" : "joints",
                       index->entries[i].name);
        }
    return true;
}

/* ---- the tree ---- */

static void connect(urdf_robot *r, const index_by_name *links, int k)
{
    urdf_joint *j = &r->joints[k];
    if (!j->parent_name || !j->child_name) {
        urdf_error(r, j->place, "write <parent link=\"...\"/> and <child link=\"...\"/>",
                   "joint '%.60s' has no %s", j->name, j->parent_name ? "child" : "parent");
        return;
    }
    j->parent = find(links, j->parent_name);
    j->child = find(links, j->child_name);
    if (j->parent < 0 || j->child < 0) {
        urdf_error(r, j->place, NULL, "joint '%.60s' names the link '%.60s', which is not there",
                   j->name, j->parent < 0 ? j->parent_name : j->child_name);
        return;
    }
    urdf_link *child = &r->links[j->child];
    if (child->joint != URDF_NONE)
        urdf_error(r, j->place,
                   "a URDF robot is a tree; close loops by `joint` statements afterwards",
                   "link '%.60s' hangs on two joints: '%.60s' and '%.60s'", child->name,
                   r->joints[child->joint].name, j->name);
    else if (j->parent == j->child)
        urdf_error(r, j->place, NULL, "joint '%.60s' connects a link with itself", j->name);
    child->joint = k;
}

static void find_root(urdf_robot *r)
{
    r->root = URDF_NONE;
    for (size_t i = 0; i < r->link_count; i++) {
        if (r->links[i].joint != URDF_NONE)
            continue;
        if (r->root == URDF_NONE)
            r->root = (int)i;
        else {
            urdf_error(r, r->links[i].place, "all links but one are the child of a joint",
                       "the robot has two roots: '%.60s' and '%.60s'", r->links[r->root].name,
                       r->links[i].name);
            return;
        }
    }
    if (r->root == URDF_NONE)
        urdf_error(r, r->links[0].place, NULL, "the links form a circle: none is the root");
}

/* Children by parent, as lists in two arrays; then breadth first. */
static bool order_links(urdf_robot *r)
{
    size_t n = r->link_count, count = 0;
    int *first = memory_new(n + 1, sizeof *first), *next = memory_new(n + 1, sizeof *next);
    r->order = memory_new(n + 1, sizeof *r->order);
    bool good = first && next && r->order;
    for (size_t i = 0; good && i < n; i++)
        first[i] = URDF_NONE;
    for (size_t k = r->joint_count; good && k-- > 0;) {
        next[r->joints[k].child] = first[r->joints[k].parent];
        first[r->joints[k].parent] = r->joints[k].child;
    }
    if (good)
        r->order[count++] = r->root;
    for (size_t i = 0; good && i < count; i++)
        for (int c = first[r->order[i]]; c != URDF_NONE; c = next[c])
            r->order[count++] = c;
    free(first);
    free(next);
    if (good && count < n) {
        urdf_error(r, r->links[r->root].place, NULL,
                   "some links are not connected with the root '%.60s': they form a circle",
                   r->links[r->root].name);
        return false;
    }
    return good;
}

/* ---- numbers that mean something ---- */

static bool is_zero(const double *x, int count)
{
    for (int k = 0; k < count; k++)
        if (x[k] != 0)
            return false;
    return true;
}

/* Principal minors, and what no mass distribution has: a moment larger than the other two together. */
static void check_link(urdf_robot *r, urdf_link *l)
{
    const double *J = l->J;
    if (l->mass < 0)
        urdf_error(r, l->place, NULL, "the mass of link '%.60s' is negative", l->name);
    double trace = J[0] + J[3] + J[5], small = -1e-9 * fabs(trace);
    double determinant = J[0] * (J[3] * J[5] - J[4] * J[4]) - J[1] * (J[1] * J[5] - J[4] * J[2]) +
                         J[2] * (J[1] * J[4] - J[3] * J[2]);
    if (J[0] < small || J[3] < small || J[5] < small || J[0] * J[3] - J[1] * J[1] < small * trace ||
        J[0] * J[5] - J[2] * J[2] < small * trace || J[3] * J[5] - J[4] * J[4] < small * trace ||
        determinant < small * trace * trace)
        urdf_error(r, l->place, "moments of inertia are positive",
                   "the inertia of link '%.60s' is not that of a body: the matrix is not positive",
                   l->name);
    else if (2 * J[0] > trace - small || 2 * J[3] > trace - small || 2 * J[5] > trace - small)
        urdf_warning(
            r, l->place, NULL,
            "the inertia of link '%.60s' is that of no body: one moment is larger than the "
            "other two together",
            l->name);
    l->moves_mass = l->mass > 0 || !is_zero(J, 6);
}

static void check_joint(urdf_robot *r, urdf_joint *j)
{
    bool needs_axis = j->type != URDF_FIXED && j->type != URDF_FLOATING;
    if (needs_axis && is_zero(j->axis, 3))
        urdf_error(r, j->place, NULL, "the axis of joint '%.60s' is zero", j->name);
    if (j->damping < 0 || j->friction < 0)
        urdf_error(r, j->place, NULL, "the %s of joint '%.60s' is negative",
                   j->damping < 0 ? "damping" : "friction", j->name);
    if (j->type == URDF_CONTINUOUS)
        j->has_lower = j->has_upper = false;
    if (j->has_lower && j->has_upper && j->lower > j->upper)
        urdf_error(r, j->place, NULL, "the limits of joint '%.60s' are in the wrong order",
                   j->name);
    /* Where one is written, the format gives the other the value 0. */
    if (j->type == URDF_REVOLUTE || j->type == URDF_PRISMATIC) {
        if (!j->limited)
            urdf_warning(r, j->place, NULL, "joint '%.60s' has no <limit>: it moves without",
                         j->name);
        else if (j->has_lower != j->has_upper)
            j->has_lower = j->has_upper = true;
        if (j->limited && j->lower > j->upper)
            urdf_error(r, j->place, "a missing limit is 0",
                       "the limits of joint '%.60s' are in the wrong order", j->name);
    }
    if (j->mimic_name && !urdf_is_single(j))
        urdf_error(r, j->mimic_place, NULL,
                   "joint '%.60s' has no single coordinate that could mimic", j->name);
}

/* Follows the chain to a joint with a coordinate of its own: q = m1 (m2 q' + o2) + o1. */
static void resolve_mimic(urdf_robot *r, const index_by_name *joints, int k)
{
    urdf_joint *j = &r->joints[k];
    double multiplier = 1, offset = 0;
    int at = k;
    for (size_t steps = 0; r->joints[at].mimic_name; steps++) {
        const urdf_joint *step = &r->joints[at];
        offset += multiplier * step->offset;
        multiplier *= step->multiplier;
        at = find(joints, step->mimic_name);
        if (at < 0 || !urdf_is_single(&r->joints[at]) || steps > r->joint_count) {
            urdf_error(r, step->mimic_place, NULL,
                       at < 0                   ? "there is no joint '%.60s'"
                       : steps > r->joint_count ? "the joint '%.60s' mimics itself"
                                                : "joint '%.60s' has no single coordinate",
                       step->mimic_name);
            return;
        }
    }
    j->mimic = at;
    j->multiplier = multiplier;
    j->offset = offset;
}

static void check_masses(urdf_robot *r, bool floating)
{
    for (size_t i = r->link_count; i-- > 1;) {
        const urdf_link *l = &r->links[r->order[i]];
        r->links[r->joints[l->joint].parent].moves_mass |= l->moves_mass;
    }
    for (size_t k = 0; k < r->joint_count; k++) {
        const urdf_joint *j = &r->joints[k];
        if (j->type != URDF_FIXED && !j->mimic_name && !urdf_is_stuck(j) &&
            !r->links[j->child].moves_mass)
            urdf_error(r, j->place, "give a link behind it an <inertial>, or make the joint fixed",
                       "joint '%.60s' moves nothing that has mass: its motion is not determined",
                       j->name);
    }
    if (floating && !r->links[r->root].moves_mass)
        urdf_error(r, r->links[r->root].place, NULL, "the robot has no mass");
}

/* ---- names of the model ---- */

static const char *const reserved[] = {"model",
                                       "param",
                                       "coord",
                                       "let",
                                       "kinetic",
                                       "potential",
                                       "lagrangian",
                                       "mass",
                                       "force",
                                       "input",
                                       "state",
                                       "torque",
                                       "dissipation",
                                       "gyroscopic",
                                       "body",
                                       "gravity",
                                       "constraint",
                                       "servo",
                                       "nonideal",
                                       "initial",
                                       "simulate",
                                       "symmetry",
                                       "event",
                                       "output",
                                       "for",
                                       "include",
                                       "joint",
                                       "friction",
                                       "table",
                                       "draw",
                                       "t",
                                       "pi",
                                       "g",
                                       "ground",
                                       "energy",
                                       "and",
                                       "or",
                                       "not",
                                       "if",
                                       "sum",
                                       "prod",
                                       "sin",
                                       "cos",
                                       "tan",
                                       "asin",
                                       "acos",
                                       "atan",
                                       "atan2",
                                       "sinh",
                                       "cosh",
                                       "tanh",
                                       "exp",
                                       "log",
                                       "sqrt",
                                       "abs",
                                       "sign",
                                       "min",
                                       "max",
                                       "hypot",
                                       "dot",
                                       "cross",
                                       "norm",
                                       "transpose",
                                       "diag",
                                       "identity",
                                       "rotx",
                                       "roty",
                                       "rotz",
                                       "rotation",
                                       "quat",
                                       "omega",
                                       "omega_body",
                                       "skew",
                                       "reaction",
                                       "multiplier",
                                       "total_reaction",
                                       "total_multiplier",
                                       "origin",
                                       "frame",
                                       "center",
                                       "point",
                                       "wrench",
                                       "momentum",
                                       "power",
                                       "floor",
                                       "ceil",
                                       "mod",
                                       "kinetic_energy",
                                       "potential_energy"};

/* Texts that are taken: open addressing, at most half full. */
typedef struct taken {
    char **slots;
    size_t size;
} taken;

static bool is_taken(const taken *set, const char *text, size_t *slot)
{
    size_t hash = 14695981039346656037u;
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    for (*slot = hash % set->size; set->slots[*slot]; *slot = (*slot + 1) % set->size)
        if (strcmp(set->slots[*slot], text) == 0)
            return true;
    return false;
}

static bool take(taken *set, const char *text)
{
    size_t slot;
    if (is_taken(set, text, &slot))
        return true;
    set->slots[slot] = memory_copy(text);
    return set->slots[slot] != NULL;
}

/* The coordinates of an object that has several. */
static const char *const several[] = {"", "_x", "_y", "_z", "_a", "_e0", "_e1", "_e2", "_e3"};
enum { SEVERAL = sizeof several / sizeof *several, MOST_NAME = 60, NAMES_EACH = SEVERAL + 1 };

static bool all_free(const taken *set, const char *name, bool derived)
{
    char text[MOST_NAME + 40];
    size_t slot;
    for (int k = 0; k < (derived ? SEVERAL : 1); k++) {
        snprintf(text, sizeof text, "%s%s", name, several[k]);
        if (is_taken(set, text, &slot))
            return false;
    }
    return true;
}

/* Letters, digits and _, a letter first, not taken and not reserved. NULL without memory. */
static char *new_id(urdf_robot *r, taken *set, const char *name, bool derived)
{
    char base[MOST_NAME + 2], text[MOST_NAME + 40];
    size_t length = 0;
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        base[length++] = 'n';
    for (const char *c = name; *c && length < MOST_NAME; c++)
        base[length++] = isalnum((unsigned char)*c) && (unsigned char)*c < 128 ? *c : '_';
    base[length] = '\0';
    bool word = false;
    for (size_t k = 0; k < sizeof reserved / sizeof *reserved; k++)
        word |= strcmp(base, reserved[k]) == 0;
    snprintf(text, sizeof text, "%s%s", base, word ? "_" : "");
    for (int number = 2; !all_free(set, text, derived); number++)
        snprintf(text, sizeof text, "%s_%d", base, number);
    for (int k = 0; k < (derived ? SEVERAL : 1); k++) {
        char whole[MOST_NAME + 60];
        snprintf(whole, sizeof whole, "%s%s", text, several[k]);
        if (!take(set, whole))
            return NULL;
    }
    r->renamed += strcmp(text, name) != 0;
    return memory_copy(text);
}

static void release_taken(taken *set)
{
    for (size_t k = 0; set->slots && k < set->size; k++)
        free(set->slots[k]);
    free(set->slots);
}

static bool name_all(urdf_robot *r)
{
    taken sets[2];
    bool good = true;
    for (int k = 0; k < 2; k++) {
        sets[k].size = 2 * NAMES_EACH * ((k ? r->joint_count : r->link_count) + 2);
        sets[k].slots = memory_new(sets[k].size, sizeof *sets[k].slots);
        good = good && sets[k].slots;
    }
    for (size_t i = 0; good && i < r->link_count; i++)
        good = (r->links[i].id = new_id(r, &sets[0], r->links[i].name, false)) != NULL;
    if (good) /* the coordinates of a floating base */
        for (int k = 1; k < SEVERAL && good; k++) {
            char text[MOST_NAME + 60];
            snprintf(text, sizeof text, "%s%s", r->links[r->root].id, several[k]);
            good = take(&sets[1], text);
        }
    for (size_t i = 0; good && i < r->joint_count; i++) {
        bool derived = r->joints[i].type == URDF_FLOATING || r->joints[i].type == URDF_PLANAR;
        good = (r->joints[i].id = new_id(r, &sets[1], r->joints[i].name, derived)) != NULL;
    }
    release_taken(&sets[0]);
    release_taken(&sets[1]);
    return good;
}

/* ---- all of it ---- */

static bool check_parts(urdf_robot *r, const index_by_name *links, const index_by_name *joints)
{
    for (size_t i = 0; i < r->link_count; i++)
        check_link(r, &r->links[i]);
    for (size_t k = 0; k < r->joint_count; k++) {
        connect(r, links, (int)k);
        check_joint(r, &r->joints[k]);
    }
    if (r->errors)
        return false;
    for (size_t k = 0; k < r->joint_count; k++)
        resolve_mimic(r, joints, (int)k);
    find_root(r);
    return !r->errors;
}

bool urdf_check(urdf_robot *r, const urdf_options *options)
{
    index_by_name links = {0}, joints = {0};
    if (r->link_count == 0) {
        urdf_error(r, (urdf_place){0}, NULL, "the robot has no links");
        return false;
    }
    bool good = make_index(r, true, &links) && make_index(r, false, &joints) &&
                check_parts(r, &links, &joints) && order_links(r);
    if (good)
        check_masses(r, options->floating);
    free(links.entries);
    free(joints.entries);
    return good && !r->errors && name_all(r);
}
