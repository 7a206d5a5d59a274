#!/usr/bin/env python3
"""Code and stack of the runtime's functions, for every level and optimization: compiles runtime/ as
emitted models do, and writes src/lower/measured_code.c.

usage: measure_kernels.py [--check FILE] > src/lower/measured_code.c
--check compares with a committed table instead: 0 if it is what the compiler gives, 1 if not, 77
when there is no arm-none-eabi-gcc or it is not the one that the table names. A table that bears the
digest of itself and of what is in runtime/ now was made from it: then only one level is measured anew.

A function's bytes are those of its sections under -ffunction-sections -fdata-sections (.text with
its literals and tables, .rodata), rounded up to words; its stack is its own frame as -fstack-usage
says, or what its assembly pushes, and whom it calls is what its relocations name. A function whose
address it takes is called by whom it hands that to, below frames of its own callees: the deepest such
chain is added to its frame. Functions that the compiler supplies (libgcc, memcpy) are measured from its libraries.
"""
import concurrent.futures
import difflib
import hashlib
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
HOOKS = {"ctn_npu_run"}
OPTIMIZATIONS = [("speed", "-O2"), ("size", "-Os")]
FLAGS = "-std=gnu11 -ffreestanding -ffp-contract=off -ffunction-sections -fdata-sections -fstack-usage"


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, check=True).stdout


def compiler():
    return run("arm-none-eabi-gcc", "--version").splitlines()[0]


def section_table(lines):
    """size and alignment of each section by name"""
    size = {}
    for line in lines:
        word = line.split()
        if len(word) == 7 and word[0].isdigit():
            size[word[1]] = (int(word[2], 16), 1 << int(word[6][3:]))
    return size


def relocations(lines):
    """what each section refers to, and what of that by an address rather than by a branch"""
    refers, addresses, section = {}, {}, None
    for line in lines:
        if line.startswith("RELOCATION RECORDS FOR"):
            section = line.split("[")[1].split("]")[0]
        word = line.split()
        if section and len(word) == 3 and word[1].startswith("R_ARM"):
            target = re.split(r"[+-]0x", word[2])[0]
            refers.setdefault(section, set()).add(target)
            if not re.search("CALL|JUMP", word[1]):
                addresses.setdefault(section, set()).add(target)
    return refers, addresses


def symbols(lines):
    """section of each defined symbol, and those that no other file sees"""
    section, local = {}, set()
    for line in lines:
        match = re.match(r"[0-9a-f]+ (.{7}) (\S+)\s+[0-9a-f]+ (?:\.hidden )?(\S+)$", line)
        if match and match.group(2) not in ("*UND*", "*ABS*", "*COM*"):
            section[match.group(3)] = match.group(2)
            if match.group(1).startswith("l"):
                local.add(match.group(3))
    return section, local


