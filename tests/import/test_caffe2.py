"""Networks of Caffe2: each operator beside NumPy or ONNX Runtime, and what is refused."""
import subprocess

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

import built  # noqa: E402
from caffe2_nets import net, operator, write  # noqa: E402
from oracle import like, resized  # noqa: E402

WICK = built.BUILD / "wick"
R = np.random.default_rng(0)
X = R.standard_normal((2, 3, 8, 6)).astype(np.float32)
M = R.standard_normal((4, 6)).astype(np.float32)
POSITIVE = np.abs(M) + np.float32(0.1)
W = R.standard_normal((4, 3, 3, 3)).astype(np.float32)
D = R.standard_normal((3, 2, 3, 3)).astype(np.float32)
B4, C3 = R.standard_normal(4).astype(np.float32), R.standard_normal((4, 3)).astype(np.float32)


def nhwc(x):
    return np.ascontiguousarray(np.moveaxis(x, 1, -1))


def norm(x, axis=1):
    axes = tuple(range(axis, x.ndim))
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


UNARY = {"Abs": np.abs, "Ceil": np.ceil, "Cos": np.cos, "Cosh": np.cosh, "Exp": np.exp, "Floor": np.floor, "Negative": np.negative, "Sign": np.sign, "Sin": np.sin,
         "Sinh": np.sinh, "Tan": np.tan, "Tanh": np.tanh, "Atan": np.arctan, "Sqr": np.square, "Cbrt": np.cbrt, "Relu": lambda x: np.maximum(x, 0),
         "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Softplus": lambda x: np.log1p(np.exp(x)), "Softsign": lambda x: x / (1 + np.abs(x)), "Swish": lambda x: x / (1 + np.exp(-x)),
         "Gelu": like("Gelu"), "Erf": like("Erf"), "Copy": lambda x: x, "StopGradient": lambda x: x, "IsNaN": np.isnan}
BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "EQ": np.equal, "NE": np.not_equal, "GT": np.greater, "GE": np.greater_equal,
          "LT": np.less, "LE": np.less_equal}
