"""Follows docs/tutorials to the letter, in a copy of the sources with a build folder of its own.

A tutorial's blocks are marked by comments: `file: PATH` is a whole new file; `patch: PATH` a diff without line numbers,
whose old lines are found in the file exactly once; `run` the commands that show the new thing. All tutorials are applied
to one copy, so that it is built once; then each one's commands run.
"""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ.get("WICK_BUILD", ROOT / "build"))
VENV = pathlib.Path(os.environ.get("WICK_VENV", BUILD / "venv"))
TUTORIALS = sorted(p for p in (ROOT / "docs" / "tutorials").glob("*.md") if p.name != "README.md")
BLOCK = re.compile(r"^<!-- (file|patch|run):? ?(\S*) -->\n(```+)\w*\n(.*?)^\3$", re.M | re.S)


def blocks(tutorial, *kinds):
    return [(kind, path, text) for kind, path, _, text in BLOCK.findall(tutorial.read_text()) if kind in kinds]


def patch(text, diff):
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(old) == 1, f"these lines are there {text.count(old)} times:\n{old}"
    return text.replace(old, new)


def call(line, cwd, **env):
    r = subprocess.run(line, cwd=cwd, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert r.returncode == 0, f"{line}\n{r.stdout[-6000:]}"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    tree = tmp_path_factory.mktemp("tutorials") / "wick"
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if names.returncode:
        pytest.skip("the sources are not a repository of git")
    for name in names.stdout.splitlines():
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    for tutorial in TUTORIALS:
        for kind, path, text in blocks(tutorial, "file", "patch"):
            file = tree / path
            assert file.exists() == (kind == "patch"), f"{tutorial.name}: {path}"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text if kind == "file" else patch(file.read_text(), text))
    launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    call(["cmake", "-G", "Ninja", "-S", ".", "-B", "build", "-DWICK_WERROR=ON", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1", *launcher], tree, CCACHE_BASEDIR=str(tree))
    (tree / "build" / "venv").symlink_to(VENV)
    return tree


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda p: p.stem)
def test_tutorial(tutorial, tree):
    env = {"WICK_CACHE_DIR": str(tree / "cache"), "WICK_COMMAND": str(tree / "build" / "wick"), "CCACHE_BASEDIR": str(tree)}
    shown = blocks(tutorial, "run")
    assert shown
    for _, _, text in shown:
        call(["bash", "-eux", "-o", "pipefail", "-c", text], tree, **env)


def test_sources_have_the_projects_form(tree):
    """New C files are formatted, and include downwards only."""
    files = [path for t in TUTORIALS for _, path, _ in blocks(t, "file") if path.endswith((".c", ".h"))]
    if shutil.which("clang-format"):
        call(["clang-format", "--dry-run", "-Werror", *files], tree)
    call(["python3", "scripts/check_includes.py"], tree)
