"""Processors: names, files and `wick calibrate` decide schedules, and results stay what they are."""

import os
import pathlib
import subprocess

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
HAND = """wick processor 1
# written by hand
name mine
machine x86-64
cache 32768 65536 0
line 2 8 20
products 1
products-bytes 32
latency 9
loads 1
loads-bytes 32
ghz 2
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WICK_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def model(tmp_path):
    w = np.random.default_rng(1).standard_normal((96, 40, 3, 3)).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", 1, [1, 40, 30, 31])],
                              [helper.make_tensor_value_info("y", 1, None)], [numpy_helper.from_array(w, "w")])  # fmt: skip
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def wick(*args, status=0):
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=300)
    assert r.returncode == status, (args, r.stdout, r.stderr)
    return r.stdout if status == 0 else r.stderr


def kernels(model, *args):
    return wick("compile", model, "--no-cache", "--target", "x86-64-v3", "--emit", "kernels", *args)


def test_a_processor_decides_schedules(model, tmp_path):
    hand = tmp_path / "mine"
    hand.write_text(HAND)
    typical = kernels(model)
    assert kernels(model, "--tune", "haswell") == typical
    assert kernels(model, "--tune", hand) != typical
    said = {name: kernels(model, "--tune", name) for name in ("zen2", "alderlake", "skylake-x")}
    assert all("schedule" in text for text in said.values())


def test_rows_that_a_processor_reads_at_once_are_not_copied_first(tmp_path):
    """`streams` says how many; a file that does not say it means 32."""
    text = tmp_path / "rows.wick-text"
    text.write_text("graph @f(%x: f32[1,96,4096], %w: f32[32,96,1]) -> f32[1,32,4096] { %0 = conv %x, %w return %0 }")
    hand = tmp_path / "mine"
    copied = []
    for streams in ("", "streams 64\n", "streams 96\n", "streams 512\n"):
        hand.write_text(HAND + streams)
        copied.append("at panel" in wick("opt", "-p", "form_kernels", "--target", "x86-64-v3", "--tune", hand, text))
    assert copied == [True, True, False, False]
    hand.write_text(HAND + "streams 0\n")
    assert 'there is no number in range for "streams"' in wick("opt", "-p", "form_kernels", "--tune", hand, text, status=1)


def test_a_measured_processor_is_used_for_the_host(model, tmp_path):
    before = wick("compile", model, "--no-cache", "--emit", "kernels")
    said = wick("calibrate")
    path = next((tmp_path / "cache").glob("processor-*"))
    assert str(path) in said and path.read_text().startswith("wick processor 1\nname measured\n")
    machine = path.read_text().splitlines()[2]
    path.write_text(HAND.replace("machine x86-64", machine))
    after = wick("compile", model, "--no-cache", "--emit", "kernels")
    assert after != before and wick("compile", model, "--no-cache", "--target", "host", "--emit", "kernels") == after


def test_artifacts_of_two_processors_have_keys_of_their_own(model, tmp_path):
    hand = tmp_path / "mine"
    hand.write_text(HAND)
    for given in ([], ["--tune", "zen2"], ["--tune", hand]):
        wick("compile", model, "--target", "x86-64-v3", "-o", tmp_path / "a.wick", *given)
    assert len(list((tmp_path / "cache").glob("*.wick"))) == 3


@pytest.mark.parametrize("text, message", [
    ("hello", "which begins with"),
    (HAND.replace("latency 9\n", ""), 'the line "latency" is missing'),
    (HAND.replace("latency 9", "latency x"), 'line 9: there is no number in range for "latency"'),
    (HAND.replace("latency 9", "latency nan"), 'line 9: there is no number in range for "latency"'),
    (HAND.replace("latency 9", "latency 9 9"), 'line 9: there is more than the numbers of "latency"'),
    (HAND.replace("machine x86-64", "machine vax"), 'line 4: there is no machine "vax"'),
    (HAND.replace("machine x86-64", "machine arm"), 'the target "x86-64-v3" is x86-64'),
    (HAND + "speed 3\n", 'line 13: this is not a line of a processor: "speed"'),
    (HAND.replace("name mine", "name " + 40 * "m"), "a name has 1 to 31 bytes"),
])  # fmt: skip
def test_files_that_are_wrong(model, tmp_path, text, message):
    (tmp_path / "p").write_text(text)
    assert message in wick("compile", model, "--target", "x86-64-v3", "--tune", tmp_path / "p", "-o", tmp_path / "a.wick", status=1)
    assert not (tmp_path / "a.wick").exists()


def test_names_that_are_unknown(model, tmp_path):
    said = wick("compile", model, "--target", "x86-64-v3", "--tune", "pentium", "-o", tmp_path / "a.wick", status=1)
    assert 'there is no processor "pentium"' in said and "icelake" in said
    said = wick("compile", model, "--target", "x86-64-v3", "--tune", "neoverse-n1", "-o", tmp_path / "a.wick", status=1)
    assert "aarch64" in said
