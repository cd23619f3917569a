"""The pages of docs/ are true: their commands run, their excerpts are Wick's output, their names and links exist."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
WICK = os.environ.get("WICK_COMMAND", str(ROOT / "build" / "wick"))
PAGES = [ROOT / "CONTRIBUTING.md", *(ROOT / "docs" / f"{n}.md" for n in ("architecture", "debugging", "glossary")), *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
PAGES = [p for p in PAGES if p.exists()]
FENCE = re.compile(r"^(```+).*?^\1$", re.M | re.S)
RUN = re.compile(r"^<!-- tests/docs runs this block -->\n```sh\n(.*?)^```$", re.M | re.S)


def name(path):
    return str(path.relative_to(ROOT))


def prose(path):
    return FENCE.sub("", path.read_text())


def code(path):
    return [c for c in re.findall(r"`([^`\n]+)`", prose(path))]


@pytest.fixture(scope="session")
def words():
    """All identifiers of the sources, and the new names that the changelog announces."""
    out = set()
    for folder in "src", "tools", "include", "scripts", "cmake", "tests", "python":
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".c", ".h", ".def", ".py", ".cmake", ".sh", ".test", ".in") and path != pathlib.Path(__file__):
                out.update(re.findall(r"[A-Za-z_][A-Za-z_0-9]*", path.read_text(errors="ignore")))
    out.update(re.findall(r"^\| `[^`]*` \| `(\w+)", (ROOT / "CHANGELOG.md").read_text(), re.M))
    return out


@pytest.fixture(scope="session")
def options():
    commands = re.findall(r"^  ([a-z]+) ", subprocess.run([WICK, "help"], capture_output=True, text=True).stdout, re.M)
    text = "".join(subprocess.run([WICK, "help", c], capture_output=True, text=True).stdout for c in commands)
    return set(re.findall(r"--[a-z][\w-]*", text)) | {"--version"}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose(page)):
        assert target.startswith("http") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_paths_exist(page):
    made = re.findall(r"<!-- (?:file|patch): (\S+)", page.read_text())  # files that a tutorial makes
    for text in code(page):
        for path in re.findall(r"(?<![\w/.-])(?:src|docs|tests|tools|scripts|include|cmake|bench|examples|python|\.ci)/[\w./*-]*[\w*]", text):
            if not re.search(r"[A-Z]{2,}", path) or (ROOT / path).exists():
                assert any(ROOT.glob(path)) or any(m.startswith(path) for m in made), path


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_names_exist(page, words, options):
    made = set(re.findall(r"\w+", " ".join(b for b in re.findall(r"<!-- (?:file|patch): .*?-->\n```+.*?^```+$", page.read_text(), re.M | re.S))))
    for text in code(page):
        if re.fullmatch(r"\.?[A-Za-z]\w*(\(\))?", text):
            word = text.strip(".()")
            assert word in words or word in made, f"nothing in the sources is called {word}"
        if "wick" in text.split() or text.startswith("--"):
            for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", text):
                assert option in options, option


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_excerpts_are_current(page):
    r = subprocess.run([sys.executable, ROOT / "scripts" / "excerpts.py", page], capture_output=True, text=True, env={**os.environ, "WICK_COMMAND": WICK})
    assert r.returncode == 0, r.stderr


@pytest.mark.parametrize("page", [p for p in PAGES if RUN.search(p.read_text())], ids=name)
def test_commands_run(page, tmp_path):
    for folder in "examples", "src", "docs", "tests":
        (tmp_path / folder).symlink_to(ROOT / folder)
    env = {**os.environ, "PATH": f"{pathlib.Path(WICK).parent}:{os.environ['PATH']}", "WICK_CACHE_DIR": str(tmp_path / "cache"), "WICK_BUILD": os.environ.get("WICK_BUILD", str(ROOT / "build"))}
    for block in RUN.findall(page.read_text()):
        r = subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", block], cwd=tmp_path, env=env, capture_output=True, text=True)
        assert r.returncode == 0, block + r.stdout[-2000:] + r.stderr[-2000:]
