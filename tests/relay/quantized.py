"""Calls of quantized operators and of those on images, as in operators.py."""

import math

import numpy as np
from operators import conv, erf, ints, normal, softmax

f32, i32 = np.float32, np.int32


def fixed(x, factor, nearest=False):
    """x * factor as Relay's fixed-point arithmetic has it, in Python's integers."""
    s, e = math.frexp(factor)
    s = round(s * 2**31)
    left, right = max(e, 0), 31 + max(-e, 0)

    def one(v):
        p = (int(v) << left) * s
        return (p + (1 << (right - 1)) - (nearest and p < 0)) >> right
    return np.vectorize(one, otypes=[np.int64])(x)


def clamp(x, dtype):
    return np.clip(x, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)


def averaged(x):
    """Means of windows of 2 x 2 elements, towards zero."""
    x = x[:, :, :4, :4].astype(i32)
    total = x[:, :, ::2, ::2] + x[:, :, 1::2, ::2] + x[:, :, ::2, 1::2] + x[:, :, 1::2, 1::2]
    return np.trunc(total / 4).astype(x.dtype)


def away(x):
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def ratio(a, b):
    return float(f32(a)) / float(f32(b))


A, B8 = ints(-128, 128, 3, 4, dtype=np.int8), ints(-128, 128, 3, 4, dtype=np.int8)
U = ints(0, 256, 1, 3, 5, 5, dtype=np.uint8)
W8 = ints(-128, 128, 4, 3, 3, 3, dtype=np.int8)
BIG = ints(-50000, 50000, 3, 4)
X = normal(3, 4)
REAL = (A.astype(i32) - 3) * f32(0.05)
IMAGE = normal(1, 2, 4, 5)


def unary(name, fn, y, low=-128):
    x = np.maximum(A, low).astype(np.int8)
    real = ((x.astype(i32) - 3) * f32(0.05)).astype(f32)
    return f"qnn.{name}(%a, 0.05f, 3, {y}f, -5)", (x,), clamp(away(fn(real).astype(f32) / f32(y)) - 5, np.int8)


