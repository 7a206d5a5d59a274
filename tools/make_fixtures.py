#!/usr/bin/env python3
"""Makes the operators' fixtures with a real torch: tests/op/<op>/<case>.pt2 (the archive) and
<case>.npz (its inputs in0.. and torch's own outputs out0..).

    python tools/make_fixtures.py [family or op glob] ...     all without arguments

Each tools/fixtures/<family>.py has fixtures(), see tools/fixtures/__init__.py. The files are
reproducible: fixed seeds, fixed time stamps, paths of stack traces cut down to model.py and torch/.
"""

import copy
import fnmatch
import importlib
import io
import pathlib
import re
import sys
import zipfile

import numpy
import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from fixtures import Fn  # noqa: E402

STAMP = (2020, 1, 1, 0, 0, 0)


def member_write(archive, name, data):
    info = zipfile.ZipInfo(name, STAMP)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data, compresslevel=9)


def paths_rewrite(text):
    """Frames inside of torch keep torch/...; all others are the user's model.py."""
    text = re.sub(r'File \\"[^"\\]*/site-packages/(torch[a-z]*/[^"\\]*)\\"', r'File \\"\1\\"', text)
    return re.sub(r'File \\"/[^"\\]*\\"', r'File \\"model.py\\"', text)


def archive_bytes(program):
    """The archive as torch writes it, but deflated and without the pickled sample inputs."""
    saved = io.BytesIO()
    torch.export.save(program, saved)
    out = io.BytesIO()
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("models/model.json"):
                data = paths_rewrite(data.decode()).encode()
            elif "/sample_inputs/" in name:
                data = b""
            elif name.endswith("/serialization_id"):
                data = b"0"
            member_write(new, name, data)
    return out.getvalue()


def arrays_bytes(arrays):
    """An .npz; numpy.savez would put the time of day into it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in arrays.items():
            data = io.BytesIO()
            numpy.save(data, array)
            member_write(archive, name + ".npy", data.getvalue())
    return out.getvalue()


def to_array(value):
    """Row-major, whatever the strides; rank 0 stays rank 0."""
    if isinstance(value, torch.Tensor):
        value = value.detach().resolve_neg().numpy()
    return numpy.array(value, order="C", copy=True)


def flatten(tree):
    return torch.utils._pytree.tree_flatten(tree)[0]


def arrays_of(prefix, values):
    return {f"{prefix}{i}": to_array(v) for i, v in enumerate(values) if v is not None}


def write_if_changed(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)
        print(path.relative_to(ROOT))


def export(module, inputs, strict=False):
    with torch.no_grad():
        return torch.export.export(copy.deepcopy(module), copy.deepcopy(inputs), strict=strict)


def fixture_make(folder, case, module, inputs):
    if not isinstance(module, torch.nn.Module):
        module = Fn(module)
    module = module.eval()
    inputs = tuple(inputs)
    program = export(module, inputs)
    arrays = arrays_of("in", flatten(copy.deepcopy(inputs)))
    with torch.no_grad():
        outputs = copy.deepcopy(module)(*copy.deepcopy(inputs))
    arrays.update(arrays_of("out", flatten(outputs)))
    write_if_changed(folder / f"{case}.pt2", archive_bytes(program))
    write_if_changed(folder / f"{case}.npz", arrays_bytes(arrays))


def family_fixtures(name):
    """Seeds the generator before every case."""
    torch.manual_seed(0)
    cases = iter(importlib.import_module("fixtures." + name).fixtures())
    while True:
        torch.manual_seed(0)
        case = next(cases, None)
        if case is None:
            return
        yield case


def main():
    torch.set_num_threads(1)
    wanted = sys.argv[1:]
    families = sorted(p.stem for p in (ROOT / "tools/fixtures").glob("*.py") if p.stem[0] != "_")
    failed = 0
    for family in families:
        for op, case, module, inputs in family_fixtures(family):
            names = (family, op, f"{op}/{case}")
            if wanted and not any(fnmatch.fnmatch(n, w) for w in wanted for n in names):
                continue
            try:
                fixture_make(ROOT / "tests/op" / op, case, module, inputs)
            except Exception as error:  # one bad case must not hide the others
                print(f"{family}: {op}/{case}: {type(error).__name__}: {error}", file=sys.stderr)
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
