"""Bundles: their files, their symbols, their header, and their results, on every kind of machine."""

import importlib.util
import json
import math
import re
import subprocess
import sys

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from bundles import CC, HOST, MICROBIT, NAMES, ROOT, WICK, Bundle, call, each_level, each_target, jit, same_bits, text_bundle  # noqa: E402

DIGITS = ROOT / "examples" / "digits"
U32 = 2.0**-24  # half of a unit in the last place of f32


# ---- a small network with a bound that is computed with it ----


def gamma(n):
    """The relative error of n roundings, one after the other (Higham 2002, lemma 3.1)."""
    return n * U32 / (1 - n * U32)


class Tiny:
    """conv 3x3 - relu - max pool - gemm; two inputs, two outputs."""

    def __init__(self):
        r = np.random.default_rng(7)
        self.w1, self.b1 = r.normal(size=(5, 3, 3, 3)).astype(np.float32), r.normal(size=5).astype(np.float32)
        self.w2, self.b2 = r.normal(size=(7, 80)).astype(np.float32), r.normal(size=7).astype(np.float32)
        self.x = r.normal(size=(1, 3, 8, 8)).astype(np.float32)
        self.add = r.normal(size=(1, 7)).astype(np.float32)

    def save(self, path):
        nodes = [
            helper.make_node("Conv", ["x", "w1", "b1"], ["c"], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["c"], ["r"]),
            helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
            helper.make_node("Flatten", ["p"], ["f"]),
            helper.make_node("Gemm", ["f", "w2", "b2"], ["g"], transB=1),
            helper.make_node("Add", ["g", "add"], ["y"]),
            helper.make_node("Greater", ["g", "add"], ["more"]),
        ]
        weights = [numpy_helper.from_array(getattr(self, n), n) for n in ("w1", "b1", "w2", "b2")]
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8]),
                  helper.make_tensor_value_info("add", TensorProto.FLOAT, [1, 7])]  # fmt: skip
        outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 7]),
                   helper.make_tensor_value_info("more", TensorProto.BOOL, [1, 7])]  # fmt: skip
        graph = helper.make_graph(nodes, "tiny", inputs, outputs, weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        return path

    @staticmethod
    def _conv(x, w):
        x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        patches = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
        return np.einsum("ncyxij,ocij->noyx", patches, w)

    def exact(self):
        """y in double precision, and the most by which a result in single precision may differ: the sum of
        gamma(n) * sum |a||b| of each accumulation, carried on through |w2|."""
        x, w1, w2 = (v.astype(np.float64) for v in (self.x, self.w1, self.w2))
        bias = self.b1.astype(np.float64)[None, :, None, None]
        h = self._conv(x, w1) + bias
        dh = gamma(28) * (self._conv(abs(x), abs(w1)) + abs(bias))
        h = np.maximum(h, 0)
        pool = lambda v: v.reshape(1, 5, 4, 2, 4, 2).max(axis=(3, 5)).reshape(1, 80)  # noqa: E731
        h, dh = pool(h), pool(dh)
        y = h @ w2.T + self.b2 + self.add
        dy = dh @ abs(w2).T + gamma(82) * ((h + dh) @ abs(w2).T + abs(self.b2) + abs(self.add))
        return y, dy


TINY = Tiny()


def within(y, bounds=TINY.exact()):
    exact, bound = bounds
    return bool((abs(y.astype(np.float64) - exact) <= bound).all())


@each_target
@pytest.mark.parametrize("embed", [False, True], ids=["file", "embedded"])
def test_a_small_network_is_within_its_bound(target, embed, tmp_path):
    target.want()
    b = Bundle(TINY.save(tmp_path / "tiny.onnx"), tmp_path / "b", target, "tiny", embed)
    files = {"tiny.o", "tiny.h"} | (set() if embed else {"tiny.weights.bin"})
    assert {p.name for p in b.folder.iterdir()} == files
    assert not b.needs()
    y, more = b.run(TINY.x, TINY.add)
    assert within(y)
    assert more.tolist() == (TINY.exact()[0] - TINY.add > TINY.add).tolist()


def test_an_error_of_four_bounds_is_found():
    exact, bound = TINY.exact()
    assert within(exact)
    assert not within(exact + 4 * bound)


@each_level
def test_bits_are_those_of_the_process(target, tmp_path):
    target.want()
    model = TINY.save(tmp_path / "tiny.onnx")
    for have, want in zip(Bundle(model, tmp_path / "b", target).run(TINY.x, TINY.add),
                          jit(model, tmp_path, target, TINY.x, TINY.add), strict=True):  # fmt: skip
        assert same_bits(have, want)


def test_a_small_network_runs_on_a_cortex_m0(tmp_path):
    """On the processor itself: 256 KiB of flash and 16 KiB of memory."""
    NAMES["cortex-m0"].want()
    b = Bundle(TINY.save(tmp_path / "tiny.onnx"), tmp_path / "b", MICROBIT, "tiny", embed=True)
    assert within(b.run(TINY.x, TINY.add)[0])


# ---- the digits ----


def digits_terms():
    """The number of roundings on the longest way to a logit: all accumulations, one after the other."""
    terms = 64  # the pool that makes 8x8 of 64x64
    for w in onnx.load(str(DIGITS / "digits.onnx")).graph.initializer:
        if w.name.endswith(".weight"):
            terms += math.prod(w.dims[1:]) + 2
    return terms + 16  # the mean over 4x4


def digits_error(a, b):
    """The most by which the logits differ, of two lists of probabilities, over their size."""
    a, b = np.log(a.astype(np.float64)), np.log(b.astype(np.float64))
    return abs(a - b).max() / abs(b).max()


def digits_pictures():
    spec = importlib.util.spec_from_file_location("digits", ROOT / "tests" / "examples" / "test_digits.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    expected = json.loads((DIGITS / "expected.json").read_text())
    return {n: (module.read_png(DIGITS / n).reshape(1, 1, 64, 64), np.array(p)) for n, p in expected.items()}


@each_target
def test_digits_are_read(target, tmp_path):
    target.want()
    b = Bundle(DIGITS / "digits.onnx", tmp_path / "b", target, "digits")
    assert not b.needs()
    for name, (picture, want) in list(digits_pictures().items())[:: 1 if target.kind == "native" else 4]:
        (have,) = b.run(picture)
        assert digits_error(have[0], want) <= gamma(digits_terms()), name
        if target.kind == "native":
            assert same_bits(have, jit(DIGITS / "digits.onnx", tmp_path, target, picture)[0]), name


# ---- the header ----


def example(b):
    """The program in the header's comment."""
    comment = b.header[: b.header.index("*/")]
    lines = [line.removeprefix(" *").removeprefix("   ") for line in comment.split("\n")]
    start = next(i for i, line in enumerate(lines) if line.startswith("#include"))
    return "\n".join(lines[start:]).rstrip() + "\n"


@pytest.mark.parametrize("embed", [False, True], ids=["file", "embedded"])
def test_the_example_of_the_header_runs(embed, tmp_path):
    b = Bundle(DIGITS / "digits.onnx", tmp_path, NAMES["x86-64-v1"], "digits", embed)
    b.target.want()
    (tmp_path / "main.c").write_text(example(b))
    call([CC, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "main.c", "digits.o", "-o", "main"], cwd=tmp_path)
    picture, want = digits_pictures()["seven.png"]
    said = call(["./main"], cwd=tmp_path, input=picture.tobytes()).split()
    np.testing.assert_allclose([float(w) for w in said], want, rtol=1e-4, atol=1e-6)  # as many digits as %g has


@pytest.mark.parametrize("standard", [["-xc", "-std=c89"], ["-xc", "-std=c99"], ["-xc", "-std=c17"],
                                      ["-xc++", "-std=c++98"], ["-xc++", "-std=c++20"]], ids=" ".join)  # fmt: skip
def test_the_header_is_of_c_and_cpp(standard, tmp_path):
    b = Bundle(TINY.save(tmp_path / "tiny.onnx"), tmp_path, NAMES["wasm32"], "tiny", embed=True)
    other = Bundle(DIGITS / "digits.onnx", tmp_path, NAMES["wasm32"], "digits")
    text = "".join(f'#include "{h}"\n' for h in ("wick/bundle.h", "tiny.h", "digits.h", "tiny.h", "wick/bundle.h"))
    assert b.macro["TINY_INPUT_1_NAME"] == '"add"' and other.macro["DIGITS_INPUT_0_TYPE"] == "WICK_BUNDLE_U8"
    use = "int use(char *p);\nint use(char *p) { return TINY_OUTPUT_1(p)[0] + tiny(tiny_constants, p, p); }\n"
    (tmp_path / "use.c").write_text(text + use)
    call([CC, *standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT / 'include'}", f"-I{tmp_path}",
          "-fsyntax-only", tmp_path / "use.c"])  # fmt: skip


def test_macros_say_where_everything_lies(tmp_path):
    b = Bundle(TINY.save(tmp_path / "tiny.onnx"), tmp_path, NAMES["x86-64-v1"], "tiny")
    places = sorted((io.offset, io.offset + io.nbytes) for io in b.inputs + b.outputs)
    assert all(start % 64 == 0 for start, _ in places)
    assert all(end <= start for (_, end), (start, _) in zip(places, places[1:]))
    assert places[-1][1] <= b.size("MUTABLE")
    assert (tmp_path / "tiny.weights.bin").stat().st_size == b.size("CONSTANTS")
    assert [io.shape for io in b.inputs] == [[1, 3, 8, 8], [1, 7]]
    assert [(io.name, io.type) for io in b.outputs] == [("y", "F32"), ("more", "BOOL")]


def test_two_bundles_in_one_program(tmp_path):
    """Kernels with the same name in both do not collide."""
    NAMES["x86-64-v1"].want()
    model = TINY.save(tmp_path / "tiny.onnx")
    one, two = (Bundle(model, tmp_path, NAMES["x86-64-v1"], n, embed=True) for n in ("one", "two"))
    one.link()
    (tmp_path / "both.c").write_text(
        '#include "one.h"\n#include "two.h"\n'
        "static _Alignas(64) char data[ONE_MUTABLE_BYTES], arena[ONE_ARENA_BYTES];\n"
        "int main(void) { return one(one_constants, data, arena) || two(two_constants, data, arena); }\n"
    )
    call([CC, "both.c", "one.o", "two.o", "-o", "both"], cwd=tmp_path)
    call(["./both"], cwd=tmp_path)


def test_an_object_goes_into_a_shared_library(tmp_path):
    NAMES["x86-64-v3"].want()
    b = Bundle(TINY.save(tmp_path / "tiny.onnx"), tmp_path, NAMES["x86-64-v3"], "tiny", embed=True)
    call([CC, "-shared", "tiny.o", "-Wl,-z,text", "-Wl,-z,defs", "-lc", "-o", "libtiny.so"], cwd=tmp_path)
    said = call(["nm", "-D", "--defined-only", "libtiny.so"], cwd=tmp_path).decode()
    assert set(re.findall(r" [TDRB] (\w+)", said)) == {"tiny", "tiny_constants"}
    assert b.size("CONSTANTS") > 0


def test_the_same_model_gives_the_same_bytes(tmp_path):
    model = TINY.save(tmp_path / "tiny.onnx")
    a, b = (Bundle(model, tmp_path / d, NAMES["armv8-a"]) for d in "ab")
    for name in ("net.o", "net.h", "net.weights.bin"):
        assert (a.folder / name).read_bytes() == (b.folder / name).read_bytes()


# ---- names and refusals ----


def fails(*arguments, cwd=None):
    r = subprocess.run([WICK, "compile", *map(str, arguments)], capture_output=True, text=True, cwd=cwd)
    assert r.returncode in (1, 2), r
    assert not r.stdout
    return r.stderr


@pytest.mark.parametrize(
    "file, name",
    [("tiny.onnx", "tiny"), ("res-net 50.v2.onnx", "res_net_50_v2"), ("7.onnx", "net_7"), ("main.onnx", "net_main"),
     ("for.onnx", "net_for"), ("_x.onnx", "net_x"), ("n\u00e9t.onnx", "n__t")],
)  # fmt: skip
def test_a_name_is_made_of_the_files(file, name, tmp_path):
    model = TINY.save(tmp_path / file)
    call([WICK, "compile", model, "-o", tmp_path / "b", "--target", "wasm32"])
    assert {p.name for p in (tmp_path / "b").iterdir()} == {f"{name}.o", f"{name}.h", f"{name}.weights.bin"}


@pytest.mark.parametrize("name", ["a b", "1x", "x-y", "while", "class", "_x", "main", "memcpy", "x" * 300, "a/b"])
def test_a_name_that_c_does_not_take(name, tmp_path):
    model = TINY.save(tmp_path / "tiny.onnx")
    assert "a C function cannot have the name" in fails(model, "-o", tmp_path / "b", "--name", name)
    assert not (tmp_path / "b").exists()


def test_what_is_refused(tmp_path):
    model = TINY.save(tmp_path / "tiny.onnx")
    assert "expected a text that is not empty" in fails(model, "-o", tmp_path / "b", "--name", "")
    assert "--output is missing" in fails(model)
    assert "are for bundles" in fails(model, "-o", tmp_path / "x.wick", "--embed")
    assert 'there is no target "z80"' in fails(model, "-o", tmp_path / "b", "--target", "z80")
    (tmp_path / "file").write_text("")
    assert "Not a directory" in fails(model, "-o", tmp_path / "file")
    call([WICK, "compile", model, "-o", tmp_path / "x.wick"])
    assert "a bundle is made from a model" in fails(tmp_path / "x.wick", "-o", tmp_path / "b")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "tiny.onnx", "x.wick"]


