/* Decides what a path is before anything is opened for writing.
 *
 * lstat, not stat: whoever may write to the folder could have put a link there that leads to a file
 * of ours. The folders /dev and /proc belong to the system, and their links to descriptors are how a
 * shell passes pipes on (`--csv >(gzip > out.gz)`).
 */
#define _DEFAULT_SOURCE
#include "output/file/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static hmi_target refused(const char *why)
{
    hmi_target target = {.kind = HMI_TARGET_REFUSED};
    snprintf(target.why, sizeof target.why, "%s", why);
    return target;
}

static const char *kind_text(mode_t mode)
{
    return S_ISLNK(mode)    ? "it is a symbolic link"
           : S_ISDIR(mode)  ? strerror(EISDIR)
           : S_ISSOCK(mode) ? "it is a socket"
                            : "it is not a regular file";
}

/* N of /dev/fd/N, /proc/self/fd/N, and what stdout and stderr are called; -1: none of them. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]);
        const char *digits = path + length;
        if (strncmp(path, folders[i], length) == 0 && digits[0] && strlen(digits) < 6 &&
            digits[strspn(digits, "0123456789")] == '\0')
            return atoi(digits);
    }
    return -1;
}

bool hmi_target_folder(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    size_t length = !slash ? 1 : slash == path ? 1 : (size_t)(slash - path);
    if (length >= size)
        return false;
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    return true;
}

/* A new file is made beside the target: the folder must exist and be open to us. */
static hmi_target in_folder(const char *path, hmi_target target)
{
    char folder[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/')
        return refused(length ? strerror(EISDIR) : "the name is empty");
    if (!hmi_target_folder(path, folder, sizeof folder))
        return refused(strerror(ENAMETOOLONG));
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
        return refused(strerror(errno));
    return target;
}

hmi_target hmi_target_of(const char *path)
{
    struct stat about;
    int descriptor = descriptor_of(path);
    if (descriptor >= 0)
        return fcntl(descriptor, F_GETFD) < 0
                   ? refused(strerror(errno))
                   : (hmi_target){.kind = HMI_TARGET_DESCRIPTOR, .descriptor = descriptor};
    if (lstat(path, &about) != 0)
        return errno == ENOENT ? in_folder(path, (hmi_target){.kind = HMI_TARGET_FILE})
                               : refused(strerror(errno));
    if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode) && !S_ISCHR(about.st_mode) &&
        !S_ISBLK(about.st_mode))
        return refused(kind_text(about.st_mode));
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        return refused(strerror(errno));
    if (!S_ISREG(about.st_mode))
        return (hmi_target){.kind = HMI_TARGET_SPECIAL};
    return in_folder(
        path, (hmi_target){.kind = HMI_TARGET_FILE, .exists = true, .mode = about.st_mode & 0777});
}

bool hmi_target_partial_free(const char *partial, char *why, size_t size)
{
    struct stat about;
    if (lstat(partial, &about) != 0 || S_ISREG(about.st_mode))
        return true;
    snprintf(why, size, "'%s' is in the way: %s", partial, kind_text(about.st_mode));
    return false;
}
