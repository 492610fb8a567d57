"""What a percentage is of: everybody, those who were asked, or those who answered; and cells that cannot occur."""

from dataclasses import replace

import numpy as np
import openpyxl
import pandas as pd
import pytest

from entwined.errors import BadSchema
from entwined.queries import Count, GroupBy, Histogram, Marginal, Mean, Share, parse
from entwined.queries.documents import written
from entwined.queries.sql import read_sql
from entwined.report.findings import findings
from entwined.report.values import write_values
from entwined.report.workbook import write_workbook
from entwined.schema import Boolean, Categorical, Integer, Schema, read_schema, write_schema
from support.answered import release_of
from support.pictures import Picture

COLUMNS = (
    Categorical(
        "works",
        ("full", "part", "no", "-1", "98"),
        labels=("Full time", "Part time", "Not working", "Not asked", "Don't know"),
        label="Paid work",
        not_asked=("-1",),
        no_answer=("98",),
    ),
    Categorical("kids", ("0", "1", "2"), not_asked=("",)),
    Categorical("sex", ("f", "m"), missing="never"),
    Integer("age", 0, 99),
    Boolean("moved", missing="drop"),
)
SCHEMA = Schema(COLUMNS, rows=1000, most_rows=1000).approve()
ASKED = [400, 200, 150, 188, 42, 20]


def shown(queries, numbers, impossible=(), schema=SCHEMA, **given):
    bound = [query.bound(schema) for query in queries]
    release = release_of(bound, schema, numbers, **given)
    choices = {"impossible": [parse(text, schema).document for text in impossible]}
    return findings(replace(release, post_processing=choices), [f"s{at}" for at in range(len(bound))], schema)


def shares(finding):
    return finding.dividing(slice(0, None)).value


def test_percentages_are_of_those_who_answered_where_the_column_says_who_did():
    (works,) = shown([Histogram("works")], [ASKED])
    np.testing.assert_allclose(shares(works)[:3], np.array(ASKED[:3]) / 750, atol=1e-6)
    assert np.isnan(shares(works)[3:]).all()
    assert works.dividing.base == "about 750 rows that answered Paid work (works)"


def test_percentages_are_of_those_who_were_asked_where_missing_means_not_asked():
    (kids,) = shown([Histogram("kids")], [[300, 300, 212, 188]])
    np.testing.assert_allclose(shares(kids)[:3], np.array([300, 300, 212]) / 812, atol=1e-6)
    assert np.isnan(shares(kids)[3])
    assert kids.dividing.base == "about 812 rows that were asked kids"


def test_intervals_of_shares_of_those_who_answered_hold_the_truth():
    """19 of 20 times: fewer than 88 of 100 have a chance below 1 in 600, of three answers below 1 in 200."""
    codes = {
        "works": np.repeat(np.arange(6), ASKED), "kids": np.zeros(1000, int), "sex": np.zeros(1000, int),
        "age": np.zeros(1000, int), "moved": np.zeros(1000, int),
    }  # fmt: skip
    table, query = Picture(SCHEMA, codes), Histogram("works").bound(SCHEMA)
    truth, held = np.array(ASKED[:3]) / 750, np.zeros(3)
    for _ in range(100):
        _, _, release = table.released([query], "0.1")
        (finding,) = shown([query], [list(release.answers[0].numbers[0])], scale=20)
        _, low, high = (ends[:3] for ends in finding.dividing(slice(0, None)))
        held += (low <= truth) & (truth <= high)
    assert (held >= 88).all()


