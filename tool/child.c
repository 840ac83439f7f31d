/* Work that may end its process where memory runs out is done in a child, so that this is said like any other
 * failure. */
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int status_of_child(int state)
{
    if (WIFEXITED(state))
        return WEXITSTATUS(state);
    int signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    if (signal == SIGINT || signal == SIGTERM)
        return EXIT_INTERRUPTED;
    if (signal == SIGABRT || signal == SIGKILL)
        fputs("hamel: out of memory\n", stderr);
    else
        say("hamel: the analysis ended by signal %d\n", signal);
    return EXIT_FAILED;
}

int run_in_child(int (*work)(const invocation *call), const invocation *call)
{
    int state = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return work(call);
    if (child == 0)
        exit(finish_output(work(call)));
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return EXIT_FAILED;
    return status_of_child(state);
}
