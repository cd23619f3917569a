"""--dim, and shapes of inputs, for modules in text: the sizes are put in, or refused outside of the range that the module has."""

import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401: finds the package
import wick  # noqa: E402

WICK = os.environ.get("WICK_COMMAND", str(pathlib.Path(__file__).parents[2] / "build" / "wick"))
ONE = "graph @main(%x: f32[N[1..8],3]) -> f32[N,3] {\n  %y = tanh %x\n  return %y\n}\n"
TWO = """graph @f(%x: f32[N[1..8],3]) -> f32[N,3] {
  %y = tanh %x
  return %y
}
graph @main(%x: f32[N[1..8],3]) -> f32[N,3] {
  %y = call @f %x : f32[N,3]
  return %y
}
"""


def command(*args):
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=300)
    return r.returncode, r.stdout + r.stderr


@pytest.mark.parametrize("text", [ONE, TWO])
def test_sizes_are_put_in(text, tmp_path):
    model, artifact = tmp_path / "m.txt", tmp_path / "m.wick"
    model.write_text(text)
    assert command("compile", model, "-o", artifact, "--dim", "N=4")[0] == 0
    status, said = command("check", artifact)
    assert status == 0 and "x: f32[4,3]" in said and "  size" not in said
    for args in ["bench", "-s", "0.01"], ["plan"], ["explain"]:
        status, said = command(args[0], model, *args[1:], "--dim", "N=4")
        assert status == 0, said
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    for program in wick.compile(model, sizes={"N": 4}), wick.compile(model, shapes={"x": (4, 3)}):
        assert program.inputs[0].shape == (4, 3)
        np.testing.assert_allclose(program(x), np.tanh(x), rtol=1e-6)
    assert wick.compile(model, dynamic=True).inputs[0].shape == (-1, 3)


@pytest.mark.parametrize("dim, why", [("N=9", "m.txt: the size N is 9, expected 1 to 8"), ("N=0", "m.txt: the size N is 0, expected 1 to 8"),
                                      ("M=4", "no input has a size named M"),
                                      ("N=1..4", "a module in text has the ranges of its sizes itself")])  # fmt: skip
def test_what_is_refused(dim, why, tmp_path):
    (tmp_path / "m.txt").write_text(ONE)
    status, said = command("compile", tmp_path / "m.txt", "-o", tmp_path / "m.wick", "--dim", dim)
    assert status == 1 and why in said


@pytest.mark.parametrize("text", [ONE, TWO])
def test_opt_and_check_take_sizes(text, tmp_path):
    model = tmp_path / "m.txt"
    model.write_text(text)
    status, said = command("opt", model, "--dim", "N=4")
    assert status == 0 and "f32[4,3]" in said and "N" not in said
    status, said = command("check", model, "--dim", "N=4")
    assert status == 0 and "x: f32[4,3]" in said
    for name in "opt", "check":
        for given, want in (("N=9", "the size N is 9, expected 1 to 8"), ("M=2", "no input has a size named M"),
                            ("N=1..4", "a module in text has the ranges of its sizes itself")):  # fmt: skip
            status, said = command(name, model, "--dim", given)
            assert status == 1 and want in said
