/* `hamel animate`: what its files share. */
#ifndef HAMEL_TOOL_ANIMATE_H
#define HAMEL_TOOL_ANIMATE_H

#include "picture.h"
#include "raster.h"

typedef enum film_format { FILM_GIF, FILM_MP4, FILM_FRAMES, FILM_PNG, FILM_SVG } film_format;

/* Pictures of a motion, and where they go. */
typedef struct film {
    const invocation *call;
    const session *session;
    const char *path;
    film_format format;
    picture_options look;
    /* Times: picture k is at start + k step; the motion has `finer` rows for each of them. */
    double fps, speed, duration, step;
    size_t count, finer;
    bool strobe; /* all of them in one picture */
    hm_run_options options;
    hm_run_result result;
    motion motion;
    hm_sim *sim;
    size_t *rows; /* of the motion, by picture */
    bool placed;  /* the model draws places: else a plane of coordinates is shown */
    picture picture;
    double *across, *upward; /* else: by row, what is drawn against what */
    char across_name[80], upward_name[80];
} film;

/* animate_plan.c: formats, sizes and times, from the options. Exit statuses, after a message. */
int film_read_options(film *f);
int film_plan(film *f);

/* animate_plane.c: models without places in the plane of two coordinates, or of one and its velocity. */
bool plane_open(film *f);
bool plane_draw(const film *f, const hm_canvas *canvas, size_t row, bool whole);

/* animate_files.c: draws and writes, whole or not at all. An exit status. */
int film_write(film *f);
/* The k-th picture, or all at once; false: the canvas failed. */
bool film_draw(film *f, const hm_canvas *canvas, size_t k);
/* The name of the k-th file of frames. false: too long. */
bool film_frame_path(const film *f, size_t k, char *path, size_t size);

/* animate_pictures.c: what is written by the process that draws. */
typedef struct film_progress {
    size_t done; /* pictures */
    bool good, interrupted;
    char why[256];
} film_progress;
void film_draw_pictures(film *f, hm_file *file, film_progress *said);

/* animate_movie.c: ffmpeg. */
bool movie_possible(void);
typedef struct movie {
    int to; /* its standard input */
    int process;
    uint8_t *line; /* bytes of a row of pixels */
    size_t width, height;
} movie;
/* NULL, or what went wrong. */
const char *movie_start(movie *m, const char *path, size_t width, size_t height, double fps);
const char *movie_add(movie *m, const uint32_t *pixels);
const char *movie_finish(movie *m);

#endif