def test_a_failure_leaves_what_was_there(tmp_path):
    """One of the files cannot be written: the others stay what they were, and nothing else is left."""
    model, b = TINY.save(tmp_path / "tiny.onnx"), tmp_path / "b"
    call([WICK, "compile", model, "-o", b, "--target", "wasm32"])
    before = {p.name: p.read_bytes() for p in b.iterdir()}
    (b / "tiny.weights.bin").unlink()
    (b / "tiny.weights.bin").mkdir()
    assert "Is a directory" in fails(model, "-o", b, "--target", "armv8-a")
    assert (b / "tiny.o").read_bytes() == before["tiny.o"] and (b / "tiny.h").read_bytes() == before["tiny.h"]
    assert {p.name for p in b.iterdir()} == set(before)


def test_addresses_are_checked(tmp_path):
    NAMES["x86-64-v1"].want()
    b = Bundle(TINY.save(tmp_path / "tiny.onnx"), tmp_path, NAMES["x86-64-v1"], "tiny", embed=True)
    (tmp_path / "check.c").write_text(
        '#include "tiny.h"\n'
        "static _Alignas(64) char data[TINY_MUTABLE_BYTES + 64], arena[TINY_ARENA_BYTES + 64];\n"
        "int main(void)\n{\n"
        "  return tiny(0, data, arena) != WICK_BUNDLE_ENULL || tiny(tiny_constants, 0, arena) != WICK_BUNDLE_ENULL ||\n"
        "         tiny(tiny_constants, data, 0) != WICK_BUNDLE_ENULL ||\n"
        "         tiny(tiny_constants, data + 4, arena) != WICK_BUNDLE_EALIGN ||\n"
        "         tiny(tiny_constants, data, arena + 32) != WICK_BUNDLE_EALIGN ||\n"
        "         tiny(tiny_constants, data, arena) != WICK_BUNDLE_OK;\n}\n"
    )
    assert b.embed
    call([CC, "check.c", "tiny.o", "-o", "check"], cwd=tmp_path)
    call(["./check"], cwd=tmp_path)


