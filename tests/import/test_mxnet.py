"""Networks of MXNet: each operator beside NumPy or ONNX Runtime, and what is refused."""
import json
import pathlib
import struct
import subprocess

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

import built  # noqa: E402
import mxnet_cases  # noqa: E402
from oracle import like, resized  # noqa: E402

WICK = built.BUILD / "wick"
R = np.random.default_rng(0)
X = R.standard_normal((2, 4, 8, 6)).astype(np.float32)
M = R.standard_normal((4, 6)).astype(np.float32)
P = np.abs(M) + np.float32(0.1)
W, D = R.standard_normal((6, 4, 3, 3)).astype(np.float32), R.standard_normal((4, 3, 3, 3)).astype(np.float32)
C = R.standard_normal((5, 4)).astype(np.float32)
B6 = R.standard_normal(6).astype(np.float32)


def nhwc(x):
    return np.ascontiguousarray(np.moveaxis(x, 1, -1))


def params(arrays):
    kinds = {"f4": 0, "f8": 1, "f2": 2, "u1": 3, "i4": 4, "i1": 5, "i8": 6}
    out = struct.pack("<QQQ", 0x112, 0, len(arrays))
    for a in arrays.values():
        out += struct.pack("<IiI", 0xF993FAC9, 0, a.ndim) + struct.pack(f"<{a.ndim}q", *a.shape) + struct.pack("<iii", 1, 0, kinds[a.dtype.str[1:]]) + a.tobytes()
    out += struct.pack("<Q", len(arrays))
    for name in arrays:
        out += struct.pack("<Q", len(name) + 4) + b"arg:" + name.encode()
    return out


def symbol(nodes, heads):
    """nodes: (operator, name, attributes, inputs by number)"""
    made = [{"op": op, "name": name, "attrs": {k: str(v) for k, v in attrs.items()}, "inputs": [[i, 0, 0] for i in inputs]} for op, name, attrs, inputs in nodes]
    variables = [k for k, n in enumerate(nodes) if n[0] == "null"]
    return json.dumps({"nodes": made, "arg_nodes": variables, "heads": [[h, k, 0] for h, k in heads], "attrs": {"mxnet_version": ["int", 10901]}})


def run(folder, kind, arrays, weights, attributes, results=1):
    folder.mkdir(exist_ok=True)
    kinds = {"f4": {}, "u1": {"__dtype__": 3}, "i4": {"__dtype__": 4}, "i1": {"__dtype__": 5}}
    nodes = [("null", f"x{k}", kinds.get(a.dtype.str[1:], {}), []) for k, a in enumerate(arrays)] + [("null", f"w{k}", {}, []) for k in range(len(weights))]
    nodes.append((kind, "y", attributes, range(len(nodes))))
    (folder / "n-symbol.json").write_text(symbol(nodes, [(len(nodes) - 1, k) for k in range(results)]))
    (folder / "n-0003.params").write_bytes(params({f"w{k}": w for k, w in enumerate(weights)}))
    for k, a in enumerate(arrays):
        np.save(folder / f"x{k}.npy", a)
    inputs = [folder / f"x{k}.npy" for k in range(len(arrays))]
    return subprocess.run([WICK, "run", folder / "n-symbol.json", *(["--inputs", *inputs] if inputs else []), "--outputs", folder / "out"], capture_output=True, text=True)


def norm(x, axis):
    axes = tuple(range(axis, x.ndim))
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def priors(rows, columns, kinds):
    out = []
    for r in range(rows):
        for c in range(columns):
            for size, ratio in kinds:
                x, y, w, h = (c + 0.5) / columns, (r + 0.5) / rows, size * rows / columns * ratio ** 0.5 / 2, size / ratio ** 0.5 / 2
                out.append([x - w, y - h, x + w, y + h])
    return np.float32([out]).clip(0, 1)


def heads(x, n, part):
    steps, batch, size = x.shape
    return x.reshape(steps, batch, n, 3, size // n // 3)[:, :, :, part].transpose(1, 2, 0, 3).reshape(batch * n, steps, -1)


def scores(x, n):
    q, k = heads(x, n, 0), heads(x, n, 1)
    return q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])


UNARY = {"abs": np.abs, "ceil": np.ceil, "cos": np.cos, "exp": np.exp, "expm1": np.expm1, "floor": np.floor, "negative": np.negative, "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
         "sign": np.sign, "sin": np.sin, "sinh": np.sinh, "softsign": lambda x: x / (1 + abs(x)), "tan": np.tan, "tanh": np.tanh, "arctan": np.arctan, "relu": lambda x: x.clip(0), "fix": np.trunc,
         "square": np.square, "cbrt": np.cbrt, "degrees": np.degrees, "radians": np.radians, "rint": np.rint, "logical_not": lambda x: (x == 0).astype(x.dtype), "erf": like("Erf"), "BlockGrad": lambda x: x}
