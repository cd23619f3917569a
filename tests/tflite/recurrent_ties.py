"""Tells whether two results of a recurrent layer without gates, with weights of 8 bits, differ by a tie of its rounding alone.

Such a layer quantizes its state before each product. An ulp of the tanh decides what becomes of a state that is half a step from two
numbers, and of its zero point where the least and the largest state are about as far from zero. The layer is computed here with all
states up to two ulps away: both results must be among what that gives.
"""

import numpy as np

F32 = np.float32
TRIES, ULPS = 300, 2
RELU, RELU6, TANH = 1, 3, 4


def away(x):
    """Rounded, ties away from zero."""
    return np.sign(x) * np.floor(np.abs(x) + x.dtype.type(0.5))


def quantized(x, asymmetric):
    """Returns the numbers of a row without their zero point, and its scale."""
    if not asymmetric:
        most = F32(np.abs(x).max(initial=0))
        return (np.clip(away(x * (F32(127) / most)), -127, 127), most / F32(127)) if most else (x, F32(1))
    low, high = np.float64(min(x.min(initial=0), 0)), np.float64(max(x.max(initial=0), 0))
    if low == high:
        return x, F32(1)
    scale = (high - low) / 255
    zero = -128 - low / scale if 128 - low / scale < 127 + high / scale else 127 - high / scale
    zero = F32(np.clip(away(zero), -128, 127))
    return np.clip(away(zero + x * (F32(1) / F32(scale))), -128, 127) - zero, F32(scale)


def product(x, w, asymmetric):
    rows = [quantized(row, asymmetric) for row in x]
    return np.stack([(q.astype("f8") @ w.data.T.astype("f8")).astype("f4") * (s * F32(w.quant[0][0])) for q, s in rows])


class Direction:
    """One direction: its operands, and its state between runs."""

    def __init__(self, case, first, aux):
        self.w, self.r, self.bias, state = case.operands[first : first + 4]
        self.aux, self.state = aux, np.zeros(state.shape, "f4")
        self.asymmetric, self.act = case.options[1].asymmetricQuantizeInputs, case.options[1].fusedActivationFunction

    def step(self, x, more, rng):
        v = self.bias.data + product(x, self.w, self.asymmetric)
        if self.aux is not None:
            v = v + product(more, self.aux, self.asymmetric)
        v = v + product(self.state, self.r, self.asymmetric)
        if self.act == RELU or self.act == RELU6:
            v = np.clip(v, 0, np.inf if self.act == RELU else 6).astype("f4")
        elif self.act == TANH:
            v = np.tanh(v.astype("f8")).astype("f4")
            v = np.clip(v + rng.integers(-ULPS, ULPS + 1, v.shape) * np.spacing(v), -1, 1).astype("f4")
        self.state = v
        return v

    def run(self, x, more, times, rng):
        for _ in range(times):
            y = [self.step(x[t], None if more is None else more[t], rng) for t in range(len(x))]
        return np.stack(y)


def computed(case, rng):
    """All outputs of all runs."""
    o, both = case.options[1], case.code.startswith("BIDIRECTIONAL")
    major, result = getattr(o, "timeMajor", False), []
    aux = case.operands[10:12] if both else [None]
    direction = [Direction(case, 1 + 4 * d, a) for d, a in enumerate(aux)]
    for feeds in case.runs():
        feeds = [x[None] if case.code == "RNN" else x if major else x.swapaxes(0, 1) for x in feeds]
        outputs = []
        for d, layer in enumerate(direction):
            x = feeds[1] if d and major and layer.aux is None and len(feeds) > 1 else feeds[0]
            turn = slice(None, None, -1 if d else 1)
            more = feeds[1][turn] if layer.aux is not None else None
            y = layer.run(x[turn], more, len(x) if both and major else 1, rng)[turn]
            outputs.append(y[0] if case.code == "RNN" else y if major else y.swapaxes(0, 1))
        result.append([np.concatenate(outputs, 2)] if both and o.mergeOutputs else outputs)
    return result


def applies(case):
    return case.code.endswith("RNN") and case.operands[1].dtype == np.int8


def explain(case, *results):
    """Is each of the results (the outputs of each run) what the layer gives with states a few ulps away?"""
    rng, left = np.random.default_rng(0), list(results)

    def same(a, b):
        return all(x.shape == y.shape and np.abs(x - y).max(initial=0) <= 1e-5 * max(1e-3, np.abs(y).max(initial=0)) for x, y in zip(a, b))

    for _ in range(TRIES):
        runs = computed(case, rng)
        left = [r for r in left if not all(same(a, b) for a, b in zip(r, runs))]
        if not left:
            return True
    return False
