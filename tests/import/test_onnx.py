"""Imports the ONNX project's own test models of single operators, and compares the types of their outputs with the
outputs that come with them."""
import os
import re
import subprocess

import pytest

onnx = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")

WICK = os.environ.get("WICK_COMMAND", "build/wick")
ELEM = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32", "int16": "i16",
        "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "bool", "complex64": "c64", "object": "string",
        "complex128": "c128", "int4": "i4", "uint4": "u4", "int2": "i2", "uint2": "u2", "float8_e4m3fn": "f8e4m3",
        "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e5m2": "f8e5m2", "float8_e5m2fnuz": "f8e5m2fnuz", "float8_e8m0fnu": "f8e8m0",
        "float4_e2m1fn": "f4e2m1"}

# Operators all of whose cases must be imported; those named below need strings or sizes that are known only at run time.
WHOLE = """Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization Bernoulli BitCast BitShift
BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CastLike Ceil Celu CenterCropPad Clip Col2Im Concat Constant ConstantOfShape Conv ConvInteger
ConvTranspose Cos Cosh CumSum DeformConv DepthToSpace DequantizeLinear Det Div Dropout DynamicQuantizeLinear Elu Equal Erf Exp Expand
EyeLike Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual
GroupNormalization HardSigmoid HardSwish Hardmax InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less
LessOrEqual Log LogSoftmax LpNormalization LpPool MatMul MatMulInteger Max MaxPool MaxUnpool Mean MeanVarianceNormalization Min Mish
Mod Mul Neg Not OneHot Or PRelu Pad Pow QLinearConv QLinearMatMul QuantizeLinear RMSNormalization RNN Range Reciprocal ReduceL1
ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize
RoiAlign Round Selu Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum
SwiGLU Swish Tan Tanh ThresholdedRelu Tile Transpose Trilu Unsqueeze Upsample Where Xor""".split()
NOT_TAKEN = re.compile(r"string|_expanded|tf_half_pixel_for_nn|float6")


def with_constants(test):
    """The model with all inputs but the first as initializers, holding the case's data."""
    model, data = onnx.ModelProto.FromString(test.model.SerializeToString()), test.data_sets[0][0]
    given = list(zip(model.graph.input, data))
    every = len(given) == 1 or model.graph.node[0].op_type == "Range"
    for info, value in given if every else given[1:]:
        if info.type.WhichOneof("value") != "tensor_type" or info.type.tensor_type.elem_type == onnx.TensorProto.STRING:
            continue
        tensor = value if isinstance(value, onnx.TensorProto) else onnx.numpy_helper.from_array(np.asarray(value))
        named = onnx.TensorProto.FromString(tensor.SerializeToString())
        named.name = info.name
        model.graph.initializer.append(named)
        model.graph.input.remove(info)
    return model


def models():
    from onnx.backend.test.case.node import collect_testcases
    return [t for t in collect_testcases(None) if t.model is not None and not t.model.graph.name.startswith("test_ai_onnx_ml")]


def outputs(text):
    """{path: [(name, type)]} from the output of `wick check`."""
    got, at = {}, None
    for line in text.splitlines():
        if m := re.match(r"(\S+): \d+ nodes", line):
            at = got.setdefault(m[1], [])
        elif line.endswith(": it cannot be compiled before its sizes or contents are given"):
            at = []  # only its interface
        elif m := re.match(r"  output (.*): \S+, at most: its size along axis \d+ depends on data$", line):
            at.append((m[1], "f32[n]"))
        elif m := re.match(r"  output (.*): (\S+)$", line):
            at.append((m[1], m[2]))
    return got


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Each case as it is, and with its further inputs as constants."""
    folder = tmp_path_factory.mktemp("models")
    cases = []
    for t in models():
        for kind, model in (("", t.model), (".const", with_constants(t))):
            path = str(folder / (t.name + kind + ".onnx"))
            with open(path, "wb") as f:
                f.write(model.SerializeToString())
            cases.append((t, path))
    run = subprocess.run([WICK, "check", *[path for _, path in cases]], capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr[-2000:]
    return cases, outputs(run.stdout), run.stderr


def shown(value):
    a = onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
    return f"{ELEM.get(str(a.dtype), str(a.dtype))}[{','.join(map(str, a.shape))}]"


def test_types_of_outputs(checked):
    """Where nothing is symbolic, the types are those of the outputs that the case comes with."""
    cases, got, _ = checked
    wrong, seen = [], 0
    for t, path in cases:
        types = [kind for _, kind in got.get(path, [])]
        if path not in got or any(re.search("[A-Za-z_]", kind.split("[")[1]) for kind in types):
            continue
        want = [shown(v) for w in t.data_sets[0][1] for v in (w if isinstance(w, list) else [w])]
        seen += 1
        if types != want:
            wrong.append(f"{t.name}: {types}, expected {want}")
    assert not wrong, "\n".join(wrong)
    assert seen > 1500


def test_whole_operators(checked):
    cases, got, errors = checked
    missing = []
    for t, path in cases:
        kinds = {n.op_type for n in t.model.graph.node}
        if path.endswith(".const.onnx") and kinds <= set(WHOLE) and path not in got and not NOT_TAKEN.search(t.name):
            missing += [t.name] + [line for line in errors.splitlines() if line.startswith(t.name + ".const")]
    assert not missing, "\n".join(missing)


def test_names_of_outputs(checked):
    """The elements of a sequence are outputs of their own; sizes that follow from data follow the others."""
    cases, got, _ = checked
    for t, path in cases:
        if path in got:
            want = []
            for o, made in zip(t.model.graph.output, t.data_sets[0][1]):
                want += [f"{o.name}.{k}" for k in range(len(made))] if isinstance(made, list) else [o.name]
            names = [name for name, _ in got[path]]
            assert names[:len(want)] == want, t.name
            assert all(re.search(r"\.size\.\d+$", name) for name in names[len(want):]), t.name
