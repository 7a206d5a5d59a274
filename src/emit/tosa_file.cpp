// A TOSA program as the bytes of its file: nothing is decided here.
#include "tosa_generated.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "emit/tosa_file.h"

namespace fb = flatbuffers;
namespace file = corten::tosa;

namespace {

typedef fb::FlatBufferBuilder Builder;

file::DType dtype_of(TosaType type) {
    switch (type) {
    case TOSA_INT8:
        return file::DType_INT8;
    case TOSA_INT16:
        return file::DType_INT16;
    case TOSA_INT32:
        return file::DType_INT32;
    case TOSA_INT48:
        return file::DType_INT48;
    case TOSA_BOOL:
        return file::DType_BOOL;
    case TOSA_SHAPE:
        return file::DType_SHAPE;
    }
    return file::DType_UNKNOWN;
}

fb::Offset<fb::Vector<int32_t>> list(Builder &b, const int32_t *item, size_t count) {
    return b.CreateVector(item, count);
}

fb::Offset<fb::Vector<uint8_t>> bytes_of(Builder &b, const void *data, size_t bytes) {
    b.ForceVectorAlignment(bytes, 1, 8);
    return b.CreateVector(static_cast<const uint8_t *>(data), bytes);
}

struct Attribute {
    file::Attribute kind;
    fb::Offset<void> offset;
};

Attribute none(Builder &b, file::Attribute kind) {
    return {kind, file::CreateNone(b).Union()};
}

Attribute conv(Builder &b, file::Attribute kind, const TosaAttributes &a, TosaType sums) {
    auto pad = list(b, a.pad, 4), stride = list(b, a.stride, 2), dilation = list(b, a.dilation, 2);
    return {kind, file::CreateConv(b, pad, stride, dilation, false, dtype_of(sums)).Union()};
}

Attribute transpose_conv(Builder &b, const TosaAttributes &a) {
    auto pad = list(b, a.pad, 4), stride = list(b, a.stride, 2);
    return {file::Attribute_TransposeConv2d,
            file::CreateTransposeConv(b, pad, stride, false, file::DType_INT32).Union()};
}

Attribute max_pool(Builder &b, const TosaAttributes &a) {
    auto kernel = list(b, a.kernel, 2), stride = list(b, a.stride, 2), pad = list(b, a.pad, 4);
    return {file::Attribute_MaxPool2d,
            file::CreateMaxPool(b, kernel, stride, pad, file::NanMode_PROPAGATE).Union()};
}

fb::Offset<fb::Vector<uint8_t>> bound(Builder &b, int32_t number, TosaType type) {
    int8_t byte = int8_t(number);
    int16_t half = int16_t(number);
    return type == TOSA_INT8 ? bytes_of(b, &byte, sizeof byte) : bytes_of(b, &half, sizeof half);
}

Attribute clamp(Builder &b, const TosaAttributes &a, TosaType type) {
    auto low = bound(b, a.min, type), high = bound(b, a.max, type);
    return {file::Attribute_ClampOp,
            file::CreateClamp(b, low, high, file::NanMode_PROPAGATE).Union()};
}

Attribute rescale(Builder &b, const TosaAttributes &a) {
    auto rounding = a.twice ? file::Rounding_DOUBLE : file::Rounding_SINGLE;
    return {
        file::Attribute_RescaleOp,
        file::CreateRescale(b, !a.short_factors, rounding, a.per_channel, false, false).Union()};
}

Attribute attribute(Builder &b, const TosaOperator &o, const TosaTensor &out) {
    switch (o.kind) {
    case TOSA_ADD:
        return none(b, file::Attribute_Add);
    case TOSA_ARGMAX:
        return {file::Attribute_ArgMax,
                file::CreateAxisNan(b, o.a.axis, file::NanMode_PROPAGATE).Union()};
    case TOSA_ARITHMETIC_RIGHT_SHIFT:
        return {file::Attribute_ArithmeticRightShift, file::CreateShift(b, o.a.round).Union()};
    case TOSA_CAST:
        return none(b, file::Attribute_Cast);
    case TOSA_CLAMP:
        return clamp(b, o.a, out.type);
    case TOSA_CLZ:
        return none(b, file::Attribute_ClzOp);
    case TOSA_CONCAT:
        return {file::Attribute_Concat, file::CreateAxis(b, o.a.axis).Union()};
    case TOSA_CONST:
        return none(b, file::Attribute_Const);
    case TOSA_CONST_SHAPE:
        return none(b, file::Attribute_ConstShape);
    case TOSA_CONV2D:
        return conv(b, file::Attribute_Conv2d, o.a, out.type);
    case TOSA_DEPTHWISE_CONV2D:
        return conv(b, file::Attribute_Depthwise, o.a, out.type);
    case TOSA_GATHER:
        return none(b, file::Attribute_Gather);
    case TOSA_IDENTITY:
        return none(b, file::Attribute_IdentityOp);
    case TOSA_LOGICAL_LEFT_SHIFT:
        return none(b, file::Attribute_LogicalLeftShift);
    case TOSA_MATMUL:
        return none(b, file::Attribute_MatMul);
    case TOSA_MAXIMUM:
        return {file::Attribute_MaximumOp, file::CreateNan(b, file::NanMode_PROPAGATE).Union()};
    case TOSA_MINIMUM:
        return {file::Attribute_MinimumOp, file::CreateNan(b, file::NanMode_PROPAGATE).Union()};
    case TOSA_MAX_POOL2D:
        return max_pool(b, o.a);
    case TOSA_MUL:
        return none(b, file::Attribute_Mul);
    case TOSA_PAD:
        return none(b, file::Attribute_Pad);
    case TOSA_REDUCE_MAX:
        return {file::Attribute_ReduceMax,
                file::CreateAxisNan(b, o.a.axis, file::NanMode_PROPAGATE).Union()};
    case TOSA_REDUCE_SUM:
        return {file::Attribute_ReduceSum, file::CreateAxis(b, o.a.axis).Union()};
    case TOSA_RESCALE:
        return rescale(b, o.a);
    case TOSA_RESHAPE:
        return none(b, file::Attribute_Reshape);
    case TOSA_RESIZE:
        return {file::Attribute_ResizeOp,
                file::CreateResize(b, o.a.bilinear ? file::ResizeMode_BILINEAR
                                                   : file::ResizeMode_NEAREST)
                    .Union()};
    case TOSA_SLICE:
        return none(b, file::Attribute_SliceOp);
    case TOSA_SUB:
        return none(b, file::Attribute_Sub);
    case TOSA_TABLE:
        return none(b, file::Attribute_TableOp);
    case TOSA_TRANSPOSE:
        return {file::Attribute_TransposeOp,
                file::CreateTranspose(b, list(b, o.a.perm, size_t(out.rank))).Union()};
    case TOSA_TRANSPOSE_CONV2D:
        return transpose_conv(b, o.a);
    }
    return none(b, file::Attribute_NONE);
}

typedef fb::Offset<fb::Vector<fb::Offset<fb::String>>> Names;

Names names(Builder &b, const TosaProgram *t, const int *tensor, int count) {
    std::vector<fb::Offset<fb::String>> list;
    for (int i = 0; i < count; i++)
        list.push_back(b.CreateSharedString(t->tensor[tensor[i]].name));
    return b.CreateVector(list);
}

fb::Offset<file::Operator> operator_of(Builder &b, const TosaProgram *t, const TosaOperator &o) {
    Attribute a = attribute(b, o, t->tensor[o.out]);
    Names in = names(b, t, o.in, o.in_count), out = names(b, t, &o.out, 1);
    fb::Offset<file::Location> location = 0;
    if (o.location)
        location = file::CreateLocation(b, b.CreateString(o.location));
    return file::CreateOperator(b, uint32_t(a.kind), a.kind, a.offset, in, out, location);
}

fb::Offset<file::Tensor> tensor_of(Builder &b, const TosaTensor &x) {
    std::vector<int32_t> dim(x.dim, x.dim + x.rank);
    auto name = b.CreateSharedString(x.name);
    auto shape = b.CreateVector(dim);
    fb::Offset<fb::Vector<uint8_t>> data = 0;
    if (x.data)
        data = bytes_of(b, x.data, x.bytes);
    return file::CreateTensor(b, name, shape, dtype_of(x.type), data);
}

void *finish(const TosaProgram *t, size_t *bytes) {
    Builder b(1 << 16);
    std::vector<fb::Offset<file::Tensor>> tensors;
    std::vector<fb::Offset<file::Shape>> shapes;
    std::vector<fb::Offset<file::Operator>> operators;
    for (int i = 0; i < t->tensor_count; i++) {
        const TosaTensor &x = t->tensor[i];
        if (x.type != TOSA_SHAPE)
            tensors.push_back(tensor_of(b, x));
        else
            shapes.push_back(file::CreateShape(b, b.CreateSharedString(x.name), uint32_t(x.dim[0]),
                                               bytes_of(b, x.data, x.bytes)));
    }
    for (int i = 0; i < t->operator_count; i++)
        operators.push_back(operator_of(b, t, t->op[i]));
    auto main = b.CreateSharedString("main");
    auto ops = b.CreateVector(operators);
    auto all = b.CreateVector(tensors);
    Names in = names(b, t, t->input, t->input_count);
    Names out = names(b, t, t->output, t->output_count);
    auto block = file::CreateBlock(b, main, ops, all, in, out, b.CreateVector(shapes));
    auto region = file::CreateRegion(b, b.CreateString(t->name), b.CreateVector(&block, 1));
    auto version = file::CreateVersion(b, 1, 0, 0, false);
    b.Finish(file::CreateGraph(b, version, b.CreateVector(&region, 1)), file::GraphIdentifier());
    *bytes = b.GetSize();
    void *copy = std::malloc(b.GetSize());
    if (copy)
        std::memcpy(copy, b.GetBufferPointer(), b.GetSize());
    return copy;
}

} // namespace

void *tosa_serialize(const TosaProgram *t, size_t *bytes) {
    try {
        return finish(t, bytes);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}
