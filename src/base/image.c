/* Images as arrays, through stb. Sizes are read before anything is decoded, and bounded: a few
 * bytes can claim a picture of gigabytes. */
#include "base/base.h"

#include <string.h>
#include <strings.h>

/* gcc reports unused functions at the end of the file, so this one is not undone below. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_STDIO
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#define STBI_ONLY_PNM
#include <stb/stb_image.h>
#define STB_IMAGE_RESIZE_STATIC
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb/stb_image_resize.h>
#pragma GCC diagnostic pop

#define PIXEL_LIMIT (100 << 20)

bool path_is_image(const char *path) {
    static const char *const suffixes[] = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".ppm", ".pgm"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < COUNT_OF(suffixes); i++) {
        if (strcasecmp(dot, suffixes[i]) == 0)
            return true;
    }
    return false;
}

/* Averages areas where a side shrinks and interpolates between pixels where it grows. */
static stbir_filter side_filter(int from, int to) {
    return to < from ? STBIR_FILTER_BOX : STBIR_FILTER_TRIANGLE;
}

static bool resize(const unsigned char *from, int width, int height, unsigned char *to,
                   int to_width, int to_height, int channels) {
    return stbir_resize(from, width, height, 0, to, to_width, to_height, 0, STBIR_TYPE_UINT8,
                        channels, STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP, STBIR_EDGE_CLAMP,
                        side_filter(width, to_width), side_filter(height, to_height),
                        STBIR_COLORSPACE_LINEAR, NULL) != 0;
}

static void check_image(C *c, const Loc *loc, const char *bytes, size_t count) {
    int width, height, found;
    if (count > INT32_MAX ||
        !stbi_info_from_memory((const unsigned char *)bytes, (int)count, &width, &height, &found))
        fatal(c, DIAG_INPUT, loc, "not an image that can be read (PNG, JPEG, BMP, GIF, PPM, PGM)");
    if (width <= 0 || height <= 0 || (int64_t)width * height > PIXEL_LIMIT)
        fatal(c, DIAG_INPUT, loc, "an image of %d x %d pixels; at most %d pixels are read", width,
              height, PIXEL_LIMIT);
}

Array *image_read(C *c, const char *path, int channels, int height, int width) {
    Loc loc = {.file = path};
    if (channels != 1 && channels != 3 && channels != 4)
        fatal(c, DIAG_INPUT, &loc, "an image has 1, 3 or 4 channels; the input needs %d", channels);
    if (height <= 0 || width <= 0)
        fatal(c, DIAG_INPUT, &loc, "the input needs an image of %d x %d pixels", width, height);
    size_t count;
    const char *bytes = file_read(c, path, &count);
    check_image(c, &loc, bytes, count);
    Array *a = array_new(c, DT_U8, 3, (int64_t[]){channels, height, width});
    unsigned char *resized = c_alloc(c, (size_t)array_bytes(a)); /* [height][width][channels] */
    int from_width, from_height, found;
    unsigned char *pixels = stbi_load_from_memory((const unsigned char *)bytes, (int)count,
                                                  &from_width, &from_height, &found, channels);
    if (pixels == NULL)
        fatal(c, DIAG_INPUT, &loc, "damaged image: %s", stbi_failure_reason());
    bool good = resize(pixels, from_width, from_height, resized, width, height, channels);
    stbi_image_free(pixels);
    if (!good)
        fatal(c, DIAG_MODEL, &loc, "out of memory while resizing the image");
    unsigned char *to = a->data;
    for (int k = 0; k < channels; k++) {
        for (int64_t i = 0; i < (int64_t)height * width; i++)
            *to++ = resized[i * channels + k];
    }
    return a;
}
