/* The printed equations as a motion: read, solved by elimination, integrated with small fixed steps. */
#include "support/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 2 * REFERENCE_SIZE, TOTAL = 3 * REFERENCE_SIZE };

/* ---- reading ---- */

static int parse_item(reference_model *r, const json_t *list, size_t i)
{
    const char *text = json_string_value(json_array_get(list, i));
    return reference_parse(&r->g, text ? text : "?");
}

static size_t read_matrix(reference_model *r, const json_t *matrix, reference_entry *to)
{
    const json_t *entries = json_object_get(matrix, "entries");
    size_t count = json_array_size(entries);
    for (size_t i = 0; i < count && i < 600; i++) {
        const json_t *entry = json_array_get(entries, i);
        to[i].row = (size_t)json_integer_value(json_array_get(entry, 0));
        to[i].column = (size_t)json_integer_value(json_array_get(entry, 1));
        to[i].e = parse_item(r, entry, 2);
    }
    if (count > 600)
        r->g.failed = "a matrix that is too large";
    return count;
}

static int declare(reference_model *r, const char *format, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, format, name);
    return (int)reference_declare(&r->g.names, text);
}

static void declare_names(reference_model *r, const json_t *derived)
{
    const json_t *coordinates = json_object_get(derived, "coordinates");
    const json_t *rows = json_object_get(derived, "constraints");
    const char *name;
    json_t *value;
    r->t = declare(r, "%s", "t");
    json_object_foreach(json_object_get(derived, "parameters"), name, value)
        r->value[declare(r, "%s", name)] = json_number_value(value);
    for (size_t i = 0; i < r->n; i++) {
        name = json_string_value(json_array_get(coordinates, i));
        r->q[i] = declare(r, "%s", name);
        r->v[i] = declare(r, "%s'", name);
        r->force[0][i] = declare(r, "reaction(%s)", name);
        r->force[1][i] = declare(r, "total_reaction(%s)", name);
    }
    for (size_t i = 0; i < r->m; i++) {
        name = json_string_value(json_object_get(json_array_get(rows, i), "name"));
        r->multiplier[0][i] = declare(r, "multiplier(%s)", name);
        r->multiplier[1][i] = declare(r, "total_multiplier(%s)", name);
    }
    /* where the iteration of total reactions starts: laws need not have a value at 0 */
    for (size_t i = 0; i < r->n; i++)
        r->value[r->force[1][i]] = 1;
    for (size_t i = 0; i < r->m; i++)
        r->value[r->multiplier[1][i]] = 1;
    json_object_foreach(json_object_get(derived, "states"), name, value)
        r->z[r->states++] = declare(r, "%s", name);
    json_object_foreach(json_object_get(derived, "inputs"), name, value)
        r->u[r->inputs++] = declare(r, "%s", name);
}

/* Does some expression name a reaction or multiplier of this kind? */
static bool names_force(const reference_model *r, int kind)
{
    for (int k = 0; k < r->g.count; k++) {
        for (size_t i = 0; i < r->n; i++)
            if (r->g.nodes[k].op == REFERENCE_NAME && r->g.nodes[k].name == r->force[kind][i])
                return true;
        for (size_t i = 0; i < r->m; i++)
            if (r->g.nodes[k].op == REFERENCE_NAME && r->g.nodes[k].name == r->multiplier[kind][i])
                return true;
    }
    return false;
}

