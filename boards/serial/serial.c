/* See serial.h. Inputs are written as they come, so that no buffer is needed: a frame whose
 * checksum is wrong has spoilt them, and is answered so that the host sends it again. */
#include "serial.h"

#include <stddef.h>

enum { SHA256_TEXT = 64 };

static uint32_t crc; /* of the frame that is under way */

static void crc_add(uint8_t byte) {
    crc ^= byte;
    for (int bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
}

static uint8_t get(void) {
    uint8_t byte = serial_get();
    crc_add(byte);
    return byte;
}

static void put(uint8_t byte) {
    crc_add(byte);
    serial_put(byte);
}

static uint32_t get_word(void) {
    uint32_t word = 0;
    for (int i = 0; i < 32; i += 8)
        word |= (uint32_t)get() << i;
    return word;
}

static void put_word(uint32_t word) {
    for (int i = 0; i < 32; i += 8)
        put((uint8_t)(word >> i));
}

static void frame_begin(uint8_t type, uint32_t length) {
    serial_put(SERIAL_FIRST);
    serial_put(SERIAL_SECOND);
    crc = 0xffffffffu;
    put(type);
    put_word(length);
}

static void frame_end(void) {
    put_word(~crc);
}

static void answer_error(const char *what) {
    uint32_t length = 0;
    while (what[length])
        length++;
    frame_begin('e', length);
    for (uint32_t i = 0; i < length; i++)
        put((uint8_t)what[i]);
    frame_end();
}

static uint32_t ports_bytes(const SerialPort *port, int count) {
    uint32_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += port[i].bytes;
    return bytes;
}

static void answer_hello(const SerialModel *m) {
    m->reset();
    frame_begin('H', 16 + SHA256_TEXT);
    put_word(SERIAL_PROTOCOL);
    put_word(ports_bytes(m->input, m->input_count));
    put_word(ports_bytes(m->output, m->output_count));
    put_word(m->arena_bytes);
    for (int i = 0, ended = 0; i < SHA256_TEXT; i++) {
        ended |= m->sha256[ended ? 0 : i] == 0;
        put(ended ? 0 : (uint8_t)m->sha256[i]);
    }
    frame_end();
}

static void answer_run(const SerialModel *m) {
    uint32_t before = m->cycles ? m->cycles() : 0;
    m->run();
    uint32_t cycles = m->cycles ? m->cycles() - before : 0;
    frame_begin('R', 4 + ports_bytes(m->output, m->output_count));
    put_word(cycles);
    for (int k = 0; k < m->output_count; k++)
        for (uint32_t i = 0; i < m->output[k].bytes; i++)
            put(((const uint8_t *)m->output[k].data)[i]);
    frame_end();
}

static void take_inputs(const SerialModel *m) {
    for (int k = 0; k < m->input_count; k++)
        for (uint32_t i = 0; i < m->input[k].bytes; i++)
            ((uint8_t *)m->input[k].data)[i] = get();
}

/* Only frames of the length that their type has: anything else is noise and is passed over. */
static int length_fits(const SerialModel *m, uint8_t type, uint32_t length) {
    return type == 'h' ? length == 0
                       : type == 'r' && length == ports_bytes(m->input, m->input_count);
}

void serial_serve(const SerialModel *m) {
    for (uint8_t before = 0, byte = 0; before != SERIAL_FIRST || byte != SERIAL_SECOND;) {
        before = byte;
        byte = serial_get();
    }
    crc = 0xffffffffu;
    uint8_t type = get();
    uint32_t length = get_word();
    if (!length_fits(m, type, length)) {
        answer_error("a frame of another type or length");
        return;
    }
    if (type == 'r')
        take_inputs(m);
    uint32_t wanted = ~crc, found = 0;
    for (int i = 0; i < 32; i += 8)
        found |= (uint32_t)serial_get() << i;
    if (found != wanted)
        answer_error("the checksum is wrong");
    else if (type == 'h')
        answer_hello(m);
    else
        answer_run(m);
}
