#!/usr/bin/env python3
"""Holds the memory of real models to what the issues ask, computed apart from the planner: emitted
models are built for the host with kernels that only say what they are given, and what these traces
read and write gives lifetimes, how far outputs lie over inputs, and from both the lower bound: the
largest sum of bytes that live at the same time, memory that is taken over counted once.

usage: memory.py CORTEN FOLDER...
A FOLDER is a model's that was compiled with --io int8. Closes with 'N passed, N failed'.
"""
import itertools
import json
import math
import operator
import pathlib
import re
import resource
import sys

from planned import check_all, has_strips, planned
from sections import output, without_numbers

CPUS = ["cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"]
# Arena with scratch in bytes, for these CPUs.
FIGURES_FOR = ["cortex-m4", "cortex-m55"]
FIGURES = {"digits_silu": 3700, "ds_cnn": 9500, "resnet8": 38000, "mobilenet_v1_025": 56000,
           "deep_autoencoder": 900, "digits_vit": 9000, "mobilenet_v2": 480000, "yolo11n_320": 820000,
           "mtcnn_pnet": 56000}
ABOVE_BOUND = 1.01
ABOVE_CONSTANTS = 1.03
ALIGN = 16
PLANNED_WITHIN = {"yolo11n_320": 0.5} # seconds of one CPU, with --ram too
# Kernels that are through with an element before they write over it.
ELEMENTWISE = re.compile("(add|mul|table|prelu|softmax|program)_")
TAPS_ROWS = 4 # output rows of which a turned depthwise kernel reads a channel before it writes it
PATCHED = {"out_h", "in_h", "pad_top", "out_w", "in_w", "dim", "count", "rows"} # what steps of strips change


# ---- the trace ------------------------------------------------------------------------------------

TRACER = """#include "%(name)s.h"
#include <stdio.h>
#define REF(n) if (a->n != CTN_NONE) printf(" " #n "=%%s%%u", a->n >> 28 == CTN_ARENA ? "@" : "#", a->n & 0x0fffffffu);
#define INT(n) printf(" " #n "=%%d", (int)a->n);
#define INTS(n, count) printf(" " #n "="); for (int i = 0; i < (count); i++) printf("%%d,", (int)a->n[i]);
#define KERNEL(name, Name, FIELDS) \\
    void show_##name(const Ctn##Name##Args *a); \\
    void show_##name(const Ctn##Name##Args *a) { FIELDS(REF, INT, INTS) printf("\\n"); }
CTN_KERNELS(KERNEL)
%(kernels)s
int main(void) {
    static %(name)s_t self;
    static CTN_ALIGN(16) uint8_t state[%(state)d];
    %(name)s_init(&self, %(name)s_arena, state);
    for (int k = 0; k < %(calls)d; k++) {
        printf("call %%d\\n", k);
        %(name)s_call(&self, k);
    }
    return 0;
}
"""


def tracer(out, report):
    """What stands for each kernel prints its name and its arguments."""
    kernels = re.findall(r"KERNEL\((\w+), (\w+), CTN_", (out / "runtime/kernels.h").read_text())
    text = ""
    for symbol in sorted({c["kernel"] for c in report["calls"]} | {"ctn_move"}):
        name, struct = max((k for k in kernels if f"{symbol}_".startswith(f"ctn_{k[0]}_")), key=lambda k: len(k[0]))
        text += (f"void {symbol}(const Ctn{struct}Args *a, const CtnFrame *f);\n"
                 f'void {symbol}(const Ctn{struct}Args *a, const CtnFrame *f) {{ (void)f; printf("{name}"); show_{name}(a); }}\n')
    return TRACER % {"name": report["name"], "kernels": text, "calls": len(report["calls"]),
                     "state": max(1, report["state_bytes"])}


