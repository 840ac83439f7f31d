/* Bytes -> words of a command line -> the whole command, in this process.
 *
 * Words are the names of commands, options, examples and values, whole or with a letter changed; numbers are small,
 * so that a run stays short. It works in a folder of its own. Left out: `check` and PNG, which fork.
 * Checked besides crashes: the exit status is one of those that docs/cli.md names.
 */
#define _GNU_SOURCE
#include "command.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 14, MOST_LENGTH = 80 };

int hamel_main(int count, char **arguments);

static const char *const verbs[] = {"eval",    "run",        "run",   "derive", "linearize",
                                    "compare", "explain",    "sweep", "plot",   "examples",
                                    "manual",  "completion", "evla"};
static const char *const words[] = {"skate",
                                    "pendulum",
                                    "double-pendulum",
                                    "bouncing-ball",
                                    "m.hamel",
                                    "o.csv",
                                    "none.hamel",
                                    "",
                                    "--json",
                                    "--quiet",
                                    "--help",
                                    "--at",
                                    "x=1",
                                    "x=1,y'=2",
                                    "theta = pi/2",
                                    "t=nan",
                                    "--set",
                                    "m=2",
                                    "m=",
                                    "=3",
                                    "m=1/0",
                                    "--to",
                                    "0.1",
                                    "-1",
                                    "nan",
                                    "1e-300",
                                    "--every",
                                    "0.05",
                                    "--method",
                                    "rk5",
                                    "dop853",
                                    "taylor",
                                    "radau",
                                    "rattle",
                                    "dla",
                                    "midpoint",
                                    "auto",
                                    "--rtol",
                                    "1e-6",
                                    "--atol",
                                    "1e-9",
                                    "--step",
                                    "0.01",
                                    "--drift",
                                    "project",
                                    "none",
                                    "baumgarte(1,2)",
                                    "--engine",
                                    "interp",
                                    "jit",
                                    "--csv",
                                    "p.csv",
                                    "--plot",
                                    "p.svg",
                                    "--hdf5",
                                    "p.h5",
                                    "--columns",
                                    "all",
                                    "t,x",
                                    "--ensemble",
                                    "members.csv",
                                    "--jobs",
                                    "1",
                                    "--format",
                                    "latex",
                                    "c",
                                    "json",
                                    "text",
                                    "--geometry",
                                    "--formulation",
                                    "kkt",
                                    "uk",
                                    "gram",
                                    "--stage",
                                    "graph",
                                    "tape",
                                    "jet",
                                    "solve",
                                    "--with",
                                    "vakonomic",
                                    "conflated:x' = y'",
                                    "--find",
                                    "equilibrium",
                                    "--param",
                                    "g",
                                    "--from",
                                    "1",
                                    "--steps",
                                    "2",
                                    "--grid",
                                    "m=1|2",
                                    "m=1:2:3",
                                    "--random",
                                    "m=uniform(1,2)",
                                    "--samples",
                                    "3",
                                    "--measure",
                                    "final(x)",
                                    "max(abs(x))",
                                    "--out",
                                    "s.csv",
                                    "--resume",
                                    "--shard",
                                    "1/2",
                                    "--merge",
                                    "s.csv.shard-*",
                                    "--seed",
                                    "7",
                                    "--against",
                                    "-o",
                                    "bash",
                                    "--max-memory",
                                    "100M",
                                    "--keep",
                                    "every",
                                    "--sobol",
                                    "--hold",
                                    "x"};

typedef struct source {
    const uint8_t *bytes;
    size_t size;
} source;

static uint32_t next(source *s)
{
    if (!s->size)
        return 0;
    s->size--;
    return *s->bytes++;
}

static bool may_be_used(const char *word)
{
    return !strstr(word, "png") && !strchr(word, '/') && strcmp(word, "check") != 0 &&
           strcmp(word, "-") != 0;
}

/* Sometimes one letter is another. */
static void choose(source *s, char *word)
{
    uint32_t pick = next(s) | next(s) << 8;
    snprintf(word, MOST_LENGTH, "%s", words[pick % (sizeof words / sizeof *words)]);
    size_t length = strlen(word);
    if (next(s) % 8 == 0 && length) {
        char letter = (char)next(s);
        word[next(s) % length] = letter ? letter : 'x';
    }
    if (!may_be_used(word) && strcmp(word, "1/2") != 0 && strcmp(word, "m=1/0") != 0 &&
        strcmp(word, "theta = pi/2") != 0)
        snprintf(word, MOST_LENGTH, "skate");
}

static void start(void)
{
    static char folder[] = "/tmp/fuzz-command-XXXXXX";
    FILE *file;
    if (!mkdtemp(folder) || chdir(folder) != 0)
        abort();
    if ((file = fopen("m.hamel", "w"))) {
        fputs("param m = 1, g = 9.81\ncoord x, y\nkinetic m/2*(x'^2 + y'^2)\npotential m*g*y\n"
              "constraint c: y = x^2\ninitial x = 1\nsimulate 0 .. 0.1 every 0.05\n",
              file);
        fclose(file);
    }
    if ((file = fopen("members.csv", "w"))) {
        fputs("m,x\n1,2\n2,1\n", file);
        fclose(file);
    }
    if ((file = fopen("o.csv", "w"))) {
        fputs("t,x,y\n0,1,2\n1,2,3\n2,3,5\n", file);
        fclose(file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[MOST_WORDS + 4][MOST_LENGTH];
    static bool started;
    char *arguments[MOST_WORDS + 5] = {0};
    int count = 0;
    source s = {data, size};
    if (!started)
        start();
    started = true;
    snprintf(text[count++], MOST_LENGTH, "hamel");
    snprintf(text[count++], MOST_LENGTH, "%s", verbs[next(&s) % (sizeof verbs / sizeof *verbs)]);
    while (s.size && count < MOST_WORDS)
        choose(&s, text[count++]);
    bool runs = strcmp(text[1], "run") == 0 || strcmp(text[1], "sweep") == 0 ||
                strcmp(text[1], "compare") == 0;
    if (runs) {
        snprintf(text[count++], MOST_LENGTH, "--to");
        snprintf(text[count++], MOST_LENGTH, "0.1");
    }
    for (int i = 0; i < count; i++)
        arguments[i] = text[i];
    memory_limit((size_t)1 << 28);
    int status = hamel_main(count, arguments);
    if (status != EXIT_DONE && status != EXIT_FAILED && status != EXIT_BAD_INPUT)
        abort();
    return 0;
}
