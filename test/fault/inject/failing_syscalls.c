/* Runs a command and makes one of its system calls fail, or all of a kind from one on.
 *
 *   HAMEL_FAIL=KIND:K[+] [HAMEL_FAIL_COUNT=FILE] failing_syscalls COMMAND...
 *
 * A tracer (ptrace) sees what a library for LD_PRELOAD cannot: the calls that the C library makes inside of
 * itself (stdio, malloc, threads) and those of every other library. Calls count from the program's
 * entry point on, in all its threads and children; loading the libraries goes on undisturbed. FILE gets the
 * number of calls of the kind. Ends as the command ended, by its status or signal; 77 where tracing is not
 * possible. x86-64 only.
 *
 * Kinds: see `kinds` below; `exec` is mmap and mprotect that ask for executable pages, `wx` those that ask for
 * pages writable and executable at once.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
#include <sys/user.h>

enum { MOST_TASKS = 256, MOST_NUMBERS = 5 };

typedef struct kind {
    const char *name;
    int error, protection; /* protection: only where the third argument has all these bits */
    long numbers[MOST_NUMBERS];
} kind;

static const kind kinds[] = {
    {"open", EMFILE, 0, {SYS_open, SYS_openat, SYS_creat, -1}},
    {"read", EIO, 0, {SYS_read, SYS_pread64, SYS_readv, SYS_preadv, -1}},
    {"write", ENOSPC, 0, {SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, -1}},
    {"fsync", EIO, 0, {SYS_fsync, SYS_fdatasync, -1}},
    {"rename", EIO, 0, {SYS_rename, SYS_renameat, SYS_renameat2, -1}},
    {"mmap", ENOMEM, 0, {SYS_mmap, SYS_mremap, -1}},
    {"brk", ENOMEM, 0, {SYS_brk, -1}},
    {"mprotect", EACCES, 0, {SYS_mprotect, -1}},
    {"thread", EAGAIN, 0, {SYS_clone, SYS_clone3, SYS_fork, SYS_vfork, -1}},
    {"close", EIO, 0, {SYS_close, -1}},
    {"stat", EACCES, 0, {SYS_stat, SYS_lstat, SYS_fstat, SYS_newfstatat, -1}},
    {"seek", EIO, 0, {SYS_lseek, SYS_ftruncate, -1}},
    {"unlink", EACCES, 0, {SYS_unlink, SYS_unlinkat, -1}},
    {"pipe", EMFILE, 0, {SYS_pipe, SYS_pipe2, SYS_dup, SYS_fcntl, -1}},
    {"exec", EACCES, PROT_EXEC, {SYS_mmap, SYS_mprotect, -1}},
    {"wx", EACCES, PROT_EXEC | PROT_WRITE, {SYS_mmap, SYS_mprotect, -1}},
};

static const kind *chosen;
static long fail_at, calls;
static int onward;

typedef struct task {
    pid_t id;
    int pending;                 /* the errno that its present call is to return */
    unsigned long long argument; /* of a call that was changed */
    int fresh;                   /* its first stop is still to come */
} task;
static task tasks[MOST_TASKS];

static task *task_of(pid_t id)
{
    task *empty = NULL;
    for (int i = 0; i < MOST_TASKS; i++) {
        if (tasks[i].id == id)
            return &tasks[i];
        if (!tasks[i].id && !empty)
            empty = &tasks[i];
    }
    if (!empty)
        exit(77);
    *empty = (task){.id = id, .fresh = 1};
    return empty;
}

static void read_wish(void)
{
    const char *text = getenv("HAMEL_FAIL"), *colon = text ? strchr(text, ':') : NULL;
    if (!colon)
        exit(2);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == (size_t)(colon - text) &&
            strncmp(text, kinds[i].name, (size_t)(colon - text)) == 0)
            chosen = &kinds[i];
    if (!chosen)
        exit(2);
    fail_at = atol(colon + 1);
    onward = text[strlen(text) - 1] == '+';
}

static int is_chosen(const struct user_regs_struct *regs)
{
    for (int i = 0; chosen->numbers[i] >= 0; i++)
        if ((long)regs->orig_rax == chosen->numbers[i])
            return ((int)regs->rdx & chosen->protection) == chosen->protection;
    return 0;
}

