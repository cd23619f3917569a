"""Writes the models of tests/import/tensorflow, with the outputs that TensorFlow computes.

    VENV/bin/python tests/import/make_tensorflow.py tests/import/tensorflow
"""
import json
import os
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

RNG = np.random.default_rng(7)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def write(folder, ops, inputs, outputs):
    for i, x in enumerate(inputs):
        np.save(os.path.join(folder, "input_%d.npy" % i), x)
    for i, y in enumerate(outputs):
        np.save(os.path.join(folder, "output_%d.npy" % i), np.asarray(y))
    with open(os.path.join(folder, "ops.json"), "w") as f:
        json.dump(sorted(set(ops)), f)


def fresh(root, name):
    folder = os.path.join(root, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def ops_of(graph):
    ops = [n.op for n in graph.node]
    return ops + [n.op for f in graph.library.function for n in f.node_def]


def frozen(root, name, f, inputs, text=False, lower=False, shapes=None):
    specs = [tf.TensorSpec(s, x.dtype) for x, s in zip(inputs, shapes or [x.shape for x in inputs])]
    concrete = tf.function(f).get_concrete_function(*specs)
    graph = convert_variables_to_constants_v2(concrete, lower_control_flow=lower).graph.as_graph_def()
    folder = fresh(root, name)
    if text:
        open(os.path.join(folder, "model.pbtxt"), "w").write(text_format.MessageToString(graph))
    else:
        open(os.path.join(folder, "model.pb"), "wb").write(graph.SerializeToString())
    out = concrete(*map(tf.constant, inputs))
    write(folder, ops_of(graph), inputs, out if isinstance(out, (list, tuple)) else [out])


def saved(root, name, module, signatures, inputs):
    folder = fresh(root, name)
    path = os.path.join(folder, "saved")
    tf.saved_model.save(module, path, signatures=signatures)
    for extra in ("fingerprint.pb", "assets"):
        p = os.path.join(path, extra)
        if os.path.isfile(p):
            os.remove(p)
        elif os.path.isdir(p) and not os.listdir(p):
            os.rmdir(p)
    f = tf.saved_model.load(path).signatures["serving_default"]
    names = sorted(f.structured_input_signature[1])
    out = f(**{n: tf.constant(x) for n, x in zip(names, inputs)})
    from tensorflow.core.protobuf import saved_model_pb2
    s = saved_model_pb2.SavedModel()
    s.ParseFromString(open(os.path.join(path, "saved_model.pb"), "rb").read())
    write(folder, ops_of(s.meta_graphs[0].graph_def), inputs, [out[k] for k in sorted(out)])


class Dense(tf.Module):
    def __init__(self):
        self.layers = [(tf.Variable(normal(6, 5), name="same"), tf.Variable(normal(5), name="bias")),
                       (tf.Variable(normal(5, 3), name="kernel"), tf.Variable(normal(3), name="bias2"))]

    @tf.function(input_signature=[tf.TensorSpec([None, 6], tf.float32, name="x")])
    def run(self, x):
        for w, b in self.layers:
            x = tf.nn.relu(x @ w + b)
        return x

    @tf.function(input_signature=[tf.TensorSpec([None, 6], tf.float32, name="x")])
    def double(self, x):
        return x * 2.


class Counter(tf.Module):
    """A variable that is read after it was assigned."""

    def __init__(self):
        self.w = tf.Variable(normal(4))

    @tf.function(input_signature=[tf.TensorSpec([4], tf.float32, name="x")])
    def run(self, x):
        return x + self.w


class Texts(tf.Module):
    """What Keras exports of a TextVectorization: standardized texts, their words, and the indices of these."""

    def __init__(self):
        keys = tf.lookup.KeyValueTensorInitializer(tf.constant(["the", "cat", "a"]), tf.constant([2, 3, 4], tf.int64))
        self.table = tf.lookup.StaticHashTable(keys, 1)
        self.w = tf.Variable(normal(5, 3))

    @tf.function(input_signature=[tf.TensorSpec([None, 1], tf.string, name="x")])
    def run(self, x):
        x = tf.strings.regex_replace(tf.strings.lower(x), r'[!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']', "")
        index = tf.ragged.map_flat_values(self.table.lookup, tf.strings.split(tf.squeeze(x, -1)))
        index = index.to_tensor(shape=[None, 4])
        return tf.reduce_mean(tf.gather(self.w, index), 1), index


class Words(tf.Module):
    def __init__(self):
        keys = tf.constant(["red", "green", "blue"])
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.constant([3, 5, 7], tf.int64)), -1)
        numbers = tf.lookup.KeyValueTensorInitializer(tf.constant([9, 2, 4], tf.int64), tf.constant([.5, 1.5, 2.5]))
        self.numbers = tf.lookup.StaticHashTable(numbers, -1.)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64, name="x")])
    def run(self, x):
        return self.numbers.lookup(x)


