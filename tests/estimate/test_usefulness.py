"""What an answer is good for: held against the table and a uniform guess, by public figures alone."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from entwined.estimate.answers import Release
from entwined.estimate.as_drawn import as_drawn
from entwined.estimate.consistent_release import make_consistent
from entwined.estimate.guess import beside_guess
from entwined.estimate.usefulness import TableSize, judged, yardstick
from entwined.mechanisms.draws import noisy
from entwined.queries import Count, Histogram, Marginal, Mean, Median, Share, Total, Variance, parse
from entwined.request.verbs import plan
from entwined.schema import Categorical, Integer, Schema

COLUMNS = (
    Categorical("place", ("a", "b", "c"), missing="drop"),
    Categorical("one", tuple(f"v{number}" for number in range(40)), missing="drop"),
    Integer("age", 0, 99, missing="drop"),
)
SCHEMA = Schema(COLUMNS, rows=600, most_rows=600).approve()
HUNDRED = TableSize(600, "600 rows")


def test_an_interval_as_wide_as_the_table_is_not_usable():
    for query, width in (
        (Count(where=parse("age > 5", SCHEMA)), 600),
        (Histogram("place"), 600),
        (Total("age"), 99 * 600),
        (Mean("age"), 99),
        (Mean("age", count="public"), 99),
        (Variance("age"), (99 / 2) ** 2),
        (Share(where=parse("age > 5", SCHEMA)), 1),
        (Share(where=parse("age > 5", SCHEMA), count="noisy"), 1),
        (Median("age"), 600),
    ):
        asked = query.bound(SCHEMA)
        assert yardstick(asked, SCHEMA, HUNDRED).width == pytest.approx(width), query
        assert judged(asked, SCHEMA, HUNDRED, 0.49 * width).usable
        found = judged(asked, SCHEMA, HUNDRED, 0.5 * width)
        assert (found.usable, found.verdict) == (False, "wider than the table")
        assert "600 rows" in found.why


def test_the_most_that_a_guess_is_off_by_is_reached():
    """Against every table of six rows in three cells: the root of the mean square over the cells."""
    small = Schema(COLUMNS, rows=6, most_rows=6).approve()
    found = yardstick(Histogram("place"), small, TableSize.of(small)).guess
    off = [
        math.sqrt(sum((count - 2) ** 2 for count in counts) / 3)
        for counts in itertools.product(range(7), repeat=3)
        if sum(counts) == 6
    ]
    assert found == pytest.approx(max(off))


def test_noise_above_any_guess_is_not_usable_though_shorter_than_the_table():
    asked = Histogram("one").bound(SCHEMA)
    guess = yardstick(asked, SCHEMA, HUNDRED).guess
    found = judged(asked, SCHEMA, HUNDRED, 2.2 * guess, 1.01 * guess)
    assert found.verdict == "worse than a guess"
    assert judged(asked, SCHEMA, HUNDRED, 2.2 * guess, 0.99 * guess).usable


def test_who_says_how_many_rows_there_are_is_told():
    hidden = Schema(COLUMNS, neighbours="add_remove", most_rows=700).approve()
    unsaid = Schema(COLUMNS, neighbours="add_remove").approve()
    assert TableSize.of(SCHEMA, 50).words == "600 rows"
    assert TableSize.of(hidden).words == "at most 700 rows"
    assert TableSize.of(hidden, 650).words == "about 650 rows"
    found = judged(Count(), unsaid, TableSize.of(unsaid), 1e9)
    assert found.usable
    assert found.verdict == "not known"
    assert "expected_rows" in found.why
    assert not judged(
        Mean("age"), unsaid, TableSize.of(unsaid), 60
    ).usable  # its range is public all the same


def released(queries, counts, loss):
    planned = plan(SCHEMA, queries, loss=loss)
    exact = {query.fingerprint: np.array(numbers) for query, numbers in zip(queries, counts, strict=True)}
    drawn = [
        tuple(noisy(planned.statistics[use], exact[query.fingerprint][None])[0].tolist())
        for query, (use,) in zip(planned.queries, planned.uses, strict=True)
    ]
    return planned, as_drawn(planned, drawn).under(SCHEMA)


def test_marks_are_written_read_back_and_the_same_once_numbers_agree():
    queries = [Histogram("place"), Marginal(("one",))]
    counts = [(300, 200, 100), (*[20] * 20, *[10] * 20)]
    planned, drowned = released(queries, counts, Fraction(1, 200))
    _, fine = released(queries, counts, 4)
    for release in (drowned, make_consistent(planned, drowned)):
        assert not any(one.usable for one in release.answers)
        assert Release.from_document(release.document()).answers == release.answers
    assert all(one.usable for one in fine.answers)
    assert all("usable" not in one for one in fine.document()["answers"])


def test_a_guess_is_found_from_what_was_drawn():
    """Its square is right on average; where noise hides it no more than a bound is told, which holds."""
    queries = [Histogram("place"), Histogram("one")]
    counts = [(300, 200, 100), (*[25] * 20, *[5] * 20)]
    truth = math.sqrt(sum(((np.array(one) - np.mean(one)) ** 2).sum() for one in counts))
    found = [beside_guess(released(queries, counts, Fraction(1, 4))[1]) for _ in range(60)]
    squares = [one.guess**2 for one in found]
    assert abs(np.mean(squares) - truth**2) < 4.5 * np.std(squares) / math.sqrt(len(squares)) + 1
    assert all(one.guess <= one.at_most for one in found)
    held = [beside_guess(released(queries, counts, Fraction(1, 50))[1]) for _ in range(40)]
    assert sum(truth <= one.at_most for one in held) >= 28  # fewer of 40 that hold 19 of 20 times: 4 in 10⁸
    assert all(one.is_worse for one in held)
    assert "no better than a guess" in held[0].words
    assert beside_guess(as_drawn(plan(SCHEMA, Total("age"), loss=1), [(5,)]).under(SCHEMA)) is None
