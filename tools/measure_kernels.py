#!/usr/bin/env python3
"""Code and stack of the runtime's functions, for every level and optimization: compiles runtime/ as
emitted models do, and writes src/lower/measured_code.c.

usage: measure_kernels.py [--check FILE] > src/lower/measured_code.c
--check compares with a committed table instead: 0 if it is what the compiler gives, 1 if not, 77
when there is no arm-none-eabi-gcc or it is not the one that the table names.

A function's bytes are those of its sections under -ffunction-sections -fdata-sections (.text with
its literals and tables, .rodata), rounded up to words; its stack is its own frame as -fstack-usage
says, and whom it calls is what its relocations name. Functions that the compiler supplies (libgcc,
memcpy) are measured in the same way from its libraries.
"""
import concurrent.futures
import difflib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEVELS = [ # as src/lower/cpus.c has them
    ("v6m", "-mcpu=cortex-m0plus -mthumb"),
    ("v7m", "-mcpu=cortex-m3 -mthumb"),
    ("dsp", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16"),
    ("mve", "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard"),
]
OPTIMIZATIONS = [("speed", "-O2"), ("size", "-Os")]
FLAGS = "-std=gnu11 -ffreestanding -ffp-contract=off -ffunction-sections -fdata-sections -fstack-usage"


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, check=True).stdout


def compiler():
    return run("arm-none-eabi-gcc", "--version").splitlines()[0]


def section_table(path):
    """name of each section by index, and its size by name"""
    size = {}
    for line in run("arm-none-eabi-objdump", "-h", path).splitlines():
        word = line.split()
        if len(word) == 7 and word[0].isdigit():
            size[word[1]] = (int(word[2], 16), 1 << int(word[6][3:]))
    return size


def relocations(path):
    """what each section refers to"""
    refers, section = {}, None
    for line in run("arm-none-eabi-objdump", "-r", path).splitlines():
        if line.startswith("RELOCATION RECORDS FOR"):
            section = line.split("[")[1].split("]")[0]
        word = line.split()
        if section and len(word) == 3 and word[1].startswith("R_ARM"):
            refers.setdefault(section, set()).add(re.split(r"[+-]0x", word[2])[0])
    return refers


def symbols(path):
    """section of each defined symbol"""
    section = {}
    for line in run("arm-none-eabi-objdump", "-t", path).splitlines():
        match = re.match(r"[0-9a-f]+ (.{7}) (\S+)\s+[0-9a-f]+ (?:\.hidden )?(\S+)$", line)
        if match and match.group(2) not in ("*UND*", "*ABS*", "*COM*") and "f" not in match.group(1)[5:]:
            section[match.group(3)] = match.group(2)
        elif match and match.group(2) not in ("*UND*", "*ABS*", "*COM*"):
            section[match.group(3)] = match.group(2)
    return section


class Object:
    """The functions of one object file."""

    def __init__(self, source, path):
        self.source = source
        self.size, self.refers, self.at = section_table(path), relocations(path), symbols(path)
        self.stack = {}
        usage = path.with_suffix(".su")
        for line in usage.read_text().splitlines() if usage.exists() else []:
            place, bytes_, kind = line.split("\t")
            if "dynamic" in kind and "bounded" not in kind:
                raise SystemExit(f"{source}: {line}: a frame of unknown size")
            self.stack[place.rsplit(":", 1)[1]] = int(bytes_)

    def functions(self):
        """(name, bytes, stack, names of what it calls) of each function's section"""
        for name, section in sorted(self.at.items()):
            if not section.startswith(".text.") or section != ".text." + name:
                continue
            bytes_, calls, todo, seen = 0, set(), [section], set()
            while todo: # the constants that are its own come with it
                part = todo.pop()
                if part in seen:
                    continue
                seen.add(part)
                bytes_ += (self.size[part][0] + 3) // 4 * 4
                for target in self.refers.get(part, ()):
                    where = self.at.get(target, target if target in self.size else None)
                    if where is None:
                        calls.add(target)
                    elif where.startswith(".text."):
                        calls.add(where[len(".text."):])
                    else:
                        todo.append(where)
            calls.discard(name)
            yield name, bytes_, self.stack.get(name, 0), calls


def compile_one(job):
    source, flags, out = job
    run("arm-none-eabi-gcc", *flags.split(), *FLAGS.split(), f"-I{ROOT}/runtime", "-c", str(source), "-o", str(out))
    return source.name, out