def recurrent(x):
    w, u = tf.constant(normal(3, 4)), tf.constant(normal(4, 4))

    def step(h, v):
        return tf.tanh(v @ w + h @ u)
    return tf.scan(step, tf.transpose(x, [1, 0, 2]), tf.zeros([tf.shape(x)[0], 4]))


def loops(x):
    y = tf.while_loop(lambda y, n: tf.reduce_max(y) < 100., lambda y, n: (y * 2., n + 1), (tf.abs(x) + 1., 0))
    z = tf.cond(tf.reduce_sum(x) > 0., lambda: x * 3., lambda: x - 1.)
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[4])
    for i in range(3):
        array = array.write(i, x[0] * float(i))
    return y[0], y[1], z, array.stack()


def shapes(x):
    s = tf.shape(x)
    a = tf.reshape(x, [s[0], -1])
    b = tf.strided_slice(x, [0, -1, 0], [2, 0, 3], [1, -1, 2])
    c = tf.space_to_batch(x[..., None], [2, 3], [[0, 0], [0, 0]])
    d = tf.gather(x, [[1, 0], [0, 1]], batch_dims=1, axis=2)
    e = tf.einsum("bij,bkj->bik", x, x)
    f = tf.reverse_sequence(x, [1, 2], seq_axis=1, batch_axis=0)
    g = tf.tensor_scatter_nd_max(x, [[0, 1, 1], [1, 0, 0]], [9., -9.])
    h = tf.cast(tf.math.bincount(tf.constant([1, 1, 3]), minlength=5, maxlength=5), tf.float32)
    return a, b, c, d, e, f, g, h


def image(x):
    k = tf.constant(normal(3, 3, 4, 6))
    a = tf.nn.conv2d(x, k, [1, 2, 3, 1], "SAME", dilations=1)
    b = tf.nn.conv2d(x, k, 1, [[0, 0], [1, 2], [0, 1], [0, 0]])
    c = tf.nn.depthwise_conv2d(x, tf.constant(normal(2, 2, 4, 2)), [1, 2, 2, 1], "SAME")
    d = tf.nn.conv2d_transpose(x, tf.constant(normal(3, 3, 2, 4)), [2, 13, 15, 2], 2, "VALID")
    e = tf.nn.avg_pool2d(x, 3, 2, "SAME")
    f = tf.nn.max_pool_with_argmax(x, 2, 2, "VALID")
    g = tf.image.resize(x, [5, 9])
    h = tf.image.crop_and_resize(x, [[.1, .2, .9, 1.1], [0., 0., 1., 1.]], [1, 0], [4, 3])
    i = tf.nn.local_response_normalization(x, 2)
    j = tf.nn.depth_to_space(x, 2)
    k3 = tf.nn.conv3d(x[:, None], tf.constant(normal(1, 2, 2, 4, 3)), [1, 1, 1, 1, 1], "SAME")
    group = tf.nn.conv2d(x, tf.constant(normal(2, 2, 2, 6)), 1, "SAME")
    return a, b, c, d, e, f[0], f[1], g, h, i, j, k3, group


def linear(x, y):
    """Vectors of eigenvalues and singular values have either sign: products of two of them have one."""
    spd = tf.matmul(x, x, transpose_b=True) + tf.eye(4)
    e, v = tf.linalg.eigh(spd)
    s, p, q = tf.linalg.svd(y)
    sign, log = tf.linalg.slogdet(x)
    lu, order = tf.linalg.lu(x)
    products = [v @ tf.linalg.diag(e) @ tf.linalg.matrix_transpose(v), p @ tf.linalg.diag(s) @ tf.linalg.matrix_transpose(q)]
    solved = [tf.linalg.solve(x, y, adjoint=True), tf.linalg.triangular_solve(x, y, lower=False), tf.linalg.triangular_solve(spd, y[0], adjoint=True)]
    return [tf.linalg.cholesky(spd), tf.linalg.inv(x, adjoint=True), *solved, *tf.linalg.qr(y), *tf.linalg.qr(y, full_matrices=True), e, s, sign, log, lu, order, *products]


