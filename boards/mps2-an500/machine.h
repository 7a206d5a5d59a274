#define BOARD_MHZ 25
