"""What is said beside the tables of a description, by what was released alone."""

from fractions import Fraction

import numpy as np
import pytest

from entwined.mechanisms.marginals.domain import Domain
from entwined.mechanisms.marginals.measured import NoisyMarginals
from entwined.mechanisms.marginals.meter import Noted, Transcript
from entwined.noise import DiscreteLaplace
from entwined.schema import Categorical, Integer, Schema

SCHEMA = Schema(
    (Integer("pay", 0, 1_999), Integer("age", 0, 19), Categorical("town", ("a", "b"))), most_rows=10_000
).approve()


def noted(at, counts, scale=2):
    return Noted((at,), np.array(counts), DiscreteLaplace(Fraction(scale)))


def said(*tables):
    return NoisyMarginals(Domain.of(SCHEMA), Transcript(list(tables), {}, [])).sheet.notes


@pytest.mark.parametrize(
    ("tables", "crowded"),
    [
        ((noted(0, [950, *[2] * 20]), noted(1, [48] * 21), noted(2, [990, 5, 5])), True),
        ((noted(0, [950, *[2] * 20], scale=400),), False),
        ((noted(0, [48] * 21), noted(1, [950, *[2] * 20]), noted(2, [990, 5, 5])), False),
    ],
)
def test_a_range_that_holds_nearly_everybody_is_named_if_noise_lets_it_be_seen(tables, crowded):
    """Not where every cell is one value, not for categories, not by noise."""
    notes = [one for one in said(*tables) if "range of pay" in one]
    assert bool(notes) == crowded
    assert not any("age" in one or "town" in one for one in said(*tables))


def test_what_was_counted_twice_is_explained():
    assert any("twice" in one for one in said(noted(2, [5, 5, 0]), noted(2, [6, 4, 0])))
    assert not any("twice" in one for one in said(noted(2, [5, 5, 0]), noted(1, [1] * 21)))