def smaller(x):
    return [tf.image.resize(x, s, m, antialias=True) for s, m in (([4, 5], "bilinear"), ([13, 3], "bilinear"), ([4, 12], "bicubic"))]


def selected(x):
    """Sizes that depend on data, in all that keeps them; and reductions that end them."""
    keep = x[:, 0] > 0
    y, z = tf.boolean_mask(x, keep), tf.boolean_mask(x * 2, keep)
    joined = tf.concat([y, z], 1) @ tf.constant(normal(8, 3))
    ends = [tf.reduce_mean(y, 0), tf.reduce_sum(y * z), tf.reduce_max(z, 0), tf.reduce_min(y, 0, keepdims=True), tf.reduce_any(y > 2)]
    positive = tf.gather_nd(x, tf.where(x > 0))
    return [y, joined, tf.nn.softmax(z), tf.transpose(y), tf.argmax(z, 1), *ends, positive, tf.reduce_mean(positive)]


def partitioned(x, part):
    """Rows by computed numbers of parts, one of which has none, and scalars by those of a matrix."""
    a, b, c = tf.dynamic_partition(x, part, 3)
    p, q = tf.dynamic_partition(x, tf.cast(x > 0, tf.int32), 2)
    return [a, b, c, tf.reduce_sum(b, 0), p, tf.reduce_max(q)]


def leveled(x):
    q = tf.quantization.quantize_and_dequantize_v2
    given = [q(x, lo, hi, range_given=True, **k) for lo, hi, k in ((-1., 2., {}), (-2., 1., dict(num_bits=4, round_mode="HALF_UP")), (-.5, 1.5, dict(signed_input=False)), (-2., 1., dict(narrow_range=True)))]
    own = [q(x, 0., 0., **k) for k in ({}, dict(num_bits=5, narrow_range=True), dict(signed_input=False, num_bits=3))]
    gray = tf.image.rgb_to_grayscale(x)  # its last node has the name of its scope, and marks no output
    return [*given, *own, tf.raw_ops.QuantizeAndDequantizeV3(input=x, input_min=-1., input_max=1., num_bits=6), gray * 2.]


def number(x):
    """Texts as numbers that differ."""
    return tf.strings.to_hash_bucket_fast(x, 1 << 40)


def divided(x):
    """Texts that are split, patterns that are replaced, and rows of different lengths."""
    words, parts = tf.strings.split(x), tf.strings.split(x, ",")
    lines = tf.strings.split(tf.strings.split(x, "."), ",")
    some = [tf.strings.split(x, maxsplit=1).to_tensor("-"), tf.strings.split(x, ", ", maxsplit=2).to_tensor("-"), words.to_tensor("none", shape=[None, 3]), parts.to_tensor(shape=[2, None]), lines.to_tensor("?"), lines.to_tensor("?", shape=[3, 4, 1])]
    replaced = [tf.strings.regex_replace(x, *r) for r in ((r"(\w+) (\w+)", r"\2 \1\\", False), (r"[aeiou]*", "<\\0>"), (r"^\s+|\s+$", ""), (r"(?i)the|dog", "ö"))]
    first = tf.compat.v1.strings.split(x, result_type="SparseTensor", sep=" ,")
    counts = [tf.math.bincount(tf.strings.to_hash_bucket_fast(words, 7), minlength=7, maxlength=k, axis=-1, binary_output=b) for k, b in ((7, False), (7, True), (5, False))]
    rows = tf.RaggedTensor.from_row_splits(tf.reshape(tf.cast(number(words.values), tf.float32), [-1, 1]) * [[1., 2.]], words.row_splits)
    return [*map(number, some), *map(number, replaced), first.indices, number(first.values), first.dense_shape, *counts, rows.to_tensor(.5), rows.to_tensor([.5, -.5], shape=[None, 2, 2]), words.row_lengths()]


def joined(x):
    """Sequences of words, as Keras' TextVectorization exports them, and with what they are filled up."""
    words = tf.strings.split(x)
    own = [tf.strings.ngrams(words, k, separator=s) for k, s in ((2, " "), ([1, 3], ""))]
    padded = [tf.strings.ngrams(words, [2, 4], pad_values=("<", ">>"), padding_width=w, preserve_short_sequences=s) for w, s in ((None, False), (1, True), (2, True))]
    return [y for rows in own + padded for y in (number(rows.values), rows.row_splits)]


