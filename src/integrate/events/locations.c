/* Functions of pieces: floor, ceil, and tables of the model, whose piece is held during a step.
 *
 * Found while the expressions are rebuilt (switch_build.c), a location has two functions: x - knot B, with
 * a mode s = +-1 like any switch, and the way to the other end of the piece. Within a step all is a
 * polynomial in x - knot B, with coefficients by the place 2 B + (1 + s)/2 (expr/graph/table.h); floor is
 * B - 1/2 + s/2. Where the way ends, the knot there takes the place of knot B: B moves on, s turns, which
 * changes nothing but the origin of the polynomial, and then s is decided as that of any switch that
 * fired. So a jump may also be slid along.
 * Verified: test/physics/test_tables.c
 */
#include "integrate/events/events.h"
#include "integrate/events/switch_build.h"

#include <math.h>
#include <stdio.h>

/* ---- building ---- */

static hmi_expr mode(hmi_rebuilder *r, size_t k)
{
    return hmi_symbol(&r->graph, HMI_SYM_MODE, (uint32_t)k);
}

static hmi_expr view(hmi_rebuilder *r, const hmi_table_view *v)
{
    return hmi_number(&r->graph, hmi_table_address(v));
}

/* 2 B + (1 + s)/2 */
static hmi_expr place(hmi_rebuilder *r, const hmi_location *l)
{
    hmi_graph *g = &r->graph;
    hmi_expr side = hmi_mul(g, g->half, hmi_add(g, g->one, mode(r, l->first)));
    return hmi_add(g, hmi_mul(g, g->two, mode(r, l->first + 1)), side);
}

static hmi_expr knot(hmi_rebuilder *r, const hmi_location *l)
{
    hmi_graph *g = &r->graph;
    hmi_expr B = mode(r, l->first + 1);
    if (!l->table)
        return B;
    return hmi_apply(g, HMI_LOOKUP, hmi_mul(g, g->two, B), view(r, &l->table->knots[l->axis]), 0);
}

/* s (the other end - x), positive within the piece. */
static hmi_expr way(hmi_rebuilder *r, const hmi_location *l)
{
    hmi_graph *g = &r->graph;
    hmi_expr s = mode(r, l->first), end;
    if (l->table)
        end = hmi_apply(g, HMI_LOOKUP, place(r, l), view(r, &l->table->others[l->axis]), 0);
    else
        end = hmi_add(g, mode(r, l->first + 1), s);
    return hmi_mul(g, s, hmi_sub(g, end, l->x));
}

/* The location of x, made where it is new. SIZE_MAX: there is none, and no more are made. */
static size_t locate(hmi_rebuilder *r, const hmi_table *table, int axis, hmi_expr x)
{
    for (size_t k = 0; k < r->locations.count; k++) {
        const hmi_location *l = &r->locations.data[k];
        if (l->x == x && l->table == table && l->axis == axis)
            return k;
    }
    if (r->unused)
        return SIZE_MAX;
    const hmi_location l = {table, axis, x, r->functions.count};
    const hmi_switch_function from_knot = {x, knot(r, &l), false};
    const hmi_switch_function to_end = {way(r, &l), HMI_NONE, false};
    if (!hmi_array_push(r->allocator, &r->functions, from_knot) ||
        !hmi_array_push(r->allocator, &r->functions, to_end) ||
        !hmi_array_push(r->allocator, &r->locations, l)) {
        r->status = HM_ERR_NOMEM;
        return SIZE_MAX;
    }
    return r->locations.count - 1;
}

/* B - 1/2 + s/2, for ceil one more. */
static hmi_expr rebuild_step(hmi_rebuilder *r, hmi_op op, hmi_expr x)
{
    hmi_graph *g = &r->graph;
    size_t k = locate(r, NULL, 0, x);
    if (k == SIZE_MAX)
        return HMI_NONE;
    const hmi_location *l = &r->locations.data[k];
    hmi_expr half = op == HMI_FLOOR ? hmi_neg(g, g->half) : g->half;
    hmi_expr turned = hmi_add(g, half, hmi_mul(g, g->half, mode(r, l->first)));
    return hmi_add(g, mode(r, l->first + 1), turned);
}