def trace(out, report, work):
    """Moments in the order of execution: [(first call, last call, [(kernel, {field: value})])]."""
    (work / "trace.c").write_text(tracer(out, report))
    model = without_numbers(out / f"{report['name']}.c", work / "short.c") # addresses tell, not what is there
    output("gcc", "-w", f"-I{out}", f"-I{out}/runtime", work / "trace.c", model, "-o", work / "trace")
    moments, next_call = [], 0
    for line in output(work / "trace").splitlines():
        word = line.split()
        if word[0] == "call":
            moments.append([next_call, int(word[1]), []])
            continue
        moments[-1][2].append((word[0], dict(w.split("=") for w in word[1:])))
        next_call = moments[-1][1] + 1
    return [m for m in moments if m[2]]


def site(kernel, fields):
    """What tells the calls of a strip apart: all that its steps do not change."""
    return kernel, tuple((n, v) for n, v in fields.items() if n not in PATCHED and not v.startswith("@"))


def check_moments(moments, report):
    """Every call runs, in order; those of a strip under its last one."""
    wrong = []
    for first, last, runs in moments:
        sites = {site(k, f) for k, f in runs if k != "move"}
        if len(sites) != last - first + 1:
            wrong.append(f"calls {first} to {last} run {len(sites)} kernels")
    if moments[-1][1] != len(report["calls"]) - 1:
        wrong.append("the last call does not run")
    return wrong


# ---- lifetimes ------------------------------------------------------------------------------------

def is_write(field):
    return field.startswith("output") or field.endswith("_out")


def references(runs):
    """(field, offset in the arena)"""
    return [(n, int(v[1:])) for _, fields in runs for n, v in fields.items() if v.startswith("@")]


def check_lifetimes(report, moments):
    """Each buffer lives from the moment that first writes it to the one that last reads it, and what
    a moment touches lives then."""
    wrong, end = [], len(report["calls"]) + 1
    buffers = report["memory"]["buffers"]
    seen = {b["name"]: set() for b in buffers}
    for first, last, runs in moments:
        alive = [b for b in buffers if b["first"] <= last + 1 and b["last"] >= first + 1]
        for field, at in set(references(runs)):
            owners = [b for b in alive if b["offset"] <= at < b["offset"] + b["bytes"]]
            if not owners:
                wrong.append(f"call {last} {'writes' if is_write(field) else 'reads'} {at}, where nothing lives")
            for b in owners:
                seen[b["name"]].update((first + 1, last + 1))
    for b in buffers:
        used = seen[b["name"]] | ({0} if b["kind"] == "input" else set())
        last = end if b["kind"] == "output" or b["last"] == end else max(used, default=-1)
        if used and (b["first"], b["last"]) != (min(used), last):
            wrong.append(f"{b['name']} lives from {b['first']} to {b['last']}, used from {min(used)} to {last}")
    return wrong


# ---- the bound ------------------------------------------------------------------------------------

def extent(fields, side):
    """Bytes that a kernel of a strip reads of an operand, or writes."""
    value = {n: int(v) for n, v in fields.items() if re.fullmatch(r"-?\d+", v)}
    if "dim" in fields:
        return math.prod(int(d) for d in fields["dim"].split(",") if d)
    if "count" in fields:
        return value["count"]
    if "rows" in fields:
        return value["rows"] * value["depth" if side == "in" else "columns"]
    channels = value[f"{side}_c"] if f"{side}_c" in value else value["channels"]
    return value[f"{side}_h"] * value[f"{side}_w"] * channels


def union(intervals):
    total, top = 0, -1
    for start, stop in sorted(intervals):
        total += max(0, stop - max(start, top))
        top = max(top, stop)
    return total


def reads_first(kernel, fields):
    """Has a kernel read what it needs before it writes over it?"""
    turned = kernel.startswith("depthwise_conv2d_s8") and fields["turned"] == "1" and fields["in_c"] == fields["out_c"]
    return ELEMENTWISE.match(kernel) or turned and int(fields["out_h"]) <= TAPS_ROWS


def product_blocks(rows, isa):
    """(first row, rows) of a batch that a product of activations reads before it writes their results,
    or, on M4, expands at once: then the last three anew if they do not come out even."""
    at_once = {"mve": 1, "dsp": 3 if rows >= 3 else 1}.get(isa, 2)
    for first in range(0, rows, at_once):
        yield (min(first, rows - at_once) if isa == "dsp" else first), min(at_once, rows - first if isa != "dsp" else at_once)


