/* Text: a growable string for building messages and output, and a table of interned names. */
#ifndef HMI_BASE_TEXT_H
#define HMI_BASE_TEXT_H

#include "base/hash.h"

#include <stdarg.h>

/* A growable string. After an allocation fails the text stays as it was and `failed` is set:
 * check it once, at the end. */
typedef struct hmi_text {
    const hm_allocator *allocator;
    char *data; /* NUL-terminated once anything was added; see hmi_text_view */
    size_t length, capacity;
    bool failed;
} hmi_text;

void hmi_text_init(hmi_text *text, const hm_allocator *allocator);
void hmi_text_release(hmi_text *text);
void hmi_text_add(hmi_text *text, const char *string);
void hmi_text_add_bytes(hmi_text *text, const char *bytes, size_t length);
void hmi_text_addf(hmi_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hmi_text_addv(hmi_text *text, const char *format, va_list args);
/* vsnprintf and snprintf with a decimal point, whatever the locale of the process that hosts the library. */
int hmi_vsnprintf(char *buffer, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
int hmi_snprintf(char *buffer, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The text so far, "" when empty; never NULL. */
const char *hmi_text_view(const hmi_text *text);

/* The shortest decimal form that reads back as the same double ("0.1", "3", "1e-12"). */
enum { HMI_NUMBER_TEXT = 40 };
const char *hmi_number_text(double value, char buffer[HMI_NUMBER_TEXT]);
/* The shortest decimal of up to 12 digits within 2 units in the last place, else the exact one: 0.3
 * for 0.1*3, as a person would write. */
const char *hmi_number_for_reading(double value, char buffer[HMI_NUMBER_TEXT]);
/* a within 2 units in the last place of b. */
bool hmi_is_near(double a, double b);
/* The value of decimal digits with an optional point and exponent, whatever the process's locale;
 * NaN when there are more than 500 characters. */
double hmi_number_value(const char *digits, size_t length);

/* Decodes one character of text[0..length), length > 0. Returns its bytes, 0 where the bytes are
 * not valid UTF-8 (overlong forms and surrogates included). */
int hmi_utf8_decode(const char *text, size_t length, uint32_t *character);

/* Interned names: equal strings get equal small numbers, from 0. */
typedef struct hmi_names {
    const hm_allocator *allocator;
    hmi_arena arena;
    HMI_ARRAY(const char *) text;
    hmi_hash table; /* from the hash of a text to its name */
} hmi_names;

enum { HMI_NO_NAME = -1 };

void hmi_names_init(hmi_names *names, const hm_allocator *allocator);
void hmi_names_release(hmi_names *names);
/* HMI_NO_NAME when there is no memory. */
int hmi_names_intern(hmi_names *names, const char *text, size_t length);
/* HMI_NO_NAME when it was never interned. */
int hmi_names_find(const hmi_names *names, const char *text, size_t length);
const char *hmi_names_text(const hmi_names *names, int name);

/* Damerau-Levenshtein distance in code points, cut off at `most` + 1. */
int hmi_edit_distance(const char *a, const char *b, int most);

#endif
