/* Bytes of a terminal in raw mode, with an end to every wait, and frames made of them. */
#include "run/serial_line.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { WAIT_MS = 10000, FRAME_LIMIT = 1 << 28, FIRST = 0xc7, SECOND = 0x7e };

static const struct {
    int baud;
    speed_t speed;
} speeds[] = {
    {9600, B9600},       {19200, B19200},     {38400, B38400},   {57600, B57600},
    {115200, B115200},   {230400, B230400},   {460800, B460800}, {921600, B921600},
    {1000000, B1000000}, {2000000, B2000000},
};

static speed_t speed_of(C *c, int baud) {
    for (size_t i = 0; i < COUNT_OF(speeds); i++)
        if (speeds[i].baud == baud)
            return speeds[i].speed;
    fatal(c, DIAG_USAGE, NULL, "--baud %d: no speed of a serial line; 115200 is one", baud);
}

static void release(void *what) {
    line_close(what);
}

void line_open(C *c, Line *line, const char *port, int baud) {
    struct termios settings;
    speed_t speed = speed_of(c, baud);
    Line *kept = NEW(c, Line);
    Loc loc = {.file = port};
    line->fd = open(port, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (line->fd < 0)
        fatal(c, DIAG_TOOL, &loc, "cannot be opened: %s", strerror(errno));
    *kept = *line;
    c_defer(c, release, kept);
    if (tcgetattr(line->fd, &settings) != 0)
        fatal(c, DIAG_TOOL, &loc, "this is no serial line: %s", strerror(errno));
    cfmakeraw(&settings);
    settings.c_cflag |= CLOCAL | CREAD;
    cfsetispeed(&settings, speed);
    cfsetospeed(&settings, speed);
    tcsetattr(line->fd, TCSANOW, &settings);
    tcflush(line->fd, TCIOFLUSH);
}

void line_close(Line *line) {
    if (line->fd >= 0)
        close(line->fd);
    line->fd = -1;
}

static uint32_t crc_of(uint32_t crc, const uint8_t *p, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return crc;
}

static void put_word(uint8_t *p, uint32_t word) {
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(word >> (8 * i));
}

static uint32_t word_at(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool send_all(int fd, const uint8_t *p, size_t bytes) {
    while (bytes > 0) {
        ssize_t put = write(fd, p, bytes);
        if (put < 0 && errno != EINTR)
            return false;
        p += put > 0 ? put : 0;
        bytes -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

static bool receive_all(int fd, uint8_t *p, size_t bytes) {
    while (bytes > 0) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, WAIT_MS) <= 0)
            return false;
        ssize_t got = read(fd, p, bytes);
        if (got <= 0)
            return false;
        p += got;
        bytes -= (size_t)got;
    }
    return true;
}

bool line_send(Line *line, char type, const void *data, size_t bytes) {
    uint8_t head[7] = {FIRST, SECOND, (uint8_t)type}, tail[4];
    put_word(head + 3, (uint32_t)bytes);
    put_word(tail, ~crc_of(crc_of(0xffffffffu, head + 2, 5), data, bytes));
    return send_all(line->fd, head, sizeof head) && send_all(line->fd, data, bytes) &&
           send_all(line->fd, tail, sizeof tail);
}

bool line_receive(C *c, Line *line, Frame *out) {
    uint8_t head[5], tail[4], before = 0, byte = 0;
    while (before != FIRST || byte != SECOND) { /* what else the board prints is passed over */
        before = byte;
        if (!receive_all(line->fd, &byte, 1))
            return false;
    }
    if (!receive_all(line->fd, head, sizeof head) || word_at(head + 1) > FRAME_LIMIT)
        return false;
    uint8_t *data = c_alloc(c, word_at(head + 1) + 1);
    *out = (Frame){(char)head[0], word_at(head + 1), data};
    if (!receive_all(line->fd, data, out->bytes) || !receive_all(line->fd, tail, sizeof tail))
        return false;
    return word_at(tail) ==
           (uint32_t)~crc_of(crc_of(0xffffffffu, head, sizeof head), data, out->bytes);
}
