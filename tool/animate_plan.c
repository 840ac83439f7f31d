/* What `hamel animate` is asked for: the format by the name, sizes, and which times are shown. */
#include "animate.h"
#include "figure_file.h"
#include "output_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_PICTURES = 20000, PATH_ROWS = 1200, SMALLEST = 32, LARGEST = 8000 };

/* ---- the format ---- */

static bool ends_in(const char *path, const char *extension)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, extension) == 0;
}

static int read_format(film *f)
{
    bool single = option_value(f->call, "--at-time") || option_value(f->call, "--instants");
    f->path = option_value(f->call, "-o");
    f->strobe = option_value(f->call, "--instants") != NULL;
    if (!f->path)
        return usage_error(
            "animate needs -o FILE, with a name that ends in .gif, .mp4, .png or .svg");
    if (ends_in(f->path, ".gif"))
        f->format = FILM_GIF;
    else if (ends_in(f->path, ".mp4"))
        f->format = FILM_MP4;
    else if (ends_in(f->path, ".png"))
        f->format = single ? FILM_PNG : FILM_FRAMES;
    else if (ends_in(f->path, ".svg"))
        f->format = FILM_SVG;
    else
        return usage_error(
            "the name of an animation must end in .gif, .mp4, .png or .svg, not '%s'", f->path);
    if (f->format == FILM_SVG && !option_value(f->call, "--at-time"))
        f->strobe = true;
    if (single && f->format < FILM_FRAMES)
        return usage_error("--at-time and --instants are for single pictures, .png and .svg");
    if (option_value(f->call, "--at-time") && option_value(f->call, "--instants"))
        return usage_error("--at-time shows one instant, --instants several: leave one out");
    if (f->format == FILM_MP4 && !movie_possible())
        return usage_error("ffmpeg, which writes .mp4, is not installed (there is no ffmpeg in "
                           "PATH); use a name that ends in .gif");
    return f->format == FILM_SVG ? EXIT_DONE : png_check();
}

/* Options that would say nothing. */
static int refuse_useless(const film *f)
{
    static const char *const times[] = {"--fps", "--speed", "--duration"};
    for (size_t k = 0; k < 3 && f->format >= FILM_PNG; k++)
        if (option_value(f->call, times[k]))
            return usage_error("%s is for films, not for a single picture", times[k]);
    return EXIT_DONE;
}

/* ---- sizes and what is shown ---- */

static int read_size(film *f)
{
    const char *text = option_value(f->call, "--size");
    int width = 640, height = 480, length = 0;
    if (text && (sscanf(text, "%5dx%5d%n", &width, &height, &length) != 2 || text[length]))
        return usage_error("--size is WIDTHxHEIGHT in pixels, as in 640x480, not '%s'", text);
    if (width < SMALLEST || height < SMALLEST || width > LARGEST || height > LARGEST)
        return usage_error("--size must be between %dx%d and %dx%d", SMALLEST, SMALLEST, LARGEST,
                           LARGEST);
    if (f->format == FILM_MP4 && (width % 2 || height % 2))
        return usage_error("the width and the height of an .mp4 must be even, not %dx%d", width,
                           height);
    f->look.width = width;
    f->look.height = height;
    return EXIT_DONE;
}

static int read_camera(film *f)
{
    static const struct {
        const char *name;
        double azimuth, elevation;
    } views[] = {{"front", -90, 0}, {"back", 90, 0},  {"right", 0, 0},
                 {"left", 180, 0},  {"top", -90, 90}, {"oblique", -59, 22}};
    const char *text = option_value(f->call, "--camera");
    int length = 0;
    f->look.turned = text != NULL;
    f->look.follow = option_value(f->call, "--follow") != NULL;
    for (size_t k = 0; text && k < sizeof views / sizeof *views; k++)
        if (strcmp(text, views[k].name) == 0) {
            f->look.azimuth = views[k].azimuth;
            f->look.elevation = views[k].elevation;
            return EXIT_DONE;
        }
    if (!text || (sscanf(text, "%lf,%lf%n", &f->look.azimuth, &f->look.elevation, &length) == 2 &&
                  !text[length] && fabs(f->look.azimuth) <= 360 && fabs(f->look.elevation) <= 90))
        return EXIT_DONE;
    return usage_error("--camera is oblique, front, back, left, right, top or AZIMUTH,ELEVATION in "
                       "degrees, as in -60,20, not '%s'",
                       text);
}

