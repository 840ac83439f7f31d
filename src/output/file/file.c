/* The one writer of files.
 *
 * Invariants
 *   1. PATH is never seen half written: bytes go to PATH.partial, which is synchronised with the disk
 *      and then renamed.
 *   2. PATH.partial is always a file that this writer made (O_EXCL), never one that a planted link
 *      leads to; one that an earlier run left is removed first.
 *   3. What is given to hm_file_write at once is written by one call, so that a process that is killed
 *      leaves whole rows.
 *   4. After the first failure nothing more is written and every call returns HM_ERR_IO.
 * Verified: test/unit/output/test_file.c, test/fault/outputs.sh, test/fault/run_cut.sh
 */
#define _DEFAULT_SOURCE
#include "base/argument.h"
#include "base/text.h"
#include "output/file/target.h"

#include <hamel/file.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16 };

struct hm_file {
    hm_allocator allocator;
    hmi_text path, partial; /* partial is empty where the file is written in place */
    hmi_target target;
    char *buffer; /* BUFFER_BYTES */
    size_t buffered;
    int file; /* -1: closed */
    bool named, failed;
    char why[PATH_MAX + 64];
};

static hm_status fail(hm_file *f, const char *why)
{
    if (!f->failed)
        snprintf(f->why, sizeof f->why, "%s", why);
    f->failed = true;
    return HM_ERR_IO;
}

void hm_file_fail(hm_file *f, int error)
{
    if (!f)
        return;
    (void)fail(f, strerror(error ? error : EIO));
}

static hm_status fail_by_errno(hm_file *f)
{
    hm_file_fail(f, errno);
    return HM_ERR_IO;
}

/* ---- bytes ---- */

static hm_status write_all(hm_file *f, const char *bytes, size_t left)
{
    while (left > 0 && !f->failed) {
        ssize_t written = write(f->file, bytes, left);
        if (written < 0 && errno != EINTR)
            return fail_by_errno(f);
        if (written > 0) {
            bytes += written;
            left -= (size_t)written;
        }
    }
    return f->failed ? HM_ERR_IO : HM_OK;
}

hm_status hm_file_flush(hm_file *f)
{
    HMI_ARGUMENT(NULL, f, "a file is needed");
    size_t length = f->buffered;
    f->buffered = 0;
    return write_all(f, f->buffer, length);
}

hm_status hm_file_write(hm_file *f, const void *bytes, size_t length)
{
    HMI_ARGUMENT(NULL, f && (bytes || length == 0), "a file and bytes are needed");
    if (f->failed || f->file < 0)
        return HM_ERR_IO;
    if (length > BUFFER_BYTES - f->buffered && hm_file_flush(f) != HM_OK)
        return HM_ERR_IO;
    if (length > BUFFER_BYTES)
        return write_all(f, bytes, length);
    if (length)
        memcpy(f->buffer + f->buffered, bytes, length);
    f->buffered += length;
    return HM_OK;
}

/* ---- opening ---- */

bool hm_file_possible(const char *path, char *why, size_t size)
{
    if (!path || (size && !why)) {
        if (why && size)
            snprintf(why, size, "there is no path");
        return false;
    }
    hmi_target target = hmi_target_of(path);
    char partial[PATH_MAX];
    if (target.kind == HMI_TARGET_REFUSED) {
        snprintf(why, size, "%s", target.why);
        return false;
    }
    if (target.kind != HMI_TARGET_FILE)
        return true;
    if ((size_t)snprintf(partial, sizeof partial, "%s.partial", path) >= sizeof partial) {
        snprintf(why, size, "%s", strerror(ENAMETOOLONG));
        return false;
    }
    return hmi_target_partial_free(partial, why, size);
}

/* O_EXCL makes the file here or nowhere; what is in the way was put there in between. */
static int open_partial(hm_file *f)
{
    const char *partial = hmi_text_view(&f->partial);
    char why[PATH_MAX + 64];
    if (!hmi_target_partial_free(partial, why, sizeof why)) {
        (void)fail(f, why);
        return -1;
    }
    if (unlink(partial) != 0 && errno != ENOENT)
        return -1;
    int file = open(partial, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file >= 0 && f->target.exists)
        (void)!fchmod(file, f->target.mode); /* who may read it stays as it was, where possible */
    return file;
}

static int open_special(const char *path)
{
    int file;
    do /* opening a pipe waits for its reader */
        file = open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
    while (file < 0 && errno == EINTR);
    return file;
}

