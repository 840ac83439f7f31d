/* Writes a figure to a file as SVG or PNG, whole or not at all. */
#include "figure_file.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool has_extension(const char *path, const char *extension)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, extension) == 0;
}

bool figure_file_possible(const char *path)
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

static bool write_bytes(void *user, const char *bytes, size_t length)
{
    return hm_file_write(user, bytes, length) == HM_OK;
}

static const char *write_svg(const hm_figure *figure, hm_file *file)
{
    hm_status status = hm_figure_svg(figure, write_bytes, file);
    return status == HM_OK ? NULL : hm_status_text(status);
}

bool figure_file_write(const hm_figure *figure, const char *path)
{
    hm_file *file = NULL;
    hm_status status = hm_file_create(NULL, path, &file);
    const char *error = status == HM_OK ? NULL : hm_status_text(status);
    if (!error)
        error = has_extension(path, ".png") ? png_write(figure, file, 2) : write_svg(figure, file);
    if (file && hm_file_finish(file, error ? HM_FILE_END_DISCARD : HM_FILE_END_COMPLETE) != HM_OK &&
        !error)
        error = hm_status_text(HM_ERR_IO);
    if (error && file && hm_file_error(file)[0])
        error = hm_file_error(file); /* the cause, not that something failed */
    if (error)
        fprintf(stderr, "hamel: cannot write '%s': %s\n", path, error);
    hm_file_destroy(file);
    return !error;
}
