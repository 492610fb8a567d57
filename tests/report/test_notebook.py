"""The researcher's path: the notebook of the documentation is executed, and what it shows is looked at."""

import html as markup
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"
TABLED = [
    *(
        "bound",
        "hints",
        "calibrate",
        "open",
        "door",
        "plan",
        "release",
        "answer",
        "certificate",
        "budget",
        "history",
    ),
]
DRAWN = ["bound", "hints", "plan", "release", "answer", "budget"]


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """Run every cell in a kernel of its own; an error in one is raised here."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = tmp_path_factory.mktemp("notebook")
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}


@pytest.fixture(scope="module")
def shown(executed):
    """What each cell showed last, by its kind."""
    return {
        name: cell.outputs[-1].data
        for name, cell in executed.items()
        if cell.outputs and cell.outputs[-1].output_type == "execute_result"
    }


def words(html):
    return " ".join(markup.unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_nothing_but_results_comes_out(executed):
    kinds = {output.output_type for cell in executed.values() for output in cell.outputs}
    assert kinds == {"execute_result"}, [cell.outputs for cell in executed.values()]
    assert nbformat.read(NOTEBOOK, as_version=4).cells[2].outputs == []  # it is kept without outputs


@pytest.mark.parametrize("name", TABLED)
def test_every_value_is_a_small_table_that_needs_no_network(shown, name):
    html, text = shown[name]["text/html"], shown[name]["text/plain"]
    assert "<table" in html
    assert len(html) < 30_000
    assert len(text) < 2_000
    assert not re.search(r"<script|<link|<img|https?://(?!www\.w3\.org/2000/svg)", html)


@pytest.mark.parametrize("name", DRAWN)
def test_charts_are_drawn_inside(shown, name):
    (svg,) = re.findall(r"<svg.*?</svg>", shown[name]["text/html"], re.DOTALL)
    assert len(re.findall(r"<circle|<rect", svg)) >= 1


def test_the_bound_says_what_would_lower_it_and_by_how_much(shown):
    assert "Leakage at most 526 under markov_chain of 526 units" in words(shown["bound"]["text/html"])
    said = (
        "Knowing the law of the first step (`initial`; here the stationary one), the leakage would be 3.811"
    )
    assert said in words(shown["bound"]["text/html"])
    assert said in shown["bound"]["text/plain"]
    assert "Leakage at most 3.811" in words(shown["hints"]["text/html"])
    assert "largest loss of a unit" in words(shown["calibrate"]["text/html"])


def test_the_release_is_read_by_its_labels(shown):
    table = words(shown["release"]["text/html"])
    for label in ("by place · Aachen", "by place · Bonn", "ill by place · Bonn · yes"):
        assert re.search(rf"{label} [−\d,.]+ [−\d,]+ to [−\d,]+ [\d,]+", table), label
    frame = words(shown["labels"]["text/html"])  # as pandas shows it
    assert "statistic answer_label answer_label_2 value low high" in frame
    assert "ill by place Aachen no" in frame
    assert "Knowing that no group has more than 2" in words(shown["plan"]["text/html"])
    assert "valid=True" in shown["verify"]["text/plain"]
    assert "Spent 3 of 6, 3 left" in words(shown["budget"]["text/html"])
    assert "answered" in words(shown["history"]["text/html"])


def test_a_chart_alone_is_svg(shown):
    assert shown["leakages"]["image/svg+xml"].startswith("<svg")
    assert "letters" in shown["leakages"]["text/plain"]
