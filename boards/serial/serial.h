/* The board's side of `corten verify --on board`: a model served over a serial line. The firmware
 * brings the two functions that move a byte, and says where the model's inputs and outputs are.
 *
 * A frame is 0xc7 0x7e, a type, the payload's length (32 bits, least byte first), the payload, and
 * the CRC-32 (that of zip) of type, length and payload. The host asks, the board answers:
 *   'h'                     begin: the model's state is reset
 *     'H'  protocol, bytes of inputs, of outputs, of the arena (32 bits each); the archive's
 * SHA-256 'r'  inputs             one inference; inputs and outputs lie one behind the other 'R'
 * cycles (32 bits), outputs 'e'  what is wrong, as text: the host asks again */
#ifndef SERIAL_H
#define SERIAL_H

#include <stdint.h>

enum { SERIAL_PROTOCOL = 1, SERIAL_FIRST = 0xc7, SERIAL_SECOND = 0x7e };

/* Yours: both wait until a byte has come or gone. */
uint8_t serial_get(void);
void serial_put(uint8_t byte);

typedef struct {
    void *data;
    uint32_t bytes;
} SerialPort;

typedef struct {
    const char *sha256; /* <NAME>_SOURCE_SHA256 */
    uint32_t arena_bytes;
    int input_count, output_count;
    const SerialPort *input, *output;
    void (*reset)(void);
    void (*run)(void);
    uint32_t (*cycles)(void); /* counts up; NULL: not measured */
} SerialModel;

/* Answers the next frame; call it for ever. */
void serial_serve(const SerialModel *model);

#endif
