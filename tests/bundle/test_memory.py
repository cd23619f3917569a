"""The memory sizes in a bundle's header: the stack is measured, flash and RAM are sums of the parts."""

import json
import subprocess

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")

from bundles import ROOT, TARGETS, WICK, Bundle, call, each_target  # noqa: E402

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
TEXT = "graph @main(%x: f32[4,6], %w: f32[6,4]) -> f32[4,4] {\n  %y = matmul %x, %w\n  %z = exp %y\n  return %z\n}\n"
# Vectors are spilled to a part of the stack whose size only the machine knows; WebAssembly has a stack of its own.
UNKNOWN = {"armv8.2-a-sve256", "armv8.2-a-sve512", "rv64gcv", "rv64gcv-zvl256b", "rv64gcv-zvl512b", "wasm32", "wasm32-simd"}
MEASURED = [t for t in TARGETS if t.name not in UNKNOWN]


@pytest.mark.parametrize("model", ["digits", "text"])
@pytest.mark.parametrize("target", MEASURED, ids=repr)
def test_the_stack_is_bounded(model, target, tmp_path):
    """On a stack that was painted before."""
    target.want()
    path = DIGITS
    if model == "text":
        path = tmp_path / "m.txt"
        path.write_text(TEXT)
    b = Bundle(path, tmp_path / "b", target, "net", embed=True)
    b.link("stack.c", f"-DSTACK={b.size('STACK')}", *(["-Wl,-z,now"] if target.kind == "native" else []))
    r = subprocess.run([*map(str, target.emulator), str(b.program)], capture_output=True, timeout=600, stdin=subprocess.DEVNULL)
    assert r.returncode == 0, (r.stdout, r.stderr)


@each_target
def test_flash_and_ram(target, tmp_path):
    plain, embedded = (Bundle(DIGITS, tmp_path / str(e), target, "net", embed=e) for e in (False, True))
    for b in (plain, embedded):
        assert b.size("RAM") == b.size("MUTABLE") + b.size("ARENA")
        assert b.size("CONSTANTS") < b.size("FLASH") <= b.size("CONSTANTS") + (b.folder / "net.o").stat().st_size
        assert ("NET_STACK_BYTES" in b.macro) == (target.name not in UNKNOWN)
    assert abs(plain.size("FLASH") - embedded.size("FLASH")) <= 4096


def test_the_command_says_it(tmp_path):
    args = [WICK, "compile", DIGITS, "-o", tmp_path / "b", "--name", "net", "--target", "cortex-m4"]
    said, found = call(args).decode(), json.loads(call([*args, "--json"]))
    b = Bundle(DIGITS, tmp_path / "b", next(t for t in TARGETS if t.name == "cortex-m4"))
    for what in ("flash", "ram", "stack"):
        assert found[f"{what}_bytes"] == b.size(what.upper()) and f" {found[f'{what}_bytes']} bytes" in said


@each_target
def test_donated_inputs(target, tmp_path):
    """They are where their outputs are, and are updated in place."""
    target.want()
    path = tmp_path / "m.wick"
    path.write_text("graph @main(%w: f32[4,6], %g: f32[4,6], %t: f32[9]) -> (f32[9], f32[4,6]) {\n"
                    "  %v = sub %w, %g\n  %u = mul %t, %t\n  return %u, %v\n}\n")
    plain, given = (Bundle(path, tmp_path / str(len(more)), target, "net", more=more) for more in ((), ("--donate", "w,t")))
    assert [io.offset for io in given.outputs] == [given.inputs[2].offset, given.inputs[0].offset]
    assert given.size("MUTABLE") < plain.size("MUTABLE") and "is updated" in given.header
    arrays = [np.arange(24, dtype=np.float32).reshape(4, 6), np.full((4, 6), 0.25, np.float32), np.linspace(-1, 1, 9, dtype=np.float32)]
    for a, b in zip(plain.run(*arrays), given.run(*arrays), strict=True):
        assert a.tobytes() == b.tobytes()
