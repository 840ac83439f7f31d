/* GIF89a: the blocks of the file, and its compression [Welch 1984]. */
#include "gif.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { CLEAR = 256, END = 257, CODES = 4096, SLOTS = 1 << 14 };

struct gif {
    hm_file *file;
    size_t width, height;
    palette *colors;
    uint8_t *last, *next; /* indices of the frame before, and of this one */
    bool started, failed;
    /* The dictionary: (prefix, index) -> code, by open addressing. */
    uint32_t key[SLOTS];
    uint16_t code[SLOTS];
    unsigned codes, bits;
    /* Bits that make no whole byte yet, and bytes that make no whole block. */
    uint32_t pending;
    unsigned pending_bits;
    uint8_t block[256]; /* its length, then up to 255 bytes */
};

gif *gif_create(hm_file *file, size_t width, size_t height, palette *colors)
{
    gif *g = memory_new(1, sizeof *g);
    if (!g)
        return NULL;
    *g = (gif){.file = file, .width = width, .height = height, .colors = colors};
    g->last = memory_new(width, height);
    g->next = memory_new(width, height);
    if (g->last && g->next)
        return g;
    gif_destroy(g);
    return NULL;
}

void gif_destroy(gif *g)
{
    if (!g)
        return;
    free(g->last);
    free(g->next);
    free(g);
}

static void put(gif *g, const void *bytes, size_t length)
{
    if (!g->failed)
        g->failed = hm_file_write(g->file, bytes, length) != HM_OK;
}

static void put_byte(gif *g, unsigned byte)
{
    uint8_t b = (uint8_t)byte;
    put(g, &b, 1);
}

static void put_short(gif *g, size_t value)
{
    put_byte(g, value & 255);
    put_byte(g, value >> 8 & 255);
}

/* ---- compression ---- */

static void flush_block(gif *g)
{
    if (g->block[0])
        put(g, g->block, (size_t)g->block[0] + 1);
    g->block[0] = 0;
}

static void put_code(gif *g, unsigned code)
{
    g->pending |= (uint32_t)code << g->pending_bits;
    g->pending_bits += g->bits;
    while (g->pending_bits >= 8) {
        g->block[++g->block[0]] = (uint8_t)(g->pending & 255);
        if (g->block[0] == 255)
            flush_block(g);
        g->pending >>= 8;
        g->pending_bits -= 8;
    }
}

static void reset_codes(gif *g)
{
    memset(g->key, 0, sizeof g->key);
    g->codes = END + 1;
    g->bits = 9;
}

/* Where (prefix, index) is, or would be. Keys are never 0. */
static size_t slot_of(const gif *g, unsigned prefix, unsigned index)
{
    uint32_t key = (uint32_t)prefix << 8 | index;
    size_t slot = (key * 2654435761u) >> 18;
    while (g->key[slot] && g->key[slot] != key + 1)
        slot = (slot + 1) % SLOTS;
    return slot;
}

/* One more string: prefix with index after it. Where the codes are used up they begin anew. */
static void learn(gif *g, size_t slot, unsigned prefix, unsigned index)
{
    if (g->codes < CODES) {
        g->key[slot] = ((uint32_t)prefix << 8 | index) + 1;
        g->code[slot] = (uint16_t)g->codes;
        if (g->codes == 1u << g->bits && g->bits < 12)
            g->bits++;
        g->codes++;
        return;
    }
    put_code(g, CLEAR);
    reset_codes(g);
}

static void compress(gif *g, const uint8_t *indices, size_t count)
{
    put_byte(g, 8);
    reset_codes(g);
    g->pending = g->pending_bits = 0;
    put_code(g, CLEAR);
    unsigned prefix = indices[0];
    for (size_t k = 1; k < count; k++) {
        size_t slot = slot_of(g, prefix, indices[k]);
        if (g->key[slot]) {
            prefix = g->code[slot];
            continue;
        }
        put_code(g, prefix);
        learn(g, slot, prefix, indices[k]);
        prefix = indices[k];
    }
    put_code(g, prefix);
    if (g->codes == 1u << g->bits && g->bits < 12) /* the reader has learnt one more by now */
        g->bits++;
    put_code(g, END);
    if (g->pending_bits) {
        g->block[++g->block[0]] = (uint8_t)(g->pending & 255);
    }
    flush_block(g);
    put_byte(g, 0);
}

/* ---- blocks ---- */

/* The screen, its colours, and that the film repeats for ever. */
static void put_header(gif *g)
{
    put(g, "GIF89a", 6);
    put_short(g, g->width);
    put_short(g, g->height);
    put(g, "\xf7\0\0", 3);
    for (size_t k = 0; k < 256; k++) {
        uint32_t color = palette_color(g->colors, k);
        put_byte(g, color >> 16 & 255);
        put_byte(g, color >> 8 & 255);
        put_byte(g, color & 255);
    }
    put(g, "\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19);
}

typedef struct region {
    size_t left, top, right, bottom; /* right and bottom are outside */
} region;

/* What differs from the frame before; a pixel where nothing does. */
static region changed(const gif *g)
{
    region r = {g->width, g->height, 0, 0};
    for (size_t y = 0; y < g->height; y++)
        for (size_t x = 0; x < g->width; x++)
            if (g->last[y * g->width + x] != g->next[y * g->width + x]) {
                r.left = x < r.left ? x : r.left;
                r.right = x + 1 > r.right ? x + 1 : r.right;
                r.top = y < r.top ? y : r.top;
                r.bottom = y + 1;
            }
    return r.right ? r : (region){0, 0, 1, 1};
}

/* The region's indices at the beginning of `last`, which is read as far as it is overwritten. */
static size_t gather(gif *g, region r, bool clear)
{
    size_t count = 0;
    for (size_t y = r.top; y < r.bottom; y++)
        for (size_t x = r.left; x < r.right; x++) {
            size_t at = y * g->width + x;
            bool same = clear && g->last[at] == g->next[at];
            g->last[count++] = same ? PALETTE_CLEAR : g->next[at];
        }
    return count;
}

static void put_frame(gif *g, region r, unsigned hundredths, bool clear)
{
    put(g, "\x21\xf9\x04", 3);
    put_byte(g, 1 << 2 | clear); /* the frame stays where the next one is transparent */
    put_short(g, hundredths);
    put_byte(g, PALETTE_CLEAR);
    put_byte(g, 0);
    put_byte(g, 0x2c);
    put_short(g, r.left);
    put_short(g, r.top);
    put_short(g, r.right - r.left);
    put_short(g, r.bottom - r.top);
    put_byte(g, 0);
    size_t count = gather(g, r, clear);
    compress(g, g->last, count);
}

bool gif_add(gif *g, const uint32_t *pixels, unsigned hundredths)
{
    for (size_t k = 0; k < g->width * g->height; k++)
        g->next[k] = palette_index(g->colors, pixels[k] & 0xffffff);
    region all = {0, 0, g->width, g->height};
    if (!g->started)
        put_header(g);
    put_frame(g, g->started ? changed(g) : all, hundredths, g->started);
    g->started = true;
    uint8_t *swap = g->last;
    g->last = g->next;
    g->next = swap;
    return !g->failed;
}

bool gif_finish(gif *g)
{
    put_byte(g, 0x3b);
    return !g->failed;
}
