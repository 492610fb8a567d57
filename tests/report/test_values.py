"""The files of numbers: a line a number, no column for nothing, codes as they are, no formula, no waste."""

import csv
import io
import json
import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from entwined.errors import BadInput, Refused
from entwined.estimate.population import Estimated
from entwined.estimate.quality import Quality
from entwined.queries import Count, Histogram, Marginal, Mean
from entwined.report import wanted_formats, write_release
from entwined.report.findings import findings
from entwined.report.formats import Format
from entwined.report.r_script import write_r_script
from entwined.report.values import write_values
from entwined.report.workbook import sheet_names, write_workbook
from entwined.request.published import verify_published
from entwined.schema import Categorical, Integer, Schema
from entwined.writing import harmless
from support.answered import release_of
from support.reports import HOSTILE, released

QUESTIONS = 344
ANSWERS = ("-8", "1", "2", "3", "4", "5", "6")
WIDE = Schema(
    tuple(
        Categorical(f"q{n}", ANSWERS, labels=("refused", *"abcdef"), label=f"Question {n}", missing="drop")
        for n in range(QUESTIONS)
    )
).approve()
MIXED = Schema(
    (
        Categorical("sex", ("f", "m"), labels=("Women", "Men"), missing="drop"),
        Integer("age", -9, 90, label="Age in years", missing="drop"),
    ),
    most_rows=1_000,
).approve()


def named(queries, schema, numbers):
    return findings(release_of(queries, schema, numbers), [f"s{n}" for n in range(len(queries))], schema)


@pytest.fixture(scope="module")
def wide():
    """A survey of 2,408 numbers."""
    return named([Histogram(one.name) for one in WIDE.columns], WIDE, [[90] * len(ANSWERS)] * QUESTIONS)


@pytest.fixture(scope="module")
def folder(wide, tmp_path_factory):
    at = tmp_path_factory.mktemp("values")
    write_values(wide, at)
    write_workbook(wide, at / "values.xlsx")
    return at


def test_a_survey_is_read_straight(folder):
    frame = pd.read_csv(folder / "values.csv", dtype={"answer": str})
    assert list(frame.columns) == [
        "statistic", "kind", "question", "question_label", "answer", "answer_label",
        "value", "low", "high", "share", "share_low", "share_high", "share_of", "unit", "quality", "confidence", "noise",
    ]  # fmt: skip
    assert not frame.isna().any(axis=None)
    assert frame.shape[0] == QUESTIONS * len(ANSWERS) == 2_408
    assert list(frame.answer[:7]) == list(ANSWERS)
    assert frame.dtypes[["value", "low", "high", "share"]].map(lambda kind: kind.kind in "if").all()
    np.testing.assert_allclose(frame.groupby("question").share.sum(), 1, atol=1e-5)
    assert ((frame.share_low <= frame.share) & (frame.share <= frame.share_high)).all()
    assert "'-8" not in (folder / "values.csv").read_text()


def test_a_survey_takes_kilobytes(folder):
    """Each question once had a column and a group of rows of its own: 18 megabytes."""
    assert (folder / "values.parquet").stat().st_size < 80_000
    assert parquet.ParquetFile(folder / "values.parquet").num_row_groups == 1
    assert (folder / "values.csv").stat().st_size < 450_000


def test_sides_stand_beside_each_other_and_single_numbers_have_no_answer(tmp_path):
    made = named([Count(), Marginal(("sex", "age"))], MIXED, [900, [4] * 200])
    write_values(made, tmp_path)
    lines = list(csv.DictReader(io.StringIO((tmp_path / "values.csv").read_text())))
    assert [lines[0][name] for name in ("question", "answer", "question_2", "value")] == ["", "", "", "900"]
    told = (
        "question",
        "answer",
        "answer_label",
        "question_2",
        "question_label_2",
        "answer_2",
        "answer_label_2",
    )
    assert [lines[1][name] for name in told] == ["sex", "f", "Women", "age", "Age in years", "-9", "-9"]
    assert lines[-1]["answer"], lines[-1]["answer_2"] == ("m", "90")
    assert {"condition", "ranks_within", "value_time"}.isdisjoint(lines[0])


# texts that mean harm


