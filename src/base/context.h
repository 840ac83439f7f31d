/* The context: allocator, source files, diagnostics.
 *
 * A span names a piece of a source file by byte offsets; lines and columns are found only when a
 * diagnostic is made. Out of memory while making a diagnostic is remembered, never lost: the
 * status that the caller returns comes from hmi_context_status.
 */
#ifndef HMI_BASE_CONTEXT_H
#define HMI_BASE_CONTEXT_H

#include "base/memory.h"
#include "base/stack.h"
#include "base/text.h"

typedef struct hmi_span {
    uint32_t file;  /* index into the context's sources; HMI_NO_FILE where there is none */
    uint32_t start; /* byte offset */
    uint32_t length;
} hmi_span;

#define HMI_NO_FILE UINT32_MAX
static const hmi_span hmi_no_span = {HMI_NO_FILE, 0, 0};

/* From the start of one to the end of another of the same file. */
hmi_span hmi_span_to(hmi_span first, hmi_span last);

typedef struct hmi_source {
    const char *name; /* as shown in messages */
    const char *path; /* resolved path, for includes; NULL for text from memory */
    const char *text;
    size_t length;
} hmi_source;

struct hm_context {
    hmi_references references; /* of models, plans, tables, ... */
    hmi_budget budget;         /* of everything that is made with this context */
    hm_allocator allocator;    /* the budget's */
    hmi_arena arena;           /* sources and message texts */
    HMI_ARRAY(hmi_source) sources;
    const hmi_source *borrowed;            /* the first sources are those of somebody else, */
    size_t borrowed_count;                 /* so many; its own come after them */
    const struct hm_open_text *open_texts; /* in place of files, while a model is read */
    size_t open_text_count;
    HMI_ARRAY(hm_diagnostic) diagnostics;
    size_t errors, remarks; /* remarks: warnings and notes */
    int64_t most_steps;     /* of writing a model out, HMI_MOST_STEPS; fuzzers lower it */
    uintptr_t stack_floor;  /* of the thread that began the present work */
    bool out_of_memory;
    bool limit_exceeded;
    bool memory_said; /* that the memory limit was exceeded */
    bool repeated;    /* an error was met that had been said before */
};

/* For objects that live in its memory; given back by hm_context_destroy. */
static inline hm_context *hmi_context_share(hm_context *context)
{
    hmi_share(&context->references);
    return context;
}

/* A context for diagnostics about the sources of another, which are only read: they, and the array,
 * must outlive it. NULL when there is no memory. */
hm_context *hmi_context_create_for(const hm_allocator *allocator, const hmi_source *sources,
                                   size_t count);
/* From here on it makes do without them: messages that were made keep their texts. */
void hmi_context_forget_sources(hm_context *context);
size_t hmi_context_source_count(const hm_context *context);
/* By the number that spans have; NULL where there is none. */
const hmi_source *hmi_context_source(const hm_context *context, size_t file);
/* Says everything that `from` has to say, in copies; `from` forgets it. */
void hmi_context_take(hm_context *context, hm_context *from);

/* Copies name and text into the context. HMI_NO_FILE when there is no memory. */
uint32_t hmi_context_add_source(hm_context *context, const char *name, const char *path,
                                const char *text, size_t length);

/* Messages are sentences without a capital or a full stop; hint NULL where there is none. */
void hmi_error(hm_context *context, hmi_span at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void hmi_warning(hm_context *context, hmi_span at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void hmi_note(hm_context *context, hmi_span at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A message text in the context's arena, for hints that are put together. NULL without memory. */
const char *hmi_context_printf(hm_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Past this many errors nothing more is reported and stages give up. As many warnings are kept. */
enum { HMI_MOST_ERRORS = 20 };
/* Steps of writing a model out (loops, sums, calls of `let`, components of vectors): three times
 * what a chain of a million coordinates in space needs, and some ten seconds. */
#define HMI_MOST_STEPS INT64_C(100000000)
bool hmi_context_too_many(const hm_context *context);

/* Forgets how the last operation failed, not what was said about it: at the start of the next. */
void hmi_context_begin(hm_context *context);
/* HM_ERR_NOMEM, HM_ERR_LIMIT or HM_ERR_INPUT when any of these happened since
 * `errors_before` (context->errors at the start of the stage); else HM_OK. */
hm_status hmi_context_status(const hm_context *context, size_t errors_before);

/* Says that the memory limit was exceeded, once, where it was: HM_ERR_LIMIT. Where it was not, and memory
 * failed all the same, HM_ERR_NOMEM; else the status as given. `doing`: "writing the model out". */
hm_status hmi_context_memory_status(hm_context *context, hm_status status, hmi_span at,
                                    const char *doing);

/* Line and column (from 1, in characters) of a byte offset. */
void hmi_source_position(const hmi_source *source, uint32_t offset, int *line, int *column);

#endif