# (operator, inputs, weights, arguments, oracle of all of them)
CASES = [
    *[(k, [M], [], {}, f) for k, f in UNARY.items()],
    *[(k, [POSITIVE], [], {}, f) for k, f in {"Log": np.log, "Sqrt": np.sqrt, "Rsqrt": lambda x: x ** -0.5, "Reciprocal": lambda x: 1 / x}.items()],
    *[(k, [M, POSITIVE], [], {}, f) for k, f in BINARY.items()],
    ("Add", [X, R.standard_normal(3).astype(np.float32)], [], {"broadcast": 1, "axis": 1}, lambda x, y: x + y[:, None, None]),
    ("Mul", [X, X[0, 0]], [], {"broadcast": 1}, lambda x, y: x * y),
    ("Sum", [M, M, POSITIVE], [], {}, lambda *x: sum(x)), ("Max", [M, POSITIVE], [], {}, np.maximum), ("Mean", [M, POSITIVE], [], {}, lambda x, y: (x + y) / 2),
    ("Pow", [POSITIVE], [], {"exponent": 1.5}, lambda x: x ** 1.5), ("Scale", [M], [], {"scale": 0.25}, lambda x: x / 4),
    ("Clip", [M], [], {"min": -0.5, "max": 0.75}, lambda x: x.clip(-0.5, 0.75)), ("Elu", [M], [], {"alpha": 0.7}, like("Elu", alpha=0.7)),
    ("LeakyRelu", [M], [], {}, like("LeakyRelu", alpha=0.01)), ("Selu", [M], [], {}, like("Selu")), ("ThresholdedRelu", [M], [], {"alpha": 0.5}, lambda x: np.where(x > 0.5, x, 0)),
    ("HardSigmoid", [M], [], {}, lambda x: (0.2 * x + 0.5).clip(0, 1)), ("PRelu", [X], [C3[0]], {}, lambda x, s: np.where(x < 0, x * s[:, None, None], x)), ("Cast", [M], [], {"to": 10}, lambda x: x.astype(np.int64)),
    ("Cast", [M], [], {"to": "int32"}, lambda x: x.astype(np.int32)), ("ReplaceNaN", [np.where(M > 0, M, np.nan)], [], {"value": 3.0}, lambda x: np.where(np.isnan(x), 3, x)),
    ("Conv", [X], [W, B4], {"kernel": 3, "pad": 1, "stride": 2}, like("Conv", strides=[2, 2], pads=[1] * 4)), ("Conv", [X], [W], {"kernels": [3, 3], "strides": [1, 2], "pads": [1, 0, 1, 0], "dilations": [2, 1]},
     like("Conv", strides=[1, 2], pads=[1, 0, 1, 0], dilations=[2, 1])),
    ("Conv", [nhwc(X)], [nhwc(W), B4], {"kernel": 3, "order": "NHWC"}, lambda x, w, b: nhwc(like("Conv")(X, W, b))),
    ("Conv", [X], [W[:3, :1], B4[:3]], {"kernel_h": 3, "kernel_w": 3, "group": 3, "legacy_pad": 2}, like("Conv", auto_pad="SAME_UPPER", group=3)),
    ("ConvTranspose", [X], [D], {"kernel": 3, "stride": 2, "pad": 1, "adj": 1}, like("ConvTranspose", strides=[2, 2], pads=[1] * 4, output_padding=[1, 1])),
    ("MaxPool", [X], [], {"kernel": 3, "stride": 2, "pad": 1}, like("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)), ("AveragePool", [X], [], {"kernel": 2, "stride": 2}, like("AveragePool", kernel_shape=[2, 2], strides=[2, 2])),
    ("AveragePool", [X], [], {"kernel": 3, "stride": 2, "pad": 1}, like("AveragePool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)),
    ("MaxPool", [X], [], {"kernel": 3, "stride": 2, "legacy_pad": 3}, like("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)),
    ("AveragePool", [X], [], {"global_pooling": 1}, lambda x: x.mean((2, 3), keepdims=True)), ("MaxPool", [nhwc(X)], [], {"global_pooling": 1, "order": "NHWC"}, lambda x: x.max((1, 2), keepdims=True)),
    ("LRN", [X], [], {"size": 3, "alpha": 0.3, "beta": 0.6, "bias": 1.0}, like("LRN", size=3, alpha=0.3, beta=0.6, bias=1.0)),
    ("SpatialBN", [X], [C3[0], C3[1], C3[2], np.abs(C3[3]) + np.float32(0.5)], {"is_test": 1, "epsilon": 1e-3},
     like("BatchNormalization", epsilon=1e-3)),
    ("InstanceNorm", [X], [C3[0], C3[1]], {}, like("InstanceNormalization")),
    ("GroupNorm", [X], [C3[0], C3[1]], {"group": 3}, lambda x, s, b: norm(x.reshape(2, 3, 1, 8, 6), 2).reshape(x.shape) * s[:, None, None] + b[:, None, None]),
    ("LayerNorm", [X], [], {"axis": 2}, lambda x: norm(x, 2)), ("LayerNorm", [M], [], {}, norm),
    ("ResizeNearest", [X], [], {"height_scale": 2.0, "width_scale": 1.5}, resized([2, 3, 16, 9], "nearest", "asymmetric")),
    ("UpsampleBilinear", [X], [], {"height_scale": 2.0, "width_scale": 2.0}, resized([2, 3, 16, 12], "linear", "align_corners")),
    ("PadImage", [X], [], {"pad_t": 1, "pad_l": 2, "pad_b": 0, "pad_r": 1, "mode": "reflect"}, lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0), (2, 1)), "reflect")),
    ("ChannelShuffle", [X], [], {"group": 3}, lambda x: x.reshape(2, 3, 1, 8, 6).swapaxes(1, 2).reshape(x.shape)), ("NCHW2NHWC", [X], [], {}, nhwc), ("NHWC2NCHW", [X], [], {}, lambda x: np.moveaxis(x, -1, 1)),
    ("FC", [X.reshape(2, 144)], [R.standard_normal((5, 144)).astype(np.float32), R.standard_normal(5).astype(np.float32)], {}, lambda x, w, b: x @ w.T + b),
    ("FC", [X], [M, B4], {"axis": 3}, lambda x, w, b: x @ w.T + b), ("FCTransposed", [M], [C3.repeat(2, 0)[:6], C3[0]], {}, lambda x, w, b: x @ w + b),
    ("MatMul", [M, M], [], {"trans_b": 1}, lambda x, y: x @ y.T), ("BatchMatMul", [X, X], [], {"trans_b": 1}, lambda x, y: x @ y.swapaxes(-1, -2)),
    ("Softmax", [M], [], {}, like("Softmax", axis=1)), ("Softmax", [X], [], {"axis": 2}, lambda x: like("Softmax", axis=2)(x.reshape(2, 3, -1)).reshape(x.shape)),
    ("LogSoftmax", [M], [], {}, like("LogSoftmax", axis=1)), ("DotProduct", [M, M], [], {}, lambda x, y: (x * y).sum(1)),
    ("SquaredL2Distance", [M, POSITIVE], [], {}, lambda x, y: ((x - y) ** 2).sum(1) / 2), ("CosineSimilarity", [M, POSITIVE], [], {}, lambda x, y: (x * y).sum(1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)),
    ("Normalize", [M], [], {"axis": 0}, lambda x: x / np.linalg.norm(x, axis=0)), ("NormalizeL1", [M], [], {}, lambda x: x / np.abs(x).sum(1, keepdims=True)),
    ("Concat", [X, X], [], {}, lambda x, y: np.concatenate([x, y], 1)), ("Concat", [M, M], [], {"axis": 1, "add_axis": 1}, lambda x, y: np.stack([x, y], 1)),
    ("Split", [M], [], {"axis": 1, "split": [2, 4]}, lambda x: x[:, :2]), ("Slice", [X], [], {"starts": [0, 1, 2, 0], "ends": [-1, 3, -2, 5]}, lambda x: x[:, 1:3, 2:-1, :5]),
    ("Reshape", [X], [], {"shape": [0, -1, 4]}, lambda x: x.reshape(2, -1, 4)), ("Flatten", [X], [], {"axis": 2}, lambda x: x.reshape(6, 48)), ("FlattenToVec", [X], [], {}, np.ravel),
    ("ExpandDims", [M], [], {"dims": [0, 2]}, lambda x: x[None, :, None]), ("Squeeze", [X[:, :1]], [], {"dims": [1]}, lambda x: x[:, 0]),
    ("Transpose", [X], [], {"axes": [0, 3, 1, 2]}, lambda x: x.transpose(0, 3, 1, 2)), ("Transpose", [X], [], {}, lambda x: x.T), ("Tile", [M], [], {"tiles": 3, "axis": 1}, lambda x: np.tile(x, (1, 3))),
    ("Gather", [np.int32([[3, 0], [1, 1]])], [M], {}, lambda i, w: w[i]), ("Shape", [X], [], {}, lambda x: np.int64(x.shape)), ("Size", [X], [], {}, lambda x: np.int64(x.size)),
    ("ConstantFill", [M], [], {"value": 2.5}, lambda x: np.full_like(x, 2.5)),
    ("ReduceSum", [X], [], {"axes": [1, 3], "keepdims": 0}, lambda x: x.sum((1, 3))), ("ReduceMean", [X], [], {"axes": [1]}, lambda x: x.mean(1, keepdims=True)),
    ("ReduceMax", [X], [], {"axes": [2], "keepdims": 0}, lambda x: x.max(2)), ("ReduceL2", [M], [], {"axes": [1], "keepdims": 0}, lambda x: np.linalg.norm(x, axis=1)),
    ("ReduceBackMean", [X], [], {"num_reduce_dim": 2}, lambda x: x.mean((2, 3))), ("ReduceFrontSum", [X], [], {}, lambda x: x.sum(0)), ("RowwiseMax", [M], [], {}, lambda x: x.max(1)),
    ("ColwiseMax", [M], [], {}, lambda x: x.max(0)), ("SumElements", [M], [], {"average": 1}, np.mean), ("SumSqrElements", [M], [], {}, lambda x: (x * x).sum()), ("AveragedLoss", [M], [], {}, np.mean),
    ("ArgMax", [M], [], {"axis": 1, "keepdims": 0}, lambda x: x.argmax(1)), ("TopK", [M], [], {"k": 3}, lambda x: -np.sort(-x, 1)[:, :3]), ("Cumsum", [M], [], {"axis": 1}, lambda x: x.cumsum(1)),
    ("Where", [M, POSITIVE], [M > 0], {}, lambda x, y, c: np.where(c, y, x)),
]


def run(tmp_path, kind, arrays, weights, arguments, nout=1):
    names = [f"x{k}" for k in range(len(arrays))] + [f"w{k}" for k in range(len(weights))]
    order = names if kind not in ("Gather", "Where") else names[::-1]  # the table or the condition comes first
    inputs = [n for n in names if n[0] == "x"]
    made = operator(kind, order, [f"y{k}" for k in range(nout)], **arguments)
    path = write(tmp_path / "n", [made], inputs, ["y0"], {n: w for n, w in zip((n for n in names if n[0] == "w"), weights)})
    for k, a in enumerate(arrays):
        np.save(tmp_path / f"x{k}.npy", a)
    words = [WICK, "run", path, *(["--inputs", *(tmp_path / f"x{k}.npy" for k in range(len(arrays)))] if arrays else []), "--outputs", tmp_path / "out"]
    return subprocess.run([str(w) for w in words], capture_output=True, text=True)


@pytest.mark.parametrize("kind, arrays, weights, arguments, oracle", CASES, ids=[f"{k}-{n}" for n, (k, *_) in enumerate(CASES)])
def test_operator(tmp_path, kind, arrays, weights, arguments, oracle):
    done = run(tmp_path, kind, arrays, weights, arguments, 2 if kind == "Split" else 1)
    assert done.returncode == 0, done.stderr
    got, want = np.load(tmp_path / "out/output_0.npy"), np.asarray(oracle(*arrays, *weights))
    assert got.shape == want.shape and (got.dtype == want.dtype or want.dtype == np.float64)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


def test_bags(tmp_path):
    table, at, lengths = M, np.int32([3, 0, 1, 1, 2]), np.int32([2, 0, 3])
    rows = [table[[3, 0]].sum(0), np.zeros(6), table[[1, 1, 2]].sum(0)]
    for kind, want in ("SparseLengthsSum", rows), ("SparseLengthsMean", [rows[0] / 2, rows[1], rows[2] / 3]):
        path = write(tmp_path / kind, [operator(kind, ["t", "i", "n"], ["y"])], ["i", "n"], ["y"], {"t": table})
        np.save(tmp_path / "i.npy", at), np.save(tmp_path / "n.npy", lengths)
        subprocess.run([WICK, "run", path, "--inputs", tmp_path / "i.npy", tmp_path / "n.npy", "--outputs", tmp_path / "out"], check=True)
        np.testing.assert_allclose(np.load(tmp_path / "out/output_0.npy"), np.array(want, np.float32), rtol=1e-5, atol=1e-6)


def test_python_and_conversion(tmp_path):
    """A blob that is written again; the model through Python, and as ONNX."""
    import wick
    path = write(tmp_path / "n", [operator("FC", ["x", "w", "b"], ["y"]), operator("Relu", ["y"], ["y"])], ["x"], ["y"], {"w": C3.T.copy(), "b": C3[:3, 0].copy()})
    want = np.maximum(B4[None] @ C3 + C3[:3, 0], 0)
    np.save(tmp_path / "x.npy", B4[None])
    subprocess.run([WICK, "convert", path, "--inputs", tmp_path / "x.npy", "-o", tmp_path / "n.onnx"], check=True)
    got, = wick.InferenceSession(str(tmp_path / "n.onnx"), cache="").run(None, {"x": B4[None]})
    np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("operators, words", [
    ([operator("Relu", ["q"], ["y"])], ['predict_net.pb: node "y" (Relu): the blob "q" is not defined']),
    ([operator("Relux", ["x"], ["z"]), operator("Foo", ["x"], ["y"])], ['node "z" (Relux): the operator Relux is not supported', 'node "y" (Foo): the operator Foo is not supported']),
    ([operator("Conv", ["x"], ["y"], kernel=3)], ["it has 1 inputs, expected 2 to 3"]),
    ([operator("MaxPool", ["x"], ["y"], kernel=3)], ['node "y" (MaxPool): the image has rank 2, expected 3 to 5']),
    ([operator("Transpose", ["x"], ["y"], axes=[0, 0])], ["axes is no permutation"]),
    ([operator("XavierFill", [], ["w"], shape=[2]), operator("Relu", ["x"], ["y"])], ["fills weights at random"]),
    ([operator("Reshape", ["x"], ["y"], shape=[-1, -1])], ["two sizes of the new shape are -1"]),
    ([operator("SpatialBN", ["x"] * 5, ["y"])], ["it trains (is_test is 0), which is not supported"]),
])
def test_refused(tmp_path, operators, words):
    path = write(tmp_path / "n", operators, ["x"], ["y"], {})
    np.save(tmp_path / "x.npy", M)
    done = subprocess.run([WICK, "run", path, "--inputs", tmp_path / "x.npy"], capture_output=True, text=True)
    assert done.returncode and all(w in done.stderr for w in words), done.stderr


def test_no_output(tmp_path):
    """An operator whose result nobody names."""
    path = write(tmp_path / "n", [operator("Relu", ["x"], ["y"]), operator("GivenTensorFill", [], [], shape=[1], values=[0.5])], ["x"], ["y"], {})
    np.save(tmp_path / "x.npy", M)
    subprocess.run([WICK, "run", path, "--inputs", tmp_path / "x.npy"], check=True, capture_output=True)


def test_shapes_must_be_given(tmp_path):
    path = write(tmp_path / "n", [operator("Relu", ["x"], ["y"])], ["x"], ["y"], {})
    done = subprocess.run([WICK, "check", path], capture_output=True, text=True)
    assert "x: f32[...]" in done.stdout and "the shapes of inputs" in done.stdout


def test_damaged(tmp_path):
    """Every truncation, and bytes that changed: an error, or a network."""
    whole = net("n", [operator("Conv", ["x", "w"], ["y"], kernel=3, pads=[1, 1, 1, 1]), operator("Relu", ["y"], ["y"])], ["x", "w"], ["y"])
    files = []
    for k in range(len(whole)):
        changed = bytearray(whole)
        changed[k] ^= 1 << k % 8
        for n, b in ("cut", whole[:k]), ("bit", bytes(changed)):
            files.append(tmp_path / f"{n}{k}.pb")
            files[-1].write_bytes(b)
    done = subprocess.run([WICK, "check", *files], capture_output=True, text=True)
    assert done.returncode in (0, 1, 2), done.stderr


SHARED = built.ROOT.parent / "shared/frontends/caffe2"


@pytest.mark.skipif(not SHARED.exists(), reason="the samples of other formats are not there")
def test_samples(tmp_path):
    """Networks that Caffe2 wrote, beside the results that it computed."""
    import json
    for folder in sorted(SHARED.glob("*")):
        about = json.loads((folder / "model.json").read_text())
        for case in about["cases"]:
            at = folder / case["dir"]
            inputs = [at / f"input_{k}.npy" for k in range(len(about["inputs"]))]
            subprocess.run([WICK, "run", folder / about["model"], "--inputs", *inputs, "--outputs", tmp_path / "out"], check=True)
            for k in range(len(about["outputs"])):
                np.testing.assert_allclose(np.load(tmp_path / f"out/output_{k}.npy"), np.load(at / f"output_{k}.npy"), rtol=1e-4, atol=1e-5, err_msg=str(folder))
