/* Growable strings, numbers as text, UTF-8, interned names, edit distance. */
#include "base/text.h"

#include <assert.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- locales ---- */

/* printf and strtod follow the locale of the process that hosts the library; models do not. */
static char decimal_point(void)
{
    const char *point = localeconv()->decimal_point;
    return point && point[0] ? point[0] : '.';
}

/* The C locale is a constant of the C library: nothing is allocated for it. */
int hmi_vsnprintf(char *buffer, size_t size, const char *format, va_list args)
{
    locale_t plain = decimal_point() == '.' ? (locale_t)0
                                            : newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return vsnprintf(buffer, size, format, args);
    locale_t before = uselocale(plain);
    int length = vsnprintf(buffer, size, format, args);
    uselocale(before);
    freelocale(plain);
    return length;
}

int hmi_snprintf(char *buffer, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = hmi_vsnprintf(buffer, size, format, args);
    va_end(args);
    return length;
}

/* ---- growable strings ---- */

void hmi_text_init(hmi_text *text, const hm_allocator *allocator)
{
    *text = (hmi_text){.allocator = allocator};
}

void hmi_text_release(hmi_text *text)
{
    hmi_free(text->allocator, text->data, text->capacity);
    text->data = NULL;
    text->length = text->capacity = 0;
}

static bool reserve(hmi_text *text, size_t extra)
{
    if (text->failed)
        return false;
    void *data = text->data;
    if (!hmi_array_grow(text->allocator, &data, &text->capacity, text->length, extra + 1, 1)) {
        text->failed = true;
        return false;
    }
    text->data = data;
    return true;
}

void hmi_text_add_bytes(hmi_text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    if (length)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void hmi_text_add(hmi_text *text, const char *string)
{
    hmi_text_add_bytes(text, string, strlen(string));
}

void hmi_text_addv(hmi_text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = hmi_vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0 || !reserve(text, (size_t)length))
        return;
    hmi_vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
    text->length += (size_t)length;
}

void hmi_text_addf(hmi_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hmi_text_addv(text, format, args);
    va_end(args);
}

const char *hmi_text_view(const hmi_text *text)
{
    return text->data ? text->data : "";
}

/* ---- numbers ---- */

double hmi_number_value(const char *digits, size_t length)
{
    char copy[512];
    if (length >= sizeof copy)
        return NAN;
    memcpy(copy, digits, length);
    copy[length] = '\0';
    char *point = memchr(copy, '.', length);
    if (point)
        *point = decimal_point();
    return strtod(copy, NULL);
}

