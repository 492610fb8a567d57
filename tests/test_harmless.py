"""No text in a CSV file becomes a formula, however a spreadsheet cuts its lines."""

import csv
import itertools
import re
from html import unescape

import pytest
from markdown_it import MarkdownIt

from entwined.schema import Categorical, Schema
from entwined.synthetic import MadeUpRows
from entwined.synthetic.files import write_dictionary, write_rows
from entwined.writing import harmless

FORMULAS = ("=1+1", "|calc", "+cmd|' /C calc'!A0", "-1+1", "@SUM(A1)", "\uff1d1+1", "\uff0b1", "\uff0d1+1", "\uff20x", "\ufe661", "\u22121+1")  # fmt: skip
BEFORE = ("", " ", "\u00a0", "\ufeff", "\u200b", "\u2060", "\u3000", "\t", "\r", "\n", "\x00", '"', "\u201c", ' \ufeff"', "\u3164", "\u2800", "\u202e")  # fmt: skip
AFTER = ("", "north;", "north\t", "north|", "north\n", ";", "'north;")
SEEN = "=+-@|\uff1d\uff0b\uff0d\uff20\uff5c\ufe66\u2212"


def cells_of(text):
    """All cells that a reader may make of a text: cut at nothing, or at one of the usual signs."""
    return {
        piece
        for sign in (None, ";", "\t", "|", "\n", "\r")
        for piece in (text.split(sign) if sign else [text])
    }


def is_formula(cell):
    first = cell.lstrip("".join(BEFORE))[:1]
    return first != "" and first in SEEN


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_piece_of_a_text_is_a_formula(formula):
    for before, after in itertools.product(BEFORE, AFTER):
        text = harmless(f"{after}{before}{formula}")
        assert not any(map(is_formula, cells_of(text))), repr(text)
        assert harmless(text) == text


@pytest.mark.parametrize(
    "text",
    ["north", "18-24", "a = b", "-8", "-8.5", "a|b", "me@home", "don't; won't", "'=1", "", "x\ny", "\u00a0x"],
)
def test_other_texts_stay_as_they_are(text):
    assert harmless(text) == text


def test_every_table_that_is_written_holds_none(tmp_path):
    texts = tuple(
        f"{before}{formula}" for before in (" ", "\u00a0", "\ufeff", ";") for formula in ("=1+1", "|calc")
    )
    schema = Schema((Categorical("=answer", texts),), neighbours="add_remove", most_rows=100)
    rows = MadeUpRows(schema, 50)
    write_rows(tmp_path, rows)
    write_dictionary(tmp_path, rows)
    for name in ("synthetic.csv", "dictionary.csv"):
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            cells = [cell for line in csv.reader(file) for cell in line]
        assert not any(is_formula(piece) for cell in cells for piece in cells_of(cell)), name


MARKUP = ("<img src=x onerror=alert(1)>", "<!-- a", "</td><script>x</script>", "a|b", "`<i>`", "[a](javascript:b)", "![a](http://b/c.png)", "<https://b>", "*a*", "# a", "~~a~~", "a\n\n<b>c</b>", "&lt;b&gt;", "\\|<b>", "a\u2028<b>")  # fmt: skip


def test_no_text_in_a_dictionary_is_markup(tmp_path):
    """Rendered as Markdown, whatever a label, a value or a name holds is text, and a cell of its own."""
    columns = [
        Categorical(f"{text}{at}".replace("\n", " "), (text, "b"), label=text, missing_codes=(f"{text}9",))
        for at, text in enumerate(MARKUP)
    ]
    schema = Schema(tuple(columns), neighbours="add_remove", most_rows=100)
    write_dictionary(tmp_path, MadeUpRows(schema, 5))
    page = (tmp_path / "dictionary.md").read_text(encoding="utf-8")
    html = MarkdownIt().enable("table").render(page)
    tags = set(re.findall(r"<\s*/?\s*([A-Za-z!][A-Za-z0-9]*)", html))
    assert tags <= {"h1", "p", "table", "thead", "tbody", "tr", "th", "td"}
    assert html.count("<tr>") == 1 + len(MARKUP)
    assert html.count("<td>") == 6 * len(MARKUP)
    shown = unescape(html)
    for text in MARKUP:
        line = "".join(sign if sign.isprintable() else " " for sign in text)
        assert shown.count(line) >= 3, text  # the name, the label and the value, as they are
