// ExecuTorch's own C++ runtime, for tests: loads a program, verifies it, plans exactly the memory that
// it asks for and runs it. Its operators are called back, one function for each slot, unless a library
// that was loaded before has them. Read by runtime.py.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rt = executorch::runtime;

extern "C" {

enum { RANK_MOST = 16, SLOTS = 32, GUARD = 64, GUARD_BYTE = 0xA5 };
enum Kind { NONE, INTEGER, REAL, TRUTH, TENSOR, LIST };

struct Argument {
    int32_t kind, dtype, rank, size[RANK_MOST], stride[RANK_MOST];
    int64_t integer; // of a list: how many
    double real;
    void *data; // of a list: int64
};

typedef int (*Callback)(int slot, int count, const Argument *argument);

struct Loaded {
    std::vector<uint8_t> file;
    std::unique_ptr<executorch::extension::BufferDataLoader> loader;
    std::unique_ptr<rt::Program> program;
    executorch::extension::MallocMemoryAllocator allocator, temporary;
    std::vector<std::vector<uint8_t>> planned;
    std::vector<rt::Span<uint8_t>> spans;
    std::unique_ptr<rt::HierarchicalAllocator> memory;
    std::unique_ptr<rt::MemoryManager> manager;
    std::unique_ptr<rt::Method> method;
};
}

namespace {

Callback callback;
std::deque<std::string> names;

Argument described(const rt::EValue &v) {
    Argument a = {};
    if (v.isInt()) {
        a.kind = INTEGER;
        a.integer = v.toInt();
    } else if (v.isDouble()) {
        a.kind = REAL;
        a.real = v.toDouble();
    } else if (v.isBool()) {
        a.kind = TRUTH;
        a.integer = v.toBool();
    } else if (v.isIntList()) {
        a.kind = LIST;
        auto list = v.toIntList();
        a.integer = static_cast<int64_t>(list.size());
        a.data = const_cast<int64_t *>(list.data());
    } else if (v.isTensor()) {
        const auto t = v.toTensor();
        a.kind = TENSOR;
        a.dtype = static_cast<int32_t>(t.scalar_type());
        a.rank = static_cast<int32_t>(t.dim());
        for (int d = 0; d < a.rank; d++) {
            a.size[d] = static_cast<int32_t>(t.size(d));
            a.stride[d] = static_cast<int32_t>(t.strides()[static_cast<size_t>(d)]);
        }
        a.data = t.mutable_data_ptr();
    }
    return a;
}

template <int Slot> void called(rt::KernelRuntimeContext &context, rt::Span<rt::EValue *> stack) {
    std::vector<Argument> arguments;
    for (const rt::EValue *v : stack)
        arguments.push_back(described(*v));
    if (callback(Slot, static_cast<int>(arguments.size()), arguments.data()) != 0)
        context.fail(rt::Error::Internal);
}

template <int... Slot>
const rt::OpFunction *functions(std::integer_sequence<int, Slot...>) {
    static const rt::OpFunction table[] = {called<Slot>...};
    return table;
}

rt::Error load(Loaded &p) {
    p.loader = std::make_unique<executorch::extension::BufferDataLoader>(p.file.data(), p.file.size());
    auto program =
        rt::Program::load(p.loader.get(), rt::Program::Verification::InternalConsistency);
    if (!program.ok())
        return program.error();
    p.program = std::make_unique<rt::Program>(std::move(*program));
    auto meta = p.program->method_meta("forward");
    if (!meta.ok())
        return meta.error();
    for (size_t i = 0; i < meta->num_memory_planned_buffers(); i++) {
        auto bytes = static_cast<size_t>(*meta->memory_planned_buffer_size(i));
        p.planned.emplace_back(bytes + GUARD, static_cast<uint8_t>(GUARD_BYTE));
        p.spans.emplace_back(p.planned.back().data(), bytes);
    }
    p.memory = std::make_unique<rt::HierarchicalAllocator>(
        rt::Span<rt::Span<uint8_t>>(p.spans.data(), p.spans.size()));
    p.manager = std::make_unique<rt::MemoryManager>(&p.allocator, p.memory.get(), &p.temporary);
    auto method = p.program->load_method("forward", p.manager.get());
    if (!method.ok())
        return method.error();
    p.method = std::make_unique<rt::Method>(std::move(*method));
    return rt::Error::Ok;
}

} // namespace

extern "C" {

void runtime_start(Callback with) {
    rt::runtime_init();
    callback = with;
}

int operator_known(const char *name) {
    return rt::registry_has_op_function(name);
}

// Calls of it go to the callback, with the slot that is returned; -1: there are too many.
int operator_add(const char *name) {
    if (names.size() == SLOTS)
        return -1;
    auto slot = names.size();
    names.emplace_back(name);
    rt::Kernel kernel(names.back().c_str(),
                      functions(std::make_integer_sequence<int, SLOTS>())[slot]);
    return rt::register_kernel(kernel) == rt::Error::Ok ? static_cast<int>(slot) : -1;
}

// NULL: refused, with the runtime's error.
Loaded *program_load(const void *data, size_t bytes, int *error) {
    auto p = std::make_unique<Loaded>();
    auto from = static_cast<const uint8_t *>(data);
    p->file.assign(from, from + bytes);
    *error = static_cast<int>(load(*p));
    return *error == 0 ? p.release() : nullptr;
}

void program_free(Loaded *p) {
    delete p;
}

// Input i, or output -1 - i, as the program has it.
Argument program_port(Loaded *p, int i) {
    return described(i >= 0 ? p->method->mutable_input(static_cast<size_t>(i))
                            : p->method->get_output(static_cast<size_t>(-1 - i)));
}

// 0: done; -1: something was written behind the planned memory; else the runtime's error.
int program_run(Loaded *p) {
    for (auto &area : p->planned)
        std::memset(area.data() + area.size() - GUARD, GUARD_BYTE, GUARD);
    rt::Error error = p->method->execute();
    for (const auto &area : p->planned)
        for (size_t i = area.size() - GUARD; i < area.size(); i++)
            if (area[i] != GUARD_BYTE)
                return -1;
    return static_cast<int>(error);
}
}
