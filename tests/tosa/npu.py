"""Models with parts for an Ethos-U, as firmware runs them, with Vela's real output in the emitted C.

usage: npu.py CORTEN SOURCE VELA TOSA_REFERENCE_MODEL NPU CASE...

Each CASE (as check.py has them, without =STEPS) is compiled for NPU. Its C runs on the host, where the driver hook hands
the inputs of each part to the TOSA reference model and puts its results where the NPU would. The
outputs must be the simulator's, number for number. Then the same C runs under QEMU, with a hook that
knows the parts' inputs and results from that run; it is skipped without QEMU or its compiler.
"""

import ctypes
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from check import files_of, referenced, run, samples, simulated


class Job(ctypes.Structure):
    """CtnNpuJob of runtime/npu_hook.h."""

    _fields_ = [("commands", ctypes.c_void_p), ("command_bytes", ctypes.c_int32),
                ("base", ctypes.c_uint64 * 3), ("size", ctypes.c_size_t * 3), ("frame", ctypes.c_void_p)]


HOOK = ctypes.CFUNCTYPE(None, ctypes.POINTER(Job))

HOST = """#include "{name}.h"
#include "npu_hook.h"
static {name}_t model;
static void (*play)(CtnNpuJob *job);
void ctn_npu_run(CtnNpuJob *job) {{
    play(job);
}}
int set_up(void (*hook)(CtnNpuJob *job)) {{
    play = hook;
    return {name}_init(&model, {name}_arena, {state});
}}
void *input(int k) {{
    void *const at[] = {{{inputs}}};
    return at[k];
}}
void *output(int k) {{
    void *const at[] = {{{outputs}}};
    return at[k];
}}
void run(void) {{
    {name}_run(&model);
}}
"""

CHIP = """#include "board.h"
#include "npu_hook.h"
/* What each call of an NPU finds in its scratch, and what it leaves there. */
typedef struct {{
    uint32_t offset, bytes;
    const uint8_t *data;
}} Place;
{arrays}
static const Place *const found[] = {{{found}}}, *const left[] = {{{left}}};
void ctn_npu_run(CtnNpuJob *job) {{
    static int turn;
    uint8_t *scratch = (uint8_t *)(uintptr_t)job->base[CTN_NPU_SCRATCH];
    for (const Place *p = found[turn]; p->bytes; p++)
        for (uint32_t i = 0; i < p->bytes; i++)
            if (scratch[p->offset + i] != p->data[i]) {{
                console_print("npu: other inputs than on the host\\n");
                program_exit(99);
            }}
    for (const Place *p = left[turn]; p->bytes; p++)
        for (uint32_t i = 0; i < p->bytes; i++)
            scratch[p->offset + i] = p->data[i];
    turn = (turn + 1) % {turns};
}}
"""

BINDING = """#include "{name}.h"
#define MODEL_TYPE {name}_t
#define MODEL_FRAME(model) (model).frame
#define MODEL_INIT(model) {name}_init(model, memory_arena, memory_state)
#define MODEL_MEMORY MEMORY(arena, {upper}_ARENA_BYTES) MEMORY(state, {upper}_STATE_BYTES)
#define MODEL_CALL {name}_call
#define MODEL_RUN {name}_run
#define MODEL_INPUT_BYTES 0
#define MODEL_OUTPUT_BYTES 0
#define MODEL_CALL_COUNT {upper}_CALL_COUNT
#define MODEL_SAMPLES {count}
#define MODEL_INPUTS {inputs}
#define MODEL_OUTPUTS {outputs}
"""


class Player:
    """The NPU: each job is a part of the model, in the order in which they are."""

    def __init__(self, model: str, out: Path, work: Path, programs: list) -> None:
        self.model, self.out, self.work, self.programs = model, out, work, programs
        self.jobs: list = []
        self.fault = None

    def play(self, pointer) -> None:
        try:
            self.jobs.append(self.one(pointer.contents, self.programs[len(self.jobs) % len(self.programs)]))
        except BaseException as e:  # no exception passes through C
            self.fault = self.fault or e

    def one(self, job: Job, program: dict) -> tuple:
        assert all(base % 16 == 0 for base in job.base), "an address is not aligned"
        assert job.size[1] == program["scratch_bytes"], "another part's turn"
        assert ctypes.string_at(job.commands, 4) == b"COP1", "no command stream"
        inputs = [(p, ctypes.string_at(job.base[1] + p["offset"], p["bytes"])) for p in program["inputs"]]
        arrays = [np.frombuffer(d, np.int8).reshape(p["stored_shape"]) for p, d in inputs]
        names = tuple([p["name"] for p in program[side]] for side in ("inputs", "outputs"))
        results = referenced(self.model, self.out / f"{program['name']}.tosa", names, arrays, self.work)
        outputs = [(p, y.astype(np.int8).tobytes()) for p, y in zip(program["outputs"], results)]
        for p, d in outputs:
            assert len(d) == p["bytes"]
            ctypes.memmove(job.base[1] + p["offset"], d, len(d))
        return inputs, outputs


def compiled(corten: str, vela: str, npu: str, case: Path, out: Path, *more: str) -> dict:
    archive, calibration, _ = files_of(case)
    run(corten, "compile", archive, "-c", calibration, "-t", npu, "--vela", vela, "-o", out, "-q", *more)
    return json.loads((out / "report.json").read_text())


