/* Loads a shared library and looks up what is used of it. */
#include "library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Where memory was missing, the loader does not always say so. */
static void keep_error(library *l, int error)
{
    const char *text = dlerror();
    bool add = error == ENOMEM && !(text && strstr(text, "memory"));
    snprintf(l->why, sizeof l->why, "%s%s", text ? text : l->file, add ? ": out of memory" : "");
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
    void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
    l->loaded = handle && look_up(l, handle);
    if (!l->loaded)
        keep_error(l, errno);
    return l->loaded;
}
