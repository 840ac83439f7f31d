/* Messages to people. What came from elsewhere (paths, words of the command line) is shown with its hidden
 * characters as escapes, here and nowhere else. */
#include "command.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Lines and tabs are the program's own; what comes from elsewhere has been put between them. */
static void put_shown(FILE *to, const char *text)
{
    char piece[512];
    size_t length = hm_text_show(text, NULL, 0);
    if (length == strlen(text)) {
        fputs(text, to);
        return;
    }
    char *all = length < sizeof piece ? piece : memory_new(1, length + 1);
    if (!all)
        return; /* said at the end, by main.c */
    hm_text_show(text, all, length + 1);
    fputs(all, to);
    if (all != piece)
        free(all);
}

/* A line feed at the end stays one. */
static void put_message(FILE *to, char *text)
{
    size_t length = strlen(text);
    bool line = length && text[length - 1] == '\n';
    if (line)
        text[length - 1] = '\0';
    put_shown(to, text);
    if (line)
        fputc('\n', to);
}

void say_arguments(const char *format, va_list args)
{
    va_list again;
    char local[1024];
    va_copy(again, args);
    int length = vsnprintf(local, sizeof local, format, args);
    char *text = length < (int)sizeof local ? local : memory_new(1, (size_t)length + 1);
    if (length >= 0 && text) {
        if (text != local)
            vsnprintf(text, (size_t)length + 1, format, again);
        put_message(stderr, text);
    }
    if (text != local)
        free(text);
    va_end(again);
}

void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_arguments(format, args);
    va_end(args);
}

void print_shown(const char *text)
{
    put_shown(stdout, text);
}
