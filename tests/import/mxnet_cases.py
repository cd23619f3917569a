"""Operators of MXNet whose results MXNet itself computed: make_mxnet.py keeps them in mxnet/results.npz."""
import numpy as np


def boxes(r, *shape):
    corner, size = r.uniform(0, 0.7, (*shape, 2)), r.uniform(0.05, 0.4, (*shape, 2))
    return np.concatenate([corner, corner + size], -1).astype(np.float32)


def suppression(r):
    shape, count, extra = [(), (2,), (2, 3)][r.randint(3)], r.randint(1, 14), r.randint(0, 3)
    label = r.randint(0, 3, (*shape, count, 1)).astype(np.float32)
    x = np.concatenate([label, r.rand(*shape, count, 1), boxes(r, *shape, count), r.rand(*shape, count, extra)], -1).astype(np.float32)
    attributes = dict(overlap_thresh=r.choice([0.3, 0.5]), valid_thresh=r.choice([0, 0.3]), topk=r.choice([-1, 3, 20]), id_index=r.choice([-1, 0]),
                      background_id=r.choice([-1, 0]), force_suppress=bool(r.randint(2)), in_format=r.choice(["corner", "center"]), out_format=r.choice(["corner", "center"]))
    return "_contrib_box_nms", [x], attributes, 1


def detection(r):
    batch, classes, count = r.randint(1, 3), r.randint(2, 5), r.randint(1, 12)
    p = r.rand(batch, classes, count).astype(np.float32)
    attributes = dict(clip=bool(r.randint(2)), threshold=r.choice([0.01, 0.5]), nms_threshold=r.choice([0.3, 0.5]), force_suppress=bool(r.randint(2)), nms_topk=r.choice([-1, 4]))
    return "_contrib_MultiBoxDetection", [p, r.standard_normal((batch, count * 4)).astype(np.float32), boxes(r, 1, count)], attributes, 1


def span(r, low=None):
    high = np.float32(r.uniform(0.5, 3))
    return [np.array([-high if low is None else low], np.float32), np.array([high], np.float32)]


def i8(r, *shape):
    return r.randint(-127, 128, shape).astype(np.int8)


def u8(r, *shape):
    return r.randint(0, 256, shape).astype(np.uint8)


def quantize(r):
    x, how = (2 * r.standard_normal((3, r.randint(1, 20)))).astype(np.float32), r.randint(3)
    if how == 0:
        return "_contrib_quantize", [x, *span(r)], dict(out_type="int8"), 3
    given = {} if how == 1 else dict(min_calib_range=-1.5, max_calib_range=1.25)
    return "_contrib_quantize_v2", [x], dict(out_type=r.choice(["int8", "auto"]), **given), 3


def dequantize(r):
    if r.randint(2):
        return "_contrib_dequantize", [i8(r, 3, 5), *span(r)], {}, 1
    x = r.randint(-2**30, 2**30, (2, r.randint(1, 9))).astype(np.int32)
    given = r.choice([{}, dict(min_calib_range=-0.4, max_calib_range=0.3)])
    return "_contrib_requantize", [x, *span(r)], dict(out_type="int8", **given), 3


def products(r):
    """MXNet's convolution reads u8 alone. Weights are small: sums of two products saturate at 16 bits on some processors."""
    bias, whole = bool(r.randint(2)), u8 if r.randint(2) else i8
    small = lambda *shape: r.randint(-60, 61, shape).astype(np.int8)  # noqa: E731
    if r.randint(2):
        c, o = r.randint(1, 5), r.randint(1, 5)
        arrays, attributes = [u8(r, 2, c, 6, 5), small(o, c, 3, 2), i8(r, o)], dict(kernel=(3, 2), num_filter=o, stride=(r.randint(1, 3), 1), pad=(1, 0))
        kind, whole = "_contrib_quantized_conv", u8
    else:
        k, o = r.randint(1, 30), r.randint(1, 6)
        arrays, attributes = [whole(r, 3, k), small(o, k), i8(r, o)], dict(num_hidden=o)
        kind = "_contrib_quantized_fully_connected"
    n = 3 if bias else 2
    ranges = span(r, 0 if whole is u8 else None) + [a for _ in range(n - 1) for a in span(r)]
    return kind, arrays[:n] + ranges, dict(no_bias=not bias, **attributes), 3


def moves(r):
    x = [i8(r, 2, 3, 6, 7), *span(r)]
    return [("_contrib_quantized_act", x, dict(act_type="relu"), 3), ("_contrib_quantized_flatten", x, {}, 3),
            ("_contrib_quantized_pooling", x, dict(kernel=(2, 3), stride=(2, 1), pool_type="max"), 3),
            ("_contrib_quantized_pooling", x, dict(kernel=(3, 3), stride=(1, 2), pad=(1, 1), pool_type="max"), 3)][r.randint(4)]


def norms(r):
    """GroupNorm has a scale for each group; LayerNorm takes any axis."""
    groups, channels, axis = r.randint(1, 4), r.randint(1, 3), r.randint(-3, 3)
    x = r.standard_normal((2, groups * channels, 3, r.randint(1, 6))).astype(np.float32)
    size = groups if r.randint(2) else x.shape[axis]
    kind, attributes = ("GroupNorm", dict(num_groups=groups)) if size == groups != x.shape[axis] else ("LayerNorm", dict(axis=axis))
    return kind, [x, *r.standard_normal((2, size)).astype(np.float32)], dict(eps=1e-3, **attributes), 1


KINDS = [suppression, detection, quantize, dequantize, products, moves, norms]


def cases():
    """operator, arrays, attributes, number of results"""
    for k, kind in enumerate(KINDS):
        for seed in range(6):
            yield f"{kind.__name__}_{seed}", kind(np.random.RandomState(100 * k + seed))
