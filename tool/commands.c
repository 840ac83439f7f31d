/* The subcommands, in the order in which help, manual and completion show them. */
#include "command.h"

const command *const commands[] = {&command_check,  &command_derive,    &command_eval,
                                   &command_run,    &command_compare,   &command_linearize,
                                   &command_plot,   &command_explain,   &command_examples,
                                   &command_manual, &command_completion};
const size_t command_count = sizeof commands / sizeof *commands;

const option_spec common_options[] = {
    {"--json", NULL, "print JSON for programs"},
    {"--quiet", NULL, "suppress warnings"},
    {"--help", NULL, "print this help"},
    {0},
};
const option_spec set_option = {"--set", "NAME=VALUE", "override a parameter; may be repeated"};

const option_values option_value_lists[] = {
    {"--drift", "project baumgarte none"},
    {"--find", "rest steady"},
    {"--format", "text latex json c"},
    {"--formulation", "auto uk gram kkt nullspace gauss singular dirac"},
    {"--engine", "auto interp jit"},
    {"--stage", "graph tape jet solve"},
    {"--method", "auto rk5 dop853 taylor radau rattle dla midpoint cvode ida"},
    {0},
};
