/* Loads a shared library and looks up what is used of it. */
#include "library.h"

#include "memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where memory was missing, the loader does not always say so. */
static void keep_error(library *l, int error)
{
    const char *text = dlerror();
    static const char *const words[] = {"memory", "cannot allocate", "cannot create"};
    bool starved = !text || error == ENOMEM;
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        starved |= strstr(text, words[i]) != NULL;
    bool add = starved && !(text && strstr(text, "memory"));
    snprintf(l->why, sizeof l->why, "%s%s", text ? text : l->file, add ? ": out of memory" : "");
    if (starved)
        memory_note_failure(); /* said at the end, by main.c: the library is there */
}

static bool look_up(library *l, void *handle)
{
    for (size_t k = 0; k < l->count; k++) {
        l->table[k] = dlsym(handle, l->names[k]);
        if (!l->table[k])
            return false;
    }
    return true;
}

bool library_load(library *l)
{
    if (l->tried)
        return l->loaded;
    l->tried = true;
    errno = 0;
    int how = RTLD_NOW | (l->global ? RTLD_GLOBAL : RTLD_LOCAL);
    void *handle = dlopen(l->file, how);
    if (!handle) /* without memory for a list of paths it would not be found: it is looked for again */
        handle = dlopen(l->file, how);
    l->loaded = handle && look_up(l, handle);
    if (!l->loaded)
        keep_error(l, errno);
    return l->loaded;
}

static void load_and_exit(library *l, int report)
{
    bool loaded = library_load(l);
    if (!loaded)
        (void)!write(report, l->why, strlen(l->why));
    _exit(!loaded);
}

static bool wait_for_trial(library *l, pid_t process, int said)
{
    ssize_t length = read(said, l->why, sizeof l->why - 1);
    int status = 0;
    l->why[length > 0 ? length : 0] = '\0';
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (!l->why[0])
        snprintf(l->why, sizeof l->why, "%s: probably for want of memory", l->file);
    return false;
}

bool library_try(library *l)
{
    int ends[2];
    if (pipe(ends) != 0) {
        snprintf(l->why, sizeof l->why, "%s", strerror(errno));
        return false;
    }
    fflush(NULL);
    pid_t process = fork();
    if (process == 0)
        load_and_exit(l, ends[1]);
    if (process < 0)
        snprintf(l->why, sizeof l->why, "%s", strerror(errno));
    close(ends[1]);
    bool good = process > 0 && wait_for_trial(l, process, ends[0]);
    close(ends[0]);
    return good;
}
