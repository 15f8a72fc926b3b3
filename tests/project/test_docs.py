"""The site: examples that can be shown, pages that can be reached, links that lead somewhere."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [path for path in DOCS.rglob("*.md") if not {"_build", "reports", "gallery"} & set(path.parts)]
EXAMPLES = sorted((DOCS / "examples").glob("plot_*.py"))
MADE = {"api.rst", "changes.md", "gallery/index.rst", "reports/auto.md", "reports/reproduction.md"}  # by `make docs`


def test_there_are_enough_examples():
    assert len(EXAMPLES) >= 8
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        title, line = re.match(r'"""\n(.+)\n(=+)\n', text).groups()
        assert len(line) >= len(title) and "plt.subplots" in text and "joints" in text, path.name


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        if target.startswith("repo:"):
            assert (ROOT / target.removeprefix("repo:")).exists(), target
        elif not target.startswith("http"):
            place = (path.parent / target).resolve()
            made = place.relative_to(DOCS).as_posix()
            assert place.exists() or made in MADE or made.startswith(("gallery/", "_static/reference")), target


def test_the_site_builds_without_a_warning(tmp_path):
    """All pages, the reference of the API among them; the examples are shown, but run only by `make docs`."""
    pytest.importorskip("sphinx_gallery", reason="the site is not installed: pip install joints[docs]")
    for path in ROOT.iterdir():
        if path != DOCS:
            (tmp_path / path.name).symlink_to(path)
    made = shutil.ignore_patterns("_build", "api", "api.rst", "gallery", "reports", "changes.md", "reference.html")
    shutil.copytree(DOCS, tmp_path / "docs", ignore=made)
    options = ["-W", "--keep-going", "--quiet", "-D", "plot_gallery=0"]
    command = [sys.executable, "-m", "sphinx", *options, tmp_path / "docs", tmp_path / "html"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "html/gallery/plot_1_missing_values.html").exists()
    assert (tmp_path / "html/api/joints.inspect.robustness.html").exists()


def test_links_of_the_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert target.startswith("http") or (ROOT / target).exists(), target


def test_every_page_of_the_guide_is_linked_from_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [
        p.name
        for p in PAGES
        if p.stem not in ("study", "index", "changes") and p.relative_to(ROOT).as_posix() not in text
    ]
    assert missing == []


def test_the_readme_is_one_page():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 90
    first_screen = "\n".join(lines[:20])
    assert "    make  " in first_screen and "    make test" in first_screen


def test_addresses_are_set_by_one_key():
    urls = re.search(r"\[project\.urls\].*?\n\n", (ROOT / "pyproject.toml").read_text(), re.DOTALL)[0]
    addresses = re.findall(r'^\w+ = "(.*)"', urls, re.MULTILINE)
    assert len(addresses) > 3 and all(address.startswith(addresses[0]) for address in addresses)
