"""Follows Containerfile without a container engine: each FROM debian:12 is a root of its own, and
its COPY and RUN lines are done there as they stand. Then the image's entry point compiles the
example and verifies it on QEMU. Needs root.

With --over-host, as ctest has it, a root is this Debian 12 with a layer of its own above it, which
goes with this process: every step is done, but a package that the recipe forgets may be there
already. Without, it is made by debootstrap, which shows that too and takes a quarter of an hour; a
WORK_FOLDER that an earlier call has left is taken up again.
usage: container.py [--over-host] SOURCE_FOLDER [WORK_FOLDER]
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
over_host = sys.argv[1] == "--over-host"
arguments = sys.argv[2 if over_host else 1 :]
source = pathlib.Path(arguments[0]).resolve()
work = pathlib.Path(arguments[1] if len(arguments) > 1 else tempfile.mkdtemp(prefix="container-")).resolve()


def instructions(text):
    """(word, rest) of each instruction; continued lines are joined, comments left out."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            word, rest = line.split(None, 1)
            yield word, rest.strip()


def root_of(image, name):
    if not image.split("/")[-1].startswith("debian:12"):
        sys.exit(f"{image}: only Debian 12 can be stood in for")
    root = work / name
    plain = work / "debian"
    if over_host:
        lay_over_host(root)
    elif not plain.exists():
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", plain], check=True, stdout=subprocess.DEVNULL)
    if not root.exists():
        subprocess.run(["cp", "-a", plain, root], check=True)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    return root


def lay_over_host(root):
    """This machine's files, and what is written to them beside them, in memory."""
    upper, scratch = work / f"{root.name}.upper", work / f"{root.name}.scratch"
    for folder in (upper, scratch, root):
        folder.mkdir()
    layers = f"lowerdir=/,upperdir={upper},workdir={scratch}"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, root], check=True)


def enter_namespace():
    """Goes on in a mount namespace of its own, with memory at the work folder; skipped where that is
    not allowed, or where this machine is not the Debian that the recipe is for."""
    if os.environ.get("CONTAINER_NAMESPACE") != str(work):
        release = pathlib.Path("/etc/os-release").read_text()
        again = ["unshare", "--mount", "--propagation", "private"]
        if "VERSION_CODENAME=bookworm" not in release or os.geteuid() != 0 or subprocess.run([*again, "true"]).returncode:
            sys.exit(SKIPPED)
        os.environ["CONTAINER_NAMESPACE"] = str(work)
        done = subprocess.run([*again, sys.executable, __file__, "--over-host", source, work])
        work.rmdir()
        sys.exit(done.returncode)
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", work]).returncode:
        sys.exit(SKIPPED)


def inside(root, folder, command):
    """Runs a command in the root as an engine does: a mount namespace with /proc and /dev."""
    script = f"mount -t proc proc {root}/proc && mount --rbind /dev {root}/dev && exec chroot {root} \"$@\""
    there = ["sh", "-c", f'cd {folder} && exec "$@"', "sh", *command]
    clean = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    clean |= {k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")}
    subprocess.run(["unshare", "--mount", "sh", "-ec", script, "sh", *there], env=clean, check=True)


def copy(root, folder, rest, roots):
    words = rest.split()
    origin = source
    if words[0].startswith("--from="):
        origin = roots[words.pop(0).removeprefix("--from=")]
    to = root / words[-1].lstrip("/")
    for pattern in words[:-1]:
        if pattern == ".":  # what git has is what .containerignore lets through
            to.mkdir(parents=True, exist_ok=True)
            files = subprocess.run(["git", "archive", "HEAD"], cwd=origin, check=True, stdout=subprocess.PIPE)
            subprocess.run(["tar", "-x", "-C", to], input=files.stdout, check=True)
            continue
        to.mkdir(parents=True, exist_ok=True)
        for path in origin.glob(pattern.lstrip("/")):
            shutil.copy(path, to)


if over_host:
    enter_namespace()
roots, root, folder, entry = {}, None, "/", []
for word, rest in instructions((source / "Containerfile").read_text()):
    print(f"{word} {rest}", flush=True)
    if word == "FROM":
        image, *name = rest.split()
        root, folder = root_of(image, name[1] if name else "image"), "/"
        roots[root.name] = root
    elif word == "RUN":
        inside(root, folder, ["sh", "-c", rest])
    elif word == "COPY":
        copy(root, folder, rest, roots)
    elif word == "WORKDIR":
        folder = rest
        (root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
    elif word == "ENTRYPOINT":
        entry = json.loads(rest)
    else:
        sys.exit(f"{word}: not known here")

shutil.copytree(source / "examples/digits_silu", root / folder.lstrip("/") / "digits", dirs_exist_ok=True)
model, data = "digits/digits_silu.pt2", "digits/calib.npz"
inside(root, folder, [*entry, "compile", model, "-c", data, "-t", "cortex-m55", "-o", "out", "-q"])
inside(root, folder, [*entry, "verify", "out", "-i", "digits/test.npz", "--labels", "label", "--on", "qemu", "--limit", "8"])
print("the image works")
