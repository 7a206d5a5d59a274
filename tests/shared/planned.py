"""What the tests of plans share: models that were quantized before are planned for each CPU."""
import json
import pathlib
import tempfile

from sections import output


def planned(program, graph, cpu, out, *options):
    """The report of a quantized graph, compiled again for another CPU or with other memory."""
    output(program, "compile", graph, "--from", "layout", "-t", cpu, "-o", out, "-q", *options)
    return json.loads((out / "report.json").read_text())


def quantized(program, model, work):
    """The quantized graph of an archive with calibration.npz beside it, or that of a folder that was compiled."""
    if model.suffix == ".pt2":
        output(program, "compile", model, "-c", model.parent / "calibration.npz", "-t", "cortex-m55", "--io", "int8",
               "-o", work / "first", "-q")
        model = work / "first"
    return next(model.glob("*.corten"))


def has_strips(out):
    return any("static void strip" in f.read_text() for f in out.glob("*.c"))


def check_all(program, models, cpus, check):
    """check(model, graph, cpu, work) gives what is wrong and what there is to say; returns the exit code."""
    passed = failed = 0
    for model in models:
        with tempfile.TemporaryDirectory() as name:
            work = pathlib.Path(name)
            graph = quantized(program, model, work)
            for cpu in cpus:
                try:
                    wrong, text = check(model, graph, cpu, work)
                except RuntimeError as e:
                    wrong, text = [str(e)], ""
                passed, failed = passed + (not wrong), failed + bool(wrong)
                print(f"{'FAIL' if wrong else 'ok  '} {model.stem} on {cpu} {text} {'; '.join(wrong[:6])}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0
