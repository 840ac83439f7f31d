/* Libraries that few runs need are loaded when they are first used: linked in the usual way, cairo with
 * X11 and HDF5 with curl take three quarters of the time in which `hamel --version` is done.
 *
 * A header lists the functions and data that are used (hdf5_calls.h, cairo_calls.h): its macros make
 * calls of them go through a table, which library_load fills. Prototypes are those of the library's own
 * header. */
#ifndef HAMEL_TOOL_LIBRARY_H
#define HAMEL_TOOL_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct library {
    const char *file;         /* as the loader knows it: libcairo.so.2 */
    const char *const *names; /* of `count` functions and data, whose addresses go to `table` */
    void **table;
    size_t count;
    bool global; /* what it loads itself sees its symbols */
    bool tried, loaded;
    char why[256]; /* not loaded: what the loader says */
} library;

/* Loads it the first time. false: it is not there, see `why`. */
bool library_load(library *l);
/* Can it be loaded? Tried in a process of its own, for libraries that crash while they are loaded where memory
 * ends. false: see `why`. */
bool library_try(library *l);

#endif
