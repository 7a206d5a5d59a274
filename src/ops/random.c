/* Operators that draw random numbers. A compiled model gives the same output for the same input, so
 * each of them is refused where it stands, as soon as the archive is read. */
#include <string.h>

#include "ops/ops.h"

static void refuse_random(C *c, Node *n) {
    diag_error(c, DIAG_MODEL, &n->loc, "%s draws random numbers, which a compiled model cannot do",
               node_operator(n));
}

#define RANDOM(text)                                                                               \
    {                                                                                              \
        .schema = text, .traits = OP_RANDOM, .shape = refuse_random,                               \
        .no_integer_form = "it draws random numbers"                                               \
    }

static const Op rows[] = {
    RANDOM("aten::randint(SymInt high, SymInt[] size, *, ScalarType? dtype=4, Layout? "
           "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    RANDOM("aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, ScalarType? "
           "dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
           "Tensor"),
    RANDOM("aten::randint_like(Tensor self, SymInt high, *, ScalarType? dtype=None, "
           "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
           "MemoryFormat? memory_format=None) -> Tensor"),
    RANDOM("aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, "
           "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
           "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
    RANDOM("aten::randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
           "Device? device=None, bool? pin_memory=None) -> Tensor"),
    RANDOM("aten::randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
           "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) "
           "-> Tensor"),
    RANDOM("aten::rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
           "Device? device=None, bool? pin_memory=None) -> Tensor"),
    RANDOM("aten::rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
           "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) "
           "-> Tensor"),
    RANDOM("aten::randperm(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? "
           "device=None, bool? pin_memory=None) -> Tensor"),
    RANDOM("aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, "
           "Generator? generator=None) -> Tensor"),
    RANDOM("aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor"),
    RANDOM("aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> "
           "Tensor"),
    RANDOM("aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) "
           "-> Tensor"),
    RANDOM("aten::poisson(Tensor self, Generator? generator=None) -> Tensor"),
    RANDOM("aten::exponential(Tensor self, float lambd=1., *, Generator? generator=None) "
           "-> Tensor"),
    RANDOM("aten::uniform(Tensor self, float from=0., float to=1., *, Generator? "
           "generator=None) -> Tensor"),
    RANDOM("aten::random(Tensor self, *, Generator? generator=None) -> Tensor"),
    RANDOM("aten::normal_functional(Tensor self, float mean=0., float std=1., *, "
           "Generator? generator=None) -> Tensor"),
    RANDOM("aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? "
           "generator=None) -> Tensor"),
    RANDOM("aten::normal.float_Tensor(float mean, Tensor std, *, Generator? "
           "generator=None) -> Tensor"),
    RANDOM("aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? "
           "generator=None) -> Tensor"),
};

OPS_FAMILY(random, rows);
