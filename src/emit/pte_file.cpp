// An ExecuTorch program as the bytes of its file: the flatbuffer with an extended header behind its
// first eight bytes, then one segment of all constants. Nothing is decided here.
#include "pte_generated.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "emit/pte_file.h"

namespace fb = flatbuffers;
namespace file = corten::pte;

namespace {

typedef fb::FlatBufferBuilder Builder;

enum { HEADER = 32, SEGMENT_ALIGN = 128, MEMORY = 1 };

size_t aligned(size_t n, size_t to) {
    return (n + to - 1) / to * to;
}

fb::Offset<file::Tensor> tensor(Builder &b, const PteValue &v) {
    auto sizes = b.CreateVector(v.size, size_t(v.rank));
    auto order = b.CreateVector(v.order, size_t(v.rank));
    fb::Offset<file::Place> place = 0;
    if (!v.constant)
        place =
            file::CreatePlace(b, MEMORY, uint32_t(v.offset), uint32_t(uint64_t(v.offset) >> 32));
    return file::CreateTensor(b, file::Scalar(v.scalar), 0, sizes, order, false,
                              uint32_t(v.constant), place, 0, 0);
}

fb::Offset<file::Value> value(Builder &b, const PteValue &v) {
    switch (v.kind) {
    case PTE_INT:
        return file::CreateValue(b, file::Kind_Int, file::CreateInt(b, v.number).Union());
    case PTE_BOOL:
        return file::CreateValue(b, file::Kind_Bool, file::CreateBool(b, v.number != 0).Union());
    case PTE_DOUBLE:
        return file::CreateValue(b, file::Kind_Double, file::CreateDouble(b, v.real).Union());
    case PTE_INTS: {
        std::vector<int64_t> items(v.item, v.item + v.count);
        auto list = b.CreateVector(items);
        return file::CreateValue(b, file::Kind_IntList, file::CreateIntList(b, list).Union());
    }
    case PTE_TENSOR:
        return file::CreateValue(b, file::Kind_Tensor, tensor(b, v).Union());
    case PTE_NONE:
        break;
    }
    return file::CreateValue(b, file::Kind_None, file::CreateNone(b).Union());
}

fb::Offset<file::Instruction> instruction(Builder &b, const PteCall &c) {
    auto args = b.CreateVector(c.arg, size_t(c.count));
    auto call = file::CreateKernelCall(b, c.op, args);
    return file::CreateInstruction(b, file::Action_KernelCall, call.Union());
}

// How PyTorch writes the structure of a call's arguments: a tuple of tensors, no keywords.
std::string leaves(int count) {
    std::string text;
    for (int i = 0; i < count; i++)
        text +=
            std::string(i ? ", " : "") + R"({"type": null, "context": null, "children_spec": []})";
    return text;
}

std::string tuple_of(const std::string &children) {
    return R"({"type": "builtins.tuple", "context": "null", "children_spec": [)" + children + "]}";
}

fb::Offset<file::Metadata> metadata(Builder &b, const PteProgram &p) {
    std::string keywords = R"({"type": "builtins.dict", "context": "[]", "children_spec": []})";
    std::string in = tuple_of(tuple_of(leaves(p.input_count)) + ", " + keywords);
    std::string out = p.output_count == 1 ? leaves(1) : tuple_of(leaves(p.output_count));
    auto inputs = b.CreateString("[1, " + in + "]"), outputs = b.CreateString("[1, " + out + "]");
    return file::CreateMetadata(b, inputs, outputs);
}

fb::Offset<file::Plan> plan(Builder &b, const PteProgram &p) {
    std::vector<fb::Offset<file::Value>> values;
    std::vector<fb::Offset<file::Operator>> operators;
    std::vector<fb::Offset<file::Instruction>> instructions;
    for (int i = 0; i < p.value_count; i++)
        values.push_back(value(b, p.value[i]));
    auto overload = b.CreateString("out");
    for (int i = 0; i < p.op_count; i++)
        operators.push_back(file::CreateOperator(b, b.CreateString(p.op[i]), overload));
    for (int i = 0; i < p.call_count; i++)
        instructions.push_back(instruction(b, p.call[i]));
    std::vector<int32_t> none;
    std::vector<fb::Offset<file::Delegate>> delegates;
    auto chain = file::CreateChain(b, b.CreateVector(none), b.CreateVector(none),
                                   b.CreateVector(instructions));
    auto name = b.CreateString("forward");
    auto meta = metadata(b, p);
    auto all = b.CreateVector(values);
    auto in = b.CreateVector(p.input, size_t(p.input_count));
    auto out = b.CreateVector(p.output, size_t(p.output_count));
    auto chains = b.CreateVector(&chain, 1);
    auto ops = b.CreateVector(operators);
    auto no_delegates = b.CreateVector(delegates);
    std::vector<int64_t> sizes = {0, p.planned};
    return file::CreatePlan(b, name, meta, all, in, out, chains, ops, no_delegates,
                            b.CreateVector(sizes));
}

// Where each constant begins in the segment; how long that is.
size_t lay_constants(const PteProgram &p, std::vector<uint64_t> &offsets) {
    size_t end = 0;
    for (int i = 0; i < p.constant_count; i++) {
        end = aligned(end, PTE_ALIGN);
        offsets.push_back(end);
        end += p.constant[i].bytes;
    }
    return end;
}

void put(uint8_t *to, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++)
        to[i] = uint8_t(number >> (8 * i));
}

void put_header(uint8_t *to, size_t program, size_t segments, size_t segment_bytes) {
    std::memcpy(to, "eh00", 4);
    put(to + 4, HEADER, 4);
    put(to + 8, program, 8);
    put(to + 16, segments, 8);
    put(to + 24, segment_bytes, 8);
}

void *finish(const PteProgram &p, size_t *bytes) {
    Builder b(1 << 14);
    std::vector<uint64_t> offsets;
    size_t constant_bytes = lay_constants(p, offsets);
    auto forward = plan(b, p);
    auto plans = b.CreateVector(&forward, 1);
    std::vector<fb::Offset<file::Buffer>> no_buffers;
    std::vector<fb::Offset<file::DelegateData>> no_data;
    auto buffers = b.CreateVector(no_buffers);
    auto data = b.CreateVector(no_data);
    auto segment = file::CreateSegment(b, 0, constant_bytes);
    auto segments = b.CreateVector(&segment, 1);
    auto places = file::CreateOffsets(b, 0, b.CreateVector(offsets));
    b.Finish(file::CreateProgram(b, 0, plans, buffers, data, segments, places),
             file::ProgramIdentifier());
    size_t program = HEADER + b.GetSize(), start = aligned(program, SEGMENT_ALIGN);
    *bytes = start + constant_bytes;
    uint8_t *out = static_cast<uint8_t *>(std::calloc(1, *bytes));
    if (!out)
        return nullptr;
    const uint8_t *from = b.GetBufferPointer();
    std::memcpy(out, from, 8);
    put(out, fb::ReadScalar<uint32_t>(from) + uint64_t(HEADER), 4); // the root's place has moved
    put_header(out + 8, program, start, constant_bytes);
    std::memcpy(out + 8 + HEADER, from + 8, b.GetSize() - 8);
    for (int i = 0; i < p.constant_count; i++)
        if (p.constant[i].bytes > 0)
            std::memcpy(out + start + offsets[size_t(i)], p.constant[i].data, p.constant[i].bytes);
    return out;
}

} // namespace

void *pte_serialize(const PteProgram *p, size_t *bytes) {
    try {
        return finish(*p, bytes);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}
