/* Loads a shared library and looks up what is used of it. */
#include "library.h"

#include "memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void keep_error(library *l)
{
    const char *text = dlerror();
    snprintf(l->why, sizeof l->why, "%s", text ? text : l->file);
    /* The loader has no status for it: its words where it could not have memory. */
    static const char *const words[] = {"memory", "cannot allocate", "cannot create"};
    bool starved = !text;
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        starved |= strstr(text, words[i]) != NULL;
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
    void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) /* without memory for a list of paths it would not be found: it is looked for again */
        handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
    l->loaded = handle && look_up(l, handle);
    if (!l->loaded)
        keep_error(l);
    return l->loaded;
}
