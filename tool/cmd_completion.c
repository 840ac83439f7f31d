/* hamel completion: completion scripts for shells, made from the tables that parse the command line.
 *
 * Models complete to files and to the names of built-in examples, which the script asks this command
 * for, so that a new example needs no new script.
 */
#include "command.h"

#include <string.h>

static bool takes_example(const command *c)
{
    return c->needs_model || c == &command_examples;
}

/* ---- bash ---- */

static void bash_options(const command *c)
{
    for (const option_spec *o = c->options; o->name; o++)
        printf("%s ", o->name);
    if (c->needs_model)
        printf("%s ", set_option.name);
    for (const option_spec *o = common_options; o->name; o++)
        printf("%s%s", o->name, o[1].name ? " " : "");
}

static int print_bash(void)
{
    printf("# bash completion for hamel %s\n"
           "_hamel() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    local commands='",
           hm_version());
    for (size_t i = 0; i < command_count; i++)
        printf("%s%s", commands[i]->name, i + 1 < command_count ? " " : "");
    printf("'\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    local options= words= values=\n"
           "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < command_count; i++) {
        printf("        %s) options='", commands[i]->name);
        bash_options(commands[i]);
        printf("'%s ;;\n", takes_example(commands[i]) ? "\n            words=models" : "");
    }
    printf("    esac\n"
           "    case $before in\n");
    for (const option_values *v = option_value_lists; v->name; v++)
        printf("        %s) values='%s' ;;\n", v->name, v->values);
    printf("    esac\n"
           "    if [ -n \"$values\" ]; then\n"
           "        COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    case $word in\n"
           "        -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")); return ;;\n"
           "    esac\n"
           "    [ \"$words\" = models ] &&\n"
           "        words=$(hamel examples 2> /dev/null | sed 's/ .*//')\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- \"$word\"))\n"
           "}\n"
           "complete -o filenames -F _hamel hamel\n");
    return EXIT_DONE;
}

/* ---- zsh, fish ---- */

/* zsh reads bash's scripts. */
static int print_zsh(void)
{
    printf("#compdef hamel\nautoload -U +X bashcompinit && bashcompinit\n");
    return print_bash();
}

/* In single quotes; the first line only. */
static void fish_quoted(const char *text)
{
    putchar('\'');
    for (const char *c = text; *c && *c != '\n'; c++) {
        if (*c == '\'' || *c == '\\')
            putchar('\\');
        putchar(*c);
    }
    putchar('\'');
}

static const char *values_of(const char *option)
{
    for (const option_values *v = option_value_lists; v->name; v++)
        if (strcmp(v->name, option) == 0)
            return v->values;
    return NULL;
}

static void fish_option(const command *c, const option_spec *o)
{
    bool is_long = strncmp(o->name, "--", 2) == 0;
    printf("complete -c hamel -n '__fish_seen_subcommand_from %s' %s %s", c->name,
           is_long ? "-l" : "-s", o->name + (is_long ? 2 : 1));
    if (o->argument) {
        const char *values = values_of(o->name);
        if (values)
            printf(" -x -a '%s'", values);
        else
            printf(" -r");
    }
    fputs(" -d ", stdout);
    fish_quoted(o->help);
    putchar('\n');
}

static int print_fish(void)
{
    printf("# fish completion for hamel %s\n", hm_version());
    for (size_t i = 0; i < command_count; i++) {
        const command *c = commands[i];
        printf("complete -c hamel -n __fish_use_subcommand -f -a %s -d ", c->name);
        fish_quoted(c->summary);
        putchar('\n');
        for (const option_spec *o = c->options; o->name; o++)
            fish_option(c, o);
        for (const option_spec *o = common_options; o->name; o++)
            fish_option(c, o);
        if (c->needs_model)
            fish_option(c, &set_option);
        if (!takes_example(c))
            continue;
        printf("complete -c hamel -n '__fish_seen_subcommand_from %s' "
               "-a '(hamel examples 2> /dev/null | string replace -r \" .*\" \"\")'\n",
               c->name);
    }
    return EXIT_DONE;
}

static int run(const invocation *call)
{
    const char *shell = call->argument_count == 1 ? call->arguments[0] : "";
    if (call->json)
        return usage_error("completion scripts are for shells, not JSON");
    if (strcmp(shell, "bash") == 0)
        return print_bash();
    if (strcmp(shell, "zsh") == 0)
        return print_zsh();
    if (strcmp(shell, "fish") == 0)
        return print_fish();
    return usage_error("the shell is missing: hamel completion bash, zsh or fish");
}

static const option_spec options[] = {{0}};

const command command_completion = {
    .name = "completion",
    .summary = "print a completion script for bash, zsh or fish",
    .usage = "SHELL",
    .example = "hamel completion bash >> ~/.bash_completion",
    .options = options,
    .many_arguments = true,
    .run = run,
};