/* On the way in a call that is to fail becomes one that does not exist; on the way out it gets its error. */
static void at_call(task *t)
{
    struct user_regs_struct regs;
    struct __ptrace_syscall_info info; /* the name that the C library gives it */
    if (ptrace(PTRACE_GET_SYSCALL_INFO, t->id, (void *)sizeof info, &info) <= 0 ||
        ptrace(PTRACE_GETREGS, t->id, NULL, &regs) != 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY && is_chosen(&regs)) {
        long call = calls++;
        if (fail_at < 0 || (onward ? call < fail_at : call != fail_at))
            return;
        if (regs.orig_rax == SYS_brk) { /* which fails by leaving the end of memory where it is */
            t->argument = regs.rdi;
            regs.rdi = 0;
        } else
            t->pending = chosen->error;
        if (regs.orig_rax != SYS_brk && regs.orig_rax != SYS_close) /* close fails and closes */
            regs.orig_rax = (unsigned long long)-1;
        ptrace(PTRACE_SETREGS, t->id, NULL, &regs);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && t->argument) {
        regs.rdi = t->argument; /* registers come back as they were */
        t->argument = 0;
        ptrace(PTRACE_SETREGS, t->id, NULL, &regs);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && t->pending) {
        regs.rax = (unsigned long long)-(long long)t->pending;
        t->pending = 0;
        ptrace(PTRACE_SETREGS, t->id, NULL, &regs);
    }
}

/* ---- the entry point ---- */

static unsigned long entry_of(pid_t id)
{
    char path[64];
    Elf64_auxv_t one;
    unsigned long entry = 0;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)id);
    int file = open(path, O_RDONLY);
    while (file >= 0 && read(file, &one, sizeof one) == (ssize_t)sizeof one)
        if (one.a_type == AT_ENTRY)
            entry = one.a_un.a_val;
    close(file);
    return entry;
}

/* A breakpoint there lets the loader do its work first. */
static void run_to_entry(pid_t id)
{
    int status;
    struct user_regs_struct regs;
    unsigned long entry = entry_of(id);
    long code = ptrace(PTRACE_PEEKTEXT, id, (void *)entry, NULL);
    ptrace(PTRACE_POKETEXT, id, (void *)entry, (void *)((code & ~0xffL) | 0xcc));
    ptrace(PTRACE_CONT, id, NULL, NULL);
    if (!entry || waitpid(id, &status, 0) != id || !WIFSTOPPED(status) ||
        WSTOPSIG(status) != SIGTRAP)
        exit(77);
    ptrace(PTRACE_POKETEXT, id, (void *)entry, (void *)code);
    ptrace(PTRACE_GETREGS, id, NULL, &regs);
    regs.rip = entry;
    ptrace(PTRACE_SETREGS, id, NULL, &regs);
}

/* ---- the loop ---- */

static void go_on(task *t, int signal)
{
    ptrace(PTRACE_SYSCALL, t->id, NULL, (void *)(long)signal);
}

static void at_stop(task *t, int status)
{
    int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80)) {
        at_call(t);
        signal = 0;
    } else if (signal == SIGTRAP || (t->fresh && signal == SIGSTOP)) {
        signal = 0; /* a fork or clone, or how the new one begins */
    }
    t->fresh = 0;
    go_on(t, signal);
}

/* Returns how the command itself ended. */
static int follow(pid_t command)
{
    int status, ended = -1;
    pid_t id;
    while ((id = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFSTOPPED(status)) {
            at_stop(task_of(id), status);
            continue;
        }
        *task_of(id) = (task){0};
        if (id == command)
            ended = status;
    }
    return ended;
}

static void write_count(void)
{
    const char *path = getenv("HAMEL_FAIL_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%ld\n", calls);
    fclose(file);
}

static void end_like(int status)
{
    if (status >= 0 && WIFEXITED(status))
        exit(WEXITSTATUS(status));
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    exit(99);
}

int main(int argc, char **argv)
{
    int status;
    if (argc < 2)
        return 2;
    read_wish();
    pid_t command = fork();
    if (command == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    if (waitpid(command, &status, 0) != command || !WIFSTOPPED(status))
        return WIFEXITED(status) ? WEXITSTATUS(status) : 77;
    ptrace(PTRACE_SETOPTIONS, command, NULL,
           (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                    PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL));
    run_to_entry(command);
    task_of(command)->fresh = 0;
    go_on(task_of(command), 0);
    status = follow(command);
    write_count();
    end_like(status);
}

#else
int main(void)
{
    return 77;
}
#endif
