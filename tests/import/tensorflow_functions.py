"""Random functions of TensorFlow, traced, frozen or saved, and run by Wick and by TensorFlow.

    VENV/bin/python tests/import/tensorflow_functions.py --wick build/wick --count 100 --seed 1

Needs a Python with tensorflow-cpu. Each function is a chain of random operators on random shapes;
--kind saved writes a SavedModel with variables, --kind frozen a GraphDef.

TensorFlow runs the graph as it is: its optimizer takes the argmax of relu(x) as that of x, which differs where several elements
are 0. Where a result differs, TensorFlow computes it again with each step's result moved by one part in a million: all elements down, all
up, and each by itself, several times (a sum that cancels has either sign). If that moves its own result beyond the tolerance (the
floor of 0.99999994, a comparison of equal sums), the function has no result to compare, and is counted as unstable.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np

try:
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
except ImportError:
    print("tensorflow is not installed: nothing is compared")
    sys.exit(77)

tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


class Source:
    """Random choices, and the variables that a function made."""

    def __init__(self, seed, module):
        self.rng = np.random.default_rng(seed)
        self.module = module
        self.count = 0
        self.dilation = 2

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def int(self, lo, hi):
        return int(self.rng.integers(lo, hi + 1))

    def weight(self, *shape):
        """A variable, made when the function is traced first."""
        name = "w%d" % self.count
        self.count += 1
        if not hasattr(self.module, name):
            value = self.rng.standard_normal(shape).astype(np.float32) * 0.5
            with tf.init_scope():
                setattr(self.module, name, tf.Variable(value, name=name))
        else:
            self.rng.standard_normal(shape)
        return getattr(self.module, name)


def unary(s, x):
    f = s.pick([tf.abs, tf.nn.relu, tf.nn.relu6, tf.sigmoid, tf.tanh, tf.nn.elu, tf.nn.selu, tf.square,
                tf.nn.softplus, tf.nn.softsign, tf.floor, tf.round, tf.sin, tf.cos, tf.atan, tf.math.erf,
                tf.nn.leaky_relu, tf.nn.gelu, tf.nn.swish, tf.negative, tf.sign, tf.math.ceil, tf.asinh,
                lambda v: tf.exp(tf.clip_by_value(v, -3., 3.)), lambda v: tf.sqrt(tf.abs(v) + 1e-2),
                lambda v: tf.math.log1p(tf.abs(v)), lambda v: tf.math.rsqrt(tf.abs(v) + .5),
                lambda v: tf.math.reciprocal_no_nan(v + 3.), tf.math.expm1, tf.zeros_like, tf.ones_like])
    return f(tf.clip_by_value(x, -5., 5.))


def binary(s, x):
    y = tf.reverse(x, [s.int(0, x.shape.rank - 1)]) + 0.25
    f = s.pick([tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.math.squared_difference,
                tf.math.divide_no_nan, tf.math.floormod, tf.math.floordiv, tf.atan2, tf.math.xdivy,
                lambda a, b: tf.where(a > b, a, b), lambda a, b: tf.cast(a >= b, tf.float32),
                lambda a, b: tf.math.pow(tf.abs(a) + .1, tf.clip_by_value(b, -2., 2.)),
                lambda a, b: tf.cast(tf.logical_and(a > 0., b <= 0.), tf.float32)])
    return f(x, y)


def reduce_some(s, x):
    rank = x.shape.rank
    axes = sorted({s.int(0, rank - 1) for _ in range(s.int(1, rank))})
    f = s.pick([tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min,
                lambda v, axis, keepdims: tf.reduce_prod(tf.clip_by_value(v, -1., 1.), axis, keepdims),
                tf.math.reduce_euclidean_norm, tf.math.reduce_logsumexp, tf.math.reduce_std])
    y = f(tf.clip_by_value(x, -10., 10.), axis=axes, keepdims=True)
    return x - y if s.int(0, 1) else tf.broadcast_to(y, tf.shape(x))


def shapes(s, x):
    rank = x.shape.rank
    axis = s.int(0, rank - 1)
    size = x.shape[axis]
    forms = [lambda: tf.transpose(x, s.rng.permutation(rank).tolist()),
             lambda: tf.reshape(x, [-1, x.shape[-1]]),
             lambda: tf.expand_dims(x, axis) if rank < 5 else x,
             lambda: tf.concat([x, tf.abs(x)], axis),
             lambda: tf.stack([x, -x], axis) if rank < 5 else x,
             lambda: tf.unstack(x, axis=axis)[0] if size and rank > 1 else x,
             lambda: tf.reverse(x, [axis]), lambda: tf.roll(x, s.int(-3, 3), axis),
             lambda: tf.pad(x, [[s.int(0, 2), s.int(0, 2)] for _ in range(rank)]),
             lambda: tf.pad(x, [[0, 1 if (x.shape[k] or 0) > 1 else 0] for k in range(rank)],
                            s.pick(["REFLECT", "SYMMETRIC"])),
             lambda: tf.tile(x, [2 if k == axis else 1 for k in range(rank)]),
             lambda: tf.cumsum(x, axis, bool(s.int(0, 1)), bool(s.int(0, 1))),
             lambda: tf.gather(x, [0, (size or 1) - 1, 0], axis=axis) if size else x,
             lambda: x[..., ::2], lambda: x[..., None] if rank < 5 else x,
             lambda: x[tuple(slice(None) if k != axis else slice(None, None, -1) for k in range(rank))],
             lambda: tf.split(x, 2, axis)[1] if size and size % 2 == 0 else x,
             lambda: tf.slice(x, [0] * rank, [-1] * (rank - 1) + [max(1, (x.shape[-1] or 1) - 1)]),
             lambda: tf.math.top_k(x, min(2, x.shape[-1])).values if x.shape[-1] else x,
             lambda: tf.cast(tf.argmax(x, axis), tf.float32)[..., None],
             lambda: tf.one_hot(tf.cast(tf.abs(x[..., 0]) * 2., tf.int32), 4) if x.shape[-1] else x,
             lambda: tf.linalg.band_part(x, 1, 0) if rank > 1 else x,
             lambda: tf.squeeze(x), lambda: tf.nn.softmax(x), lambda: tf.nn.log_softmax(x),
             lambda: tf.linalg.diag(x) if rank < 4 else x,
             lambda: tf.sort(x), lambda: tf.repeat(x, 2, axis),
             lambda: tf.reshape(x, tf.concat([tf.shape(x)[:1], [-1]], 0))]
    return s.pick(forms)()


def projective(s, x):
    """Rotated, scaled and skewed images; the transform of one image or of each."""
    t = np.array([[1, 0, 0, 0, 1, 0, 0, 0]], np.float32) + s.rng.normal(0, 1, (s.pick([1, x.shape[0]]), 8)).astype(np.float32) * [0.3, 0.3, 2, 0.3, 0.3, 2, 0.01, 0.01]
    return tf.raw_ops.ImageProjectiveTransformV3(images=x, transforms=t.astype(np.float32), output_shape=[s.int(2, 9), s.int(2, 9)], fill_value=0.5,
                                                 interpolation=s.pick(["NEAREST", "BILINEAR"]), fill_mode=s.pick(["CONSTANT", "REFLECT", "WRAP", "NEAREST"]))  # fmt: skip


def layer(s, x):
    """Layers on images, sequences or rows."""
    while x.shape.rank < 2:
        x = tf.expand_dims(x, -1)
    if x.shape.rank > 4:
        x = tf.reshape(x, [-1] + [int(v) for v in x.shape[-3:]])
    if x.shape.rank == 4 and all(v and v > 2 for v in x.shape[1:3]) and x.shape[3]:
        c = int(x.shape[3])
        k = s.int(1, 3)
        padding = s.pick(["SAME", "VALID"])
        stride = s.int(1, 2)
        forms = [lambda: tf.nn.conv2d(x, s.weight(k, k, c, s.int(1, 5)), stride, padding),
                 lambda: tf.nn.depthwise_conv2d(x, s.weight(k, k, c, s.int(1, 2)), [1, stride, stride, 1], padding),
                 lambda: tf.nn.max_pool2d(x, k, stride, padding),
                 lambda: tf.nn.avg_pool2d(x, k, stride, padding),
                 lambda: tf.image.resize(x, [s.int(2, 9), s.int(2, 9)], s.pick(["bilinear", "nearest"])),
                 lambda: tf.nn.bias_add(x, s.weight(c)),
                 lambda: tf.compat.v1.nn.fused_batch_norm(x, s.weight(c), s.weight(c), s.weight(c),
                                                          tf.abs(s.weight(c)) + .1, is_training=False)[0],
                 lambda: tf.nn.conv2d_transpose(x, s.weight(k, k, 3, c),
                                                [tf.shape(x)[0], x.shape[1] * stride, x.shape[2] * stride, 3],
                                                stride, "SAME"),
                 lambda: tf.nn.lrn(x, 2, 1., .1, .5),
                 lambda: tf.nn.conv2d(x, s.weight(2, 2, c, 2), 1, "SAME", dilations=s.dilation),
                 lambda: projective(s, x),
                 lambda: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
                 lambda: tf.nn.space_to_depth(x, 2) if x.shape[1] % 2 == 0 and x.shape[2] % 2 == 0 else x]
        return s.pick(forms)()
    if not x.shape[-1]:
        return x
    c = int(x.shape[-1])
    forms = [lambda: tf.matmul(x, s.weight(c, s.int(1, 6)) if x.shape.rank == 2 else
                               tf.broadcast_to(s.weight(c, 3), tf.concat([tf.shape(x)[:-2], [c, 3]], 0))),
             lambda: tf.matmul(x, x, transpose_b=True),
             lambda: tf.tensordot(x, s.weight(c, 4), 1),
             lambda: tf.einsum("...i,ij->...j", x, s.weight(c, 3)),
             lambda: tf.nn.l2_normalize(x, -1) if c else x,
             lambda: tf.gather(s.weight(7, 3), tf.cast(tf.abs(x[..., 0]), tf.int32) % 7),
             lambda: tf.math.unsorted_segment_sum(x, tf.range(tf.shape(x)[0]) % 3, 3),
             lambda: tf.tensor_scatter_nd_add(x, [[0]], x[:1] * 2.),
             lambda: tf.nn.dropout(x, 0.) + 0.]
    return s.pick(forms)()


def derivative(s, x):
    """The gradient of what an operator's results sum up to."""
    s.dilation = 1  # TensorFlow's kernels on a CPU have no gradient of dilated convolutions
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sin(s.pick([unary, layer, layer, layer])(s, x)))
    s.dilation = 2
    y = tape.gradient(y, x)
    return x if y is None else y


