/* How wide text is, without a font at hand: advances of DejaVu Sans, the widest face in common use,
 * in hundredths of the size. Verified: test/unit/output/test_svg.c */
#include "base/text.h"
#include "output/plot/plot.h"

#include <string.h>

/* clang-format off */
static const unsigned char advance[] = { /* from ' ' to '~' */
    32, 40, 46, 84, 64, 95, 78, 28, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 78, 75, 30, 30, 66, 56, 86, 75, 79,
    60, 79, 70, 64, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 64, 55, 64, 62, 35, 64,
    63, 28, 28, 58, 28, 97, 63, 61, 64, 64, 41, 52, 39, 63, 59, 82, 59, 59, 53, 64, 34, 64, 84,
};
/* clang-format on */

static double advance_of(uint32_t c)
{
    if (c >= ' ' && c <= '~')
        return advance[c - ' '] / 100.0;
    if (c >= 0x2070 && c <= 0x209C) /* superscripts and subscripts */
        return 0.45;
    if (c == 0xB9 || c == 0xB2 || c == 0xB3)
        return 0.41;
    return c >= 0x2E80 ? 1 : 0.84;
}

double hmi_text_width(const char *utf8, double size, bool bold)
{
    double width = 0;
    size_t length = strlen(utf8);
    while (length > 0) {
        uint32_t c = '?';
        int bytes = hmi_utf8_decode(utf8, length, &c);
        if (bytes < 1)
            bytes = 1;
        width += advance_of(c);
        utf8 += bytes;
        length -= (size_t)bytes;
    }
    return width * size * (bold ? 1.1 : 1);
}