def level_rows(flags, work):
    """{function: (bytes, stack, calls)}; static functions are named after their file."""
    sources = sorted((ROOT / "runtime").glob("*.c"))
    jobs = [(s, flags, work / (s.stem + ".o")) for s in sources]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = [Object(name, path) for name, path in pool.map(compile_one, jobs)]
    rows, defined = {}, set()
    for o in objects:
        defined |= {name for name, section in o.at.items() if section.startswith(".text.") and name.startswith("ctn_")}
    for o in objects:
        own = {name for name, *_ in o.functions()}
        rename = lambda n: n if n.startswith("ctn_") or n not in own else f"{o.source}:{n}"
        for name, bytes_, stack, calls in o.functions():
            rows[rename(name)] = (bytes_, stack, sorted(rename(c) for c in calls))
    return rows


def reached(rows, name):
    seen, todo = set(), [name]
    while todo:
        n = todo.pop()
        if n not in seen:
            seen.add(n)
            todo += rows[n][2] if n in rows else []
    return seen


def supplied(rows, flags, work):
    """What the rows call and the compiler's libraries define: bytes and stack from a linked image."""
    wanted = sorted({c for _, _, calls in rows.values() for c in calls if c not in rows})
    found = {}
    for name in wanted:
        source = work / "wanted.c"
        source.write_text(f"extern int {name}(void); int (*keep)(void) = {name}; void start(void) {{ }}")
        run("arm-none-eabi-gcc", *flags.split(), "-O2", "-ffreestanding", "-nostdlib", "-Wl,-e,start", "-Wl,-Map," + str(work / "map"),
            str(source), "-lc", "-lgcc", "-lc", "-o", str(work / "wanted.elf"))
        bytes_ = 0
        for line in (work / "map").read_text().split("Linker script and memory map")[1].splitlines():
            match = re.match(r"\s+(?:\.text\S*|\.rodata\S*)?\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+\S+\.a\(", line)
            bytes_ += int(match.group(1), 16) if match else 0
        found[name] = bytes_
    return found


def level_table(level, optimization, flags, work):
    rows = level_rows(flags, work)
    extra = supplied(rows, flags, work)
    names = sorted(rows) + sorted(extra)
    index = {n: i for i, n in enumerate(names)}
    lines = []
    for name in names:
        if name in extra:
            lines.append(f'    {{"{name}", {extra[name]}, {LIBRARY_STACK}, ""}},')
            continue
        bytes_, stack, calls = rows[name]
        lines.append(f'    {{"{name}", {bytes_}, {stack}, "{" ".join(str(index[c]) for c in calls)}"}},')
    return lines


LIBRARY_STACK = 48 # none of libgcc's integer and float helpers, nor memcpy, has a frame above it


def table():
    out = ["/* Code and stack of the runtime's functions: bytes, own frame, and whom it calls as places in",
           " * this table. Written by tools/measure_kernels.py; do not edit. */", '#include "lower/measured.h"', "",
           f'const char code_compiler[] = "{compiler()}";', ""]
    tables = []
    for level, flags in LEVELS:
        for optimization, option in OPTIMIZATIONS:
            with tempfile.TemporaryDirectory() as work:
                lines = level_table(level, optimization, f"{flags} {option}", pathlib.Path(work))
            out += [f"static const CodeRow {level}_{optimization}[] = {{", *lines, "};", ""]
            tables.append(f'    {{"{level}", {"true" if optimization == "size" else "false"}, {len(lines)}, {level}_{optimization}}},')
    return "\n".join(out + ["const CodeTable code_tables[] = {", *tables, "};",
                            "const int code_table_count = COUNT_OF(code_tables);", ""])


def main():
    if not shutil.which("arm-none-eabi-gcc"):
        print("skipped: arm-none-eabi-gcc was not found", file=sys.stderr)
        return 77
    if len(sys.argv) < 2:
        print(table(), end="")
        return 0
    committed = pathlib.Path(sys.argv[2]).read_text()
    if compiler() not in committed:
        print(f"skipped: the table is not of {compiler()}", file=sys.stderr)
        return 77
    now = table()
    for line in list(difflib.unified_diff(committed.splitlines(), now.splitlines(), "committed", "measured", n=0))[:40]:
        print(line)
    return 0 if now == committed else 1


if __name__ == "__main__":
    sys.exit(main())