def flow(s, x):
    """Branches and loops."""
    total = tf.reduce_mean(x)
    w = s.weight(1)

    def fold():
        n = s.int(2, 5)
        i, y = tf.constant(0), x
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.tanh(y) * w[0] + tf.cast(i, tf.float32)), (i, y))[1]

    def scan():
        return tf.scan(lambda a, v: tf.tanh(a + v), x)

    def mapped():
        return tf.map_fn(lambda v: tf.reduce_max(v) - v, x)

    def halving():
        return tf.while_loop(lambda y: tf.reduce_max(tf.abs(y)) > 1., lambda y: (y * .5,), (tf.clip_by_value(x, -9., 9.),))[0]

    def array():
        n = 4
        a = tf.TensorArray(tf.float32, n)
        for i in tf.range(n):
            a = a.write(i, x * tf.cast(i, tf.float32))
        return a.stack()[-1] + a.read(1)

    forms = [lambda: tf.cond(total > 0., lambda: x * 2., lambda: tf.abs(x) - 1.),
             lambda: tf.switch_case(tf.cast(tf.abs(total), tf.int32), [lambda: x, lambda: -x, lambda: x * 3.]),
             fold, halving, array]
    if x.shape[0] and x.shape.rank > 1:
        forms += [scan, mapped]
    return s.pick(forms)()


