/* Bytes that grow. */
#ifndef HAMEL_TOOL_BUFFER_H
#define HAMEL_TOOL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct buffer {
    char *bytes; /* a NUL follows the last one; NULL: nothing was ever added */
    size_t length, capacity;
} buffer;

/* A writer of the library, with the buffer as its user: false without memory. */
bool buffer_append(void *to, const char *bytes, size_t length);
void buffer_release(buffer *b);
/* The whole of a file, or of standard input for "-". False where it cannot be read, with the reason in errno. */
bool buffer_read(buffer *to, const char *path);

#endif
