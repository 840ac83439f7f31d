/* The ground, the scale, the axes and what the arrows mean. */
#include "picture.h"

static const uint32_t INK = 0x30363c, SOFT = 0x8a949d, PALE = 0xc9d0d6;

double round_length(double x)
{
    double ten = pow(10, floor(log10(x)));
    return x >= 5 * ten ? 5 * ten : x >= 2 * ten ? 2 * ten : ten;
}

static bool draw_line(const hm_canvas *canvas, double x0, double y0, double x1, double y1,
                      uint32_t color, double width)
{
    const double points[] = {x0, y0, x1, y1};
    if (!(fabs(x0) < 1e5 && fabs(y0) < 1e5 && fabs(x1) < 1e5 && fabs(y1) < 1e5))
        return true;
    return canvas->lines(canvas->user, points, 2,
                         &(hm_pen){.color = color, .width = width, .opacity = 1});
}

/* The height of a `draw ground` statement; false: there is none. */
static bool ground_height(const picture *p, size_t row, double *height)
{
    for (size_t i = 0; i < hm_model_drawing_count(p->model); i++) {
        hm_drawing d = hm_model_drawing(p->model, i);
        if (d.kind != HM_DRAWING_GROUND)
            continue;
        *height = picture_number(p, row, d.parts[0]);
        return isfinite(*height);
    }
    return false;
}

/* In the plane: the line with hatching below it. */
static bool draw_ground_line(const picture *p, const camera *c, const hm_canvas *canvas,
                             double height)
{
    double page[2] = {0}, width = p->options.width;
    (void)camera_see(c, (vec){c->eye.x, height, 0}, page, NULL);
    bool good = draw_line(canvas, 0, page[1], width, page[1], SOFT, 1.5);
    for (double x = 4; x < width + 12 && good; x += 12)
        good = draw_line(canvas, x, page[1] + 1, x - 7, page[1] + 8, PALE, 1);
    return good;
}

static bool draw_grid_line(const camera *c, const hm_canvas *canvas, vec a, vec b, uint32_t color)
{
    double from[2], to[2];
    return !camera_clip(c, &a, &b) || !camera_see(c, a, from, NULL) ||
           !camera_see(c, b, to, NULL) ||
           draw_line(canvas, from[0], from[1], to[0], to[1], color, 1);
}

/* The directions in the ground. */
static void ground_axes(const picture *p, vec *first, vec *second)
{
    vec up = p->up;
    *first = fabs(up.x) > 0.5 ? (vec){0, 1, 0} : (vec){1, 0, 0};
    *second = vec_cross(up, *first);
}

static double grid_step(const picture *p)
{
    return round_length(0.12 * p->unit);
}

/* A square around what is drawn, on lines that stay where they are. */
static bool draw_grid(const picture *p, const camera *c, const hm_canvas *canvas, vec offset,
                      double height, uint32_t color)
{
    vec first, second, middle = vec_add(vec_scale(0.5, vec_add(p->low, p->high)), offset);
    ground_axes(p, &first, &second);
    double step = grid_step(p);
    int half = (int)fmin(60, ceil(0.75 * p->unit / step));
    double x = step * rint(vec_dot(middle, first) / step);
    double y = step * rint(vec_dot(middle, second) / step);
    vec base = vec_add(vec_add(vec_scale(x, first), vec_scale(y, second)),
                       vec_scale(height, p->up));
    bool good = true;
    for (int k = -half; k <= half && good; k++) {
        vec a = vec_along(base, k * step, first), b = vec_along(base, k * step, second);
        good = draw_grid_line(c, canvas, vec_along(a, -half * step, second),
                              vec_along(a, half * step, second), color) &&
               draw_grid_line(c, canvas, vec_along(b, -half * step, first),
                              vec_along(b, half * step, first), color);
    }
    return good;
}

bool picture_draw_ground(picture *p, const camera *c, const hm_canvas *canvas, size_t row)
{
    double height = 0;
    bool given = ground_height(p, row, &height);
    if (!(p->options.parts & PICTURE_GROUND))
        return true;
    if (p->planar)
        return !given || draw_ground_line(p, c, canvas, height);
    if (given) /* a value of the coordinate, whichever way is up */
        height *= p->up.x + p->up.y + p->up.z;
    return draw_grid(p, c, canvas, picture_offset(p, row), given ? height : p->floor,
                     given ? 0xc3ccd4 : 0xe3e8ec);
}

/* ---- the scale ---- */

static bool draw_bar(const picture *p, const camera *c, const hm_canvas *canvas)
{
    char text[32];
    double length = round_length(0.2 * p->options.width / c->focal), size = length * c->focal;
    double right = p->options.width - 14, y = p->options.height - 14;
    hm_font font = {.size = 12, .color = INK, .anchor = HM_ANCHOR_MIDDLE};
    snprintf(text, sizeof text, "%.10g", length);
    return draw_line(canvas, right - size, y, right, y, INK, 1.5) &&
           draw_line(canvas, right - size, y - 4, right - size, y + 4, INK, 1.5) &&
           draw_line(canvas, right, y - 4, right, y + 4, INK, 1.5) &&
           canvas->text(canvas->user, right - size / 2, y - 6, text, &font);
}

static bool draw_axis(const camera *c, const hm_canvas *canvas, double x, double y, vec axis,
                      const char *name, uint32_t color)
{
    double dx = vec_dot(axis, c->right), dy = -vec_dot(axis, c->up), size = 26;
    hm_font font = {.size = 11, .color = color, .anchor = HM_ANCHOR_MIDDLE};
    if (hypot(dx, dy) < 0.15) /* towards the eye */
        return true;
    return draw_line(canvas, x, y, x + size * dx, y + size * dy, color, 1.5) &&
           canvas->text(canvas->user, x + (size + 9) * dx, y + (size + 9) * dy + 4, name, &font);
}

bool picture_draw_scale(picture *p, const camera *c, const hm_canvas *canvas)
{
    double x = 44, y = 46;
    char text[48];
    if (!(p->options.parts & PICTURE_SCALE))
        return true;
    bool good = draw_axis(c, canvas, x, y, (vec){1, 0, 0}, "x", 0xb03a2e) &&
                draw_axis(c, canvas, x, y, (vec){0, 1, 0}, "y", 0x2e7d4f);
    if (p->planar)
        return good && draw_bar(p, c, canvas);
    hm_font font = {.size = 12, .color = INK, .anchor = HM_ANCHOR_END};
    snprintf(text, sizeof text, "grid %.10g", grid_step(p));
    good = good && draw_axis(c, canvas, x, y, (vec){0, 0, 1}, "z", 0x2f5fa8);
    return good &&
           (!(p->options.parts & PICTURE_GROUND) ||
            canvas->text(canvas->user, p->options.width - 12, p->options.height - 12, text, &font));
}

/* The longest arrow of each kind. */
bool picture_draw_legend(picture *p, const hm_canvas *canvas)
{
    char text[80];
    double y = 20;
    bool good = true;
    for (int k = 0; k < FORCE_KINDS && good; k++) {
        if (!(p->largest_force[k] > 0) || !(p->options.parts & PICTURE_SCALE))
            continue;
        hm_font font = {.size = 12, .color = force_kinds[k].color, .anchor = HM_ANCHOR_END};
        snprintf(text, sizeof text, "%s ≤ %.3g", force_kinds[k].short_text, p->largest_force[k]);
        good = canvas->text(canvas->user, p->options.width - 12, y, text, &font);
        y += 16;
    }
    return good;
}
