"""Writes TensorFlow Lite models of random operators: tensors, options, and the file."""

import flatbuffers
import ml_dtypes
import numpy as np
from ai_edge_litert import schema_py_generated as schema

INT4 = np.dtype(ml_dtypes.int4)
TYPES = {np.dtype(k): getattr(schema.TensorType, v) for k, v in
         {"f4": "FLOAT32", "f2": "FLOAT16", "f8": "FLOAT64", "i4": "INT32", "u4": "UINT32", "u1": "UINT8", "i8": "INT64", "u8": "UINT64", "?": "BOOL", "c8": "COMPLEX64",
          "i2": "INT16", "u2": "UINT16", "i1": "INT8", INT4: "INT4", "O": "STRING"}.items()}  # fmt: skip
QUANTIZED = "i1", "u1", "i2"


class Tensor:
    """An operand (data: its elements; fixed: a constant) or a result (without data)."""

    def __init__(self, shape, dtype="f4", quant=None, data=None, fixed=False, variable=False):
        self.shape, self.dtype, self.quant, self.data = list(shape), np.dtype(dtype), quant, data
        self.fixed, self.variable = fixed, variable
        self.blocks = None  # of a matrix: the scales of blocks of its rows, [rows, blocks] in f16


class Case:
    """One operator: its code, version, operands (None: absent), results and options."""

    def __init__(self, code, version, operands, results, options=None, custom=None, intermediates=()):
        self.code, self.version, self.operands, self.results = code, version, operands, results
        self.options, self.custom, self.intermediates = options, custom, list(intermediates)
        self.open_batch = False  # the first size of the inputs is open
        self.trim = lambda results: results  # what of the results is compared
        self.delegated = False  # only XNNPACK computes it
        self.undefined = None  # which elements of result 0 LiteRT leaves to chance
        self.exact = None  # result 0 before it is rounded, and how far from a tie it may be rounded otherwise
        self.largest = 0  # the largest float result before a fused activation limits it
        self.steps = None  # of a chain: (code, further operands, options) of each operator
        self.between = "c8"  # the type of their results but the last
        self.body = None  # the operator of a subgraph that combines two elements
        self.frames = 1  # runs, between which variables keep their values
        self.real = None  # of an operator on 8 bits whose table holds a real function: that function, in float64

    def feeds(self):
        return [t.data for t in self.operands if t is not None and not t.fixed and not t.variable]

    def runs(self):
        """The inputs of each run: those of the first in other orders."""
        return [[np.random.default_rng(k).permutation(x.ravel()).reshape(x.shape) if k else x for x in self.feeds()] for k in range(self.frames)]

    def about(self):
        def show(t):
            quant = [(len(q), q[0]) if len(q) > 1 else q[0] for q in t.quant[:2]] if t.quant else ""
            return f"{t.dtype}{t.shape}{quant}{' const' if t.fixed else ''}"

        fields = {k: v for k, v in vars(self.options[1]).items() if v} if self.options else ""
        return f"v{self.version} {[show(t) for t in self.operands[:20] if t]} -> {[show(t) for t in self.results]} {fields}"


# ---- random numbers ----


def numbers(rng, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype == INT4:
        return rng.integers(-7, 8, shape).astype(np.int8).astype(INT4)
    if dtype.kind == "f":
        return (rng.normal(size=shape) * rng.choice([0.3, 1, 4])).astype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.itemsize <= 2:
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max + 1, shape).astype(dtype)
    return rng.integers(0 if dtype.kind == "u" else -50, 50, shape).astype(dtype)


def weights(rng, shape, dtype):
    """Weights of 8 bits are symmetric: LiteRT's products of floats by them overflow at -128."""
    w = numbers(rng, shape, dtype)
    return np.maximum(w, w.dtype.type(-127)) if w.dtype == np.int8 else w


def f32(x):
    return float(np.float32(x))


def zero_point(rng, dtype):
    if np.dtype(dtype) == np.int16:
        return 0
    info = np.iinfo(dtype)
    return int(rng.choice([info.min, info.max, 0 if info.min else 128, rng.integers(info.min, info.max + 1), rng.integers(info.min, info.max + 1)]))


