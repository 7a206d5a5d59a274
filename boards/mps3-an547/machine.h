#define BOARD_MHZ 32
