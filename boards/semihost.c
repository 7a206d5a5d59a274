/* Arm semihosting by raw calls: the operation in r0, its parameter block in r1, the answer in r0.
 * On M profile the call is BKPT 0xAB. */
#include "board.h"

size_t strlen(const char *text); /* memory.c */

enum {
    SYS_OPEN = 0x01,
    SYS_CLOSE = 0x02,
    SYS_WRITE0 = 0x04,
    SYS_WRITE = 0x05,
    SYS_READ = 0x06,
    SYS_FLEN = 0x0c,
    SYS_GET_CMDLINE = 0x15,
    SYS_EXIT_EXTENDED = 0x20
};
enum { OPEN_READ_BINARY = 1, OPEN_WRITE_BINARY = 5, APPLICATION_EXIT = 0x20026 };

static int32_t host_call(int32_t operation, const void *block) {
    register int32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static int file_open(const char *path, uint32_t mode) {
    const uint32_t block[3] = {(uint32_t)path, mode, strlen(path)};
    return (int)host_call(SYS_OPEN, block);
}

int file_open_read(const char *path) {
    return file_open(path, OPEN_READ_BINARY);
}

int file_open_write(const char *path) {
    return file_open(path, OPEN_WRITE_BINARY);
}

int32_t file_length(int file) {
    const uint32_t block[1] = {(uint32_t)file};
    return host_call(SYS_FLEN, block);
}

/* Both answer with the number of bytes that were not moved. */
int file_read(int file, void *data, size_t bytes) {
    const uint32_t block[3] = {(uint32_t)file, (uint32_t)data, bytes};
    return bytes == 0 || host_call(SYS_READ, block) == 0 ? 0 : -1;
}

int file_write(int file, const void *data, size_t bytes) {
    const uint32_t block[3] = {(uint32_t)file, (uint32_t)data, bytes};
    return bytes == 0 || host_call(SYS_WRITE, block) == 0 ? 0 : -1;
}

void file_close(int file) {
    const uint32_t block[1] = {(uint32_t)file};
    host_call(SYS_CLOSE, block);
}

void console_print(const char *text) {
    host_call(SYS_WRITE0, text);
}

int command_line(char *text, size_t size) {
    uint32_t block[2] = {(uint32_t)text, size};
    return host_call(SYS_GET_CMDLINE, block) == 0 ? 0 : -1;
}

_Noreturn void program_exit(int code) {
    const uint32_t block[2] = {APPLICATION_EXIT, (uint32_t)code};
    host_call(SYS_EXIT_EXTENDED, block);
    for (;;)
        ;
}