bool reference_read(reference_model *r, const json_t *derived)
{
    const char *name;
    json_t *value;
    size_t k = 0;
    memset(r, 0, sizeof *r);
    r->n = json_array_size(json_object_get(derived, "coordinates"));
    r->m = json_array_size(json_object_get(derived, "constraints"));
    if (r->n == 0 || r->n + r->m > REFERENCE_SIZE ||
        json_array_size(json_object_get(derived, "servos")) > 0) {
        r->g.failed = "a size, or servos";
        return false;
    }
    declare_names(r, derived);
    json_object_foreach(json_object_get(derived, "inputs"), name, value)
        r->input[k++] = reference_parse(&r->g, json_string_value(value));
    k = 0;
    json_object_foreach(json_object_get(derived, "states"), name, value)
        r->rate[k++] = reference_parse(&r->g, json_string_value(value));
    r->M_count = read_matrix(r, json_object_get(derived, "M"), r->M);
    r->A_count = read_matrix(r, json_object_get(derived, "A"), r->A);
    for (size_t i = 0; i < r->n; i++) {
        r->Q[i] = parse_item(r, json_object_get(derived, "Q"), i);
        r->C[i] = parse_item(r, json_object_get(derived, "C"), i);
    }
    for (size_t i = 0; i < r->m; i++)
        r->b[i] = parse_item(r, json_object_get(derived, "b"), i);
    r->uses[0] = names_force(r, 0);
    r->uses[1] = names_force(r, 1);
    return !r->g.failed && !r->g.names.unknown;
}

/* The place of a coordinate, velocity or state in y. */
static bool find_slot(const reference_model *r, int name, size_t *slot)
{
    for (size_t i = 0; i < r->n; i++)
        if (name == r->q[i] || name == r->v[i]) {
            *slot = name == r->q[i] ? i : r->n + i;
            return true;
        }
    for (size_t i = 0; i < r->states; i++)
        if (name == r->z[i]) {
            *slot = 2 * r->n + i;
            return true;
        }
    return false;
}

bool reference_add_event(reference_model *r, const char *g, int direction, const char *sets)
{
    reference_event *event = &r->events[r->event_count++];
    char copy[400];
    *event = (reference_event){.g = reference_parse(&r->g, g), .direction = direction};
    event->stop = sets == NULL;
    snprintf(copy, sizeof copy, "%s", sets ? sets : "");
    for (char *at = strtok(copy, ";"); at; at = strtok(NULL, ";")) {
        char *equals = strchr(at, '='), *end = equals;
        while (*at == ' ')
            at++;
        while (end > at && end[-1] == ' ')
            end--;
        *end = '\0';
        if (!find_slot(r, reference_find(&r->g.names, at), &event->slot[event->count]))
            return false;
        event->value[event->count++] = reference_parse(&r->g, equals + 1);
    }
    return !r->g.failed;
}

/* ---- solving in long double ---- */

/* K x = f with complete pivoting; what pivots leave over (redundant rows) gets x = 0. */
static void eliminate(size_t size, long double (*K)[WIDE], long double *f, long double *x)
{
    size_t order[WIDE], rank = size;
    long double first = 0;
    for (size_t i = 0; i < size; i++)
        order[i] = i;
    for (size_t k = 0; k < size; k++) {
        size_t row = k, column = k;
        for (size_t i = k; i < size; i++)
            for (size_t j = k; j < size; j++)
                if (fabsl(K[i][j]) > fabsl(K[row][column])) {
                    row = i;
                    column = j;
                }
        first = k == 0 ? fabsl(K[row][column]) : first;
        if (fabsl(K[row][column]) <= 1e-13L * first) {
            rank = k;
            break;
        }
        for (size_t j = 0; j < size; j++) {
            long double kept = K[k][j];
            K[k][j] = K[row][j];
            K[row][j] = kept;
        }
        long double kept = f[k];
        f[k] = f[row];
        f[row] = kept;
        for (size_t i = 0; i < size; i++) {
            long double entry = K[i][k];
            K[i][k] = K[i][column];
            K[i][column] = entry;
        }
        size_t number = order[k];
        order[k] = order[column];
        order[column] = number;
        for (size_t i = k + 1; i < size; i++) {
            long double t = K[i][k] / K[k][k];
            for (size_t j = k; j < size; j++)
                K[i][j] -= t * K[k][j];
            f[i] -= t * f[k];
        }
    }
    for (size_t i = 0; i < size; i++)
        x[i] = 0;
    for (size_t k = rank; k-- > 0;) {
        long double sum = f[k];
        for (size_t j = k + 1; j < rank; j++)
            sum -= K[k][j] * x[order[j]];
        x[order[k]] = sum / K[k][k];
    }
}

