"""Compares every built-in layer of Keras, and functions of keras.ops, with Wick, in three configurations each.

    python layers.py [--wick build/wick] [--only NAME] [--seed N] [--keep FOLDER] [--h5]

needs keras with a backend. Prints a line for each model that differs, and the counts. TensorFlow runs without oneDNN, whose pooling ends the process on some
processors; without it, it has no convolutions with the channels first: such models are counted apart, and run with
TF_ENABLE_ONEDNN_OPTS=1 --only STFTSpectrogram. With --keep the models, inputs and
outputs are left in the folder.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import keras  # noqa: E402
import tensorflow  # noqa: E402
import numpy as np  # noqa: E402
from keras import layers as L  # noqa: E402
from keras import ops  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import functions  # noqa: E402

IMAGE, SEQ, CUBE, FLAT = (9, 8, 6), (7, 6), (6, 5, 4, 4), (6,)


WORDS = ["a", "b", "c", "other", "", "[UNK]", "Hello, World!", "the cat sat on THE mat; \t\u00c9 and more words than sixteen follow: a b c d e f g h i a"]


def seq(*items):
    """One case: an input's shape (or several), then layers in order."""
    return items


def call(*shapes, f):
    return shapes, f


def cases():
    """(name, [cases]): a case is (shapes, function of the inputs)."""
    c = {}

    def one(name, shape, *configs, cls=None):
        cls = cls or getattr(L, name)
        c[name] = [((shape,), lambda x, k=k, cls=cls: cls(**k)(x)) for k in configs]

    def many(name, *items):
        c[name] = list(items)

    one("Dense", SEQ, dict(units=5), dict(units=4, use_bias=False, activation="relu"), dict(units=3, activation="softmax"))
    one("EinsumDense", SEQ, dict(equation="abc,cd->abd", output_shape=(None, 5), bias_axes="d"), dict(equation="abc,cde->abde", output_shape=(None, 2, 3), bias_axes="de"), dict(equation="abc,cd->adb", output_shape=(4, 7)))
    c["Embedding"] = [(((7, "int32", 10),), lambda x, k=k: L.Embedding(10, 4, **k)(x)) for k in (dict(), dict(mask_zero=True), dict(name="e"))]
    for n in ("ActivityRegularization", "Identity"):
        one(n, SEQ, {}, {}, {})
    for n in ("Dropout", "AlphaDropout", "GaussianDropout", "GaussianNoise"):
        one(n, SEQ, {"rate" if "Drop" in n else "stddev": 0.3}, {"rate" if "Drop" in n else "stddev": 0.1})
    one("SpatialDropout1D", SEQ, dict(rate=0.2)); one("SpatialDropout2D", IMAGE, dict(rate=0.2)); one("SpatialDropout3D", CUBE, dict(rate=0.2))
    c["Activation"] = [((SEQ,), lambda x, a=a: L.Activation(a)(x)) for a in ["relu", "relu6", "leaky_relu", "elu", "celu", "selu", "gelu", "silu", "mish", "sigmoid", "tanh", "softplus", "softsign", "exponential", "hard_sigmoid", "hard_silu", "log_sigmoid", "tanh_shrink", "hard_tanh", "hard_shrink", "soft_shrink", "squareplus", "sparse_plus", "sparse_sigmoid", "softmax", "log_softmax", "glu", "sparsemax", "linear"]]
    c["STFTSpectrogram"] = [((((50, 2) if k.get("data_format") != "channels_first" else (2, 50)),), lambda x, k=k: L.STFTSpectrogram(frame_length=12, **k)(x)) for k in (dict(), dict(mode="magnitude", padding="same", frame_step=5, expand_dims=True), dict(mode="psd", fft_length=32, window="hamming", scaling="spectrum", data_format="channels_first"), dict(mode="real", frame_step=3), dict(mode="imag", periodic=True), dict(mode="stft", scaling=None, expand_dims=True, data_format="channels_first"), dict(mode="angle", padding="same"))]
    one("MelSpectrogram", (400,), dict(fft_length=64, sequence_stride=20, num_mel_bins=9), dict(fft_length=128, sequence_length=100, sequence_stride=33, num_mel_bins=20, sampling_rate=8000, min_freq=100.0, max_freq=3000, power_to_db=False, mag_exp=1.0), dict(fft_length=64, sequence_stride=20, num_mel_bins=12, window="hamming", top_db=10.0, ref_power=2.0))
    one("AutoContrast", IMAGE, dict(), dict(value_range=(-1, 1)), dict(value_range=(0, 1)))
    one("ContrastLimitedAdaptiveHistogramEqualization", (20, 17, 3), dict(), dict(value_range=(-1, 1), tile_grid_size=(3, 4)), dict(clip_limit=1.2, tile_grid_size=(5, 2), data_format="channels_last"))
    one("MaxNumBoundingBoxes", IMAGE, dict(max_number=3))
    c["Pipeline"] = [((IMAGE,), lambda x: L.Pipeline([L.Rescaling(2.0, 0.1), L.Equalization(bins=64), L.AutoContrast(), L.RandomFlip(), L.CenterCrop(5, 4)])(x))]
    one("Solarization", IMAGE, dict(addition_factor=0.3), dict(threshold_factor=0.5)); one("RandomCrop", IMAGE, dict(height=4, width=5))
    for n, k in dict(AugMix={}, CutMix={}, MixUp={}, RandAugment={}, RandomBrightness=dict(factor=0.2), RandomColorDegeneration=dict(factor=0.2), RandomColorJitter={}, RandomContrast=dict(factor=0.2), RandomElasticTransform={}, RandomErasing={}, RandomFlip={}, RandomGaussianBlur={}, RandomGrayscale={}, RandomHue=dict(factor=0.2), RandomInvert={}, RandomPerspective={}, RandomPosterization=dict(factor=4), RandomRotation=dict(factor=0.2), RandomSaturation=dict(factor=0.2), RandomSharpness=dict(factor=0.2), RandomShear={}, RandomTranslation=dict(height_factor=0.1, width_factor=0.1), RandomZoom=dict(height_factor=0.1)).items():
        one(n, (9, 8, 3), k)
    from keras.src.applications import convnext, inception_resnet_v2

    many("CustomScaleLayer", ((IMAGE, IMAGE), lambda x, y: inception_resnet_v2.CustomScaleLayer(0.17)([x, y])), ((SEQ, SEQ), lambda x, y: inception_resnet_v2.CustomScaleLayer(1.0)([x, y])))

    one("LayerScale", IMAGE, dict(init_values=0.5, projection_dim=6), cls=convnext.LayerScale)
    one("StochasticDepth", IMAGE, dict(drop_path_rate=0.3), cls=convnext.StochasticDepth)
    c["ReversibleEmbedding"] = [(((7, "int32", 10),), lambda x, k=k: (lambda e: [e(x), e(e(x), reverse=True)])(L.ReversibleEmbedding(10, 4, **k))) for k in (dict(), dict(tie_weights=False, mask_zero=True), dict(logit_soft_cap=2.0, reverse_dtype="float32"))]
    one("ELU", SEQ, {}, dict(alpha=0.5), dict(alpha=2.0)); one("LeakyReLU", SEQ, {}, dict(negative_slope=0.1), dict(negative_slope=0.0))
    one("PReLU", IMAGE, {}, dict(shared_axes=[1, 2]), dict(alpha_initializer="ones"))
    one("ReLU", SEQ, {}, dict(max_value=0.5), dict(negative_slope=0.1, threshold=0.2, max_value=0.9)); one("Softmax", SEQ, {}, dict(axis=1), dict(axis=[1, 2]))
    one("Masking", SEQ, {}, dict(mask_value=1.0))
    for n in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"):
        cls = getattr(L, n)
        many(n, ((SEQ, SEQ), lambda x, y, cls=cls: cls()([x, y])), ((SEQ, (6,)), lambda x, y, cls=cls: cls()([x, y])), ((SEQ, (1, 6)), lambda x, y, cls=cls: cls()([x, y])))
    many("Concatenate", ((SEQ, SEQ), lambda x, y: L.Concatenate()([x, y])), ((SEQ, SEQ), lambda x, y: L.Concatenate(axis=1)([x, y])), ((SEQ, SEQ, SEQ), lambda *x: L.Concatenate(axis=-1)(list(x))), (((7, "int32", 10), (6,)), lambda x, y: L.Concatenate()([x, y])), (((7, "int32", 10), (7,)), lambda x, y: keras.ops.stack([x, y], axis=1)))
    many("Dot", ((SEQ, SEQ), lambda x, y: L.Dot(axes=2)([x, y])), (((6,), (6,)), lambda x, y: L.Dot(axes=1, normalize=True)([x, y])), ((SEQ, (5, 6)), lambda x, y: L.Dot(axes=(2, 2))([x, y])), (((6, "int32", 10), (6,)), lambda x, y: L.Dot(axes=1)([x, y])))
    for d, shape in ((1, (11, 4)), (2, IMAGE), (3, CUBE)):
        k = [3, (3, 2), (2, 3, 2)][d - 1]
        one(f"Conv{d}D", shape, dict(filters=4, kernel_size=k, padding="same"), dict(filters=3, kernel_size=2, strides=2, activation="relu"), dict(filters=4, kernel_size=2, dilation_rate=2, groups=2, use_bias=False), dict(filters=4, kernel_size=3, strides=2, padding="same"))
        one(f"Conv{d}DTranspose", shape, dict(filters=4, kernel_size=k, padding="same", strides=2), dict(filters=3, kernel_size=2, strides=3), dict(filters=4, kernel_size=3, use_bias=False, dilation_rate=1), dict(filters=2, kernel_size=3, strides=2, output_padding=1, padding="same"), dict(filters=2, kernel_size=4, strides=2, padding="valid"), dict(filters=2, kernel_size=1, strides=2, padding="same"))
        for n in ("Max", "Average"):
            one(f"{n}Pooling{d}D", shape, dict(pool_size=2), dict(pool_size=3, strides=2, padding="same"), dict(pool_size=2, strides=1, padding="same"))
            one(f"Global{n}Pooling{d}D", shape, {}, dict(keepdims=True), {})
            if hasattr(L, f"Adaptive{n}Pooling{d}D"):
                one(f"Adaptive{n}Pooling{d}D", shape, dict(output_size=2), dict(output_size=3), dict(output_size=1))
        one(f"ZeroPadding{d}D", shape, dict(padding=1), dict(padding=2), dict(padding=[(1, 2), ((1, 2), (0, 3)), ((1, 2), (0, 3), (1, 0))][d - 1]))
        one(f"Cropping{d}D", shape, dict(cropping=1), dict(cropping=[(1, 2), ((1, 2), (0, 3)), ((1, 2), (0, 3), (1, 0))][d - 1]))
        one(f"UpSampling{d}D", shape, dict(size=2), dict(size=3))
    c["Conv1D"].append((((11, 4),), lambda x: L.Conv1D(3, 3, padding="causal", dilation_rate=2)(x)))
    c["UpSampling2D"] += [((IMAGE,), lambda x, i=i: L.UpSampling2D((2, 3), interpolation=i)(x)) for i in ("bilinear", "bicubic")]
    for d, shape in ((1, (11, 4)), (2, IMAGE)):
        one(f"DepthwiseConv{d}D", shape, dict(kernel_size=3, padding="same"), dict(kernel_size=2, depth_multiplier=2, strides=2), dict(kernel_size=3, use_bias=False))
        one(f"SeparableConv{d}D", shape, dict(filters=5, kernel_size=3, padding="same"), dict(filters=4, kernel_size=2, depth_multiplier=2, strides=2), dict(filters=3, kernel_size=3, use_bias=False))
    one("BatchNormalization", IMAGE, {}, dict(scale=False), dict(center=False, axis=1)); one("LayerNormalization", IMAGE, {}, dict(axis=[1, 2]), dict(center=False, epsilon=1e-5))
    one("GroupNormalization", (5, 4, 8), dict(groups=4), dict(groups=-1), dict(groups=1, scale=False)); one("RMSNormalization", SEQ, {}, dict(epsilon=1e-3), dict(axis=-1)); one("UnitNormalization", SEQ, {}, dict(axis=1), dict(axis=[1, 2]))
    c["SpectralNormalization"] = [((IMAGE,), lambda x: L.SpectralNormalization(L.Conv2D(3, 3))(x)), ((SEQ,), lambda x: L.SpectralNormalization(L.Dense(3))(x))]
    for n in ("LSTM", "GRU", "SimpleRNN"):
        one(n, SEQ, dict(units=5), dict(units=4, return_sequences=True, go_backwards=True), dict(units=3, use_bias=False, activation="relu", return_sequences=True), dict(units=3, activation="gelu"))
    c["GRU"].append(((SEQ,), lambda x: L.GRU(4, reset_after=False, recurrent_activation="hard_sigmoid")(x)))
    c["LSTM state"] = [((SEQ,), lambda x: L.LSTM(4, return_state=True, return_sequences=True)(x)), ((SEQ, (4,), (4,)), lambda x, h, s: L.LSTM(4)(x, initial_state=[h, s])), ((SEQ, (4,)), lambda x, h: L.GRU(4, return_state=True)(x, initial_state=h))]
    c["masked"] = [((SEQ,), lambda x, n=n, k=k: getattr(L, n)(4, **k)(L.Masking(mask_value=0.0)(x))) for n in ("LSTM", "GRU", "SimpleRNN") for k in ({}, dict(return_sequences=True), dict(return_sequences=True, zero_output_for_mask=True))]
    c["masked states"] = [((SEQ, (4,)), lambda x, h, n=n: (lambda y: [y, L.GRU(3)(y)])(getattr(L, n)(4, return_sequences=True)(L.Masking()(x), initial_state=h))) for n in ("GRU", "SimpleRNN")]
    c["masked states"].append(((SEQ, (4,), (4,)), lambda x, h, s: L.Bidirectional(L.GRU(4))(L.Masking()(x), initial_state=[h, s])))
    c["RNN"] = [((SEQ,), lambda x: L.RNN(L.LSTMCell(4))(x)), ((SEQ,), lambda x: L.RNN([L.GRUCell(4), L.LSTMCell(3)], return_sequences=True)(x)), ((SEQ,), lambda x: L.RNN(L.StackedRNNCells([L.SimpleRNNCell(4), L.SimpleRNNCell(3)]), return_state=True)(x))]
    c["Bidirectional"] = [((SEQ,), lambda x, m=m, s=s: L.Bidirectional(L.LSTM(4, return_sequences=s), merge_mode=m)(x)) for m in ("concat", "sum", "ave", "mul", None) for s in (False, True)]
    c["Bidirectional"].append(((SEQ,), lambda x: L.Bidirectional(L.GRU(3, return_sequences=True), backward_layer=L.LSTM(3, return_sequences=True, go_backwards=True))(x)))
    c["Bidirectional"].append((((7, "int32", 10),), lambda x: L.Bidirectional(L.LSTM(4))(L.Embedding(10, 4, mask_zero=True)(x))))
    c["TimeDistributed"] = [((SEQ,), lambda x: L.TimeDistributed(L.Dense(4))(x)), (((3, 8, 7, 2),), lambda x: L.TimeDistributed(L.Conv2D(3, 3, padding="same"))(x)), (((3, 5, 4),), lambda x: L.TimeDistributed(L.LSTM(3))(x))]
    c["ConvLSTM1D"] = [(((4, 8, 3),), lambda x, k=k: L.ConvLSTM1D(3, 3, **k)(x)) for k in (dict(), dict(padding="same", return_sequences=True), dict(strides=2))]
    c["ConvLSTM2D"] = [(((3, 6, 5, 2),), lambda x, k=k: L.ConvLSTM2D(2, 2, **k)(x)) for k in (dict(), dict(padding="same", return_sequences=True), dict(go_backwards=True))]
    c["ConvLSTM3D"] = [(((3, 4, 4, 3, 2),), lambda x, k=k: L.ConvLSTM3D(2, 2, **k)(x)) for k in (dict(), dict(padding="same", return_sequences=True))]
    c["Attention"] = [((SEQ, (5, 6)), lambda q, v, k=k: L.Attention(**k)([q, v])) for k in (dict(), dict(use_scale=True), dict(score_mode="concat"))] + [((SEQ, SEQ), lambda q, v: L.Attention()([q, v], use_causal_mask=True))]
    c["AdditiveAttention"] = [((SEQ, (5, 6)), lambda q, v, k=k: L.AdditiveAttention(**k)([q, v])) for k in (dict(), dict(use_scale=False))] + [((SEQ, SEQ, SEQ), lambda q, v, w: L.AdditiveAttention()([q, v, w]))]
    c["MultiHeadAttention"] = [((SEQ, (5, 6)), lambda q, v: L.MultiHeadAttention(2, 3)(q, v)), ((SEQ,), lambda q: L.MultiHeadAttention(2, 3, value_dim=4, use_bias=False)(q, q, use_causal_mask=True)), ((SEQ, (5, 6), (5, 6)), lambda q, v, k: L.MultiHeadAttention(3, 2, output_shape=5)(q, v, k, return_attention_scores=True)), (((7, "int32", 10),), lambda x: (lambda e: L.MultiHeadAttention(2, 3)(e, e))(L.Embedding(10, 4, mask_zero=True)(x)))]
    c["GroupQueryAttention"] = [((SEQ,), lambda q: L.GroupQueryAttention(3, 4, 2)(q, q)), ((SEQ, (5, 6)), lambda q, v: L.GroupQueryAttention(3, 2, 1, use_bias=False)(q, v)), ((SEQ,), lambda q: L.GroupQueryAttention(3, 4, 2)(q, q, use_causal_mask=True))]
    one("Flatten", IMAGE, {}, dict(data_format="channels_first"), {}); one("Reshape", SEQ, dict(target_shape=(6, 7)), dict(target_shape=(-1, 3)), dict(target_shape=(42,))); one("Permute", IMAGE, dict(dims=(2, 1, 3)), dict(dims=(3, 1, 2))); one("RepeatVector", FLAT, dict(n=3), dict(n=1))
    one("Rescaling", IMAGE, dict(scale=1 / 255.0), dict(scale=2.0, offset=-1.0), dict(scale=[1.0, 2, 3, 4, 5, 6], offset=0.5)); one("Resizing", IMAGE, dict(height=12, width=5), dict(height=5, width=11, interpolation="nearest"), dict(height=4, width=4, antialias=True), dict(height=11, width=13, interpolation="bicubic")); one("CenterCrop", IMAGE, dict(height=5, width=4), dict(height=9, width=3))
    one("Normalization", SEQ, dict(mean=[1.0, 2, 3, 4, 5, 6], variance=[1.0, 2, 3, 4, 5, 6]), dict(axis=None, mean=2.0, variance=3.0), dict(invert=True, mean=[1.0] * 6, variance=[2.0] * 6))

    def adapted(x):
        n = L.Normalization(axis=-1)
        n.adapt(np.random.default_rng(1).normal(size=(50, 7, 6)).astype("float32") * 3 + 1)
        return n(x)

    c["Normalization"].append(((SEQ,), adapted))
    c["nested"] = [((SEQ,), nested), ((SEQ, SEQ), shared), ((IMAGE,), sequential)]
    c["mixed"] = [((SEQ,), lambda x: L.Dense(4, dtype="mixed_bfloat16")(x)), ((SEQ,), lambda x: L.LayerNormalization(dtype="mixed_float16")(x))]
    quantized_cases(c)
    categories(c)
    function_cases(c)
    functions.function_cases(c)
    functions.linear(c)
    return c


