"""A release made consistent: totals that add up, no negative counts, intervals that stay honest."""

from fractions import Fraction

import numpy as np
import pytest

from entwined.errors import QueryTooComplex
from entwined.estimate.answers import Release
from entwined.estimate.consistent_release import make_consistent
from entwined.ledger import Ledger
from entwined.promise.promise import Promise
from entwined.queries import Count, GroupBy, Histogram, Marginal, Mean, Median, Total, parse
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Boolean, Categorical, Integer, Schema
from support.memory_table import MemoryTable

ROWS = 400
COLUMNS = (Categorical("place", ("a", "b", "c")), Boolean("well"), Integer("age", 0, 9))
PUBLIC = Schema(COLUMNS, rows=ROWS, most_rows=ROWS).approve()
HIDDEN = Schema(COLUMNS, neighbours="add_remove", most_rows=ROWS).approve()


def rows():
    rng = np.random.default_rng(6)
    return [
        {"place": "abc"[rng.integers(3)], "well": bool(rng.random() < 0.97), "age": int(rng.integers(10))}
        for _ in range(ROWS)
    ]


def queries(schema):
    return [
        Histogram("place"),
        Marginal(("place", "well")),
        GroupBy(("well",)),
        Count(where=parse("place = 'a'", schema)),
        GroupBy(("place",), "age"),
        Total("age"),
        Mean("age"),
        Median("age"),
    ]


def agrees(made, asked, schema):
    """Adjusted parts add up to their wholes, and no adjusted count is negative."""
    place, both, well = (np.array(made.of(query).adjusted.value) for query in asked[:3])
    assert both.reshape(4, 3).sum(axis=1).tolist() == place.tolist()
    assert both.reshape(4, 3).sum(axis=0).tolist() == well.tolist()
    assert made.of(asked[3]).adjusted.value == place[0]
    assert min(place.min(), both.min(), well.min()) >= 0
    assert schema is HIDDEN or place.sum() == ROWS
    assert sum(made.of(asked[4]).adjusted.value) == made.of(asked[5]).adjusted.value
    assert all(made.of(query).adjusted is None for query in asked[6:])


def comes_from(made, given, planned, asked):
    """A release that agrees is made of the one as drawn, and both are certified."""
    assert made == make_consistent(planned, given) == make_consistent(planned, made)
    assert given.agreement.startswith("As drawn")
    assert made.values[6:] == given.values[6:]
    about_numbers = {"released", "digest"}
    assert {
        key for key in made.certificate if made.certificate[key] != given.certificate[key]
    } == about_numbers
    both = (made, given)
    assert all(verify(one.certificate, planned.schema, release=one.document()).valid for one in both)
    assert Release.from_document(made.document()).ordered(asked) == made


@pytest.mark.parametrize("schema", [PUBLIC, HIDDEN], ids=["public", "hidden"])
def test_answers_agree_and_the_truth_is_held(tmp_path, schema):
    table, asked = MemoryTable(schema, rows()), queries(schema)
    held, cells = 0, 0
    with Ledger.create(
        tmp_path / "l.db", Fraction(1000), Promise.of(schema), anchor=tmp_path / "a"
    ) as ledger:
        for turn in range(40):
            terms = {"loss": Fraction(200 + turn, 100), "ledger": ledger}
            made = release(table, asked, **terms)
            assert made.agreement.startswith("Consistent")
            agrees(made, asked, schema)
            for query in asked[:3]:
                exact = table.answer([query.statistics(schema)[0].aggregate])[0]
                low, high = made.of(query).interval
                assert made.of(query).adjusted.interval == (low, high)
                held += sum(a <= x <= b for a, x, b in zip(low, exact, high, strict=True))
                cells += len(exact)
            if turn % 4 == 0:
                given = release(table, asked, consistent=False, **terms)
                comes_from(made, given, plan(schema, asked, loss=terms["loss"]), asked)
        assert table.reads == 40 + 120  # once a batch by the door, three times by us
    assert held / cells > 0.85  # some 240 independent numbers that hold 19 of 20 times: else 1 in 10⁸


def test_what_cannot_be_made_to_agree_stays_as_drawn_and_says_so(tmp_path):
    huge = Schema((Integer("coins", 0, 2**50),), neighbours="add_remove", most_rows=100).approve()
    with Ledger.create(tmp_path / "l.db", Fraction(1), Promise.of(huge), anchor=tmp_path / "a") as ledger:
        table = MemoryTable(huge, [{"coins": 2**50}] * 90)
        given = release(table, Total("coins"), loss=1, ledger=ledger)
    assert "cannot be worked out" in given.agreement
    assert given.values == given.answers[0].numbers[0]


def test_what_an_engine_cannot_do_is_refused_before_the_charge(tmp_path):
    class Small(MemoryTable):
        def check(self, aggregates):
            raise QueryTooComplex(
                f"{len(aggregates)} statistics are too many for this engine. Ask for fewer."
            )

    with Ledger.create(tmp_path / "l.db", Fraction(1), Promise.of(PUBLIC), anchor=tmp_path / "a") as ledger:
        table = Small(PUBLIC, rows())
        with pytest.raises(QueryTooComplex, match="too many"):
            release(table, Histogram("place"), loss=1, ledger=ledger)
        assert table.reads == ledger.spent().price.nominal == 0


def test_choices_alone_stay_as_they_are(tmp_path):
    planned = plan(PUBLIC, Median("age"), loss=1)
    with Ledger.create(tmp_path / "l.db", Fraction(1), Promise.of(PUBLIC), anchor=tmp_path / "a") as ledger:
        given = release(MemoryTable(PUBLIC, rows()), Median("age"), loss=1, ledger=ledger)
    assert make_consistent(planned, given) is given
