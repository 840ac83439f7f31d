/* LD_PRELOAD: the process has the locale of its environment, as programs with windows do. With HAMEL_KEEP_LOCALE
 * it stays so, whatever main says: then the library is what is looked at. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static int fixed;

char *setlocale(int category, const char *name)
{
    char *(*real)(int, const char *) = dlsym(RTLD_NEXT, "setlocale");
    return real(category, fixed ? NULL : name);
}

__attribute__((constructor)) static void take_locale(void)
{
    setlocale(LC_ALL, "");
    fixed = getenv("HAMEL_KEEP_LOCALE") != NULL;
    if (getenv("HAMEL_SHOW_COMMA"))
        fprintf(stderr, "%g\n", 2.5);
}
