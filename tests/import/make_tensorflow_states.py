"""Writes the SavedModels of tests/import/tensorflow_states, whose runs assign variables, and what TensorFlow computes
call by call. Each calls.npz has the arrays input_K and output_K with one call in each row.

    VENV/bin/python tests/import/make_tensorflow_states.py
"""
import os
import pathlib
import shutil

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

FOLDER = pathlib.Path(__file__).parent / "tensorflow_states"
CALLS = 8


class Average(tf.Module):
    """A running mean with a count, as normalization layers keep it."""

    def __init__(self):
        self.mean = tf.Variable([1.0, 2.0, 3.0], name="mean")
        self.count = tf.Variable(4, dtype=tf.int64, name="count")
        self.scale = tf.Variable(0.5, name="scale")  # never assigned

    @tf.function(input_signature=[tf.TensorSpec([2, 3], tf.float32, name="x")])
    def __call__(self, x):
        self.count.assign_add(2)
        self.mean.assign_sub((self.mean - tf.reduce_mean(x, 0)) * self.scale)
        return {"y": x - self.mean, "count": self.count.read_value()}


class Table(tf.Module):
    """Rows of a table are updated by index."""

    def __init__(self):
        self.rows = tf.Variable(tf.reshape(tf.range(15.0), [5, 3]), name="rows")

    @tf.function(input_signature=[tf.TensorSpec([2], tf.int32, name="i"), tf.TensorSpec([2, 3], tf.float32, name="x")])
    def __call__(self, i, x):
        before = tf.gather(self.rows, i)
        self.rows.scatter_add(tf.IndexedSlices(x, i))
        self.rows.scatter_nd_update(i[:1, None], x[:1] * 2)
        return {"before": before, "sum": tf.reduce_sum(self.rows, 1)}


class Flow(tf.Module):
    """Assigned in branches, loops and functions that are called."""

    def __init__(self):
        self.level = tf.Variable(1.0, name="level")
        self.steps = tf.Variable(0, dtype=tf.int32, name="steps")

    @tf.function
    def bump(self, by):
        self.level.assign_add(by)
        return self.level * 2.0

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="x"), tf.TensorSpec([], tf.int32, name="n")])
    def __call__(self, x, n):
        if x > 0:
            y = self.bump(x)
        else:
            self.steps.assign_sub(3)
            y = x
        for i in tf.range(n):
            self.steps.assign_add(i)
            if i > 1:
                self.level.assign(self.level * 0.75)
        return {"y": y, "level": self.level.read_value(), "steps": self.steps.read_value()}


class Counter(tf.Module):
    """Only counts: the variable is returned and has no other reader."""

    def __init__(self):
        self.n = tf.Variable(0, dtype=tf.int32, name="n")

    @tf.function(input_signature=[tf.TensorSpec([1], tf.float32, name="x")])
    def __call__(self, x):
        self.n.assign(self.n + 1)
        return {"y": x * tf.cast(self.n, tf.float32)}


def values(spec, rng):
    shape = [CALLS, *spec.shape]
    return (rng.integers(0, 5, shape) if spec.dtype.is_integer else rng.normal(size=shape)).astype(spec.dtype.as_numpy_dtype)


class Trained(tf.Module):
    """A step of each optimizer that version 1 has as one operator."""

    def __init__(self):
        rng = np.random.default_rng(5)
        make = lambda name, scale: tf.Variable(rng.standard_normal((3, 2)).astype(np.float32) * scale, name=name)  # noqa: E731
        self.weights = [make(f"w{k}", 1.0) for k in range(7)]
        self.first = [make(f"m{k}", 0.0) for k in range(7)]
        self.second = [make(f"v{k}", 0.0) for k in range(7)]

    @tf.function(input_signature=[tf.TensorSpec([4, 3], tf.float32, name="x")])
    def __call__(self, x):
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_mean(tf.square(tf.matmul(x, w))) for w in self.weights])
        grads, raw = tape.gradient(loss, self.weights), tf.raw_ops
        raw.ResourceApplyGradientDescent(var=self.weights[0].handle, alpha=0.1, delta=grads[0])
        for nesterov in (False, True):
            for k, op in ((1, raw.ResourceApplyMomentum), (3, raw.ResourceApplyKerasMomentum)):
                op(var=self.weights[k + nesterov].handle, accum=self.first[k + nesterov].handle, lr=0.1, grad=grads[k + nesterov], momentum=0.9, use_nesterov=nesterov)
            k = 5 + nesterov
            raw.ResourceApplyAdam(var=self.weights[k].handle, m=self.first[k].handle, v=self.second[k].handle, beta1_power=0.9, beta2_power=0.999, lr=0.1, beta1=0.9, beta2=0.999,
                                  epsilon=1e-7, grad=grads[k], use_nesterov=nesterov)  # fmt: skip
        return {"loss": loss, "weights": tf.stack([w.read_value() for w in self.weights])}


def main():
    for module in (Average(), Table(), Flow(), Counter(), Trained()):
        folder = FOLDER / type(module).__name__.lower()
        shutil.rmtree(folder, ignore_errors=True)
        concrete = module.__call__.get_concrete_function()
        tf.saved_model.save(module, str(folder), signatures=concrete)
        shutil.rmtree(folder / "assets", ignore_errors=True)
        (folder / "fingerprint.pb").unlink(missing_ok=True)
        rng = np.random.default_rng(3)
        specs = sorted((s for s in concrete.structured_input_signature[0]), key=lambda s: s.name)
        given = {s.name: values(s, rng) for s in specs}
        run = tf.saved_model.load(str(folder)).signatures["serving_default"]
        rows = [run(**{n: tf.constant(v[c]) for n, v in given.items()}) for c in range(CALLS)]
        kept = {f"input_{k}": given[s.name] for k, s in enumerate(specs)}
        kept.update({f"output_{k}": np.stack([r[n].numpy() for r in rows]) for k, n in enumerate(sorted(rows[0]))})
        np.savez_compressed(folder / "calls.npz", **kept)


if __name__ == "__main__":
    main()
