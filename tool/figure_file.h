/* Figures as files: SVG always, PNG where the command was built with cairo. */
#ifndef HAMEL_TOOL_FIGURE_FILE_H
#define HAMEL_TOOL_FIGURE_FILE_H

#include "memory.h"

#include <hamel/file.h>
#include <hamel/plot.h>

/* false: no name that ends in .svg or .png, or PNG is not in this build; a message was printed. */
bool figure_file_possible(const char *path);
/* Writes the figure, whole or not at all; prints a message on failure. */
bool figure_file_write(const hm_figure *figure, const char *path);

/* NULL: there is cairo; else why not. It has to be asked before the first PNG. */
const char *png_missing(void);
/* Draws as PNG with `scale` pixels per unit. NULL, or what went wrong. */
const char *png_write(const hm_figure *figure, hm_file *file, double scale);

#endif