@pytest.mark.parametrize(
    ("query", "numbers", "base"),
    [
        (Histogram("age", 2), [500, 480, 20], "1,000 rows"),
        (Histogram("sex"), [500, 500], "1,000 rows"),
        (Histogram("moved"), [300, 600], "about 900 rows with a value of moved"),
        (Histogram("sex", where="age > 49"), [250, 250], "about 500 rows with age from 50 to 99"),
        (Share(where="age > 49 and sex = 'f'", count="public"), 250, "1,000 rows"),
        (Share(where="age > 49", count="public"), 250, "1,000 rows"),
    ],
    ids=range(6),
)
def test_every_percentage_names_its_base(query, numbers, base, tmp_path):
    (finding,) = shown([query], [numbers])
    assert finding.dividing.base == base
    write_values([finding], tmp_path)
    for frame in (pd.read_csv(tmp_path / "values.csv"), pd.read_parquet(tmp_path / "values.parquet")):
        assert set(frame.share_of) == {base}
    write_workbook([finding], tmp_path / "values.xlsx")
    book = openpyxl.load_workbook(tmp_path / "values.xlsx")
    cells = {str(cell.value) for sheet in book for row in sheet.iter_rows() for cell in row}
    assert base in cells or f"Shares are of {base}." in cells


def test_a_share_names_the_rows_that_it_is_asked_of():
    schema = SCHEMA
    query = Share(where=parse("age > 49", schema), of=parse("sex = 'f'", schema))
    codes = {name: np.zeros(1000, int) for name in schema.names} | {"age": np.repeat([20, 60], 500)}
    _, _, release = Picture(schema, codes).released([query], 1)
    certificate = release_of([Count()], schema, [9]).certificate
    asked = {"mechanism": {"asked": [{"query": written(query)}]}}
    (finding,) = findings(replace(release, certificate={**certificate, **asked}), ["s"], schema)
    assert finding.dividing.base == "rows with sex f"


def test_cells_that_cannot_occur_are_no_rows(tmp_path):
    queries = [Marginal(("sex", "moved")), Histogram("age", 4, where="age < 50"), GroupBy(("sex",), "age")]
    numbers = [[0, 400, 300, 300], [250, 250, 3, -2, 4], [9000, 8000]]
    found = shown(queries, numbers, impossible=("sex = 'f' and not moved",))
    assert [cell.names for cell in found[0].cells()] == [("f", "yes"), ("m", "no"), ("m", "yes")]
    assert [cell.value for cell in found[0].cells()] == [400, 300, 300]
    assert found[0].size == 3
    assert [cell.value for cell in found[1].cells()] == [250, 250]
    assert found[2].size == 2
    write_values(found, tmp_path)
    frame = pd.read_csv(tmp_path / "values.csv")
    assert len(frame) == 7
    assert frame.share[:3].tolist() == pytest.approx([0.4, 0.3, 0.3], abs=1e-5)


def test_where_no_row_lacks_a_value_there_is_no_cell_for_it_and_parts_add_up_to_all_rows():
    (sex,) = shown([Histogram("sex")], [[505, 490]])
    assert [cell.name for cell in sex.cells()] == ["f", "m"]
    codes = {name: np.zeros(1000, int) for name in SCHEMA.names} | {"sex": np.repeat([0, 1], (505, 495))}
    _, _, release = Picture(SCHEMA, codes).released(
        [Histogram("sex").bound(SCHEMA), Count(where=parse("sex = 'f'", SCHEMA))], 1, consistent=True
    )
    assert sum(release.answers[0].adjusted.value) == 1000


def test_rows_without_a_group_have_no_mean():
    sql = read_sql("SELECT kids, avg(age), count(*) FROM t GROUP BY kids", SCHEMA)
    means = [query for query in sql.queries if isinstance(query, Mean)]
    assert len(means) == 3
    assert not any("missing" in name for name in sql.names)


def test_kinds_of_missing_are_declared_in_the_schema(tmp_path):
    write_schema(SCHEMA, tmp_path / "schema.toml")
    text = (tmp_path / "schema.toml").read_text()
    assert 'not_asked = ["-1"]' in text
    assert 'no_answer = ["98"]' in text
    assert 'missing = "never"' in text
    assert read_schema(tmp_path / "schema.toml") == SCHEMA
    for given in ({"not_asked": ("-9",)}, {"no_answer": ("a",), "not_asked": ("a",)}):
        with pytest.raises(BadSchema, match="not_asked") as refused:
            Categorical("q", ("a", "b"), **given)
        assert len(str(refused.value)) <= 200
    with pytest.raises(BadSchema, match="none of its values"):
        Integer("age", 0, 99, not_asked=("-1",))
