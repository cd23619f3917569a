"""Random operators that dilate and pad arrays, or reduce windows of them."""

import numpy as np

from tflite_build import Case, Tensor, constant, maker, numbers, options, pick, shape_of


@maker("DILATE")
def dilate(rng, name):
    shape, dtype = shape_of(rng), pick(rng, "f4", "i4", "i1", "i8", "u1")
    x, fill = Tensor(shape, dtype, None, numbers(rng, shape, dtype)), Tensor([], dtype, None, numbers(rng, [], dtype))
    return Case(name, 1, [x, constant(rng.integers(1, 4, len(shape))), fill], [Tensor([], dtype)], options("DilateOptions"))


@maker("REDUCE_WINDOW")
def reduce_window(rng, name):
    kind = int(rng.integers(1, 7))
    shape, dtype = [int(v) for v in rng.integers(1, 9, rng.integers(1, 4))], "?" if kind > 4 else pick(rng, "f4", "i4", "i8", "i1")
    dilation = rng.integers(1, 3, len(shape))
    size = [int(rng.integers(1, (n - 1) // d + 2)) for n, d in zip(shape, dilation)]
    x, first = Tensor(shape, dtype, None, numbers(rng, shape, dtype)), Tensor([], dtype, None, numbers(rng, [], dtype))
    operands = [x, first, *(constant(v, "i8") for v in (size, rng.integers(1, 4, len(shape)), dilation))]
    return Case(name, 1, operands, [Tensor([], dtype)], options("ReduceWindowOptions", reduceFunction=kind))


@maker("STABLEHLO_PAD")
def stablehlo_pad(rng, name):
    shape, dtype = shape_of(rng), pick(rng, "f4", "i4", "i8", "i1")
    x, fill = Tensor(shape, dtype, None, numbers(rng, shape, dtype)), Tensor([], dtype, None, numbers(rng, [], dtype))
    low, high, inner = ([int(v) for v in rng.integers(a, 4, len(shape))] for a in (-1, -1, 0))
    low = [v if n > 2 else max(v, 0) for v, n in zip(low, shape)]
    high = [v if n > 2 else max(v, 0) for v, n in zip(high, shape)]
    o = options("StablehloPadOptions", edgePaddingLow=low, edgePaddingHigh=high, interiorPadding=inner)
    return Case(name, 1, [x, fill], [Tensor([], dtype)], o)


@maker("STABLEHLO_AND")
def logical(rng, name):
    shape, dtype = shape_of(rng), pick(rng, "?", "i1", "i2", "i4", "i8")
    x, y = (Tensor(shape, dtype, None, numbers(rng, shape, dtype)) for _ in range(2))
    return Case(name, 1, [x, y], [Tensor([], dtype)], None)


@maker("BITCAST")
def bitcast(rng, name):
    shape, (of, to) = shape_of(rng), pick(rng, ("f4", "i4"), ("i4", "f4"), ("i1", "u1"), ("u4", "f4"), ("i2", "u2"))
    return Case(name, 1, [Tensor(shape, of, None, numbers(rng, shape, of))], [Tensor([], to)], options("BitcastOptions"))


@maker("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL")
def random(rng, name):
    """With seeds, so that the numbers are LiteRT's."""
    o = options("RandomOptions", seed=int(rng.integers(1, 2**62)), seed2=int(rng.integers(0, 2**62)))
    if name == "MULTINOMIAL":
        shape = [int(v) for v in rng.integers(1, 6, 2)]
        x = Tensor(shape, "f4", None, numbers(rng, shape, "f4"))
        case = Case(name, 1, [x, constant(int(rng.integers(1, 9)))], [Tensor([], pick(rng, "i4", "i8"))], o)
    else:
        shape = shape_of(rng)
        if shape[-1] % 2 and name != "RANDOM_UNIFORM":
            shape[-1] += 1  # LiteRT writes pairs of normal numbers, also behind the end
        case = Case(name, 1, [constant(shape)], [Tensor([], "f4")], o)
    case.frames, case.open_batch = 2 if name == "MULTINOMIAL" else 1, False  # frames need an input
    return case


def slices(rng, scatter):
    """An array, where slices of it begin, and how their dimensions and those of a tensor of them correspond."""
    shape = [int(v) for v in rng.integers(2, 6, rng.integers(1, 5))]
    rank, batch = len(shape), [int(v) for v in rng.integers(1, 4, rng.integers(0, 3))]
    indexed = [int(d) for d in rng.permutation(rank)[: int(rng.integers(1, rank + 1))]]
    dropped = [d for d in range(rank) if rng.random() < 0.4]
    size = [1 if d in dropped else int(rng.integers(1, n + 1)) for d, n in enumerate(shape)]
    kept = [n for d, n in enumerate(size) if d not in dropped]
    window = sorted(int(d) for d in rng.permutation(len(batch) + len(kept))[: len(kept)])
    vector = int(rng.integers(0, len(batch) + 1))
    rest, own = iter(batch), iter(kept)
    all_of_them = [next(own if d in window else rest) for d in range(len(batch) + len(kept))]
    at = np.stack([rng.integers(0, shape[d] + (2 if scatter else 1), batch) for d in indexed], vector)
    return shape, at, size, all_of_them, dict(window=window, dropped=dropped, indexed=indexed, vector=vector)


@maker("STABLEHLO_GATHER")
def stablehlo_gather(rng, name):
    shape, at, size, result, d = slices(rng, False)
    dtype = pick(rng, "f4", "i4", "i8", "i1", "u1")
    o = options("StablehloGatherOptions", offsetDims=d["window"], collapsedSliceDims=d["dropped"], startIndexMap=d["indexed"], indexVectorDim=d["vector"], sliceSizes=size)
    operands = [Tensor(shape, dtype, None, numbers(rng, shape, dtype)), Tensor(at.shape, "i4", None, at.astype("i4"))]
    case = Case(name, 1, operands, [Tensor(result, dtype)], o)
    case.open_batch = False
    return case


@maker("STABLEHLO_SCATTER")
def stablehlo_scatter(rng, name):
    shape, at, _, updates, d = slices(rng, True)
    dtype = pick(rng, "f4", "i4", "i8", "i1", "u1")
    o = options("StablehloScatterOptions", updateWindowDims=d["window"], insertedWindowDims=d["dropped"], scatterDimsToOperandDims=d["indexed"], indexVectorDim=d["vector"])
    tensors = [Tensor(s, dtype, None, numbers(rng, s, dtype)) for s in (shape, updates)]
    case = Case(name, 1, [tensors[0], Tensor(at.shape, "i4", None, at.astype("i4")), tensors[1]], [Tensor(shape, dtype)], o)
    case.body, case.open_batch = pick(rng, "", "STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM"), False
    return case


@maker("STABLEHLO_RNG_BIT_GENERATOR")
def stablehlo_bits(rng, name):
    algorithm = int(rng.integers(0, 3))
    state = rng.integers(0, 2**64, 2 if algorithm == 2 else int(rng.integers(2, 4)), "u8")
    o = options("StablehloRngBitGeneratorOptions", algorithm=algorithm)
    results = [Tensor(state.shape, "u8"), Tensor(shape_of(rng), pick(rng, "i4", "u4", "i8", "u8"))]
    case = Case(name, 1, [Tensor(state.shape, "u8", None, state)], results, o)
    case.open_batch = False
    return case
