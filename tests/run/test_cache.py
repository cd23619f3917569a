"""wick cache: what it lists, and that it removes nothing but its own files."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))


def wick(folder, *args, status=0, **more):
    env = {**os.environ, "WICK_CACHE_DIR": str(folder), **more}
    r = subprocess.run([WICK, *map(str, args)], capture_output=True, text=True, timeout=300, env=env)
    assert r.returncode == status, (args, r.stdout, r.stderr)
    return r.stdout if status == 0 else r.stderr


def test_cache(tmp_path):
    c = tmp_path / "cache"
    assert wick(c, "cache") == f"{c}: 0 entries, 0.00 MiB\n"  # it need not be there
    wick(c, "plan", DIGITS)
    wick(c, "bench", DIGITS, "-s", 0.01)
    (name,) = os.listdir(c)
    size = (c / name).stat().st_size
    listed = wick(c, "cache", "list").split()
    assert listed[0] == name and int(listed[1]) == size and listed[-1] == "digits.onnx"
    found = json.loads(wick(c, "cache", "list", "--json"))
    (one,) = found["list"]
    assert one["name"] == name and one["model"] == "digits.onnx" and one["target"] and one["used"].endswith("Z")
    assert (found["path"], found["entries"], found["size_bytes"]) == (str(c), 1, size)
    assert wick(c, "cache", "path") == f"{c}\n"
    assert json.loads(wick(c, "cache", "clear", "--json")) == {
        "path": str(c), "entries": 0, "size_bytes": 0, "removed_entries": 1, "removed_bytes": size
    }  # fmt: skip
    assert os.listdir(c) == []


def test_only_files_of_the_cache_are_removed(tmp_path):
    """Nor are others dropped when the cache is full."""
    c = tmp_path / "cache"
    c.mkdir()
    own = ["0123456789abcdef.wick", "0123456789abcdef.stamp", "0123456789abcdef.wick.77.part"]
    other = ["model.wick", "notes.stamp", "x.part", "0123456789ABCDEF.wick", "0123456789abcdef.wick.x.part", "00123456789abcdef.wick",
             ".wick", "0123456789abcdef.wick.part", "readme"]  # fmt: skip
    for name in own + other:
        (c / name).write_bytes(b"junk")
    (c / "1111111111111111.wick").mkdir()
    (c / "2222222222222222.wick").symlink_to(c / "readme")
    assert "3 entries" in wick(c, "cache", "size")
    assert "removed 3 entries" in wick(c, "cache", "clear")
    assert sorted(os.listdir(c)) == sorted([*other, "1111111111111111.wick", "2222222222222222.wick"])


def test_what_is_wrong(tmp_path):
    assert "none of list, size, path, clear" in wick(tmp_path, "cache", "purge", status=2)
    assert "WICK_CACHE_DIR" in wick("", "cache", status=1, XDG_CACHE_HOME="", HOME="")
