/* Positions in a text as the protocol counts them, and paths as it writes them.
 *
 * Lines end with \n, \r\n or \r in the protocol; diagnostics of Hamel count \n alone. Both meet in bytes. */
#include "lsp.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- characters ---- */

/* Bytes of the character at `at`, which is one byte where that is no UTF-8. */
static size_t character_size(const lsp_text *text, size_t at)
{
    unsigned char first = (unsigned char)text->bytes[at];
    size_t size = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    for (size_t k = 1; k < size; k++)
        if (at + k >= text->length || ((unsigned char)text->bytes[at + k] & 0xC0) != 0x80)
            return 1;
    return size;
}

/* What a character of so many bytes counts in the encoding of the client. */
static size_t character_units(const lsp_text *text, size_t size)
{
    return text->encoding == LSP_UTF8 ? size : text->encoding == LSP_UTF16 && size == 4 ? 2 : 1;
}

/* Bytes of the end of a line at `at`; 0: none. */
static size_t line_end_size(const lsp_text *text, size_t at)
{
    if (at >= text->length)
        return 0;
    if (text->bytes[at] == '\r')
        return at + 1 < text->length && text->bytes[at + 1] == '\n' ? 2 : 1;
    return text->bytes[at] == '\n';
}

/* ---- positions ---- */

json_t *lsp_position(const lsp_text *text, size_t offset)
{
    json_int_t line = 0, character = 0;
    if (offset > text->length)
        offset = text->length;
    for (size_t at = 0; at < offset;) {
        size_t end = line_end_size(text, at);
        if (end > 0 && at + end <= offset) {
            line++;
            character = 0;
            at += end;
        } else if (end > 0) {
            break; /* between \r and \n: still on the line */
        } else {
            size_t size = character_size(text, at);
            character += (json_int_t)character_units(text, size);
            at += size;
        }
    }
    return json_pack("{s:I, s:I}", "line", line, "character", character);
}

json_t *lsp_range(const lsp_text *text, size_t start, size_t end)
{
    return json_pack("{s:o, s:o}", "start", lsp_position(text, start), "end",
                     lsp_position(text, end));
}

bool lsp_offset(const lsp_text *text, const json_t *position, size_t *offset)
{
    const json_t *line = json_object_get(position, "line");
    const json_t *character = json_object_get(position, "character");
    if (!json_is_integer(line) || !json_is_integer(character) || json_integer_value(line) < 0 ||
        json_integer_value(character) < 0)
        return false;
    size_t at = 0;
    for (json_int_t k = json_integer_value(line); k > 0 && at < text->length;) {
        size_t end = line_end_size(text, at);
        at += end > 0 ? end : 1;
        k -= end > 0;
    }
    json_int_t left = json_integer_value(character);
    while (left > 0 && at < text->length && line_end_size(text, at) == 0) {
        size_t size = character_size(text, at);
        left -= (json_int_t)character_units(text, size);
        at += size;
    }
    *offset = at;
    return true;
}

size_t lsp_forward(const lsp_text *text, size_t offset, int characters)
{
    for (; characters > 0 && offset < text->length && line_end_size(text, offset) == 0;
         characters--)
        offset += character_size(text, offset);
    return offset;
}

size_t lsp_place(const lsp_text *text, int line, int column)
{
    size_t at = 0;
    for (int k = 1; k < line && at < text->length; at++)
        k += text->bytes[at] == '\n';
    for (int k = 1; k < column && at < text->length && text->bytes[at] != '\n'; k++)
        at += character_size(text, at);
    return at;
}

/* ---- paths ---- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10 : -1;
}

char *lsp_path_of(const char *uri)
{
    if (strncmp(uri, "file://", 7) != 0)
        return NULL;
    const char *at = strchr(uri + 7, '/'); /* behind the name of the host */
    char *path = at ? memory_new(1, strlen(at) + 1) : NULL;
    size_t length = 0;
    for (; path && *at; at++) {
        bool escape = *at == '%' && hex_value(at[1]) >= 0 && hex_value(at[2]) >= 0;
        path[length++] = escape ? (char)(hex_value(at[1]) * 16 + hex_value(at[2])) : *at;
        at += escape ? 2 : 0;
    }
    if (path && strlen(path) != length) { /* %00 */
        free(path);
        return NULL;
    }
    return path;
}

char *lsp_uri_of(const char *path)
{
    static const char scheme[] = "file://";
    char *uri = memory_new(1, sizeof scheme + 3 * strlen(path));
    if (!uri)
        return NULL;
    strcpy(uri, scheme);
    char *end = uri + strlen(uri);
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (c < 0x80 && (isalnum(c) || strchr("/-._~", c)))
            *end++ = (char)c;
        else
            end += sprintf(end, "%%%02X", c);
    }
    *end = '\0';
    return uri;
}
