"""The planted bugs still fit the sources. That they are found takes longer: `make planted`."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUGS = sorted((pathlib.Path(__file__).parent / "bugs").glob("*.patch"))


def test_there_are_ten():
    assert len(BUGS) == 10


@pytest.mark.parametrize("patch", BUGS, ids=lambda p: p.stem)
def test_applies(patch):
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    r = subprocess.run(["git", "apply", "--check", str(patch)], cwd=ROOT, capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
