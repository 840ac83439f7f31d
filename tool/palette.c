/* The colours of a GIF. Colours are counted in cells of 6 bits a channel. The commonest cells keep a
 * colour of their own, so that plain areas stay plain; the others are divided by the median cut
 * [Heckbert 1982]: the box with the largest spread is halved until there are enough. */
#include "gif.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 6, CELLS = 1 << (3 * BITS), COMMON = 96, UNKNOWN = 0xffff };

typedef struct cell {
    uint64_t count, sum[3]; /* of the pixels in it */
} cell;

struct palette {
    cell *cells;    /* CELLS */
    uint32_t *used; /* cells with pixels */
    size_t used_count;
    uint16_t *nearest; /* by cell: the index, or UNKNOWN */
    uint32_t color[PALETTE_SIZE];
    size_t count;
};

static size_t cell_of(uint32_t color)
{
    return (size_t)(color >> 18 & 63) << 12 | (color >> 10 & 63) << 6 | (color >> 2 & 63);
}

palette *palette_create(void)
{
    palette *p = memory_new(1, sizeof *p);
    if (!p)
        return NULL;
    p->cells = memory_new(CELLS, sizeof *p->cells);
    p->nearest = memory_new(CELLS, sizeof *p->nearest);
    if (p->cells && p->nearest)
        return p;
    palette_destroy(p);
    return NULL;
}

void palette_destroy(palette *p)
{
    if (!p)
        return;
    free(p->cells);
    free(p->used);
    free(p->nearest);
    free(p);
}

void palette_count(palette *p, const uint32_t *pixels, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        cell *c = &p->cells[cell_of(pixels[k])];
        c->count++;
        for (int channel = 0; channel < 3; channel++)
            c->sum[channel] += pixels[k] >> (16 - 8 * channel) & 255;
    }
}

/* ---- choosing ---- */

typedef struct box {
    size_t first, count; /* of the list of used cells */
    double spread;       /* the largest over its channels */
    int channel;
} box;

static double mean(const cell *c, int channel)
{
    return (double)c->sum[channel] / (double)c->count;
}

static void measure(const palette *p, box *b)
{
    b->spread = -1;
    for (int channel = 0; channel < 3; channel++) {
        double weight = 0, sum = 0, squares = 0;
        for (size_t k = 0; k < b->count; k++) {
            const cell *c = &p->cells[p->used[b->first + k]];
            double x = mean(c, channel), n = (double)c->count;
            weight += n;
            sum += n * x;
            squares += n * x * x;
        }
        double spread = b->count > 1 ? squares - sum * sum / weight : 0;
        if (spread > b->spread) {
            b->spread = spread;
            b->channel = channel;
        }
    }
}

static unsigned level(uint32_t where, int channel)
{
    return where >> (12 - 6 * channel) & 63;
}

static int sort_channel(const void *a, const void *b, int channel)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    unsigned lx = level(x, channel), ly = level(y, channel);
    return lx != ly ? (lx < ly ? -1 : 1) : (x > y) - (x < y);
}

static int by_red(const void *a, const void *b)
{
    return sort_channel(a, b, 0);
}

static int by_green(const void *a, const void *b)
{
    return sort_channel(a, b, 1);
}

static int by_blue(const void *a, const void *b)
{
    return sort_channel(a, b, 2);
}

/* Halves of about equally many pixels. */
static box split(palette *p, box *b)
{
    static int (*const order[])(const void *, const void *) = {by_red, by_green, by_blue};
    qsort(p->used + b->first, b->count, sizeof *p->used, order[b->channel]);
    uint64_t all = 0, before = 0;
    for (size_t k = 0; k < b->count; k++)
        all += p->cells[p->used[b->first + k]].count;
    size_t at = 0;
    while (at + 2 < b->count && 2 * (before + p->cells[p->used[b->first + at]].count) < all)
        before += p->cells[p->used[b->first + at++]].count;
    box rest = {.first = b->first + at + 1, .count = b->count - at - 1};
    b->count = at + 1;
    measure(p, b);
    measure(p, &rest);
    return rest;
}

static void add_mean(palette *p, const box *b)
{
    uint64_t count = 0, sum[3] = {0};
    for (size_t k = 0; k < b->count; k++) {
        const cell *c = &p->cells[p->used[b->first + k]];
        count += c->count;
        for (int channel = 0; channel < 3; channel++)
            sum[channel] += c->sum[channel];
    }
    uint32_t color = 0;
    for (int channel = 0; channel < 3; channel++)
        color = color << 8 | (uint32_t)((sum[channel] + count / 2) / count);
    p->color[p->count++] = color;
}

static void cut(palette *p, size_t first)
{
    box boxes[PALETTE_SIZE] = {{.first = first, .count = p->used_count - first}};
    size_t count = boxes[0].count > 0, most = PALETTE_SIZE - p->count;
    if (count)
        measure(p, &boxes[0]);
    while (count && count < most) {
        size_t widest = 0;
        for (size_t k = 1; k < count; k++)
            if (boxes[k].spread > boxes[widest].spread)
                widest = k;
        if (!(boxes[widest].spread > 0))
            break;
        boxes[count] = split(p, &boxes[widest]);
        count++;
    }
    for (size_t k = 0; k < count; k++)
        add_mean(p, &boxes[k]);
}

/* Moves the commonest cell of the rest to the front of it. */
static void bring_commonest(palette *p, size_t front)
{
    size_t best = front;
    for (size_t k = front + 1; k < p->used_count; k++)
        if (p->cells[p->used[k]].count > p->cells[p->used[best]].count)
            best = k;
    uint32_t kept = p->used[front];
    p->used[front] = p->used[best];
    p->used[best] = kept;
}

bool palette_choose(palette *p)
{
    for (size_t k = 0; k < CELLS; k++)
        p->used_count += p->cells[k].count > 0;
    p->used = memory_new(p->used_count + 1, sizeof *p->used);
    if (!p->used)
        return false;
    size_t at = 0;
    for (uint32_t k = 0; k < CELLS; k++) {
        if (p->cells[k].count > 0)
            p->used[at++] = k;
        p->nearest[k] = UNKNOWN;
    }
    size_t common = p->used_count < COMMON ? p->used_count : COMMON;
    for (size_t k = 0; k < common; k++) {
        bring_commonest(p, k);
        add_mean(p, &(box){.first = k, .count = 1});
    }
    cut(p, common);
    return true;
}

uint32_t palette_color(const palette *p, size_t index)
{
    return index < p->count ? p->color[index] : 0;
}

uint8_t palette_index(palette *p, uint32_t color)
{
    size_t where = cell_of(color), best = 0;
    long least = 1L << 30;
    if (p->nearest[where] != UNKNOWN)
        return (uint8_t)p->nearest[where];
    for (size_t k = 0; k < p->count; k++) {
        long distance = 0;
        for (int shift = 0; shift < 24; shift += 8) {
            /* the middle of the cell, so that the answer does not depend on who asked first */
            long d = (long)((color >> shift & 0xfc) + 2) - (long)(p->color[k] >> shift & 255);
            distance += d * d;
        }
        if (distance < least) {
            least = distance;
            best = k;
        }
    }
    p->nearest[where] = (uint16_t)best;
    return (uint8_t)best;
}
