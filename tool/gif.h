/* Animated GIF [CompuServe, GIF89a, 1990]: one table of colours for all frames; of each frame only the
 * rectangle that changed is written, and what did not change inside of it is transparent. Frames are
 * written as they come. */
#ifndef HAMEL_TOOL_GIF_H
#define HAMEL_TOOL_GIF_H

#include <hamel/file.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- colours (palette.c) ---- */

enum { PALETTE_SIZE = 255, PALETTE_CLEAR = 255 }; /* the last index is the transparent one */

typedef struct palette palette;

/* NULL: no memory. */
palette *palette_create(void);
void palette_destroy(palette *p);
/* Counts colours 0xRRGGBB of a frame, then chooses PALETTE_SIZE that are closest to them all. */
void palette_count(palette *p, const uint32_t *pixels, size_t count);
bool palette_choose(palette *p);
uint32_t palette_color(const palette *p, size_t index);
/* The index of the closest one. */
uint8_t palette_index(palette *p, uint32_t color);

/* ---- frames (gif.c) ---- */

typedef struct gif gif;

/* The palette must have been chosen and outlive the gif. NULL: no memory. */
gif *gif_create(hm_file *file, size_t width, size_t height, palette *colors);
/* width x height pixels 0xRRGGBB, shown for so many hundredths of a second. */
bool gif_add(gif *g, const uint32_t *pixels, unsigned hundredths);
bool gif_finish(gif *g);
void gif_destroy(gif *g);

#endif