def product_needs(under, fields, isa):
    """Of a product of activations: what is written and what is still read, which on M4 is no more
    the block itself."""
    numbers = lambda n: [int(i) for i in fields[n].split(",") if i]
    rows, columns = int(fields["rows"]), int(fields["columns"])
    written, read = [], []
    for k, batch in enumerate(itertools.product(*map(range, numbers("batch")))):
        for first, count in product_blocks(rows, isa):
            at = sum(map(operator.mul, batch, numbers("lhs_batch_stride"))) + first * int(fields["lhs_row_stride"])
            written.append((k * rows + first + count) * columns)
            read.append(at)
    later = 1 if isa == "dsp" else 0
    return max((written[k] + under["bytes"] - min(read[k + later:]) for k in range(len(read) - later)), default=0)


def together(over, under, runs, isa):
    """Bytes that an output and the input that it takes over need: at every kernel that writes, what is
    written and what will still be read."""
    if len(runs) == 1:
        kernel, fields = runs[0]
        need = product_needs(under, fields, isa) if kernel == "matmul_s8" else 0
        return max(over["bytes"], under["bytes"], need)
    inside = lambda b, at: b["offset"] <= at < b["offset"] + b["bytes"]
    reads, need = [], max(over["bytes"], under["bytes"])
    writers = [(k, f) for k, f in runs if k != "move" and inside(over, int(f["output"][1:]))]
    last = site(*writers[-1])
    written = sum(extent(f, "out") for k, f in writers if site(k, f) == last)
    for kernel, fields in reversed(runs):
        if kernel == "move":
            continue
        read = lambda names, side: [(int(v[1:]), int(v[1:]) + extent(fields, side)) for n, v in fields.items()
                                    if n in names and v.startswith("@") and inside(under, int(v[1:]))]
        own, summed = read(("input", "a", "b"), "in"), read(("skip",), "out") # summed: element by element
        writes = site(kernel, fields) == last
        if not (writes and reads_first(kernel, fields)):
            reads += own
        if not writes:
            reads += summed
        if writes:
            need = max(need, written + union(reads))
            written -= extent(fields, "out")
        reads += own + summed
    return need


def lower_bound(report, moments):
    buffers = report["memory"]["buffers"]
    named = {b["name"]: b for b in buffers}
    most = 0
    edges = [(-1, -1, []), *moments, (len(report["calls"]), len(report["calls"]), [])]
    for first, last, runs in edges:
        alive = [b for b in buffers if b["first"] <= last + 1 and b["last"] >= first + 1]
        live = sum(b["bytes"] for b in alive if b["kind"] != "scratch")
        for b in alive:
            under = named.get(b["overwrites"])
            if under in alive and runs:
                live -= b["bytes"] + under["bytes"] - together(b, under, runs, report["isa"])
        most = max(most, live + max((b["bytes"] for b in alive if b["kind"] == "scratch"), default=0))
    return (most + ALIGN - 1) // ALIGN * ALIGN


# ---- flash ----------------------------------------------------------------------------------------

def weight_count(kernel, value):
    """Weights a channel, and channels; None: the kernel's constants have no such simple count."""
    if kernel.startswith("conv2d_channels"): # those of a few of its channels
        return None
    if "kernel_w" in value and "out_c" in value and "s8w4" not in kernel:
        inner = 1 if "depthwise" in kernel else value["in_c"] // value.get("groups", 1)
        return value.get("kernel_d", 1) * value["kernel_h"] * value["kernel_w"] * inner, value["out_c"]
    if kernel.startswith("linear_") and "w4" not in kernel:
        return value["depth"], value["columns"]
    return None