/* The derivative of sum c_i u^i of this order, c_i from i = order on. */
static hmi_expr polynomial(hmi_graph *g, const hmi_expr *c, int order, int degree, hmi_expr u)
{
    hmi_expr sum = g->zero;
    for (int i = degree; i >= order; i--) {
        int factor = 1;
        for (int k = 0; k < order; k++)
            factor *= i - k;
        hmi_expr term = hmi_mul(g, hmi_number(g, factor), c[i]);
        sum = i == degree ? term : hmi_add(g, term, hmi_mul(g, u, sum));
    }
    return sum;
}

static hmi_expr rebuild_table(hmi_rebuilder *r, const hmi_table_view *v, hmi_expr x)
{
    hmi_graph *g = &r->graph;
    hmi_expr c[4];
    size_t k = locate(r, v->table, 0, x);
    if (k == SIZE_MAX)
        return HMI_NONE;
    const hmi_location l = r->locations.data[k];
    int degree = hmi_table_degree(v->table);
    for (int p = v->order[0]; p <= degree; p++)
        c[p] = hmi_apply(g, HMI_LOOKUP, place(r, &l), view(r, &v->table->coefficient[4 * p]), 0);
    return polynomial(g, c, v->order[0], degree, hmi_sub(g, x, knot(r, &l)));
}

static hmi_expr rebuild_table2(hmi_rebuilder *r, const hmi_table_view *v, hmi_expr x, hmi_expr y)
{
    hmi_graph *g = &r->graph;
    size_t k[2] = {locate(r, v->table, 0, x), locate(r, v->table, 1, y)};
    if (k[0] == SIZE_MAX || k[1] == SIZE_MAX)
        return HMI_NONE;
    const hmi_location at[2] = {r->locations.data[k[0]], r->locations.data[k[1]]};
    hmi_expr c[4], row[4], where[2] = {place(r, &at[0]), place(r, &at[1])};
    hmi_expr u[2] = {hmi_sub(g, x, knot(r, &at[0])), hmi_sub(g, y, knot(r, &at[1]))};
    int degree = hmi_table_degree(v->table);
    for (int p = v->order[0]; p <= degree; p++) {
        for (int q = v->order[1]; q <= degree; q++)
            c[q] = hmi_apply(g, HMI_LOOKUP2, where[0], where[1],
                             view(r, &v->table->coefficient[4 * p + q]));
        row[p] = polynomial(g, c, v->order[1], degree, u[1]);
    }
    return polynomial(g, row, v->order[0], degree, u[0]);
}

hmi_expr hmi_rebuild_pieces(hmi_rebuilder *r, hmi_op op, hmi_expr x, hmi_expr y, hmi_expr z)
{
    const hmi_graph *g = &r->graph;
    if (op == HMI_TABLE)
        return rebuild_table(r, hmi_table_view_at(hmi_constant_of(g, y)->value), x);
    if (op == HMI_TABLE2)
        return rebuild_table2(r, hmi_table_view_at(hmi_constant_of(g, z)->value), x, y);
    return rebuild_step(r, op, x);
}

hm_status hmi_locations_finish(const hmi_rebuilder *r, hmi_switches *sw, hmi_arena *arena)
{
    size_t count = r->locations.count;
    sw->is_way = hmi_arena_alloc(arena, (sw->switches + 1) * sizeof *sw->is_way);
    sw->locations = hmi_arena_alloc(arena, (count + 1) * sizeof *sw->locations);
    if (!sw->is_way || !sw->locations)
        return HM_ERR_NOMEM;
    sw->location_count = count;
    for (size_t k = 0; k < count; k++) {
        sw->locations[k] = r->locations.data[k];
        sw->is_way[sw->locations[k].first + 1] = true;
    }
    return HM_OK;
}

/* ---- running ---- */

static double knot_at(const hmi_location *l, double B)
{
    return l->table ? hmi_table_lookup(2 * B, hmi_table_address(&l->table->knots[l->axis])) : B;
}

static double nearest(const hmi_location *l, double x)
{
    return l->table ? hmi_table_nearest(l->table, l->axis, x) : nearbyint(x);
}