def quantized_cases(c):
    """Layers with a policy that quantizes them: `quantize` does it, once they have weights."""
    dense = ((SEQ,), lambda x: L.Dense(3)(L.Dense(5, activation="relu")(x)))
    einsum = ((SEQ,), lambda x: L.EinsumDense("abde,dec->abc", (None, 5), bias_axes="c")(L.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de")(x)))
    turned = ((SEQ,), lambda x: L.EinsumDense("abc,cd->adb", (5, 4), activation="tanh")(L.EinsumDense("abc,bd->adc", (4, 6))(x)))
    words = (((7, "int32", 10),), lambda x: L.Dense(3)(L.Embedding(10, 5)(x)))
    for mode in QUANTIZED:
        c[mode] = [dense, einsum, turned, words]


def categories(c):
    text, line, whole, row, column = (4, "string", 0), (1, "string", 0), (5, "int64", 6), (5, "int64", 6), (1, "int64", 6)
    modes, abc, idf = ("int", "one_hot", "multi_hot", "count"), ["a", "b", "c"], dict(idf_weights=[0.1, 0.2, 0.7], output_mode="tf_idf")

    def adapted(layer, data):
        layer.adapt(data)
        return layer

    c["StringLookup"] = [((text,), lambda x, m=m: L.StringLookup(vocabulary=abc, output_mode=m)(x)) for m in modes]
    c["StringLookup"] += [((line,), lambda x, m=m: L.StringLookup(vocabulary=abc, output_mode=m, mask_token="")(x)) for m in modes]
    c["StringLookup"] += [((text,), lambda x, k=k: L.StringLookup(vocabulary=abc, **idf, **k)(x)) for k in ({}, dict(max_tokens=7, pad_to_max_tokens=True))]
    c["StringLookup"] += [((whole,), lambda x, k=k: L.StringLookup(vocabulary=["c", "a", "m"])(L.StringLookup(vocabulary=abc, invert=True, **k)(x))) for k in ({}, dict(mask_token="m"))]
    c["StringLookup"].append(((text,), lambda x: adapted(L.StringLookup(), np.array([w for w in WORDS if w] + ["a", "b", "a"]))(x)))
    c["IntegerLookup"] = [((whole,), lambda x, m=m: L.IntegerLookup(vocabulary=[1, 3], output_mode=m)(x)) for m in modes]
    c["IntegerLookup"] += [((whole,), lambda x, m=m: L.IntegerLookup(vocabulary=[1, 3], mask_token=0, num_oov_indices=2, output_mode=m)(x)) for m in modes]
    c["IntegerLookup"] += [((whole,), lambda x: L.IntegerLookup(vocabulary=[7, 8], invert=True)(x)), ((whole,), lambda x: adapted(L.IntegerLookup(), np.array([3, 3, 1, 2, 2, 2]))(x)), ((whole,), lambda x: L.IntegerLookup(vocabulary=[1, 3], max_tokens=9, pad_to_max_tokens=True, output_mode="count")(x))]
    c["StringLookup"] += [((text,), lambda x, k=k: L.StringLookup(vocabulary=abc, **k)(x)) for k in (dict(num_oov_indices=3), dict(num_oov_indices=4, salt=[5, 7], mask_token="", output_mode="count"))]
    c["IntegerLookup"] += [((whole,), lambda x: L.IntegerLookup(vocabulary=[1, 3], num_oov_indices=3, oov_method="farmhash")(x))]
    salted = dict(num_bins=9, salt=[133, 2**40 + 137])
    c["Hashing"] = [((text,), lambda x, k=k: L.Hashing(**k)(x)) for k in (dict(num_bins=7), salted, dict(num_bins=1000, mask_value=""), dict(num_bins=5, output_mode="multi_hot"))]
    c["Hashing"] += [((column,), lambda x, k=k: L.Hashing(**k)(x)) for k in (dict(num_bins=4, output_mode="one_hot"), dict(num_bins=6, mask_value=3, dtype="int32"), dict(salted, output_mode="count"))]
    c["Hashing"].append((((3, 2),), lambda x: L.Hashing(11, salt=3)(x)))
    c["HashedCrossing"] = [((column, line), lambda *x, k=k: L.HashedCrossing(**k)(x)) for k in (dict(num_bins=8), dict(num_bins=1000), dict(num_bins=5, output_mode="one_hot"))]
    c["HashedCrossing"].append(((line, line), lambda *x: L.HashedCrossing(2**33)(x)))
    c["Discretization"] = [((SEQ,), lambda x, m=m: L.Discretization(bin_boundaries=[-1.0, 0.0, 0.5], output_mode=m)(x)) for m in modes] + [((FLAT,), lambda x: adapted(L.Discretization(num_bins=4), np.linspace(-2, 2, 50, dtype="float32"))(x))]
    c["StringLookup"].append(((text,), lambda x: adapted(L.StringLookup(output_mode="tf_idf"), np.array([["a", "b"], ["a", "other"], ["c", "a"]]))(x)))
    c["IntegerLookup"].append(((whole,), lambda x: adapted(L.IntegerLookup(output_mode="tf_idf", max_tokens=7, pad_to_max_tokens=True), np.array([[3, 3, 1], [2, 2, 2]]))(x)))
    c["CategoryEncoding"] = [((s,), lambda x, m=m: L.CategoryEncoding(num_tokens=6, output_mode=m)(x)) for s in (row, column) for m in modes[1:]] + [((row, (5,)), lambda x, w: L.CategoryEncoding(num_tokens=6, output_mode="count")(x, count_weights=w))]
    words = ["the", "cat", "hello", "world", "a"]
    c["TextVectorization"] = [((line,), lambda x, n=n: L.TextVectorization(vocabulary=words, output_sequence_length=n)(x)) for n in (3, 30)]
    c["TextVectorization"] += [((line,), lambda x, m=m: L.TextVectorization(vocabulary=words, output_mode=m)(x)) for m in modes[2:]]
    c["TextVectorization"] += [((text,), lambda x, k=k: L.TextVectorization(vocabulary=abc, split=None, **k)(x)) for k in (dict(standardize=None), dict(standardize="lower", output_mode="count"), dict(standardize="strip_punctuation", **idf))]
    c["TextVectorization"].append(((line,), lambda x: adapted(L.TextVectorization(output_mode="tf_idf"), ["the cat", "hello world the", "a b"])(x)))
    c["TextVectorization"].append(((line,), lambda x: L.LSTM(3)(L.Embedding(60, 4, mask_zero=True)(adapted(L.TextVectorization(output_sequence_length=4), WORDS)(x)))))


def nested(x):
    inner = keras.Sequential([keras.Input((7, 6)), L.Dense(5, activation="tanh"), L.BatchNormalization(), L.Dense(4)], name="inner")
    a = keras.Input((7, 6))
    two = keras.Model(a, [inner(a), L.Dense(4)(a)], name="two")
    p, q = two(x)
    return L.Dense(3)(L.Add()([p, q]))


def shared(x, y):
    d = L.Dense(6, activation="relu", name="shared")
    e = L.Dense(6, name="after")
    return e(d(x)), d(e(d(y)))


def sequential(x):
    return keras.Sequential([L.Conv2D(4, 3), L.BatchNormalization(trainable=False), L.ReLU(), keras.Sequential([L.Conv2D(3, 2), L.BatchNormalization()]), L.Flatten(), L.Dense(3)])(x)


def function_cases(c):
    for n in "absolute abs arctan arcsinh ceil cos exp expm1 floor negative sign sin sinh cosh sqrt square tan tanh reciprocal erf rsqrt log log1p log2 exp2 trunc isnan isinf logsumexp relu relu6 sigmoid softplus softsign silu log_sigmoid leaky_relu hard_sigmoid hard_silu elu selu gelu celu glu tanh_shrink hard_tanh hard_shrink soft_shrink squareplus sparse_plus sparse_sigmoid softmax log_softmax sparsemax".split():
        f = getattr(ops, n)
        positive = n in ("sqrt", "rsqrt", "log", "log2", "log1p", "reciprocal")
        c["ops." + n] = [((SEQ,), lambda x, f=f, p=positive: f(ops.add(ops.abs(x), 0.1) if p else x))]
    for n in "add subtract multiply divide maximum minimum power mod floor_divide equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor matmul".split():
        f = getattr(ops, n)
        if n == "matmul":
            c["ops.matmul"] = [((SEQ, (6, 5)), lambda x, y: ops.matmul(x, y)), ((SEQ, SEQ), lambda x, y: ops.matmul(x, ops.transpose(y, (0, 2, 1))))]
            continue
        prepare = (lambda v: ops.add(ops.abs(v), 0.5)) if n in ("power", "mod", "floor_divide", "divide") else (lambda v: v)
        c["ops." + n] = [((SEQ, SEQ), lambda x, y, f=f, p=prepare: f(p(x), p(y))), ((SEQ,), lambda x, f=f, p=prepare: f(p(x), 2.0 if "logical" not in f.__name__ else ops.greater(x, 0))), ((SEQ, (1, 6)), lambda x, y, f=f, p=prepare: f(p(x), p(y)))]
    for n in "sum prod max min mean var std any all argmax argmin amax amin".split():
        f = getattr(ops, n)
        c["ops." + n] = [((SEQ,), lambda x, f=f, k=k: f(x, **k)) for k in (dict(axis=-1), dict(axis=1, keepdims=True), *([dict(axis=(1, 2))] if "arg" not in n else []))]
    c["ops.shapes"] = [((SEQ,), f) for f in (
        lambda x: ops.reshape(x, (-1, 6, 7)), lambda x: ops.transpose(x, (0, 2, 1)), lambda x: ops.expand_dims(x, 1), lambda x: ops.squeeze(ops.expand_dims(x, (1, 3)), (1, 3)),
        lambda x: ops.swapaxes(x, 1, 2), lambda x: ops.concatenate([x, x], axis=1), lambda x: ops.stack([x, x], axis=2), lambda x: ops.split(x, 3, axis=2), lambda x: ops.split(x, [2, 3], axis=1),
        lambda x: ops.take(x, [1, 3, 0], axis=1), lambda x: ops.where(ops.greater(x, 0), x, 0.0), lambda x: ops.clip(x, -0.5, 0.5), lambda x: ops.cast(ops.multiply(x, 5.0), "int32"),
        lambda x: x[:, 1:5], lambda x: x[:, -1], lambda x: x[:, ::2, 1:], lambda x: x[..., 0], lambda x: x[:, None, ::-1], lambda x: ops.einsum("abc,adc->abd", x, x),
        lambda x: ops.one_hot(ops.argmax(x, axis=-1), 8), lambda x: x * 2.0 + 1.0 - x / 3.0, lambda x: -x ** 2.0)]


def random_weights(model, rng):
    for w in model.weights:
        if "seed" in w.path or w.path.startswith("normalization") or w.dtype in ("int32", "uint32", "int64"):
            continue
        v = rng.normal(size=w.shape) * 0.5
        w.assign(np.abs(v) + 0.5 if "variance" in w.name else v)


QUANTIZED = {
    "quantized int8": lambda: ("int8", {}), "quantized int8 weights": lambda: ("int8", dict(config=keras.quantizers.Int8QuantizationConfig(activation_quantizer=None))),
    "quantized int4": lambda: ("int4", {}), "quantized int4 blocks": lambda: ("int4", dict(config=keras.quantizers.Int4QuantizationConfig(block_size=4))),
    "quantized int4 columns": lambda: ("int4", dict(config=keras.quantizers.Int4QuantizationConfig(block_size=-1))),
}  # fmt: skip


def quantize(name, model):
    if name in QUANTIZED:
        mode, options = QUANTIZED[name]()
        model.quantize(mode, **options)


def build(shapes, f):
    inputs = []
    for s in shapes:
        typed = len(s) == 3 and isinstance(s[1], str)
        inputs.append(keras.Input(s[:1], dtype=s[1]) if typed else keras.Input(s))
    return keras.Model(inputs, f(*inputs))


def data(shapes, rng, batch=2):
    out = []
    for s in shapes:
        if s[1:2] == ("string",):
            x = np.array(WORDS)[rng.integers(0, len(WORDS), (batch, s[0]))]
        elif len(s) == 3 and isinstance(s[1], str):
            x = rng.integers(0, s[2], (batch, s[0])).astype(s[1])
            x[:, -2:] = 0
        else:
            x = rng.normal(size=(batch, *s)).astype("float32")
            if len(s) == 2:
                x[:, -1] = 0  # for masks
        out.append(x)
    return out


def tensors(inputs):
    """The argument of a model: strings as TensorFlow's."""
    given = [tensorflow.constant(x) for x in inputs] if any(x.dtype.kind == "U" for x in inputs) else inputs
    return [given if len(given) > 1 else given[0]]


def flat(x):
    return [y for v in x for y in flat(v)] if isinstance(x, (list, tuple)) else [np.asarray(keras.ops.convert_to_numpy(x))]


def differ(got, want, cubic=False):
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if got.dtype.kind != want.dtype.kind:
        return f"type {got.dtype}, expected {want.dtype}"
    if want.dtype.kind != "f" and want.dtype.name != "bfloat16":
        return None if np.array_equal(got, want) else "other elements"
    narrow = want.dtype.itemsize == 2
    a, b = got.astype("float64"), want.astype("float64")
    # TensorFlow rounds the positions of cubic interpolation to 1/1024.
    limit = (2e-2 if narrow else 2e-3 if cubic else 2e-5) * max(1.0, np.max(np.abs(b), initial=0))
    d = np.atleast_1d(np.abs(a - b))
    d[np.atleast_1d((np.isnan(a) & np.isnan(b)) | (a == b))] = 0
    return None if np.all(d <= limit) else f"error {np.max(d):.3g} of {np.max(np.abs(b)):.3g}"


def check(wick, model, inputs, folder, suffix):
    path = folder / f"model{suffix}"
    model.save(path)
    names = []
    for i, x in enumerate(inputs):
        np.save(folder / f"input_{i}.npy", x)
        names.append(str(folder / f"input_{i}.npy"))
    want = flat(model(*tensors(inputs), training=False))
    for i, y in enumerate(want):
        np.save(folder / f"output_{i}.npy", y.astype("float32") if y.dtype.name == "bfloat16" else y)
    p = subprocess.run([wick, "run", str(path), "--inputs", *names, "--outputs", str(folder / "out")], capture_output=True, text=True, errors="replace")
    if p.returncode and suffix == ".h5" and "the vocabulary is neither in the configuration" in p.stderr:
        return None  # this format has no place for it
    if p.returncode:
        return (p.stderr.strip().splitlines() or ["no message"])[0][:300]
    for i, y in enumerate(want):
        got = np.load(folder / "out" / f"output_{i}.npy")
        if y.dtype.name == "bfloat16":
            got, y = got.view(y.dtype).astype("float32"), y.astype("float32")
            if not np.allclose(got, y, atol=3e-2, rtol=3e-2):
                return f"output {i}: bf16 differs"
            continue
        wrong = differ(got, y, "bicubic" in model.to_json())
        if wrong:
            return f"output {i}: {wrong}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wick", default="build/wick")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--h5", action="store_true", help="the old format, too")
    args = parser.parse_args()
    passed, failed, impossible = 0, [], 0
    for name, items in cases().items():
        if args.only not in name:
            continue
        for k, (shapes, f) in enumerate(items):
            for suffix in (".keras", ".h5")[: 1 + args.h5]:
                keras.utils.clear_session(free_memory=False)
                rng = np.random.default_rng(args.seed + k)
                with tempfile.TemporaryDirectory() as temporary:
                    folder = pathlib.Path(args.keep) / f"{name}_{k}" if args.keep else pathlib.Path(temporary)
                    folder.mkdir(parents=True, exist_ok=True)
                    try:
                        model = build(shapes, f)
                        random_weights(model, rng)
                        quantize(name, model)
                        wrong = check(args.wick, model, data(shapes, rng), folder, suffix)
                    except Exception as e:
                        wrong = f"Keras: {type(e).__name__}: {str(e)[:200]}"
                        if suffix == ".h5" and "cannot pickle" in wrong:  # layers with a generator of random numbers
                            wrong = None
                        if wrong and "currently only supports the NHWC" in wrong:
                            impossible += 1
                            continue
                if wrong:
                    failed.append(name)
                    print(f"FAIL {name} {k} {suffix}: {wrong}", flush=True)
                passed += not wrong
    print(f"{passed} passed, {len(failed)} failed, {impossible} that TensorFlow does not compute")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
