/* Speech in a stream of samples: 512 of them (32 ms at 16 kHz) at a time go through silero_vad, and
 * its probabilities become segments. One Vad is one microphone; it has all that is remembered. */
#ifndef VAD_H
#define VAD_H

#include "silero_vad.h"

enum {
    VAD_RATE = 16000,
    VAD_FRAME = 512, /* new samples of a frame */
    VAD_BEFORE = 64, /* samples of the frame before that the model sees again */
    VAD_STATE = 2 * 128,
    VAD_QUIET_FRAMES = 4 /* a shorter pause does not end a segment */
};

typedef struct {
    CTN_ALIGN(16) uint8_t arena[SILERO_VAD_ARENA_BYTES];
    silero_vad_t model;
    float before[VAD_BEFORE];
    float state[VAD_STATE]; /* of the model, from frame to frame */
    uint32_t frame;         /* that comes next */
    int speaking, quiet;    /* in a segment; frames without speech at its end */
    uint32_t begun;         /* the segment's first frame */
} Vad;

typedef struct {
    uint32_t first, end; /* frames [first, end) */
} VadSegment;

int vad_begin(Vad *vad); /* 0, or -1 when it does not lie aligned */
/* The probability of speech in a frame. */
float vad_frame(Vad *vad, const int16_t samples[VAD_FRAME]);
/* Takes the probability of the next frame; 1 when a segment has ended with it. */
int vad_segment(Vad *vad, float probability, VadSegment *out);
/* The stream has ended; 1 when that ends a segment. */
int vad_finish(Vad *vad, VadSegment *out);

#endif