static int read_hidden(film *f)
{
    static const struct {
        const char *name;
        unsigned part;
    } parts[] = {{"paths", PICTURE_PATHS}, {"forces", PICTURE_FORCES}, {"ground", PICTURE_GROUND},
                 {"time", PICTURE_TIME},   {"scale", PICTURE_SCALE},   {"labels", PICTURE_LABELS},
                 {"all", PICTURE_ALL}};
    const char *text = option_value(f->call, "--hide");
    f->look.parts = PICTURE_ALL;
    f->look.title = option_value(f->call, "--title");
    while (text && *text) {
        size_t length = strcspn(text, ","), k = 0, count = sizeof parts / sizeof *parts;
        while (k < count &&
               (strlen(parts[k].name) != length || strncmp(parts[k].name, text, length) != 0))
            k++;
        if (k == count)
            return usage_error("--hide knows paths, forces, ground, time, scale, labels and all, "
                               "not '%.*s'",
                               (int)length, text);
        f->look.parts &= ~parts[k].part;
        text += length + (text[length] == ',');
    }
    return EXIT_DONE;
}

/* ---- frames as files ---- */

/* PREFIX%04dSUFFIX, else FILE-0001.png */
static bool read_pattern(const char *path, size_t *prefix, int *digits, const char **suffix)
{
    const char *percent = strchr(path, '%'), *dot = strrchr(path, '.');
    *digits = 4;
    if (!percent) {
        *prefix = (size_t)(dot - path);
        *suffix = dot;
        return true;
    }
    char *after = NULL;
    long width = strtol(percent + 1, &after, 10);
    *prefix = (size_t)(percent - path);
    *digits = (int)width;
    *suffix = after + 1;
    return after[0] == 'd' && width >= 0 && width <= 9 && percent[1] != '+' && percent[1] != '-' &&
           percent[1] != ' ' && !strchr(after, '%') && !strchr(after, '/');
}

bool film_frame_path(const film *f, size_t k, char *path, size_t size)
{
    size_t prefix;
    int digits;
    const char *suffix;
    if (!read_pattern(f->path, &prefix, &digits, &suffix))
        return false;
    const char *between = strchr(f->path, '%') ? "" : "-";
    int length = snprintf(path, size, "%.*s%s%0*zu%s", (int)prefix, f->path, between, digits, k + 1,
                          suffix);
    return length > 0 && (size_t)length < size;
}

static int check_frames(const film *f)
{
    char path[PATH_MAX];
    int status = EXIT_DONE;
    for (size_t k = 0; k < f->count && f->format == FILM_FRAMES && status == EXIT_DONE; k++) {
        if (!film_frame_path(f, k, path, sizeof path))
            return usage_error("'%s' does not name frames: FILE.png or FILE%%04d.png does",
                               f->path);
        status = output_check(f->call, path);
    }
    return status;
}

int film_read_options(film *f)
{
    int status = read_format(f);
    if (status == EXIT_DONE)
        status = refuse_useless(f);
    if (status == EXIT_DONE)
        status = read_size(f);
    if (status == EXIT_DONE)
        status = read_camera(f);
    return status == EXIT_DONE ? read_hidden(f) : status;
}

/* ---- times ---- */

