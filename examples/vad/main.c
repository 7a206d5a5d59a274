/* A microphone, its samples read from recording.wav as they would come from an ADC, and the
 * segments of speech in it, printed as they end. */
#include "board.h"
#include "vad.h"

enum { WAV_HEADER = 44, MILLISECONDS = 1000 };

/* "speech 1.248 to 3.104 s" */
static char *add_seconds(char *text, uint32_t frame) {
    uint32_t ms = frame * VAD_FRAME * MILLISECONDS / VAD_RATE;
    if (ms >= 10 * MILLISECONDS)
        *text++ = (char)('0' + ms / (10 * MILLISECONDS) % 10);
    *text++ = (char)('0' + ms / MILLISECONDS % 10);
    *text++ = '.';
    *text++ = (char)('0' + ms / 100 % 10);
    *text++ = (char)('0' + ms / 10 % 10);
    *text++ = (char)('0' + ms % 10);
    return text;
}

static void print_segment(const VadSegment *segment) {
    char text[48] = "speech ", *end = add_seconds(text + 7, segment->first);
    *end++ = ' ';
    *end++ = 't';
    *end++ = 'o';
    *end++ = ' ';
    end = add_seconds(end, segment->end);
    *end++ = ' ';
    *end++ = 's';
    *end++ = '\n';
    *end = 0;
    console_print(text);
}

int main(void) {
    static Vad vad;
    static int16_t samples[VAD_FRAME];
    VadSegment segment;
    int recording = file_open_read("recording.wav");
    if (recording < 0 || vad_begin(&vad) != 0 || file_read(recording, samples, WAV_HEADER) != 0)
        return 1;
    while (file_read(recording, samples, sizeof samples) == 0)
        if (vad_segment(&vad, vad_frame(&vad, samples), &segment))
            print_segment(&segment);
    if (vad_finish(&vad, &segment))
        print_segment(&segment);
    file_close(recording);
    return 0;
}
