/* Memory of the command: everything goes through here, so that an allocation that failed anywhere is
 * said at the end, whatever became of it on the way. */
#ifndef HAMEL_TOOL_MEMORY_H
#define HAMEL_TOOL_MEMORY_H

#include <hamel/base.h>

/* Before anything else: jansson's memory, too. */
void memory_start(void);
/* --max-memory: of the allocator below. */
void memory_limit(size_t bytes);
size_t memory_limit_now(void);
/* "500M", "4G", "2.5G", bytes; 0: no limit. False where it is no size. */
bool memory_read_size(const char *text, size_t *bytes);

/* For objects of the library. */
const hm_allocator *memory_allocator(void);
/* Zeroed; a copy of a text; resized. To be freed by free(). */
void *memory_new(size_t count, size_t size);
char *memory_copy(const char *text);
void *memory_resize(void *block, size_t size);

/* The library reports that memory is missing, whoever asked for it. */
void memory_note_failure(void);
/* It does so because of the limit. */
void memory_note_exceeded(void);
/* Has any allocation failed so far, or been refused because of the limit? */
bool memory_failed(void);
bool memory_exceeded(void);
/* A failure has been said, and the command goes on with something else. */
void memory_forget(void);

#endif
