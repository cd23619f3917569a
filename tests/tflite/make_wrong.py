#!/usr/bin/env python3
"""Writes models that are wrong, which LiteRT refuses: ellipses.tflite, a slice with three ellipses, axes.tflite, one with thirty new
axes, bools.tflite, a quantized sum whose result is of truth values, missing.tflite, an operator without its first operand, and
coupled.tflite, an LSTM of 8 bits with twelve intermediate results and without an input gate, which ends LiteRT. Needs ai-edge-litert."""

import pathlib

import numpy as np
import tflite_recurrent
from tflite_build import Case, Tensor, constant, model, options

FOLDER = pathlib.Path(__file__).parents[1] / "fuzz" / "tflite"  # also seeds of the fuzzer


def strided(name, rank, entries, **masks):
    x = Tensor([2] * rank, "f4", None, np.zeros([2] * rank, "f4"))
    numbers = [constant(np.full(entries, v)) for v in (0, 1, 1)]
    case = Case("STRIDED_SLICE", 4, [x, *numbers], [Tensor([1], "f4")], options("StridedSliceOptions", **masks))
    (FOLDER / f"{name}.tflite").write_bytes(model([case]))


strided("ellipses", 8, 3, ellipsisMask=7)
strided("axes", 16, 31, ellipsisMask=1, newAxisMask=0x7FFFFFFE)

numbers = (Tensor([2], "i1", ([0.5], [3], 0), np.zeros(2, "i1")) for _ in range(2))
case = Case("ADD", 2, list(numbers), [Tensor([2], "?")], options("AddOptions"))
(FOLDER / "bools.tflite").write_bytes(model([case]))

case = Case("LOGICAL_AND", 1, [None, Tensor([2], "?", None, np.zeros(2, "?"))], [Tensor([2], "?")], options("LogicalAndOptions"))
(FOLDER / "missing.tflite").write_bytes(model([case]))

case = tflite_recurrent.lstm_eight(np.random.default_rng(1))
case.operands[1] = case.operands[5] = case.operands[9] = case.operands[12] = case.operands[20] = None
(FOLDER / "coupled.tflite").write_bytes(model([case]))
