/* One picture of a motion: what is known of all of it, and how an instant is put together. */
#include "picture.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t INK = 0x30363c;

/* ---- what is known of the whole motion ---- */

typedef struct bounds {
    vec low, high, offset, up;
    double floor;
} bounds;

static void widen(void *user, vec place, double radius)
{
    bounds *b = user;
    vec r = {radius, radius, radius};
    if (!vec_finite(place))
        return;
    b->floor = fmin(b->floor, vec_dot(place, b->up) - radius);
    place = vec_sub(place, b->offset);
    b->low = vec_min(b->low, vec_sub(place, r));
    b->high = vec_max(b->high, vec_add(place, r));
}

static void find_bounds(picture *p)
{
    bounds b = {.low = {DBL_MAX, DBL_MAX, DBL_MAX},
                .high = {-DBL_MAX, -DBL_MAX, -DBL_MAX},
                .up = p->up,
                .floor = DBL_MAX};
    for (size_t row = 0; row < p->motion->rows; row++) {
        b.offset = picture_offset(p, row);
        picture_marks(p, row, widen, &b);
    }
    if (!(b.low.x <= b.high.x))
        b = (bounds){.low = {-1, -1, -1}, .high = {1, 1, 1}, .floor = -1};
    vec span = vec_sub(b.high, b.low);
    p->low = b.low;
    p->high = b.high;
    p->floor = b.floor;
    p->unit = fmax(span.x, fmax(span.y, span.z));
    if (!(p->unit > 1e-300) || !isfinite(p->unit))
        p->unit = 1;
}

static bool is_planar(const hm_model *model)
{
    for (size_t i = 0; i < hm_model_drawing_count(model); i++) {
        hm_drawing d = hm_model_drawing(model, i);
        if (d.kind != HM_DRAWING_GROUND && d.parts[0].rows != 2)
            return false;
    }
    return true;
}

/* Against the largest component of gravity. */
static vec upwards(const picture *p)
{
    double g[3];
    hm_model_gravity(p->model, g);
    if (p->planar)
        return (vec){0, 1, 0};
    if (fabs(g[1]) > fabs(g[2]) && fabs(g[1]) >= fabs(g[0]))
        return (vec){0, g[1] > 0 ? -1 : 1, 0};
    if (fabs(g[0]) > fabs(g[2]))
        return (vec){g[0] > 0 ? -1 : 1, 0, 0};
    return (vec){0, 0, g[2] > 0 ? -1 : 1};
}

/* Each place once. */
static void choose_forces(picture *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hm_drawing d = hm_model_drawing(p->model, i);
        bool here = (p->options.parts & PICTURE_FORCES) && picture_is_place(&d);
        for (size_t k = 0; k < i && here; k++) {
            hm_drawing other = hm_model_drawing(p->model, k);
            here = !(p->force_here[k] && memcmp(other.place, d.place, sizeof d.place) == 0);
        }
        p->force_here[i] = here;
    }
}

static void measure_arrows(picture *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hm_drawing d = hm_model_drawing(p->model, i);
        for (size_t row = 0; row < p->motion->rows; row++) {
            double length = d.kind == HM_DRAWING_ARROW
                                ? vec_length(picture_vector(p, row, d.parts[1]))
                                : 0;
            if (isfinite(length))
                p->largest_arrow[i] = fmax(p->largest_arrow[i], length);
            for (int k = 0; k < FORCE_KINDS && p->force_here[i]; k++)
                p->largest_force[k] = fmax(p->largest_force[k],
                                           vec_length(picture_force(p, row, k, &d)));
        }
    }
    for (int k = 0; k < FORCE_KINDS; k++) /* rounding is no force */
        if (p->largest_force[k] < 1e-12)
            p->largest_force[k] = 0;
}

/* As many as tell one picture from the next. */
static int time_digits(const motion *m)
{
    double span = m->rows > 1 ? m->values[(m->rows - 1) * m->width] - m->values[0] : 1;
    return span > 0 ? (int)fmin(9, fmax(0, 3 - floor(log10(span)))) : 2;
}

bool picture_open(picture *p, const hm_model *model, const motion *m,
                  const picture_options *options)
{
    size_t count = hm_model_drawing_count(model);
    *p = (picture){.model = model, .motion = m, .options = *options};
    p->largest_arrow = memory_new(count + 1, sizeof *p->largest_arrow);
    p->force_here = memory_new(count + 1, sizeof *p->force_here);
    p->line = memory_new(2 * (m->rows + 1), sizeof *p->line);
    if (!p->largest_arrow || !p->force_here || !p->line)
        return false;
    p->planar = is_planar(model);
    p->up = upwards(p);
    p->digits = time_digits(m);
    choose_forces(p, count);
    measure_arrows(p, count);
    find_bounds(p);
    picture_aim(p);
    return true;
}

void picture_close(picture *p)
{
    free(p->largest_arrow);
    free(p->force_here);
    free(p->line);
    shapes_free(&p->shapes);
}

/* ---- paths ---- */

typedef struct path {
    picture *p;
    const camera *camera;
    const hm_drawing *drawing;
    uint32_t color;
    double width;
} path;

