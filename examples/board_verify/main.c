/* The chip's side of `corten verify --on board --port DEV`: serves the model over a UART, here that
 * of QEMU's boards. On a board of yours, write serial_get() and serial_put() for its UART. */
#include "digits_silu.h"
#include "machine.h"
#include "serial.h"

#define UART_DATA (*(volatile uint32_t *)BOARD_UART)
#define UART_STATE (*(volatile uint32_t *)(BOARD_UART + 4))
#define UART_CTRL (*(volatile uint32_t *)(BOARD_UART + 8))
#define UART_BAUDDIV (*(volatile uint32_t *)(BOARD_UART + 16))

enum { TX_FULL = 1, RX_FULL = 2, TX_AND_RX_ON = 3, BAUD = 115200 };

int main(void);

uint8_t serial_get(void) {
    while (!(UART_STATE & RX_FULL))
        ;
    return (uint8_t)UART_DATA;
}

void serial_put(uint8_t byte) {
    while (UART_STATE & TX_FULL)
        ;
    UART_DATA = byte;
}

static digits_silu_t model;

static void model_reset(void) {
    digits_silu_reset(&model);
}

static void model_run(void) {
    digits_silu_run(&model);
}

int main(void) {
    UART_BAUDDIV = BOARD_MHZ * 1000000 / BAUD;
    UART_CTRL = TX_AND_RX_ON;
    if (DIGITS_SILU_SETUP(&model) != 0)
        return 1;
    const SerialPort input[] = {{digits_silu_input0(&model), DIGITS_SILU_INPUT0_BYTES}};
    const SerialPort output[] = {{digits_silu_output0(&model), DIGITS_SILU_OUTPUT0_BYTES}};
    const SerialModel served = {
        .sha256 = DIGITS_SILU_SOURCE_SHA256,
        .arena_bytes = DIGITS_SILU_ARENA_BYTES,
        .input_count = DIGITS_SILU_INPUT_COUNT,
        .output_count = DIGITS_SILU_OUTPUT_COUNT,
        .input = input,
        .output = output,
        .reset = model_reset,
        .run = model_run,
    };
    for (;;)
        serial_serve(&served);
}
