"""--json: one object on stdout, and nothing else there, with the members that docs/json.md names."""

import json
import os
import pathlib
import re
import subprocess

import pytest

np = pytest.importorskip("numpy")

ROOT = pathlib.Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits"
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
DOCS = (ROOT / "docs" / "json.md").read_text()


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))


def report(*args, status=0):
    r = subprocess.run([WICK, *map(str, args), "--json"], capture_output=True, text=True, timeout=300)
    assert r.returncode == status, (args, r.stdout, r.stderr)
    found = json.loads(r.stdout, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    section = DOCS.split(f"## wick {args[0]}\n")[1].split("\n## ")[0]
    named = set(re.findall(r"`[\].[]*(\w+)`", section))
    assert isinstance(found, dict) and set(found) <= named, set(found) - named
    return found


def test_compile(tmp_path):
    found = report("compile", DIGITS / "digits.onnx", "-o", tmp_path / "d.wick", "-i", DIGITS / "two.png")
    assert found["kind"] == "artifact" and found["constants_bytes"] > 0 and not found["from_cache"]
    assert {"what", "bound", "largest", "rms"} == set(found["errors"][0]) and found["errors"][0]["rms"] < 1e-5
    found = report("compile", DIGITS / "digits.onnx", "-o", tmp_path / "b")
    assert found["kind"] == "bundle" and found["output"] == str(tmp_path / "b")


def test_bench():
    found = report("bench", DIGITS / "digits.onnx", "-s", 0.05, "-t", 1)
    t = found["latency"]
    assert 0 < t["minimum_seconds"] <= t["p50_seconds"] <= t["p90_seconds"] <= t["p99_seconds"] < 1 and t["runs"] >= 3
    seconds = [k["seconds"] for k in found["kernels"]]
    assert found["threads"] == 1 and seconds == sorted(seconds, reverse=True) and "reason" not in found["kernels"][0]
    found = report("bench", DIGITS / "digits.onnx", "-s", 0.05, "-t", 2, "--roofline")
    assert found["scaling"]["threads"] == 2 and found["kernels"][0]["floor_seconds"] > 0
    r = subprocess.run([WICK, "bench", DIGITS / "digits.onnx", "--pipe", "--json"], capture_output=True)
    assert r.returncode == 2


def test_plan(tmp_path):
    found = report("plan", DIGITS / "digits.onnx")
    assert found["arena_bytes"] >= found["bound_bytes"] > 0 and found["kernels"] > 0
    (tmp_path / "t").write_text("MODEL m\nALLOC 0 100\nALLOC 1 50\nFREE 0\nFREE 1\n")
    said = subprocess.run([WICK, "plan", tmp_path / "t"], capture_output=True, text=True)
    found = report("plan", tmp_path / "t")
    assert found["traces"][0]["name"] == "m" and found["traces"][0]["arena_bytes"] == int(said.stdout.split()[1])


def test_tune(tmp_path):
    found = report("tune", DIGITS / "digits.onnx", "-m", 0.02, "-o", tmp_path / "r")
    assert found["records"] == str(tmp_path / "r") and (tmp_path / "r").exists() and found["groups"] > 0
    assert found["seconds_after"] > 0 and found["gain"] > 0


def test_run():
    found = report("run", DIGITS / "digits.onnx", "-i", DIGITS / "two.png")
    assert found["outputs"][0]["classes"][0][0]["label"] == "two" and found["outputs"][0]["shape"] == [1, 10]


def test_targets():
    found = report("targets")
    assert found["targets"] and "icelake" in {p["name"] for p in found["processors"]}


def test_text_that_is_no_utf8(tmp_path):
    model = os.fsencode(tmp_path) + b"/\xff\xe9.txt"
    with open(model, "w") as f:
        f.write("graph @main(%x: f32[1]) -> f32[1] {\n  return %x\n}\n")
    np.save(tmp_path / "x.npy", np.float32([1]))
    r = subprocess.run([WICK, "run", model, "-i", tmp_path / "x.npy", "--json"], capture_output=True)
    assert r.returncode == 0, r.stderr
    assert json.loads(r.stdout.decode())["model"].endswith("\ufffd\ufffd.txt")


def test_calibrate(tmp_path):
    found = report("calibrate", "-o", tmp_path / "processor")
    assert found["path"] == str(tmp_path / "processor") and len(found["cache_bytes"]) == 3
    assert 0 < found["line_cycles"][0] <= found["line_cycles"][1] <= found["line_cycles"][2]
    assert found["products"] > 0 and found["loads"] > 0 and found["latency_cycles"] > 0
