/* The stream of a language server: messages of JSON, each behind a header that tells its length.
 *
 * Whatever comes in is answered or skipped: a header without a length costs its message, one with a length
 * that is too large skips so many bytes, and only a header without an end, or a length that is no number of
 * bytes, ends the conversation. */
#include "lsp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* A model has at most 8 MiB; each of its bytes may be written as \u0041. */
enum { LONGEST_HEADER = 8 << 10, LONGEST_BODY = 64 << 20 };

void lsp_stream_read(lsp_stream *s)
{
    char chunk[1 << 16];
    if (s->used > 0) { /* what was taken is forgotten */
        memmove(s->input.bytes, s->input.bytes + s->used, s->input.length - s->used);
        s->input.length -= s->used;
        s->used = 0;
    }
    ssize_t got = read(s->in, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0 || !buffer_append(&s->input, chunk, (size_t)got))
        s->ended = true;
}

bool lsp_stream_partial(const lsp_stream *s)
{
    return s->skip > 0 || s->input.length > s->used;
}

/* Where the header that starts at `text` ends, behind its empty line; 0: not yet. */
static size_t header_length(const char *text, size_t length)
{
    for (size_t i = 0; i + 1 < length; i++) {
        if (text[i] == '\n' && text[i + 1] == '\n')
            return i + 2;
        if (i + 3 < length && memcmp(text + i, "\r\n\r\n", 4) == 0)
            return i + 4;
    }
    return 0;
}

/* The last Content-Length of a header. Where a body without one came before, the name need not begin a
 * line: this is how a conversation finds itself again. */
static const char *length_field(const char *header, size_t length)
{
    static const char name[] = "content-length:";
    const char *found = NULL;
    for (size_t i = 0; i + sizeof name - 1 <= length; i++)
        if (strncasecmp(header + i, name, sizeof name - 1) == 0)
            found = header + i + sizeof name - 1;
    return found;
}

/* False where it is no number of bytes. */
static bool read_length(const char *at, uint64_t *length)
{
    *length = 0;
    while (*at == ' ' || *at == '\t')
        at++;
    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (*length > UINT64_MAX / 100)
            return false;
        *length = 10 * *length + (uint64_t)(*at - '0');
    }
    while (*at == ' ' || *at == '\t')
        at++;
    return *at == '\r' || *at == '\n';
}

static void skip(lsp_stream *s)
{
    uint64_t there = s->input.length - s->used;
    uint64_t taken = there < s->skip ? there : s->skip;
    s->used += (size_t)taken;
    s->skip -= taken;
}

static lsp_frame take_header(lsp_stream *s, size_t header, uint64_t *length, const char **problem)
{
    const char *field = length_field(s->input.bytes + s->used, header);
    if (!field || !read_length(field, length)) {
        *problem = field ? "the Content-Length is not a number of bytes"
                         : "the header has no Content-Length";
        s->used += header;
        return LSP_FRAME_BAD;
    }
    if (*length <= LONGEST_BODY)
        return LSP_FRAME_BODY;
    *problem = "the message is longer than 64 MiB";
    s->used += header;
    s->skip = *length;
    return LSP_FRAME_BAD;
}

lsp_frame lsp_stream_next(lsp_stream *s, const char **body, size_t *length, const char **problem)
{
    skip(s);
    size_t there = s->input.length - s->used;
    if (s->skip > 0 || there == 0)
        return LSP_FRAME_NONE;
    const char *text = s->input.bytes + s->used;
    size_t header = header_length(text, there < LONGEST_HEADER ? there : LONGEST_HEADER);
    if (header == 0) {
        *problem = "the header does not end";
        return there < LONGEST_HEADER ? LSP_FRAME_NONE : LSP_FRAME_LOST;
    }
    uint64_t wanted = 0;
    lsp_frame frame = take_header(s, header, &wanted, problem);
    if (frame != LSP_FRAME_BODY)
        return frame;
    if (there - header < wanted)
        return LSP_FRAME_NONE;
    *body = text + header;
    *length = (size_t)wanted;
    s->used += header + (size_t)wanted;
    return LSP_FRAME_BODY;
}

static bool write_all(int to, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t put = write(to, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

void lsp_send(lsp_stream *s, json_t *message)
{
    char header[64];
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    size_t length = text ? strlen(text) : 0;
    snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", length);
    if (!text || !write_all(s->out, header, strlen(header)) || !write_all(s->out, text, length))
        s->broken = true;
    free(text);
    json_decref(message);
}
