/* hamel manual: the man page, made from the tables that parse the command line. */
#include "command.h"

#include <string.h>

/* Text for roff: hyphens and backslashes escaped, runs of blanks and line ends one blank, and no
 * line that starts with a control character. */
static void print_roff(const char *text)
{
    bool blank = false;
    for (const char *c = text; *c; c++) {
        if (*c == ' ' || *c == '\n') {
            blank = true;
            continue;
        }
        if (blank)
            putchar(' ');
        blank = false;
        if (*c == '.' && c == text)
            fputs("\\&.", stdout);
        else if (*c == '-')
            fputs("\\-", stdout);
        else if (*c == '\\')
            fputs("\\e", stdout);
        else if (*c == '\'')
            fputs("\\(aq", stdout);
        else
            putchar(*c);
    }
    putchar('\n');
}

static void print_option(const option_spec *option)
{
    fputs(".TP\n.B ", stdout);
    print_roff(option->name);
    if (option->argument) {
        fputs(".I ", stdout);
        print_roff(option->argument);
        fputs(".br\n", stdout);
    }
    print_roff(option->help);
}

static void print_subcommand(const command *c)
{
    printf(".SS \"hamel %s\"\n", c->name);
    print_roff(c->summary);
    printf(".PP\nUsage: \\fBhamel %s\\fR ", c->name);
    print_roff(c->usage);
    for (const option_spec *o = c->options; o->name; o++)
        print_option(o);
    fputs(".PP\nExample:\n.PP\n.RS\n.B ", stdout);
    print_roff(c->example);
    fputs(".RE\n", stdout);
}

static const char *const head =
    ".SH NAME\nhamel \\- constrained mechanics from a text file\n"
    ".SH SYNOPSIS\n.B hamel\n.I COMMAND MODEL\n[\\fIoptions\\fR]\n"
    ".SH DESCRIPTION\n"
    "Hamel reads coordinates, energies, forces and constraints of any kind (holonomic,\n"
    "nonholonomic, rheonomic, redundant, non\\-ideal, servo) from one text file, derives the\n"
    "equations of motion exactly, computes the constraint forces, and simulates.\n"
    ".PP\n"
    ".I MODEL\nis a file, \\(aq\\-\\(aq for standard input, or the name of a built\\-in example\n"
    "(see \\fBhamel examples\\fR).\n"
    "Results go to standard output, messages to standard error.\n";

static const char *const tail =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\ndone\n"
    ".TP\n.B 1\nthe model ran but failed; what was computed is kept\n"
    ".TP\n.B 2\nbad input or usage\n"
    ".TP\n.B 130\ninterrupted; what was computed is kept\n"
    ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colours, also on a terminal\n"
    ".SH SEE ALSO\n"
    "The language, the theory and the C interface are described in the files\n"
    "language.md, theory.md and api.md of the documentation.\n";

static int run(const invocation *call)
{
    if (call->json)
        return usage_error("the manual is a man page; there is no JSON form");
    printf(".TH HAMEL 1 \"\" \"hamel %s\" \"User Commands\"\n%s", hm_version(), head);
    printf(".SH OPTIONS OF EVERY COMMAND\n");
    print_option(&set_option);
    for (const option_spec *o = common_options; o->name; o++)
        print_option(o);
    printf(".SH COMMANDS\n");
    for (size_t i = 0; i < command_count; i++)
        print_subcommand(commands[i]);
    printf("%s", tail);
    return EXIT_DONE;
}

static const option_spec options[] = {{0}};

const command command_manual = {
    .name = "manual",
    .summary = "print the man page",
    .usage = "",
    .example = "hamel manual | man -l -",
    .options = options,
    .run = run,
};
