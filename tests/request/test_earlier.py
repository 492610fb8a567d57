"""Releases that agree with what was released before of the same rows."""

from fractions import Fraction

import numpy as np
import pytest

from entwined.errors import BadInput
from entwined.ledger import Ledger
from entwined.promise.promise import Promise
from entwined.queries import Count, Histogram, Marginal, parse
from entwined.request.fulfil import fulfil
from entwined.request.outlook import outlook
from entwined.request.request_file import read_request
from entwined.request.verbs import release
from entwined.request.verification import verify
from entwined.schema import Categorical, Integer, Schema, write_schema
from support.memory_table import MemoryTable

SCHEMA = Schema(
    (Categorical("sex", ("Male", "Female")), Integer("age", 0, 99)), neighbours="add_remove", most_rows=3000
).approve()
MEN, WOMEN, ADULTS = (
    Count(where=parse(text, SCHEMA)) for text in ("sex = 'Male'", "sex = 'Female'", "age > 20")
)
NEVER = [parse(f"{name} is null", SCHEMA) for name in SCHEMA.names]


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "l.db", Fraction(100), Promise.of(SCHEMA), anchor=tmp_path / "a") as made:
        yield made


def rows():
    rng = np.random.default_rng(3)
    return [{"sex": ("Male", "Female")[rng.integers(2)], "age": int(rng.integers(100))} for _ in range(2000)]


def test_the_lecture_in_four_releases_adds_up(ledger):
    table = MemoryTable(SCHEMA, rows())
    terms = {"ledger": ledger, "loss": Fraction(1, 10), "impossible": NEVER}
    drawn = [release(table, query, **terms) for query in (Count(), MEN, WOMEN, ADULTS)]
    reads, spent = table.reads, ledger.spent().price
    found = [release(table, query, with_earlier=True, **terms) for query in (Count(), MEN, WOMEN, ADULTS)]
    total, men, women, adults = (one.answers[0].adjusted.value for one in found)
    assert total == men + women >= adults
    unbiased = [float(one.values[0]) for one in found]
    assert unbiased[0] == pytest.approx(unbiased[1] + unbiased[2], abs=0.5)
    assert table.reads == reads
    assert ledger.spent().price == spent
    for one in found:
        assert "3 other releases" in one.agreement
        assert "no row is in" in one.agreement
        assert verify(one.certificate, SCHEMA, release=one.document()).valid
    width = [high - low for low, high in (one.intervals[0] for one in (*drawn[:1], *found[:1]))]
    assert width[1] < width[0]
    new = release(table, Marginal(("sex",)), with_earlier=True, **terms)
    again = release(table, Count(), with_earlier=True, **terms)
    assert sum(new.answers[0].adjusted.value) == again.answers[0].adjusted.value


def test_other_rows_and_other_promises_are_left_out(ledger):
    class Other(MemoryTable):
        identity = "another month"

    terms = {"ledger": ledger, "loss": Fraction(1, 10), "with_earlier": True}
    release(MemoryTable(SCHEMA, rows()), Count(), **terms)
    found = release(Other(SCHEMA, rows()[:500]), Histogram("sex"), **terms)
    assert "other releases" not in found.agreement


REQUEST = """
table = "people.csv"
schema = "schema.toml"
ledger = "ledger.db"
cap = 10
loss = 0.1
impossible = ["sex is null"]
{queries}
"""
QUERY = '[[query]]\nkind = "count"\nwhere = "{where}"\n'


def test_a_request_declares_what_is_impossible_and_may_agree_with_earlier_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    write_schema(SCHEMA, tmp_path / "schema.toml")
    lines = [f"{row['sex']},{row['age']}" for row in rows()]
    (tmp_path / "people.csv").write_text("\n".join(["sex,age", *lines]))
    path = tmp_path / "release.toml"

    def asked(*texts):
        path.write_text(REQUEST.format(queries="\n".join(QUERY.format(where=text) for text in texts)))
        request = read_request(path)
        return fulfil(request, outlook(request).planned, with_earlier=True).release

    (total, men), (women, old) = ("age >= 0 or age is null", "sex = 'Male'"), ("sex = 'Female'", "age > 20")
    asked(total, men)
    second, first = asked(women, old), asked(total, men)
    whole, part, rest, aged = (answer.adjusted.value for one in (first, second) for answer in one.answers)
    assert whole == part + rest >= aged
    path.write_text(
        REQUEST.replace('["sex is null"]', '"sex is null"').format(queries=QUERY.format(where=men))
    )
    with pytest.raises(BadInput, match="list of conditions"):
        read_request(path)
