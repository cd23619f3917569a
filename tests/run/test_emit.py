"""Any level of any model: `wick compile --emit`, and the same passes on text by `wick opt`."""
import json
import os
import subprocess

import pytest

WICK = os.environ.get("WICK_COMMAND", "build/wick")
DIGITS = "examples/digits/digits.onnx"
TEXT = ["graph", "kernels", "low", "loop", "llvm", "asm"]
BEGINS = {"graph": "graph @main(", "kernels": "group @main.", "low": "low @main(", "loop": "loop @main."}


def emit(*options, model=DIGITS):
    target = [] if "--target" in options else ["--target", "x86-64-v4"]  # the numbers in kernels' names differ otherwise
    return subprocess.run([WICK, "compile", str(model), "--emit", *options, *target],
                          capture_output=True, check=False)


@pytest.mark.parametrize("level", TEXT)
def test_level(level):
    done = emit(level)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert text.startswith(BEGINS.get(level, ""))
    if level in ("loop", "llvm", "asm"):
        assert "main.softmax.10.loop" in text


@pytest.mark.parametrize("level", ["kernels", "loop", "llvm", "asm"])
@pytest.mark.parametrize("name", ["main.softmax.10", "main.softmax.10.loop"])
def test_kernel(level, name):
    text = emit(level, "--kernel", name).stdout.decode()
    assert "main.softmax.10" in text
    assert "matmul" not in text.split("loc(")[0] and "main.matmul.9" not in text


def test_object(tmp_path):
    done = emit("obj", "-o", str(tmp_path / "all.o"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "all.o").read_bytes().startswith(b"\x7fELF")


@pytest.mark.parametrize("target", ["x86-64-v2", "armv8-a"])
def test_target(target):
    text = emit("asm", "--target", target).stdout.decode()
    assert ("ret" in text) and ("zmm" not in text)


@pytest.mark.parametrize("element", ["i8", "i32", "u64", "bool"])
def test_casts_of_half_floats_stay_in_vectors(tmp_path, element):
    """LLVM would compare f16 lane by lane, in about 1,900 lines."""
    cast = tmp_path / "cast.txt"
    cast.write_text(f"graph @main(%x: f16[3000]) -> {element}[3000] {{ %y = cast %x : {element}[3000] return %y }}\n")
    text = emit("asm", model=cast).stdout.decode()
    assert "zmm" in text and "ucomis" not in text


def test_sizes_that_vary(tmp_path):
    rows = tmp_path / "rows.txt"
    rows.write_text("graph @main(%x: f32[N[1..64],3]) -> f32[N,3] { %y = relu %x return %y }\n")
    done = emit("loop", model=rows)
    assert done.returncode == 0 and b"@main.sizes" in done.stdout


@pytest.mark.parametrize("options, said", [
    (["nothing"], "--emit: expected graph, kernels"),
    (["kernels", "--kernel", "nothing"], "there is no kernel \"nothing\"; there are main.cast.0"),
    (["graph", "--kernel", "main.cast.0"], "has no parts for kernels"),
])
def test_refused(options, said):
    done = emit(*options)
    assert done.returncode != 0 and said in done.stderr.decode()


GRAPH = "graph @main(%x: f32[4,3], %w: f32[3,2]) -> f32[4,2] { %y = matmul %x, %w return %y }\n"


def opt(tmp_path, *options):
    path = tmp_path / "graph.txt"
    path.write_text(GRAPH)
    return subprocess.run([WICK, "opt", str(path), *options], capture_output=True, text=True,
                          check=False)


def test_pipeline(tmp_path):
    whole = opt(tmp_path, "--pipeline", "default", "--target", "x86-64-v3")
    assert whole.returncode == 0 and "loop @main.entry(" in whole.stdout
    kernels = opt(tmp_path, "--pipeline", "kernels")
    assert "low @main(" in kernels.stdout and "loop @" not in kernels.stdout


def test_until(tmp_path):
    low = opt(tmp_path, "--pipeline", "default", "--until", "plan_memory", "--target", "x86-64-v3")
    assert low.returncode == 0 and "low @main(" in low.stdout and "loop @" not in low.stdout
    wrong = opt(tmp_path, "--pipeline", "default", "--until", "constant_fold:9")
    assert wrong.returncode != 0 and "did not come to" in wrong.stderr
    assert "there is no pass" in opt(tmp_path, "--pipeline", "default", "--until", "nothing").stderr
    assert "there is no pipeline" in opt(tmp_path, "--pipeline", "nothing").stderr


def test_times_cover_every_level(tmp_path):
    done = opt(tmp_path, "--pipeline", "default", "--time-passes")
    for name in ("constant_fold", "form_kernels", "plan_memory", "lower", "legalize"):
        assert any(line.startswith(name + " ") for line in done.stderr.splitlines()), name


def test_large_weights_are_printed_with_their_data(tmp_path):
    """Passes defer the bytes of large weights; text without them could not be compiled."""
    big = "constant @w : f32[64,64,3,3] = [" + ", ".join(["0.5"] * (64 * 64 * 9)) + "]\n"
    path, after = tmp_path / "big.txt", tmp_path / "after.txt"
    path.write_text(big + "graph @main(%x: f32[1,64,8,8]) -> f32[1,64,8,8] {\n  %w = const @w : f32[64,64,3,3]\n"
                    "  %y = conv %x, %w {pad=[1,1,1,1]}\n  %s = const 2 : f32[]\n  %z = mul %y, %s\n  return %z\n}\n")
    done = subprocess.run([WICK, "opt", str(path), "--pipeline", "graph", "-o", str(after)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([WICK, "compile", str(after), "--emit", "low"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(" = " in line for line in after.read_text().splitlines() if line.startswith("constant @w."))


def explain(*options):
    done = subprocess.run([WICK, "explain", *options], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_templates_of_kernels():
    """Each kernel's schedule template, in `wick explain` and in the step that keeps it."""
    found = json.loads(explain(DIGITS, "--json", "--target", "x86-64-v3"))["kernels"]
    templates = {k["name"]: k["template"] for k in found}
    assert templates["main.conv_packed.2.loop"] == "outer_product" and templates["main.conv_winograd.3.loop"] == "winograd"
    assert templates["main.softmax.10.loop"] == "normalize" and templates["halo.12.loop"] is None
    assert all(k["schedule"].startswith(f"template {k['template']}; ") for k in found if k["template"])
    lines = [line.split()[:2] for line in explain(DIGITS, "--target", "x86-64-v3").splitlines() if ".loop " in line]
    assert lines == [[k["name"], k["template"] or "none"] for k in found]
    listed = subprocess.run([WICK, "opt", "--schedule-steps", "--markdown"], capture_output=True, text=True, check=True).stdout
    assert all(f"| `{t}` |" in listed for t in templates.values() if t)