def on_host(out: Path, report: dict, arrays: list, player: Player) -> list:
    """Outputs of all samples, as bytes."""
    name = report["name"]
    ports = [", ".join(f"{name}_{side}{k}(&model)" for k in range(len(report[side + "s"])))
             for side in ("input", "output")]
    state = f"{name}_state" if report["state_bytes"] else "0"
    (out / "host.c").write_text(HOST.format(name=name, state=state, inputs=ports[0], outputs=ports[1]))
    run("cc", "-shared", "-fPIC", "-O1", "-ffp-contract=off", f"-I{out}", f"-I{out}/runtime", out / "host.c",
        out / f"{name}.c", *sorted((out / "runtime").glob("*.c")), "-o", out / "host.so")
    library = ctypes.CDLL(str(out / "host.so"))
    library.input.restype = library.output.restype = ctypes.c_void_p
    hook = HOOK(player.play)
    assert library.set_up(hook) == 0
    results = []
    for s in range(len(arrays[0])):
        for k, a in enumerate(arrays):
            data = a[s].tobytes()
            ctypes.memmove(library.input(k), data, len(data))
        library.run()
        if player.fault:
            raise player.fault
        results.append(b"".join(ctypes.string_at(library.output(k), int(np.prod(o["shape"])))
                                for k, o in enumerate(report["outputs"])))
    return results


def recorded(player: Player) -> str:
    arrays, sides = [], ([], [])
    for j, job in enumerate(player.jobs):
        for side, (label, places) in enumerate(zip(("found", "left"), job)):
            rows = []
            for i, (p, data) in enumerate(places):
                arrays.append(f"static const uint8_t {label}{j}_{i}[] = {{{','.join(map(str, data))}}};")
                rows.append(f"{{{p['offset']}, {p['bytes']}, {label}{j}_{i}}}, ")
            arrays.append(f"static const Place {label}{j}[] = {{{''.join(rows)}{{0, 0, 0}}}};")
            sides[side].append(f"{label}{j}")
    return CHIP.format(arrays="\n".join(arrays), found=", ".join(sides[0]), left=", ".join(sides[1]),
                       turns=len(player.jobs))


def on_chip(source: Path, out: Path, report: dict, arrays: list, player: Player, work: Path) -> bytes:
    """The same, on a simulated Cortex-M55 whose NPU knows its lines by heart."""
    name, upper = report["name"], report["name"].upper()
    ports = ["".join(f"{{0, {upper}_{side}{k}_OFFSET, {upper}_{side}{k}_BYTES}}, "
                     for k in range(len(report[side.lower() + "s"]))) for side in ("INPUT", "OUTPUT")]
    (work / "model_binding.h").write_text(BINDING.format(name=name, upper=upper, count=len(arrays[0]),
                                                         inputs=ports[0], outputs=ports[1]))
    (work / "npu.c").write_text(recorded(player))
    (work / "input.bin").write_bytes(b"".join(a[s].tobytes() for s in range(len(arrays[0])) for a in arrays))
    boards = source / "boards"
    board = boards / "mps3-an547"
    run("arm-none-eabi-gcc", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", "-std=gnu11", "-O2",
        "-ffp-contract=off", "-ffunction-sections", "-fdata-sections", "-ffreestanding", "-nostdlib",
        "-Wl,--gc-sections", f"-D{upper}_OWN_MEMORY", f"-I{work}", f"-I{out}", f"-I{out}/runtime", f"-I{boards}",
        f"-I{board}", f"-L{boards}", f"-T{board}/link.ld", out / f"{name}.c", *(out / "runtime").glob("*.[cS]"),
        *boards.glob("*.[cS]"), work / "npu.c", "-lgcc", "-o", work / "model.elf")
    done = subprocess.run(["qemu-system-arm", "-display", "none", "-monitor", "none", "-serial", "none", "-kernel",
                           "model.elf", "-M", "mps3-an547", "-semihosting-config", "enable=on,target=native,arg=run"],
                          cwd=work, check=False, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"QEMU: code {done.returncode}\n{done.stdout}{done.stderr}")
    return (work / "output.bin").read_bytes()


def check(corten: str, source: Path, vela: str, model: str, npu: str, case: Path) -> bool:
    chip = shutil.which("qemu-system-arm") and shutil.which("arm-none-eabi-gcc")
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        plain, out = work / "plain", work / "out"
        report = compiled(corten, vela, npu, case, plain, "--isa", "c")
        arrays = [a[:2] for a in samples(files_of(case)[2], report, 2)]
        wanted = simulated(corten, plain, arrays, work)
        wanted = [b"".join(w[s].astype(np.int8).tobytes() for w in wanted.values()) for s in range(len(arrays[0]))]
        player = Player(model, plain, work, report["npu"]["programs"])
        same = on_host(plain, report, arrays, player) == wanted
        if chip and same:
            report = compiled(corten, vela, npu, case, out)
            same = on_chip(source, out, report, arrays, player, work) == b"".join(wanted)
        parts = report["npu"]
        print(f"{case.name} on {npu}: {len(parts['programs'])} parts for the NPU, {len(parts['on_cpu'])} nodes on the "
              f"CPU, {parts['cycles']} cycles, {report['arena_bytes']} bytes of arena: "
              f"{'as simulated' if same else 'NOT as simulated'} on the host{' and the chip' if chip else ''}")
        return same


def main() -> None:
    corten, source, vela, model, npu, *cases = sys.argv[1:]
    good = [check(corten, Path(source), vela, model, npu, Path(case)) for case in cases]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
