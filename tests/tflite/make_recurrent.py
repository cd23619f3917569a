"""Makes the models of recurrent layers in files/ and what LiteRT computes with them, frame by frame, as make_streaming.py does.

python make_recurrent.py: with ai-edge-litert and flatbuffers.
"""

import pathlib

import numpy as np
import random_models
from tflite_build import MAKERS, model

FILES = pathlib.Path(__file__).parent / "files"
FRAMES = 6


def has(case, operand):
    return len(case.operands) > operand and case.operands[operand] is not None


# The operator, and what its random case must have.
LAYERS = {
    "rnn_hybrid": ("RNN", lambda c: c.operands[1].dtype == np.int8),
    "svdf_float": ("SVDF", lambda c: c.operands[0].dtype == np.float32 and c.operands[1].dtype == np.float32 and c.options[1].rank > 1),
    "svdf_int8": ("SVDF", lambda c: c.operands[0].dtype == np.int8 and c.options[1].rank > 1),
    "lstm_int8": ("UNIDIRECTIONAL_SEQUENCE_LSTM", lambda c: c.operands[0].dtype == np.int8 and has(c, 11) and has(c, 16) and has(c, 21) and c.operands[0].shape[0] > 1),
    "lstm_eight": ("LSTM", lambda c: len(c.intermediates) == 12 and has(c, 9) and c.operands[0].shape[0] > 1 and c.operands[18].shape[1] > 3),
    "bidirectional": ("BIDIRECTIONAL_SEQUENCE_LSTM", lambda c: has(c, 39) and has(c, 41) and c.operands[1] is None and c.options[1].timeMajor),
}


def find(operator, wanted):
    for seed in range(1000):
        case = MAKERS[operator](np.random.default_rng([7, seed]), operator)
        if wanted(case):
            case.frames, case.open_batch = FRAMES, False
            return case
    raise ValueError(operator)


def main():
    litert = random_models.LiteRT()
    for name, (operator, wanted) in LAYERS.items():
        case = find(operator, wanted)
        outputs = litert.run(case)
        assert not isinstance(outputs, str), outputs
        (FILES / f"{name}.tflite").write_bytes(model([case]))
        kept = {f"input_{k}": np.stack(x) for k, x in enumerate(zip(*case.runs()))}
        kept.update({f"output_{k}": np.stack(y) for k, y in enumerate(zip(*outputs))})
        np.savez_compressed(FILES / f"{name}.npz", **kept)
        print(name, case.about()[:200])


if __name__ == "__main__":
    main()