class Object:
    """The functions of one object file."""

    def __init__(self, source, path):
        self.source = source
        lines = run("arm-none-eabi-objdump", "-h", "-t", "-r", path).splitlines()
        self.size = section_table(lines)
        self.at, self.local = symbols(lines)
        self.refers, self.addresses = relocations(lines)
        self.stack = {}
        if not any(bytes_ for name, (bytes_, _) in self.size.items() if name.startswith(".text")):
            return # a file of another level
        usage = path.with_suffix(".su")
        for line in usage.read_text().splitlines() if usage.exists() else []:
            place, bytes_, kind = line.split("\t")
            if "dynamic" in kind and "bounded" not in kind:
                raise SystemExit(f"{source}: {line}: a frame of unknown size")
            self.stack[place.rsplit(":", 1)[1]] = int(bytes_)
        for name, bytes_ in pushed(run("arm-none-eabi-objdump", "-d", path)).items():
            self.stack[name] = max(self.stack.get(name, 0), bytes_)

    def functions(self):
        """(name, bytes, stack, names of what it calls, and of what it takes the address of)"""
        for name, section in sorted(self.at.items()):
            shared = name.startswith("ctn_") and section == ".rodata." + name # constants of several files
            if section != ".text." + name and not shared:
                continue
            bytes_, calls, taken, todo, seen = 0, set(), set(), [section], set()
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
                        if target in self.addresses.get(part, ()):
                            taken.add(target)
                    elif where.startswith(".text."):
                        calls.add(where[len(".text."):])
                        if target in self.addresses.get(part, ()):
                            taken.add(where[len(".text."):])
                    else:
                        todo.append(where)
            calls.discard(name)
            taken.discard(name)
            yield name, bytes_, self.stack.get(name, 0), calls, taken


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
    full, alias = {}, {} # assembly may have several entries in one function's section
    for o in objects:
        alias.update({name: section[len(".text."):] for name, section in o.at.items()
                      if name.startswith("ctn_") and section.startswith(".text.")})
    for o in objects:
        own = {name for name, *_ in o.functions()} & o.local # a header's function is another in each file
        rename = lambda n: f"{o.source}:{n}" if n in own else n
        for name, bytes_, stack, calls, taken in o.functions():
            full[rename(name)] = (bytes_, stack, *({rename(alias.get(c, c)) for c in x} for x in (calls, taken)))
    return {name: (bytes_, stack + max((deepest(full, t) for t in taken), default=0), sorted(calls))
            for name, (bytes_, stack, calls, taken) in full.items()}


def deepest(full, name):
    """Stack of a function and of the deepest chain that it calls."""
    if name not in full:
        return 0
    _, stack, calls, taken = full[name]
    return stack + max((deepest(full, t) for t in calls | taken), default=0)


def pushed(listing):
    """Bytes that each function of a disassembly takes from the stack, were each instruction run once:
    what -fstack-usage does not know of assembly. Backwards moves of sp are not counted."""
    bytes_, name = {}, None
    for line in listing.splitlines():
        match = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if match:
            name = match.group(1)
        word = line.split("\t")
        if len(word) < 4 or name is None:
            continue
        operation, operands = word[2].split(".")[0], word[3].split(";")[0].strip()
        if operation in ("push", "vpush") or (operation in ("stmdb", "vstmdb") and operands.startswith("sp!")):
            registers = 0
            for part in operands[operands.index("{") + 1:operands.index("}")].split(","):
                ends = [int(re.sub(r"\D", "", e) or {"sl": 10, "fp": 11, "ip": 12, "sp": 13, "lr": 14}.get(e.strip(), 0))
                        for e in part.split("-")]
                registers += ends[-1] - ends[0] + 1
            taken = registers * (8 if "d" in operands[operands.index("{") + 1:][:2] else 4)
        elif operation == "sub" and re.match(r"sp, (sp, )?#\d+$", operands):
            taken = int(operands.rsplit("#", 1)[1])
        elif re.search(r"\[sp, #-(\d+)\]!", operands):
            taken = int(re.search(r"\[sp, #-(\d+)\]!", operands).group(1))
        else:
            continue
        bytes_[name] = bytes_.get(name, 0) + taken
    return bytes_


def image(name, flags, work):
    """Flash of an image that holds what the libraries have for one function, and what it may push."""
    source, elf = work / "wanted.c", work / "wanted.elf"
    keep = f"extern int {name}(void); int (*keep)(void) = {name};" if name else "int (*keep)(void);"
    source.write_text(f"{keep} int start(void) {{ return keep(); }} void *__aeabi_unwind_cpp_pr0;")
    run("arm-none-eabi-gcc", *flags.split(), "-O2", "-ffreestanding", "-fno-builtin", "-nostdlib", "-Wl,-e,start", "-Wl,--gc-sections",
        str(source), "-lc_nano", "-lgcc", "-lc_nano", "-o", str(elf))
    flash = 0
    for line in run("arm-none-eabi-size", "-A", str(elf)).splitlines():
        word = line.split()
        if len(word) == 3 and word[0].startswith((".text", ".rodata", ".ARM.ex")):
            flash += int(word[1])
    return flash, sum(pushed(run("arm-none-eabi-objdump", "-d", str(elf))).values())


