"""One truth: the figures on the pages are those that the code finds, and none is typed by hand.

If the first test fails: python docs/write_figures.py.
"""

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]


@pytest.fixture(scope="module")
def figures():
    return SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "write_figures.py")))


@pytest.mark.parametrize("page", PAGES)
def test_the_page_says_what_was_found(figures, page):
    text = (ROOT / page).read_text()
    assert figures.corrected(page, text) == text


@pytest.mark.parametrize("page", PAGES)
def test_no_figure_is_typed_by_hand(figures, page):
    assert list(figures.unclaimed(page, (ROOT / page).read_text())) == []


def test_charts_show_what_is_found(figures):
    for chart, draw in figures.CHARTS.items():
        assert draw() == (ROOT / chart).read_text()


def test_a_wrong_figure_is_put_right_and_a_new_one_is_noticed(figures):
    text = (ROOT / "README.md").read_text()
    wrong = re.sub(r"\b24\.3\b", "33.0", text).replace("**8.9**", "**7.1**")
    assert wrong != text
    assert figures.corrected("README.md", wrong) == text
    assert list(figures.unclaimed("README.md", text + "\nIt is 12.5 times better.\n")) == ["12.5"]
    with pytest.raises(SystemExit, match="says 0 times"):
        figures.corrected("README.md", text.replace("Markov quilt mechanism", "Quilts"))
