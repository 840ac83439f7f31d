/* hamel: the command line. Finds the subcommand, reads its options, runs it. */
#include "command.h"
#include "examples.h"
#include "output_file.h"

#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

int usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("hamel: ", stderr);
    say_arguments(format, args);
    fputc('\n', stderr);
    va_end(args);
    return EXIT_BAD_INPUT;
}

/* ---- help ---- */

static void print_general_help(FILE *to)
{
    fprintf(to,
            "hamel %s: constrained mechanics from a text file\n\n"
            "usage: hamel COMMAND MODEL [options]\n\n"
            "MODEL is a file, '-' for standard input, or the name of an example.\n\n",
            hm_version());
    for (size_t i = 0; i < command_count; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to,
            "\nhamel COMMAND --help describes a command. hamel --version prints the version.\n");
}

static void print_option(const option_spec *o)
{
    char left[64];
    snprintf(left, sizeof left, "%s%s%s", o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
    printf("  %-22s %s\n", left, o->help);
}

static void print_command_help(const command *c)
{
    printf("usage: hamel %s%s%s\n\n%s\n\noptions\n", c->name, c->usage[0] ? " " : "", c->usage,
           c->summary);
    for (const option_spec *o = c->options; o->name; o++)
        print_option(o);
    if (c->needs_model)
        print_option(&set_option);
    for (const option_spec *o = common_options; o->name; o++)
        print_option(o);
    printf("\nexample\n  %s\n", c->example);
}

/* ---- options ---- */

static int find_option(const command *c, const char *name)
{
    for (int i = 0; c->options[i].name; i++)
        if (strcmp(c->options[i].name, name) == 0)
            return i;
    return -1;
}

const char *option_value(const invocation *call, const char *name)
{
    int i = find_option(call->command, name);
    return i < 0 ? NULL : call->values[i];
}

/* NAME=VALUE is split in place. */
static int add_override(invocation *call, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return usage_error("--set needs NAME=VALUE, not '%s'", text);
    *equals = '\0';
    call->overrides[call->override_count++] = (hm_override){text, equals + 1};
    return EXIT_DONE;
}

static const char *option_name(const void *c, size_t i)
{
    return ((const command *)c)->options[i].name;
}

static int unknown_option(const command *c, const char *name)
{
    size_t count = 0;
    while (c->options[count].name)
        count++;
    const char *meant = nearest_name(name, count, option_name, c);
    if (meant)
        return usage_error("unknown option '%s'; did you mean %s?", name, meant);
    return usage_error("unknown option '%s'; see hamel %s --help", name, c->name);
}

static int set_memory_limit(const char *text)
{
    size_t bytes;
    if (!memory_read_size(text, &bytes))
        return usage_error("--max-memory needs a size such as 500M or 4G, not '%s'", text);
    memory_limit(bytes);
    return EXIT_DONE;
}

/* --name VALUE and --name=VALUE alike. */
static int parse_option(invocation *call, char **argument, char *next, bool *used_next)
{
    char *name = *argument, *equals = strchr(name, '=');
    char *value = NULL;
    if (equals && strncmp(name, "--", 2) == 0) {
        *equals = '\0';
        value = equals + 1;
    }
    if (strcmp(name, "--json") == 0 || strcmp(name, "--quiet") == 0) {
        if (value)
            return usage_error("%s takes no value", name);
        *(strcmp(name, "--json") == 0 ? &call->json : &call->quiet) = true;
        return EXIT_DONE;
    }
    bool memory = strcmp(name, "--max-memory") == 0;
    int i = find_option(call->command, name);
    bool set = strcmp(name, "--set") == 0 && call->command->needs_model;
    if (i < 0 && !set && !memory)
        return unknown_option(call->command, name);
    if (!set && !memory && !call->command->options[i].argument) {
        call->values[i] = "";
        return value ? usage_error("%s takes no value", name) : EXIT_DONE;
    }
    if (!value) {
        if (!next)
            return usage_error("%s needs a value", name);
        value = next;
        *used_next = true;
    }
    if (memory)
        return set_memory_limit(value);
    if (set)
        return add_override(call, value);
    call->values[i] = value;
    return EXIT_DONE;
}

static int parse_arguments(invocation *call, int count, char **arguments)
{
    for (int i = 0; i < count; i++) {
        bool used_next = false;
        if (arguments[i][0] == '-' && arguments[i][1] != '\0') {
            int status = parse_option(call, &arguments[i], i + 1 < count ? arguments[i + 1] : NULL,
                                      &used_next);
            if (status != EXIT_DONE)
                return status;
            i += used_next;
        } else if (call->command->many_arguments) {
            call->arguments[call->argument_count++] = arguments[i];
        } else if (call->model || !call->command->needs_model) {
            return usage_error("unexpected argument '%s'; see hamel %s --help", arguments[i],
                               call->command->name);
        } else {
            call->model = arguments[i];
        }
    }
    if (call->command->many_arguments && call->command->needs_model) {
        call->model = call->argument_count ? call->arguments[0]
                                           : NULL; /* the command asks for it */
        return EXIT_DONE;
    }
    if (call->command->needs_model && !call->model)
        return usage_error("the model is missing: hamel %s MODEL; see hamel %s --help",
                           call->command->name, call->command->name);
    return EXIT_DONE;
}

/* A result that an allocation is missing from is no result, whatever became of the failure on its way
 * through the command. */
static int check_memory(int status)
{
    if (!memory_failed())
        return status;
    if (!memory_exceeded())
        fputs("hamel: out of memory\n", stderr);
    else if (status == EXIT_DONE || status == EXIT_FAILED)
        fputs("hamel: more memory is needed than --max-memory allows\n", stderr);
    return memory_exceeded() && status != EXIT_DONE ? status : EXIT_FAILED;
}

int finish_output(int status)
{
    status = check_memory(status);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fputs("hamel: cannot write the output\n", stderr);
    return status == EXIT_DONE ? EXIT_FAILED : status;
}

static int run_command(const command *c, int count, char **arguments)
{
    for (int i = 0; i < count; i++)
        if (strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0) {
            print_command_help(c);
            return finish_output(EXIT_DONE);
        }
    size_t options = 0;
    while (c->options[options].name)
        options++;
    invocation call = {.command = c};
    call.overrides = memory_new((size_t)count + 1, sizeof *call.overrides);
    call.values = memory_new(options + 1, sizeof *call.values);
    call.arguments = memory_new((size_t)count + 1, sizeof *call.arguments);
    int status = EXIT_FAILED;
    if (call.overrides && call.values && call.arguments &&
        (status = parse_arguments(&call, count, arguments)) == EXIT_DONE &&
        (status = outputs_check(&call)) == EXIT_DONE)
        status = c->run(&call);
    free(call.overrides);
    free(call.values);
    free(call.arguments);
    return finish_output(status);
}

static const char *command_name(const void *list, size_t i)
{
    return ((const command *const *)list)[i]->name;
}

static const command *find_command(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i];
    return NULL;
}

