"""Ties of quantized states are told from other differences."""

import types

import numpy as np
import pytest
import recurrent_ties


def layer(rng, name, asymmetric):
    """A layer as random_models.py makes them, which needs LiteRT's schema."""
    steps, batch, inputs, units = (int(v) for v in rng.integers(2, 6, 4))

    def tensor(data, quant=None):
        return types.SimpleNamespace(data=data, shape=data.shape, dtype=data.dtype, quant=quant)

    def weights(*shape):
        return tensor(rng.integers(-127, 128, shape).astype("i1"), ([0.005], [0], 0))

    def direction():
        return [weights(units, inputs), weights(units, units), tensor(rng.normal(size=units).astype("f4")), tensor(np.zeros((batch, units), "f4"))]

    x = rng.normal(size=[batch, inputs] if name == "RNN" else [batch, steps, inputs]).astype("f4")
    both = name.startswith("BI")
    operands = [tensor(x), *direction(), *(direction() if both else []), *([None] * 3 if both else [])]
    o = types.SimpleNamespace(fusedActivationFunction=recurrent_ties.TANH, asymmetricQuantizeInputs=asymmetric, timeMajor=False, mergeOutputs=False)
    return types.SimpleNamespace(code=name, operands=operands, options=(None, o), runs=lambda: [[x], [x[::-1]]])


@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize("name", ["RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN"])
def test_explain(name, asymmetric):
    case = layer(np.random.default_rng(1), name, asymmetric)
    assert recurrent_ties.applies(case)
    right = recurrent_ties.computed(case, np.random.default_rng(7))
    assert recurrent_ties.explain(case, right)
    wrong = [[y.copy() for y in run] for run in right]
    wrong[-1][-1].flat[-1] += 1e-3
    assert not recurrent_ties.explain(case, right, wrong)


def test_zero_point_tie():
    """Between -1 and 1 the zero point is -0.5, which an ulp makes 0: the state is then quantized otherwise."""
    state = np.array([-1, 0.76, 1], "f4")
    low, _ = recurrent_ties.quantized(state, True)
    high, _ = recurrent_ties.quantized(np.minimum(state, np.nextafter(np.float32(1), np.float32(0))), True)
    assert np.abs(low - high).max() == 1