static void take_knot(hmi_events *ev, const hmi_location *l, double B, double s)
{
    hmi_switches *sw = &ev->switches;
    sw->mode[l->first + 1] = B;
    sw->mode[l->first] = sw->side[l->first] = s;
    sw->side[l->first + 1] = 1;
    sw->held.sliding -= sw->sliding[l->first];
    sw->sliding[l->first] = false;
    ev->next_time[l->first] = ev->next_time[l->first + 1] = -INFINITY;
}

/* Inner ones come first: x of another may depend on them. */
void hmi_locations_find(hmi_events *ev)
{
    hmi_switches *sw = &ev->switches;
    const hmi_point at = hmi_stepper_point(ev->stepper);
    for (size_t k = 0; k < sw->location_count; k++) {
        const hmi_location *l = &sw->locations[k];
        double B = sw->mode[l->first + 1];
        double x = hmi_switches_values(sw, &at)[l->first] + knot_at(l, B);
        if (!isfinite(x) || (sw->sliding[l->first] && fabs(x - knot_at(l, B)) <= 1e-13))
            continue;
        B = nearest(l, x);
        bool at_end = l->table && l->table->outside == HMI_OUTSIDE_ERROR && B > 0 &&
                      B == (double)l->table->axis[l->axis].count - 1 && x == knot_at(l, B);
        take_knot(ev, l, B, x < knot_at(l, B) || at_end ? -1 : 1);
    }
}

static void add_fired(hmi_events *ev, size_t k)
{
    if (!hmi_events_fired(ev, k))
        ev->crossing.which[ev->crossing.count++] = k;
}

void hmi_locations_move_on(hmi_events *ev)
{
    hmi_switches *sw = &ev->switches;
    for (size_t k = 0; k < sw->location_count; k++) {
        const hmi_location *l = &sw->locations[k];
        double s = sw->side[l->first];
        if (hmi_events_fired(ev, l->first))
            ev->next_time[l->first + 1] = -INFINITY;
        if (!hmi_events_fired(ev, l->first + 1))
            continue;
        take_knot(ev, l, sw->mode[l->first + 1] + s, -s);
        add_fired(ev, l->first);
    }
}

bool hmi_locations_has_table(const hmi_events *ev, size_t k)
{
    const hmi_switches *sw = &ev->switches;
    for (size_t j = 0; j < sw->location_count && k < sw->switches; j++) {
        const hmi_location *l = &sw->locations[j];
        if (l->table && (l->first == k || l->first + 1 == k))
            return true;
    }
    return false;
}

bool hmi_locations_only(const hmi_events *ev)
{
    bool only = ev->crossing.count > 0;
    for (size_t i = 0; i < ev->crossing.count && only; i++)
        only = hmi_locations_has_table(ev, ev->crossing.which[i]);
    return only;
}

/* A location that has left its table where that has no values; NULL: none. */
static const hmi_location *find_outside(const hmi_switches *sw)
{
    for (size_t k = 0; k < sw->location_count; k++) {
        const hmi_location *l = &sw->locations[k];
        if (!l->table || l->table->outside != HMI_OUTSIDE_ERROR || sw->sliding[l->first])
            continue;
        double B = sw->mode[l->first + 1], last = (double)l->table->axis[l->axis].count - 1;
        if ((B <= 0 && sw->side[l->first] < 0) || (B >= last && sw->side[l->first] > 0))
            return l;
    }
    return NULL;
}

hm_status hmi_locations_check(hmi_events *ev)
{
    const hmi_location *l = find_outside(&ev->switches);
    if (!l)
        return HM_OK;
    const hmi_table_axis *axis = &l->table->axis[l->axis];
    bool before = ev->switches.side[l->first] < 0;
    snprintf(ev->outside, sizeof ev->outside,
             "table '%.60s' has no value %s %.9g%s: hold, extend or periodic behind it says what "
             "it is outside",
             l->table->name, before ? "below" : "above", axis->knot[before ? 0 : axis->count - 1],
             l->table->arguments == 1 ? ""
             : l->axis == 0           ? " of its first argument"
                                      : " of its second argument");
    ev->stepper->trouble = ev->outside;
    return HM_ERR_NUMERIC;
}
