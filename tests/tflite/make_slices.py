#!/usr/bin/env python3
"""Writes ellipses.tflite, a slice with three ellipses, and axes.tflite, one with thirty new axes. Both are wrong:
LiteRT refuses them. Needs ai-edge-litert."""

import pathlib

import numpy as np
from tflite_build import Case, Tensor, constant, model, options

FOLDER = pathlib.Path(__file__).parents[1] / "fuzz" / "tflite"  # also seeds of the fuzzer


def strided(name, rank, entries, **masks):
    x = Tensor([2] * rank, "f4", None, np.zeros([2] * rank, "f4"))
    numbers = [constant(np.full(entries, v)) for v in (0, 1, 1)]
    case = Case("STRIDED_SLICE", 4, [x, *numbers], [Tensor([1], "f4")], options("StridedSliceOptions", **masks))
    (FOLDER / f"{name}.tflite").write_bytes(model([case]))


strided("ellipses", 8, 3, ellipsisMask=7)
strided("axes", 16, 31, ellipsisMask=1, newAxisMask=0x7FFFFFFE)
