/* The canvas of pixels. cairo is optional (CMakeLists.txt) and loaded when it is used (library.h). */
#include "raster.h"

#include "memory.h"

#ifdef HAMEL_HAVE_CAIRO

#include "cairo_calls.h"

#include <stdlib.h>
#include <string.h>

struct raster {
    cairo_surface_t *surface;
    cairo_t *cairo;
    double scale;
    int width, height;
    uint32_t *pixels; /* a copy without gaps between the rows */
    hm_canvas canvas;
};

static void set_color(cairo_t *cairo, uint32_t color, double opacity)
{
    cairo_set_source_rgba(cairo, (color >> 16 & 255) / 255.0, (color >> 8 & 255) / 255.0,
                          (color & 255) / 255.0, opacity);
}

static bool good(const raster *r)
{
    return r->cairo && cairo_status(r->cairo) == CAIRO_STATUS_SUCCESS;
}

static void make_surface(raster *r)
{
    cairo_destroy(r->cairo);
    cairo_surface_destroy(r->surface);
    free(r->pixels);
    r->pixels = NULL;
    r->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, r->width, r->height);
    r->cairo = cairo_create(r->surface);
    cairo_scale(r->cairo, r->scale, r->scale);
    cairo_set_line_cap(r->cairo, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(r->cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(r->cairo, options);
    cairo_font_options_destroy(options);
}

/* The same surface is used again for pictures of the same size. */
static bool begin(void *user, double width, double height, const char *title)
{
    (void)title;
    raster *r = user;
    int columns = (int)(width * r->scale + 0.5), rows = (int)(height * r->scale + 0.5);
    if (!r->surface || columns != r->width || rows != r->height) {
        r->width = columns;
        r->height = rows;
        make_surface(r);
    }
    cairo_set_source_rgb(r->cairo, 1, 1, 1);
    cairo_paint(r->cairo);
    return good(r);
}

/* Strokes or fills the path made so far. */
static bool use_pen(raster *r, const hm_pen *pen)
{
    set_color(r->cairo, pen->color, pen->opacity);
    if (pen->width > 0) {
        cairo_set_dash(r->cairo, &pen->dash, pen->dash > 0, 0);
        cairo_set_line_width(r->cairo, pen->width);
        cairo_stroke(r->cairo);
    } else {
        cairo_fill(r->cairo);
    }
    return good(r);
}

static bool lines(void *user, const double *points, size_t count, const hm_pen *pen)
{
    raster *r = user;
    for (size_t i = 0; i < count; i++)
        cairo_line_to(r->cairo, points[2 * i], points[2 * i + 1]);
    return use_pen(r, pen);
}

static bool circle(void *user, double x, double y, double radius, const hm_pen *pen)
{
    raster *r = user;
    cairo_new_sub_path(r->cairo);
    cairo_arc(r->cairo, x, y, radius, 0, 6.283185307179586);
    return use_pen(r, pen);
}

static bool text(void *user, double x, double y, const char *utf8, const hm_font *font)
{
    raster *r = user;
    cairo_text_extents_t extents;
    cairo_save(r->cairo);
    cairo_select_font_face(r->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           font->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(r->cairo, font->size);
    set_color(r->cairo, font->color, 1);
    cairo_text_extents(r->cairo, utf8, &extents);
    cairo_translate(r->cairo, x, y);
    if (font->upward)
        cairo_rotate(r->cairo, -1.5707963267948966);
    cairo_move_to(r->cairo, -extents.x_advance * font->anchor / 2, 0);
    cairo_show_text(r->cairo, utf8);
    cairo_restore(r->cairo);
    cairo_new_path(r->cairo);
    return good(r);
}

static bool end(void *user)
{
    return good(user);
}

/* ---- the object ---- */

const char *raster_load(void)
{
    return library_load(&cairo_library) ? NULL : cairo_library.why;
}

raster *raster_create(double scale)
{
    raster *r = memory_new(1, sizeof *r);
    if (!r)
        return NULL;
    r->scale = scale;
    r->canvas = (hm_canvas){r, begin, lines, circle, text, end};
    return r;
}

void raster_destroy(raster *r)
{
    if (!r)
        return;
    if (r->surface) {
        cairo_destroy(r->cairo);
        cairo_surface_destroy(r->surface);
    }
    free(r->pixels);
    free(r);
}

const hm_canvas *raster_canvas(raster *r)
{
    return &r->canvas;
}

const char *raster_error(const raster *r)
{
    cairo_status_t status = r->cairo ? cairo_status(r->cairo) : CAIRO_STATUS_SUCCESS;
    return status == CAIRO_STATUS_SUCCESS ? NULL : cairo_status_to_string(status);
}

const uint32_t *raster_pixels(raster *r, size_t *width, size_t *height)
{
    *width = *height = 0;
    if (!r->surface || !good(r))
        return NULL;
    cairo_surface_flush(r->surface);
    const unsigned char *from = cairo_image_surface_get_data(r->surface);
    size_t stride = (size_t)cairo_image_surface_get_stride(r->surface);
    size_t columns = (size_t)r->width, rows = (size_t)r->height;
    if (!r->pixels)
        r->pixels = memory_new(columns * rows, sizeof *r->pixels);
    if (!r->pixels || !from)
        return NULL;
    for (size_t y = 0; y < rows; y++) {
        memcpy(r->pixels + y * columns, from + y * stride, columns * sizeof *r->pixels);
        for (size_t x = 0; x < columns; x++)
            r->pixels[y * columns + x] &= 0xffffff;
    }
    *width = columns;
    *height = rows;
    return r->pixels;
}

static cairo_status_t write_bytes(void *file, const unsigned char *bytes, unsigned length)
{
    return hm_file_write(file, bytes, length) == HM_OK ? CAIRO_STATUS_SUCCESS
                                                       : CAIRO_STATUS_WRITE_ERROR;
}

const char *raster_write_png(raster *r, hm_file *file)
{
    const char *error = raster_error(r);
    if (error || !r->surface)
        return error;
    cairo_status_t status = cairo_surface_write_to_png_stream(r->surface, write_bytes, file);
    return status == CAIRO_STATUS_SUCCESS ? NULL : cairo_status_to_string(status);
}

#else

const char *raster_load(void)
{
    return "cairo is not part of this build";
}

raster *raster_create(double scale)
{
    (void)scale;
    return NULL;
}

void raster_destroy(raster *r)
{
    (void)r;
}

const hm_canvas *raster_canvas(raster *r)
{
    (void)r;
    return NULL;
}

const char *raster_error(const raster *r)
{
    (void)r;
    return raster_load();
}

const uint32_t *raster_pixels(raster *r, size_t *width, size_t *height)
{
    (void)r;
    *width = *height = 0;
    return NULL;
}

const char *raster_write_png(raster *r, hm_file *file)
{
    (void)r, (void)file;
    return raster_load();
}

#endif
