"""docs/cli.md, the manual and the completions agree with the tables of options."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
FORMATS = ["markdown", "man", "bash", "zsh", "fish"]


def wick(*args):
    return subprocess.run([WICK, *args], capture_output=True, text=True, check=True).stdout


def commands():
    return re.findall(r"^  ([a-z]+) ", wick("help"), re.M)


def options(command):
    return re.findall(r"^  (?:-\w, |    )(--[\w-]+)", wick("help", command), re.M)


def test_the_page_is_current():
    assert (ROOT / "docs" / "cli.md").read_text() == wick("help", "--format", "markdown"), "docs/cli.md is stale: make docs"


def test_statuses_are_documented():
    for text in wick("help"), wick("help", "--format", "markdown"), wick("help", "--format", "man"), wick("help", "run", "--format", "man"):
        for status in "was asked", "failed, or output could not be written", "command line is wrong":
            assert status in text


@pytest.mark.parametrize("command", commands())
@pytest.mark.parametrize("format", FORMATS)
def test_every_option_is_in_every_format(command, format):
    text = wick("help", command, "--format", format).replace("\\-", "-")
    for option in options(command):
        name = f"-l {option[2:]}" if format == "fish" else option
        assert name in text or option == "--help", (option, text)


@pytest.mark.parametrize("command", [None, *commands()])
def test_the_manual_renders(command, tmp_path):
    page = tmp_path / "page.1"
    page.write_text(wick("help", *([command] if command else []), "--format", "man"))
    if shutil.which("mandoc"):
        line = ["mandoc", "-T", "lint", "-W", "warning", page]
    elif shutil.which("groff"):
        line = ["groff", "-man", "-Tascii", "-ww", "-z", page]
    else:
        pytest.skip("neither mandoc nor groff")
    r = subprocess.run(line, capture_output=True, text=True)
    assert r.returncode == 0 and not r.stdout and not r.stderr, r.stdout + r.stderr


def complete(folder, *words):
    script = folder / "wick.bash"
    script.write_text(wick("help", "--format", "bash"))
    line = " ".join(f"'{w}'" for w in words)
    code = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _wick; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    r = subprocess.run(["bash", "--norc", "-uc", code], capture_output=True, text=True, cwd=folder)
    assert r.returncode == 0 and not r.stderr, r.stderr
    return r.stdout.split("\n")[:-1]


def test_bash_completes(tmp_path):
    (tmp_path / "a model.onnx").touch()
    assert sorted(complete(tmp_path, "wick", "c")) == sorted(c for c in commands() if c.startswith("c"))
    for command in commands():
        assert set(options(command)) <= set(complete(tmp_path, "wick", command, "-")), command
    assert complete(tmp_path, "wick", "run", "--thr") == ["--threads"]
    assert complete(tmp_path, "wick", "run", "--precision", "") == ["f64", "bf16", "f16"]
    assert complete(tmp_path, "wick", "run", "a") == ["a model.onnx"]
    assert complete(tmp_path, "wick", "run", "--inputs", "a") == ["a model.onnx"]
    assert complete(tmp_path, "wick", "help", "expl") == ["explain"]
    assert complete(tmp_path, "wick", "run", "--threads", "") == [""]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_theirs(shell, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")
    script = tmp_path / "script"
    script.write_text(wick("help", "--format", shell))
    r = subprocess.run([shell, "-n", script], capture_output=True, text=True)
    assert r.returncode == 0 and not r.stderr, r.stderr


def test_files_to_install(tmp_path):
    subprocess.run(["sh", ROOT / "scripts" / "help_files.sh", WICK, tmp_path], check=True)
    assert sorted(p.name for p in (tmp_path / "man1").iterdir()) == sorted(["wick.1", *(f"wick-{c}.1" for c in commands())])
    assert all((tmp_path / name).stat().st_size for name in ("wick", "_wick", "wick.fish"))