typedef struct point {
    long double names[REFERENCE_NAMES], values[REFERENCE_NODES];
    long double x[WIDE]; /* q'', lambda */
    signed char sides[REFERENCE_BRANCHES];
    size_t count;
} point;

/* x under Q and, where asked for, C. */
static void solve(const reference_model *r, point *p, bool with_C)
{
    static long double K[WIDE][WIDE];
    long double f[WIDE];
    size_t size = r->n + r->m;
    for (size_t i = 0; i < size; i++)
        memset(K[i], 0, size * sizeof K[i][0]);
    for (size_t k = 0; k < r->M_count; k++) {
        const reference_entry *e = &r->M[k];
        K[e->row][e->column] = K[e->column][e->row] = p->values[e->e];
    }
    for (size_t k = 0; k < r->A_count; k++) {
        const reference_entry *e = &r->A[k];
        K[r->n + e->row][e->column] = p->values[e->e];
        K[e->column][r->n + e->row] = -p->values[e->e];
    }
    for (size_t i = 0; i < r->n; i++)
        f[i] = p->values[r->Q[i]] + (with_C ? p->values[r->C[i]] : 0);
    for (size_t i = 0; i < r->m; i++)
        f[r->n + i] = p->values[r->b[i]];
    eliminate(size, K, f, p->x);
}

/* Names of constraint forces (ideal 0, total 1) := those of p->x; returns by how much they changed. */
static long double tell_forces(const reference_model *r, point *p, int kind)
{
    long double force[REFERENCE_SIZE] = {0}, change = 0;
    for (size_t k = 0; k < r->A_count; k++)
        force[r->A[k].column] += p->values[r->A[k].e] * p->x[r->n + r->A[k].row];
    for (size_t i = 0; i < r->n; i++) {
        change = fmaxl(change, fabsl(force[i] - p->names[r->force[kind][i]]));
        p->names[r->force[kind][i]] = force[i];
    }
    for (size_t i = 0; i < r->m; i++)
        p->names[r->multiplier[kind][i]] = p->x[r->n + i];
    return change;
}

static void evaluate(const reference_model *r, point *p)
{
    p->count = reference_evaluate(&r->g, p->names, p->values, p->sides);
}

/* Everything at (t, y), with the forces of laws: ideal ones from the problem without C, total ones by iteration. */
static void look(const reference_model *r, long double t, const long double *y, point *p)
{
    memcpy(p->names, r->value, sizeof p->names);
    p->names[r->t] = t;
    for (size_t i = 0; i < r->n; i++) {
        p->names[r->q[i]] = y[i];
        p->names[r->v[i]] = y[r->n + i];
    }
    for (size_t i = 0; i < r->states; i++)
        p->names[r->z[i]] = y[2 * r->n + i];
    evaluate(r, p);
    for (size_t i = 0; i < r->inputs; i++) /* an input may use those before it */
        p->names[r->u[i]] = p->values[r->input[i]], evaluate(r, p);
    if (r->uses[0]) {
        solve(r, p, false);
        tell_forces(r, p, 0);
        evaluate(r, p);
    }
    solve(r, p, true);
    for (int k = 0; r->uses[1] && k < 300; k++) {
        long double change = tell_forces(r, p, 1);
        evaluate(r, p);
        solve(r, p, true);
        if (change < 1e-17L)
            break;
    }
    for (size_t k = 0; k < r->event_count && p->count < REFERENCE_BRANCHES; k++) {
        long double g = p->values[r->events[k].g];
        p->sides[p->count++] = (signed char)((g > 0) - (g < 0));
    }
}

/* ---- steps ---- */

