"""`wick convert` of the other formats' models: the ONNX model has their results, in two runs of a session, states and all.

A few of them; with WICK_CONVERT_ALL=1 all, a minute."""

import json
import os
import pathlib
import subprocess

import pytest

np = pytest.importorskip("numpy")

import built  # noqa: E402, F401  (finds the package)
import wick  # noqa: E402
from states import converted_states  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
SHARED = pathlib.Path(os.environ.get("WICK_SHARED", ROOT.parent / "shared"))
FEW = ["caffe2/words", "coreml/lenet_lut4", "graphdef/gru", "keras-v3/dsnet", "mxnet/lenet", "tflite-int8/dsnet",
       "models/mnist_lstm_float", "models/mnist_lstm_int8"]  # fmt: skip


def models():
    found = []
    for path in sorted([*SHARED.glob("frontends/*/*/model.json"), *SHARED.glob("models/*/model.json")]):
        about, name = json.loads(path.read_text()), f"{path.parent.parent.name}/{path.parent.name}"
        if about["format"] in ("onnx", "torchscript") or not (name in FEW or os.environ.get("WICK_CONVERT_ALL")):
            continue
        found.append(pytest.param(path.parent, about["model"], id=name))
    return found


def close(got, want):
    """Floats are summed in another order; steps of fixed point are written as floats, which round within one."""
    assert got.shape == want.shape and got.dtype == want.dtype
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * max(1, np.abs(want).max(initial=0)))
    else:
        quanta = 1 if want.dtype in (np.int8, np.uint8, np.int16) else 0
        assert np.abs(got.astype(np.int64) - want.astype(np.int64)).max(initial=0) <= quanta


def command(*args):
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, errors="replace", timeout=300)
    assert r.returncode == 0, r.stderr


@pytest.mark.parametrize(("folder", "file"), models())
def test_formats_keep_their_results(tmp_path, folder, file):
    paths = sorted(folder.glob("input_*.npy"), key=lambda p: int(p.stem[6:]))
    inputs = [np.load(p) for p in paths]
    command("convert", folder / file, "-o", tmp_path / "m.onnx", "--inputs", *paths)
    session = wick.InferenceSession(str(tmp_path / "m.onnx"))
    now, following = converted_states(session)
    plain = [i.name for i in session.get_inputs() if i.name not in now]
    names = [o.name for o in session.get_outputs()]
    assert len(plain) == len(inputs)
    got = []
    for _ in range(2):
        results = dict(zip(names, session.run(None, {**now, **dict(zip(plain, inputs))})))
        now = {own: results[output] for own, output in following.items()}
        got.append([r for name, r in results.items() if name not in following.values()])
    twice = [tmp_path / p.name for p in paths]
    for path, x in zip(twice, inputs):
        np.save(path, np.stack([x, x]))
    command("run", folder / file, "--frames", "--inputs", *twice, "--outputs", tmp_path / "out")
    for k, first in enumerate(zip(*got)):
        want = np.load(tmp_path / "out" / f"output_{k}.npy")
        assert len(want) == 2 and not (tmp_path / "out" / f"output_{len(got[0])}.npy").exists()
        for f in range(2):
            close(first[f], want[f])
