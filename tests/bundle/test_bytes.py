"""Products of bytes on every kind of machine, to the bit: the results are the reference's, whatever instructions the
machine has for them, and it uses these instructions."""

import re
import shutil

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper  # noqa: E402

from bundles import WICK, Bundle, call, each_byte_target  # noqa: E402

# The instructions that a machine's code has for products of unsigned bytes, and of signed ones; others multiply words.
USES = {"x86-64-v1": "pmaddwd", "x86-64-v2": "pmaddwd", "x86-64-v3": "vpmaddwd", "x86-64-v4": "vpmaddwd",
        "x86-64-v3+avxvnni": "vpdpbusd", "x86-64-v4+avx512vnni": "vpdpbusd",
        "x86-64-v4+avx512vnni+avx512vbmi": "vpdpbusd", "armv8.2-a": "sdot", "armv8.2-a-sve256": "sdot",
        "armv8.2-a-sve512": "sdot", "armv8.2-a+i8mm": "usdot sdot", "armv8.2-a-sve256+i8mm": "usdot sdot"}  # fmt: skip

# channels, height, width, outputs, kernel, stride, pad, group
CONVS = [(3, 17, 15, 24, 3, 2, 1, 1), (24, 9, 14, 32, 1, 1, 0, 1), (32, 9, 14, 32, 3, 1, 1, 32), (32, 9, 14, 32, 3, 2, 1, 32),
         (32, 5, 7, 32, 5, 1, 2, 32), (32, 6, 7, 40, 3, 1, 1, 1), (40, 1, 9, 16, 3, 2, 1, 1)]  # fmt: skip


def model(x, w, path):
    """Convolutions side by side, and a product of matrices; x and w: types of bytes."""
    rng = np.random.default_rng(11)
    nodes, constants, inputs, outputs, feeds = [], [], [], [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(value, name))
        return name

    def any_of(shape, dtype):
        i = np.iinfo(dtype)
        return rng.integers(i.min, i.max + 1, shape).astype(dtype)

    def scales(k, m):
        return (constant(f"sx{k}", np.array(0.02, np.float32)), constant(f"zx{k}", np.array(7, x)),
                constant(f"sw{k}", rng.uniform(0.001, 0.01, m).astype(np.float32)), constant(f"zw{k}", np.zeros(m, w)),
                constant(f"sy{k}", np.array(0.5, np.float32)), constant(f"zy{k}", np.array(11, x)))  # fmt: skip

    for k, (c, h, width, m, kernel, stride, pad, group) in enumerate(CONVS):
        sx, zx, sw, zw, sy, zy = scales(k, m)
        weight = constant(f"w{k}", any_of((m, c // group, kernel, kernel), w))
        bias = constant(f"b{k}", rng.integers(-9999, 9999, m).astype(np.int32))
        nodes.append(helper.make_node("QLinearConv", [f"x{k}", sx, zx, weight, sw, zw, sy, zy, bias], [f"y{k}"],
                                      strides=[stride] * 2, pads=[pad] * 4, group=group))  # fmt: skip
        feeds.append(any_of((1, c, h, width), x))
    k, m = len(CONVS), 48
    sx, zx, sw, zw, sy, zy = scales(k, m)
    nodes.append(helper.make_node("QLinearMatMul", [f"x{k}", sx, zx, constant(f"w{k}", any_of((36, m), w)), sw, zw, sy, zy],
                                  [f"y{k}"]))  # fmt: skip
    feeds.append(any_of((5, 36), x))
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(x))
    inputs = [helper.make_tensor_value_info(f"x{k}", kind, v.shape) for k, v in enumerate(feeds)]
    outputs = [helper.make_tensor_value_info(f"y{k}", kind, None) for k in range(len(feeds))]
    graph = helper.make_graph(nodes, "bytes", inputs, outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return feeds


def reference(path, folder, feeds):
    given = []
    for k, x in enumerate(feeds):
        np.save(folder / f"in{k}.npy", x)
        given.append(folder / f"in{k}.npy")
    call([WICK, "run", path, "--inputs", *given, "-o", folder / "want", "--reference"])
    return [np.load(folder / "want" / f"output_{k}.npy") for k in range(len(feeds))]


def instructions(b):
    tool = next((t for t in ("llvm-objdump-19", "llvm-objdump", "objdump") if shutil.which(t)), None)
    if not tool:
        pytest.skip("objdump is not installed; scripts/setup.sh test installs it")
    more = ["--mattr=+all"] if "llvm" in tool and b.target.kind == "user" else []
    return call([tool, "-d", *more, b.folder / f"{b.name}.o"]).decode()


@each_byte_target
@pytest.mark.parametrize("x, w", [("uint8", "int8"), ("int8", "int8")], ids=["u8", "i8"])
def test_products_of_bytes_are_exact(target, x, w, tmp_path):
    target.want()
    feeds = model(x, w, tmp_path / "bytes.onnx")
    b = Bundle(tmp_path / "bytes.onnx", tmp_path / "b", target, "bytes", embed=True)
    assert not b.needs()
    for have, want in zip(b.run(*feeds), reference(tmp_path / "bytes.onnx", tmp_path, feeds), strict=True):
        np.testing.assert_array_equal(have, want)
    if target.name in USES:
        name = USES[target.name].split()[0 if x == "uint8" else -1]
        assert re.search(rf"\b{name}\b", instructions(b)), f"{target.name} uses no {name}"



# The instructions with which a machine looks bytes up in a table.
LOOKS_UP = {"x86-64-v3": "vpshufb", "x86-64-v4": "vpshufb", "x86-64-v4+avx512vnni+avx512vbmi": "vperm[it]2b",
            "armv8.2-a": "tb[lx]", "armv8.2-a+i8mm": "tb[lx]"}  # fmt: skip


@each_byte_target
def test_bytes_are_looked_up(target, tmp_path):
    """Tables of every size class, with remainders of vectors; indices that were widened, and that are negative."""
    target.want()
    rng = np.random.default_rng(3)
    nodes, constants, feeds, want = [], [], [], []
    for k, (size, count, kind, wide) in enumerate([(256, 1000, "uint8", "int32"), (256, 37, "uint8", "int64"), (100, 513, "uint8", "int32"),
                                                   (17, 64, "uint8", "int64"), (128, 200, "int8", "int32")]):  # fmt: skip
        table = rng.integers(-128, 128, size).astype(np.int8)
        i = rng.integers(-size if kind == "int8" else 0, size, count).astype(kind)
        constants.append(numpy_helper.from_array(table, f"t{k}"))
        to = helper.np_dtype_to_tensor_dtype(np.dtype(wide))
        nodes += [helper.make_node("Cast", [f"x{k}"], [f"i{k}"], to=to), helper.make_node("Gather", [f"t{k}", f"i{k}"], [f"y{k}"])]
        feeds.append(i)
        want.append(table[i.astype(np.int64)])
    inputs = [helper.make_tensor_value_info(f"x{k}", helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in enumerate(feeds)]
    outputs = [helper.make_tensor_value_info(f"y{k}", onnx.TensorProto.INT8, None) for k in range(len(feeds))]
    graph = helper.make_graph(nodes, "tables", inputs, outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "tables.onnx")
    b = Bundle(tmp_path / "tables.onnx", tmp_path / "b", target, "tables", embed=True)
    for have, expected in zip(b.run(*feeds), want, strict=True):
        np.testing.assert_array_equal(have, expected)
    if target.name in LOOKS_UP:
        assert re.search(rf"\b{LOOKS_UP[target.name]}\b", instructions(b)), f"{target.name} looks no bytes up"
