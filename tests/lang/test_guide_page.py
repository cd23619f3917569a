"""docs/guide.md from the first line to the last: files are written, commands run, and what they print is what the page shows."""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import built  # noqa: E402

WICK = pathlib.Path(os.environ.get("WICK_COMMAND", built.ROOT / "build" / "wick")).resolve()


def agree(found, shown):
    """Words are equal; numbers with a fraction may differ in their last digits, which depend on the processor."""
    found, shown = (re.findall(r"-?\d+\.?\d*(?:e-?\d+)?|\S", text) for text in (found, shown))
    return len(found) == len(shown) and all(
        a == b or (re.search(r"[.e]", b) and re.match(r"-?\d", a) and abs(float(a) - float(b)) <= 2e-2 * abs(float(b)) + 1e-6) for a, b in zip(found, shown)
    )


def test_guide(tmp_path):
    page = (built.ROOT / "docs" / "guide.md").read_text()
    environment = os.environ | {"PATH": f"{WICK.parent}:{os.environ['PATH']}", "PYTHONPATH": str(built.PACKAGE)}
    blocks = re.findall(r"```(\w+) ?(\S*)\n(.*?)```", page, re.S)
    assert len(blocks) > 15
    for k, (kind, name, text) in enumerate(blocks):
        if kind == "wick":
            (tmp_path / name).write_text(text)
            r = subprocess.run([WICK, "fmt", name], cwd=tmp_path, capture_output=True, text=True, timeout=60)
            assert (tmp_path / name).read_text() == text, (name, r.stderr)
        if kind in ("sh", "python"):
            r = subprocess.run(
                ["sh", "-c", text] if kind == "sh" else [sys.executable, "-c", text],
                cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300,
            )  # fmt: skip
            found = r.stdout + r.stderr
            shown = blocks[k + 1][2] if k + 1 < len(blocks) and blocks[k + 1][0] == "text" else None
            assert r.returncode == 0 or shown, found
            assert shown is None or agree(found, shown), (text, found)
