/* Figures as files: SVG always, PNG where the command was built with cairo. */
#ifndef HAMEL_TOOL_FIGURE_FILE_H
#define HAMEL_TOOL_FIGURE_FILE_H

#include <hamel/plot.h>

/* false: no name that ends in .svg or .png, PNG is not in this build, or the folder cannot be written
 * to; a message was printed. */
bool figure_file_possible(const char *path);
/* Writes the figure under a temporary name and renames it; prints a message on failure. */
bool figure_file_write(const hm_figure *figure, const char *path);

/* Draws into a PNG file with `scale` pixels per unit. NULL, or what went wrong. */
const char *png_write(const hm_figure *figure, const char *path, double scale);
/* Is there cairo? */
extern const bool png_available;

#endif