QUANTIZED = [
    ('qnn.quantize(%a, 0.02f, 7, out_dtype="int8")', (X,), clamp(away(X / f32(0.02)) + 7, np.int8)),
    ('qnn.quantize(%a, %b, %c, axis=0, out_dtype="uint8")', (X, np.array([0.02, 0.03, 0.5], f32), np.array([1, 2, 3], i32)),
     clamp(away(X / np.array([[0.02], [0.03], [0.5]], f32)) + [[1], [2], [3]], np.uint8)),
    ("qnn.dequantize(%a, 0.05f, 3)", (A,), REAL.astype(f32)),
    ("qnn.dequantize(%a, %b, 3, axis=1)", (A, np.array([1, 2, 3, 4], f32)), ((A.astype(i32) - 3) * np.array([1, 2, 3, 4])).astype(f32)),
    ("qnn.avg_pool2d(%a, 0.5f, 3, 0.5f, 3, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])", (U,), clamp(averaged(U), np.uint8)),
    ('qnn.avg_pool2d(%a, 0.75f, 3, 0.25f, 7, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0], layout="NHWC")', (U.transpose(0, 2, 3, 1),),
     clamp(averaged((U.astype(i32) - 3) * 3 + 7), np.uint8).transpose(0, 2, 3, 1)),
    ('qnn.requantize(%a, 0.003f, 5, 0.7f, -3, out_dtype="int8")', (BIG,), clamp(fixed(BIG - 5, ratio(0.003, 0.7)) - 3, np.int8)),
    ('qnn.requantize(%a, 0.003f, 0, 0.7f, -3, rounding="TONEAREST", out_dtype="int8")', (BIG,), clamp(fixed(BIG, ratio(0.003, 0.7), True) - 3, np.int8)),
    ('qnn.requantize(%a, 2f, 0, 4f, 0, rounding="UPWARD", out_dtype="int8")', (A,), clamp(np.floor(A / 2 + 0.5), np.int8)),
    ('qnn.requantize(%a, 2f, 0, 4f, 0, rounding="TONEAREST", out_dtype="int8")', (A,), clamp(away(A / 2), np.int8)),
    ('qnn.requantize(%a, 0.5f, 0, 0.5f, 1, out_dtype="uint8")', (BIG,), clamp(BIG + 1, np.uint8)),
    ('qnn.requantize(%a, 3f, 0, 0.25f, 1, out_dtype="int32")', (A,), (A.astype(i32) * 12 + 1)),
    ('qnn.requantize(%a, %b, 0, %c, 0, axis=0, out_dtype="int32")', (BIG, np.array([0.5, 0.25, 2], f32), f32(0.5)), np.floor(BIG * np.array([[1], [0.5], [4]]) + 0.5).astype(i32)),
    ("qnn.add(%a, %b, 0.1f, 2, 0.3f, -1, 0.4f, 5)", (A, B8), clamp(fixed(A.astype(i32) - 2, ratio(0.1, 0.4)) + fixed(B8.astype(i32) + 1, ratio(0.3, 0.4)) + 5, np.int8)),
    ("qnn.subtract(%a, %b, 0.1f, 2, 0.3f, -1, 0.4f, 5)", (A, B8), clamp(fixed(A.astype(i32) - 2, ratio(0.1, 0.4)) - fixed(B8.astype(i32) + 1, ratio(0.3, 0.4)) + 5, np.int8)),
    ("qnn.mul(%a, %b, 0.1f, 2, 0.3f, -1, 0.9f, 5)", (A, B8), clamp(fixed((A.astype(i32) - 2) * (B8.astype(i32) + 1), ratio(f32(0.1) * f32(0.3), 0.9)) + 5, np.int8)),
    ('qnn.dense(%a, %b, 3, -2, 0.1f, 0.2f, units=3, out_dtype="int32")', (A, B8), (A.astype(i32) - 3) @ (B8.astype(i32) + 2).T),
    ('qnn.batch_matmul(%a, %b, 3, -2, 0.1f, 0.2f, out_dtype="int32")', (A[None], B8[None]), ((A.astype(i32) - 3) @ (B8.astype(i32) + 2).T)[None]),
    ('qnn.conv2d(%a, %b, 9, 2, 0.1f, 0.2f, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3], out_dtype="int32")', (U, W8),
     conv(U.astype(i32) - 9, W8.astype(i32) - 2, pad=(1, 1, 1, 1)).astype(i32)),
    ('qnn.conv2d(%a, %b, 9, %c, 0.1f, 0.2f, data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32")', (U.transpose(0, 2, 3, 1), W8.transpose(2, 3, 1, 0), np.array([1, 2, 3, 4], i32)),
     conv(U.astype(i32) - 9, W8.astype(i32) - np.array([1, 2, 3, 4]).reshape(4, 1, 1, 1)).astype(i32).transpose(0, 2, 3, 1)),
    ("qnn.concatenate((%a, %b), (0.5f, 0.25f), (1, 2), 0.5f, 3, axis=1)", (A, B8), np.concatenate([clamp(A.astype(i32) + 2, np.int8), clamp(np.floor((B8.astype(i32) - 2) * 0.5 + 0.5) + 3, np.int8)], 1)),
    unary("tanh", np.tanh, 0.01), unary("sigmoid", lambda x: 1 / (1 + np.exp(-x)), 0.004), unary("exp", np.exp, 2), unary("erf", erf, 0.01), unary("abs", np.abs, 0.05),
    unary("sqrt", np.sqrt, 0.02, 4), unary("rsqrt", lambda x: 1 / np.sqrt(x), 0.05, 4), unary("log", np.log, 0.03, 4), unary("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6, 0.05),
    ("qnn.leaky_relu(%a, 0.05f, 3, 0.05f, 3, alpha=0.5f)", (A,), clamp(away(np.where(REAL > 0, REAL, REAL * f32(0.5)) / f32(0.05)) + 3, np.int8)),
    ("qnn.softmax(%a, 0.05f, 3, 0.004f, -128)", (A,), clamp(away(softmax(REAL, -1) / f32(0.004)) - 128, np.int8)),
    # ---- images ----
    ('nn.upsampling(%a, scale_h=2f, scale_w=3f)', (IMAGE,), IMAGE.repeat(2, 2).repeat(3, 3)),
    ('image.resize2d(%a, size=[8, 10], method="nearest_neighbor", coordinate_transformation_mode="asymmetric")', (IMAGE,), IMAGE.repeat(2, 2).repeat(2, 3)),
    ('image.resize2d(%a, size=[2, 5], layout="NHWC", method="linear")', (IMAGE.transpose(0, 2, 3, 1),), ((IMAGE[:, :, ::2] + IMAGE[:, :, 1::2]) / 2).transpose(0, 2, 3, 1)),
    ('image.resize1d(%a, size=[5], method="linear", coordinate_transformation_mode="align_corners")', (np.array([[[0, 2, 4]]], f32),), np.array([[[0, 1, 2, 3, 4]]], f32)),
    ("image.grid_sample(%a, image.affine_grid(%b, target_shape=[4, 5]))", (IMAGE, np.array([[[1, 0, 0], [0, 1, 0]]], f32)), IMAGE),
    ("vision.roi_pool(%a, %b, pooled_size=[1, 1], spatial_scale=1f)", (IMAGE, np.array([[0, 0, 0, 4, 3]], f32)), IMAGE.max((2, 3), keepdims=True)),
    ("vision.roi_align(%a, %b, pooled_size=[1, 1], spatial_scale=1f, sample_ratio=1)", (IMAGE, np.array([[0, 1, 1, 3, 3]], f32)), IMAGE[:, :, 2:3, 2:3]),
]
