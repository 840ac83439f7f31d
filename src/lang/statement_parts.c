/* The words that are parts of statements, by statement: one table for completion and for the colours of
 * editors. The parser names each where it reads it; test/unit/lang/test_words.c compares. */
#include "lang/words.h"

/* clang-format off */
static const char *const parts[HMI_STMT_COUNT][24] = {
    [HMI_STMT_PARAM] = {"in"},
    [HMI_STMT_COORD] = {"in"},
    [HMI_STMT_OUTPUT] = {"in"},
    [HMI_STMT_FORCE] = {"at"},
    [HMI_STMT_NONIDEAL] = {"at"},
    [HMI_STMT_TORQUE] = {"on"},
    [HMI_STMT_BODY] = {"mass", "inertia", "at", "frame", "angle", "com", "on", "by", "free", "planar", "ground",
                       "hinge", "slider", "cylinder", "screw", "universal", "ball", "weld"},
    [HMI_STMT_JOINT] = {"of", "at", "axis", "and", "ground", "ball", "hinge", "slider", "cylinder", "universal",
                        "plane", "weld", "distance"},
    [HMI_STMT_CONSTRAINT] = {"restitution", "when"},
    [HMI_STMT_FRICTION] = {"on", "with"},
    [HMI_STMT_SERVO] = {"by", "with", "gain", "limit", "law", "lyapunov"},
    [HMI_STMT_INITIAL] = {"keep"},
    [HMI_STMT_SIMULATE] = {"every", "method", "rtol", "atol", "drift", "step", "auto", "rk5", "dop853", "taylor",
                           "radau", "rattle", "dla", "midpoint", "cvode", "ida", "project", "baumgarte", "none"},
    [HMI_STMT_EVENT] = {"rising", "falling", "both", "stop", "record", "set"},
    [HMI_STMT_TABLE] = {"linear", "cubic", "monotone", "hold", "extend", "periodic", "columns"},
    [HMI_STMT_DRAW] = {"point", "line", "sphere", "box", "cylinder", "disc", "arrow", "trace", "ground", "color",
                       "label"},
};
/* clang-format on */

const char *hmi_statement_part(hmi_statement_kind kind, size_t index)
{
    return kind < HMI_STMT_COUNT && index < sizeof parts[0] / sizeof *parts[0] ? parts[kind][index]
                                                                               : NULL;
}
