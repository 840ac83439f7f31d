/* One panel in space: an orthographic view into a box, from the side of large x, small y and large
 * z. The three faces behind carry the grid; ticks stand along the lower edges in front and along the
 * left upright edge; a grey shadow of each curve lies on the floor.
 */
#include "output/plot/plot.h"

#include <math.h>
#include <stdio.h>

enum { AXES = 3 };

typedef struct view {
    hmi_axis axis[AXES];
    double half[AXES]; /* of the box, in units before scaling to the page */
    double right[AXES], up[AXES];
    double scale, x, y; /* on the page: of one unit, and of the middle of the box */
} view;

/* ---- geometry ---- */

static void look(view *v)
{
    const double turn = -55 * acos(-1.0) / 180, rise = 22 * acos(-1.0) / 180;
    const double right[AXES] = {-sin(turn), cos(turn), 0};
    const double up[AXES] = {-sin(rise) * cos(turn), -sin(rise) * sin(turn), cos(rise)};
    for (int i = 0; i < AXES; i++) {
        v->right[i] = right[i];
        v->up[i] = up[i];
    }
}

/* From the box, -1 .. 1 along each axis, to the page. */
static void project(const view *v, double x, double y, double z, double *point)
{
    const double p[AXES] = {x * v->half[0], y * v->half[1], z * v->half[2]};
    double across = 0, upward = 0;
    for (int i = 0; i < AXES; i++) {
        across += p[i] * v->right[i];
        upward += p[i] * v->up[i];
    }
    point[0] = v->x + v->scale * across;
    point[1] = v->y - v->scale * upward;
}

static double in_box(const hmi_axis *axis, double value)
{
    return 2 * (value - axis->low) / (axis->high - axis->low) - 1;
}

/* The box in units of its largest side; equal units, but no side so thin that its ticks would
 * collide. */
static void make_box(view *v, const hm_panel *panel, double low[AXES], double high[AXES])
{
    double largest = 0;
    for (int i = 0; i < AXES; i++) {
        if (!hmi_panel_range(panel, i, false, &low[i], &high[i]))
            low[i] = 0, high[i] = 1;
        largest = fmax(largest, high[i] - low[i]);
    }
    if (!(largest > 0))
        largest = 1;
    for (int i = 0; i < AXES; i++) {
        double span = high[i] - low[i], middle = low[i] + span / 2;
        if (panel->equal)
            span = fmax(span, 0.3 * largest) * 1.06;
        else
            span = span > 0 ? 1.06 * span : largest;
        v->half[i] = panel->equal ? span / (2 * largest) : 0.5;
        low[i] = middle - span / 2;
        high[i] = middle + span / 2;
    }
}

/* Scales the box to the area, with room for labels around it. */
static void fit(view *v, hmi_box area)
{
    const double side = 62, above = 8, below = 46;
    double wide = 0, high = 0;
    for (int i = 0; i < AXES; i++) {
        wide += 2 * v->half[i] * fabs(v->right[i]);
        high += 2 * v->half[i] * fabs(v->up[i]);
    }
    v->scale = fmin((area.width - 2 * side) / wide, (area.height - above - below) / high);
    v->scale = fmax(v->scale, 1);
    v->x = area.x + area.width / 2;
    v->y = area.y + above + (area.height - above - below) / 2;
}

/* Ticks by how long each side is on the page. */
static void make_axes(view *v, const double low[AXES], const double high[AXES])
{
    for (int i = 0; i < AXES; i++) {
        double length = 2 * v->half[i] * v->scale * hypot(v->right[i], v->up[i]);
        hmi_axis_make(&v->axis[i], low[i], high[i], length, i == 2 ? 36 : 52, false);
    }
}

/* ---- the box ---- */

static void segment(hmi_pen *pen, const view *v, const double *a, const double *b, uint32_t color,
                    double width)
{
    double p[2], q[2];
    project(v, a[0], a[1], a[2], p);
    project(v, b[0], b[1], b[2], q);
    hmi_draw_line(pen, p[0], p[1], q[0], q[1], color, width);
}

/* The faces behind: x = -1, y = 1, z = -1. Each grid line of an axis runs across two of them. */
static const double behind[AXES] = {-1, 1, -1};

static void draw_faces(hmi_pen *pen, const view *v)
{
    for (int i = 0; i < AXES; i++)
        for (int k = 0; k < v->axis[i].ticks; k++)
            for (int face = 0; face < AXES; face++) {
                if (face == i)
                    continue;
                int along = AXES - i - face;
                double a[AXES], b[AXES];
                a[i] = b[i] = in_box(&v->axis[i], v->axis[i].tick[k]);
                a[face] = b[face] = behind[face];
                a[along] = -1;
                b[along] = 1;
                segment(pen, v, a, b, HMI_GRID, 0.8);
            }
}

