/* A serial line and the frames on it (boards/serial/serial.h has their form). */
#ifndef CORTEN_SERIAL_LINE_H
#define CORTEN_SERIAL_LINE_H

#include "base/base.h"

typedef struct {
    int fd;
} Line;

typedef struct {
    char type;
    size_t bytes;
    const uint8_t *data;
} Frame;

void line_open(C *c, Line *line, const char *port, int baud); /* a terminal; closed with the C */
void line_close(Line *line);
bool line_send(Line *line, char type, const void *data, size_t bytes);
/* The next frame that is whole; false when none comes in time or its checksum is wrong. */
bool line_receive(C *c, Line *line, Frame *out);

#endif
