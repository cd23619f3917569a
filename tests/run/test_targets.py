"""wick targets: the list for people and for programs, and code for each target."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
TEXT = "graph @main(%x: f32[2,3], %w: f32[3,4]) -> f32[2,4] {\n  %y = matmul %x, %w\n  return %y\n}\n"


def wick(*args):
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=300)
    assert r.returncode == 0 and not r.stderr, (args, r.stdout, r.stderr)
    return r.stdout


REPORT = json.loads(wick("targets", "--json"))


def test_targets():
    said = wick("targets")
    rows = {t["name"]: t for t in REPORT["targets"]}
    assert {f"cortex-m{n}" for n in (0, 3, 4, 7, 55)} | {"x86-64-v3", "armv8-a", "rv64gc", "wasm32"} <= rows.keys()
    for name, t in rows.items():
        assert any(line[2:].split()[0] == name for line in said.splitlines() if line[2:].strip()), name
        assert t["description"] in said and t["bundles"] and t["artifacts"] == (t["pointer_bits"] == 64)
        assert all(need in said for need in t["needs"])
    assert rows["x86-64-v3"]["needs"] == ["SSE4.2", "AVX2", "FMA", "F16C", "BMI2"]
    assert "avx512vnni" in rows["x86-64-v4"]["extras"] and rows["x86-64-v4"]["vector_bits"] == 512
    if REPORT["host"]:
        assert rows[REPORT["host"].split("+")[0]]["runs_here"] and f"host: {REPORT['host']}" in said
    assert sum(t["runs_here"] for t in rows.values()) == said.count("\n* ") - 1


@pytest.mark.parametrize("name", [f"{t['name']}{''.join('+' + e for e in t['extras'])}" for t in REPORT["targets"]])
def test_there_is_code_for_it(name, tmp_path):
    (tmp_path / "m.txt").write_text(TEXT)
    wick("compile", tmp_path / "m.txt", "-o", tmp_path / "b", "--target", name, "--name", "net")
    assert {p.name for p in (tmp_path / "b").iterdir()} >= {"net.o", "net.h"}
