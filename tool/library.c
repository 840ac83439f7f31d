/* Loads a shared library and looks up what is used of it. */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>

static void keep_error(library *l)
{
    const char *text = dlerror();
    snprintf(l->why, sizeof l->why, "%s", text ? text : l->file);
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
    void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
    l->loaded = handle && look_up(l, handle);
    if (!l->loaded)
        keep_error(l);
    return l->loaded;
}
