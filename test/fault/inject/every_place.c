/* Runs a command again and again, each time with another call failing, and compares what it does with
 * what it does undisturbed.
 *
 *   every_place INJECTOR KIND MOST [-w WORD] [-f FILE | -k FILE]... [-n CALLS] -- COMMAND...
 *
 * INJECTOR is a library for LD_PRELOAD (NAME.so, failing_calls.c) or a program that runs the command
 * (failing_syscalls.c). At most MOST places are tried, spread evenly over all calls of that kind (0: all of them); a KIND
 * that ends in + makes all later calls fail, too. -n says how many calls there are where some are in a
 * process that the command starts, which goes on counting. A FILE after -k exists before. Allowed are the same output and files with the same
 * exit status, and exit status 1 (2 where a file is refused) with a message on stderr that contains WORD; each FILE is then whole, or as it was
 * before. Prints one line: calls, tried, right, said, then what is not allowed: wrong, status, silent, torn,
 * crashed, hung; and the first places of each on stderr. Exit status 1 where there is any, 77 where the
 * injector does not work here.
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
enum verdict { RIGHT, SAID, WRONG, STATUS, SILENT, TORN, CRASHED, HUNG, VERDICTS };
static const char *const verdict_names[VERDICTS] = {"right",  "said", "wrong",   "status",
                                                    "silent", "torn", "crashed", "hung"};

typedef struct bytes {
    char *text; /* ends with NUL, too; NULL: there is no file */
    size_t size;
} bytes;

typedef struct trial {
    int status; /* as waitpid gives it */
    int hung;
    bytes out, err, files[MOST_FILES];
} trial;

static const char *injector, *kind, *word = "";
static const char *files[MOST_FILES];
static int exists_before[MOST_FILES];
static const char before[] = "what was there before\n";
static int file_count;
static long given_calls;
static char **command;
static char folder[] = "/tmp/every-place-XXXXXX", out_path[64], err_path[64], count_path[64];

/* What lies in a file. Times, which differ between any two runs, are cut out: lines that contain "wall",
 * "evaluations, ", "per second", "per_second" or "_per_s". */
static bytes content(const char *path)
{
    FILE *file = fopen(path, "r");
    bytes result = {0};
    char *line = NULL;
    size_t length = 0;
    ssize_t read;
    if (!file)
        return result;
    FILE *copy = open_memstream(&result.text, &result.size);
    while ((read = getline(&line, &length, file)) >= 0)
        if (!strstr(line, "wall") && !strstr(line, "evaluations, ") &&
            !strstr(line, "per second") && !strstr(line, "per_second") && !strstr(line, "_per_s"))
            fwrite(line, 1, (size_t)read, copy);
    fclose(file);
    fclose(copy);
    free(line);
    return result;
}

static int same_bytes(bytes a, bytes b)
{
    if (!a.text || !b.text)
        return !a.text && !b.text;
    return a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
}

/* PATH.so is loaded into the command, anything else runs it. */
static int injector_is_library(void)
{
    size_t length = strlen(injector);
    return length > 3 && strcmp(injector + length - 3, ".so") == 0;
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
    if (injector_is_library()) {
        setenv("LD_PRELOAD", injector, 1);
        execv(command[0], command);
    } else { /* in main, command[-1] is "--" */
        command[-1] = (char *)injector;
        execv(injector, command - 1);
    }
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
    static const char *const endings[] = {"", ".partial", ".rows", ".rows.partial"};
    char path[4096];
    for (int i = 0; i < file_count; i++)
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
            snprintf(path, sizeof path, "%s%s", files[i], endings[k]);
            unlink(path);
        }
}

static void prepare_files(void)
{
    remove_files();
    for (int i = 0; i < file_count; i++) {
        FILE *file = exists_before[i] ? fopen(files[i], "w") : NULL;
        if (!file)
            continue;
        fputs(before, file);
        fclose(file);
    }
}

static trial run(long place)
{
    trial t = {0};
    prepare_files();
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
    free(t->out.text);
    free(t->err.text);
    for (int i = 0; i < file_count; i++)
        free(t->files[i].text);
}

/* Each file is whole, or as it was before. */
static int nothing_torn(const trial *t, const trial *reference)
{
    for (int i = 0; i < file_count; i++) {
        bytes old = {exists_before[i] ? (char *)before : NULL, sizeof before - 1};
        if (!same_bytes(t->files[i], reference->files[i]) && !same_bytes(t->files[i], old))
            return 0;
    }
    return 1;
}

/* Status 2 says that the call is not valid: an input cannot be read, an output could not be written to. */
static int file_refused(const trial *t)
{
    return WEXITSTATUS(t->status) == 2 && t->err.text &&
           (strstr(t->err.text, "cannot read") || strstr(t->err.text, "cannot be read") ||
            strstr(t->err.text, "cannot write"));
}

static enum verdict judge(const trial *t, const trial *reference)
{
    if (t->hung)
        return HUNG;
    if (WIFSIGNALED(t->status))
        return CRASHED;
    if (WEXITSTATUS(t->status) == 1 || file_refused(t))
        return t->err.size == 0 || !strstr(t->err.text, word) ? SILENT
               : nothing_torn(t, reference)                   ? SAID
                                                              : TORN;
    if (t->status != reference->status)
        return STATUS;
    int same = same_bytes(t->out, reference->out);
    for (int i = 0; i < file_count; i++)
        same = same && same_bytes(t->files[i], reference->files[i]);
    return same ? RIGHT : WRONG;
}

static void show(long place, enum verdict verdict, const trial *t)
{
    fprintf(stderr, "%s:%ld: %s, status %d: %.300s\n", kind, place, verdict_names[verdict],
            WIFEXITED(t->status) ? WEXITSTATUS(t->status) : -WTERMSIG(t->status),
            t->err.text ? t->err.text : "");
}

static long read_count(void)
{
    bytes text = content(count_path);
    long count = text.text ? atol(text.text) : 0;
    free(text.text);
    return count;
}

static int try_places(long most)
{
    long counts[VERDICTS] = {0}, tried = 0;
    trial reference = run(-1);
    if (WIFEXITED(reference.status) && WEXITSTATUS(reference.status) > 2)
        return WEXITSTATUS(reference.status); /* no injector, or no command */
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
    injector = argv[1];
    kind = argv[2];
    for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2)
        if (strcmp(argv[i], "-w") == 0)
            word = argv[i + 1];
        else if (strcmp(argv[i], "-n") == 0)
            given_calls = atol(argv[i + 1]);
        else if (file_count < MOST_FILES) {
            exists_before[file_count] = strcmp(argv[i], "-k") == 0;
            files[file_count++] = argv[i + 1];
        }
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
