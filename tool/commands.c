/* The subcommands, in the order in which help, manual and completion show them. */
#include "command.h"

#include <string.h>

const command *const commands[] = {
    &command_check,   &command_derive,  &command_reduce,   &command_eval,      &command_run,
    &command_sweep,   &command_compare, &command_action,   &command_linearize, &command_report,
    &command_animate, &command_export,  &command_format,   &command_lsp,       &command_plot,
    &command_explain, &command_import,  &command_examples, &command_manual,    &command_completion};
const size_t command_count = sizeof commands / sizeof *commands;

const option_spec common_options[] = {
    {"--json", NULL, "print JSON for programs"},
    {"--quiet", NULL, "suppress warnings"},
    {"--max-memory", "SIZE",
     "refuse work that needs more, as in 500M or 4G; 0: no limit; default 2G"},
    {"--help", NULL, "print this help"},
    {0},
};
const option_spec set_option = {"--set", "NAME=VALUE", "override a parameter; may be repeated"};

const option_values option_value_lists[] = {
    {"--drift", "project baumgarte none"},
    {"--find", "rest steady"},
    {"--form", "maggi kane voronets appell boltzmann-hamel routh hamilton embed"},
    {"--format", "text latex json c fmu2 fmu3 sympy julia matlab modelica auto"},
    {"--formulation", "auto uk gram kkt nullspace gauss singular dirac"},
    {"--engine", "auto interp jit"},
    {"--keep", "final every"},
    {"--stage", "graph tape jet solve"},
    {"--method", "auto rk5 dop853 taylor radau rattle dla midpoint cvode ida"},
    {0},
};

/* Every option whose argument is a FILE is here: output_file.c checks them before a command starts. */
static const struct {
    const char *name;
    file_role role;
} option_files[] = {{"--csv", FILE_WRITTEN}, {"--hdf5", FILE_WRITTEN},  {"--plot", FILE_WRITTEN},
                    {"-o", FILE_WRITTEN},    {"--out", FILE_WRITTEN},   {"--points", FILE_READ},
                    {"--out", FILE_WRITTEN}, {"--ensemble", FILE_READ}, {"--points", FILE_READ}};

file_role option_file_role(const char *name)
{
    for (size_t i = 0; i < sizeof option_files / sizeof *option_files; i++)
        if (strcmp(option_files[i].name, name) == 0)
            return option_files[i].role;
    return FILE_NONE;
}
