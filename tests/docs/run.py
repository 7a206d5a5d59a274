"""Every command of the docs and the README: each page's console and sh blocks that are marked
<!-- test --> run in order, in a shell and a folder of their own with the repository's examples in
it, one of them as model.pt2, calibration.npz and test.npz. Lines under a command of a console block
are what it prints: "..." alone stands for any lines, in a line for any text. A block that runs
corten without a mark is an error; <!-- not run: why --> is the only excuse.
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


def run_page(page, folder):
    faults = []
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
            if block["kind"] in ("console", "sh") and re.search(r"^(\$ )?corten ", text, re.M):
                faults.append(f"{page.name}: a block runs corten and is not marked:\n{text}")
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
    print(f"{page.name}: {count} commands")
    return faults


faults = []
pages = [source / "docs" / p for p in sys.argv[3:]]
for page in pages or [source / "README.md", *sorted((source / "docs").glob("*.md"))]:
    with tempfile.TemporaryDirectory() as folder:
        faults += run_page(page, pathlib.Path(folder))
print("\n".join(faults))
sys.exit(bool(faults))
