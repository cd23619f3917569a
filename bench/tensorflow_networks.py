#!/usr/bin/env python3
"""Networks of Keras on Wick and on TensorFlow, in turns: the median of the ratios of the rounds.

    build/venv/bin/python bench/tensorflow_networks.py --tensorflow PYTHON [--form keras|frozen|saved] [--threads 1] [--rounds 9] [--seconds 0.1] [NAME ...]

PYTHON is the interpreter of a virtual environment with tensorflow-cpu. It writes the networks with random weights into a folder (--folder, kept),
as files of Keras, frozen graphs or SavedModels, and runs each as a tf.function of its model."""

import argparse
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import report
from tflite import Runner, in_turns

# Writes a network, and an input. Arguments: name, form, folder. Without a name it prints all names.
MAKER = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import keras
import numpy as np
import tensorflow as tf
from keras import layers as L

A = keras.applications
IMAGE = (96, 96, 3)


def lstm():
    x = keras.Input((32, 16))
    y = L.LSTM(64, return_sequences=True)(x)
    return keras.Model(x, L.Dense(10, activation="softmax")(L.LSTM(64)(y)))


def gru():
    x = keras.Input((32, 16))
    return keras.Model(x, L.Dense(10)(L.Bidirectional(L.GRU(48))(x)))


def transformer():
    x = keras.Input((64, 64))
    y = x
    for _ in range(2):
        y = L.LayerNormalization()(y + L.MultiHeadAttention(4, 16)(y, y))
        y = L.LayerNormalization()(y + L.Dense(64)(L.Dense(256, activation="gelu")(y)))
    return keras.Model(x, L.Dense(10)(L.GlobalAveragePooling1D()(y)))


def dense():
    return keras.Sequential([keras.Input((128,)), L.Dense(256, activation="relu"), L.Dense(256, activation="relu"), L.Dense(10, activation="softmax")])


def unet():
    x = keras.Input((64, 64, 3))
    a = L.Conv2D(16, 3, padding="same", activation="relu")(x)
    b = L.Conv2D(32, 3, padding="same", activation="relu")(L.MaxPooling2D()(a))
    c = L.Conv2D(64, 3, padding="same", activation="relu")(L.MaxPooling2D()(b))
    d = L.Concatenate()([L.Conv2DTranspose(32, 2, strides=2)(c), b])
    e = L.Concatenate()([L.UpSampling2D(interpolation="bilinear")(L.Conv2D(32, 3, padding="same", activation="relu")(d)), a])
    return keras.Model(x, L.Conv2D(4, 1, activation="softmax")(e))


def residual():
    x = keras.Input((32, 32, 3))
    y = L.Conv2D(16, 3, padding="same")(x)
    for filters, stride in ((16, 1), (32, 2), (64, 2)):
        z = L.ReLU()(L.BatchNormalization()(L.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(y)))
        z = L.BatchNormalization()(L.Conv2D(filters, 3, padding="same", use_bias=False)(z))
        y = L.ReLU()(L.Add()([z, L.Conv2D(filters, 1, strides=stride)(y)]))
    return keras.Model(x, L.Dense(10)(L.GlobalAveragePooling2D()(y)))


def application(build, **options):
    return lambda: build(weights=None, input_shape=IMAGE, classes=10, **options)


NETWORKS = {
    "mobilenet": application(A.MobileNet, alpha=0.5), "mobilenet_v2": application(A.MobileNetV2, alpha=0.5), "mobilenet_v3": application(A.MobileNetV3Small),
    "resnet50": application(A.ResNet50), "efficientnet": application(A.EfficientNetB0), "densenet": application(A.DenseNet121),
    "nasnet": application(A.NASNetMobile), "residual": residual, "unet": unet, "lstm": lstm, "gru": gru, "transformer": transformer, "dense": dense,
}
if len(sys.argv) < 2:
    print(*NETWORKS)
    sys.exit()
name, form, folder = sys.argv[1:]
keras.utils.set_random_seed(1)
model = NETWORKS[name]()
rng = np.random.default_rng(1)
for w in model.weights:
    if "variance" in w.name:
        w.assign(rng.uniform(0.5, 1.5, w.shape))
x = rng.standard_normal((1, *model.inputs[0].shape[1:])).astype("float32")
np.save(os.path.join(folder, "input.npy"), x)
model.save(os.path.join(folder, "model.keras"))
concrete = tf.function(lambda x: model(x, training=False)).get_concrete_function(tf.TensorSpec(x.shape, tf.float32, name="x"))
np.save(os.path.join(folder, "output.npy"), concrete(tf.constant(x)).numpy())
if form == "frozen":
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    graph = convert_variables_to_constants_v2(concrete, lower_control_flow=False).graph.as_graph_def()
    open(os.path.join(folder, "model.pb"), "wb").write(graph.SerializeToString())
if form == "saved":
    tf.saved_model.save(model, os.path.join(folder, "saved"), signatures=concrete)
"""

# The peer's process: answers "run N" with "ok".
PEER = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import keras
import numpy as np
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[2]))
tf.config.threading.set_inter_op_parallelism_threads(1)
model = keras.models.load_model(os.path.join(sys.argv[1], "model.keras"), compile=False)
f = tf.function(lambda x: model(x, training=False))
x = tf.constant(np.load(os.path.join(sys.argv[1], "input.npy")))
f(x)
print("ready", flush=True)
for line in sys.stdin:
    for _ in range(int(line.split()[1])):
        f(x)
    print("ok", flush=True)
"""
FILES = {"keras": "model.keras", "frozen": "model.pb", "saved": "saved"}


def measure(a, name, folder):
    """Returns milliseconds of Wick and of TensorFlow, and the median of the ratios."""
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / FILES[a.form]
    if not model.exists():
        subprocess.run([a.tensorflow, "-c", MAKER, name, a.form, folder], check=True, stderr=subprocess.DEVNULL)
    runners = [Runner([a.wick, "bench", "--pipe", model, "--inputs", folder / "input.npy", "--threads", a.threads]),
               Runner([a.tensorflow, "-c", PEER, folder, a.threads])]  # fmt: skip
    return in_turns(runners, a)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*")
    p.add_argument("--tensorflow", required=True)
    p.add_argument("--wick", default=report.ROOT / "build" / "wick")
    p.add_argument("--form", default="keras", choices=list(FILES))
    p.add_argument("--folder", type=pathlib.Path)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--seconds", type=float, default=0.1)
    a = p.parse_args()
    names = a.names or subprocess.run([a.tensorflow, "-c", MAKER], capture_output=True, text=True).stdout.split()
    if not names:
        sys.exit(f"{a.tensorflow} has no TensorFlow with Keras")
    rows, ratios = [], []
    with tempfile.TemporaryDirectory() as temporary:
        for name in names:
            wick, peer, ratio = measure(a, name, (a.folder or pathlib.Path(temporary)) / name)
            ratios.append(ratio)
            rows.append([name, f"{wick:.4f}", f"{peer:.4f}", f"{ratio:.2f}"])
            print(*rows[-1], flush=True)
    print(f"\n{report.machine()}, {a.threads} threads, {a.form}\n")
    print(report.table(["network", "Wick ms", "TensorFlow ms", "ratio"], rows))
    print(f"geometric mean {math.exp(statistics.mean(map(math.log, ratios))):.2f}, worst {max(ratios):.2f}")


if __name__ == "__main__":
    main()
