"""The index of decisions lists each page with its title; numbers have no gaps; references lead somewhere."""

import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "decisions"
PAGES = sorted(p for p in FOLDER.iterdir() if p.name != "README.md")


def test_numbers_have_no_gaps():
    assert [int(p.name[:4]) for p in PAGES] == list(range(1, len(PAGES) + 1))


def test_the_index_has_each_page_with_its_title():
    index = dict(re.findall(r"^- \[(.*?)\]\((.*?)\)", (FOLDER / "README.md").read_text(), re.M))
    titles = {p.read_text().splitlines()[0].removeprefix("# "): p.name for p in PAGES}
    assert index == titles
    for title, name in titles.items():
        assert title.split(".")[0] == str(int(name[:4])), title


def test_references_lead_somewhere():
    names = {p.name for p in PAGES} | {"README.md"}
    numbers = {p.name[:4] for p in PAGES}
    for folder in "docs", "src", "include", "tools", "tests", "python", "bench":
        for path in (ROOT / folder).rglob("*.*"):
            if path.suffix in (".md", ".c", ".h", ".py"):
                for number, rest in re.findall(r"decisions/(\d{4})(-[\w-]+\.md)?", path.read_text(errors="ignore")):
                    assert number in numbers and (not rest or number + rest in names), (path, number + rest)