def colored(x):
    return [tf.image.adjust_hue(x, d) for d in (0.3, -0.8)] + [tf.image.adjust_saturation(x, f) for f in (0.4, 3.0)]


def detected(boxes, scores):
    boxes = tf.concat([tf.minimum(boxes[:, :2], boxes[:, 2:]), tf.maximum(boxes[:, :2], boxes[:, 2:])], 1)
    best = tf.image.non_max_suppression(boxes, scores, 20, 0.3, 0.1)
    found = tf.concat([tf.gather(boxes, best), tf.gather(scores, best)[:, None]], 1)
    return [found, tf.one_hot(tf.cast(found[:, 4] > 0.8, tf.int32), 2)]


def grown(x):
    """Arrays that grow: item by item of a loop, and beyond the length they had."""
    a = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in tf.range(5):
        a = a.write(i, x * tf.cast(i, tf.float32))
    b = tf.TensorArray(tf.float32, size=1, dynamic_size=True)
    for i in range(3):
        b = b.write(i, x + float(i))
    return [a.stack(), a.size(), b.stack(), b.read(2)]


def resized(x):
    v1 = tf.compat.v1.image
    kinds = [(m, a) for m in ("bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic") for a in (False, True)]
    other = [v1.resize_bicubic(x, [9, 3]), v1.resize_bicubic(x, [9, 13], align_corners=True), tf.image.resize(x, [4, 3], "area"), v1.resize_area(x, [9, 11], align_corners=True)]
    moved = tf.raw_ops.ScaleAndTranslate(images=x, size=[7, 6], scale=[0.7, 1.3], translation=[1.5, -2.0], kernel_type="box", antialias=True)
    return [tf.image.resize(x, [9, 4], m, antialias=a) for m, a in kinds] + other + [moved]


def signals(x):
    s = tf.signal.stft(x, 64, 32)
    mel = tf.matmul(tf.abs(s), tf.signal.linear_to_mel_weight_matrix(12, 33, 8000, 80.0, 3800.0))
    features = tf.signal.mfccs_from_log_mel_spectrograms(tf.math.log(mel + 1e-3))[..., :7]
    z = tf.signal.fft(tf.complex(x[:, :15], x[:, 1:16]) * tf.constant(0.5 + 2j, tf.complex64))
    back = tf.signal.ifft(z - tf.cast(x[:, :15], tf.complex64))
    return [tf.abs(s), features, tf.math.real(z), tf.math.imag(back), tf.math.angle(s + 3j), tf.signal.inverse_stft(s, 64, 32), tf.signal.irfft(tf.math.conj(s), [50])]


def hashed(number, text):
    """Buckets of words of 0 to 300 bytes, of digits, and of crossed columns."""
    long = tf.strings.join([text] * 10)
    longest = tf.strings.join([long, long, text])
    digits = tf.strings.as_string(number)
    fast = [tf.strings.to_hash_bucket_fast(t, 2**40) for t in (text, long, longest, digits)]
    strong = [tf.strings.to_hash_bucket_strong(t, 1000, [3, 2**50]) for t in (text, long, tf.strings.as_string(number > 5))]
    crossed = tf.sparse.to_dense(tf.sparse.cross_hashed([number[:, None], tf.stack([number, number * 3], 1), tf.cast(number, tf.int32)[:, None]], 5000))
    return fast + strong + [crossed]


def drawn(x, seed):
    """Random numbers of seeds of nodes, of given seeds, and in a loop."""
    kinds = ((tf.float32, tf.random.normal), (tf.float64, tf.random.uniform), (tf.float16, tf.random.uniform), (tf.float64, tf.random.normal))
    nodes = [tf.cast(f([5], dtype=t, seed=k + 1), tf.float32) for k, (t, f) in enumerate(kinds)]
    whole = [tf.random.uniform([6], -3, 17, dtype=t, seed=5) for t in (tf.int32, tf.int64)]
    given = [tf.random.stateless_uniform([3, 5], seed), tf.random.stateless_normal([7], tf.random.split(seed, 2)[1]), tf.random.stateless_uniform([3], seed, None, None, tf.int64),
             tf.raw_ops.StatelessRandomNormal(shape=[3], seed=seed), tf.raw_ops.StatelessRandomUniformInt(shape=[5], seed=seed, minval=2, maxval=90)]  # fmt: skip
    loop = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + tf.random.normal(tf.shape(y), seed=4)), (0, x))[1]
    return [*nodes, *whole, *given, loop, tf.random.categorical(x, 6, seed=3)]


