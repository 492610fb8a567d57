"""From a file to a release: describe proposes, the holder approves, the door answers."""

from fractions import Fraction

import pytest

from entwined.errors import Unapproved
from entwined.ledger import Ledger
from entwined.promise.promise import Promise
from entwined.queries import Histogram
from entwined.request.verbs import release
from entwined.schema import Integer, approve, read_schema
from entwined.tables import describe, open_table
from support.warm import entwined

ROWS = [
    ("m" if place % 3 else "f", 20 + place % 50, place / 8, "2020-01-02", place % 2 == 0)
    for place in range(200)
]


@pytest.fixture
def survey(tmp_path):
    lines = ["sex,age,score,day,member"] + [f"{a},{b},{c},{d},{str(e).lower()}" for a, b, c, d, e in ROWS]
    (tmp_path / "survey.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_types_and_bounds_are_proposed_and_hold_every_row(survey):
    found = describe(str(survey / "survey.csv"))
    kinds = {column.name: type(column).__name__ for column in found.schema.columns}
    assert kinds == {
        "sex": "Categorical",
        "age": "Integer",
        "score": "Real",
        "day": "Moment",
        "member": "Boolean",
    }
    age = next(column for column in found.schema.columns if isinstance(column, Integer))
    assert (age.low <= 20, age.high >= 69) == (True, True)
    assert not found.schema.approved


def test_nothing_is_released_under_an_unapproved_schema_and_then_it_is(survey):
    done = entwined("describe", "survey.csv", "-o", "schema.toml", folder=survey)
    assert (done.returncode, done.stderr) == (0, "")
    again = entwined("describe", "survey.csv", "-o", "schema.toml", folder=survey)
    assert again.returncode == 2
    proposed = read_schema(survey / "schema.toml")
    with (
        open_table(str(survey / "survey.csv"), proposed) as table,
        Ledger.create(str(survey / "none.sqlite"), Fraction(1), Promise.of(proposed)) as ledger,
    ):
        with pytest.raises(Unapproved):
            release(table, Histogram("sex"), ledger=ledger, loss="1")
        assert ledger.spent().price.nominal == 0
    schema = approve(survey / "schema.toml")
    with (
        open_table(str(survey / "survey.csv"), schema) as table,
        Ledger.create(str(survey / "ledger.sqlite"), Fraction(20), Promise.of(schema)) as ledger,
    ):
        answer = release(table, Histogram("sex"), ledger=ledger, loss="20").answers[0].value
        assert ledger.spent().price.nominal == 20
    exact = [sum(row[0] == "f" for row in ROWS), sum(row[0] == "m" for row in ROWS)]
    assert [abs(noisy - true) <= 5 for noisy, true in zip(answer, exact, strict=False)] == [True, True]


@pytest.mark.parametrize("name", ["none.csv", "broken.parquet"])
def test_what_cannot_be_read_is_said_without_a_traceback(survey, name):
    (survey / "broken.parquet").write_bytes(b"PAR1 nonsense PAR1")
    done = entwined("describe", name, "-o", "schema.toml", folder=survey)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
