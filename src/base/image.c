/* Images as arrays: PNG through libpng, JPEG through libjpeg. Sizes are read before anything is
 * decoded, and bounded: a few bytes can claim a picture of gigabytes. What is as large as the
 * picture is freed at once, not with the arena, since a folder may hold thousands; so nothing in
 * here unwinds before all is released, and decoders return what went wrong instead. */
#include "base/base.h"

#include <errno.h>
#include <jpeglib.h> /* needs stdio.h before it */

#include <jerror.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* gcc reports unused functions at the end of the file, so this one is not undone below. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#define STB_IMAGE_RESIZE_STATIC
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb/stb_image_resize.h>
#pragma GCC diagnostic pop

#define PIXEL_LIMIT (32 << 20) /* with alpha, 128 MB */
/* JPEGs of several scans, which progressive ones have and others may, are held as coefficients too,
 * of two bytes: 9 bytes a pixel, 162 MB; and a scan of a few bytes passes over all of them.
 * Encoders write some ten. */
#define SCANS_PIXEL_LIMIT (18 << 20)
#define SCAN_LIMIT 50

typedef struct {
    int64_t width, height;
    int channels;                  /* 3: red, green, blue; 4: and alpha */
    unsigned char *data;           /* [height][width][channels], from malloc */
    char problem[JMSG_LENGTH_MAX]; /* why there is none */
} Pixels;

bool path_is_image(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot != NULL && (strcasecmp(dot, ".png") == 0 || strcasecmp(dot, ".jpg") == 0 ||
                           strcasecmp(dot, ".jpeg") == 0);
}

static bool refuse(Pixels *p, const char *problem) {
    snprintf(p->problem, sizeof p->problem, "%s", problem);
    return false;
}

static bool pixels_make(Pixels *p, int64_t width, int64_t height, int limit, int channels) {
    if (width <= 0 || height <= 0 || height > limit / width) {
        snprintf(p->problem, sizeof p->problem, "%lld x %lld pixels; at most %d pixels are read%s",
                 (long long)width, (long long)height, limit,
                 limit < PIXEL_LIMIT ? " of a JPEG of several scans" : "");
        return false;
    }
    p->width = width;
    p->height = height;
    p->channels = channels;
    p->data = calloc((size_t)(width * height), (size_t)channels);
    return p->data != NULL || refuse(p, "out of memory");
}

/* 16-bit samples without a gamma are taken as sRGB, as viewers and Pillow do. */
static bool png_decode(FILE *f, Pixels *p) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_stdio(&image, f))
        return refuse(p, image.message);
    image.format = PNG_FORMAT_RGBA;
    image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    bool good = pixels_make(p, image.width, image.height, PIXEL_LIMIT, 4);
    if (good && !png_image_finish_read(&image, NULL, p->data, 0, NULL))
        good = refuse(p, image.message);
    png_image_free(&image);
    return good;
}

typedef struct {
    struct jpeg_error_mgr base; /* first: libjpeg knows only of this */
    jmp_buf unwind;
    char *problem;
} JpegError;

static _Noreturn void jpeg_fail(j_common_ptr info) {
    JpegError *error = (JpegError *)info->err;
    error->base.format_message(info, error->problem);
    longjmp(error->unwind, 1);
}

/* libjpeg would fill the missing part of a file that is cut off with grey. */
static void jpeg_note(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF)
        jpeg_fail(info);
}

static void jpeg_count_scans(j_common_ptr info) {
    JpegError *error = (JpegError *)info->err;
    if (((j_decompress_ptr)info)->input_scan_number <= SCAN_LIMIT)
        return;
    snprintf(error->problem, JMSG_LENGTH_MAX, "more than %d scans", SCAN_LIMIT);
    longjmp(error->unwind, 1);
}

