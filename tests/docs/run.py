"""Every command of the docs and the README: each page's console and sh blocks that are marked
<!-- test --> run in order, in a shell and a folder of their own with the repository's examples in
it, one of them as model.pt2, calibration.npz and test.npz. Lines under a command of a console block
are what it prints: "..." alone stands for any lines, in a line for any text. A block without a mark
is an error; <!-- not run: why --> is the only excuse. Commands within a sentence must be ones that
there are, with options that there are.
Every block of C compiles: the page's k-th as block.c in PAGE_k.c of this folder, behind a line "..."
as rest.c, beside what the page's commands wrote and digits/, an emitted model.
usage: run.py CORTEN SOURCE_FOLDER [PAGE ...]"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

corten, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
BLOCK = re.compile(r"(?:<!-- (?P<mark>[^>]*) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)```", re.S)
INLINE = re.compile(r"`corten ([a-z]+)([^`\n]*)`")
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wno-overlength-strings", "-Werror", "-fsyntax-only"]
NEEDED = {"--on qemu": "qemu-system-arm", "make ": "arm-none-eabi-gcc"}


def commands(kind, text):
    """(command, lines that it prints) of a block."""
    if kind == "sh":
        return [(line, []) for line in text.splitlines() if line.strip()]
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (found[-1][0][:-1] + line, [])
        elif found:
            found[-1][1].append(line)
    return found


def pattern(lines):
    """What the output must be, as an expression over whole lines."""
    parts = []
    for line in lines:
        if line == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            pieces = [re.escape(" ".join(p.split()) if p else "") for p in line.split("...")]
            parts.append(r"[^\n]*?".join(pieces) + r" ?\n")
    return re.compile("^" + "".join(parts), re.M)


def squeezed(text):
    return "\n".join(" ".join(line.split()) for line in text.splitlines()) + "\n"


def spelled(page):
    """Commands within sentences that there are not, or with options that they do not have."""
    faults = []
    for command, rest in INLINE.findall(page.read_text()):
        done = subprocess.run([corten, command, "--help"], capture_output=True, text=True)
        known = set(re.findall(r"(?<!\S)--?[a-z-]+", done.stdout.replace(",", " ")))
        unknown = [o for o in re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest) if o not in known]
        if done.returncode or unknown:
            faults.append(f"{page.name}: `corten {command}{rest}`: {unknown or 'no such command'}")
    return faults


def compiled(page, folder):
    """What a C compiler says of the page's blocks of C."""
    faults = []
    blocks = [b["text"] for b in BLOCK.finditer(page.read_text()) if b["kind"] == "c"]
    example = source / "examples/digits_silu"
    if blocks:
        subprocess.run([corten, "compile", example / "digits_silu.pt2", "-c", example / "calib.npz", "-t", "cortex-m55",
                        "-o", folder / "digits", "-q"], check=True)
    for k, block in enumerate(blocks, 1):
        around = source / f"tests/docs/{page.stem}_{k}.c"
        for name, text in zip(("block.c", "rest.c"), block.split("\n...\n")):
            (folder / name).write_text(text + "\n")
        include = [f"-I{p}" for p in (folder, folder / "digits", source / "runtime", source / "src",
                                       source / "include", corten.parent / "include")]
        done = subprocess.run(["cc", *STRICT, *include, around], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            faults.append(f"{page.name}: block {k} of C does not compile:\n{done.stdout}")
    return faults, len(blocks)


def run_page(page, folder):
    faults = spelled(page)
    digits = source / "examples/digits_silu"
    os.symlink(source / "examples", folder / "examples")
    for name, of in {"model.pt2": "digits_silu.pt2", "calibration.npz": "calib.npz", "test.npz": "test.npz"}.items():
        os.symlink(digits / of, folder / name)
    environment = dict(os.environ, PATH=f"{corten.parent}:{os.environ['PATH']}", TMPDIR=str(folder))
    count = 0
    for block in BLOCK.finditer(page.read_text()):
        mark, text = block["mark"] or "", block["text"]
        if mark.startswith("not run: "):
            continue
        if not mark.startswith("test"):
            if block["kind"] in ("console", "sh"):
                faults.append(f"{page.name}: a block of commands is not marked:\n{text}")
            continue
        wanted = int(mark.split("exit ")[1]) if "exit " in mark else 0
        for command, lines in commands(block["kind"], text):
            if any(word in command and not shutil.which(tool) for word, tool in NEEDED.items()):
                continue
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=300)
            count += 1
            if done.returncode != wanted:
                faults.append(f"{page.name}: exit code {done.returncode}, not {wanted}: {command}\n{done.stdout}")
            elif lines and not pattern(lines).search(squeezed(done.stdout)):
                faults.append(f"{page.name}: {command}\nprints\n{done.stdout}\nand not\n" + "\n".join(lines))
    wrong, blocks = compiled(page, folder)
    print(f"{page.name}: {count} commands, {blocks} blocks of C")
    return faults + wrong


faults = []
pages = [source / "docs" / p for p in sys.argv[3:]]
for page in pages or [source / "README.md", *sorted((source / "docs").glob("*.md"))]:
    with tempfile.TemporaryDirectory() as folder:
        faults += run_page(page, pathlib.Path(folder))
print("\n".join(faults))
sys.exit(bool(faults))
