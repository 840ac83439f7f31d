/* Writes a film. Cairo and the libraries below it crash where memory ends: they draw in a process of their
 * own, which writes into the file that both have open; files of frames it makes itself. */
#include "animate.h"
#include "progress.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool film_draw(film *f, const hm_canvas *canvas, size_t k)
{
    if (!f->placed)
        return plane_draw(f, canvas, f->rows[f->strobe ? f->count - 1 : k], f->strobe);
    if (f->strobe)
        return picture_draw_strobe(&f->picture, canvas, f->rows, f->count);
    return picture_draw(&f->picture, canvas, f->rows[k]);
}

/* ---- SVG: by this process ---- */

static bool write_bytes(void *user, const char *bytes, size_t length)
{
    return hm_file_write(user, bytes, length) == HM_OK;
}

static bool draw_only(void *user, const hm_canvas *canvas)
{
    return film_draw(user, canvas, 0);
}

static void draw_svg(film *f, hm_file *file, film_progress *said)
{
    hm_status status = hm_svg_draw(memory_allocator(), draw_only, f, write_bytes, file);
    said->done = 1;
    said->good = status == HM_OK;
    snprintf(said->why, sizeof said->why, "%s", status == HM_OK ? "" : hm_status_text(status));
}

/* ---- pixels: by a process of their own ---- */

static void draw_and_exit(film *f, hm_file *file, int report)
{
    film_progress said = {0};
    film_draw_pictures(f, file, &said);
    (void)!write(report, &said, sizeof said);
    _exit(!said.good);
}

/* What the process said, once it has ended; where it said nothing it crashed. */
static void wait_for_pictures(pid_t process, int from, film_progress *said)
{
    int status = 0;
    size_t got = 0;
    while (got < sizeof *said) {
        ssize_t more = read(from, (char *)said + got, sizeof *said - got);
        if (more == 0 || (more < 0 && errno != EINTR))
            break;
        got += more > 0 ? (size_t)more : 0;
    }
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    if (got == sizeof *said)
        return;
    *said = (film_progress){0};
    snprintf(said->why, sizeof said->why, "drawing failed, probably for want of memory");
}

static void draw_pixels(film *f, hm_file *file, film_progress *said)
{
    int ends[2];
    if (pipe(ends) != 0) {
        snprintf(said->why, sizeof said->why, "%s", strerror(errno));
        return;
    }
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        draw_and_exit(f, file, ends[1]);
    }
    close(ends[1]);
    if (process > 0)
        wait_for_pictures(process, ends[0], said);
    else
        snprintf(said->why, sizeof said->why, "%s", strerror(errno));
    close(ends[0]);
}

/* ---- either ---- */

/* Where the process that draws has crashed, a part of a frame may be left. */
static void remove_parts(const film *f)
{
    char path[PATH_MAX + 8], partial[PATH_MAX + 16];
    for (size_t k = 0; k < f->count && film_frame_path(f, k, path, PATH_MAX); k++) {
        hm_file *file = NULL;
        snprintf(partial, sizeof partial, "%s.partial", path);
        if (access(partial, F_OK) == 0 && hm_file_create(memory_allocator(), path, &file) == HM_OK)
            (void)!hm_file_finish(file, HM_FILE_END_DISCARD);
        hm_file_destroy(file);
    }
}

static int say_interrupted(const film *f, const film_progress *said, const char *path)
{
    say("hamel: interrupted after %zu of %zu pictures, which are in '%s'\n", said->done, f->count,
        path);
    return EXIT_INTERRUPTED;
}

static int write_frames(film *f)
{
    film_progress said = {0};
    draw_pixels(f, NULL, &said);
    if (said.interrupted)
        return say_interrupted(f, &said, f->path);
    if (said.good)
        return EXIT_DONE;
    remove_parts(f);
    say("hamel: cannot write '%s': %s\n", f->path, said.why);
    return EXIT_FAILED;
}

static int write_file(film *f)
{
    hm_file *file = NULL;
    film_progress said = {0};
    hm_status status = hm_file_create(memory_allocator(), f->path, &file);
    if (status != HM_OK)
        snprintf(said.why, sizeof said.why, "%s", hm_status_text(status));
    else if (f->format == FILM_MP4 && hm_file_descriptor(file) < 0)
        snprintf(said.why, sizeof said.why, "ffmpeg needs a file, not a pipe or device");
    else
        (f->format == FILM_SVG ? draw_svg : draw_pixels)(f, file, &said);
    hm_file_end end = !said.good         ? HM_FILE_END_DISCARD
                      : said.interrupted ? HM_FILE_END_KEEP
                                         : HM_FILE_END_COMPLETE;
    bool ended = !file || hm_file_finish(file, end) == HM_OK;
    const char *why = file && hm_file_error(file)[0] ? hm_file_error(file) : said.why;
    bool good = said.good && ended;
    int code = good ? EXIT_DONE : EXIT_FAILED;
    if (!good)
        say("hamel: cannot write '%s': %s\n", f->path, why);
    else if (said.interrupted)
        code = say_interrupted(f, &said, hm_file_path(file));
    hm_file_destroy(file);
    return code;
}

int film_write(film *f)
{
    return f->format == FILM_FRAMES ? write_frames(f) : write_file(f);
}
