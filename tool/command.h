/* The `hamel` command: what its subcommands share. Public API only. */
#ifndef HAMEL_TOOL_COMMAND_H
#define HAMEL_TOOL_COMMAND_H

#include "memory.h"

#include <stdarg.h>
#include <hamel/hamel.h>

#include <jansson.h>
#include <stdio.h>

/* Exit statuses of cli.md. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_BAD_INPUT = 2, EXIT_INTERRUPTED = 130 };

/* One option of a subcommand. */
typedef struct option_spec {
    const char *name;     /* "--at" */
    const char *argument; /* "STATE"; NULL for a flag */
    const char *help;
} option_spec;

struct invocation;

typedef struct command {
    const char *name, *summary, *usage, *example;
    const option_spec *options; /* besides --set, --json, --quiet, --help; ends with a NULL name */
    bool needs_model;
    bool many_arguments; /* any number of words; with needs_model the first one is the model */
    bool scene;          /* models without `draw` are drawn by themselves */
    int (*run)(const struct invocation *call);
} command;

/* The arguments after parsing. */
typedef struct invocation {
    const command *command;
    const char *model;      /* path, "-" or the name of an example */
    const char **arguments; /* with many_arguments: the words in order */
    size_t argument_count;
    bool json, quiet;
    hm_override *overrides;
    size_t override_count;
    const char **values; /* by position in command->options; NULL where not given; flags: "" */
} invocation;

extern const command command_action, command_animate, command_check, command_compare,
    command_completion, command_derive, command_eval, command_examples, command_explain,
    command_export, command_format, command_import, command_linearize, command_lsp, command_manual,
    command_plot, command_reduce, command_report, command_run, command_sweep;

/* commands.c: the tables that help, manual and completion show. */
extern const command *const commands[];
extern const size_t command_count;
extern const option_spec common_options[]; /* of every command; ends with a NULL name */
extern const option_spec set_option;       /* of commands that need a model */

/* What an option may be followed by, where that is one of a few words. */
typedef struct option_values {
    const char *name, *values; /* "--drift", "project none": separated by blanks */
} option_values;
extern const option_values option_value_lists[]; /* ends with a NULL name */

/* What a command does with the file that an option names. */
typedef enum file_role { FILE_NONE, FILE_READ, FILE_WRITTEN } file_role;
file_role option_file_role(const char *name);

/* The value of an option of this command; NULL where it was not given. */
const char *option_value(const invocation *call, const char *name);

/* A model with its context. */
typedef struct session {
    hm_context *context;
    hm_model *model;
    hm_system *system;
    json_t *warnings; /* messages of the warnings that reading gave */
    char *text;       /* of a model from standard input */
    size_t length;
} session;

/* Reads the model and, where asked, derives it. Prints diagnostics; returns an exit status. */
int session_open(session *s, const invocation *call, bool with_system);
/* The same with statements after those of the model; messages call them more_name. */
int session_open_with(session *s, const invocation *call, bool with_system, const char *more,
                      const char *more_name);
void session_close(session *s);
/* Adds the warnings that the context holds to those of the session, prints and forgets them. */
void session_take_warnings(session *s, bool quiet);
/* The same model read again, without its system, with one more override; `again` is a session of
 * its own. */
int session_reread(const session *s, const invocation *call, const char *name, const char *value,
                   session *again);
/* What the model was read from, without what it includes; NULL without memory, or where it cannot be
 * read again. To be freed. */
char *session_model_text(const session *s, const invocation *call, size_t *length);
/* option_number.c: an option's number, or expression of parameters. True where it was not given,
 * with `value` as it was; false after a message. option_positive refuses 0 and less, too. */
bool option_number(const session *s, const invocation *call, const char *option, double *value);
bool option_positive(const session *s, const invocation *call, const char *option, double *value);
/* The initial state of the file, changed as --at says (NULL: unchanged). Diagnostics are the sim's. */
hm_status state_from_text(hm_sim *sim, const hm_model *model, const char *at);
/* Prints the diagnostics so far to stderr and forgets them; warnings not when quiet. */
void print_diagnostics(hm_context *context, bool quiet);
/* The same for a sim; NULL: there is none. */
void print_sim_diagnostics(const hm_sim *sim, bool quiet);
int exit_status_of(hm_status status);

/* Flushes stdout and reports a full disk and the like: the exit status, given that of the work. */
int finish_output(int status);

/* child.c: the same work in a process of its own, its exit status, or a message on how it ended. */
int run_in_child(int (*work)(const invocation *call), const invocation *call);

/* say.c: a message on stderr, with a line feed at its end or none; hidden characters are shown as escapes. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_arguments(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
/* The same on stdout, for a text that came from elsewhere: a path. */
void print_shown(const char *text);

/* "hamel: message" on stderr; returns EXIT_BAD_INPUT. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The name among `count` that is a letter or two away from the word; NULL: none is. */
const char *nearest_name(const char *word, size_t count, const char *(*name)(const void *, size_t),
                         const void *user);

#endif
