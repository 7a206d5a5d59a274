// An ExecuTorch program bundled with inputs and what it must make of them, as the bytes of its
// file.
#include "bundle_generated.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "emit/pte_file.h"

namespace fb = flatbuffers;
namespace file = corten::bundle;

namespace {

typedef fb::FlatBufferBuilder Builder;

fb::Offset<fb::Vector<uint8_t>> bytes_of(Builder &b, const void *data, size_t bytes, size_t align) {
    b.ForceVectorAlignment(bytes, 1, align);
    return b.CreateVector(static_cast<const uint8_t *>(data), bytes);
}

fb::Offset<file::Value> value(Builder &b, const PteData &d) {
    auto sizes = b.CreateVector(d.size, size_t(d.rank));
    auto order = b.CreateVector(d.order, size_t(d.rank));
    auto data = bytes_of(b, d.data, d.bytes, 16);
    auto tensor = file::CreateTensor(b, file::Scalar(d.scalar), sizes, data, order);
    return file::CreateValue(b, file::Kind_Tensor, tensor.Union());
}

fb::Offset<fb::Vector<fb::Offset<file::Value>>> values(Builder &b, const PteData *d, int count) {
    std::vector<fb::Offset<file::Value>> list;
    for (int i = 0; i < count; i++)
        list.push_back(value(b, d[i]));
    return b.CreateVector(list);
}

void *finish(const PteBundle &p, size_t *bytes) {
    Builder b(1 << 14);
    std::vector<fb::Offset<file::Case>> cases;
    for (int i = 0; i < p.case_count; i++) {
        auto in = values(b, p.input + i * p.input_count, p.input_count);
        auto out = values(b, p.output + i * p.output_count, p.output_count);
        cases.push_back(file::CreateCase(b, in, out));
    }
    auto method = b.CreateString("forward");
    auto suite = file::CreateSuite(b, method, b.CreateVector(cases));
    auto suites = b.CreateVector(&suite, 1);
    auto program = bytes_of(b, p.program, p.program_bytes, 32);
    b.Finish(file::CreateBundle(b, 0, suites, program), file::BundleIdentifier());
    *bytes = b.GetSize();
    void *copy = std::malloc(b.GetSize());
    if (copy)
        std::memcpy(copy, b.GetBufferPointer(), b.GetSize());
    return copy;
}

} // namespace

void *pte_bundle(const PteBundle *p, size_t *bytes) {
    try {
        return finish(*p, bytes);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}
