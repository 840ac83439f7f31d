/* A canvas of pixels, drawn by cairo, which must have been loaded (png_check, raster_load). */
#ifndef HAMEL_TOOL_RASTER_H
#define HAMEL_TOOL_RASTER_H

#include <hamel/file.h>
#include <hamel/plot.h>

typedef struct raster raster;

/* NULL, or why cairo cannot be loaded. In a process that may crash where memory ends. */
const char *raster_load(void);
/* scale: pixels per unit. The size is that of what is drawn (hm_canvas.begin). NULL: no memory. */
raster *raster_create(double scale);
void raster_destroy(raster *r);
/* To draw on, again and again: each picture begins with a white page. */
const hm_canvas *raster_canvas(raster *r);
/* NULL, or what went wrong so far. */
const char *raster_error(const raster *r);
/* Pixels 0xRRGGBB of what was drawn, one row after the other; NULL: nothing was. */
const uint32_t *raster_pixels(raster *r, size_t *width, size_t *height);
/* As PNG. NULL, or what went wrong. */
const char *raster_write_png(raster *r, hm_file *file);

#endif