/* Rows first .. last as lines: in the plane at once, in space in pieces that solids may hide. */
static void add_path(const path *x, size_t first, size_t last)
{
    enum { PIECE = 6 };
    picture *p = x->p;
    size_t most = x->camera->planar ? SIZE_MAX : PIECE, count = 0;
    double depths = 0;
    for (size_t row = first; row <= last; row++) {
        double depth = 0, page[2];
        bool seen = camera_see(x->camera, picture_vector(p, row, x->drawing->parts[0]), page,
                               &depth) &&
                    isfinite(page[0] + page[1]);
        if (seen) {
            p->line[2 * count] = page[0];
            p->line[2 * count + 1] = page[1];
            depths += depth;
            count++;
        }
        if (count > 1 && (!seen || count > most || row == last)) {
            shapes_add(&p->shapes, SHAPE_LINE, p->line, count, depths / (double)count, x->width,
                       x->color);
            memmove(p->line, p->line + 2 * (count - 1), 2 * sizeof *p->line);
            depths = depth;
            count = 1;
        }
        if (!seen) {
            count = 0;
            depths = 0;
        }
    }
}

/* Where it has been, and palely where it will be. */
static void add_paths(picture *p, const camera *c, size_t row, double fade)
{
    for (size_t i = 0; i < hm_model_drawing_count(p->model); i++) {
        hm_drawing d = hm_model_drawing(p->model, i);
        if (d.kind != HM_DRAWING_TRACE)
            continue;
        uint32_t color = color_mix(color_of_drawing(&d, i), 0xffffff, fade);
        path x = {p, c, &d, color_mix(color, 0xffffff, 0.72), 1};
        if (row + 1 < p->motion->rows)
            add_path(&x, row, p->motion->rows - 1);
        x.color = color;
        x.width = 1.6;
        if (row > 0)
            add_path(&x, 0, row);
    }
}

/* ---- an instant ---- */

static bool draw_time(const picture *p, const hm_canvas *canvas, size_t row, size_t first)
{
    char text[80];
    double t = p->motion->values[row * p->motion->width];
    double start = p->motion->values[first * p->motion->width];
    if (!(p->options.parts & PICTURE_TIME))
        return true;
    if (first == row)
        snprintf(text, sizeof text, "t = %.*f", p->digits, t);
    else
        snprintf(text, sizeof text, "t = %.*f … %.*f", p->digits, start, p->digits, t);
    hm_font font = {.size = 14, .color = INK};
    return canvas->text(canvas->user, 12, p->options.height - 12, text, &font);
}

static bool draw_title(const picture *p, const hm_canvas *canvas)
{
    hm_font font = {.size = 14, .color = INK, .bold = true, .anchor = HM_ANCHOR_MIDDLE};
    return !p->options.title ||
           canvas->text(canvas->user, p->options.width / 2, 20, p->options.title, &font);
}

static bool draw_label(const picture *p, const camera *c, const hm_canvas *canvas,
                       const hm_drawing *d, size_t row)
{
    double page[2], depth;
    hm_font font = {.size = 12, .color = 0x5a6570};
    if (!d->label || !camera_see(c, picture_vector(p, row, d->parts[0]), page, &depth) ||
        !(fabs(page[0]) < 1e5 && fabs(page[1]) < 1e5))
        return true;
    return canvas->text(canvas->user, page[0] + 10, page[1] - 8, d->label, &font);
}

/* Names of bodies and of labels, while they do not hide everything. */
static bool draw_labels(const picture *p, const camera *c, const hm_canvas *canvas, size_t row)
{
    enum { MOST_LABELS = 5 };
    size_t count = hm_model_drawing_count(p->model), labels = 0;
    for (size_t i = 0; i < count; i++)
        labels += hm_model_drawing(p->model, i).label != NULL;
    bool good = true;
    if (!(p->options.parts & PICTURE_LABELS) || labels > MOST_LABELS)
        return true;
    for (size_t i = 0; i < count && good; i++) {
        hm_drawing d = hm_model_drawing(p->model, i);
        good = draw_label(p, c, canvas, &d, row);
    }
    return good;
}

static bool draw_shapes(picture *p, const hm_canvas *canvas)
{
    bool good = shapes_draw(&p->shapes, canvas);
    shapes_clear(&p->shapes);
    return good;
}

bool picture_draw(picture *p, const hm_canvas *canvas, size_t row)
{
    return picture_draw_strobe(p, canvas, &row, 1);
}

static bool draw_background(picture *p, const camera *c, const hm_canvas *canvas, size_t row)
{
    return canvas->begin(canvas->user, p->options.width, p->options.height,
                         hm_model_title(p->model)) &&
           picture_draw_ground(p, c, canvas, row);
}

/* In the plane paths lie below; in space they are among the solids of the last instant. */
bool picture_draw_strobe(picture *p, const hm_canvas *canvas, const size_t *rows, size_t count)
{
    size_t last = rows[count - 1];
    camera c = picture_camera(p, last);
    bool good = draw_background(p, &c, canvas, last);
    if (p->options.parts & PICTURE_PATHS && good) {
        add_paths(p, &c, last, 0);
        if (p->planar || count > 1)
            good = draw_shapes(p, canvas);
    }
    for (size_t k = 0; k < count && good; k++) {
        double fade = count > 1 ? 0.8 * (1 - (double)k / (double)(count - 1)) : 0;
        picture_add_solids(p, &c, rows[k], fade);
        good = draw_shapes(p, canvas);
    }
    return good && draw_labels(p, &c, canvas, last) && picture_draw_scale(p, &c, canvas) &&
           picture_draw_legend(p, canvas) && draw_time(p, canvas, last, rows[0]) &&
           draw_title(p, canvas) && canvas->end(canvas->user);
}
