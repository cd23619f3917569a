"""Makes models of single operators in operators/ with inputs and what LiteRT computes from them.

python make_operators.py: with ai-edge-litert and flatbuffers. Each NAME.npz has input_K and output_K.
"""

import pathlib

import numpy as np
import random_models
from tflite_build import MAKERS, model

FOLDER = pathlib.Path(__file__).parent / "operators"
NAMES = "AudioSpectrogram", "COMPLEX_ABS", "DILATE", "IMAG", "Mfcc", "REAL", "REDUCE_WINDOW", "STABLEHLO_PAD"


def main():
    FOLDER.mkdir(exist_ok=True)
    litert = random_models.LiteRT()
    for name in NAMES:
        case = MAKERS[name](np.random.default_rng(11), name)
        case.open_batch, case.frames = False, 1
        outputs = litert.run(case)
        assert not isinstance(outputs, str), (name, outputs)
        (FOLDER / f"{name}.tflite").write_bytes(model([case]))
        kept = {f"input_{k}": x for k, x in enumerate(case.feeds())}
        kept.update({f"output_{k}": y for k, y in enumerate(outputs[0])})
        np.savez_compressed(FOLDER / f"{name}.npz", **kept)
        print(name, case.about()[:200])


if __name__ == "__main__":
    main()