def supplied(rows, flags, work):
    """What the rows call and the compiler's libraries define: bytes, and a bound of their stack. Hooks
    are the user's, who knows what they take."""
    wanted = sorted({c for _, _, calls in rows.values() for c in calls if c not in rows})
    nothing = image(None, flags, work)
    return {name: (0, 0) if name in HOOKS else tuple(a - b for a, b in zip(image(name, flags, work), nothing))
            for name in wanted}


def level_table(level, optimization, flags, work):
    rows = level_rows(flags, work)
    extra = supplied(rows, flags, work)
    names = sorted(rows) + sorted(extra)
    index = {n: i for i, n in enumerate(names)}
    lines = []
    for name in names:
        if name in extra:
            lines.append(f'    {{"{name}", {extra[name][0]}, {extra[name][1]}, ""}},')
            continue
        bytes_, stack, calls = rows[name]
        lines.append(f'    {{"{name}", {bytes_}, {stack}, "{" ".join(str(index[c]) for c in calls)}"}},')
    return lines


def rows_array(level, flags, optimization, option):
    with tempfile.TemporaryDirectory() as work:
        lines = level_table(level, optimization, f"{flags} {option}", pathlib.Path(work))
    return [f"static const CodeRow {level}_{optimization}[] = {{", *lines, "};", ""]


def table():
    out = ["/* Code and stack of the runtime's functions: bytes, own frame, and whom it calls as places in",
           " * this table. Written by tools/measure_kernels.py; do not edit. */", '#include "lower/measured.h"', "",
           f'const char code_compiler[] = "{compiler()}";', ""]
    tables = []
    for level, flags in LEVELS:
        for optimization, option in OPTIMIZATIONS:
            lines = rows_array(level, flags, optimization, option)
            out += lines
            tables.append(f'    {{"{level}", {"true" if optimization == "size" else "false"}, {len(lines) - 3}, {level}_{optimization}}},')
    text = "\n".join(out + ["const CodeTable code_tables[] = {", *tables, "};",
                            "const int code_table_count = COUNT_OF(code_tables);", ""])
    return text + f"/* sha256 of this and of runtime/: {digest(text)} */\n"


def entries(text):
    """Rows and names of tables, however they are laid out in lines; long strings may be in parts."""
    text = re.sub(r'"\s+"', "", text)
    return [" ".join(row.split()) for row in re.findall(r'\w+\[\]|\{\s*"[^}]*\}', text)]


def digest(text):
    """Of a table's entries and of runtime/, comments and layout left out."""
    sources = [f.read_text() for f in sorted((ROOT / "runtime").glob("*.[ch]"))]
    code = [" ".join(re.sub(r"/\*.*?\*/", " ", s, flags=re.DOTALL).split()) for s in sources]
    return hashlib.sha256("\n".join(entries(text) + code).encode()).hexdigest()


def main():
    if not shutil.which("arm-none-eabi-gcc"):
        print("skipped: arm-none-eabi-gcc was not found", file=sys.stderr)
        return 77
    if len(sys.argv) < 3:
        print(table(), end="")
        return 0
    committed = pathlib.Path(sys.argv[2]).read_text()
    if compiler() not in committed:
        print(f"skipped: the table is not of {compiler()}", file=sys.stderr)
        return 77
    old = entries(committed)
    if digest(committed) in committed:
        (level, flags), (optimization, option) = LEVELS[0], OPTIMIZATIONS[-1]
        new = entries("\n".join(rows_array(level, flags, optimization, option)))
        start = old.index(new[0])
        old = old[start:old.index(next(e for e in old[start + 1:] if e.endswith("[]")))]
    else:
        new = entries(table())
    for line in list(difflib.unified_diff(old, new, "committed", "measured", n=0, lineterm=""))[:40]:
        print(line)
    return 0 if old == new else 1


if __name__ == "__main__":
    sys.exit(main())
