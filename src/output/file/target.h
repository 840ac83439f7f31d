/* What lies at a path that is to be written, and what may be done there. */
#ifndef HMI_OUTPUT_FILE_TARGET_H
#define HMI_OUTPUT_FILE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef enum hmi_target_kind {
    HMI_TARGET_REFUSED,
    HMI_TARGET_FILE,      /* nothing, or a regular file: replaced by rename */
    HMI_TARGET_SPECIAL,   /* a pipe or device: written in place */
    HMI_TARGET_DESCRIPTOR /* /dev/stdout and the like: an open descriptor of the process */
} hmi_target_kind;

typedef struct hmi_target {
    hmi_target_kind kind;
    int descriptor;
    bool exists; /* as a regular file, of this mode */
    mode_t mode;
    char why[128]; /* it is refused */
} hmi_target;

hmi_target hmi_target_of(const char *path);
/* Whether a new file PATH.partial may be made: nothing is there, or a regular file that a run left
 * behind. Else `why` says what is there. */
bool hmi_target_partial_free(const char *partial, char *why, size_t size);
/* The folder of a path, in `folder`; false where the path is too long. */
bool hmi_target_folder(const char *path, char *folder, size_t size);

#endif
