"""AttnLSTM of com.microsoft in random configurations, beside ONNX Runtime."""

import random

import pytest
from test_microsoft import COUNT, compare, np

ACTIVATIONS = ["Sigmoid", "Tanh", "Relu", "Softsign", "HardSigmoid", "LeakyRelu"]


@pytest.mark.parametrize("seed", range(4 * COUNT))
def test_attention_lstm(seed):
    r, g = random.Random(seed), np.random.default_rng(seed)
    direction = ["forward", "reverse", "bidirectional"][seed % 3]
    n = 2 if direction == "bidirectional" else 1
    steps, batch, inputs, units, memory, depth, attention = (r.randint(1, 5) for _ in range(7))
    layer = r.choice([0, 3])
    width = inputs + (layer or depth)

    def normal(*shape):
        return g.normal(size=shape).astype("f4")

    def maybe(x):
        return x if r.random() < 0.5 else None

    operands = [normal(steps, batch, inputs), normal(n, 4 * units, width), normal(n, 4 * units, units), maybe(normal(n, 8 * units)),
                maybe(g.integers(1, steps + 1, batch).astype("i4")), maybe(normal(n, batch, units)), maybe(normal(n, batch, units)), maybe(normal(n, 3 * units)),
                normal(n, units, attention), normal(n, depth, attention), normal(n, attention), normal(batch, memory, depth),
                maybe(g.integers(1, memory + 1, batch).astype("i4")), normal(n, depth + units, layer) if layer else None]  # fmt: skip
    attributes = {}
    if r.random() < 0.5:
        attributes["activations"] = [r.choice(ACTIVATIONS) for _ in range(3 * n)]
    if r.random() < 0.3:
        attributes["clip"] = 1.5
    if r.random() < 0.3:
        attributes["input_forget"] = 1
    compare("AttnLSTM", operands, constants=[1, 2, 3, 7, 8, 9, 10, 13], outputs=3, direction=direction, hidden_size=units, **attributes)
