"""wick fmt: files in place, --check, --print, standard input, mistakes."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
UGLY, GOOD = "fn f(x){x+1} // more\n", "fn f(x) { x + 1 } // more\n"


def fmt(*args, **more):
    return subprocess.run([WICK, "fmt", *args], capture_output=True, text=True, **more)


def test_writes_files_in_place(tmp_path):
    a, b = tmp_path / "a.wick", tmp_path / "b.wick"
    a.write_text(UGLY), b.write_text(GOOD)
    before = b.stat().st_mtime_ns
    assert fmt("--check", str(a), str(b)).stdout == f"{a}\n"
    assert fmt("--check", str(a)).returncode == 1
    assert a.read_text() == UGLY
    assert fmt("--print", str(a)).stdout == GOOD
    r = fmt(str(a), str(b))
    assert (r.returncode, r.stdout, a.read_text(), b.read_text()) == (0, "", GOOD, GOOD)
    assert b.stat().st_mtime_ns == before
    assert fmt("--check", str(a), str(b)).returncode == 0


def test_reads_standard_input():
    assert fmt("-", input=UGLY).stdout == GOOD


def test_a_file_with_mistakes_stays(tmp_path):
    a = tmp_path / "a.wick"
    a.write_text("fn f( { 1 }\n\nfn g() { 2 3 }\n")
    r = fmt(str(a))
    assert r.returncode == 1 and a.read_text().startswith("fn f( {")
    assert f"{a}:1:7: error: " in r.stderr and f"{a}:3:12: error: " in r.stderr


def test_ten_thousand_lines_are_quick(tmp_path):
    a = tmp_path / "a.wick"
    a.write_text("fn f(x) {\n  let y = g(x, 1 + 2)\n  y with [0] = x[1, 2:3]\n}\n\n" * 2000)
    assert fmt(str(a), timeout=10).returncode == 0
