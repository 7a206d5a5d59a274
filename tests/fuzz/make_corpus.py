"""The committed corpus from fixtures that are there: a few small and unlike inputs for each target.
Former findings, which stand beside them with names of their own, are left alone."""
import pathlib
import zipfile

here = pathlib.Path(__file__).resolve().parent
tests = here.parent
SMALLEST = 6


def put(target, name, data):
    folder = here / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def spread(paths, count):
    """The smallest of `count` groups of like names."""
    by_kind = {}
    for path in sorted(paths, key=lambda p: (p.stat().st_size, p.name)):
        by_kind.setdefault(path.stem.split("_")[0], path)
    return sorted(by_kind.values(), key=lambda p: p.stat().st_size)[:count]


def model_json(path):
    with zipfile.ZipFile(path) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith("models/model.json")]
        return archive.read(name)


for path in spread(tests.glob("pains/*.pt2"), SMALLEST):
    put("archive", path.name, path.read_bytes())
for path in spread([*tests.glob("pains/*.pt2"), *tests.glob("programs/*.pt2")], 3 * SMALLEST):
    put("model_json", path.stem + ".json", model_json(path))
for path in spread(tests.glob("data/base/*.npy"), 3 * SMALLEST):
    put("npy", path.name, path.read_bytes())
for path in [*tests.glob("data/base/*.npz"), *spread(tests.glob("pains/*.npz"), 2)]:
    put("npz", path.name, path.read_bytes())
for folder in sorted(p for p in (tests / "pass").iterdir() if p.is_dir()):
    for path in sorted(folder.glob("*.in"), key=lambda p: (p.stat().st_size, p.name))[:3]:
        put("text_ir", f"{folder.name}_{path.stem}.txt", path.read_bytes())
put("precision", "rules.txt", b"# a comment\nhead.* = int16\nconv2d_1 = w4\nstem = float\n*=int8\n")
put("precision", "faults.txt", b"head\n= int8\na = int7\n\tb = float c\n")
placed = (tests.parent / "examples/placed/memory.json").read_bytes()
put("memory", "placed.json", placed)
put("memory", "faults.json", placed.replace(b"256K", b"-1").replace(b"true", b"3").replace(b"dtcm", b"Arena"))
for path in sorted((tests / "data/base").glob("*.[pj]*g")):
    if path.stat().st_size < 8192:
        put("image", path.name, path.read_bytes())
