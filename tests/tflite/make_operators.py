"""Makes models of single operators in operators/ with inputs and what LiteRT computes from them.

python make_operators.py: with ai-edge-litert and flatbuffers. Each NAME.npz has input_K and output_K.
"""

import pathlib

import numpy as np
import random_models
import tflite_recurrent
from tflite_build import INT4, MAKERS, Case, Tensor, model, options

FOLDER = pathlib.Path(__file__).parent / "operators"
NAMES = "AudioSpectrogram", "COMPLEX_ABS", "DILATE", "EMBEDDING_LOOKUP_SPARSE", "HASHTABLE_LOOKUP", "IMAG", "LSH_PROJECTION", "MULTINOMIAL", "Mfcc", "RANDOM_STANDARD_NORMAL", "REAL", "REDUCE_WINDOW", "STABLEHLO_GATHER", "STABLEHLO_PAD", "STABLEHLO_RNG_BIT_GENERATOR", "STABLEHLO_SCATTER", "UNIQUE"


def dynamic_range():
    """Two convolutions with weights of 8 bits, of which the second has a scale for each channel."""
    rng = np.random.default_rng(3)

    def layer(channels, inputs, scales):
        w = rng.integers(-127, 128, [channels, 3, 3, inputs]).astype("i1")
        quant = ([float(np.float32(v)) for v in rng.uniform(0.001, 0.01, scales)], [0] * scales, 0)
        bias = rng.normal(size=channels).astype("f4")
        return [Tensor(w.shape, "i1", quant, w, True), Tensor(bias.shape, "f4", None, bias, True)]

    x = rng.normal(size=[1, 12, 10, 8]).astype("f4")
    case = Case("CONV_2D", 1, [Tensor(x.shape, "f4", None, x)], [Tensor([], "f4")])
    about = options("Conv2DOptions", padding=0, strideW=1, strideH=1, fusedActivationFunction=1, dilationWFactor=1, dilationHFactor=1)
    case.steps, case.between = [("CONV_2D", layer(16, 8, 1), about), ("CONV_2D", layer(16, 16, 16), about)], "f4"
    return case


def dynamic_range_back():
    """A transposed convolution of floats of two images, whose weights have a scale for each channel."""
    rng = np.random.default_rng(4)
    x, w, bias = rng.normal(size=[2, 5, 4, 8]).astype("f4"), rng.integers(-127, 128, [6, 3, 3, 8]).astype("i1"), rng.normal(size=6).astype("f4")
    quant = ([float(np.float32(v)) for v in rng.uniform(0.001, 0.01, 6)], [0] * 6, 0)
    size = np.array([2, 10, 8, 6], "i4")
    operands = [Tensor(size.shape, "i4", None, size, True), Tensor(w.shape, "i1", quant, w, True), Tensor(x.shape, "f4", None, x), Tensor(bias.shape, "f4", None, bias, True)]
    return Case("TRANSPOSE_CONV", 4, operands, [Tensor([], "f4")], options("TransposeConvOptions", padding=0, strideH=2, strideW=2, fusedActivationFunction=1))


def wide(name, perm, kind, **fields):
    """Numbers of 16 bits by one weight: the ratio of the scales is so large that results need more than 32 bits."""
    x, w, size = np.linspace(-32768, 32767, 32).astype("i2").reshape([32, 1, 1, 1]), np.array([49, 3, -80], "i1"), np.array([32, 1, 1, 3], "i4")
    w = Tensor(perm, "i1", ([1.0], [0], 0) if kind == "FullyConnectedOptions" else ([1.0, 0.5, 40.0], [0] * 3, 0), w.reshape(perm), True)
    x, bias = Tensor(x.shape, "i2", ([1.0], [0], 0), x), Tensor([3], "i8", ([1.0], [0], 0), np.array([-145, 0, 9], "i8"), True)
    operands = [Tensor([4], "i4", None, size, True), w, x] if name == "TRANSPOSE_CONV" else [x, w, bias]
    return Case(name, 4 if name == "FULLY_CONNECTED" else 3, operands, [Tensor([], "i2", ([1 / 2026], [0], 0))], options(kind, **fields))


def wide_conv():
    return wide("CONV_2D", [3, 1, 1, 1], "Conv2DOptions", strideW=1, strideH=1, dilationWFactor=1, dilationHFactor=1)


def wide_connected():
    return wide("FULLY_CONNECTED", [3, 1], "FullyConnectedOptions")


def wide_back():
    return wide("TRANSPOSE_CONV", [3, 1, 1, 1], "TransposeConvOptions", strideW=1, strideH=1)


