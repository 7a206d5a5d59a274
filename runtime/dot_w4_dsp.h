/* The matrix block of the DSP level (dot_dsp.h) for weights of 4 bits, which stand for 16 times
 * their value (nibble.h). The rows, the stores and the stream of an odd last column are those of 8
 * bits. The stream of a pair of columns: per step of depth a word of four bytes
 * 16 * w1 + w0 + 8; int32 twice the bias of both; multiplier of the first; shifts of both;
 * multiplier of the second. */
#ifndef CTN_DOT_W4_DSP_H
#define CTN_DOT_W4_DSP_H

#include "dot_dsp.h"

enum { CTN_DOT_DEPTH_W4 = 1 << 15 }; /* 16 * 510 * 7 a product: rows of fewer bytes fit int32 */

extern const CtnDotKindDsp ctn_dot_w4_dsp;

#endif
