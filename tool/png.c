/* PNG: the same drawing as the SVG, on a cairo surface. cairo is optional (CMakeLists.txt) and loaded when
 * a PNG is drawn, in the process that draws: pixman crashes where memory ends while it is loaded. */
#include "command.h"
#include "figure_file.h"

#ifdef HAMEL_HAVE_CAIRO

#include "cairo_calls.h"

int png_check(void)
{
    if (library_try(&cairo_library))
        return EXIT_DONE;
    say("hamel: cairo, which writes PNG, cannot be loaded (%s); use a name that ends in .svg\n",
        cairo_library.why);
    return EXIT_FAILED;
}

typedef struct png {
    cairo_surface_t *surface;
    cairo_t *cairo;
    double scale;
} png;

static void set_color(cairo_t *cairo, uint32_t color, double opacity)
{
    cairo_set_source_rgba(cairo, (color >> 16 & 255) / 255.0, (color >> 8 & 255) / 255.0,
                          (color & 255) / 255.0, opacity);
}

static bool good(const png *p)
{
    return cairo_status(p->cairo) == CAIRO_STATUS_SUCCESS;
}

static bool begin(void *user, double width, double height, const char *title)
{
    (void)title;
    png *p = user;
    p->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * p->scale + 0.5),
                                            (int)(height * p->scale + 0.5));
    p->cairo = cairo_create(p->surface);
    cairo_scale(p->cairo, p->scale, p->scale);
    cairo_set_source_rgb(p->cairo, 1, 1, 1);
    cairo_paint(p->cairo);
    cairo_set_line_cap(p->cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(p->cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(p->cairo, options);
    cairo_font_options_destroy(options);
    return good(p);
}

/* Strokes or fills the path made so far. */
static bool use_pen(png *p, const hm_pen *pen)
{
    set_color(p->cairo, pen->color, pen->opacity);
    if (pen->width > 0) {
        cairo_set_dash(p->cairo, &pen->dash, pen->dash > 0, 0);
        cairo_set_line_width(p->cairo, pen->width);
        cairo_stroke(p->cairo);
    } else {
        cairo_fill(p->cairo);
    }
    return good(p);
}

static bool lines(void *user, const double *points, size_t count, const hm_pen *pen)
{
    png *p = user;
    for (size_t i = 0; i < count; i++)
        cairo_line_to(p->cairo, points[2 * i], points[2 * i + 1]);
    return use_pen(p, pen);
}

static bool circle(void *user, double x, double y, double radius, const hm_pen *pen)
{
    png *p = user;
    cairo_new_sub_path(p->cairo);
    cairo_arc(p->cairo, x, y, radius, 0, 6.283185307179586);
    return use_pen(p, pen);
}

static bool text(void *user, double x, double y, const char *utf8, const hm_font *font)
{
    png *p = user;
    cairo_text_extents_t extents;
    cairo_save(p->cairo);
    cairo_select_font_face(p->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           font->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(p->cairo, font->size);
    set_color(p->cairo, font->color, 1);
    cairo_text_extents(p->cairo, utf8, &extents);
    cairo_translate(p->cairo, x, y);
    if (font->upward)
        cairo_rotate(p->cairo, -1.5707963267948966);
    cairo_move_to(p->cairo, -extents.x_advance * font->anchor / 2, 0);
    cairo_show_text(p->cairo, utf8);
    cairo_restore(p->cairo);
    cairo_new_path(p->cairo);
    return good(p);
}

static bool end(void *user)
{
    return good(user);
}

static cairo_status_t write_bytes(void *file, const unsigned char *bytes, unsigned length)
{
    return hm_file_write(file, bytes, length) == HM_OK ? CAIRO_STATUS_SUCCESS
                                                       : CAIRO_STATUS_WRITE_ERROR;
}

const char *png_write(const hm_figure *figure, hm_file *file, double scale)
{
    if (!library_load(&cairo_library))
        return cairo_library.why;
    png p = {.scale = scale};
    hm_canvas canvas = {&p, begin, lines, circle, text, end};
    hm_status status = hm_figure_draw(figure, &canvas);
    const char *error = NULL;
    cairo_status_t drawn = p.cairo ? cairo_status(p.cairo) : CAIRO_STATUS_SUCCESS;
    if (drawn == CAIRO_STATUS_SUCCESS && status == HM_OK)
        drawn = cairo_surface_write_to_png_stream(p.surface, write_bytes, file);
    if (drawn != CAIRO_STATUS_SUCCESS)
        error = cairo_status_to_string(drawn);
    else if (status != HM_OK)
        error = hm_status_text(status);
    cairo_destroy(p.cairo);
    cairo_surface_destroy(p.surface);
    return error;
}

#else

int png_check(void)
{
    return usage_error("built without cairo, which writes PNG; use a name that ends in .svg");
}

const char *png_write(const hm_figure *figure, hm_file *file, double scale)
{
    (void)figure, (void)file, (void)scale;
    return "PNG is not part of this build";
}

#endif
