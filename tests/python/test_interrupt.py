"""Ctrl-C while a model is loaded and compiled, in Python and in the commands: it ends at once, and leaves nothing."""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest

np = pytest.importorskip("numpy")
onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from built import BUILD, PACKAGE  # noqa: E402

LAYERS, WIDTH = 16, 192
SHARE = 0.25  # of a compilation without an interrupt: an interrupted one ends within this time of the signal

CHILD = """
import json, os, sys, time, threading
sys.path.insert(0, sys.argv[1])
import numpy as np, wick
print("begin", flush=True)
session, done = None, False
try:
    begin = time.monotonic()
    session = wick.InferenceSession(sys.argv[2])
    x = np.zeros((3, int(sys.argv[3])), np.float32)
    session.run(None, {"x": x})
    done = True
    print(json.dumps({"took": time.monotonic() - begin}), flush=True)
except KeyboardInterrupt:
    at = time.monotonic()
    tasks = [pid for t in os.listdir("/proc/self/task") for pid in open(f"/proc/self/task/{t}/children").read().split()]
    small = wick.run(b"graph @main(%x: f32[2]) -> f32[2] { %y = add %x, %x; return %y }", np.ones(2, np.float32))
    print(json.dumps({"at": at, "children": tasks, "small": small.tolist()}), flush=True)
if len(sys.argv) > 4 and not done:  # the session that was interrupted can be used
    session = session or wick.InferenceSession(sys.argv[2])
    session.run(None, {"x": x})
    print(json.dumps({"again": True}), flush=True)
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Different layers, so that each has its own code; N is dynamic."""
    rng, weights, nodes, x = np.random.default_rng(0), [], [], "x"
    for k in range(LAYERS):
        width, after = WIDTH + k % 40, WIDTH + (k + 1) % 40
        if k + 1 == LAYERS:
            after = WIDTH
        weights.append(numpy_helper.from_array((rng.standard_normal((width, after)) / 16).astype("f"), f"w{k}"))
        op = ["Relu", "Tanh", "Sigmoid", "Softplus", "Softmax", "Erf"][k % 6]
        nodes += [helper.make_node("MatMul", [x, f"w{k}"], [f"m{k}"]), helper.make_node(op, [f"m{k}"], [f"y{k}"])]
        x = f"y{k}"
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", WIDTH])],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["N", WIDTH])], weights)
    path = tmp_path_factory.mktemp("model") / "big.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    return path


def started(model, cache, *more):
    p = subprocess.Popen([sys.executable, "-c", CHILD, PACKAGE, model, str(WIDTH), *more], stdout=subprocess.PIPE, text=True,
                         env={**os.environ, "WICK_CACHE_DIR": str(cache)})
    assert p.stdout.readline() == "begin\n"
    return p


@pytest.fixture(scope="module")
def whole(model, tmp_path_factory):
    """Seconds of a compilation without an interrupt."""
    out, _ = started(model, tmp_path_factory.mktemp("cache")).communicate(timeout=300)
    return json.loads(out)["took"]


def left(folder):
    return [f.name for f in pathlib.Path(folder).rglob("*") if f.is_file() and (f.suffix == ".part" or ".wick-" in f.name)]


def ended(pids):
    return [pid for pid in pids if pathlib.Path(f"/proc/{pid}").exists()]


def children(pid):
    try:
        return [int(c) for t in os.listdir(f"/proc/{pid}/task") for c in open(f"/proc/{pid}/task/{t}/children").read().split()]
    except FileNotFoundError:
        return []


def test_python(model, whole, tmp_path):
    rng, late = random.Random(1), []
    for k in range(6):
        cache = tmp_path / str(k)
        p = started(model, cache)
        time.sleep((k + rng.random()) / 6 * whole * 0.9)
        sent = time.monotonic()
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=60)
        said = json.loads(out)
        if "took" in said:  # it was done already
            continue
        late.append(said["at"] - sent)
        assert p.returncode == 0 and said["small"] == [2, 2] and not said["children"]
        assert not left(cache)
    print(f"KeyboardInterrupt after {', '.join(f'{1e3 * t:.0f}' for t in late)} ms; a compilation takes {whole:.1f} s")
    assert len(late) > 2 and sorted(late)[len(late) // 2] < SHARE * whole, (late, whole)


def test_the_session_can_be_used_again(model, whole, tmp_path):
    p = started(model, tmp_path, "again")
    time.sleep(whole / 2)
    p.send_signal(signal.SIGINT)
    out, _ = p.communicate(timeout=300)
    assert p.returncode == 0 and json.loads(out.splitlines()[-1]) == {"again": True}


@pytest.mark.parametrize("command", ["compile", "bundle", "run", "bench", "tune"])
def test_commands(command, model, whole, tmp_path):
    x = tmp_path / "x.npy"
    np.save(x, np.zeros((3, WIDTH), "f"))
    words = {"compile": ["compile", model, "-o", tmp_path / "m.wick"], "bundle": ["compile", model, "--dim", "N=1..64", "-o", tmp_path / "m"],
             "run": ["run", model, "-i", x, "-o", tmp_path / "out"], "bench": ["bench", model, "--dim", "N=4"],
             "tune": ["tune", model, "--dim", "N=4", "--minutes", "1", "-o", tmp_path / "m.records"]}[command]
    rng = random.Random(command)
    for k, number in enumerate([signal.SIGINT, signal.SIGTERM]):
        p = subprocess.Popen([BUILD / "wick", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             env={**os.environ, "WICK_CACHE_DIR": str(tmp_path / f"cache{k}")})
        time.sleep(rng.uniform(0.1, 0.7) * whole)
        below, sent = children(p.pid), time.monotonic()
        p.send_signal(number)
        p.wait(timeout=60)
        took = time.monotonic() - sent
        if p.returncode == 0:
            continue
        assert p.returncode == -number  # of which a shell makes 130
        assert took < SHARE * whole, (took, whole)
        assert not left(tmp_path)
        assert not ended(below)


def test_a_shell_says_130(model, whole, tmp_path):
    shell = subprocess.Popen(["bash", "-c", '"$@"; echo $?', "bash", BUILD / "wick", "compile", model, "-o", tmp_path / "m.wick"],
                             env={**os.environ, "WICK_CACHE_DIR": str(tmp_path)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    while not children(shell.pid):
        time.sleep(0.01)
    time.sleep(whole / 4)
    for pid in children(shell.pid):
        os.kill(pid, signal.SIGINT)
    assert shell.communicate(timeout=60)[0] == "130\n"
