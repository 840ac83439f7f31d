/* Foundations of the public API: status codes, the allocator, the context that collects diagnostics.
 *
 * Conventions of every Hamel header:
 *   - functions that can fail return hm_status; results come through the last parameters and are
 *     left untouched on failure;
 *   - the library never prints, exits or aborts; what went wrong is in the diagnostics of the context
 *     that a function is given, or of the sim (hm_sim_context);
 *   - objects are created by *_create/_parse/_load and released by *_destroy, which accepts NULL. They may
 *     be destroyed in any order: what others still need goes with the last of these;
 *   - arguments that make no sense (NULL where something is needed, NaN, negative tolerances, values that an
 *     enum does not have, calls from a callback of the same sim) are refused with HM_ERR_USAGE and a
 *     diagnostic that names the function, in every build. Functions that return no status give nothing: 0,
 *     NULL, NaN, "unknown";
 *   - a thread that calls the library needs a stack of 128 kB; what nests too deeply for the stack that it has
 *     is refused with a message;
 *   - models and systems are immutable: any number of threads may use one at the same time, each with
 *     a context and with sims of its own; a context, a sim and every other object belong to one thread
 *     at a time. (hm_system_create uses the context that the model was read with.)
 */
#ifndef HAMEL_BASE_H
#define HAMEL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HM_API        __attribute__((visibility("default")))
#define HM_MUST_CHECK __attribute__((warn_unused_result))
#else
#define HM_API
#define HM_MUST_CHECK
#endif

/* Every status code with the text that hm_status_text() gives. */
#define HM_STATUS_LIST(X)                                                                          \
    X(OK, "done")                                                                                  \
    X(ERR_NOMEM, "out of memory")                                                                  \
    X(ERR_INPUT, "the model has errors")                                                           \
    X(ERR_USAGE, "the call is not valid")                                                          \
    X(ERR_LIMIT, "a size limit was exceeded")                                                      \
    X(ERR_IO, "a file could not be read or written")                                               \
    X(ERR_NUMERIC, "the numbers have no finite answer")                                            \
    X(ERR_UNDETERMINED, "the motion is not determined")                                            \
    X(ERR_INCONSISTENT, "the constraints contradict each other")

typedef enum hm_status {
#define HM_STATUS_ENUM(name, text) HM_##name,
    HM_STATUS_LIST(HM_STATUS_ENUM)
#undef HM_STATUS_ENUM
} hm_status;

/* The same as HM_ERR_USAGE: what is wrong is an argument. */
#define HM_ERR_ARGUMENT HM_ERR_USAGE

/* A short English phrase; never NULL. */
HM_API const char *hm_status_text(hm_status status);

/* "major.minor.patch" */
HM_API const char *hm_version(void);

/* One realloc-style callback serves all memory.
 *   ptr NULL:     allocate new_size bytes;
 *   new_size 0:   free ptr (old_size bytes), return NULL;
 *   otherwise:    resize. Return NULL when there is no memory; the old block then stays valid.
 * Threads that share a system, and those of an ensemble, call it at the same time. */
typedef struct hm_allocator {
    void *(*resize)(void *user, void *ptr, size_t old_size, size_t new_size);
    void *user;
} hm_allocator;

/* malloc/realloc/free. */
HM_API hm_allocator hm_allocator_default(void);

typedef enum hm_severity { HM_SEVERITY_NOTE, HM_SEVERITY_WARNING, HM_SEVERITY_ERROR } hm_severity;

/* One message about the user's input. Strings belong to the context and live until
 * hm_context_clear or hm_context_destroy. Line and column count from 1; the column counts
 * characters, not bytes. line is 0 where a message has no place in a file. */
typedef struct hm_diagnostic {
    hm_severity severity;
    const char *file; /* NULL where there is none */
    int line, column;
    int length;              /* characters to underline, at least 1 */
    const char *source_line; /* the text of the line, NULL where there is none */
    const char *message;
    const char *hint; /* what to do about it, or NULL */
    const char *path; /* of that file, resolved; NULL for text from memory that has none */
} hm_diagnostic;

typedef struct hm_context hm_context;

/* allocator NULL: hm_allocator_default(). Returns NULL when there is no memory. */
HM_API hm_context *hm_context_create(const hm_allocator *allocator);
/* What was made with it may still be used, and destroyed later. */
HM_API void hm_context_destroy(hm_context *context);

/* What work with a context may take. Work that would need more ends with HM_ERR_LIMIT and a message that
 * names the statement where one can be named. */
typedef struct hm_limits {
    size_t
        memory; /* bytes allocated at one time for everything made with the context; default 2 GB;
                      0: no limit */
    int64_t steps; /* of writing a model out: loops, sums, calls; default 10^8; 0: no limit */
} hm_limits;

HM_API hm_limits hm_limits_default(void);
/* For all that is done from now on. limits NULL: the defaults. HM_ERR_USAGE: they are negative. */
HM_API hm_status hm_context_set_limits(hm_context *context, const hm_limits *limits);
/* Was memory refused because of the limit in the last call that began with a model or system? */
HM_API bool hm_context_memory_exceeded(const hm_context *context);
/* The most bytes that were allocated at one time. */
HM_API size_t hm_context_memory(const hm_context *context);

/* Diagnostics in the order they were found. */
HM_API size_t hm_context_diagnostic_count(const hm_context *context);
HM_API const hm_diagnostic *hm_context_diagnostic(const hm_context *context, size_t index);
HM_API size_t hm_context_error_count(const hm_context *context);
/* The files that were read with this context, included ones, too: resolved paths, which belong to it. */
HM_API size_t hm_context_file_count(const hm_context *context);
HM_API const char *hm_context_file(const hm_context *context, size_t index);
/* Forgets the diagnostics collected so far. */
HM_API void hm_context_clear(hm_context *context);

/* Text that came from elsewhere, as it is safe to show on a terminal: control characters, characters that change
 * the direction of writing or have no width appear as \u{202E}, bytes that are no UTF-8 as \x9B. Works like
 * snprintf. Diagnostics, names and texts of models are shown so already; paths are as they are. */
HM_API size_t hm_text_show(const char *text, char *buffer, size_t size);
/* Is it such a character? */
HM_API bool hm_character_hidden(uint32_t character);

/* Writes the diagnostic as people read it: file:line:column, message, source line, caret, hint.
 * Works like snprintf: returns the length needed, writes at most size bytes with a final NUL. */
HM_API size_t hm_diagnostic_format(const hm_diagnostic *diagnostic, bool color, char *buffer,
                                   size_t size);

#ifdef __cplusplus
}
#endif
#endif