const char *hmi_number_text(double value, char buffer[HMI_NUMBER_TEXT])
{
    /* 1e+06 is how C prints it; people write 1000000. */
    if (value == floor(value) && fabs(value) < 1e9) {
        snprintf(buffer, HMI_NUMBER_TEXT, "%.0f", value);
        return buffer;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buffer, HMI_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    char *point = strchr(buffer, decimal_point());
    if (point)
        *point = '.';
    return buffer;
}

bool hmi_is_near(double a, double b)
{
    return fabs(a - b) <= 2 * (nextafter(fabs(b), INFINITY) - fabs(b));
}

const char *hmi_number_for_reading(double value, char buffer[HMI_NUMBER_TEXT])
{
    for (int digits = 1; digits <= 12; digits++) {
        snprintf(buffer, HMI_NUMBER_TEXT, "%.*g", digits, value);
        double shorter = strtod(buffer, NULL);
        if (hmi_is_near(shorter, value))
            return hmi_number_text(shorter, buffer);
    }
    return hmi_number_text(value, buffer);
}

/* ---- UTF-8 ---- */

int hmi_utf8_decode(const char *text, size_t length, uint32_t *character)
{
    const unsigned char *s = (const unsigned char *)text;
    assert(length > 0);
    if (s[0] < 0x80) {
        *character = s[0];
        return 1;
    }
    int bytes = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (s[0] < 0xC2 || s[0] > 0xF4 || length < (size_t)bytes)
        return 0;
    uint32_t c = s[0] & (0xFFu >> (bytes + 1));
    for (int i = 1; i < bytes; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3F);
    }
    if (c < smallest[bytes] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    *character = c;
    return bytes;
}

/* ---- interned names ---- */

void hmi_names_init(hmi_names *names, const hm_allocator *allocator)
{
    *names = (hmi_names){.allocator = allocator};
    hmi_arena_init(&names->arena, allocator);
    hmi_hash_init(&names->table, allocator);
}

void hmi_names_release(hmi_names *names)
{
    hmi_arena_release(&names->arena);
    hmi_array_release(names->allocator, &names->text);
    hmi_hash_release(&names->table);
}

typedef struct wanted_text {
    const char *text;
    size_t length;
} wanted_text;

static bool same_text(const void *wanted, uint32_t number, const void *texts)
{
    const wanted_text *w = wanted;
    const char *name = ((const char *const *)texts)[number];
    return strlen(name) == w->length && memcmp(name, w->text, w->length) == 0;
}

static int find_name(const hmi_names *names, const char *text, size_t length, uint32_t hash)
{
    const wanted_text wanted = {text, length};
    uint32_t found = hmi_hash_find(&names->table, hash, same_text, &wanted, names->text.data);
    return found == HMI_HASH_NONE ? HMI_NO_NAME : (int)found;
}

int hmi_names_find(const hmi_names *names, const char *text, size_t length)
{
    return find_name(names, text, length, hmi_hash_bytes(text, length));
}

int hmi_names_intern(hmi_names *names, const char *text, size_t length)
{
    uint32_t hash = hmi_hash_bytes(text, length);
    int known = find_name(names, text, length, hash);
    if (known != HMI_NO_NAME)
        return known;
    const char *copy = hmi_arena_text(&names->arena, text, length);
    if (!copy || !hmi_array_push(names->allocator, &names->text, copy))
        return HMI_NO_NAME;
    if (!hmi_hash_add(&names->table, hash, (uint32_t)names->text.count - 1)) {
        names->text.count--;
        return HMI_NO_NAME;
    }
    return (int)names->text.count - 1;
}

const char *hmi_names_text(const hmi_names *names, int name)
{
    assert(name >= 0 && (size_t)name < names->text.count);
    return names->text.data[name];
}

/* ---- edit distance ---- */

enum { LONGEST_COMPARED = 48 };

/* Code points of a UTF-8 string that is known to be valid, at most LONGEST_COMPARED of them. */
static int code_points(const char *text, uint32_t *out)
{
    int count = 0;
    for (const unsigned char *s = (const unsigned char *)text; *s && count < LONGEST_COMPARED;) {
        uint32_t c = *s++;
        while ((*s & 0xC0) == 0x80)
            c = c << 6 | (*s++ & 0x3F);
        out[count++] = c;
    }
    return count;
}

static int min2(int a, int b)
{
    return a < b ? a : b;
}

/* Only where |i - j| <= most: farther from the diagonal more edits are needed than matter. */
int hmi_edit_distance(const char *a, const char *b, int most)
{
    uint32_t x[LONGEST_COMPARED], y[LONGEST_COMPARED];
    int m = code_points(a, x), n = code_points(b, y);
    int row[3][LONGEST_COMPARED + 2], least = 0;
    if (abs(m - n) > most)
        return most + 1;
    for (int j = 0; j <= n; j++)
        row[0][j] = j;
    for (int i = 1; i <= m && least <= most; i++) {
        int *above2 = row[(i + 1) % 3], *above = row[(i + 2) % 3], *here = row[i % 3];
        int first = i - most > 1 ? i - most : 1, last = min2(i + most, n);
        here[first - 1] = least = first == 1 ? i : most + 1;
        for (int j = first; j <= last; j++) {
            int change = above[j - 1] + (x[i - 1] != y[j - 1]);
            here[j] = min2(change, min2(above[j], here[j - 1]) + 1);
            if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
                here[j] = min2(here[j], above2[j - 2] + 1);
            least = min2(least, here[j]);
        }
        here[last + 1] = most + 1;
    }
    return least > most ? most + 1 : min2(row[m % 3][n], most + 1);
}
