/* Runs a command again and again, each time with another call failing, and compares what it does with
 * what it does undisturbed.
 *
 *   every_place LIBRARY KIND MOST [-w WORD] [-f FILE]... [-n CALLS] -- COMMAND...
 *
 * At most MOST places are tried, spread evenly over all calls of that kind (0: all of them); a KIND
 * that ends in + makes all later calls fail, too. -n says how many calls there are where some are in a
 * process that the command starts, which goes on counting. Allowed are the same output and files with the same
 * exit status, and exit status 1 with a message on stderr that contains WORD. Prints one line:
 * calls, tried, right, said, then what is not allowed: wrong, status, silent, crashed, hung; and the
 * first places of each on stderr. Exit status 1 where there is any.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 4, SECONDS = 60, SHOWN = 5 };
enum verdict { RIGHT, SAID, WRONG, STATUS, SILENT, CRASHED, HUNG, VERDICTS };
static const char *const verdict_names[VERDICTS] = {"right",  "said",    "wrong", "status",
                                                    "silent", "crashed", "hung"};

typedef struct trial {
    int status; /* as waitpid gives it */
    int hung;
    char *out, *err, *files[MOST_FILES];
} trial;

static const char *library, *kind, *word = "";
static const char *files[MOST_FILES];
static int file_count;
static long given_calls;
static char **command;
static char folder[] = "/tmp/every-place-XXXXXX", out_path[64], err_path[64], count_path[64];

/* What lies in a file; "" where there is none. Times, which differ between any two runs, are cut out:
 * lines that contain "wall", "evaluations, ", "per second" or "_per_s". */
static char *content(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = NULL, *line = NULL;
    size_t size = 0, length = 0;
    FILE *copy = open_memstream(&text, &size);
    while (file && getline(&line, &length, file) >= 0)
        if (!strstr(line, "wall") && !strstr(line, "evaluations, ") &&
            !strstr(line, "per second") && !strstr(line, "_per_s"))
            fputs(line, copy);
    if (file)
        fclose(file);
    fclose(copy);
    free(line);
    return text;
}

static void become_command(long place)
{
    char fail[64];
    size_t length = strlen(kind);
    int onward = kind[length - 1] == '+';
    snprintf(fail, sizeof fail, "%.*s:%ld%s", (int)length - onward, kind, place, onward ? "+" : "");
    int out = open(out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int err = open(err_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(out, 1);
    dup2(err, 2);
    setenv("HAMEL_FAIL", fail, 1);
    setenv("HAMEL_FAIL_COUNT", count_path, 1);
    setenv("LD_PRELOAD", library, 1);
    execv(command[0], command);
    _exit(127);
}

static void wait_for(pid_t child, trial *t)
{
    for (long waited = 0;; waited++) {
        if (waitpid(child, &t->status, WNOHANG) == child)
            return;
        if (waited > SECONDS * 1000L && !t->hung) {
            t->hung = 1;
            kill(child, SIGKILL);
        }
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

static void remove_files(void)
{
    char partial[4096];
    for (int i = 0; i < file_count; i++) {
        snprintf(partial, sizeof partial, "%s.partial", files[i]);
        unlink(files[i]);
        unlink(partial);
    }
}

static trial run(long place)
{
    trial t = {0};
    remove_files();
    pid_t child = fork();
    if (child == 0)
        become_command(place);
    wait_for(child, &t);
    t.out = content(out_path);
    t.err = content(err_path);
    for (int i = 0; i < file_count; i++)
        t.files[i] = content(files[i]);
    return t;
}

static void release(trial *t)
{
    free(t->out);
    free(t->err);
    for (int i = 0; i < file_count; i++)
        free(t->files[i]);
}

static enum verdict judge(const trial *t, const trial *reference)
{
    if (t->hung)
        return HUNG;
    if (WIFSIGNALED(t->status))
        return CRASHED;
    if (WEXITSTATUS(t->status) == 1)
        return t->err[0] == '\0' || !strstr(t->err, word) ? SILENT : SAID;
    if (t->status != reference->status)
        return STATUS;
    int same = strcmp(t->out, reference->out) == 0;
    for (int i = 0; i < file_count; i++)
        same = same && strcmp(t->files[i], reference->files[i]) == 0;
    return same ? RIGHT : WRONG;
}

static void show(long place, enum verdict verdict, const trial *t)
{
    fprintf(stderr, "%s:%ld: %s, status %d: %.300s\n", kind, place, verdict_names[verdict],
            WIFEXITED(t->status) ? WEXITSTATUS(t->status) : -WTERMSIG(t->status), t->err);
}

static long read_count(void)
{
    char *text = content(count_path);
    long count = atol(text);
    free(text);
    return count;
}

static int try_places(long most)
{
    long counts[VERDICTS] = {0}, tried = 0;
    trial reference = run(-1);
    long calls = given_calls ? given_calls : read_count();
    long stride = most > 0 && calls > most ? (calls + most - 1) / most : 1;
    /* a prime stride would not do better; the start moves with the number of calls */
    for (long k = stride > 1 ? calls % stride : 0; k < calls; k += stride, tried++) {
        trial t = run(k);
        enum verdict verdict = judge(&t, &reference);
        if (verdict > SAID && counts[verdict] < SHOWN)
            show(k, verdict, &t);
        counts[verdict]++;
        release(&t);
    }
    remove_files();
    release(&reference);
    printf("%7ld calls %7ld tried", calls, tried);
    long bad = 0;
    for (int v = 0; v < VERDICTS; v++) {
        printf(" %6ld %s", counts[v], verdict_names[v]);
        bad += v > SAID ? counts[v] : 0;
    }
    printf("\n");
    return bad != 0;
}

int main(int argc, char **argv)
{
    int i = 4;
    if (argc < 6 || !mkdtemp(folder))
        return 2;
    library = argv[1];
    kind = argv[2];
    for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2)
        if (strcmp(argv[i], "-w") == 0)
            word = argv[i + 1];
        else if (strcmp(argv[i], "-n") == 0)
            given_calls = atol(argv[i + 1]);
        else if (file_count < MOST_FILES)
            files[file_count++] = argv[i + 1];
    command = argv + i + 1;
    snprintf(out_path, sizeof out_path, "%s/out", folder);
    snprintf(err_path, sizeof err_path, "%s/err", folder);
    snprintf(count_path, sizeof count_path, "%s/count", folder);
    int status = try_places(atol(argv[3]));
    unlink(out_path);
    unlink(err_path);
    unlink(count_path);
    rmdir(folder);
    return status;
}
