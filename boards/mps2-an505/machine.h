#define BOARD_MHZ 20
