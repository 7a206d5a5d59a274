/* A model in tasks: nothing global, each task has a context of its own with the model's instance
 * and its memory, and gives up the processor after every call of a run. The scheduler here takes
 * turns; with an RTOS `task_step` is the body of a thread's loop, followed by its yield. */
#include "board.h"
#include "digits.h"

/* Defined for the emitted .c file too: it then brings no memory of its own. */
#ifndef DIGITS_SILU_OWN_MEMORY
#error "build with -DDIGITS_SILU_OWN_MEMORY"
#endif

typedef struct {
    CTN_ALIGN(16) uint8_t arena[DIGITS_SILU_ARENA_BYTES];
    digits_silu_t model;
    char name;
    int digit, stride; /* the next digit, and how far the one after it is */
    int running;
} Task;

static int task_begin(Task *task, char name, int first, int stride) {
    task->name = name;
    task->digit = first;
    task->stride = stride;
    task->running = 0;
    return DIGITS_SILU_INIT(&task->model, task->arena, 0);
}

static void task_report(const Task *task) {
    char text[] = "task a: digit 0, should be 0\n";
    text[5] = task->name;
    text[14] = (char)('0' + digit_best(digits_silu_output0(&task->model)));
    text[27] = (char)('0' + digit_labels[task->digit]);
    console_print(text);
}

/* One call of the run; 0 when the task has nothing left to do. */
static int task_step(Task *task) {
    if (task->digit >= DIGIT_COUNT)
        return 0;
    if (!task->running)
        digit_quantize(digit_pixels[task->digit], digits_silu_input0(&task->model));
    task->running = digits_silu_step(&task->model);
    if (!task->running) {
        task_report(task);
        task->digit += task->stride;
    }
    return 1;
}

int main(void) {
    Task even, odd; /* 2 * arena on the stack here; a thread's own memory in an RTOS */
    if (task_begin(&even, 'a', 0, 2) != 0 || task_begin(&odd, 'b', 1, 2) != 0)
        return 1;
    for (int busy = 1; busy;) {
        busy = task_step(&even);
        busy |= task_step(&odd);
    }
    return 0;
}
