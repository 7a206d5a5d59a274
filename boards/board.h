/* What programs on the QEMU boards stand on: semihosted files, an exit code, an instruction
 * counter and the stack's high-water mark. No C library. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

/* semihost.c: files of the host, relative to QEMU's working folder. -1 when they fail. */
int file_open_read(const char *path);
int file_open_write(const char *path);
int32_t file_length(int file);
/* 0 when exactly `bytes` were moved. */
int file_read(int file, void *data, size_t bytes);
int file_write(int file, const void *data, size_t bytes);
void file_close(int file);
void console_print(const char *text);
/* QEMU's `arg=` strings, separated by blanks. */
int command_line(char *text, size_t size);
_Noreturn void program_exit(int code);

/* counter.c: instructions executed since counter_start(), to within a few. Only meaningful under
 * `-icount shift=5`; uses SysTick. */
void counter_start(void);
uint64_t counter_now(void);
/* Of two readings: the instructions between them, without those of reading the counter. */
uint64_t counter_between(uint64_t before, uint64_t after);

/* startup.c: paints the unused stack; bytes of it used since, below the caller's frame. */
void stack_paint(void);
uint32_t stack_used(void);

int main(void);

#endif
