/* MP4 by ffmpeg, a process that reads the pictures from a pipe and writes the file. */
#include "animate.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* As execvp looks for it. */
bool movie_possible(void)
{
    const char *path = getenv("PATH");
    char name[PATH_MAX];
    while (path && *path) {
        size_t length = strcspn(path, ":");
        int written = snprintf(name, sizeof name, "%.*s/ffmpeg", (int)length, path);
        if (written > 0 && (size_t)written < sizeof name && access(name, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

/* One thread and no dates: the same pictures give the same bytes. */
static void become_ffmpeg(int from, const char *path, size_t width, size_t height, double fps)
{
    char size[40], rate[40], out[PATH_MAX + 8];
    snprintf(size, sizeof size, "%zux%zu", width, height);
    snprintf(rate, sizeof rate, "%.6f", fps);
    snprintf(out, sizeof out, "file:%s", path);
    char *const words[] = {
        "ffmpeg",   "-nostdin",  "-loglevel", "error",     "-y",         "-f",      "rawvideo",
        "-pix_fmt", "rgb24",     "-s",        size,        "-r",         rate,      "-i",
        "pipe:0",   "-an",       "-c:v",      "libx264",   "-threads",   "1",       "-pix_fmt",
        "yuv420p",  "-crf",      "18",        "-movflags", "+faststart", "-fflags", "+bitexact",
        "-flags:v", "+bitexact", "-f",        "mp4",       out,          NULL};
    setpgid(0, 0); /* Ctrl-C ends it by the end of its input */
    if (dup2(from, STDIN_FILENO) >= 0)
        execvp("ffmpeg", words);
    _exit(127);
}

const char *movie_start(movie *m, const char *path, size_t width, size_t height, double fps)
{
    int ends[2];
    *m = (movie){.to = -1, .width = width, .height = height};
    m->line = memory_new(3, width);
    if (!m->line)
        return hm_status_text(HM_ERR_NOMEM);
    if (pipe(ends) != 0)
        return strerror(errno);
    signal(SIGPIPE, SIG_IGN); /* an ffmpeg that has gone is an error of writing */
    m->process = fork();
    if (m->process == 0) {
        close(ends[1]);
        become_ffmpeg(ends[0], path, width, height, fps);
    }
    close(ends[0]);
    m->to = ends[1];
    return m->process > 0 ? NULL : strerror(errno);
}

static bool send_all(int to, const uint8_t *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = write(to, bytes, length);
        if (sent < 0 && errno != EINTR)
            return false;
        if (sent > 0) {
            bytes += sent;
            length -= (size_t)sent;
        }
    }
    return true;
}

const char *movie_add(movie *m, const uint32_t *pixels)
{
    for (size_t y = 0; y < m->height; y++) {
        for (size_t x = 0; x < m->width; x++) {
            uint32_t color = pixels[y * m->width + x];
            m->line[3 * x] = (uint8_t)(color >> 16);
            m->line[3 * x + 1] = (uint8_t)(color >> 8);
            m->line[3 * x + 2] = (uint8_t)color;
        }
        if (!send_all(m->to, m->line, 3 * m->width))
            return "ffmpeg stopped";
    }
    return NULL;
}

const char *movie_finish(movie *m)
{
    int status = 0;
    free(m->line);
    if (m->to >= 0)
        close(m->to);
    if (m->process <= 0)
        return "ffmpeg did not start";
    while (waitpid(m->process, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? NULL : "ffmpeg failed";
}
