/* Text that grows, and the ways in which text goes into a page. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

void text_add(report_text *text, const char *bytes, size_t length)
{
    if (text->failed)
        return;
    if (text->capacity - text->length < length + 1) {
        size_t capacity = 2 * (text->length + length) + 1024;
        char *grown = memory_resize(text->bytes, capacity);
        if (!grown) {
            text->failed = true;
            return;
        }
        text->bytes = grown;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_adds(report_text *text, const char *string)
{
    text_add(text, string, strlen(string));
}

void text_add_escaped(report_text *text, const char *string)
{
    for (; *string; string++)
        switch (*string) {
        case '&':
            text_adds(text, "&amp;");
            break;
        case '<':
            text_adds(text, "&lt;");
            break;
        case '>':
            text_adds(text, "&gt;");
            break;
        case '"':
            text_adds(text, "&quot;");
            break;
        default:
            text_add(text, string, 1);
        }
}

void text_add_json(report_text *text, const char *json, size_t length)
{
    size_t from = 0;
    for (size_t k = 0; k < length; k++) {
        const char *escape = json[k] == '<'   ? "\\u003c"
                             : json[k] == '>' ? "\\u003e"
                             : json[k] == '&' ? "\\u0026"
                                              : NULL;
        if (!escape)
            continue;
        text_add(text, json + from, k - from);
        text_adds(text, escape);
        from = k + 1;
    }
    text_add(text, json + from, length - from);
}

void text_free(report_text *text)
{
    free(text->bytes);
    *text = (report_text){0};
}
