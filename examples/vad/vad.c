/* See vad.h. The model is compiled with --io float: its state stays float between frames, so that
 * nothing is rounded there, and samples go in as real numbers. */
#include "vad.h"

static const float SPEECH = 0.5F, STILL_SPEECH = 0.35F; /* hysteresis, as the model's authors use */

int vad_begin(Vad *vad) {
    for (int i = 0; i < VAD_BEFORE; i++)
        vad->before[i] = 0;
    for (int i = 0; i < VAD_STATE; i++)
        vad->state[i] = 0;
    vad->frame = vad->begun = 0;
    vad->speaking = vad->quiet = 0;
    return SILERO_VAD_INIT(&vad->model, vad->arena, 0);
}

float vad_frame(Vad *vad, const int16_t samples[VAD_FRAME]) {
    float *input = silero_vad_input0(&vad->model), *state = silero_vad_input1(&vad->model);
    for (int i = 0; i < VAD_BEFORE; i++)
        input[i] = vad->before[i];
    for (int i = 0; i < VAD_FRAME; i++)
        input[VAD_BEFORE + i] = (float)samples[i] / 32768.0F;
    for (int i = 0; i < VAD_BEFORE; i++)
        vad->before[i] = input[VAD_FRAME + i];
    for (int i = 0; i < VAD_STATE; i++)
        state[i] = vad->state[i];
    silero_vad_run(&vad->model);
    const float *next = silero_vad_output1(&vad->model);
    for (int i = 0; i < VAD_STATE; i++)
        vad->state[i] = next[i];
    return *silero_vad_output0(&vad->model);
}

static int segment_end(Vad *vad, VadSegment *out) {
    *out = (VadSegment){vad->begun, vad->frame - (uint32_t)vad->quiet};
    vad->speaking = vad->quiet = 0;
    return 1;
}

int vad_segment(Vad *vad, float probability, VadSegment *out) {
    int speech = probability >= (vad->speaking ? STILL_SPEECH : SPEECH);
    if (speech && !vad->speaking) {
        vad->speaking = 1;
        vad->begun = vad->frame;
    }
    vad->quiet = speech ? 0 : vad->quiet + 1;
    vad->frame++;
    return vad->speaking && vad->quiet >= VAD_QUIET_FRAMES ? segment_end(vad, out) : 0;
}

int vad_finish(Vad *vad, VadSegment *out) {
    return vad->speaking ? segment_end(vad, out) : 0;
}
