"""Labels in the zip archive at the end of a model are shown by `wick run`."""

import io
import os
import pathlib
import subprocess
import zipfile

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = pathlib.Path(__file__).parent / "files"
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build/wick"))


def run(*arguments):
    return subprocess.run([WICK, *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=120)


def labelled(folder, text=b"cat\ndog, \"wild\"\nbird\n", keep=None):
    """labels.tflite, whose metadata name labels.txt, with an archive of that file."""
    data = (FILES.parent / "models" / "labels.tflite").read_bytes()
    archive = io.BytesIO(data)
    archive.seek(0, 2)
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as z:
        z.writestr("labels.txt" if keep is None else keep, text)
    path = folder / "m.tflite"
    path.write_bytes(archive.getvalue())
    np.save(folder / "x.npy", np.array([[0.1, 0.7, 0.2]], np.float32))
    return path


def test_labels_are_shown(tmp_path):
    path = labelled(tmp_path)
    r = run("run", path, "--inputs", tmp_path / "x.npy")
    assert r.returncode == 0, r.stderr
    assert 'dog, "wild"' in r.stdout and r.stdout.index('dog, "wild"') < r.stdout.index("bird")


@pytest.mark.parametrize("damage", ["absent", "cut", "no archive"])
def test_models_without_their_labels_run(tmp_path, damage):
    path = labelled(tmp_path, keep="other.txt" if damage == "absent" else None)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-9])
    elif damage == "no archive":
        path.write_bytes((FILES.parent / "models" / "labels.tflite").read_bytes())
    r = run("run", path, "--inputs", tmp_path / "x.npy")
    assert r.returncode == 0 and "dog" not in r.stdout
    assert 'the labels "labels.txt" that its metadata name cannot be read' in run("check", path).stdout
