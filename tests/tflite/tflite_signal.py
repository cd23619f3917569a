"""Random transforms and operators on sound."""

import numpy as np
from flatbuffers import flexbuffers
from tflite_build import Case, Tensor, constant, f32, maker, numbers, options, shape_of


@maker("RFFT2D", "REAL", "IMAG", "COMPLEX_ABS")
def fourier(rng, name):
    """A transform, some moves of its result, and what reads it."""
    before = shape_of(rng, 0, 2) if rng.random() < 0.7 else []
    height, width = (int(2 ** rng.integers(0, 5)), int(2 ** rng.integers(1, 8))) if rng.random() < 0.5 else (1, int(2 ** rng.integers(1, 10)))
    shape = [*before, max(1, height + int(rng.integers(-1, 2))), max(1, width + int(rng.integers(-2, 3)))]
    x = Tensor(shape, "f4", None, numbers(rng, shape, "f4"))
    reader = name if name != "RFFT2D" else str(rng.choice(["REAL", "IMAG", "COMPLEX_ABS"]))
    steps = [("RFFT2D", [constant([height, width])], options("Rfft2dOptions"))]
    if height == 1 and rng.random() < 0.7:
        steps.append(("SQUEEZE", [], options("SqueezeOptions", squeezeDims=[len(shape) - 2])))
    elif rng.random() < 0.5:
        steps.append(("EXPAND_DIMS", [constant([int(rng.integers(0, len(shape)))])], options("ExpandDimsOptions")))
    steps.append((reader, [], None))
    case = Case(name, 1, [x], [Tensor([], "f4")])
    case.steps = steps
    return case


@maker("AudioSpectrogram")
def spectrogram(rng, name):
    window, stride, channels = int(rng.integers(2, 70)), int(rng.integers(1, 40)), int(rng.integers(1, 4))
    samples = window + int(rng.integers(0, 200))
    x = Tensor([samples, channels], "f4", None, numbers(rng, [samples, channels], "f4"))
    about = dict(window_size=window, stride=stride, magnitude_squared=bool(rng.integers(0, 2)))
    return Case(name, 1, [x], [Tensor([], "f4")], custom=bytes(flexbuffers.Dumps(about)))


@maker("Mfcc")
def mfcc(rng, name):
    bins, rate = int(rng.integers(20, 130)), int(rng.choice([8000, 16000, 44100]))
    lower, channels = f32(rng.uniform(0, 300)), int(rng.integers(1, 41))
    about = dict(upper_frequency_limit=f32(rng.uniform(1000, rate / 2)), lower_frequency_limit=lower, filterbank_channel_count=channels,
                 dct_coefficient_count=int(rng.integers(1, channels + 1)))  # fmt: skip
    shape = [int(rng.integers(1, 3)), int(rng.integers(1, 5)), bins]
    x = Tensor(shape, "f4", None, np.square(numbers(rng, shape, "f4")))
    return Case(name, 1, [x, constant([rate])], [Tensor([], "f4")], custom=bytes(flexbuffers.Dumps(about)))
