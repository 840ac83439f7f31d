/* Bytes that grow, and files read whole. */
#include "buffer.h"
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool buffer_append(void *to, const char *bytes, size_t length)
{
    buffer *b = to;
    if (b->length + length + 1 > b->capacity) {
        size_t capacity = 2 * (b->length + length + 1);
        char *grown = memory_resize(b->bytes, capacity);
        if (!grown)
            return false;
        b->bytes = grown;
        b->capacity = capacity;
    }
    memcpy(b->bytes + b->length, bytes, length);
    b->length += length;
    b->bytes[b->length] = '\0';
    return true;
}

void buffer_release(buffer *b)
{
    free(b->bytes);
    *b = (buffer){0};
}

bool buffer_read(buffer *to, const char *path)
{
    char chunk[1 << 14];
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    bool good = file != NULL;
    errno = good ? ENOMEM : errno;
    for (size_t got; good && (got = fread(chunk, 1, sizeof chunk, file)) > 0;)
        good = buffer_append(to, chunk, got);
    good = good && !ferror(file) && buffer_append(to, "", 0);
    int reason = errno;
    if (file && file != stdin)
        fclose(file);
    errno = reason;
    return good;
}
