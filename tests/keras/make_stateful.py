#!/usr/bin/env python3
"""Makes the models of tests/keras/stateful and what Keras computes for four frames of each, one after the other.

    make_stateful.py FOLDER     needs keras 3 with tensorflow
"""

import pathlib
import sys

import keras
import numpy as np
from keras import layers as L

MODELS = {
    "lstm": ((2, 3, 4), lambda x: L.LSTM(5, stateful=True)(x)),
    "gru_twice": ((1, 2, 3), lambda x: L.GRU(3, stateful=True)(L.GRU(4, stateful=True, return_sequences=True)(x))),
    "simple_relu": ((2, 3, 2), lambda x: L.SimpleRNN(3, stateful=True, activation="relu", return_sequences=True)(x)),
    "both": ((2, 3, 2), lambda x: L.Bidirectional(L.LSTM(3, stateful=True, return_sequences=True))(x)),
    "masked": ((2, 4, 2), lambda x: L.LSTM(3, stateful=True)(L.Masking(0.0)(x))),
    "stacked": ((2, 3, 2), lambda x: L.RNN([L.LSTMCell(3), L.GRUCell(2)], stateful=True)(x)),
    "convolutional": ((1, 2, 5, 5, 2), lambda x: L.ConvLSTM2D(2, 3, stateful=True, padding="same")(x)),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, (shape, layer) in MODELS.items():
        x = keras.Input(batch_shape=shape)
        model = keras.Model(x, layer(x))
        rng = np.random.default_rng(1)
        model.set_weights([rng.normal(0, 0.5, w.shape).astype("float32") for w in model.get_weights()])
        model.save(folder / f"{name}.keras")
        if name == "lstm":
            model.save(folder / f"{name}.h5")
        frames = np.random.default_rng(2).normal(0, 1, (4, *shape)).astype("float32")
        if name == "masked":
            frames[:, 0, 2:] = 0
        np.savez_compressed(folder / f"{name}.npz", x=frames, y=np.stack([np.asarray(model(f)) for f in frames]))


main()
