#!/usr/bin/env python3
"""Writes tests/data/base: arrays and archives as a real NumPy writes them, and images.

    python tools/make_base_data.py        needs numpy and pillow

Element i of an integer array in row-major order is 3 i - 5 (or 3 i where unsigned), of a float
array (3 i - 5) / 4, of a bool array i % 3 == 0; tests/unit/base_test.c expects just that.
"""

import pathlib

import numpy as np
from PIL import Image

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "base"


def numbers(dtype, shape):
    dtype = np.dtype(dtype)
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    if dtype.kind == "b":
        values = i % 3 == 0
    elif dtype.kind == "u":
        values = 3 * i
    elif dtype.kind == "f":
        values = (3 * i - 5) / 4
    else:
        values = 3 * i - 5
    return values.astype(dtype).reshape(shape)


def write_versions():
    a = numbers("<f4", (2, 3))
    for version in [(1, 0), (2, 0), (3, 0)]:
        with open(FOLDER / f"version{version[0]}.npy", "wb") as f:
            np.lib.format.write_array(f, a, version=version)


def write_dtypes():
    for dtype in ["b1", "u1", "i1", "i2", "i4", "i8", "u2", "u4", "f2", "f4", "f8"]:
        np.save(FOLDER / f"{dtype}_little.npy", numbers("<" + dtype, (2, 3, 4)))
        np.save(FOLDER / f"{dtype}_big_fortran.npy",
                np.asfortranarray(numbers(">" + dtype, (2, 3, 4))))


def write_shapes():
    np.save(FOLDER / "scalar.npy", numbers("i4", ()))
    np.save(FOLDER / "empty.npy", numbers("f4", (0, 3)))
    np.save(FOLDER / "vector_fortran.npy", np.asfortranarray(numbers("f4", (5,))))
    np.save(FOLDER / "uint64.npy", numbers("u8", (2,)))
    np.save(FOLDER / "complex.npy", numbers("f4", (2,)).astype("c8"))
    np.save(FOLDER / "record.npy", np.zeros(2, dtype=[("a", "f4"), ("b", "i4")]))
    np.save(FOLDER / "object.npy", np.array([1, "a"], dtype=object))


def write_archives():
    arrays = {"zebra": numbers("f4", (2, 3)), "ape": numbers("i8", (4,)), "in0": numbers("b1", ())}
    np.savez(FOLDER / "stored.npz", **arrays)
    np.savez_compressed(FOLDER / "deflated.npz", **arrays)


def write_images():
    """8 x 4 pixels of four flat squares: red, green (top), blue, white (bottom)."""
    pixels = np.zeros((4, 8, 3), dtype=np.uint8)
    pixels[:2, :4] = (255, 0, 0)
    pixels[:2, 4:] = (0, 255, 0)
    pixels[2:, :4] = (0, 0, 255)
    pixels[2:, 4:] = (255, 255, 255)
    image = Image.fromarray(pixels)
    image.save(FOLDER / "squares.png")
    image.resize((64, 32), Image.NEAREST).save(FOLDER / "squares.jpg", quality=95)
    slope = Image.new("RGB", (16, 16))
    slope.putdata([(16 * (i % 16), 16 * (i // 16), 99) for i in range(256)])
    slope.save(FOLDER / "progressive.jpg", quality=60, progressive=True)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_versions()
    write_dtypes()
    write_shapes()
    write_archives()
    write_images()


main()