BINARY = {"elemwise_add": np.add, "broadcast_sub": np.subtract, "_mul": np.multiply, "broadcast_div": np.divide, "broadcast_power": lambda x, y: np.abs(x) ** y, "broadcast_maximum": np.maximum,
          "broadcast_greater": lambda x, y: (x > y).astype(x.dtype), "broadcast_logical_and": lambda x, y: np.logical_and(x, y).astype(x.dtype), "broadcast_hypot": np.hypot}
ROW = np.float32([[2, 0], [9, -1]])
CASES = [
    *[(k, [M], [], {}, f) for k, f in UNARY.items()], *[(k, [P], [], {}, f) for k, f in {"log": np.log, "sqrt": np.sqrt, "rsqrt": lambda x: x ** -0.5, "log10": np.log10, "reciprocal": lambda x: 1 / x}.items()],
    *[(k, [M if k != "broadcast_power" else P, P], [], {}, f) for k, f in BINARY.items()], ("_rminus_scalar", [M], [], {"scalar": 2.0}, lambda x: 2 - x), ("_rdiv_scalar", [P], [], {"scalar": 2.0}, lambda x: 2 / x),
    ("_power_scalar", [P], [], {"scalar": 1.5}, lambda x: x ** 1.5), ("_lesser_scalar", [M], [], {"scalar": 0.2}, lambda x: (x < 0.2).astype(x.dtype)), ("add_n", [M, M, P], [], {"num_args": 3}, lambda *x: sum(x)),
    ("broadcast_mul", [X, X[:, :, :1, :1]], [], {}, np.multiply), ("smooth_l1", [M], [], {"scalar": 2.0}, lambda x: np.where(abs(x) < 0.25, 2 * x * x, abs(x) - 0.125)), ("_contrib_div_sqrt_dim", [M], [], {}, lambda x: x / 6 ** 0.5),
    *[("Activation", [M], [], {"act_type": k}, f) for k, f in {"relu": lambda x: x.clip(0), "softrelu": lambda x: np.log1p(np.exp(x)), "softsign": lambda x: x / (1 + abs(x))}.items()],
    ("LeakyReLU", [M], [], {"act_type": "leaky", "slope": 0.1}, like("LeakyRelu", alpha=0.1)), ("LeakyReLU", [M], [], {"act_type": "elu"}, like("Elu", alpha=0.25)), ("LeakyReLU", [M], [], {"act_type": "gelu"}, like("Gelu")),
    ("LeakyReLU", [X], [C[0]], {"act_type": "prelu"}, lambda x, s: np.where(x < 0, x * s[:, None, None], x)), ("clip", [M], [], {"a_min": -0.5, "a_max": 0.5}, lambda x: x.clip(-0.5, 0.5)),
    ("Cast", [M], [], {"dtype": "int32"}, lambda x: x.astype(np.int32)), ("where", [(M > 0).astype(np.float32), M, P], [], {}, np.where), ("hard_sigmoid", [M], [], {}, lambda x: (0.2 * x + 0.5).clip(0, 1)),
    ("zeros_like", [M], [], {}, np.zeros_like), ("_arange", [], [], {"start": 1.0, "stop": 7.0, "step": 1.5}, lambda: np.arange(1, 7, 1.5, np.float32)), ("_full", [], [], {"shape": "(2, 3)", "value": 2.5}, lambda: np.full((2, 3), 2.5, np.float32)),
    ("Convolution", [X], [W, B6], {"kernel": "(3, 3)", "stride": "(2, 1)", "pad": "(1, 0)", "num_filter": 6}, like("Conv", strides=[2, 1], pads=[1, 0, 1, 0])),
    ("Convolution", [X], [W[:4, :1]], {"kernel": "(3, 3)", "num_group": 4, "dilate": "(2, 2)", "no_bias": "True"}, like("Conv", group=4, dilations=[2, 2])),
    ("Convolution", [nhwc(X)], [nhwc(W), B6], {"kernel": "(3, 3)", "layout": "NHWC"}, lambda x, w, b: nhwc(like("Conv")(X, W, b))),
    ("Deconvolution", [X], [D], {"kernel": "(3, 3)", "stride": "(2, 2)", "pad": "(1, 1)", "adj": "(1, 1)"}, like("ConvTranspose", strides=[2, 2], pads=[1] * 4, output_padding=[1, 1])),
    ("Pooling", [X], [], {"kernel": "(3, 3)", "stride": "(2, 2)", "pad": "(1, 1)"}, like("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)),
    ("Pooling", [X], [], {"kernel": "(2, 2)", "pool_type": "avg", "stride": "(2, 2)", "pad": "(1, 1)"}, like("AveragePool", kernel_shape=[2, 2], strides=[2, 2], pads=[1] * 4, count_include_pad=1)),
    ("Pooling", [X], [], {"kernel": "(3, 3)", "stride": "(2, 2)", "pooling_convention": "full"}, like("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)),
    ("Pooling", [X], [], {"kernel": "(2, 2)", "pool_type": "sum"}, lambda x: 4 * like("AveragePool", kernel_shape=[2, 2])(x)), ("Pooling", [X], [], {"global_pool": "True", "pool_type": "avg", "kernel": "(1, 1)"}, lambda x: x.mean((2, 3), keepdims=True)),
    ("BatchNorm", [X], [C[0], C[1], C[2], abs(C[3]) + np.float32(1)], {"fix_gamma": "False"}, like("BatchNormalization", epsilon=1e-3)),
    ("BatchNorm", [X], [C[0], C[1], C[2], abs(C[3]) + np.float32(1)], {}, lambda x, s, b, m, v: like("BatchNormalization", epsilon=1e-3)(x, np.ones_like(s), b, m, v)),
    ("LayerNorm", [M], [B6, B6], {}, like("LayerNormalization")), ("InstanceNorm", [X], [C[0], C[1]], {}, like("InstanceNormalization", epsilon=1e-3)),
    ("L2Normalization", [X], [], {"mode": "channel"}, lambda x: x / np.sqrt((x * x).sum(1, keepdims=True) + 1e-10)), ("L2Normalization", [X], [], {"mode": "spatial"}, lambda x: x / np.sqrt((x * x).sum((2, 3), keepdims=True) + 1e-10)),
    ("LRN", [X], [], {"nsize": 3}, like("LRN", size=3, alpha=1e-4, beta=0.75, bias=2.0)), ("Pad", [X], [], {"mode": "edge", "pad_width": "(0, 0, 0, 0, 1, 2, 0, 1)"}, lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2), (0, 1)), "edge")),
    ("UpSampling", [X], [], {"scale": 2, "sample_type": "nearest", "num_args": 1}, lambda x: x.repeat(2, 2).repeat(2, 3)), ("_contrib_BilinearResize2D", [X], [], {"height": 12, "width": 9}, resized([2, 4, 12, 9], "linear", "align_corners")),
    ("_contrib_AdaptiveAvgPooling2D", [X], [], {"output_size": "(2, 3)"}, lambda x: x.reshape(2, 4, 2, 4, 3, 2).mean((3, 5))), ("depth_to_space", [X], [], {"block_size": 2}, like("DepthToSpace", blocksize=2)), ("space_to_depth", [X], [], {"block_size": 2}, like("SpaceToDepth", blocksize=2)),
    ("FullyConnected", [X[:, :1, :2, :2]], [C, C[:, 0].copy()], {"num_hidden": 5}, lambda x, w, b: x.reshape(2, 4) @ w.T + b), ("FullyConnected", [X], [M], {"num_hidden": 4, "flatten": "False", "no_bias": "True"}, lambda x, w: x @ w.T),
    ("dot", [M, P], [], {"transpose_b": "True"}, lambda x, y: x @ y.T), ("batch_dot", [X[0], X[1]], [], {"transpose_a": "True"}, lambda x, y: x.swapaxes(1, 2) @ y),
    ("softmax", [M], [], {"axis": 0, "temperature": 2.0}, lambda x: like("Softmax", axis=0)(x / np.float32(2))), ("log_softmax", [M], [], {}, like("LogSoftmax", axis=-1)), ("softmin", [M], [], {}, lambda x: like("Softmax", axis=-1)(-x)),
    ("SoftmaxActivation", [X], [], {"mode": "channel"}, like("Softmax", axis=1)), ("SoftmaxOutput", [M], [], {}, like("Softmax", axis=-1)),
    ("Flatten", [X], [], {}, lambda x: x.reshape(2, -1)), ("Reshape", [X], [], {"shape": "(-3, 0, -4, 2, -1)"}, lambda x: x.reshape(8, 8, 2, 3)), ("Reshape", [X], [], {"shape": "(-1, 0, 0)", "reverse": "True"}, lambda x: x.reshape(8, 8, 6)), ("Reshape", [X], [], {"shape": "(-2, -3, 0)", "reverse": "True"}, lambda x: x.reshape(2, 32, 6)),
    ("Reshape", [X], [], {"shape": "(0, -1, -2)"}, lambda x: x.reshape(2, 4, 8, 6)),
    ("transpose", [X], [], {"axes": "(0, 2, 3, 1)"}, nhwc), ("transpose", [M], [], {}, np.transpose), ("SwapAxis", [X], [], {"dim1": 1, "dim2": 3}, lambda x: x.swapaxes(1, 3)), ("expand_dims", [M], [], {"axis": -1}, lambda x: x[..., None]),
    ("squeeze", [X[:1]], [], {"axis": "(0,)"}, lambda x: x[0]), ("Concat", [X, X], [], {"dim": 1, "num_args": 2}, lambda x, y: np.concatenate([x, y], 1)), ("stack", [M, P], [], {"axis": 1, "num_args": 2}, lambda x, y: np.stack([x, y], 1)),
    ("SliceChannel", [X], [], {"num_outputs": 2, "axis": 1}, lambda x: x[:, :2]), ("slice", [X], [], {"begin": "(0, 1, None)", "end": "(2, None, -1)", "step": "(1, 2, 3)"}, lambda x: x[0:2, 1::2, :-1:3]),
    ("slice", [M], [], {"begin": "(3,)", "end": "(None,)", "step": "(-2,)"}, lambda x: x[3::-2]), ("slice_axis", [X], [], {"axis": -1, "begin": -4, "end": "None"}, lambda x: x[..., -4:]), ("slice_like", [X, X[:1, :2]], [], {"axes": "(1,)"}, lambda x, y: x[:, :2]),
    ("tile", [M], [], {"reps": "(2, 1, 3)"}, lambda x: np.tile(x, (2, 1, 3))), ("repeat", [M], [], {"repeats": 2, "axis": 1}, lambda x: x.repeat(2, 1)), ("repeat", [M], [], {"repeats": 3}, lambda x: x.repeat(3)),
    ("broadcast_to", [M[:1]], [], {"shape": "(3, 0)"}, lambda x: np.broadcast_to(x, (3, 6))), ("broadcast_axis", [M[:1]], [], {"axis": 0, "size": 4}, lambda x: np.broadcast_to(x, (4, 6))), ("reverse", [M], [], {"axis": 1}, lambda x: x[:, ::-1]),
    ("shape_array", [X], [], {}, lambda x: np.int64(x.shape)), ("sum", [X], [], {"axis": "(1,)", "exclude": "True"}, lambda x: x.sum((0, 2, 3))), ("mean", [M], [], {}, lambda x: x.mean(keepdims=True).reshape(1)), ("max", [X], [], {"axis": 2, "keepdims": "True"}, lambda x: x.max(2, keepdims=True)),
    ("norm", [M], [], {"axis": 1, "ord": 1}, lambda x: abs(x).sum(1)), ("argmax", [M], [], {"axis": 1}, lambda x: x.argmax(1).astype(np.float32)), ("topk", [M], [], {"k": 2, "ret_typ": "value"}, lambda x: -np.sort(-x)[:, :2]), ("topk", [M], [], {"k": 2, "is_ascend": "True"}, lambda x: x.argsort()[:, :2].astype(np.float32)),
    ("argsort", [M], [], {}, lambda x: x.argsort().astype(np.float32)), ("sort", [M], [], {"is_ascend": "False"}, lambda x: -np.sort(-x)), ("take", [M, ROW], [], {}, lambda x, i: x[i.clip(0, 3).astype(int)]), ("take", [M, ROW], [], {"mode": "wrap", "axis": 1}, lambda x, i: x[:, i.astype(int) % 6]),
    ("Embedding", [ROW], [M], {"input_dim": 4, "output_dim": 6}, lambda i, w: w[i.clip(0, 3).astype(int)]), ("pick", [M, np.float32([0, 5, 9, 2])], [], {}, lambda x, i: x[range(4), i.clip(0, 5).astype(int)]), ("gather_nd", [M, np.float32([[0, 3], [5, 1]])], [], {}, lambda x, i: x[tuple(i.astype(int))]),
    ("one_hot", [np.float32([1, 0, 3])], [], {"depth": 4, "on_value": 2.0, "off_value": -1.0}, lambda i: np.where(np.eye(4)[i.astype(int)], 2, -1).astype(np.float32)), ("cumsum", [M], [], {"axis": 1}, lambda x: x.cumsum(1)),
    ("SequenceMask", [X, np.float32([1, 2, 2, 0])], [], {"use_sequence_length": "True", "value": 7.0}, lambda x, n: np.where((np.arange(2)[:, None] < n)[..., None, None], x, 7)), ("SequenceLast", [X, np.float32([1, 2, 2, 1])], [], {"use_sequence_length": "True"}, lambda x, n: x[n.astype(int) - 1, range(4)]),
    ("SequenceReverse", [X], [], {}, lambda x: x[::-1]), ("SequenceReverse", [X, np.float32([1, 2, 2, 1])], [], {"use_sequence_length": "True"}, lambda x, n: np.stack([np.concatenate([x[:int(k), i][::-1], x[int(k):, i]]) for i, k in enumerate(n)], 1)),
    ("GroupNorm", [X], [C[0], C[1]], {"num_groups": 2}, lambda x, s, b: norm(x.reshape(2, 2, -1), 2).reshape(x.shape) * s[:, None, None] + b[:, None, None]),
    ("scatter_nd", [np.float32([3, 4]), np.float32([[0, 3], [5, 1]])], [], {"shape": "(4, 6)"}, lambda x, i: np.float32([[3 if (r, c) == (0, 5) else 4 if (r, c) == (3, 1) else 0 for c in range(6)] for r in range(4)])),
    ("batch_take", [M, np.float32([0, 5, 1, 2])], [], {}, lambda x, i: x[range(4), i.astype(int)]),
    ("ROIPooling", [abs(X), np.float32([[0, 0, 0, 5, 4], [1, 2, 1, 4, 6]])], [], {"pooled_size": "(2, 3)", "spatial_scale": 0.5}, lambda x, r: like("MaxRoiPool", pooled_shape=[2, 3], spatial_scale=0.5)(x, r)),
    ("_contrib_ROIAlign", [X, np.float32([[0, 0, 0, 5, 4], [1, 2, 1, 4, 6]])], [], {"pooled_size": "(2, 3)", "spatial_scale": 1.0, "sample_ratio": 2},
     lambda x, r: like("RoiAlign", output_height=2, output_width=3, sampling_ratio=2, coordinate_transformation_mode="output_half_pixel")(x, r[:, 1:].copy(), r[:, 0].astype(np.int64))),
    ("_contrib_MultiBoxPrior", [X], [], {"sizes": "(0.5, 0.25)", "ratios": "(1, 2)", "clip": "True"}, lambda x: priors(8, 6, [(0.5, 1), (0.25, 1), (0.5, 2)])),
    ("BilinearSampler", [X, np.tanh(R.standard_normal((2, 2, 3, 5))).astype(np.float32)], [], {}, lambda x, g: like("GridSample", align_corners=1)(x, np.ascontiguousarray(g.transpose(0, 2, 3, 1)))),
    ("GridGenerator", [M[:2]], [], {"transform_type": "affine", "target_shape": "(3, 4)"}, lambda m: (m.reshape(2, 2, 3) @ np.float32([np.tile(np.linspace(-1, 1, 4), 3), np.repeat(np.linspace(-1, 1, 3), 4), np.ones(12)])).reshape(2, 2, 3, 4)),
    ("_contrib_interleaved_matmul_selfatt_qk", [X[0].transpose(0, 1, 2).reshape(4, 4, 12)], [], {"heads": 2}, lambda x: scores(x, 2)),
    ("_contrib_interleaved_matmul_selfatt_valatt", [X[0].reshape(4, 4, 12), R.standard_normal((8, 4, 4)).astype(np.float32)], [], {"heads": 2}, lambda x, a: (a @ heads(x, 2, 2)).reshape(4, 2, 4, 2).transpose(2, 0, 1, 3).reshape(4, 4, 4)),
]

# MXNet's NumPy interface, whose functions are NumPy's.
I4 = R.integers(-5, 6, (4, 6)).astype(np.int32)
CASES += [(f"_npi_{k}", [M, P[:1]], [], {}, getattr(np, k)) for k in ("add", "subtract", "multiply", "true_divide", "mod", "maximum", "minimum", "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "hypot")]
CASES += [(f"_npi_{k}_scalar", [x], [], {"scalar": s, "is_int": i}, lambda x, k=k, s=s, i=i: getattr(np, k)(x, np.int32(s) if i else np.float32(s)).astype(np.float32 if x.dtype.kind == "f" or not i or k == "true_divide" else np.int32))
          for k in ("add", "subtract", "multiply", "true_divide") for x in (M, I4) for s, i in ((2, True), (2.5, False))]
CASES += [(f"_npi_r{k}_scalar", [P], [], {"scalar": "3.0"}, lambda x, k=k: getattr(np, k)(np.float32(3), x)) for k in ("subtract", "true_divide", "power", "mod")]
CASES += [(f"_npi_{k}", [P / np.float32(3)], [], {}, getattr(np, k)) for k in ("arccos", "arcsin", "arctan", "arctanh", "arcsinh", "cos", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2", "reciprocal", "sin", "sinh", "sqrt", "square", "cbrt", "tan", "tanh", "degrees", "radians")]
CASES += [(f"_npi_{k}", [4 * M], [], {}, getattr(np, k)) for k in ("absolute", "ceil", "floor", "fix", "trunc", "negative", "sign", "rint", "isnan", "isinf", "logical_not")]
CASES += [("_npi_sqrt", [np.abs(I4)], [], {}, lambda x: np.sqrt(x.astype(np.float32))), ("_npi_true_divide", [I4, I4 * I4 + 1], [], {}, lambda x, y: (x / y).astype(np.float32)), ("_npi_add", [I4, M], [], {}, lambda x, y: x + y), ("_npi_around", [M], [], {"decimals": 2}, lambda x: np.around(x, 2)), ("_npi_around", [100 * M], [], {"decimals": -1}, lambda x: np.around(x, -1)),
          ("_npx_relu", [M], [], {}, lambda x: x.clip(0)), ("_npx_sigmoid", [M], [], {}, lambda x: 1 / (1 + np.exp(-x))), ("_npi_logical_xor", [I4, I4[::-1].copy()], [], {}, np.logical_xor)]
CASES += [("_npi_where", [I4, M, P], [], {}, np.where), ("_npi_where_lscalar", [I4, M], [], {"scalar": 2.0}, lambda c, x: np.where(c, np.float32(2), x)), ("_npi_where_rscalar", [I4, M], [], {"scalar": 2.0}, lambda c, x: np.where(c, x, np.float32(2))), ("_npi_where_scalar2", [I4], [], {"x": 1.5, "y": -2.0}, lambda c: np.where(c, np.float32(1.5), np.float32(-2)))]
CASES += [(op, [X], [], {"axis": axis, "keepdims": keep}, lambda x, f=f, axis=axis, keep=keep: f(x, axis=axis, keepdims=keep)) for op, f in (("_np_sum", np.sum), ("_np_max", np.max), ("_np_min", np.min), ("_npi_mean", np.mean), ("_npi_var", np.var), ("_npi_std", np.std)) for axis, keep in ((None, False), ((1, -1), True))]
CASES += [("_np_prod", [P], [], {"axis": 1}, lambda x: x.prod(1)), ("_npi_mean", [I4], [], {"axis": 0}, lambda x: x.mean(0, dtype=np.float32)), ("_npi_var", [M], [], {"axis": 0, "ddof": 1}, lambda x: x.var(0, ddof=1)), ("_np_all", [I4], [], {"axis": 1}, lambda x: x.all(1)), ("_np_any", [I4], [], {}, lambda x: x.any()),
          ("_npi_argmax", [M], [], {"axis": 1}, lambda x: x.argmax(1)), ("_npi_argmin", [M], [], {}, lambda x: x.argmin()), ("_npi_norm", [M], [], {"axis": "(1,)", "ord": 2, "flag": 1}, lambda x: np.linalg.norm(x, axis=1))]
CASES += [("_npi_matmul", [X, X.swapaxes(2, 3).copy()], [], {}, np.matmul), ("_np_dot", [X, M[0]], [], {}, np.dot), ("_np_dot", [M, M.T.copy()], [], {}, np.dot), ("_npi_einsum", [M, P], [], {"num_args": 2, "subscripts": "ij,kj->ik"}, lambda x, y: x @ y.T)]
CASES += [("_npi_concatenate", [M, P], [], {"axis": -1}, lambda x, y: np.concatenate([x, y], -1)), ("_npi_concatenate", [M, P[0]], [], {"axis": None}, lambda x, y: np.concatenate([x, y], None)), ("_npi_stack", [M, P], [], {"axis": 1}, lambda x, y: np.stack([x, y], 1))]
CASES += [(f"_npi_{k}stack", [a, b], [], {}, lambda x, y, k=k: getattr(np, f"{k}stack")([x, y])) for k in "vhd" for a, b in ((M, P), (M[0], P[1]), (X, X))]
CASES += [("_npi_flip", [X], [], {"axis": "(0, 2)"}, lambda x: np.flip(x, (0, 2))), ("_npi_flip", [M], [], {}, np.flip), ("_np_moveaxis", [X], [], {"source": "0", "destination": "-2"}, lambda x: np.moveaxis(x, 0, -2)), ("_np_moveaxis", [X], [], {"source": "3", "destination": "1"}, lambda x: np.moveaxis(x, 3, 1)),
          ("_npi_broadcast_to", [M], [], {"shape": "(3, -2, 6)"}, lambda x: np.broadcast_to(x, (3, 4, 6))), ("_np_roll", [M], [], {"shift": "(1, -2)", "axis": "(0, 1)"}, lambda x: np.roll(x, (1, -2), (0, 1))), ("_np_roll", [M], [], {"shift": 5}, lambda x: np.roll(x, 5)),
          ("_npi_tril", [X], [], {"k": -1}, lambda x: np.tril(x, -1)), ("_npi_triu", [M], [], {"k": 1}, lambda x: np.triu(x, 1)), ("_np_squeeze", [M[:1]], [], {"axis": 0}, lambda x: x[0]), ("_np_transpose", [X], [], {}, np.transpose), ("_np_copy", [M], [], {}, np.copy),
          ("_np_reshape", [X], [], {"newshape": "(8, -1)"}, lambda x: x.reshape(8, -1)), ("_npx_reshape", [X], [], {"newshape": "(-2, -5, 6)"}, lambda x: x.reshape(2, 32, 6)), ("_npx_reshape", [X], [], {"newshape": "(-2, -2, -6, 2, -1, -4)"}, lambda x: x.reshape(2, 4, 2, 4, 6)), ("_npx_reshape", [X[:1]], [], {"newshape": "(-3, -4)"}, lambda x: x[0])]
CASES += [("_npi_pad", [M], [], {"pad_width": "((1, 0), (0, 2))", "mode": m, **k}, lambda x, m=m, v=v: np.pad(x, ((1, 0), (0, 2)), m, **v)) for m, k, v in (("constant", {"constant_value": 1.5}, {"constant_values": 1.5}), ("reflect", {}, {}), ("symmetric", {}, {}))]
CASES += [("_npi_full", [], [], {"shape": "(2, 3)", "value": 2.5, "dtype": "float32"}, lambda: np.full((2, 3), np.float32(2.5))), ("_npi_arange", [], [], {"start": 1, "stop": 7, "step": 2, "dtype": "int32"}, lambda: np.arange(1, 7, 2, np.int32)), ("_npi_full_like", [M], [], {"fill_value": 3.0}, lambda x: np.full_like(x, 3))]


@pytest.mark.parametrize("axis, attributes", [(1, {"sections": 2, "indices": "[]"}), (3, {"sections": 0, "indices": "[0, 1, 4]"})])
def test_split_of_numpy(tmp_path, axis, attributes):
    want = np.split(X, 2, 1) if axis == 1 else np.split(X, [1, 4], 3)
    done = run(tmp_path / "n", "_split_v2", [X], [], {"axis": axis, **attributes}, len(want))
    assert done.returncode == 0, done.stderr
    for k, y in enumerate(want):
        np.testing.assert_array_equal(np.load(tmp_path / f"n/out/output_{k}.npy"), y)


@pytest.mark.parametrize("kind, arrays, weights, attributes, oracle", CASES, ids=[f"{k}-{n}" for n, (k, *_) in enumerate(CASES)])
def test_operator(tmp_path, kind, arrays, weights, attributes, oracle):
    done = run(tmp_path / "n", kind, arrays, weights, attributes)
    assert done.returncode == 0, done.stderr
    got, want = np.load(tmp_path / "n/out/output_0.npy"), np.asarray(oracle(*arrays, *weights))
    assert got.shape == want.shape and (got.dtype == want.dtype or want.dtype == np.float64)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("mode, gates", [("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)])
def test_recurrent(tmp_path, mode, gates):
    """Two layers in both directions, beside the equations step by step."""
    steps, batch, inputs, units = 4, 2, 3, 5
    r = np.random.default_rng(gates)
    x = r.standard_normal((steps, batch, inputs)).astype(np.float32)
    shapes = [(gates * units, n) for l in range(2) for _ in range(2) for n in (inputs if l == 0 else 2 * units, units)]
    ws = [r.standard_normal(s).astype(np.float32) * np.float32(0.4) for s in shapes]
    bs = [r.standard_normal(gates * units).astype(np.float32) * np.float32(0.4) for _ in range(8)]
    h0, c0 = (r.standard_normal((4, batch, units)).astype(np.float32) for _ in range(2))
    sig = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    cur, last = x.astype(float), []
    for l in range(2):
        outs = []
        for d in range(2):
            k = 2 * l + d
            w, u, b, e, h, c = ws[2 * k], ws[2 * k + 1], bs[2 * k], bs[2 * k + 1], h0[k], c0[k]
            ys = []
            for t in range(steps) if d == 0 else range(steps)[::-1]:
                a, s = np.split(cur[t] @ w.T + b, gates, 1), np.split(h @ u.T + e, gates, 1)
                if mode == "lstm":
                    c = sig(a[1] + s[1]) * c + sig(a[0] + s[0]) * np.tanh(a[2] + s[2])
                    h = sig(a[3] + s[3]) * np.tanh(c)
                elif mode == "gru":
                    z = sig(a[1] + s[1])
                    h = (1 - z) * np.tanh(a[2] + sig(a[0] + s[0]) * s[2]) + z * h
                else:
                    h = np.tanh(a[0] + s[0]) if mode == "rnn_tanh" else (a[0] + s[0]).clip(0)
                ys.append(h)
            last.append(h)
            outs.append(np.stack(ys if d == 0 else ys[::-1]))
        cur = np.concatenate(outs, 2)
    flat = np.concatenate([a.ravel() for a in ws + bs])
    done = run(tmp_path / "n", "RNN", [x], [flat, h0, *([c0] if mode == "lstm" else [])], {"mode": mode, "num_layers": 2, "state_size": units, "bidirectional": "True", "state_outputs": "True"}, 2)
    assert done.returncode == 0, done.stderr
    for k, want in enumerate((cur, np.stack(last))):
        np.testing.assert_allclose(np.load(tmp_path / f"n/out/output_{k}.npy"), want, rtol=1e-4, atol=1e-5)


REFUSED = [("Foo", [M], {}, 'node "y" (Foo): the operator Foo is not supported'), ("Pooling", [M], {"kernel": "(2, 2)"}, "the image has rank 2, expected 3 to 5"), ("Reshape", [M], {"shape": "(0, 0, 0)"}, "the shape's code 0 does not fit rank 2"),
           ("Activation", [M], {"act_type": "q"}, 'act_type is "q", expected one of: relu sigmoid'), ("transpose", [M], {"axes": "(0, 0)"}, "axes is no permutation"), ("Concat", [M, X], {"dim": 0}, 'node "y" (Concat)'),
           ("topk", [M], {"ret_typ": "mask"}, "not supported"), ("elemwise_add", [M], {}, "it has 1 inputs, expected 2"), ("tile", [M], {"reps": "(0,)"}, "expected 1 or more")]


@pytest.mark.parametrize("kind, arrays, attributes, words", REFUSED, ids=[k for k, *_ in REFUSED])
def test_refused(tmp_path, kind, arrays, attributes, words):
    done = run(tmp_path / "n", kind, arrays, [], attributes)
    assert done.returncode and words in done.stderr, done.stderr


def test_files(tmp_path):
    """What is missing or damaged is named; a cut or changed file is no crash."""
    run(tmp_path / "n", "FullyConnected", [M], [M, C[0]], {"num_hidden": 4})
    text, weights = (tmp_path / "n/n-symbol.json").read_text(), (tmp_path / "n/n-0003.params").read_bytes()
    said = lambda path: subprocess.run([WICK, "check", path], capture_output=True, text=True)  # noqa: E731
    (tmp_path / "n/n-0003.params").write_bytes(weights[:-3])
    assert "n-0003.params: at byte" in said(tmp_path / "n/n-symbol.json").stderr + said(tmp_path / "n/n-symbol.json").stdout
    (tmp_path / "n/n-0003.params").unlink()
    assert "no file of parameters" in "".join(subprocess.run([WICK, "run", tmp_path / "n/n-symbol.json", "--inputs", *[tmp_path / "n/x0.npy"] * 3], capture_output=True, text=True).stderr) + said(tmp_path / "n/n-symbol.json").stdout
    files = []
    for k in range(0, len(text), 7):
        (tmp_path / f"{k}-symbol.json").write_text(text[:k])
        files.append(tmp_path / f"{k}-symbol.json")
    for k in range(0, len(weights), 5):
        changed = bytearray(weights)
        changed[k] ^= 1 << k % 8
        (tmp_path / f"w{k}-symbol.json").write_text(text)
        (tmp_path / f"w{k}-0000.params").write_bytes(bytes(changed) if k % 2 else weights[:k])
        files.append(tmp_path / f"w{k}-symbol.json")
    assert said(tmp_path / "n/x0.npy").returncode and subprocess.run([WICK, "check", *files], capture_output=True).returncode in (0, 1, 2)


SHARED = built.ROOT.parent / "shared/frontends/mxnet"


@pytest.mark.skipif(not SHARED.exists(), reason="the samples of other formats are not there")
def test_samples(tmp_path):
    """Networks that MXNet wrote, beside the results that it computed."""
    for folder in sorted(SHARED.glob("*")):
        about = json.loads((folder / "model.json").read_text())
        inputs = [folder / f"input_{k}.npy" for k in range(len(about["inputs"]))]
        subprocess.run([WICK, "run", folder / about["model"], "--inputs", *inputs, "--outputs", tmp_path / "out"], check=True)
        for k in range(len(about["outputs"])):
            np.testing.assert_allclose(np.load(tmp_path / f"out/output_{k}.npy"), np.load(folder / f"output_{k}.npy"), rtol=1e-4, atol=1e-5, err_msg=str(folder))


@pytest.mark.parametrize(("name", "case"), list(mxnet_cases.cases()), ids=lambda v: v if isinstance(v, str) else "")
def test_beside_mxnet(tmp_path, name, case):
    kind, arrays, attributes, count = case
    r = run(tmp_path / "net", kind, arrays, [], attributes, count)
    assert r.returncode == 0, r.stderr
    kept = np.load(pathlib.Path(__file__).parent / "mxnet/results.npz")
    for k in range(count):
        got, expected = np.load(tmp_path / f"net/out/output_{k}.npy"), kept[f"{name}/{k}"]
        assert got.dtype == expected.dtype and got.shape == expected.shape
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_array_equal(got, expected)


def test_bundle_of_a_model_without_shapes(tmp_path):
    """`wick compile` takes the shapes of its inputs from files."""
    assert run(tmp_path / "net", "relu", [M], [], {}).returncode == 0
    command = [WICK, "compile", tmp_path / "net/n-symbol.json", "-o", tmp_path / "b", "--name", "net"]
    r = subprocess.run(command, capture_output=True, text=True)
    assert r.returncode == 1 and 'input "x0": the model does not declare a shape' in r.stderr, r.stderr
    r = subprocess.run([*command, "--inputs", tmp_path / "net/x0.npy"], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    assert (tmp_path / "b/net.h").exists()
