"""Writes tests/data/torch_twins.txt: each in-place and out= overload of aten and the functional
overload that torch itself groups it with ("-": none), one pair a line, sorted.

    python tools/dump_twins.py > tests/data/torch_twins.txt

Reads native_functions.yaml as torch ships it beside its code generator (needs pyyaml).
"""

import pathlib

import torchgen
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
from torchgen.model import NativeFunctionsGroup, SchemaKind

NATIVE = pathlib.Path(torchgen.__file__).parent / "packaged/ATen/native"
TWINS = (SchemaKind.inplace, SchemaKind.out)


def pairs():
    functions = parse_native_yaml(str(NATIVE / "native_functions.yaml"), str(NATIVE / "tags.yaml"))
    for group in get_grouped_native_functions(functions.native_functions):
        if isinstance(group, NativeFunctionsGroup):
            for twin in (group.inplace, group.out):
                if twin:
                    yield twin.func.name, group.functional.func.name
        elif not hasattr(group, "view") and group.func.kind() in TWINS:
            yield group.func.name, None
        elif getattr(group, "view_inplace", None):
            yield group.view_inplace.func.name, group.view.func.name


def main():
    print("\n".join(sorted(f"aten::{twin} {f'aten::{row}' if row else '-'}"
                           for twin, row in pairs())))


if __name__ == "__main__":
    main()