/* Without a wish: as it is where that takes 2 to 20 seconds, else in 10. */
static int plan_film(film *f)
{
    const session *s = f->session;
    double span = f->options.end - f->options.start;
    bool timed = option_value(f->call, "--duration"), paced = option_value(f->call, "--speed");
    f->fps = 25;
    f->duration = span >= 2 && span <= 20 ? span : 10;
    if (!option_positive(s, f->call, "--fps", &f->fps) ||
        !option_positive(s, f->call, "--duration", &f->duration) ||
        !option_positive(s, f->call, "--speed", &f->speed))
        return EXIT_BAD_INPUT;
    if (f->fps > (f->format == FILM_GIF ? 50 : 1000) || f->fps < 0.01)
        return usage_error("--fps must be between 0.01 and %d", f->format == FILM_GIF ? 50 : 1000);
    if (timed && paced && option_value(f->call, "--to"))
        return usage_error("--duration and --speed say how much is shown, and so does --to: leave "
                           "one out");
    if (paced && !timed)
        f->duration = span / f->speed;
    if (!paced)
        f->speed = span / f->duration;
    double count = fmax(1, rint(f->duration * f->fps));
    if (!(count <= MOST_PICTURES))
        return usage_error("that are %.0f pictures, of at most %d: choose --duration, --speed or "
                           "--fps",
                           count, MOST_PICTURES);
    f->count = (size_t)count;
    f->step = f->speed / f->fps;
    f->options.end = f->options.start + f->step * fmax(1, count - 1);
    return EXIT_DONE;
}

static int plan_strobe(film *f)
{
    double count = 9;
    if (!option_positive(f->session, f->call, "--instants", &count))
        return EXIT_BAD_INPUT;
    if (count != floor(count) || count < 2 || count > 100)
        return usage_error("--instants needs a whole number from 2 to 100, not '%s'",
                           option_value(f->call, "--instants"));
    f->count = (size_t)count;
    f->step = (f->options.end - f->options.start) / (count - 1);
    return EXIT_DONE;
}

/* The rows are laid so that one of them is there; the camera sees all of the motion. */
static int plan_instant(film *f)
{
    double at = f->options.start, start = f->options.start, span = f->options.end - start;
    if (!option_number(f->session, f->call, "--at-time", &at))
        return EXIT_BAD_INPUT;
    if (!(at >= start && at <= f->options.end))
        return usage_error("--at-time must be within the run, %.10g to %.10g, not '%s'", start,
                           f->options.end, option_value(f->call, "--at-time"));
    f->count = 1;
    f->step = at - start;
    f->finer = f->step > 0 ? (size_t)ceil(fmax(1, PATH_ROWS * f->step / span)) : 0;
    f->options.every = f->step > 0 ? f->step / (double)f->finer : span / PATH_ROWS;
    return EXIT_DONE;
}

/* Paths are finer than pictures, while there are few of these. */
static int plan_rows(film *f)
{
    motion probe;
    motion_start(&probe, f->session->model, &f->options);
    double bytes = (double)f->count * (double)probe.width * sizeof(double), most = 64e6;
    f->finer = f->count < PATH_ROWS ? PATH_ROWS / f->count : 1;
    if (bytes * (double)f->finer > most)
        f->finer = (size_t)fmax(1, floor(most / bytes));
    if (memory_limit_now() && bytes * (double)f->finer > (double)memory_limit_now()) {
        say("hamel: %zu pictures of this model take %.0f MB, more than --max-memory allows\n",
            f->count, bytes * (double)f->finer / 1e6);
        return EXIT_FAILED;
    }
    f->options.every = f->step / (double)f->finer;
    return EXIT_DONE;
}

int film_plan(film *f)
{
    bool instant = option_value(f->call, "--at-time") != NULL;
    int status = instant ? plan_instant(f) : f->strobe ? plan_strobe(f) : plan_film(f);
    if (status == EXIT_DONE && !instant)
        status = plan_rows(f);
    return status == EXIT_DONE ? check_frames(f) : status;
}