/* What people call commands elsewhere. */
static const struct {
    const char *word, *meant;
} other_names[] = {{"simulate", "run"},     {"integrate", "run"},       {"solve", "run"},
                   {"analyse", "check"},    {"analyze", "check"},       {"classify", "check"},
                   {"equations", "derive"}, {"linearise", "linearize"}, {"list", "examples"},
                   {"man", "manual"},       {"version", "--version"},   {"-v", "--version"}};

static const char *command_meant(const char *name)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(name, other_names[i].word) == 0)
            return other_names[i].meant;
    return nearest_name(name, command_count, command_name, commands);
}

static int unknown_command(const char *name)
{
    const char *meant = command_meant(name), *dot = strrchr(name, '.');
    if (find_example(name) || (dot && strcmp(dot, ".hamel") == 0))
        return usage_error("'%s' is a model, not a command; try hamel run %s, or see hamel --help",
                           name, name);
    if (meant)
        return usage_error("unknown command '%s'; did you mean '%s'?", name, meant);
    return usage_error("unknown command '%s'; see hamel --help", name);
}

/* hamel help [COMMAND] */
static int help_for(int argc, char **argv)
{
    const command *c = argc > 2 ? find_command(argv[2]) : NULL;
    if (argc > 2 && !c)
        return unknown_command(argv[2]);
    if (c)
        print_command_help(c);
    else
        print_general_help(stdout);
    return finish_output(EXIT_DONE);
}

/* One command is one short process: memory given back between the parts of an analysis is asked for
 * again at once, and a quarter of `check bicycle` was the kernel clearing the same pages. */
static void keep_freed_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "C"); /* whatever a library that was loaded before has set: 2.5 is no 2,5 */
    keep_freed_memory();
    memory_start();
    if (argc < 2) {
        print_general_help(stderr);
        return EXIT_BAD_INPUT;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("hamel %s\n", hm_version());
        return finish_output(EXIT_DONE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return help_for(argc, argv);
    const command *c = find_command(argv[1]);
    return c ? run_command(c, argc - 2, argv + 2) : unknown_command(argv[1]);
}
