"""Data of many kinds as sets of numpy arrays, each set what a .npz would hold."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any, Final, Iterable, Mapping

import numpy as np

from ._library import Array, Arrays

_DTYPES: Final = frozenset(
    "uint8 int8 int16 int32 int64 float16 float32 float64 bool".split()
)  # what the library reads


def is_tensor(x: object) -> bool:
    """A torch tensor; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def is_array(x: object) -> bool:
    return isinstance(x, (np.ndarray, np.generic)) or is_tensor(x)


def to_array(x: Any) -> Array:
    """A tensor, an array or nested lists of numbers as a gapless array that the library reads."""
    if is_tensor(x):
        x = x.detach().cpu()
        x = (x.float() if str(x.dtype) == "torch.bfloat16" else x).numpy()
    array = np.asarray(x, order="C")
    if array.dtype.name not in _DTYPES or not array.dtype.isnative:
        if array.dtype.kind not in "iuf":
            raise TypeError(f"numbers are needed, not an array of {array.dtype}")
        array = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    return array


@dataclass
class Data:
    """Paths or sets of arrays, and labels where they came along."""

    paths: list[str]
    sets: list[Arrays]
    labels: Array | None = None


def _is_path(x: object) -> bool:
    return isinstance(x, (str, os.PathLike))


def inputs_of(element: Any, inputs: int) -> tuple[dict[str, Any], Any]:
    """One element of an iterable: what it has for the model's inputs, by name, and its label.

    An element is an array, a mapping of names to arrays, or a sequence whose first entries are the
    inputs, or hold them all when the first is itself a mapping or a sequence. What follows is no
    input: a label, if there is one thing.
    """
    if isinstance(element, Mapping):
        return {str(k): v for k, v in element.items()}, None
    if is_array(element) or not isinstance(element, (tuple, list)):
        return {"arr_0": element}, None
    if element and isinstance(element[0], (tuple, list, Mapping)):
        taken, _ = inputs_of(element[0], len(element[0]))
        rest = element[1:]
    else:
        taken = {f"arr_{k}": v for k, v in enumerate(element[:inputs])}
        rest = element[inputs:]
    return taken, rest[0] if len(rest) == 1 else None


def _class_numbers(labels: list[Any], counts: list[int]) -> Array | None:
    """Labels of all elements one after the other, if they are a class number for each sample."""
    arrays = [np.atleast_1d(to_array(y)) for y in labels if y is not None and _numeric(y)]
    if len(arrays) != len(counts) or not arrays:
        return None
    fit = all(
        a.dtype.kind in "iu" and a.ndim == 1 and a.size == n
        for a, n in zip(arrays, counts, strict=True)
    )
    return np.concatenate(arrays) if fit else None


def _numeric(y: Any) -> bool:
    return is_array(y) or isinstance(y, int)


def _samples_in(arrays: Arrays, rank: int | None) -> int:
    """How many samples a set holds, when its first array has the rank of the input or one less."""
    first = next(iter(arrays.values()), None)
    if first is None or first.ndim == 0 or (rank is not None and first.ndim < rank):
        return 1
    return int(first.shape[0])


def collect(x: Any, inputs: int, rank: int | None = None) -> Data:
    """Whatever users give as data: a path or paths, arrays, or an iterable of elements.

    `inputs` is the number of the model's inputs and `rank` that of the first, where it is known.
    """
    if x is None:
        return Data([], [])
    if _is_path(x):
        return Data([os.fspath(x)], [])
    if is_array(x) or isinstance(x, Mapping):
        return Data([], [_set(inputs_of(x, inputs)[0])])
    if not isinstance(x, Iterable):
        raise TypeError(f"data of type {type(x).__name__}: a path, arrays or an iterable is needed")
    data = Data([], [])
    labels: list[Any] = []
    for element in x:
        if _is_path(element):
            data.paths.append(os.fspath(element))
            continue
        taken, label = inputs_of(element, inputs)
        data.sets.append(_set(taken))
        labels.append(label)
    data.labels = _class_numbers(labels, [_samples_in(s, rank) for s in data.sets])
    return data


def _set(taken: Mapping[str, Any]) -> dict[str, Array]:
    return {name: to_array(v) for name, v in taken.items()}


def first_examples(calibration: Any, inputs: int) -> list[Any]:
    """The first sample of calibration data as the arguments of the model's call: with the first
    axis kept, as batches are, and without it, as samples that have an axis of one of their own."""
    if _is_path(calibration) or calibration is None:
        return []
    if is_array(calibration) or isinstance(calibration, Mapping):
        element: Any = calibration
    else:
        element = next(iter(calibration), None)
        if element is None or _is_path(element):
            return []
    taken, _ = inputs_of(element, inputs)
    arrays = {name: to_array(v) for name, v in taken.items()}
    arrays = {n: a.astype(np.float32) if a.dtype.kind == "f" else a for n, a in arrays.items()}
    kept = {name: a[:1] if a.ndim else a for name, a in arrays.items()}
    examples = [kept]
    if all(a.ndim > 1 and a.shape[1] == 1 for a in arrays.values()):
        examples.append({name: a[0] for name, a in arrays.items()})
    return [e if isinstance(element, Mapping) else tuple(e.values()) for e in examples]
