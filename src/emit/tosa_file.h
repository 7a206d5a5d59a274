/* A TOSA program as tosa_file.cpp serializes it: plain data that C and C++ both read. Operators
 * stand in order, each with the one tensor that it gives; tensors are known by their index. */
#ifndef CORTEN_TOSA_FILE_H
#define CORTEN_TOSA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOSA_RANK = 8 };

typedef enum { TOSA_INT8, TOSA_INT16, TOSA_INT32, TOSA_INT48, TOSA_BOOL, TOSA_SHAPE } TosaType;

typedef enum {
    TOSA_ADD,
    TOSA_ARGMAX,
    TOSA_ARITHMETIC_RIGHT_SHIFT,
    TOSA_CAST,
    TOSA_CLAMP,
    TOSA_CLZ,
    TOSA_CONCAT,
    TOSA_CONST,
    TOSA_CONST_SHAPE,
    TOSA_CONV2D,
    TOSA_DEPTHWISE_CONV2D,
    TOSA_GATHER,
    TOSA_IDENTITY,
    TOSA_LOGICAL_LEFT_SHIFT,
    TOSA_MATMUL,
    TOSA_MAXIMUM,
    TOSA_MAX_POOL2D,
    TOSA_MINIMUM,
    TOSA_MUL,
    TOSA_PAD,
    TOSA_REDUCE_MAX,
    TOSA_REDUCE_SUM,
    TOSA_RESCALE,
    TOSA_RESHAPE,
    TOSA_RESIZE,
    TOSA_SLICE,
    TOSA_SUB,
    TOSA_TABLE,
    TOSA_TRANSPOSE,
    TOSA_TRANSPOSE_CONV2D
} TosaKind;

typedef struct {
    const char *name;
    TosaType type;
    int rank;
    int32_t dim[TOSA_RANK];
    const void *data; /* of a constant; of a shape, int64 */
    size_t bytes;
} TosaTensor;

typedef struct { /* the attributes of all kinds together */
    int32_t kernel[2], stride[2], dilation[2];
    int32_t pad[4]; /* top, bottom, left, right; of a transposed convolution what the output gets */
    int32_t axis;
    int32_t perm[TOSA_RANK];
    int32_t min, max;        /* CLAMP: of the type of what it gives */
    bool bilinear;           /* RESIZE: else the nearest */
    bool per_channel, twice; /* RESCALE: twice rounds in two steps; */
    bool short_factors;      /* these have 16 bits, for sums of 48 */
    bool round;              /* a shift to the right, half up */
} TosaAttributes;

typedef struct {
    TosaKind kind;
    TosaAttributes a;
    int in_count;
    const int *in;
    int out;
    const char *location; /* the line of Python, or NULL */
} TosaOperator;

typedef struct {
    const char *name;
    int tensor_count, tensor_capacity, operator_count, operator_capacity;
    TosaTensor *tensor;
    TosaOperator *op;
    int input_count, input_capacity, output_count, output_capacity;
    int *input, *output;
} TosaProgram;

#ifdef __cplusplus
extern "C" {
#endif
/* The file's bytes, from malloc; NULL: out of memory. */
void *tosa_serialize(const TosaProgram *p, size_t *bytes);
#ifdef __cplusplus
}
#endif
#endif
