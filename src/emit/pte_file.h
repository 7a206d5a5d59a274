/* An ExecuTorch program as pte_file.cpp serializes it: plain data that C and C++ both read. Values,
 * constants and operators are known by their index; constant 0 stands for no data. */
#ifndef CORTEN_PTE_FILE_H
#define CORTEN_PTE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTE_RANK = 8, PTE_ALIGN = 16 };

/* The format's own numbers. */
typedef enum { PTE_BYTE = 0, PTE_CHAR = 1, PTE_INT32 = 3, PTE_FLOAT = 6 } PteScalar;

typedef enum { PTE_NONE, PTE_INT, PTE_BOOL, PTE_DOUBLE, PTE_INTS, PTE_TENSOR } PteKind;

typedef struct {
    PteKind kind;
    int64_t number; /* of an int or bool */
    double real;
    int count; /* of a list, whose items are values */
    const int *item;
    PteScalar scalar; /* of a tensor: logical sizes, and the dims in the order of memory */
    int rank;
    int32_t size[PTE_RANK];
    uint8_t order[PTE_RANK];
    int constant;   /* 0: it is planned */
    int64_t offset; /* then: in the planned memory */
} PteValue;

typedef struct {
    const void *data;
    size_t bytes;
} PteConstant;

typedef struct {
    int op, count;
    const int *arg;
} PteCall;

typedef struct {
    PteValue *value;
    PteConstant *constant;
    const char **op; /* all with the overload "out" */
    PteCall *call;
    int value_count, value_capacity, constant_count, constant_capacity;
    int op_count, op_capacity, call_count, call_capacity;
    int *input, *output;
    int input_count, output_count;
    int64_t planned; /* bytes */
} PteProgram;

typedef struct { /* a tensor with its numbers, as they lie in memory */
    PteScalar scalar;
    int rank;
    int32_t size[PTE_RANK];
    uint8_t order[PTE_RANK];
    const void *data;
    size_t bytes;
} PteData;

typedef struct { /* a program with inputs and what it must make of them */
    const void *program;
    size_t program_bytes;
    int case_count, input_count, output_count;
    const PteData *input, *output; /* [case][tensor] */
} PteBundle;

#ifdef __cplusplus
extern "C" {
#endif
/* The file's bytes, from malloc; NULL: out of memory. */
void *pte_serialize(const PteProgram *p, size_t *bytes);
void *pte_bundle(const PteBundle *p, size_t *bytes);
#ifdef __cplusplus
}
#endif
#endif
