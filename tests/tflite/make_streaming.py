"""Makes the streaming models in files/ and what LiteRT computes with them, frame by frame.

python make_streaming.py: with tensorflow, whose interpreter of TensorFlow Lite is the oracle. Each NAME.npz has the
arrays input_K and output_K with one frame in each row: the frames of one session, in order.
"""
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

FILES = pathlib.Path(__file__).parent / "files"
FRAMES = 10


class Ring(tf.Module):
    """Keeps the last four frames and mixes them: a convolution in streaming mode."""

    def __init__(self):
        rng = np.random.default_rng(1)
        self.past = tf.Variable(tf.zeros([1, 4, 3]), name="past")
        self.weight = tf.constant(rng.normal(size=[4, 3, 5]).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([1, 3])])
    def __call__(self, frame):
        self.past.assign(tf.concat([self.past[:, 1:], frame[:, None]], 1))
        return {"y": tf.nn.relu(tf.einsum("btc,tco->bo", self.past, self.weight))}


class Counter(tf.Module):
    """Begins with numbers other than 0, and is read before and after it is assigned, twice."""

    def __init__(self):
        self.count = tf.Variable([5, -3], dtype=tf.int32, name="count")
        self.sum = tf.Variable(0.5, name="sum")

    @tf.function(input_signature=[tf.TensorSpec([2], tf.int32)])
    def __call__(self, x):
        before = self.count.read_value()
        self.count.assign_add(x)
        self.sum.assign(self.sum + tf.cast(tf.reduce_sum(self.count), tf.float32))
        self.count.assign(self.count * 2 - before)
        return {"before": before, "count": self.count.read_value(), "sum": self.sum.read_value()}


class Gru(tf.Module):
    """A layer whose state is a variable."""

    def __init__(self):
        rng = np.random.default_rng(2)
        self.h = tf.Variable(tf.zeros([1, 6]), name="h")
        self.w = [tf.constant(rng.normal(size=[10, 6]).astype(np.float32) / 2) for _ in range(3)]

    @tf.function(input_signature=[tf.TensorSpec([1, 4])])
    def __call__(self, x):
        both = tf.concat([x, self.h], 1)
        z, r = tf.sigmoid(both @ self.w[0]), tf.sigmoid(both @ self.w[1])
        new = tf.tanh(tf.concat([x, r * self.h], 1) @ self.w[2])
        self.h.assign((1 - z) * self.h + z * new)
        return {"h": self.h.read_value()}


class Branch(tf.Module):
    """Assigns in branches and in the steps of a loop."""

    def __init__(self):
        self.level = tf.Variable(1.0, name="level")
        self.steps = tf.Variable(0, dtype=tf.int32, name="steps")

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)])
    def __call__(self, x, n):
        if x > 0:
            self.level.assign_add(x)
        else:
            self.level.assign(self.level * 0.5)
            self.steps.assign_sub(1)
        i = tf.constant(0)
        while i < n:
            self.steps.assign_add(i + 1)
            self.level.assign(self.level + 0.25)
            i += 1
        return {"level": self.level.read_value(), "steps": self.steps.read_value()}


def convert(module):
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, signatures=module.__call__.get_concrete_function())
        converter = tf.lite.TFLiteConverter.from_saved_model(folder)
        converter.experimental_enable_resource_variables = True
        return converter.convert()


def frames(spec, rng):
    if np.issubdtype(spec["dtype"], np.integer):
        return rng.integers(0, 7, [FRAMES, *spec["shape"]]).astype(spec["dtype"])
    return rng.normal(size=[FRAMES, *spec["shape"]]).astype(spec["dtype"])


def main():
    FILES.mkdir(exist_ok=True)
    for module in (Ring(), Counter(), Gru(), Branch()):
        name = type(module).__name__.lower()
        model = convert(module)
        (FILES / f"{name}.tflite").write_bytes(model)
        interpreter = tf.lite.Interpreter(model_content=model)
        interpreter.allocate_tensors()
        rng = np.random.default_rng(7)
        ins, outs = interpreter.get_input_details(), interpreter.get_output_details()
        kept = {f"input_{k}": frames(i, rng) for k, i in enumerate(ins)}
        rows = [[] for _ in outs]
        for f in range(FRAMES):
            for k, i in enumerate(ins):
                interpreter.set_tensor(i["index"], kept[f"input_{k}"][f])
            interpreter.invoke()
            for k, o in enumerate(outs):
                rows[k].append(np.array(interpreter.get_tensor(o["index"])))
        kept.update({f"output_{k}": np.stack(r) for k, r in enumerate(rows)})
        np.savez_compressed(FILES / f"{name}.npz", **kept)
        print(name, len(model), [o["name"] for o in outs])


if __name__ == "__main__":
    main()