def build(seed, dynamic, factors=None):
    """Returns a module whose function `run` is the random function, and its inputs. The result y of each step is multiplied by factors(y)."""
    module = tf.Module()
    rng = np.random.default_rng(seed)
    shape = [int(v) for v in rng.integers(1, 8, int(rng.integers(1, 5)))]
    if rng.integers(2):
        shape = [int(rng.integers(1, 3)), int(rng.integers(4, 9)), int(rng.integers(4, 9)), int(rng.integers(1, 5))]
    open_shape = [None] + shape[1:] if dynamic else shape
    steps = int(rng.integers(2, 7))

    def run(x):
        s = Source(seed + 1, module)
        for _ in range(steps):
            f = s.pick([unary, unary, binary, reduce_some, shapes, shapes, shapes, layer, layer, layer, flow, derivative])
            try:
                y = f(s, x)
            except (ValueError, tf.errors.InvalidArgumentError, TypeError):
                continue  # the shapes do not fit the operator
            if y.shape.rank is None or y.shape.rank == 0 or y.shape.rank > 6 or y.dtype != tf.float32:
                continue
            if y.shape.num_elements() is not None and not 0 < y.shape.num_elements() < 20000:
                continue
            x = y if factors is None else y * factors(y)
        return tf.identity(x, name="result")

    module.run = tf.function(run, input_signature=[tf.TensorSpec(open_shape, tf.float32, name="x")])
    return module, rng.standard_normal(shape).astype(np.float32) * 2


