"""The pages as a site: they can be searched, formulas are typeset, and nothing is fetched from elsewhere."""

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import entwined

ROOT = Path(__file__).parent.parent
FETCHED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//", re.IGNORECASE)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "-d",
        str(folder),
    ]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_can_be_searched(site):
    index = json.loads((site / "search" / "search_index.json").read_text())
    found = {entry["location"].split("#")[0].strip("/") for entry in index["docs"]}
    assert found == {page.stem.replace("index", "") for page in (ROOT / "docs").glob("*.md")}
    reference = " ".join(entry["text"] for entry in index["docs"] if entry["location"].startswith("python/"))
    assert [name for name in entwined.__all__ if f"ew.{name}" not in reference] == []
    assert 'data-md-component="search-query"' in (site / "index.html").read_text()


def test_nothing_is_fetched_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 15
    assert [page for page in pages if FETCHED.search(page.read_text())] == []


def test_formulas_are_typeset_and_code_is_not(site):
    page = (site / "theorems" / "index.html").read_text()
    article = page[page.index("<article") : page.index("</article>")]
    formulas = re.findall(r"<math>.*?</math>", article)
    assert len(formulas) > 1_000
    for formula in formulas:
        assert ET.fromstring(formula).tag == "math"  # noqa: S314  (our own page)
        assert not set(formula) & set("_^{}")
    left = re.sub(r"<math>.*?</math>|<[^>]*>", "", article)
    assert re.findall(r"\S*[_^]\S*", left) == []
    assert "chain, a tree or a forest" in article  # an article is no letter of a formula
    assert "= <math><mi>a</mi></math>" in article
    assert "<math" not in (site / "schema-file" / "index.html").read_text()
    python = (site / "python" / "index.html").read_text()
    assert "most_rows" in python