/* The nine edges of those faces. */
static void draw_edges(hmi_pen *pen, const view *v)
{
    for (int along = 0; along < AXES; along++)
        for (int corner = 0; corner < 4; corner++) {
            int i = (along + 1) % AXES, k = (along + 2) % AXES;
            double a[AXES], b[AXES];
            a[i] = b[i] = corner & 1 ? 1 : -1;
            a[k] = b[k] = corner & 2 ? 1 : -1;
            if (a[i] != behind[i] && a[k] != behind[k])
                continue;
            a[along] = -1;
            b[along] = 1;
            segment(pen, v, a, b, HMI_FRAME, 0.9);
        }
}

/* Which edge carries an axis's ticks, and where its labels go from there. */
typedef struct ruler {
    double edge[AXES]; /* the fixed coordinates; its own is ignored */
    double out[2];     /* from the edge to the labels, on the page */
    hm_anchor anchor;
} ruler;

static const ruler rulers[AXES] = {
    {{0, -1, -1}, {-4, 15}, HM_ANCHOR_MIDDLE},
    {{1, 0, -1}, {8, 13}, HM_ANCHOR_START},
    {{-1, -1, 0}, {-8, 4}, HM_ANCHOR_END},
};

static void draw_ruler(hmi_pen *pen, const view *v, int i, const char *label)
{
    const ruler *r = &rulers[i];
    const hmi_axis *axis = &v->axis[i];
    hm_font font = {HMI_TEXT_SIZE, HMI_SOFT_INK, .anchor = r->anchor};
    double at[AXES] = {r->edge[0], r->edge[1], r->edge[2]}, p[2], widest = 0;
    for (int k = 0; k < axis->ticks; k++) {
        at[i] = in_box(axis, axis->tick[k]);
        project(v, at[0], at[1], at[2], p);
        hmi_draw_line(pen, p[0], p[1], p[0] + r->out[0] * 0.5, p[1] + (i == 2 ? 0 : 4), HMI_FRAME,
                      1);
        hmi_draw_text(pen, p[0] + r->out[0], p[1] + r->out[1], axis->label[k], &font);
        widest = fmax(widest, hmi_text_width(axis->label[k], HMI_TEXT_SIZE, false));
    }
    at[i] = 0;
    project(v, at[0], at[1], at[2], p);
    char text[184];
    snprintf(text, sizeof text, "%.100s%s%s", label ? label : "", axis->factor[0] ? "  " : "",
             axis->factor);
    font.color = HMI_INK;
    double away = i == 0 ? 0 : widest + 10, down = i == 2 ? 0 : 20;
    font.anchor = i == 0 ? HM_ANCHOR_END : r->anchor;
    hmi_draw_text(pen,
                  p[0] + (i == 2   ? r->out[0] - away
                          : i == 1 ? r->out[0] + 18
                                   : -18),
                  p[1] + r->out[1] + down, text, &font);
}

/* ---- curves ---- */

static void place_points(const view *v, const hm_curve *curve, bool shadow, double *points)
{
    for (size_t i = 0; i < curve->count; i++) {
        double z = shadow ? -1 : in_box(&v->axis[2], curve->z[i]);
        if (isnan(curve->z[i]))
            z = NAN;
        project(v, in_box(&v->axis[0], curve->x[i]), in_box(&v->axis[1], curve->y[i]), z,
                points + 2 * i);
    }
}

static void draw_path(hmi_pen *pen, const view *v, const hm_panel *panel, size_t s, bool shadow)
{
    const hm_curve *curve = &panel->curves[s];
    if (curve->count == 0)
        return;
    double *points = hmi_points(pen, curve->count);
    if (!points)
        return;
    hm_pen style = hmi_curve_style(s), grey = {0xc4c4c4, 1, 0, 1};
    place_points(v, curve, shadow, points);
    hmi_draw_curve(pen, points, curve->count, shadow ? &grey : &style);
    if (panel->ends && !shadow)
        hmi_draw_ends(pen, points, curve->count, style.color);
    hmi_points_free(pen, points, curve->count);
}

void hmi_space_draw(hmi_pen *pen, const hm_panel *panel, hmi_box area)
{
    view v = {0};
    double low[AXES], high[AXES];
    look(&v);
    make_box(&v, panel, low, high);
    fit(&v, area);
    make_axes(&v, low, high);
    draw_faces(pen, &v);
    draw_edges(pen, &v);
    for (size_t s = 0; s < panel->curve_count; s++)
        draw_path(pen, &v, panel, s, true);
    for (size_t s = 0; s < panel->curve_count; s++)
        draw_path(pen, &v, panel, s, false);
    draw_ruler(pen, &v, 0, panel->x_label);
    draw_ruler(pen, &v, 1, panel->y_label);
    draw_ruler(pen, &v, 2, panel->z_label);
}