static bool jpeg_decode(FILE *f, Pixels *p) {
    JpegError error = {.problem = p->problem};
    struct jpeg_decompress_struct info = {0};
    info.err = jpeg_std_error(&error.base);
    error.base.error_exit = jpeg_fail;
    error.base.emit_message = jpeg_note;
    if (setjmp(error.unwind) != 0) {
        jpeg_destroy_decompress(&info);
        return false;
    }
    struct jpeg_progress_mgr scans = {.progress_monitor = jpeg_count_scans};
    jpeg_create_decompress(&info);
    info.progress = &scans;
    jpeg_stdio_src(&info, f);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_RGB;
    int limit = jpeg_has_multiple_scans(&info) ? SCANS_PIXEL_LIMIT : PIXEL_LIMIT;
    bool good = pixels_make(p, info.image_width, info.image_height, limit, 3);
    if (good) {
        jpeg_start_decompress(&info);
        while (info.output_scanline < info.output_height) {
            JSAMPROW row = p->data + 3 * (size_t)info.output_scanline * (size_t)p->width;
            jpeg_read_scanlines(&info, &row, 1);
        }
        jpeg_finish_decompress(&info);
    }
    jpeg_destroy_decompress(&info);
    return good;
}

static bool image_decode(FILE *f, Pixels *p) {
    unsigned char start[2] = {0};
    size_t got = fread(start, 1, sizeof start, f);
    rewind(f);
    if (got == 2 && start[0] == 0x89 && start[1] == 'P')
        return png_decode(f, p);
    if (got == 2 && start[0] == 0xff && start[1] == 0xd8)
        return jpeg_decode(f, p);
    return refuse(p, "neither PNG nor JPEG");
}

/* Grey is the luminance of ITU-R 601, as Pillow computes it; alpha is dropped, or opaque where
 * there was none. `to` may be `from` where there are no more channels than before. */
static void pixel_convert(const unsigned char *from, int from_channels, unsigned char *to,
                          int channels) {
    if (channels == 1) {
        to[0] =
            (unsigned char)((19595u * from[0] + 38470u * from[1] + 7471u * from[2] + 32768u) >> 16);
        return;
    }
    memmove(to, from, 3);
    if (channels == 4)
        to[3] = from_channels == 4 ? from[3] : 255;
}

/* To `channels` channels, in place where they are no more. */
static bool pixels_convert(Pixels *p, int channels) {
    size_t count = (size_t)(p->width * p->height);
    bool more = channels > p->channels;
    unsigned char *to = more ? calloc(count, (size_t)channels) : p->data;
    if (to == NULL)
        return refuse(p, "out of memory");
    for (size_t i = 0; i < count; i++)
        pixel_convert(p->data + i * (size_t)p->channels, p->channels, to + i * (size_t)channels,
                      channels);
    if (more)
        free(p->data);
    p->data = to;
    p->channels = channels;
    return true;
}

/* Averages areas where a side shrinks and interpolates between pixels where it grows. */
static stbir_filter side_filter(int64_t from, int64_t to) {
    return to < from ? STBIR_FILTER_BOX : STBIR_FILTER_TRIANGLE;
}

static bool pixels_resize(Pixels *p, unsigned char *to, int width, int height) {
    int done = stbir_resize(p->data, (int)p->width, (int)p->height, 0, to, width, height, 0,
                            STBIR_TYPE_UINT8, p->channels, STBIR_ALPHA_CHANNEL_NONE, 0,
                            STBIR_EDGE_CLAMP, STBIR_EDGE_CLAMP, side_filter(p->width, width),
                            side_filter(p->height, height), STBIR_COLORSPACE_LINEAR, NULL);
    return done || refuse(p, "out of memory");
}

Array *image_read(C *c, const char *path, int channels, int height, int width) {
    Loc loc = {.file = path};
    if (channels != 1 && channels != 3 && channels != 4)
        fatal(c, DIAG_INPUT, &loc, "an image has 1, 3 or 4 channels; the input needs %d", channels);
    if (height <= 0 || width <= 0)
        fatal(c, DIAG_INPUT, &loc, "the input needs an image of %d x %d pixels", width, height);
    Array *a = array_new(c, DT_U8, 3, (int64_t[]){channels, height, width});
    unsigned char *resized = c_alloc(c, (size_t)array_bytes(a)); /* [height][width][channels] */
    (void)file_size(c, path, "an image");
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        file_fail(c, path, "read the file", errno);
    Pixels p = {0};
    bool good = image_decode(f, &p) && pixels_convert(&p, channels) &&
                pixels_resize(&p, resized, width, height);
    (void)fclose(f);
    free(p.data);
    if (!good)
        fatal(c, DIAG_INPUT, &loc, "not a usable image: %s", p.problem);
    unsigned char *to = a->data;
    for (int k = 0; k < channels; k++) {
        for (int64_t i = 0; i < (int64_t)height * width; i++)
            *to++ = resized[i * channels + k];
    }
    return a;
}
