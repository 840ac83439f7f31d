/* A library for LD_PRELOAD that makes one call of the process fail, or all from one on.
 *
 *   HAMEL_FAIL=KIND:K      the K-th call of that kind (from 0) fails; KIND:K+ and all after it
 *   HAMEL_FAIL_COUNT=FILE  at the end FILE gets the number of calls of that kind
 * Kinds: memory (malloc, calloc, realloc and the aligned ones), open, read, write, fsync, rename,
 * mmap, mprotect, thread. Used by every_place.c.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

typedef enum kind { NONE, MEMORY, OPEN, READ, WRITE, FSYNC, RENAME, MMAP, MPROTECT, THREAD } kind;
static const char *const kind_names[] = {"none",  "memory", "open", "read",     "write",
                                         "fsync", "rename", "mmap", "mprotect", "thread"};

static atomic_long calls;
static long fail_at = -1;
static int onward, chosen;

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("HAMEL_FAIL"), *colon = text ? strchr(text, ':') : NULL;
    if (!colon)
        return;
    for (int i = 1; i <= THREAD; i++)
        if (strncmp(text, kind_names[i], (size_t)(colon - text)) == 0 &&
            strlen(kind_names[i]) == (size_t)(colon - text))
            chosen = i;
    fail_at = atol(colon + 1);
    onward = text[strlen(text) - 1] == '+';
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("HAMEL_FAIL_COUNT");
    char text[32];
    if (!path)
        return;
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
    syscall(SYS_write, file, text, (size_t)length);
    syscall(SYS_close, file);
}

static int fails(kind which, int error)
{
    if (chosen != (int)which)
        return 0;
    long call = atomic_fetch_add(&calls, 1);
    if (fail_at < 0 || (onward ? call < fail_at : call != fail_at))
        return 0;
    errno = error;
    return 1;
}

void *malloc(size_t size)
{
    return fails(MEMORY, ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(MEMORY, ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return size && fails(MEMORY, ENOMEM) ? NULL : __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(MEMORY, ENOMEM) ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails(MEMORY, ENOMEM) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    if (fails(MEMORY, ENOMEM))
        return ENOMEM;
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return fails(OPEN, EMFILE) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return fails(OPEN, EMFILE) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t read(int file, void *bytes, size_t size)
{
    return fails(READ, EIO) ? -1 : (ssize_t)syscall(SYS_read, file, bytes, size);
}

ssize_t write(int file, const void *bytes, size_t size)
{
    return fails(WRITE, ENOSPC) ? -1 : (ssize_t)syscall(SYS_write, file, bytes, size);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at)
{
    return fails(WRITE, ENOSPC) ? -1 : (ssize_t)syscall(SYS_pwrite64, file, bytes, size, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at)
{
    return fails(WRITE, ENOSPC) ? -1 : (ssize_t)syscall(SYS_pwrite64, file, bytes, size, at);
}

int fsync(int file)
{
    return fails(FSYNC, EIO) ? -1 : (int)syscall(SYS_fsync, file);
}

int rename(const char *from, const char *to)
{
    return fails(RENAME, EIO) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

void *mmap(void *at, size_t length, int protection, int flags, int file, off_t offset)
{
    if (fails(MMAP, ENOMEM))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, length, protection, flags, file, offset);
}

int mprotect(void *at, size_t length, int protection)
{
    return fails(MPROTECT, EACCES) ? -1 : (int)syscall(SYS_mprotect, at, length, protection);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *user)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real)
        real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");
    return fails(THREAD, EAGAIN) ? EAGAIN : real(thread, attributes, run, user);
}
