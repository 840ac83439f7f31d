/* Writes a figure to a file as SVG or PNG, whole or not at all. */
#include "command.h"
#include "figure_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

static bool has_extension(const char *path, const char *extension)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, extension) == 0;
}

int figure_file_check(const char *path)
{
    if (has_extension(path, ".svg"))
        return EXIT_DONE;
    if (!has_extension(path, ".png"))
        return usage_error("the name of a plot must end in .svg or .png, not '%s'", path);
    return png_check();
}

static bool write_bytes(void *user, const char *bytes, size_t length)
{
    return hm_file_write(user, bytes, length) == HM_OK;
}

static const char *write_svg(const hm_figure *figure, hm_file *file)
{
    hm_status status = hm_figure_svg(figure, write_bytes, file);
    return status == HM_OK ? NULL : hm_status_text(status);
}

/* ---- PNG ---- */

/* Cairo and the libraries below it crash where memory ends. They draw in a process of their own, which
 * writes into the file that both have open. */
static void draw_and_exit(const hm_figure *figure, hm_file *file, int report)
{
    const char *error = png_write(figure, file, 2);
    if (hm_file_flush(file) != HM_OK)
        error = hm_file_error(file); /* the cause, not that cairo could not write */
    if (error)
        (void)!write(report, error, strlen(error));
    _exit(error != NULL);
}

/* What the process said, once it has ended; what it ended by, where it said nothing. */
static const char *wait_for_drawing(pid_t process, int said, char text[128])
{
    ssize_t length = read(said, text, 127);
    int status = 0;
    text[length > 0 ? length : 0] = '\0';
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return NULL;
    return text[0] ? text : "drawing failed, probably for want of memory";
}

static const char *write_png(const hm_figure *figure, hm_file *file, char text[128])
{
    int ends[2];
    if (hm_file_flush(file) != HM_OK || pipe(ends) != 0)
        return strerror(errno);
    fflush(NULL);
    pid_t process = fork();
    if (process == 0)
        draw_and_exit(figure, file, ends[1]);
    close(ends[1]);
    const char *error = process < 0 ? strerror(errno) : wait_for_drawing(process, ends[0], text);
    close(ends[0]);
    return error;
}

/* ---- either ---- */

bool figure_file_write(const hm_figure *figure, const char *path)
{
    char text[128];
    hm_file *file = NULL;
    hm_status status = hm_file_create(memory_allocator(), path, &file);
    const char *error = status == HM_OK ? NULL : hm_status_text(status);
    if (!error)
        error = has_extension(path, ".png") ? write_png(figure, file, text)
                                            : write_svg(figure, file);
    if (file && hm_file_finish(file, error ? HM_FILE_END_DISCARD : HM_FILE_END_COMPLETE) != HM_OK &&
        !error)
        error = hm_status_text(HM_ERR_IO);
    if (error && file && hm_file_error(file)[0])
        error = hm_file_error(file); /* the cause, not that something failed */
    if (error)
        say("hamel: cannot write '%s': %s\n", path, error);
    hm_file_destroy(file);
    return !error;
}
