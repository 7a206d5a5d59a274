/* Starting and awaiting other programs. */
#include "run/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_FOUND = 127 };

Words words_new(C *c) {
    return (Words){.c = c};
}

void words_add(Words *w, const char *word) {
    w->item = (const char **)c_grow(w->c, (void *)w->item, w->count, &w->capacity, w->count + 2,
                                    sizeof *w->item);
    w->item[w->count++] = word;
    w->item[w->count] = NULL;
}

void words_split(Words *w, const char *text) {
    while (*text) {
        size_t n = strcspn(text, " ");
        if (n > 0)
            words_add(w, c_strndup(w->c, text, n));
        text += n + (text[n] == ' ');
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In the child: only async-signal-safe calls. */
static void become(const Words *words, const char *folder, const char *log) {
    int out = open(log, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    int in = open("/dev/null", O_RDONLY);
    if (out >= 0 && in >= 0 && chdir(folder) == 0) {
        dup2(in, 0);
        dup2(out, 1);
        dup2(out, 2);
        execvp(words->item[0], (char *const *)words->item);
    }
    _exit(errno == ENOENT ? NOT_FOUND : 126);
}

Process process_start(C *c, const Words *words, const char *folder, const char *log,
                      double seconds) {
    Process p = {0, c_strdup(c, log), now() + seconds};
    int pid = fork();
    if (pid == 0)
        become(words, folder, log);
    p.pid = pid > 0 ? pid : 0;
    return p;
}

int process_wait(Process *p) {
    int status = 0;
    const struct timespec nap = {0, 2000000};
    if (p->pid == 0)
        return PROCESS_KILLED;
    while (waitpid(p->pid, &status, WNOHANG) == 0) {
        if (now() > p->deadline) {
            kill(p->pid, SIGKILL);
            waitpid(p->pid, &status, 0);
            return PROCESS_TIMEOUT;
        }
        nanosleep(&nap, NULL);
    }
    if (!WIFEXITED(status))
        return PROCESS_KILLED;
    return WEXITSTATUS(status) == NOT_FOUND ? PROCESS_MISSING : WEXITSTATUS(status);
}