def truncated(x, seed):
    """Normal numbers that are drawn again until they are between -2 and 2: of many groups, in all types, and in a loop."""
    nodes = [tf.cast(tf.random.truncated_normal([n], dtype=t, seed=k + 1), tf.float32) for k, (n, t) in enumerate(((331, tf.float32), (127, tf.float64), (9, tf.float16), (2, tf.bfloat16)))]
    given = [tf.random.stateless_truncated_normal([7, 5], seed), tf.raw_ops.StatelessTruncatedNormal(shape=[3], seed=seed, dtype=tf.float64)]
    loop = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + tf.random.truncated_normal(tf.shape(y), seed=4)), (0, x))[1]
    return [*nodes, *given, loop]


WEIGHTS = np.random.default_rng(3).standard_normal(84).astype(np.float32)


def derived(x):
    """Gradients of windows, normalization, resizing, slices, padding, activations and broadcasts."""
    def net(x, scale, k):
        y = tf.nn.conv2d(x, k, 2, "SAME")
        y, mean, _ = tf.compat.v1.nn.fused_batch_norm(y, scale, scale * 0.5, is_training=True)
        y = tf.nn.avg_pool2d(tf.nn.max_pool2d(tf.nn.leaky_relu(y), 2, 1, "SAME"), 2, 1, "SAME")
        y = tf.nn.lrn(tf.image.resize(y, [7, 5]), 1) + tf.image.resize(y, [7, 5], "nearest")
        y = tf.pad(y, [[0, 0], [1, 2], [1, 1], [0, 0]], "REFLECT")[:, ::2, 1:]
        y = tf.nn.depthwise_conv2d(tf.concat([y, tf.nn.bias_add(y, mean)], 3), tf.tile(k, [1, 1, 2, 1])[..., :2] * 0.3, [1, 1, 1, 1], "VALID")
        y = tf.nn.elu(y) + tf.nn.selu(y) + tf.nn.softplus(y) * tf.nn.softsign(y) + tf.sigmoid(y) * tf.tanh(y) + tf.nn.relu6(y)
        return tf.reduce_sum(tf.sqrt(tf.abs(y) + 0.1) * tf.math.rsqrt(y * y + 1.0) + y * tf.reduce_max(y, -1, keepdims=True) * scale[0])
    k, scale = tf.constant(WEIGHTS[:81].reshape(3, 3, 3, 3)), tf.constant(WEIGHTS[81:])
    with tf.GradientTape() as tape:
        tape.watch([x, scale, k])
        y = net(x, scale, k)
    return tape.gradient(y, [x, scale, k])


def blocks(x, steps):
    """LSTMs of version 1, whose steps are one operator."""
    def weights(*shape):
        return tf.constant(np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32) * 0.5)
    start = dict(cs_prev=weights(2, 5), h_prev=weights(2, 5), w=weights(11, 20), b=weights(20), wci=weights(5), wcf=weights(5) * 0.7, wco=weights(5) * 0.3)
    first = tf.raw_ops.BlockLSTM(seq_len_max=steps, x=x, **start, use_peephole=True)
    second = tf.raw_ops.BlockLSTMV2(seq_len_max=tf.constant(7, tf.int64), x=x, **start)
    return [*first, second.h, second.cs[-1]]


def special(x, y, text):
    """Special functions, transforms of several axes, cross products, and characters of strings."""
    p = tf.sigmoid(x)
    one = [tf.math.lgamma(x), tf.math.lgamma(tf.constant([0.0, -2.0, np.inf])), tf.math.digamma(x), tf.math.erfinv(2 * p - 1), tf.math.ndtri(p)]
    bessel = [tf.math.bessel_i0e(x), tf.math.bessel_i1e(x), tf.math.bessel_i0(x / 9), tf.math.bessel_i1(x / 9), tf.linalg.cross(x[:3], x[3:6])]
    z = tf.signal.rfft2d(y, [6, 8])
    waves = [tf.abs(tf.signal.fft2d(tf.complex(y, y * 0.5))), tf.signal.irfft2d(z, [7, 5]), tf.math.imag(tf.signal.ifft3d(tf.cast(y, tf.complex64))), tf.signal.irfft3d(tf.signal.rfft3d(y))]
    words = [tf.strings.length(text, "UTF8_CHAR"), tf.strings.length(tf.strings.substr(text, -4, 3, "UTF8_CHAR"), "UTF8_CHAR"), tf.cast(tf.strings.strip(text) == "b", tf.int32)]
    return one + bessel + waves + words


