/* Figures as files: SVG always, PNG where the command was built with cairo. */
#ifndef HAMEL_TOOL_FIGURE_FILE_H
#define HAMEL_TOOL_FIGURE_FILE_H

#include "memory.h"

#include <hamel/file.h>
#include <hamel/plot.h>

/* An exit status; where it is not EXIT_DONE, a message was printed: EXIT_BAD_INPUT, no name that ends in .svg or
 * .png, or PNG is not in this build, EXIT_FAILED, cairo cannot be loaded. */
int figure_file_check(const char *path);
/* Writes the figure, whole or not at all; prints a message on failure. */
bool figure_file_write(const hm_figure *figure, const char *path);

/* An exit status, as above. To be asked before the first PNG. */
int png_check(void);
/* Draws as PNG with `scale` pixels per unit. NULL, or what went wrong. */
const char *png_write(const hm_figure *figure, hm_file *file, double scale);

#endif
