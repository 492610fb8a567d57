"""What rests on too few rows of a pilot is not proposed, and what holds by design is."""

import numpy as np
import pytest
from scipy.stats import binom

from entwined.learning import Codes, pair_counts
from entwined.survey.evidence import DOUBT, Evidence, needed, of_answers, of_blank
from entwined.survey.sense import blank_codes, decided_columns, forms

RULES = {("age_group", "age"), ("party3", "party7"), ("copy", "mood")}


def by_design(draw, rows):
    """Three columns that are worked out from others, each other column of the last code missing."""
    age, party, mood = draw.integers(0, 12, rows), draw.integers(0, 7, rows), draw.integers(0, 4, rows)
    lost = draw.random(rows) < 0.03
    return {
        "age": (13, age),
        "age_group": (4, age // 4),
        "party7": (8, np.where(lost, 7, party)),
        "party3": (4, np.where(lost, 3, np.array([0, 0, 0, 1, 2, 2, 2])[party])),
        "mood": (5, mood),
        "copy": (5, (mood + 1) % 4),
    }


def by_coincidence(draw, rows):
    """Fifty columns with a rare answer, or hardly filled: each goes with others but for a few respondents in 10,000."""
    found = {}
    for number in range(25):
        trait = draw.random(rows)
        found[f"rare{number}"] = 3, (trait < 0.004).astype(int)  # said by a few
        found[f"seldom{number}"] = 6, np.where(trait < 0.03, draw.integers(0, 5, rows), 5)  # asked of a few
        found[f"scale{number}"] = 8, np.where(trait < 0.01, 6, draw.integers(0, 6, rows))  # a hint of either
    return found


def codes_of(columns):
    return Codes.of(
        {name: size for name, (size, _) in columns.items()},
        np.column_stack([cells for _, cells in columns.values()]),
    )


@pytest.mark.parametrize("seed", range(4))
def test_coincidences_are_not_proposed_and_rules_are(seed, monkeypatch):
    draw = np.random.default_rng(seed)
    pairs = pair_counts(codes_of(by_design(draw, 500) | by_coincidence(draw, 500)))
    for filled in (True, False):
        assert {(one.column, one.by) for one in decided_columns(pairs, filled=filled)} == RULES
    assert forms(pairs, blank_codes(pairs)) == ()
    monkeypatch.setattr(Evidence, "is_enough", True)  # a mutant that takes whatever agrees
    assert len(decided_columns(pairs)) > len(RULES)


def test_one_half_of_a_survey_does_not_contradict_what_the_other_shows():
    draw = np.random.default_rng(5)
    for _ in range(3):
        codes = codes_of(by_design(draw, 1000) | by_coincidence(draw, 1000))
        for one in decided_columns(pair_counts(codes.some(np.arange(500)))):
            by, said = (codes.values[500:, codes.place(name)] for name in (one.by, one.column))
            assert (np.array(one.answers)[by] == said).all()


@pytest.mark.parametrize("tried", [1, 90, 90_000])
def test_as_many_confirm_as_the_exact_binomial_asks_for(tried):
    assert (
        binom.pmf(needed(tried), needed(tried), 0.5)
        <= DOUBT / tried
        < 2 * binom.pmf(needed(tried), needed(tried), 0.5)
    )
    for rows, against in ((40, 0), (400, 3)):
        share = Evidence(rows, rows, against, tried).most_against
        assert binom.cdf(against, rows + against, share) == pytest.approx(DOUBT / tried, rel=1e-6)
    assert Evidence(0, 0, 0, tried).most_against == 1


def test_an_answer_is_confirmed_by_those_after_the_first():
    """Missing is the last code of both; 30 values that one respondent gave each confirm nothing."""
    assert of_answers(np.array([[30, 0, 0], [9, 0, 0], [0, 20, 0], [0, 0, 2]]), 1) == Evidence(56, 19, 0, 1)
    many = np.zeros((31, 3), int)
    many[:15, 0] = many[15:30, 1] = 1
    assert of_answers(many, 1) == Evidence(0, 0, 0, 1)
    unseen = np.array([[30, 0, 0, 0], [0, 9, 0, 0], [0, 0, 0, 0]])
    assert of_answers(unseen, 1) is None  # nobody gave the third answer
    by_missing = np.array([[30, 0, 0], [0, 9, 0]])
    assert of_answers(by_missing, 1) == Evidence(37, 8, 0, 1)
    assert of_answers(by_missing, 1, filled=True) is None  # that the other is missing decides an answer
    both_missing = np.array([[30, 0], [0, 9]])
    assert of_answers(both_missing, 1) is None
    assert of_blank(np.array([[0, 20], [0, 1], [8, 0]]), 1, 1) == Evidence(26, 7, 0, 1)
