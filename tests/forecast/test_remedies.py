"""What is said to help does help, by as much as is said: every proposal is carried out and its noise looked at."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from entwined.dependence import Groups
from entwined.estimate.quality import TableSize, smallest
from entwined.forecast.draft import Draft
from entwined.forecast.forecast import Assumed, forecasts
from entwined.forecast.prospects import prospects
from entwined.forecast.remedies import Case
from entwined.forecast.rivals import rivals
from entwined.queries import Histogram
from entwined.request.verbs import plan
from entwined.schema import Boolean, Categorical, Cells, Rows, Schema

NAMES = tuple(f"q{number}" for number in range(24))
ROWS = 200
SCHEMA = Schema(
    tuple(Boolean(name, missing="drop") for name in NAMES), unit=Cells(), rows=ROWS, most_rows=ROWS
).approve()
BY_ROW = replace(SCHEMA, unit=Rows(), approved_digest="").approve()
ALL = [Histogram(name) for name in NAMES]


def reach(schema, queries, **terms):
    """The widest half-width to expect."""
    planned = plan(schema, queries, **terms)
    found = forecasts(Draft.of(planned), Assumed.of(schema, None, consistent=True))
    return max(one.half_width for one in found)


def ahead(schema, queries, *, leakage, beside=True, **terms):
    planned = plan(schema, queries, leakage=leakage, **terms)
    by_text = {query.fingerprint: query for query in planned.queries}
    found = forecasts(Draft.of(planned), Assumed.of(schema, None, consistent=True))
    expected = dict(zip(by_text, found, strict=True))
    bound = [query.bound(schema) for query in queries]
    return prospects(
        planned,
        bound,
        [expected[query.fingerprint] for query in bound],
        TableSize.of(schema),
        leakage=Fraction(leakage),
        beside=tuple(rivals(planned, Fraction(leakage))) if beside else (),
    )


@pytest.fixture(scope="module")
def drowned():
    return ahead(SCHEMA, ALL, leakage=Fraction(1, 2), dependence=Groups(len(NAMES)))


def test_nothing_is_said_where_all_can_be_published():
    found = ahead(SCHEMA, ALL[:2], leakage=8, dependence=Groups(len(NAMES)))
    assert (found.warning, found.best, found.helps) == ("", "", ())
    assert all(one.quality.level == "publish" and not one.helps for one in found.answers)


def test_every_remedy_does_what_it_says(drowned):
    assert "24 of 24 statistics" in drowned.warning
    assert f"{ROWS} rows" in drowned.warning
    kinds = set()
    for one in drowned.helps:
        leakage = Fraction(str(one.leakage)) if one.leakage else Fraction(1, 2)
        delta = Fraction(1, 10**6) if "delta" in one.do else None
        few = re.search(r"first (\d+) of", one.do)
        asked = ALL[: int(few[1])] if few else ALL[:1] if "only one" in one.do else ALL
        rows = "protect rows" in one.do.lower()
        models = {} if rows else {"dependence": Groups(len(NAMES))}
        found = reach(BY_ROW if rows else SCHEMA, asked, leakage=leakage, delta=delta, **models)
        said = one.reach(drowned.cases)
        assert 0.85 * said <= found <= 1.03 * said, one.do  # Gaussian tails are shorter than Laplace's
        assert not one.enough or found <= 0.16 * ROWS
        kinds.add((one.leakage is not None, delta is not None, rows, asked is ALL))
    assert len(kinds) >= 4


def test_the_best_is_enough_and_takes_the_least(drowned):
    first, *others = drowned.helps
    assert first.enough
    assert drowned.best.startswith(first.do)
    assert all(first.cost <= one.cost for one in others if one.enough)


def test_each_answer_says_what_would_help_it(drowned):
    for one in drowned.answers:
        assert one.helps[0].startswith(drowned.helps[0].do)
        assert one.document["row_level_gaussian"] < one.reach  # 24 answers of a row that is one group


def test_without_models_a_delta_is_tried_too():
    found = ahead(BY_ROW, ALL, leakage=Fraction(1, 4))
    assert any("delta" in one.do for one in found.helps)
    assert any("questions" in one.do for one in found.helps)


def test_merging_is_proposed_into_as_many_cells_as_could_be_published():
    case = Case(reach=39.2, needed=6 / smallest(20.0, 39.2, "publish"), cell_rows=6.0, cells=100)
    merged = int(re.search(r"at most (\d+)", case.merging)[1])
    assert 600 / merged >= smallest(20.0, 39.2, "publish") > 600 / (merged + 1)
    assert replace(case, needed=0.01).merging == ""


def test_many_cells_are_told_to_be_merged():
    wide = Schema(
        (Categorical("one", tuple(f"v{number}" for number in range(120)), missing="drop"),),
        rows=600,
        most_rows=600,
    ).approve()
    found = ahead(wide, [Histogram("one")], leakage=Fraction(1, 10))
    assert found.answers[0].quality.level == "not"
    assert any("Merge its answers" in said for said in found.answers[0].helps)
