"""Random operators that move elements, index, resize, and recurrent layers. Each maker returns a Case."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers
from tflite_build import INT4, Case, Tensor, broadcast, constant, f32, maker, numbers, open_batch, operand, options, pick, result, same, scale, shape_of, weights

ANY = "f4", "i4", "i8", "i1", "u1", "i2", "?"


# ---- images ----


@maker("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resize(rng, name):
    dtype = pick(rng, "f4", "i1", "u1", "i2")
    x = operand(rng, [int(v) for v in rng.integers(1, 8, 4)], dtype)
    align, half = [(False, False), (True, False), (False, True)][int(rng.integers(0, 3))]
    kind = "ResizeBilinearOptions" if name == "RESIZE_BILINEAR" else "ResizeNearestNeighborOptions"
    return open_batch(Case(name, 4, [x, constant([int(v) for v in rng.integers(1, 14, 2)])], [same(x)], options(kind, alignCorners=align, halfPixelCenters=half)))


@maker("SPACE_TO_DEPTH", "DEPTH_TO_SPACE")
def depth_space(rng, name):
    block, (n, h, w, c) = int(rng.integers(1, 4)), (int(v) for v in rng.integers(1, 4, 4))
    shape = [n, h * block, w * block, c] if name[0] == "S" else [n, h, w, c * block * block]
    x = operand(rng, shape, pick(rng, "f4", "i1", "u1", "i4", "i8"))
    return Case(name, 2, [x], [same(x)], options("SpaceToDepthOptions" if name[0] == "S" else "DepthToSpaceOptions", blockSize=block))


@maker("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND")
def batch_space(rng, name):
    m = int(rng.integers(1, 3))
    block = [int(v) for v in rng.integers(1, 4, m)]
    pads = [[int(v) for v in rng.integers(0, 3, 2)] for _ in block]
    dtype = pick(rng, "f4", "i1", "u1", "i4", "i8", "i2")
    if name[0] == "S":
        sizes = []
        for b, p in zip(block, pads):
            size = int(rng.integers(1, 5))
            p[1] += -(size + sum(p)) % b
            sizes.append(size)
        shape = [int(rng.integers(1, 3)), *sizes, int(rng.integers(1, 4))]
    else:
        sizes = [int(v) for v in rng.integers(2, 5, m)]
        pads = [[int(rng.integers(0, b)), int(rng.integers(0, b))] for b in block]
        shape = [int(rng.integers(1, 3)) * int(np.prod(block)), *sizes, int(rng.integers(1, 4))]
    x = operand(rng, shape, dtype)
    return Case(name, 3, [x, constant(block), constant(pads)], [same(x)], options("SpaceToBatchNDOptions" if name[0] == "S" else "BatchToSpaceNDOptions"))


# ---- slices ----


@maker("STRIDED_SLICE")
def strided(rng, name):
    shape = shape_of(rng, 1, 5)
    n = len(shape)
    entries = n
    masks = {k: int(rng.integers(0, 2**n)) for k in ("beginMask", "endMask")}
    if n > 1 and rng.random() < 0.15:
        entries = int(rng.integers(1, n))
    begin, end, stride = rng.integers(-8, 8, entries), rng.integers(-8, 8, entries), rng.choice([-2, -1, 1, 2, 3], entries)
    shrink = int(rng.integers(0, 2**entries)) if rng.random() < 0.3 else 0
    for k in range(entries):
        if shrink >> k & 1:
            stride[k], begin[k] = 1, rng.integers(-shape[k], shape[k])
            end[k] = begin[k] + 1
            masks["endMask"] &= ~(1 << k)
            masks["beginMask"] &= ~(1 << k)
    if rng.random() < 0.15 and not shrink and entries == n and n < 5:
        at = int(rng.integers(0, n))
        begin, end, stride = (np.insert(v, at, w) for v, w in ((begin, 0), (end, 0), (stride, 1)))
        masks = {"beginMask": 2 ** (n + 1) - 1, "endMask": 2 ** (n + 1) - 1, "newAxisMask": 1 << at}
    elif rng.random() < 0.1 and not shrink and entries == n:
        masks["ellipsisMask"] = 1 << int(rng.integers(0, n))
    x = operand(rng, shape, pick(rng, *ANY))
    return Case(name, 4, [x, constant(begin), constant(end), constant(stride)], [same(x)], options("StridedSliceOptions", shrinkAxisMask=shrink, **masks))


@maker("SLICE")
def slices(rng, name):
    x = operand(rng, shape_of(rng, 1, 5), pick(rng, *ANY))
    begin = [int(rng.integers(0, n)) for n in x.shape]
    size = [int(rng.integers(0 if rng.random() < 0.1 else 1, n - b + 1)) if rng.random() < 0.8 else -1 for b, n in zip(begin, x.shape)]
    kind = pick(rng, "i4", "i8")
    return Case(name, 5, [x, constant(begin, kind), constant(size, kind)], [same(x)], options("SliceOptions"))


@maker("SPLIT", "SPLIT_V", "UNPACK")
def split(rng, name):
    x = operand(rng, shape_of(rng, 1 if name != "UNPACK" else 2, 4), pick(rng, "f4", "i4", "i1", "u1", "i2"))
    axis = int(rng.integers(0, len(x.shape)))
    shown = axis - len(x.shape) if rng.random() < 0.3 else axis
    if name == "UNPACK":
        return Case(name, 3, [x], [same(x) for _ in range(x.shape[axis])], options("UnpackOptions", num=x.shape[axis], axis=shown))
    parts = int(rng.integers(1, 4))
    if name == "SPLIT":
        x.shape[axis] *= parts
        x.data = numbers(rng, x.shape, x.dtype)
        return Case(name, 4, [constant(shown), x], [same(x) for _ in range(parts)], options("SplitOptions", numSplits=parts))
    sizes = [int(v) for v in rng.integers(0, 4, parts)]
    x.shape[axis] = sum(sizes) or 1
    if not sum(sizes):
        sizes[0] = 1
    x.data = numbers(rng, x.shape, x.dtype)
    if rng.random() < 0.4:
        sizes[int(rng.integers(0, parts))] = -1
    return Case(name, 2, [x, constant(sizes), constant(shown)], [same(x) for _ in range(parts)], options("SplitVOptions", numSplits=parts))


# ---- moves ----


@maker("TRANSPOSE", "REVERSE_V2", "TILE", "EXPAND_DIMS", "SQUEEZE", "RESHAPE", "SHAPE", "RANK", "BROADCAST_TO")
def moves(rng, name):
    x = operand(rng, shape_of(rng, 1, 6), pick(rng, *ANY))
    n, y = len(x.shape), same(x)
    if name == "TRANSPOSE":
        return Case(name, 6, [x, constant(rng.permutation(n))], [y], options("TransposeOptions"))
    if name == "REVERSE_V2":
        axes = sorted(int(v) for v in rng.choice(n, int(rng.integers(1, n + 1)), replace=False))
        lo = int(rng.integers(0, len(axes)))
        axes = list(range(axes[lo], axes[lo] + 1))
        return Case(name, 3, [x, constant(axes)], [y], options("ReverseV2Options"))
    if name == "TILE":
        return Case(name, 3, [x, constant(rng.integers(0 if rng.random() < 0.1 else 1, 4, n), pick(rng, "i4", "i8"))], [y], options("TileOptions"))
    if name == "EXPAND_DIMS":
        return Case(name, 1, [x, constant(int(rng.integers(-n - 1, n + 1)))], [y], options("ExpandDimsOptions"))
    if name == "SQUEEZE":
        ones = [k for k in range(n) if x.shape[k] == 1]
        return Case(name, 2, [x], [y], options("SqueezeOptions", squeezeDims=ones if rng.random() < 0.5 else []))
    if name == "RESHAPE":
        total = int(np.prod(x.shape))
        shape = [d for d in (1, 2, 3) if total % d == 0][-1]
        shape = [shape, -1] if rng.random() < 0.5 else [shape, total // shape]
        return open_batch(Case(name, 1, [x, constant(shape)], [y], options("ReshapeOptions", newShape=shape)))
    if name == "SHAPE":
        kind = pick(rng, ("i4", "INT32"), ("i8", "INT64"))
        return Case(name, 1, [x], [Tensor([], kind[0])], options("ShapeOptions", outType=getattr(schema.TensorType, kind[1])))
    if name == "RANK":
        return Case(name, 1, [x], [Tensor([], "i4")], options("RankOptions"))
    small = broadcast(rng, x.shape)
    z = Tensor(small, x.dtype, x.quant, numbers(rng, small, x.dtype))
    return Case(name, 3, [z, constant(x.shape, pick(rng, "i4", "i8"))], [y], options("BroadcastToOptions"))


@maker("PAD", "PADV2", "MIRROR_PAD")
def pad(rng, name):
    x = operand(rng, shape_of(rng, 1, 5), pick(rng, "f4", "i1", "u1", "i4", "i8", "i2"))
    mode = int(rng.integers(0, 2))
    pairs = [[int(rng.integers(0, 4)) for _ in range(2)] for _ in x.shape]
    if name == "MIRROR_PAD":
        pairs = [[min(v, n - 1 + mode) for v in p] for p, n in zip(pairs, x.shape)]
    o = options("MirrorPadOptions", mode=mode) if name == "MIRROR_PAD" else options("PadOptions" if name == "PAD" else "PadV2Options")
    operands = [x, constant(pairs, pick(rng, "i4", "i8"))]
    if name == "PADV2":
        fill = constant(numbers(rng, [], x.dtype), x.dtype)
        fill.quant = x.quant
        operands.append(fill)
    return Case(name, 4 if name == "PADV2" or name == "PAD" else 3, operands, [same(x)], o)


@maker("CONCATENATION", "PACK")
def concat(rng, name):
    dtype, shape = pick(rng, "f4", "i1", "u1", "i4", "i8", "i2", "?"), shape_of(rng, 1, 5)
    axis = int(rng.integers(0, len(shape) + (name == "PACK")))
    q = scale(rng, dtype) if dtype in ("i1", "u1", "i2") else None
    operands = []
    for _ in range(int(rng.integers(1, 5))):
        s = list(shape)
        if name != "PACK":
            s[axis] = int(rng.integers(0 if rng.random() < 0.1 else 1, 5))
        own = scale(rng, dtype, base=q[0][0]) if dtype == "u1" and name != "PACK" else q
        operands.append(Tensor(s, dtype, own, numbers(rng, s, dtype)))
    rank = len(shape) + (name == "PACK")
    shown = axis - rank if rng.random() < 0.3 else axis
    if name == "PACK":
        return Case(name, 3, operands, [Tensor([], dtype, q)], options("PackOptions", valuesCount=len(operands), axis=shown))
    act = int(rng.choice([0, 1, 3])) if dtype == "f4" and rng.random() < 0.3 else 0
    return Case(name, 4, operands, [Tensor([], dtype, q)], options("ConcatenationOptions", axis=shown, fusedActivationFunction=act))


@maker("REVERSE_SEQUENCE")
def reverse_sequence(rng, name):
    x = operand(rng, shape_of(rng, 2, 4), pick(rng, "f4", "i4", "i8", "u1", "i2"))
    x.quant = None
    seq, batch = (int(v) for v in rng.choice(len(x.shape), 2, replace=False))
    lengths = rng.integers(1, x.shape[seq] + 1, x.shape[batch]).astype(pick(rng, "i4", "i8"))
    return Case(name, 1, [x, Tensor(lengths.shape, lengths.dtype, None, lengths)], [same(x)], options("ReverseSequenceOptions", seqDim=seq, batchDim=batch))


@maker("FILL", "RANGE", "BROADCAST_ARGS", "ONE_HOT")
def made(rng, name):
    if name == "FILL":
        x = operand(rng, [], pick(rng, *ANY))
        return Case(name, 4, [constant(shape_of(rng), pick(rng, "i4", "i8")), x], [same(x)], options("FillOptions"))
    if name == "RANGE":
        dtype = pick(rng, "i4", "f4", "i8")
        a, d = numbers(rng, [], dtype), numbers(rng, [], "i4") % 5 + 1
        d = d * (1 if rng.random() < 0.5 else -1)
        return Case(name, 1, [constant(v, dtype) for v in (a, a + d * rng.uniform(0, 9), d)], [Tensor([], dtype)], options("RangeOptions"))
    if name == "BROADCAST_ARGS":
        a = shape_of(rng)
        b = broadcast(rng, a)
        return Case(name, 1, [constant(a), constant(b)], [Tensor([], "i4")], None)
    index = rng.integers(-1, 6, shape_of(rng, 1, 3)).astype(pick(rng, "i4", "i8"))
    dtype = pick(rng, "f4", "i4", "i8", "i1", "u1", "?")
    on, off = Tensor([], dtype, None, np.array(1, dtype), True), Tensor([], dtype, None, np.array(0, dtype), True)
    axis = int(rng.integers(-1, index.ndim + 1))
    return Case(name, 1, [Tensor(index.shape, index.dtype, None, index), constant(5), on, off], [Tensor([], dtype)], options("OneHotOptions", axis=axis))


# ---- indices ----


def indices(rng, least, most, shape, dtype="i4"):
    a = rng.integers(least, most, shape).astype(dtype)
    return Tensor(a.shape, dtype, None, a)


@maker("GATHER")
def gather(rng, name):
    x = operand(rng, shape_of(rng, 2, 4), pick(rng, *ANY))
    batch = int(rng.integers(0, 2))
    axis = int(rng.integers(batch, len(x.shape)))
    index = indices(rng, 0, x.shape[axis], x.shape[:batch] + shape_of(rng, 1, 2), pick(rng, "i4", "i8"))
    return Case(name, 4, [x, index], [same(x)], options("GatherOptions", axis=axis - len(x.shape) if rng.random() < 0.2 and not batch else axis, batchDims=batch))


@maker("GATHER_ND", "SCATTER_ND")
def nd(rng, name):
    dtype = pick(rng, "f4", "i4", "i8", "i1", "u1", "i2") if name[0] == "G" else pick(rng, "f4", "i4", "i8", "i1", "u1")
    shape = shape_of(rng, 1, 4)
    deep = int(rng.integers(1, len(shape) + 1))
    head = shape_of(rng, 1, 2)
    at = np.stack([rng.integers(0, n, head) for n in shape[:deep]], -1).astype("i4")
    index = Tensor(at.shape, "i4", None, at)
    if name == "GATHER_ND":
        x = operand(rng, shape, dtype)
        return Case(name, 4, [x, index], [same(x)], options("GatherNdOptions"))
    values = Tensor([*head, *shape[deep:]], dtype, None, numbers(rng, [*head, *shape[deep:]], dtype))
    return Case(name, 1, [index, values, constant(shape)], [Tensor([], dtype)], options("ScatterNdOptions"))


@maker("SEGMENT_SUM", "UNSORTED_SEGMENT_SUM", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN")
def segment(rng, name):
    x = operand(rng, shape_of(rng, 1, 3), pick(rng, "f4", "i4"))
    rows = np.sort(rng.integers(0, 4, x.shape[0])).astype("i4")
    if name == "SEGMENT_SUM":
        rows = np.cumsum(np.append(0, rng.integers(0, 2, x.shape[0] - 1))).astype("i4")
        return Case(name, 1, [x, constant(rows)], [same(x)], options("SegmentSumOptions"))
    rows = rng.integers(0, 5, x.shape[0]).astype("i4")
    word = "".join(w.title() for w in name.split("_"))
    return Case(name, 1, [x, Tensor(rows.shape, "i4", None, rows), constant(5)], [same(x)], options(word + "Options"))


@maker("SPARSE_TO_DENSE")
def sparse_to_dense(rng, name):
    dtype, shape = pick(rng, "f4", "i4", "i8", "i1", "u1"), shape_of(rng, 1, 4)
    total = int(np.prod(shape))
    flat = np.sort(rng.choice(total, int(rng.integers(1, total + 1)), replace=False))
    at = np.stack(np.unravel_index(flat, shape), -1).astype(pick(rng, "i4", "i8"))
    if len(shape) == 1 and rng.random() < 0.5:
        at = at[:, 0]
    values = Tensor([len(flat)], dtype, None, numbers(rng, [len(flat)], dtype)) if rng.random() < 0.7 else Tensor([], dtype, None, numbers(rng, [], dtype))
    fill = Tensor([], dtype, None, numbers(rng, [], dtype))
    return Case(name, 3, [Tensor(at.shape, at.dtype, None, at), constant(shape, at.dtype), values, fill], [Tensor([], dtype)], options("SparseToDenseOptions", validateIndices=False))


@maker("TOPK_V2")
def top_k(rng, name):
    x = operand(rng, shape_of(rng), pick(rng, "f4", "i4", "i8", "i1", "u1", "i2"))
    wide = rng.random() < 0.3
    return Case(name, 3, [x, constant(int(rng.integers(1, x.shape[-1] + 1)))], [same(x), Tensor([], "i2" if wide else "i4")], options("TopKV2Options"))


@maker("DYNAMIC_UPDATE_SLICE")
def update(rng, name):
    x = operand(rng, shape_of(rng), pick(rng, "f4", "i4", "i1", "i8", "?"))
    part = [int(rng.integers(1, n + 1)) for n in x.shape]
    u = Tensor(part, x.dtype, x.quant, numbers(rng, part, x.dtype))
    return Case(name, 3, [x, u, indices(rng, -2, 6, [len(x.shape)], pick(rng, "i4", "i8"))], [same(x)], options("DynamicUpdateSliceOptions"))


@maker("MATRIX_DIAG", "MATRIX_SET_DIAG", "BUCKETIZE", "EMBEDDING_LOOKUP")
def matrices(rng, name):
    if name == "BUCKETIZE":
        x = operand(rng, shape_of(rng), pick(rng, "f4", "i4", "f8", "i8"))
        return Case(name, 1, [x], [Tensor([], "i4")], options("BucketizeOptions", boundaries=sorted(f32(v) for v in rng.normal(size=4) * 3)))
    if name == "EMBEDDING_LOOKUP":
        kind = pick(rng, "f4", "i4", "i1", "hybrid", "channel", "int4")
        x = operand(rng, shape_of(rng, 2, 4), {"hybrid": "i1", "channel": "i1", "int4": INT4}.get(kind, kind))
        x.fixed = True
        if kind == "int4":  # rows of whole bytes
            x = operand(rng, [*x.shape[:-1], 2 * x.shape[-1]], INT4, fixed=True)
        if kind in ("hybrid", "channel", "int4"):
            n = x.shape[0] if kind == "channel" else 1
            x.quant = ([f32(v) for v in rng.uniform(0.01, 0.1, n)], [0] * n, 0)
        y = Tensor([], "f4") if kind in ("hybrid", "channel", "int4") else same(x)
        return Case(name, 4, [indices(rng, 0, x.shape[0], shape_of(rng, 1, 1)), x], [y], None)
    dtype = pick(rng, "f4", "i4", "i8", "i1", "u1", "i2")
    x = operand(rng, shape_of(rng, 1 if name == "MATRIX_DIAG" else 2, 4), dtype)
    if name == "MATRIX_DIAG":
        return Case(name, 1, [x], [same(x)], options("MatrixDiagOptions"))
    d = [*x.shape[:-2], min(x.shape[-2:])]
    return Case(name, 1, [x, Tensor(d, dtype, x.quant, numbers(rng, d, dtype))], [same(x)], options("MatrixSetDiagOptions"))


@maker("UNIQUE")
def unique(rng, name):
    dtype = pick(rng, "f4", "i1", "u1", "i2", "i4", "i8")
    n = int(rng.integers(1, 20))
    x = Tensor([n], dtype, None, rng.integers(0, 7, n).astype(dtype))
    kind = pick(rng, "i4", "i8")
    return Case(name, 1, [x], [Tensor([], dtype), Tensor([], kind)], options("UniqueOptions", idxOutType=2 if kind == "i4" else 4))


@maker("HASHTABLE_LOOKUP", "EMBEDDING_LOOKUP_SPARSE")
def keys(rng, name):
    n, k = int(rng.integers(1, 9)), int(rng.integers(1, 9))
    values = Tensor([k, *shape_of(rng, 1, 2)], "f4", None)
    values.data = numbers(rng, values.shape, "f4")
    if name[0] == "H":
        known = np.sort(rng.permutation(30)[:k]).astype("i4")
        wanted = np.where(rng.integers(0, 2, n), rng.choice(known, n), rng.integers(0, 30, n)).astype("i4")
        return Case(name, 1, [Tensor([n], "i4", None, wanted), Tensor([k], "i4", None, known), values], [Tensor([], "f4"), Tensor([], "u1")], None)
    rank = int(rng.integers(2, 4))
    shape = [int(v) for v in rng.integers(1, 4, rank)]
    places = np.array(sorted(tuple(int(rng.integers(0, s)) for s in shape) for _ in range(n)), "i4")
    operands = [indices(rng, 0, k, [n]), Tensor(places.shape, "i4", None, places), constant(shape), Tensor([n], "f4", None, rng.uniform(0.2, 2, n).astype("f4")), values]
    return Case(name, 1, operands, [Tensor([], "f4")], options("EmbeddingLookupSparseOptions", combiner=int(rng.integers(0, 3))))


# ---- StableHLO ----


@maker(*(f"STABLEHLO_{n}" for n in ("ADD", "MAXIMUM", "MINIMUM", "MULTIPLY")))
def stablehlo(rng, name):
    shape, dtype = shape_of(rng), pick(rng, "f4", "i4")
    x, y = Tensor(shape, dtype, None, numbers(rng, shape, dtype)), Tensor(shape, dtype, None, numbers(rng, shape, dtype))
    return Case(name, 1, [x, y], [Tensor([], dtype)], None)


# ---- detection ----


def distinct(rng, shape):
    """Scores without ties: equal scores may come in any order."""
    n = int(np.prod(shape))
    return (rng.permutation(n).reshape(shape) + np.float32(0.5)).astype("f4") / np.float32(n)


@maker("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
def suppression(rng, name):
    n, five = int(rng.integers(1, 30)), name[-1] == "5"
    boxes, scores = rng.uniform(0, 1, [n, 4]).astype("f4"), distinct(rng, [n])
    operands = [Tensor(boxes.shape, "f4", None, boxes), Tensor(scores.shape, "f4", None, scores), constant(int(rng.integers(1, 20)))]
    operands += [constant(rng.uniform(0.1, 0.9), "f4"), constant(rng.uniform(0, 0.6), "f4"), *([constant(0.0, "f4")] if five else [])]
    results = [Tensor([], "i4"), *([Tensor([], "f4")] if five else []), Tensor([], "i4")]
    return Case(name, 1, operands, results, options(f"NonMaxSuppressionV{name[-1]}Options"))


@maker("TFLite_Detection_PostProcess")
def detection(rng, name):
    n, classes, background = int(rng.integers(1, 40)), int(rng.integers(1, 6)), int(rng.integers(0, 2))
    regular = bool(rng.integers(0, 2))
    about = dict(max_detections=int(rng.integers(1, 12)), max_classes_per_detection=int(rng.integers(1, 3)), num_classes=classes, use_regular_nms=regular,
                 nms_score_threshold=f32(rng.uniform(0, 0.6)), nms_iou_threshold=f32(rng.uniform(0.1, 1)), y_scale=10.0, x_scale=10.0, h_scale=5.0, w_scale=5.0)  # fmt: skip
    if rng.integers(0, 2):
        about["detections_per_class"] = int(rng.integers(1, 12))
    code = (rng.normal(size=[1, n, 4]) * 3).astype("f4")
    scores, anchors = distinct(rng, [1, n, classes + background]), rng.uniform(0.1, 0.9, [n, 4]).astype("f4")
    operands = [Tensor(code.shape, "f4", None, code), Tensor(scores.shape, "f4", None, scores), Tensor(anchors.shape, "f4", None, anchors, True)]
    if rng.random() < 0.3:
        for t in operands:
            t.dtype, t.quant, t.data = np.dtype("u1"), ([f32((t.data.max() - t.data.min() + 1e-3) / 250)], [100 if t is operands[0] else 0], 0), None
            t.data = rng.integers(1, 256, t.shape).astype("u1")
        total = n * (classes + background)
        if total <= 255:
            operands[1].data = rng.permutation(256)[:total].astype("u1").reshape(operands[1].shape)
    case = Case(name, 1, operands, [Tensor([], "f4") for _ in range(4)], custom=bytes(flexbuffers.Dumps(about)))
    each = 1 if regular else about["max_classes_per_detection"]
    used = min(each, classes)

    def written(y, count):  # LiteRT leaves the rest to chance
        y = y[:, : int(count) * each]
        return y.reshape(1, -1, each, *y.shape[2:])[:, :, :used]

    case.trim = lambda y: [*(written(v, y[3][0]) for v in y[:3]), y[3]]
    return case


@maker("LSH_PROJECTION")
def projection(rng, name):
    rows, hashes, bits = (int(v) for v in rng.integers(1, 7, 3))
    dtype = pick(rng, "f4", "i4", "i8", "i1", "u1", "i2")
    shape = [rows, *(int(v) for v in rng.integers(1, 6, int(rng.integers(0, 3))))]
    if rng.integers(0, 4) == 0:
        shape = [rows, int(rng.integers(1, 200))]
    x = Tensor(shape, dtype, None, numbers(rng, shape, dtype))
    seeds = Tensor([hashes, bits], "f4", None, rng.normal(size=[hashes, bits]).astype("f4"), bool(rng.integers(0, 2)))
    weight = [Tensor([rows], "f4", None, rng.normal(size=rows).astype("f4"))] if rng.integers(0, 2) else []
    return Case(name, 1, [seeds, x, *weight], [Tensor([], "i4")], options("LSHProjectionOptions", type=int(rng.integers(1, 3))))
