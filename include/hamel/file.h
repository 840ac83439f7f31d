/* hm_file: a file that appears whole, and whose writing destroys nothing.
 *
 *   hm_file *file;
 *   if (hm_file_create(NULL, "out.svg", &file) != HM_OK) ... hm_file_error(file) ...
 *   ... hm_file_write(file, bytes, length) ...
 *   if (hm_file_finish(file, HM_FILE_END_COMPLETE) != HM_OK) ...
 *   hm_file_destroy(file);
 *
 * The bytes go to a new file PATH.partial, which takes the name PATH when the file is complete: a file
 * called PATH is always whole. Only regular files are replaced. A symbolic link is refused, as PATH
 * and as PATH.partial. Pipes and devices are written directly; /dev/stdout, /dev/stderr and /dev/fd/N
 * are the descriptors of the process, with the position that they have.
 */
#ifndef HAMEL_FILE_H
#define HAMEL_FILE_H

#include <hamel/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hm_file hm_file;

/* Could a file be written here, as far as can be told without writing? Else the reason is in
 * `why`, as snprintf writes it. */
HM_API bool hm_file_possible(const char *path, char *why, size_t size);

/* allocator NULL: hm_allocator_default(). After HM_ERR_IO there is a file, too, for hm_file_error. */
HM_API HM_MUST_CHECK hm_status hm_file_create(const hm_allocator *allocator, const char *path,
                                              hm_file **file);
/* Appends. What is given at once (up to 64 kB) is handed to the operating system by one call.
 * After the first failure nothing more is written and every call returns HM_ERR_IO. */
HM_API HM_MUST_CHECK hm_status hm_file_write(hm_file *file, const void *bytes, size_t length);
/* Hands everything written so far to the operating system. */
HM_API HM_MUST_CHECK hm_status hm_file_flush(hm_file *file);

typedef enum hm_file_end {
    HM_FILE_END_COMPLETE, /* it takes its name; where that fails the .partial stays */
    HM_FILE_END_KEEP,     /* the .partial stays */
    HM_FILE_END_DISCARD   /* the .partial is removed */
} hm_file_end;

/* Ends the file, once. It remains for hm_file_path and hm_file_error until hm_file_destroy.
 * HM_ERR_USAGE: it has ended before. */
HM_API HM_MUST_CHECK hm_status hm_file_finish(hm_file *file, hm_file_end end);
/* Where the bytes are at present: PATH.partial, or PATH. */
HM_API const char *hm_file_path(const hm_file *file);
/* Why writing failed ("No space left on device"); "" where it did not. */
HM_API const char *hm_file_error(const hm_file *file);
/* For a library that writes by itself: the open descriptor, at any position; -1 where PATH is a pipe
 * or device, which has no positions, or where the file is not open. */
HM_API int hm_file_descriptor(const hm_file *file);
/* Such a library's write failed with this errno: hm_file_error tells, finishing does not complete. */
HM_API void hm_file_fail(hm_file *file, int error);
/* A file that was not finished leaves its .partial. */
HM_API void hm_file_destroy(hm_file *file);

#ifdef __cplusplus
}
#endif
#endif
