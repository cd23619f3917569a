"""Random recurrent layers: RNN, SVDF and LSTM in floats, with weights of 8 bits, and in 8 bits."""

from tflite_build import Case, Tensor, f32, maker, numbers, operand, options, pick, weights, zero_point


def variable(shape, dtype="f4", quant=None):
    return Tensor(shape, dtype, quant, variable=True)


class Layer:
    """Constants of a layer: in floats, or with weights of 8 bits (hybrid)."""

    def __init__(self, rng):
        self.rng, self.hybrid = rng, rng.random() < 0.3
        self.asymmetric = bool(self.hybrid and rng.integers(0, 2))

    def flag(self, share=0.3):
        return bool(self.rng.random() < share)

    def weights(self, *shape):
        if not self.hybrid:
            return Tensor(shape, "f4", None, (self.rng.normal(size=shape) * 0.5).astype("f4"), True)
        return Tensor(shape, "i1", ([f32(self.rng.uniform(0.002, 0.01))], [0], 0), weights(self.rng, shape, "i1"), True)

    def bias(self, n):
        return Tensor([n], "f4", None, self.rng.normal(size=n).astype("f4"), True)

    def sequence(self, major, steps, batch, inputs):
        return operand(self.rng, [steps, batch, inputs] if major else [batch, steps, inputs], "f4")


# ---- without gates ----


@maker("RNN", "UNIDIRECTIONAL_SEQUENCE_RNN")
def rnn(rng, name):
    steps, batch, inputs, units = (int(v) for v in rng.integers(1, 6, 4))
    layer, major, act = Layer(rng), bool(rng.integers(0, 2)), int(rng.choice([0, 1, 3, 4]))
    constants = [layer.weights(units, inputs), layer.weights(units, units), layer.bias(units), variable([batch, units])]
    fields = dict(fusedActivationFunction=act, asymmetricQuantizeInputs=layer.asymmetric)
    if name == "RNN":
        case = Case(name, 3, [operand(rng, [batch, inputs], "f4"), *constants], [Tensor([], "f4")], options("RNNOptions", **fields))
    else:
        case = Case(name, 3, [layer.sequence(major, steps, batch, inputs), *constants], [Tensor([], "f4")], options("SequenceRNNOptions", timeMajor=major, **fields))
    case.frames = 3
    return case


@maker("BIDIRECTIONAL_SEQUENCE_RNN")
def bidirectional_rnn(rng, name):
    steps, batch, inputs = (int(v) for v in rng.integers(1, 6, 3))
    units = [int(v) for v in rng.integers(1, 6, 2)]
    layer, major, merged, aux, stacked = Layer(rng), *(bool(v) for v in rng.integers(0, 2, 4))
    if layer.hybrid and major:
        steps = min(steps, 2)  # LiteRT runs the sequence `steps` times, and roundings of 8 bits add up
    operands = [layer.sequence(major, steps, batch, inputs)]
    for n in units:
        operands += [layer.weights(n, inputs), layer.weights(n, n), layer.bias(n), variable([batch, n])]
    operands.append(layer.sequence(major, steps, batch, inputs) if aux or stacked else None)
    operands += [layer.weights(n, inputs) if aux else None for n in units]
    o = options("BidirectionalSequenceRNNOptions", timeMajor=major, fusedActivationFunction=int(rng.choice([0, 1, 4])), mergeOutputs=merged, asymmetricQuantizeInputs=layer.asymmetric)
    case = Case(name, 3, operands, [Tensor([], "f4") for _ in range(1 if merged else 2)], o)
    case.frames = 2
    return case


