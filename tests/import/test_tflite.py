"""TensorFlow Lite: the fixtures' outputs are LiteRT's; integers of its reference kernels are compared exactly."""

import json
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
SHARED = ROOT.parent / "shared"
FEW = ["frontends/tflite-float/lenet", "frontends/tflite-float/gru_loop", "frontends/tflite-dynamic/dsnet", "frontends/tflite-int8/dsnet",
       "frontends/tflite-int8/lenet", "models/ad_autoencoder_int8", "models/kws_dscnn_int8"]  # fmt: skip


def fixtures():
    """A few of them, or all with WICK_ALL_FIXTURES=1."""
    folders = [SHARED / f for f in FEW]
    if os.environ.get("WICK_ALL_FIXTURES"):
        folders = list((SHARED / "frontends").glob("tflite-*/*")) + list((SHARED / "models").glob("*"))
    return sorted(f for f in folders if (f / "model.json").exists() and json.loads((f / "model.json").read_text())["format"] == "tflite")


def run(*args):
    return subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=120, errors="replace")


def compare(got, want, tolerance, quanta):
    assert got.shape == want.shape and got.dtype == want.dtype
    if want.dtype.kind == "f":
        assert np.all(np.abs(got - want) <= tolerance["atol"] + tolerance["rtol"] * np.abs(want))
    else:
        assert np.abs(got.astype(np.int64) - want.astype(np.int64)).max() <= quanta


@pytest.mark.skipif(not SHARED.exists(), reason="the fixtures are not there")
@pytest.mark.parametrize("folder", fixtures(), ids=lambda f: f"{f.parent.name}/{f.name}")
def test_fixture(folder, tmp_path):
    about = json.loads((folder / "model.json").read_text())
    inputs = sorted(folder.glob("input_*.npy"))
    r = run("run", folder / about["model"], "--inputs", *inputs, "--outputs", tmp_path)
    assert r.returncode == 0, r.stderr
    for path in sorted(folder.glob("output_*.npy")):
        exact = "BUILTIN_REF" in about["reference"]["settings"]  # other kernels round otherwise
        compare(np.load(tmp_path / path.name), np.load(path), about["tolerance"], 0 if exact else about["tolerance"].get("max_quanta", 0))


def test_cut_off(tmp_path):
    """A file that ends early is an error that says where, and never a crash."""
    files = list((SHARED / "frontends" / "tflite-int8" / "lenet").glob("*.tflite"))
    if not files:
        pytest.skip("the fixtures are not there")
    data = files[0].read_bytes()
    path = tmp_path / "m.tflite"
    for n in [*range(8, 64, 4), *range(64, len(data), len(data) // 40)]:
        path.write_bytes(data[:n])
        r = run("check", path)
        assert r.returncode in (0, 1) and (r.returncode == 0 or "m.tflite: " in r.stdout + r.stderr), (n, r)


WRONG = {
    "ellipses": "(STRIDED_SLICE): it has 3 ellipses, at most one is possible",
    "axes": "(STRIDED_SLICE): its rank is 46, the most is 16",
    "bools": "(ADD): it is not supported for quantized i8",
    "coupled": "(LSTM): with twelve intermediate results it is supported with an input gate",
    "missing": "(LOGICAL_AND): operand 0 is missing",
}


@pytest.mark.parametrize("name", WRONG)
def test_models_that_are_wrong(name):
    r = run("check", ROOT / "tests" / "fuzz" / "tflite" / f"{name}.tflite")
    assert r.returncode == 1 and WRONG[name] in r.stdout + r.stderr


@pytest.mark.skipif(not SHARED.exists(), reason="the fixtures are not there")
@pytest.mark.parametrize("name", ["resnet8_float", "resnet8_int8"])
def test_no_transpose_between_layers(name):
    """Images have the channels last; only the input is turned, also around residual sums."""
    files = list((SHARED / "models" / name).glob("*.tflite"))
    r = run("compile", files[0], "--emit", "graph")
    assert r.returncode == 0, r.stderr
    assert r.stdout.count("= transpose") <= 1


@pytest.mark.skipif(not SHARED.exists(), reason="the fixtures are not there")
@pytest.mark.parametrize("name", ["resnet8_int8", "vww_mobilenet_int8"])
def test_products_of_bytes(name):
    """All convolutions multiply bytes, also the first, whose image has the channels last."""
    files = list((SHARED / "models" / name).glob("*.tflite"))
    r = run("compile", files[0], "--target", "x86-64-v4+avx512vnni", "--emit", "graph")
    assert r.returncode == 0, r.stderr
    assert "= conv_packed" in r.stdout and "= conv " not in r.stdout
