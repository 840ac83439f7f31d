/* The pictures of a film as GIF, PNG or for ffmpeg, by the process that draws. Each is encoded before the
 * next one is drawn. */
#include "animate.h"
#include "gif.h"
#include "progress.h"

#include <limits.h>
#include <string.h>

typedef struct studio {
    film *film;
    hm_file *file;
    raster *raster;
    film_progress *said;
    progress line;
} studio;

/* NULL: without memory, or cairo failed. */
static const uint32_t *draw(studio *s, size_t k)
{
    size_t width, height;
    bool good = film_draw(s->film, raster_canvas(s->raster), k);
    return good ? raster_pixels(s->raster, &width, &height) : NULL;
}

static const char *why_not(const studio *s)
{
    const char *error = raster_error(s->raster);
    return error ? error : hm_status_text(HM_ERR_NOMEM);
}

/* After each picture; false: Ctrl-C. */
static bool go_on(studio *s, size_t k)
{
    double part = (double)(k + 1) / (double)s->film->count;
    s->said->done = k + 1;
    progress_update(&s->line, (double)(k + 1), part);
    s->said->interrupted = interrupt_seen();
    return !s->said->interrupted;
}

/* ---- GIF ---- */

/* Colours are chosen by a few pictures from all of the film. */
static const char *choose_colors(studio *s, palette *colors)
{
    enum { SAMPLES = 8 };
    size_t count = s->film->count, pixels = (size_t)(s->film->look.width * s->film->look.height);
    size_t samples = count < SAMPLES ? count : SAMPLES;
    for (size_t k = 0; k < samples; k++) {
        const uint32_t *drawn = draw(s, samples > 1 ? k * (count - 1) / (samples - 1) : 0);
        if (!drawn)
            return why_not(s);
        palette_count(colors, drawn, pixels);
    }
    return palette_choose(colors) ? NULL : hm_status_text(HM_ERR_NOMEM);
}

/* Hundredths of a second that add up, whatever the rate. */
static unsigned delay(const film *f, size_t k)
{
    double from = rint(100 * (double)k / f->fps), to = rint(100 * (double)(k + 1) / f->fps);
    return (unsigned)fmin(65535, to - from);
}

static const char *add_gif_frames(studio *s, gif *g)
{
    for (size_t k = 0; k < s->film->count; k++) {
        const uint32_t *drawn = draw(s, k);
        if (!drawn)
            return why_not(s);
        if (!gif_add(g, drawn, delay(s->film, k)))
            return hm_file_error(s->file);
        if (!go_on(s, k))
            break;
    }
    return gif_finish(g) ? NULL : hm_file_error(s->file);
}

static const char *draw_gif(studio *s)
{
    const picture_options *look = &s->film->look;
    palette *colors = palette_create();
    gif *g = colors ? gif_create(s->file, (size_t)look->width, (size_t)look->height, colors) : NULL;
    const char *error = g ? choose_colors(s, colors) : hm_status_text(HM_ERR_NOMEM);
    if (!error)
        error = add_gif_frames(s, g);
    gif_destroy(g);
    palette_destroy(colors);
    return error;
}

/* ---- MP4 ---- */

static const char *draw_movie(studio *s)
{
    const film *f = s->film;
    movie m;
    const char *error = movie_start(&m, hm_file_path(s->file), (size_t)f->look.width,
                                    (size_t)f->look.height, f->fps);
    for (size_t k = 0; k < f->count && !error; k++) {
        const uint32_t *drawn = draw(s, k);
        error = drawn ? movie_add(&m, drawn) : why_not(s);
        if (!error && !go_on(s, k))
            break;
    }
    const char *ended = movie_finish(&m);
    return error ? error : ended;
}

/* ---- PNG ---- */

static const char *draw_png(studio *s, hm_file *file, size_t k)
{
    return film_draw(s->film, raster_canvas(s->raster), k) ? raster_write_png(s->raster, file)
                                                           : why_not(s);
}

static const char *draw_frame(studio *s, size_t k)
{
    static char why[256];
    char path[PATH_MAX];
    hm_file *file = NULL;
    if (!film_frame_path(s->film, k, path, sizeof path))
        return "the name is too long";
    hm_status status = hm_file_create(memory_allocator(), path, &file);
    const char *error = status == HM_OK ? draw_png(s, file, k) : hm_status_text(status);
    if (file && hm_file_finish(file, error ? HM_FILE_END_DISCARD : HM_FILE_END_COMPLETE) != HM_OK &&
        !error)
        error = hm_status_text(HM_ERR_IO);
    if (error && file && hm_file_error(file)[0])
        error = hm_file_error(file);
    if (error)
        snprintf(why, sizeof why, "%s", error);
    hm_file_destroy(file);
    return error ? why : NULL;
}

static const char *draw_frames(studio *s)
{
    const char *error = NULL;
    for (size_t k = 0; k < s->film->count && !error; k++) {
        error = draw_frame(s, k);
        if (!error && !go_on(s, k))
            break;
    }
    return error;
}

/* ---- all ---- */

static const char *draw_all(studio *s)
{
    switch (s->film->format) {
    case FILM_GIF:
        return draw_gif(s);
    case FILM_MP4:
        return draw_movie(s);
    case FILM_FRAMES:
        return draw_frames(s);
    default:
        return draw_png(s, s->file, 0);
    }
}

void film_draw_pictures(film *f, hm_file *file, film_progress *said)
{
    const char *error = raster_load();
    studio s = {.film = f, .file = file, .said = said};
    if (!error && !(s.raster = raster_create(1)))
        error = hm_status_text(HM_ERR_NOMEM);
    progress_start(&s.line, f->call->quiet);
    if (!error)
        error = draw_all(&s);
    progress_end(&s.line);
    if (file && f->format != FILM_MP4 && hm_file_flush(file) != HM_OK)
        error = hm_file_error(file); /* the cause, not that something could not be written */
    said->good = !error;
    snprintf(said->why, sizeof said->why, "%s", error ? error : "");
    raster_destroy(s.raster);
}