static void open_target(hm_file *f, const char *path)
{
    errno = 0;
    if (f->target.kind == HMI_TARGET_REFUSED)
        (void)fail(f, f->target.why);
    else if (f->target.kind == HMI_TARGET_FILE)
        f->file = open_partial(f);
    else if (f->target.kind == HMI_TARGET_SPECIAL)
        f->file = open_special(path);
    else
        f->file = fcntl(f->target.descriptor, F_DUPFD_CLOEXEC, 3);
    if (f->file < 0)
        (void)fail_by_errno(f);
}

hm_status hm_file_create(const hm_allocator *allocator, const char *path, hm_file **file)
{
    HMI_ARGUMENT(NULL, path && file && hmi_allocator_is_valid(allocator), "a path is needed");
    hm_allocator memory = allocator ? *allocator : hm_allocator_default();
    hm_file *f = hmi_alloc(&memory, sizeof *f);
    if (!f)
        return HM_ERR_NOMEM;
    *f = (hm_file){.allocator = memory, .target = hmi_target_of(path), .file = -1};
    hmi_text_init(&f->path, &f->allocator);
    hmi_text_init(&f->partial, &f->allocator);
    hmi_text_add(&f->path, path);
    if (f->target.kind == HMI_TARGET_FILE) {
        hmi_text_add(&f->partial, path);
        hmi_text_add(&f->partial, ".partial");
    }
    f->buffer = hmi_alloc(&memory, BUFFER_BYTES);
    if (!f->buffer || f->path.failed || f->partial.failed) {
        hm_file_destroy(f);
        return HM_ERR_NOMEM;
    }
    open_target(f, path);
    *file = f; /* also after an I/O error, for hm_file_error */
    return f->failed ? HM_ERR_IO : HM_OK;
}

/* ---- the end ---- */

/* Some file systems cannot synchronise, and say so by EINVAL. */
static hm_status synchronise(hm_file *f)
{
    if (fsync(f->file) == 0 || errno == EINVAL || errno == EROFS)
        return HM_OK;
    return fail_by_errno(f);
}

/* The name, too, is to be on the disk. Who cannot open the folder has to do without. */
static void synchronise_folder(const char *path)
{
    char folder[PATH_MAX];
    if (!hmi_target_folder(path, folder, sizeof folder))
        return;
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return;
    (void)!fsync(file);
    close(file);
}

/* What lies at PATH may have become something else during a long run: it is looked at again. */
static hm_status take_name(hm_file *f)
{
    const char *path = hmi_text_view(&f->path);
    hmi_target now = hmi_target_of(path);
    if (now.kind != HMI_TARGET_FILE)
        return fail(f, now.why[0] ? now.why : "it is not a regular file any more");
    if (rename(hmi_text_view(&f->partial), path) != 0)
        return fail_by_errno(f);
    f->named = true;
    synchronise_folder(path);
    return HM_OK;
}

static hm_status close_file(hm_file *f, hm_file_end end)
{
    bool complete = end == HM_FILE_END_COMPLETE && f->partial.length > 0;
    hm_status status = f->failed ? HM_ERR_IO : hm_file_flush(f);
    if (status == HM_OK && complete)
        status = synchronise(f); /* the rename must not overtake the bytes */
    if (close(f->file) != 0 && status == HM_OK)
        status = fail_by_errno(f);
    f->file = -1;
    if (end == HM_FILE_END_DISCARD && f->partial.length > 0)
        (void)!unlink(hmi_text_view(&f->partial));
    return status == HM_OK && complete ? take_name(f) : status;
}

hm_status hm_file_finish(hm_file *f, hm_file_end end)
{
    HMI_ARGUMENT(NULL, f && (unsigned)end <= HM_FILE_END_DISCARD, "there is no such end");
    if (f->file < 0)
        return f->failed ? HM_ERR_IO : HM_ERR_USAGE;
    return close_file(f, end);
}

void hm_file_destroy(hm_file *f)
{
    if (!f)
        return;
    if (f->file >= 0)
        (void)!close_file(f, HM_FILE_END_KEEP);
    hm_allocator memory = f->allocator;
    hmi_text_release(&f->path);
    hmi_text_release(&f->partial);
    hmi_free(&memory, f->buffer, BUFFER_BYTES);
    hmi_free(&memory, f, sizeof *f);
}

/* ---- what is asked about it ---- */

const char *hm_file_path(const hm_file *f)
{
    if (!f)
        return "";
    bool partial = f->partial.length > 0 && !f->named;
    return hmi_text_view(partial ? &f->partial : &f->path);
}

const char *hm_file_error(const hm_file *f)
{
    if (!f)
        return "";
    return f->failed ? f->why : "";
}

int hm_file_descriptor(const hm_file *f)
{
    if (!f)
        return -1;
    return f->partial.length > 0 ? f->file : -1;
}
