"""Random operators that dilate and pad arrays, or reduce windows of them."""

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