def scale(rng, dtype, zero=None, base=None):
    """Odd scales and zero points: mostly usual ones, some up to 2^10 apart, few tiny or huge."""
    kind = rng.random()
    around = base or 0.05
    s = around * 2.0 ** (rng.uniform(-2, 2) if kind < 0.6 else rng.uniform(-5, 5) if kind < 0.92 else rng.uniform(-10, 10) if kind < 0.98 else rng.uniform(-22, 18))
    if np.dtype(dtype) == np.int16 and base is None:
        s *= 2**-8
    if rng.random() < 0.08:
        s = 2.0 ** np.round(np.log2(s))
    return [f32(s)], [zero_point(rng, dtype) if zero is None else zero], 0


def shape_of(rng, least=1, most=4):
    return [int(n) for n in rng.integers(1, 7 if most <= 4 else 4, rng.integers(least, most + 1))]


def pick(rng, *types):
    return types[int(rng.integers(0, len(types)))]


def operand(rng, shape, dtype, zero=None, fixed=False, base=None):
    q = scale(rng, dtype, zero, base) if dtype in QUANTIZED else None
    return Tensor(shape, dtype, q, numbers(rng, shape, dtype), fixed)


def result(rng, dtype, zero=None, quant=None, base=None):
    return Tensor([], dtype, quant or (scale(rng, dtype, zero, base) if dtype in QUANTIZED else None))


def same(x):
    return Tensor([], x.dtype, x.quant)


def constant(values, dtype="i4"):
    a = np.array(values, dtype)
    return Tensor(a.shape, dtype, None, a, True)


def broadcast(rng, shape):
    """A shape that broadcasts with it."""
    b = [n if rng.random() < 0.7 else 1 for n in shape]
    return b[int(rng.integers(0, len(shape))) :] if rng.random() < 0.4 else b


def options(kind, **fields):
    o = getattr(schema, kind + "T")()
    for k, v in fields.items():
        assert hasattr(o, k), (kind, k)
        setattr(o, k, v)
    return kind, o


# ---- the file ----


def data_of(t):
    if t.dtype == object:  # how many strings, where they begin and the last ends, and their bytes
        texts = [bytes(s) for s in t.data.reshape(-1)]
        places = 4 * (len(texts) + 2) + np.cumsum([0, *map(len, texts)])
        return np.frombuffer(np.array([len(texts), *places], "<i4").tobytes() + b"".join(texts), np.uint8)
    if t.dtype != INT4:
        return np.frombuffer(np.ascontiguousarray(t.data).tobytes(), np.uint8)
    v = np.asarray(t.data).astype(np.int8).reshape(-1) & 15
    v = np.append(v, np.zeros(len(v) % 2, np.int8)).astype(np.uint8)
    return v[::2] | v[1::2] << 4