def main(root):
    os.makedirs(root, exist_ok=True)
    dense = Dense()
    saved(root, "saved_dense", dense, dense.run, [normal(2, 6)])
    saved(root, "saved_signatures", dense, {"serving_default": dense.run, "double": dense.double}, [normal(3, 6)])
    counter = Counter()
    saved(root, "saved_variable", counter, counter.run, [normal(4)])
    words = Words()
    saved(root, "saved_table", words, words.run, [np.array([2, 3, 9, 4], np.int64)])
    frozen(root, "graph_text", lambda x: tf.nn.softmax(x @ tf.constant(normal(3, 4)) * .5), [normal(2, 3)], text=True)
    frozen(root, "graph_loops", loops, [normal(3, 4)])
    frozen(root, "graph_frames", loops, [normal(3, 4)], lower=True)
    frozen(root, "graph_scan", recurrent, [normal(2, 5, 3)], shapes=[[None, 5, 3]])
    frozen(root, "graph_frames_scan", recurrent, [normal(2, 5, 3)], lower=True)
    frozen(root, "graph_shapes", shapes, [normal(2, 2, 3)])
    frozen(root, "graph_image", image, [normal(2, 6, 7, 4)])
    frozen(root, "graph_smaller", smaller, [normal(2, 9, 8, 2)])
    frozen(root, "graph_selected", selected, [normal(6, 4)])
    frozen(root, "graph_partitioned", partitioned, [normal(6, 4), np.array([1, 0, 1, 1, 0, 1], np.int32)])
    frozen(root, "graph_colored", colored, [np.concatenate([np.abs(normal(2, 4, 5, 3)), normal(1, 4, 5, 3)])])
    frozen(root, "graph_detected", detected, [normal(30, 4), normal(30)])
    frozen(root, "graph_grown", grown, [normal(2, 3)])
    frozen(root, "graph_resized", resized, [normal(2, 6, 7, 2)])
    frozen(root, "graph_signals", signals, [normal(2, 160)])
    frozen(root, "graph_linear", linear, [normal(2, 4, 4), normal(2, 4, 3)])
    special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, -2.5], np.float32)
    y, x = np.meshgrid(special, special)
    frozen(root, "graph_angles", lambda y, x: [tf.atan2(y, x), 1 / tf.atan2(y, tf.abs(x))], [y, x])
    tf.random.set_seed(11)
    frozen(root, "graph_random", drawn, [normal(3, 4), np.array([3, -9], np.int64)])
    frozen(root, "graph_truncated", truncated, [np.ones([3, 4], np.float32), np.array([3, -9], np.int64)])
    frozen(root, "graph_gradients", derived, [normal(2, 9, 8, 3)], shapes=[[None, 9, 8, 3]])
    frozen(root, "graph_blocks", blocks, [normal(7, 2, 6), np.array(5, np.int64)])
    frozen(root, "graph_special", special, [normal(6, 3) * 8, normal(2, 4, 6), np.array(["Hello, Wörld!", " b  ", "four"])])
    frozen(root, "graph_leveled", leveled, [normal(2, 5, 3)])
    texts = ["The cat, a dog.  The END ", "", ",.,", " one", "Ärger und the\tdog,cat"]
    frozen(root, "graph_divided", divided, [np.array(texts)], shapes=[[None]])
    frozen(root, "graph_joined", joined, [np.array(texts)], shapes=[[None]])
    module = Texts()
    saved(root, "saved_texts", module, module.run, [np.array(texts)[:, None]])
    words = ["", "a", "bc", "def", "word", "wörter", "sixteen letters!", "and seventeen of them", "more than thirty-two bytes in one text"]
    frozen(root, "graph_hashed", hashed, [np.array([0, -1, 7, 10**18, 5, 6, 77, 8, -9], np.int64), np.array(words)])


if __name__ == "__main__":
    main(sys.argv[1])
