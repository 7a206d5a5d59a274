"""ExecuTorch's own C++ runtime, of the wheel: loads, verifies and runs programs (see runtime.cpp).

Its operators are the dialect's kernels in Python, which the runtime calls back, or those that a
library registers: the one that CORTEN_CORTEX_M_KERNELS names, if it does (see kernels.sh).
"""

import ctypes
import os
import subprocess
import traceback
from pathlib import Path

import executorch
import numpy as np
import torch

RANK_MOST = 16
NONE, INTEGER, REAL, TRUTH, TENSOR, LIST = range(6)
DTYPES = {0: torch.uint8, 1: torch.int8, 3: torch.int32, 6: torch.float32}  # by the format's numbers


class Argument(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("size", ctypes.c_int32 * RANK_MOST), ("stride", ctypes.c_int32 * RANK_MOST),
                ("integer", ctypes.c_int64), ("real", ctypes.c_double), ("data", ctypes.c_void_p)]

    def value(self) -> object:
        if self.kind == TENSOR:
            return self.tensor()
        if self.kind == LIST:
            return list((ctypes.c_int64 * self.integer).from_address(self.data)) if self.integer else []
        return {NONE: None, INTEGER: self.integer, REAL: self.real, TRUTH: bool(self.integer)}[self.kind]

    def tensor(self) -> torch.Tensor:
        """In the runtime's memory itself."""
        dtype = DTYPES[self.dtype]
        sizes = list(self.size[:self.rank])
        bytes_ = int(np.prod(sizes)) * dtype.itemsize
        if bytes_ == 0:
            return torch.empty(sizes, dtype=dtype)
        flat = torch.frombuffer((ctypes.c_uint8 * bytes_).from_address(self.data), dtype=dtype)
        return flat.as_strided(sizes, list(self.stride[:self.rank]))


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(Argument))


def built(work: Path) -> ctypes.CDLL:
    home = Path(executorch.__path__[0])
    include = home / "include"
    subprocess.run(
        ["c++", "-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations",
         "-DC10_USING_CUSTOM_GENERATED_MACROS", "-isystem", include, "-isystem",
         include / "executorch/runtime/core/portable_type/c10", Path(__file__).with_suffix(".cpp"),
         f"-L{home / 'lib'}", "-lexecutorch", f"-Wl,-rpath,{home / 'lib'}", "-o", work / "runtime.so"], check=True)
    library = ctypes.CDLL(str(work / "runtime.so"), mode=ctypes.RTLD_GLOBAL)
    library.program_load.restype = ctypes.c_void_p
    library.program_port.restype = Argument
    library.program_port.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.program_run.argtypes = library.program_free.argtypes = [ctypes.c_void_p]
    return library


class Runtime:
    def __init__(self, work: Path) -> None:
        self.library = built(work)
        self.slots: dict[int, str] = {}
        self.fault = ""
        self.callback = CALLBACK(self.called)  # as long as the library may call it
        self.library.runtime_start(self.callback)
        self.kernels = os.environ.get("CORTEN_CORTEX_M_KERNELS")
        if self.kernels:
            ctypes.CDLL(self.kernels, mode=ctypes.RTLD_GLOBAL)

    def called(self, slot: int, count: int, arguments: object) -> int:
        try:
            values = [arguments[i].value() for i in range(count)]
            call(self.slots[slot], values[:-2], values[-1])
            return 0
        except BaseException:  # no exception passes through C
            self.fault = traceback.format_exc()
            return 1

    def add(self, name: str) -> None:
        """A name without its overload, which is `out`."""
        full = f"{name}.out".encode()
        if self.library.operator_known(full):
            return
        if self.kernels:
            raise RuntimeError(f"{self.kernels} has no {name}")
        slot = self.library.operator_add(full)
        assert slot >= 0, name
        self.slots[slot] = name

    def load(self, data: bytes) -> ctypes.c_void_p:
        error = ctypes.c_int()
        program = self.library.program_load(data, ctypes.c_size_t(len(data)), ctypes.byref(error))
        if not program:
            raise RuntimeError(f"the runtime refuses the program: error {error.value}")
        return ctypes.c_void_p(program)

    def run(self, program: ctypes.c_void_p, inputs: list[np.ndarray], outputs: int) -> list[np.ndarray]:
        for k, x in enumerate(inputs):
            self.library.program_port(program, k).tensor().copy_(torch.from_numpy(x))
        error = self.library.program_run(program)
        if error:
            what = "memory behind the plan is written" if error < 0 else f"the runtime's error {error}"
            raise RuntimeError(f"{what}\n{self.fault}")
        return [self.library.program_port(program, -1 - k).tensor().numpy().copy() for k in range(outputs)]


def call(name: str, arguments: list, out: torch.Tensor) -> None:
    """The dialect's Python kernel of an operator."""
    space, _, op = name.partition("::")
    assert space == "cortex_m", name
    if op.endswith("quantize_per_tensor"):
        arguments[5] = DTYPES[arguments[5]]
    for a in arguments:
        if isinstance(a, torch.Tensor) and a.dtype == torch.uint8:
            a.random_(0, 256)  # scratch: a kernel may leave anything there
    result = getattr(torch.ops.cortex_m, op).default(*arguments)
    assert result.shape == out.shape and result.dtype == out.dtype, (name, result.shape, out.shape)
    out.copy_(result)