@pytest.mark.parametrize("target", ["x86-64-v2", "rv64gc", "cortex-m4", "wasm32"])
def test_the_failure_of_a_kernel_is_returned(target, tmp_path):
    """Division by zero is one of an input's fault; without it the same bundle runs."""
    text = "graph @main(%x: i32[100], %y: i32[100]) -> i32[100] {\n  %0 = div %x, %y\n  return %0\n}\n"
    b = text_bundle(text, tmp_path, NAMES[target])
    x, y = np.arange(-50, 50, dtype=np.int32), np.full(100, 7, np.int32)
    assert (b.run(x, y)[0] == np.trunc(x / 7)).all()
    y[60] = 0
    with pytest.raises(AssertionError, match=r"program.*: 1\n|runner_wasm.*: 1\n"):
        b.run(x, y)


def test_folders_are_made(tmp_path):
    """`-o DIR` makes the folders above it, and the current folder is one."""
    model = TINY.save(tmp_path / "tiny.onnx")
    call([WICK, "compile", model, "-o", "a/b/c", "--target", "wasm32"], cwd=tmp_path)
    call([WICK, "compile", model, "-o", ".", "--target", "wasm32"], cwd=tmp_path)
    assert (tmp_path / "a" / "b" / "c" / "tiny.o").read_bytes() == (tmp_path / "tiny.o").read_bytes()


def test_models_run_as_bundles_with_the_command_line_of_run(tmp_path):
    """run_bundle.py takes what `wick run` takes, and writes the same files."""
    model, inputs = TINY.save(tmp_path / "tiny.onnx"), []
    for k, a in enumerate((TINY.x, TINY.add)):
        inputs.append(tmp_path / f"input_{k}.npy")
        np.save(inputs[-1], a)
    call([sys.executable, ROOT / "tests" / "bundle" / "run_bundle.py", model, "--inputs", *inputs, "--outputs", tmp_path / "out"])
    want = jit(model, tmp_path, HOST, TINY.x, TINY.add)
    assert len(want) == 2 == len(list((tmp_path / "out").iterdir()))
    for k, y in enumerate(want):
        np.testing.assert_allclose(np.load(tmp_path / "out" / f"output_{k}.npy"), y, rtol=1e-5, atol=1e-5)
