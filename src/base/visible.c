/* Shows what cannot be seen. Verified: test/unit/base/test_visible.c, test/fault/hostile_names.sh */
#include "base/visible.h"

#include <hamel/base.h>

#include <stdio.h>
#include <string.h>

typedef struct range {
    uint32_t first, last;
} range;

/* Unicode 15: Cc, Cf, Zl, Zp and default ignorable code points, but for variation selectors, which belong to
 * the character before them. */
static const range hidden[] = {
    {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
    {0x600, 0x605},     {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
    {0x890, 0x891},     {0x8E2, 0x8E2},     {0x115F, 0x1160},   {0x17B4, 0x17B5},
    {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
    {0x3164, 0x3164},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
    {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F},
    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

bool hm_character_hidden(uint32_t character)
{
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (character >= hidden[i].first && character <= hidden[i].last)
            return true;
    return false;
}

enum { LONGEST_ESCAPE = 16 };

/* One character as it is shown; *bytes: how many it takes of the text. */
static int show_one(const char *text, size_t length, char shown[LONGEST_ESCAPE], size_t *bytes)
{
    uint32_t character = 0;
    int known = hmi_utf8_decode(text, length, &character);
    *bytes = known ? (size_t)known : 1;
    if (!known)
        return snprintf(shown, LONGEST_ESCAPE, "\\x%02X", (unsigned char)*text);
    if (hm_character_hidden(character))
        return snprintf(shown, LONGEST_ESCAPE, "\\u{%X}", (unsigned)character);
    memcpy(shown, text, *bytes);
    return known;
}

bool hmi_text_is_hidden(const char *text, size_t length)
{
    size_t bytes = 1;
    for (size_t i = 0; i < length; i += bytes) {
        uint32_t character = (unsigned char)text[i];
        bytes = 1;
        if (character >= ' ' && character < 0x7F) /* nearly always */
            continue;
        bytes = (size_t)hmi_utf8_decode(text + i, length - i, &character);
        if (bytes == 0 || hm_character_hidden(character))
            return true;
    }
    return false;
}

void hmi_text_add_shown(hmi_text *out, const char *text, size_t length)
{
    char shown[LONGEST_ESCAPE];
    size_t bytes;
    for (size_t i = 0; i < length; i += bytes) {
        int count = show_one(text + i, length - i, shown, &bytes);
        hmi_text_add_bytes(out, shown, (size_t)count);
    }
}

size_t hm_text_show(const char *text, char *buffer, size_t size)
{
    size_t length = text ? strlen(text) : 0, need = 0, written = 0, bytes;
    char shown[LONGEST_ESCAPE];
    for (size_t i = 0; i < length; i += bytes) {
        size_t count = (size_t)show_one(text + i, length - i, shown, &bytes);
        if (buffer && written == need && need + count < size) { /* never half a character */
            memcpy(buffer + need, shown, count);
            written += count;
        }
        need += count;
    }
    if (buffer && size)
        buffer[written] = '\0';
    return need;
}

char *hmi_arena_shown(hmi_arena *arena, const char *text, size_t length)
{
    if (!hmi_text_is_hidden(text, length))
        return hmi_arena_text(arena, text, length);
    char *copy = hmi_arena_alloc(arena, LONGEST_ESCAPE * length + 1), *to = copy;
    size_t bytes;
    for (size_t i = 0; copy && i < length; i += bytes)
        to += show_one(text + i, length - i, to, &bytes);
    return copy;
}