@given(st.text(max_size=100) | st.from_regex(r"[-+=@]?-?[0-9.]{0,4}[^0-9]?", fullmatch=True))
def test_no_text_is_a_formula(text):
    if re.fullmatch(r"-[0-9]+(\.[0-9]+)?", text):
        assert harmless(text) == text
    else:
        assert not harmless(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def hostile():
    columns = tuple(
        Categorical(name, (*HOSTILE, "-8"), labels=(*HOSTILE[::-1], "eight"), label=name * 3, missing="drop")
        for name in HOSTILE[:4]
    )
    schema = Schema((*columns, Integer("'", -3, 9, missing="drop")), most_rows=1000).approve()
    queries = [*(Histogram(column.name) for column in columns), Histogram("'"), Count(where=""" "'" > 3 """)]
    release = release_of(queries, schema, [*[[20] * 11] * 4, [-5] * 13, 7])
    return findings(release, HOSTILE[: len(queries)], schema)


def test_no_cell_of_any_file_is_a_formula(tmp_path):
    """TRUST 63."""
    made = hostile()
    write_values(made, tmp_path)
    text = (tmp_path / "values.csv").read_bytes().decode()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    seen = set()
    for row in rows:
        assert len(row) == len(rows[0])
        for part in row:
            assert not part.startswith(("=", "+", "@", "\t", "\r", "\n"))
            if part.startswith("-"):
                float(part)
            seen.add(part[:2])
    assert {"'=", "'@", "'-", "-8", "-5", "-3"} <= seen  # numbers stay numbers
    table = parquet.read_table(tmp_path / "values.parquet")
    assert set(HOSTILE[:3]) <= set(table["statistic"].to_pylist())
    write_workbook(made, tmp_path / "values.xlsx")
    book = openpyxl.load_workbook(tmp_path / "values.xlsx")
    kinds = {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row}
    assert kinds <= {"s", "n", "b"}  # texts, numbers, yes and no, but no formula
    shown = {cell.value for sheet in book for row in sheet.iter_rows() for cell in row}
    assert HOSTILE[2] in shown


# a workbook, and R


def test_a_workbook_has_contents_and_a_sheet_a_question(wide, folder):
    book = openpyxl.load_workbook(folder / "values.xlsx")
    assert len(book.sheetnames) == QUESTIONS + 1
    contents = list(book["Contents"].iter_rows(min_row=2))
    for (link, question, count, _), one in zip(contents, wide, strict=True):
        name = re.fullmatch(r"'(.*)'!A1", link.hyperlink.location)[1]
        assert name == link.value == one.sides[0]
        assert (question.value, count.value) == (one.question, 7)
    sheet = list(book["q7"].iter_rows())
    assert sheet[0][0].hyperlink.location == "'Contents'!A1"
    heading, first = next((row, sheet[at + 1]) for at, row in enumerate(sheet) if row[0].value == "q7")
    assert [cell.value for cell in heading][:5] == ["q7", "Question 7 (q7)", "value", "low", "high"]
    assert [cell.value for cell in first][:3] == ["-8", "refused", 90]
    assert first[5].number_format == "0.0%"


def test_numbers_that_stand_alone_share_a_sheet(tmp_path):
    made = named([Count(), Histogram("sex"), Count(where="age > 3")], MIXED, [900, [300, 600], 420])
    write_workbook(made, tmp_path / "values.xlsx")
    book = openpyxl.load_workbook(tmp_path / "values.xlsx")
    assert book.sheetnames == ["Contents", "Single numbers", "sex"]
    values = [cell.value for row in book["Single numbers"].iter_rows() for cell in row]
    assert {900, 420, "age from 4 to 90"} <= set(values)


def test_a_number_of_the_population_has_its_interval_beside_that_of_the_rows(tmp_path):
    made = named([Count(), Count(where="age > 3")], MIXED, [900, 420])
    people = Estimated(
        "", Fraction(420), (Fraction(400), Fraction(440)), (380, Fraction(921, 2)), 0.95, 9.0, 1.0
    )
    write_values([made[0], replace(made[1], people=people)], tmp_path)
    frame = pd.read_csv(tmp_path / "values.csv")
    assert frame.population_low.isna().tolist() == [True, False]
    assert (frame.population_low[1], frame.population_high[1]) == (380, 460.5)


def test_every_format_has_the_quality_of_every_number(tmp_path):
    release = release_of([Histogram("sex")], MIXED, [[300, 600]])
    (answer,) = release.answers
    quality = Quality((math.inf, 0.2), "Few rows.")
    (one,) = findings(replace(release, answers=(replace(answer, quality=quality),)), ["s"], MIXED)
    write_values([one], tmp_path)
    for frame in (pd.read_parquet(tmp_path / "values.parquet"), pd.read_csv(tmp_path / "values.csv")):
        assert frame.quality.tolist() == ["not", "with care"]
        assert frame.relative_error.isna().tolist() == [True, False]
        assert frame.relative_error[1] == 0.2
    write_workbook([one], tmp_path / "values.xlsx")
    book = openpyxl.load_workbook(tmp_path / "values.xlsx")
    for name in book.sheetnames:
        cells = {cell.value for row in book[name].iter_rows() for cell in row}
        assert "0 of 2 numbers can be published, 1 with care, 1 not. Few rows." in cells


@given(st.lists(st.text(max_size=60) | st.sampled_from(["q", "Q", "q (2)", "history", "'"]), max_size=30))
def test_sheets_have_legal_names_of_their_own(wanted):
    found = list(sheet_names(wanted))
    assert len({name.casefold() for name in found}) == len(found) == len(wanted)
    for name in found:
        assert 1 <= len(name) <= 31
        assert not set(name) & set("[]:*?/\\")
        assert not name.startswith("'")
        assert not name.endswith("'")
        assert name.casefold() not in {"contents", "single numbers", "history"}


def test_a_sheet_that_excel_could_not_hold_says_where_its_numbers_are(tmp_path, monkeypatch):
    monkeypatch.setattr("entwined.report.workbook.MOST_LINES", 1)
    write_workbook(named([Histogram("sex")], MIXED, [[300, 600]]), tmp_path / "values.xlsx")
    book = openpyxl.load_workbook(tmp_path / "values.xlsx")
    assert "values.csv" in [row[-1].value for row in book["Contents"].iter_rows()][-1]
    assert not any(cell.value == 300 for row in book["sex"].iter_rows() for cell in row)


def test_r_is_told_the_type_of_every_column(tmp_path):
    made = named([Histogram("sex"), Mean("age")][:1], MIXED, [[300, 600]])
    write_values(made, tmp_path)
    write_r_script(made, tmp_path / "values.R")
    script = (tmp_path / "values.R").read_text()
    types = dict(re.findall(r'(\w+) = "(character|numeric|integer|logical)"', script))
    assert list(types) == (tmp_path / "values.csv").read_text().splitlines()[0].split(",")
    assert types["answer"] == "character"
    assert types["share_low"] == "numeric"
    assert script.count("(") == script.count(")")


def test_a_format_that_cannot_be_written_is_refused_before_anything_is_charged(monkeypatch):
    assert [one.file for one in wanted_formats(["xlsx", "r", "xlsx"])] == ["values.xlsx", "values.R"]
    with pytest.raises(BadInput, match="Give one of xlsx, r"):
        wanted_formats(["docx"])
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(BadInput, match=r"pip install 'entwined\[excel\]'"):
        wanted_formats(["xlsx"])
    assert wanted_formats(["r"])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return released(tmp_path_factory.mktemp("release") / "of", queries={"voters": Histogram("region")})


def test_further_files_are_covered_by_the_certificate(made, tmp_path):
    files = write_release(tmp_path / "out", **vars(made), also=wanted_formats(["xlsx", "r"]))
    assert {"values.xlsx", "values.R"} <= {path.name for path in files}
    document = json.loads((tmp_path / "out" / "certificate.json").read_text())
    verdict = verify_published(document, made.schema, tmp_path / "out")
    assert verdict.valid
    assert "values.R, values.csv, values.parquet, values.xlsx" in verdict.why
    (tmp_path / "out" / "values.xlsx").write_bytes(b"forged")
    assert not verify_published(document, made.schema, tmp_path / "out").valid


def test_a_further_file_that_fails_leaves_everything_else_whole(made, tmp_path):
    def halfway(_, path):
        path.write_text("half of")
        raise ValueError

    broken = Format("values.xlsx", halfway)
    with pytest.raises(
        Refused, match=r"values.xlsx could not be written: ValueError\. Everything else is in"
    ):
        write_release(tmp_path / "out", **vars(made), also=[broken, *wanted_formats(["r"])])
    there = {path.name for path in (tmp_path / "out").iterdir()}
    assert there == {
        "values.csv", "values.parquet", "values.R", "release.json", "certificate.json", "plan.json", "schema.toml", "report.html",
    }  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