@maker("SVDF")
def svdf(rng, name):
    batch, inputs, units, rank, memory = (int(v) for v in rng.integers(1, 6, 5))
    filters, fixed, layer = units * rank, rng.random() < 0.4, Layer(rng)
    bias = rng.random() < 0.7
    if fixed:
        def q(s):
            return ([f32(s)], [0], 0)

        def random(shape, dtype, s):
            return Tensor(shape, dtype, q(s), numbers(rng, shape, dtype), True)

        x = Tensor([batch, inputs], "i1", ([f32(rng.uniform(0.01, 0.1))], [zero_point(rng, "i1")], 0), numbers(rng, [batch, inputs], "i1"))
        state = f32(rng.uniform(1e-3, 1e-2))
        operands = [x, random([filters, inputs], "i1", rng.uniform(0.005, 0.05)), Tensor([filters, memory], "i2", q(rng.uniform(1e-5, 1e-4)), numbers(rng, [filters, memory], "i2") // 64, True)]
        operands += [Tensor([units], "i4", None, rng.integers(-9000, 9000, units).astype("i4"), True) if bias else None, variable([batch, memory * filters], "i2", q(state))]
        y = Tensor([], "i1", ([f32(rng.uniform(1e-3, 1e-1))], [zero_point(rng, "i1")], 0))
    else:
        operands = [operand(rng, [batch, inputs], "f4"), layer.weights(filters, inputs), layer.weights(filters, memory), layer.bias(units) if bias else None, variable([batch, memory * filters])]
        y = Tensor([], "f4")
    o = options("SVDFOptions", rank=rank, fusedActivationFunction=1 if fixed else int(rng.choice([0, 1, 3, 4])), asymmetricQuantizeInputs=bool(layer.asymmetric and not fixed))
    case = Case(name, 3, operands, [y], o)
    case.frames = 4
    return case


# ---- LSTM ----


class Cell:
    """The constants of an LSTM of one direction."""

    def __init__(self, layer, inputs, norm):
        rng = self.rng = layer.rng
        self.layer, self.inputs, self.cells = layer, inputs, int(rng.integers(1, 6))
        self.coupled, self.peephole, self.projection = (layer.flag() for _ in range(3))
        self.norm = norm and layer.flag()
        self.units = int(rng.integers(1, 6)) if self.projection else self.cells
        self.gates = [not self.coupled, True, True, True]

    def operands(self):
        w, cells = self.layer.weights, self.cells
        peep = [w(cells) if self.peephole and on else None for on in (not self.coupled, True, True)] if self.layer.hybrid else \
            [self.layer.bias(cells) if self.peephole and on else None for on in (not self.coupled, True, True)]
        return [*self.each(cells, self.inputs), *self.each(cells, self.units), *peep,
                *(self.layer.bias(cells) if g else None for g in self.gates),
                w(self.units, cells) if self.projection else None,
                self.layer.bias(self.units) if self.projection and self.layer.flag(0.5) else None]  # fmt: skip

    def each(self, *shape):
        return [self.layer.weights(*shape) if g else None for g in self.gates]

    def states(self, batch):
        return [variable([batch, self.units]), variable([batch, self.cells])]


def lstm_options(rng, kind, layer, projection, **more):
    act = 4 if "Bidirectional" in kind or rng.random() < 0.7 else 1
    return options(kind, fusedActivationFunction=act, cellClip=f32(rng.choice([0, 1.5])), projClip=f32(rng.choice([0, 1.0])) if projection else 0.0,
                   asymmetricQuantizeInputs=layer.asymmetric, **more)  # fmt: skip


@maker("UNIDIRECTIONAL_SEQUENCE_LSTM", "LSTM")
def lstm(rng, name):
    if name == "LSTM" and rng.random() < 0.2:
        return lstm_basic_fixed(rng) if rng.random() < 0.5 else lstm_basic(rng)
    if name == "LSTM" and rng.random() < 0.2:
        return lstm_eight(rng)
    if rng.random() < 0.4:
        return lstm_fixed(rng, name)
    layer, major = Layer(rng), bool(rng.integers(0, 2))
    steps, batch, inputs = (int(v) for v in rng.integers(1, 6, 3))
    cell = Cell(layer, inputs, True)
    x = operand(rng, [batch, inputs], "f4") if name == "LSTM" else layer.sequence(major, steps, batch, inputs)
    operands = [x, *cell.operands(), *cell.states(batch), *(layer.bias(cell.cells) if cell.norm and g else None for g in cell.gates)]
    if name == "LSTM":
        o = lstm_options(rng, "LSTMOptions", layer, cell.projection)
    else:
        o = lstm_options(rng, "UnidirectionalSequenceLSTMOptions", layer, cell.projection, timeMajor=major)
    case = Case(name, 3 if name != "LSTM" else 4, operands, [Tensor([], "f4")], o)
    case.frames = 3
    return case


def lstm_basic(rng):
    """The kernel of five inputs, whose states are inputs and results."""
    batch, inputs, cells = (int(v) for v in rng.integers(1, 7, 3))
    operands = [operand(rng, [batch, inputs], "f4"), operand(rng, [batch, cells], "f4"), operand(rng, [4 * cells, inputs + cells], "f4", fixed=True),
                operand(rng, [4 * cells], "f4", fixed=True), operand(rng, [batch, cells], "f4")]  # fmt: skip
    return Case("LSTM", 2, operands, [Tensor([], "f4") for _ in range(4)], options("LSTMOptions", fusedActivationFunction=4, kernelType=1))


def lstm_basic_fixed(rng):
    """The same in 8 bits: activations from -1 to 127/128, a state of 16 bits from -16 to 16."""
    batch, inputs, cells = (int(v) for v in rng.integers(1, 7, 3))
    activation, state = ([2.0**-7], [128], 0), ([2.0**-11], [0], 0)
    scale = f32(rng.uniform(0.004, 0.03))
    w = Tensor([4 * cells, inputs + cells], "u1", ([scale], [zero_point(rng, "u1")], 0), numbers(rng, [4 * cells, inputs + cells], "u1"), True)
    bias = Tensor([4 * cells], "i4", ([f32(scale * 2.0**-7)], [0], 0), rng.integers(-9000, 9000, 4 * cells).astype("i4"), True)
    x, last = (Tensor([batch, n], "u1", activation, numbers(rng, [batch, n], "u1")) for n in (inputs, cells))
    cell = Tensor([batch, cells], "i2", state, numbers(rng, [batch, cells], "i2"))
    results = [Tensor([], "u1", activation), Tensor([], "i2", state), Tensor([], "u1", activation), Tensor([], "i2", ([2.0**-12], [0], 0))]
    return Case("LSTM", 2, [x, last, w, bias, cell], results, options("LSTMOptions", fusedActivationFunction=4, kernelType=1))


def lstm_fixed(rng, name, most=5, whole=False):
    """In 8 bits, with a cell of 16 bits; `whole`: with all gates, normalized, and a projection with a bias."""
    layer, major = Layer(rng), bool(rng.integers(0, 2))
    layer.hybrid = layer.asymmetric = False
    steps, batch, inputs = (int(v) for v in rng.integers(1, 6, 3))
    cell = Cell(layer, inputs, True)
    if whole:
        cell.coupled, cell.projection, cell.norm, cell.gates = False, True, True, [True] * 4
        cell.cells, cell.units = (int(n) for n in rng.integers(1, most + 1, 2))
    cells, units = cell.cells, min(cell.units, cell.cells)

    def q(low, high, zero=0):
        return ([f32(rng.uniform(low, high))], [zero], 0)

    def w(*shape, dtype="i1", low=0.005, high=0.02):
        return Tensor(shape, dtype, q(low, high), weights(rng, shape, "i1") if dtype == "i1" else rng.integers(-3000, 32768, shape).astype("i2"), True)

    def bias(n):
        return Tensor([n], "i4", None, rng.integers(-3000, 3000, n).astype("i4"), True)

    shape = [steps, batch, inputs] if major else [batch, steps, inputs]
    shape = [batch, inputs] if name == "LSTM" else shape
    x = Tensor(shape, "i1", q(0.005, 0.03, zero_point(rng, "i1")), numbers(rng, shape, "i1"))
    state = q(0.004, 0.01, zero_point(rng, "i1"))
    operands = [x, *(w(cells, inputs) if g else None for g in cell.gates), *(w(cells, units) if g else None for g in cell.gates)]
    operands += [w(cells, dtype="i2", low=1e-5, high=5e-5) if cell.peephole and on else None for on in (not cell.coupled, True, True)]
    operands += [*(bias(cells) if g else None for g in cell.gates), w(units, cells) if cell.projection else None, bias(units) if cell.projection and (whole or layer.flag(0.5)) else None]
    operands += [variable([batch, units], "i1", state), variable([batch, cells], "i2", ([2.0 ** -int(rng.integers(9, 16))], [0], 0))]
    operands += [w(cells, dtype="i2", low=2e-5, high=6e-5) if cell.norm and g else None for g in cell.gates]
    hidden = q(0.004, 0.01, zero_point(rng, "i1")) if cell.projection else state
    inner = [Tensor([], "i2", q(2e-4, 2e-3)) for _ in range(4)]
    fields = dict(fusedActivationFunction=4, cellClip=f32(rng.choice([0, 0, 1.5])), projClip=f32(rng.choice([0, 0.5])) if cell.projection else 0.0)
    o = options("LSTMOptions", **fields) if name == "LSTM" else options("UnidirectionalSequenceLSTMOptions", timeMajor=major, **fields)
    case = Case(name, 4 if name == "LSTM" else 3, operands, [Tensor([], "i1", state)], o, intermediates=[*inner, Tensor([], "i1", hidden)])
    case.frames = 3
    return case


def lstm_eight(rng):
    """In 8 bits, with a cell of 16 bits and products of 8 bits. LiteRT needs an input gate, normalization, and a projection with a bias."""
    case = lstm_fixed(rng, "LSTM", most=int(rng.choice([5, 40])), whole=True)
    case.operands[19] = variable(case.operands[19].shape, "i2", ([2.0**-15], [0], 0))
    case.options[1].cellClip = f32(rng.choice([0, 0.6, 1.5]))

    def scale(low, high):
        return ([f32(10.0 ** rng.uniform(low, high))], [zero_point(rng, "i1")], 0)

    case.intermediates = [Tensor([], "i1", scale(-5, -3) if k % 3 == 0 else scale(-2.3, -0.7)) for k in range(12)]
    return case


@maker("BIDIRECTIONAL_SEQUENCE_LSTM")
def bidirectional_lstm(rng, name):
    layer, major, merged, aux, stacked = Layer(rng), *(bool(v) for v in rng.integers(0, 2, 4))
    steps, batch, inputs = (int(v) for v in rng.integers(1, 6, 3))
    if merged and not major:
        batch = 1  # LiteRT strides through the states as if they had the units of both directions
    cells = [Cell(layer, inputs, False)] * 2  # of equal sizes
    operands = [layer.sequence(major, steps, batch, inputs), *cells[0].operands(), *cells[1].operands(), *cells[0].states(batch), *cells[1].states(batch)]
    operands.append(layer.sequence(major, steps, batch, inputs) if aux or stacked else None)
    for c in cells:
        operands += c.each(c.cells, inputs) if aux else [None] * 4
    o = lstm_options(rng, "BidirectionalSequenceLSTMOptions", layer, cells[0].projection, timeMajor=major, mergeOutputs=merged)
    case = Case(name, 3, operands, [Tensor([], "f4") for _ in range(1 if merged else 2)], o)
    case.frames = 2
    return case