class Writer:
    """A model of independent operators, with the inputs and outputs of all of them in order."""

    def __init__(self):
        self.m, self.g, self.codes, self.made = schema.ModelT(), schema.SubGraphT(), {}, {}
        self.m.version, self.m.subgraphs, self.m.buffers, self.m.operatorCodes = 3, [self.g], [schema.BufferT()], []
        self.g.tensors, self.g.operators, self.g.inputs, self.g.outputs = [], [], [], []

    def add(self, case):
        x = case.operands[0] if case.steps else None
        for k, (code, more, options) in enumerate(case.steps or []):  # each reads the result of the one before
            last = k == len(case.steps) - 1
            one = Case(code, 1, [x, *more], case.results if last else [Tensor([], case.between)], options)
            self.operator(one, last)
            x = one.results[0]
        if not case.steps:
            self.operator(case)

    def code(self, case):
        key = case.code, case.version
        if key not in self.codes:
            c = schema.OperatorCodeT()
            c.builtinCode = schema.BuiltinOperator.CUSTOM if case.custom is not None else getattr(schema.BuiltinOperator, case.code)
            c.customCode = case.code if case.custom is not None else None
            c.deprecatedBuiltinCode, c.version = min(c.builtinCode, 127), case.version
            self.codes[key] = len(self.m.operatorCodes)
            self.m.operatorCodes.append(c)
        return self.codes[key]

    def tensor(self, t, open_batch=False):
        if id(t) in self.made:
            return self.made[id(t)]
        x, index = schema.TensorT(), len(self.g.tensors)
        x.shape, x.type, x.name, x.isVariable = t.shape, TYPES[t.dtype], f"t{index}", t.variable
        if t.quant:
            x.quantization = q = schema.QuantizationParametersT()
            q.scale, q.zeroPoint, q.quantizedDimension = [np.float32(s) for s in t.quant[0]], t.quant[1], t.quant[2]
        if t.data is not None and t.fixed:
            b = schema.BufferT()
            b.data = data_of(t)
            x.buffer = len(self.m.buffers)
            self.m.buffers.append(b)
        elif open_batch and t.shape:
            x.shapeSignature = [-1, *t.shape[1:]]
        self.g.tensors.append(x)
        if t.blocks is not None:
            x.quantization = q = schema.QuantizationParametersT()
            q.detailsType, q.details = schema.QuantizationDetails.BlockwiseQuantization, schema.BlockwiseQuantizationT()
            q.details.scales, q.details.zeroPoints = self.tensor(Tensor(t.blocks.shape, "f2", None, t.blocks, True)), -1
            q.details.blockSize = t.shape[1] // t.blocks.shape[1]
        return index

    def operator(self, case, last=True):
        op = schema.OperatorT()
        op.opcodeIndex, op.inputs, op.outputs = self.code(case), [], []
        for t in case.operands:
            if t is None:
                op.inputs.append(-1)
                continue
            feed = not t.fixed and not t.variable and id(t) not in self.made
            op.inputs.append(self.tensor(t, case.open_batch and feed and t is case.operands[0]))
            if feed:
                self.g.inputs.append(op.inputs[-1])
        op.outputs = [self.tensor(t) for t in case.results]
        if not last:
            self.made.update({id(t): k for t, k in zip(case.results, op.outputs)})
        op.intermediates = [self.tensor(t) for t in case.intermediates] or None
        self.g.outputs += op.outputs if last else []
        if case.custom is not None:
            op.customOptions = np.frombuffer(case.custom, np.uint8)
        if case.options and hasattr(schema.BuiltinOptions, case.options[0]):
            op.builtinOptionsType, op.builtinOptions = getattr(schema.BuiltinOptions, case.options[0]), case.options[1]
        elif case.options:
            op.builtinOptions2Type, op.builtinOptions2 = getattr(schema.BuiltinOptions2, case.options[0]), case.options[1]
        if case.body is not None:
            case.options[1].updateComputationSubgraphIndex = self.body(case.body, case.operands[0].dtype)
        self.g.operators.append(op)

    def body(self, code, dtype):
        """Adds a subgraph that combines two scalars by an operator; "": its result is the second one."""
        g = schema.SubGraphT()
        g.tensors, g.operators, g.inputs, g.outputs = [], [], [0, 1], [2 if code else 1]
        for k in range(3 if code else 2):
            x = schema.TensorT()
            x.shape, x.type, x.name = [], TYPES[dtype], f"s{k}"
            g.tensors.append(x)
        if code:
            op = schema.OperatorT()
            op.opcodeIndex, op.inputs, op.outputs = self.code(Case(code, 1, [], [], None)), [0, 1], [2]
            g.operators.append(op)
        self.m.subgraphs.append(g)
        return len(self.m.subgraphs) - 1

    def bytes(self):
        b = flatbuffers.Builder(1024)
        b.Finish(self.m.Pack(b), b"TFL3")
        return bytes(b.Output())


MAKERS = {}  # of random cases, by the names of their operators


def maker(*names):
    def add(fn):
        for name in names:
            MAKERS[name] = fn
        return fn

    return add


def open_batch(case):
    """Its first size may be open."""
    case.open_batch = None
    return case


def model(cases):
    w = Writer()
    for c in cases:
        w.add(c)
    return w.bytes()