static void rates(const reference_model *r, long double t, const long double *y, long double *dy,
                  point *p)
{
    look(r, t, y, p);
    for (size_t i = 0; i < r->n; i++) {
        dy[i] = y[r->n + i];
        dy[r->n + i] = p->x[i];
    }
    for (size_t i = 0; i < r->states; i++)
        dy[2 * r->n + i] = p->values[r->rate[i]];
}

static bool same_sides(const point *p, const signed char *sides)
{
    for (size_t i = 0; i < p->count; i++)
        if (sides[i] != 0 && p->sides[i] != sides[i])
            return false;
    return true;
}

/* One step of Runge and Kutta's method into `to`. True where no stage, nor the end, is on another side of anything
 * than `sides`. */
static bool take_step(const reference_model *r, long double t, long double h, const long double *y,
                      const signed char *sides, long double *to, point *p)
{
    static const long double at[4] = {0, 0.5L, 0.5L, 1}, weight[4] = {1, 2, 2, 1};
    size_t size = 2 * r->n + r->states;
    long double k[TOTAL] = {0}, trial[TOTAL], sum[TOTAL] = {0};
    bool same = true;
    for (int stage = 0; stage < 4; stage++) {
        for (size_t i = 0; i < size; i++)
            trial[i] = y[i] + h * at[stage] * k[i];
        rates(r, t + at[stage] * h, trial, k, p);
        same = same && same_sides(p, sides);
        for (size_t i = 0; i < size; i++)
            sum[i] += weight[stage] * k[i];
    }
    for (size_t i = 0; i < size; i++)
        to[i] = y[i] + h / 6 * sum[i];
    look(r, t + h, to, p);
    return same && same_sides(p, sides);
}

/* Events whose sign changed from `sides` to that of p; true: one stops. */
static bool act(const reference_model *r, const signed char *sides, const point *p, long double *y)
{
    size_t first = p->count - r->event_count;
    bool stop = false;
    for (size_t k = 0; k < r->event_count; k++) {
        const reference_event *e = &r->events[k];
        int before = sides[first + k], after = p->sides[first + k];
        if (before == 0 || after == before ||
            (e->direction && e->direction != after - before && 2 * e->direction != after - before))
            continue;
        for (size_t i = 0; i < e->count; i++)
            y[e->slot[i]] = p->values[e->value[i]];
        stop = stop || e->stop;
    }
    return stop;
}

/* Up to a change of sides and a hair's breadth beyond it. Returns the time. */
static long double cross(const reference_model *r, long double t, long double h, long double *y,
                         const signed char *sides, point *p)
{
    long double low = 0, high = h, to[TOTAL];
    size_t bytes = (2 * r->n + r->states) * sizeof *y;
    for (int k = 0; k < 62; k++) {
        long double middle = 0.5L * (low + high);
        if (take_step(r, t, middle, y, sides, to, p))
            low = middle;
        else
            high = middle;
    }
    take_step(r, t, low, y, sides, to, p);
    memcpy(y, to, bytes);
    long double hair = 1e-16L;
    do { /* a stage may have crossed where the end did not */
        take_step(r, t + low, hair, y, sides, to, p);
        memcpy(y, to, bytes);
        low += hair;
        hair *= 2;
    } while (same_sides(p, sides) && hair < 1e-9L);
    return t + low;
}

long double reference_run(reference_model *r, long double t, long double end, long double h,
                          long double *y, bool *stopped)
{
    static point here, there;
    long double to[TOTAL];
    *stopped = false;
    while (t < end && !*stopped) {
        long double step = fminl(h, end - t);
        look(r, t, y, &here);
        if (take_step(r, t, step, y, here.sides, to, &there)) {
            memcpy(y, to, (2 * r->n + r->states) * sizeof *y);
            t += step;
            continue;
        }
        t = cross(r, t, step, y, here.sides, &there);
        *stopped = act(r, here.sides, &there, y);
    }
    return t;
}
