"""States in bundles: what a call leaves in the mutable data for the next, on each kind of machine."""

import pathlib
import re
import subprocess

import numpy as np
import pytest
from bundles import CC, HOST, NAMES, TYPES, Bundle

FILES = pathlib.Path(__file__).parents[1] / "tflite" / "files"
MACHINES = [HOST, *(NAMES[n] for n in ("armv8-a", "rv64gc", "cortex-m0", "cortex-m4", "cortex-m55"))]

# %count begins with 7, %a with zeros; %a and %b are exchanged. One of them is read with an index that may be wrong.
MODEL = """
constant @start : i64[] = [7]
constant @some : f32[4] = [1, 2, 3, 4]
graph @main(@state(1, @start) %count: i64[], %i: i64[1], @state(3) %a: f32[4], @state(2, @some) %b: f32[4]) -> (f32[1], i64[], f32[4], f32[4]) {
  %y = gather %b, %i {axis=0}
  %one = const 1 : f32[4]
  %a2 = add %a, %one
  %more = const 1 : i64[]
  %next = add %count, %more
  return %y, %next, %a2, %b
}
"""

START = """
#include "net.h"
static _Alignas(NET_ALIGN) char data[NET_MUTABLE_BYTES], arena[NET_ARENA_BYTES];
#define RUN() net(net_constants, data, arena)
#define CHECK(x) do { if (!(x)) return __LINE__ % 90 + 1; } while (0)
"""

MAIN = (
    START
    + """
_Static_assert(NET_INPUTS == 1 && NET_OUTPUTS == 1 && NET_STATES == 3, "three states");
int main(void)
{
  for (unsigned long k = 0; k < sizeof data; k++) data[k] = 0x55;
  for (int round = 0; round < 2; round++) {
    static const float want[] = {3, 1, 4, 2, 5};
    net_reset(net_constants, data);
    CHECK(*NET_STATE_0(data) == 7 && NET_STATE_1(data)[3] == 0 && NET_STATE_2(data)[3] == 4);
    *NET_INPUT_0(data) = 2;
    for (int i = 0; i < 5; i++) {
      CHECK(RUN() == WICK_BUNDLE_OK && *NET_STATE_0(data) == 8 + i);
      CHECK(*NET_OUTPUT_0(data) == want[i]);
    }
    *NET_INPUT_0(data) = 9;
    CHECK(RUN() == WICK_BUNDLE_ERANGE);
  }
  return 0;
}
"""
)


def built(folder, model, text, target):
    target.want()
    b = Bundle(model, folder / "bundle", target, embed=True)
    (b.folder / "main.c").write_text(text if isinstance(text, str) else text(b))
    b.link(b.folder / "main.c", "-Wconversion")
    r = subprocess.run([str(c) for c in (*target.emulator, b.program)], cwd=folder, stdin=subprocess.DEVNULL, timeout=100)
    assert r.returncode == 0


@pytest.mark.parametrize("target", MACHINES, ids=repr)
def test_calls_and_resets(target, tmp_path):
    (tmp_path / "net.wick").write_text(MODEL)
    built(tmp_path, tmp_path / "net.wick", MAIN, target)


def literal(a):
    values = ", ".join(repr(float(v)) + "f" if a.dtype.kind == "f" else str(int(v)) for v in a.ravel())
    return f"{{{values}}}"


def streaming(kept):
    """A program that runs the frames of a streaming model twice, and compares each output with LiteRT's."""
    frames = [kept[n] for n in sorted(kept) if n.startswith("input")], [kept[n] for n in sorted(kept) if n.startswith("output")]

    def text(b):
        said, lines = START, []
        for kind, arrays in zip(("INPUT", "OUTPUT"), frames, strict=True):
            for k, (io, a) in enumerate(zip(b.inputs if kind == "INPUT" else b.outputs, arrays, strict=True)):
                c = {"float32": "float", "bool": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int"}[a.dtype.name]
                assert np.dtype(TYPES[io.type]) == a.dtype and a.dtype.itemsize <= 4
                n = a[0].size
                said += f"static const {c} {kind.lower()}_{k}[] = {literal(a)};\n"
                at = f"NET_{kind}_{k}(data)[k]"
                if kind == "INPUT":
                    lines.append(f"for (int k = 0; k < {n}; k++) {at} = input_{k}[f * {n} + k];")
                else:
                    d = f"(double)({at} - output_{k}[f * {n} + k])"
                    lines.append(f"for (int k = 0; k < {n}; k++) CHECK({d} < 1e-5 && {d} > -1e-5);")
        runs = [x for x in lines if "CHECK" not in x] + ["CHECK(RUN() == 0);"] + [x for x in lines if "CHECK" in x]
        body = "\n      ".join(runs)
        return f"{said}int main(void)\n{{\n  for (int round = 0; round < 2; round++) {{\n    net_reset(net_constants, data);\n    for (int f = 0; f < {len(frames[0][0])}; f++) {{\n      {body}\n    }}\n  }}\n  return 0;\n}}\n"

    return text


@pytest.mark.parametrize("target", [HOST, NAMES["armv8-a"], NAMES["cortex-m4"]], ids=repr)
@pytest.mark.parametrize("path", sorted(FILES.glob("*.tflite")), ids=lambda p: p.stem)
def test_streaming_models(path, target, tmp_path):
    built(tmp_path, path, streaming(np.load(path.with_suffix(".npz"))), target)


def test_the_header_is_c_of_1989_and_cxx(tmp_path):
    (tmp_path / "net.wick").write_text(MODEL)
    b = Bundle(tmp_path / "net.wick", tmp_path / "b", HOST, embed=True)
    (tmp_path / "t.c").write_text('#include "net.h"\nint main(void) { return 0; }\n')
    for language, standard in (("c", "c89"), ("c++", "c++11")):
        command = [CC, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wno-long-long", "-Werror", f"-I{tmp_path / 'b'}", "-c", tmp_path / "t.c", "-o", tmp_path / "t.o"]
        subprocess.run([str(c) for c in command], check=True)
    example = re.search(r"net_reset\(net_constants, data\);.*?if \(net\(", b.header, re.S)
    assert example  # the example of the header sets the states, too
