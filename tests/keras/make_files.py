"""Writes files/NAME.keras (or .h5) and files/NAME.npz, its inputs and what Keras computes from them, for test_keras.py.

    python make_files.py                  (needs keras with a backend)
    python make_files.py tf_functions     (needs tf_keras)

The models are cases of layers.py, and some that are refused.
"""
import pathlib
import sys

import functions as function_table
import layers
import ml_dtypes
import numpy as np
from layers import L, keras

FILES = pathlib.Path(__file__).parent / "files"
CHOSEN = [
    ("nested", 0, ".keras"), ("nested", 1, ".keras"), ("nested", 2, ".h5"), ("masked", 1, ".keras"), ("masked states", 0, ".keras"), ("RNN", 1, ".keras"), ("Bidirectional", 1, ".h5"),
    ("Bidirectional", 11, ".keras"), ("ConvLSTM2D", 1, ".keras"), ("MultiHeadAttention", 1, ".keras"), ("MultiHeadAttention", 3, ".h5"), ("EinsumDense", 1, ".keras"),
    ("SeparableConv2D", 1, ".keras"), ("Conv2DTranspose", 3, ".h5"), ("GroupNormalization", 0, ".keras"), ("UpSampling2D", 2, ".keras"), ("LSTM state", 1, ".keras"),
    ("mixed", 1, ".keras"), ("Resizing", 2, ".keras"), ("GroupQueryAttention", 2, ".h5"), ("quantized int8", 0, ".keras"), ("quantized int8", 1, ".keras"), ("quantized int8 weights", 2, ".keras"),
    ("quantized int4", 1, ".keras"), ("quantized int4 blocks", 2, ".keras"), ("quantized int4 blocks", 3, ".keras"), ("quantized int4 columns", 3, ".keras"),
    ("quantized int4 columns", 0, ".h5"),
]  # fmt: skip


def functions(x):
    ops = keras.ops
    a = ops.concatenate([x[:, 1:4], ops.abs(x[:, ::-2])], axis=1)
    b = ops.split(ops.einsum("abc,adc->abd", x, x) / 3.0, [2, 3], axis=2)
    return [ops.softmax(a, axis=-1), *b, ops.argmax(x, axis=-1), ops.where(ops.greater(x, 0), x * 2.0, -1.0), ops.reshape(x, (-1, 3))[..., None]]


def typed_functions(x):
    """Functions with a type in their configuration, where old files do not tell them from layers."""
    ops = keras.ops
    return [ops.ones_like(x) + ops.exp(x), ops.cumsum(x, axis=1), ops.one_hot(ops.argmax(x, axis=-1), 6), ops.prod(x, axis=-1), L.Add()([x, x]), L.Softmax()(x)]


def every_function(add):
    """One model with all cases that the function of functions.py adds, and an input for each shape that they take."""
    cases, inputs, outputs = {}, {}, []
    add(cases)
    for items in cases.values():
        for shapes, f in items:
            own = [inputs.setdefault((s, shapes[:i].count(s)), layers.build((s,), lambda x: x).inputs[0]) for i, s in enumerate(shapes)]
            outputs += keras.tree.flatten(f(*own))
    return [s for s, _ in inputs], keras.Model(list(inputs.values()), outputs)


def keep(name, suffix, shapes, model, rng):
    inputs = layers.data(shapes, rng)
    outputs = layers.flat(model(*layers.tensors(inputs), training=False))
    outputs = [y.astype("float32") if y.dtype.name == "bfloat16" else y for y in outputs]
    model.save(FILES / (name + suffix))
    np.savez_compressed(FILES / (name + ".npz"), **{f"input_{i}": x for i, x in enumerate(inputs)}, **{f"output_{i}": y for i, y in enumerate(outputs)})