def empty(name, kind, dtype, *weights, **fields):
    """A window of 5 by 2 over 4 by 3 elements."""
    rng = np.random.default_rng(7)
    quant = ([0.05], [0], 0) if dtype == "i1" else None
    tensors = [Tensor(s, dtype, quant, rng.integers(-9, 9, s).astype(dtype), k > 0) for k, s in enumerate([[2, 4, 3, 2], *weights])]
    if weights:
        tensors.append(Tensor([2], "i4" if quant else "f4", ([0.0025], [0], 0) if quant else None, np.zeros(2, "i4" if quant else "f4"), True))
    return Case(name, 3 if quant else 1, tensors, [Tensor([], dtype, quant)], options(kind, padding=1, strideW=1, strideH=2, **fields))


def empty_conv():
    return empty("CONV_2D", "Conv2DOptions", "i1", [2, 3, 2, 2], dilationWFactor=1, dilationHFactor=2)


def empty_depthwise():
    return empty("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", "f4", [1, 3, 2, 2], depthMultiplier=1, dilationWFactor=1, dilationHFactor=2)


def empty_pool():
    return empty("AVERAGE_POOL_2D", "Pool2DOptions", "f4", filterWidth=2, filterHeight=5)


def blocks():
    """Weights of 4 bits with a scale for each block of 32, for rows of floats."""
    rng = np.random.default_rng(9)
    x, w = rng.normal(size=[5, 128]).astype("f4"), rng.integers(-7, 8, [10, 128]).astype(np.int8)
    w, bias = Tensor(w.shape, INT4, None, w, True), rng.normal(size=10).astype("f4")
    w.blocks = rng.uniform(0.02, 0.2, [10, 4]).astype("f2")
    operands = [Tensor(x.shape, "f4", None, x), w, Tensor(bias.shape, "f4", None, bias, True)]
    case = Case("FULLY_CONNECTED", 12, operands, [Tensor([], "f4")], options("FullyConnectedOptions", fusedActivationFunction=1))
    case.delegated = True
    return case


def scales_of_batches():
    """Numbers with a scale for each slice of an axis whose size is open."""
    rng = np.random.default_rng(8)
    x = rng.integers(-128, 128, [6, 3, 3]).astype("i1")
    quant = ([float(np.float32(v)) for v in rng.uniform(0.01, 0.2, 6)], [0] * 6, 0)
    case = Case("DEQUANTIZE", 5, [Tensor(x.shape, "i1", quant, x)], [Tensor([], "f4")], options("DequantizeOptions"))
    case.open_batch = True
    return case


def texts(*found):
    return np.array([s.encode() for s in found], object)


def named_rows():
    """Rows of strings by their keys, of which some are not there."""
    wanted, known, names = np.array([5, 2, 7, 2], "i4"), np.array([2, 5, 9], "i4"), texts("two", "", "nine")
    operands = [Tensor([4], "i4", None, wanted), Tensor([3], "i4", None, known, True), Tensor([3], "O", None, names, True)]
    return Case("HASHTABLE_LOOKUP", 1, operands, [Tensor([], "O"), Tensor([], "u1")], None)


def skip_gram(text, size, skip, shorter):
    about = options("SkipGramOptions", ngramSize=size, maxSkipSize=skip, includeAllNgrams=shorter)
    return lambda: Case("SKIP_GRAM", 1, [Tensor([1], "O", None, texts(text))], [Tensor([], "O")], about)


OWN = {"basic_lstm": lambda: tflite_recurrent.lstm_basic(np.random.default_rng(5)), "basic_lstm_fixed": lambda: tflite_recurrent.lstm_basic_fixed(np.random.default_rng(6)), "blocks": blocks,
       "dynamic_range": dynamic_range, "dynamic_range_back": dynamic_range_back, "empty_conv": empty_conv, "empty_depthwise": empty_depthwise, "empty_pool": empty_pool, "named_rows": named_rows, "scales_of_batches": scales_of_batches, "skip_gram": skip_gram(" the quick\tbrown  fox jumps\n", 3, 1, False), "skip_gram_all": skip_gram("over a lazy dog again", 3, 2, True), "skip_gram_few": skip_gram("two words", 3, 0, False), "wide_back": wide_back, "wide_connected": wide_connected, "wide_conv": wide_conv}  # fmt: skip


def main():
    FOLDER.mkdir(exist_ok=True)
    litert = random_models.LiteRT()
    for name in (*NAMES, *OWN):
        case = OWN[name]() if name in OWN else MAKERS[name](np.random.default_rng(11), name)
        case.open_batch, case.frames = name in OWN and case.open_batch, 1
        outputs = litert.run(case)
        assert not isinstance(outputs, str), (name, outputs)
        (FOLDER / f"{name}.tflite").write_bytes(model([case]))
        kept = {f"input_{k}": x for k, x in enumerate(case.feeds())}
        kept.update({f"output_{k}": y for k, y in enumerate(outputs[0])})
        kept = {k: np.char.decode(v.astype("S")) if v.dtype == object else v for k, v in kept.items()}
        np.savez_compressed(FOLDER / f"{name}.npz", **kept)
        print(name, case.about()[:200])


if __name__ == "__main__":
    main()
