/* Writes a figure to a file as SVG or PNG, whole or not at all. */
#include "figure_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_extension(const char *path, const char *extension)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, extension) == 0;
}

static bool format_possible(const char *path)
{
    if (has_extension(path, ".svg"))
        return true;
    if (!has_extension(path, ".png")) {
        fprintf(stderr, "hamel: the name of a plot must end in .svg or .png, not '%s'\n", path);
        return false;
    }
    if (!png_available)
        fprintf(stderr, "hamel: this build of hamel has no cairo and cannot write PNG; use a name "
                        "that ends in .svg\n");
    return png_available;
}

/* Can a file be made in the folder? Known before a long run, not after it. */
static bool folder_possible(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return true;
    char *folder = strndup(path, (size_t)(slash - path));
    bool good = !folder || access(folder, W_OK) == 0;
    if (!good)
        fprintf(stderr, "hamel: cannot write '%s': %s\n", path, strerror(errno));
    free(folder);
    return good;
}

bool figure_file_possible(const char *path)
{
    return format_possible(path) && folder_possible(path);
}

static bool write_bytes(void *user, const char *bytes, size_t length)
{
    return fwrite(bytes, 1, length, user) == length;
}

/* NULL, or what went wrong. */
static const char *write_svg(const hm_figure *figure, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return strerror(errno);
    errno = 0;
    hm_status status = hm_figure_svg(figure, write_bytes, file);
    int error = errno;
    bool closed = fclose(file) == 0;
    if (status == HM_OK && closed)
        return NULL;
    if (status != HM_OK && status != HM_ERR_IO)
        return hm_status_text(status);
    error = error ? error : errno;
    return error ? strerror(error) : hm_status_text(HM_ERR_IO);
}

static const char *write_either(const hm_figure *figure, const char *path, bool png)
{
    return png ? png_write(figure, path, 2) : write_svg(figure, path);
}

/* A file under its own name is whole; devices, which cannot be replaced, are written in place. */
static const char *write_whole(const hm_figure *figure, const char *path, bool png)
{
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return write_either(figure, path, png);
    size_t size = strlen(path) + sizeof ".partial";
    char *partial = malloc(size);
    if (!partial)
        return hm_status_text(HM_ERR_NOMEM);
    snprintf(partial, size, "%s.partial", path);
    const char *error = write_either(figure, partial, png);
    if (!error && rename(partial, path) != 0)
        error = strerror(errno);
    if (error)
        unlink(partial);
    free(partial);
    return error;
}

bool figure_file_write(const hm_figure *figure, const char *path)
{
    const char *error = write_whole(figure, path, has_extension(path, ".png"));
    if (error)
        fprintf(stderr, "hamel: cannot write '%s': %s\n", path, error);
    return !error;
}