def float8(rng):
    """A layer that computes with 8 bits of float, as the type rounds (TensorFlow rounds to 16 bits first)."""
    model = layers.build(((6,),), lambda x: L.Dense(4)(x))
    layers.random_weights(model, rng)
    model.quantize("float8")
    dense = model.layers[1]
    dense.inputs_scale.assign(0.37)
    dense.kernel_scale.assign(0.0021)
    x = rng.normal(size=(5, 6)).astype("float32")
    x[0] *= 200  # beyond the largest number

    def rounded(v, scale):
        scale = np.float32(scale)
        return np.clip(v / scale, -448, 448).astype(ml_dtypes.float8_e4m3fn).astype("float32") * scale

    y = rounded(x, 0.37) @ rounded(dense._kernel.numpy(), 0.0021) + dense.bias.numpy()
    model.save(FILES / "quantized_float8.keras")
    np.savez_compressed(FILES / "quantized_float8.npz", input_0=x, output_0=y)


def any_size(rng):
    """Images of any size, whose borders depend on it, as in keras.applications without their top; one result is of integers."""
    x = keras.Input((None, None, 3))
    y = L.MaxPooling2D(3, 2, padding="same")(L.Conv2D(4, 3, 2, padding="same", activation="relu")(x))
    y = L.GlobalAveragePooling2D()(L.SeparableConv2D(5, 5, 2, padding="same")(y))
    model = keras.Model(x, [y, keras.ops.argmax(y, -1)])
    layers.random_weights(model, rng)
    keep("any_size", ".keras", ((21, 18, 3),), model, rng)


def tf_functions(rng):
    """Functions of TensorFlow in a model of Keras 2: needs tf_keras, in a process of its own."""
    import tensorflow as tf
    import tf_keras

    x = tf_keras.Input((5, 6), batch_size=2)
    u = tf.clip_by_value(x, -0.9, 0.9)
    unary = [tf.math.acos(u), tf.math.asin(u), tf.math.acosh(u + 3.0), tf.math.asinh(x), tf.math.atan(x), tf.math.atanh(u), tf.math.cosh(u), tf.math.sinh(u), tf.math.tan(u), tf.nn.softsign(x), tf.nn.softplus(x)]
    other = [x // 0.7, tf.math.floordiv(x, 0.3), tf.abs(x) ** 1.5, tf.argmax(x, 1), tf.argmin(x, axis=-1, output_type=tf.int32), tf.argmax(x), *tf.split(x, 3, axis=-1), *tf.split(x, [1, 3, 1], 1)]
    model, v = tf_keras.Model(x, unary + other), rng.standard_normal((2, 5, 6)).astype("float32")
    model.save(FILES / "tf_functions.h5")
    np.savez_compressed(FILES / "tf_functions.npz", input_0=v, **{f"output_{k}": y for k, y in enumerate(model(v))})


@keras.saving.register_keras_serializable("mine")
class Own(L.Layer):
    def call(self, x):
        return x * 2


def main():
    FILES.mkdir(exist_ok=True)
    cases = layers.cases()
    items = [(name, f"{name}_{k}".replace(" ", "_").lower(), suffix, *cases[name][k]) for name, k, suffix in CHOSEN]
    items.append(("functions", "functions", ".keras", ((7, 6),), functions))
    items.append(("functions", "functions_old", ".h5", ((7, 6),), typed_functions))
    for case, name, suffix, shapes, f in items:
        keras.utils.clear_session(free_memory=False)
        rng = np.random.default_rng(5)
        model = layers.build(shapes, f)
        layers.random_weights(model, rng)
        layers.quantize(case, model)
        keep(name, suffix, shapes, model, rng)
    for name, add in (("every_function", function_table.function_cases), ("linear", function_table.linear), ("categories", layers.categories)):
        keras.utils.clear_session(free_memory=False)
        keep(name, ".keras", *every_function(add), np.random.default_rng(5))
    float8(np.random.default_rng(5))
    any_size(np.random.default_rng(5))
    x = keras.Input((4,), name="x")
    keras.Model(x, L.Dense(2)(L.Lambda(lambda v: v + 1, name="plus")(Own(name="twice")(x)))).save(FILES / "refused.keras")
    keras.Model(x, L.Dense(2)(x)).save_weights(FILES / "alone.weights.h5")


if __name__ == "__main__":
    tf_functions(np.random.default_rng(3)) if "tf_functions" in sys.argv else main()
