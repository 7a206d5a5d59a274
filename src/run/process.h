/* Running other programs: no shell, output into a file, an end by a deadline. */
#ifndef CORTEN_PROCESS_H
#define CORTEN_PROCESS_H

#include "base/base.h"

typedef struct { /* an argument list that grows */
    C *c;
    int count, capacity;
    const char **item;
} Words;

Words words_new(C *c);
void words_add(Words *w, const char *word);
void words_split(Words *w, const char *text); /* at blanks */

typedef struct {
    int pid; /* 0: could not be started */
    const char *log;
    double deadline;
} Process;

enum { PROCESS_MISSING = -1, PROCESS_TIMEOUT = -2, PROCESS_KILLED = -3 };

/* Starts words[0], found in PATH, in `folder`; stdout and stderr go to the file `log`. */
Process process_start(C *c, const Words *words, const char *folder, const char *log,
                      double seconds);
/* The exit code, or PROCESS_*; past its deadline the process is killed. */
int process_wait(Process *p);

#endif