UNSTABLE = "unstable"


def difference(got, want):
    """Returns None if the result is within the tolerance, otherwise a sentence."""
    if got.shape != want.shape:
        return "shape %s, expected %s" % (got.shape, want.shape)
    largest = float(np.max(np.abs(want[np.isfinite(want)]), initial=0))
    if np.allclose(got, want, rtol=2e-4, atol=2e-4 * (1 + largest), equal_nan=True):
        return None
    return "largest difference %g of %g" % (np.nanmax(np.abs(got - want)), np.nanmax(np.abs(want)))


def is_unstable(seed, dynamic, want):
    """Whether TensorFlow's own result differs after changes of one part in a million: all down, all up, or each by itself in eight ways."""
    def each(draw):
        return lambda y: tf.random.stateless_uniform(tf.shape(y), [seed, draw], 1 - 1e-6, 1 + 1e-6)

    for factors in (lambda y: 1 - 1e-6, lambda y: 1 + 1e-6, *map(each, range(8))):
        module, x = build(seed, dynamic, factors)
        if difference(module.run(tf.constant(x)).numpy(), want):
            return True
    return False


def one(seed, kind, wick, keep):
    """Returns a problem, UNSTABLE or None, and the operators of the graph."""
    dynamic = seed % 4 == 3
    module, x = build(seed, dynamic)
    concrete = module.run.get_concrete_function()
    want = module.run(tf.constant(x)).numpy()
    folder = tempfile.mkdtemp()
    if kind == "frozen":
        frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=seed % 2 == 0)
        path = os.path.join(folder, "model.pb")
        with open(path, "wb") as f:
            f.write(frozen.graph.as_graph_def().SerializeToString())
    else:
        path = os.path.join(folder, "saved")
        tf.saved_model.save(module, path, signatures=concrete)
    np.save(os.path.join(folder, "x.npy"), x)
    command = [wick, "run", path, "--inputs", os.path.join(folder, "x.npy"), "--outputs", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    ops = sorted({n.type for n in concrete.graph.get_operations()})
    problem = None
    if done.returncode:
        problem = (done.stderr or done.stdout).strip()[:600]
    else:
        got = np.load(os.path.join(folder, "output_0.npy"))
        problem = difference(got, want)
        if problem and got.shape == want.shape and is_unstable(seed, dynamic, want):
            problem = UNSTABLE
    if problem and problem != UNSTABLE and keep:
        shutil.copytree(folder, os.path.join(keep, "%s-%d" % (kind, seed)), dirs_exist_ok=True)
    shutil.rmtree(folder)
    return problem, ops


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--wick", default="build/wick")
    a.add_argument("--count", type=int, default=20)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--kind", default="frozen", choices=["frozen", "saved"])
    a.add_argument("--keep", help="a folder for models that fail")
    o = a.parse_args()
    bad = unstable = 0
    for seed in range(o.seed, o.seed + o.count):
        problem, ops = one(seed, o.kind, o.wick, o.keep)
        if problem == UNSTABLE:
            unstable += 1
        elif problem:
            bad += 1
            print("seed %d: %s\n    %s" % (seed, problem, " ".join(ops)), flush=True)
    print("%d of %d functions agree, %d are unstable" % (o.count - bad - unstable, o.count, unstable))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