def stored(report, moments):
    """Bytes of constants that a model needs: a byte a weight, four a bias, five for multiplier and
    shift of a channel; of other kernels what they have. Tables are counted once, wherever they are, and
    so are constants that several calls have."""
    need, counted = report["bytes"]["call_structs"] + report["bytes"]["tables"], set()
    for first, _, runs in moments:
        calls = {}
        for kernel, fields in runs:
            if kernel != "move":
                calls.setdefault(site(kernel, fields), (kernel, fields))
        for call, (kernel, fields) in zip(report["calls"][first:], calls.values()):
            place = fields.get("weights")
            if place in counted: # constants that an earlier call has too
                continue
            counted |= {place} - {None}
            count = weight_count(kernel, {n: int(v) for n, v in fields.items() if re.fullmatch(r"-?\d+", v)})
            if not re.match("(table|softmax)_", kernel):
                need += count[1] * (count[0] + 9) if count else call["weights_bytes"]
    return need


# ---- checks ---------------------------------------------------------------------------------------

def check(model, cpu, out, work):
    report = json.loads((out / "report.json").read_text())
    moments = trace(out, report, work)
    wrong = check_moments(moments, report) + check_lifetimes(report, moments)
    bound, arena = lower_bound(report, moments), report["arena_bytes"]
    if bound != report["arena_lower_bound_bytes"]:
        wrong.append(f"the bound is {bound}, reported {report['arena_lower_bound_bytes']}")
    if arena > ABOVE_BOUND * bound:
        wrong.append(f"arena {arena}, more than a hundredth above the bound {bound}")
    if cpu in FIGURES_FOR and arena > FIGURES.get(model, arena):
        wrong.append(f"arena {arena}, asked for {FIGURES[model]}")
    need, rodata = stored(report, moments), report["bytes"]["rodata"]
    if rodata > ABOVE_CONSTANTS * need:
        wrong.append(f"{rodata} bytes of constants, {need} are needed")
    return wrong


def check_whole(program, graph, cpu, work, arena):
    """The same without strips, which memory for the asking makes needless: then the arena is larger if
    there were any, and not smaller if not."""
    whole = work / "whole"
    report = planned(program, graph, cpu, whole, "--ram", 10**9)
    moments = trace(whole, report, work)
    wrong = check_moments(moments, report) + check_lifetimes(report, moments)
    bound = lower_bound(report, moments)
    if any(last > first for first, last, _ in moments) or has_strips(whole):
        wrong.append("strips with memory for the asking")
    if has_strips(work / "out") and bound <= arena or bound < arena / ABOVE_BOUND:
        wrong.append(f"arena {arena}, {bound} bytes live at once without strips")
    return wrong


def cpu_seconds(program, graph, cpu, *options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    output(program, "compile", graph, "--from", "layout", "-t", cpu, "--threads", 1, *options)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def check_time(program, model, graph, cpu, arena):
    """What pass `plan` takes of the CPU beside all passes before it, with as much memory as is there, as is
    needed, and a little more: of several tries the least, for others are at work."""
    if model not in PLANNED_WITHIN or cpu != CPUS[-1]:
        return []
    least = lambda *options: min(cpu_seconds(program, graph, cpu, *options) for _ in range(3))
    before = least("--stop-after=lower")
    rams = [[], ["--ram", arena], ["--ram", arena * 21 // 20]]
    took = [least("--stop-after=plan", *ram) - before for ram in rams]
    return [f"planned in {t:.2f} s {' '.join(map(str, r))}" for t, r in zip(took, rams) if t > PLANNED_WITHIN[model]]


def check_plans(program, folder, graph, cpu, work):
    arena = planned(program, graph, cpu, work / "out")["arena_bytes"]
    wrong = check(folder.name, cpu, work / "out", work)
    wrong += check_time(program, folder.name, graph, cpu, arena)
    return wrong + [f"whole: {w}" for w in check_whole(program, graph, cpu, work, arena)], ""


def main():
    program, folders = sys.argv[1], [pathlib.Path(f) for f in sys.argv[2:]]
    return check_all(program, folders, CPUS, lambda *model: check_plans(program, *model))


if __name__ == "__main__":
    sys.exit(main())
