"""Differences, ratios, shares and bands of released counts: they hold the truth as often as they say."""

from fractions import Fraction

import numpy as np
import pytest

from entwined.errors import BadQuery
from entwined.estimate.answers import Release
from entwined.estimate.as_drawn import as_drawn
from entwined.estimate.comparisons import Comparing, of_each
from entwined.estimate.consistent_release import make_consistent
from entwined.queries import Count, Histogram, Marginal, Total
from entwined.request.verbs import plan
from entwined.schema import Schema
from support.conditions import NEVER_MISSING, SCHEMA, where
from support.noisy_tables import draws

APPROVED = Schema(SCHEMA.columns, neighbours="add_remove", most_rows=10_000).approve()
MEN, WOMEN, ALL = Count(where=where("sex = 'Male'")), Count(where=where("sex = 'Female'")), Count()
SEXES = Histogram("sex")
QUERIES = [ALL, MEN, WOMEN, SEXES, Histogram("age", where=where("owns")), Total("age")]
PLANNED = plan(APPROVED, QUERIES, loss=Fraction(1, 2))
TRUTH = {
    ALL.fingerprint: [900],
    MEN.fingerprint: [600],
    WOMEN.fingerprint: [300],
    SEXES.fingerprint: [600, 300, 0],
}


def drawn(random, scale=1.0) -> Release:
    """Draw a release; a scale below 1 plants a bug: noise that is larger than the intervals know."""
    numbers = []
    for one in PLANNED.statistics:
        query = next(
            q
            for q, uses in zip(PLANNED.queries, PLANNED.uses, strict=True)
            if PLANNED.statistics[uses[0]] is one
        )
        exact = np.array(TRUTH.get(query.fingerprint, [50] * one.statistic.aggregate.cells))
        noise = draws(one.law, exact.shape, random)
        numbers.append(tuple((exact + np.round(noise / scale).astype(int)).tolist()))
    return as_drawn(PLANNED, numbers)


CASES = {
    "difference": (lambda found: found.difference(MEN, WOMEN), 300),
    "cells": (lambda found: found.difference((SEXES, 0), (SEXES, 1)), 300),
    "ratio": (lambda found: found.ratio(MEN, WOMEN), 2),
    "share": (lambda found: found.share(MEN, ALL), Fraction(2, 3)),
    "share of a cell": (lambda found: found.share((SEXES, 1), ALL), Fraction(1, 3)),
}


def held(releases, seed, *, consistent, scale=1.0):
    """Count how often the truth is held, by case; comparing costs the same law each time, which is remembered."""
    random, found = np.random.default_rng(seed), dict.fromkeys([*CASES, "band"], 0)
    for _ in range(releases):
        release = drawn(random, scale)
        if consistent:
            release = make_consistent(PLANNED, release, impossible=NEVER_MISSING)
        comparing = Comparing.of(PLANNED, release, NEVER_MISSING)
        for name, (compared, truth) in CASES.items():
            ends = compared(comparing)
            found[name] += ends.low <= truth <= ends.high
            assert ends.value is None or ends.low <= ends.value <= ends.high
        low, high = comparing.simultaneous(SEXES)
        found["band"] += bool(((low <= TRUTH[SEXES.fingerprint]) & (TRUTH[SEXES.fingerprint] <= high)).all())
    return {name: number / releases for name, number in found.items()}


@pytest.mark.parametrize("consistent", [False, True], ids=["drawn", "consistent"])
def test_comparisons_hold_the_truth_and_too_much_noise_is_caught(consistent):
    """Of 25 releases more than 8 miss by chance once in 10⁵; with noise seven times too large 60 % of them do."""
    found = held(25, 5, consistent=consistent)
    assert min(found.values()) >= 0.68, found
    broken = held(25, 6, consistent=consistent, scale=0.15)
    assert max(broken.values()) < 0.88, broken
    assert min(broken.values()) < 0.6, broken


@pytest.mark.parametrize("consistent", [False, True], ids=["drawn", "consistent"])
def test_laws_of_differences_and_bands_are_those_of_simulated_errors_and_shorter_ones_are_caught(consistent):
    """With 10⁵ errors a share is 0.07 % off by chance: the bounds are four of these away, a false alarm in 10⁴."""
    random = np.random.default_rng(8)
    release = drawn(random)
    release = make_consistent(PLANNED, release, impossible=NEVER_MISSING) if consistent else release
    found = Comparing.of(PLANNED, release, NEVER_MISSING)
    noises = np.array([draws(noise, (100_000,), random) for noise in found.noises])
    men, women, sexes = (found.counts[query.fingerprint].weights for query in (MEN, WOMEN, SEXES))
    error, law = np.abs((men - women)[0] @ noises), found._law((men - women)[0])
    assert 0.947 < (error <= law.half_width(0.95) + 1e-9).mean() < 0.956
    assert (error <= 0.9 * law.half_width(0.95)).mean() < 0.947
    sure = of_each(3, 0.95, independent=not consistent)
    errors = np.abs(sexes @ noises)
    reach = np.array([found._law(weights).half_width(sure) for weights in sexes])[:, None]
    assert 0.947 < (errors <= reach + 1e-9).all(axis=0).mean() < (0.97 if consistent else 0.96)
    assert (errors <= 0.9 * reach).all(axis=0).mean() < 0.947


@pytest.mark.slow
@pytest.mark.parametrize("consistent", [False, True], ids=["drawn", "consistent"])
def test_over_many_releases_comparisons_hold_as_often_as_they_say(consistent):
    found = held(4000, 7, consistent=consistent)
    print(found)
    assert min(found.values()) > 0.937
    tight = [found[name] for name in ("difference", "cells")]
    assert max(tight) < 0.965


def test_errors_that_hang_together_make_differences_sharper():
    release = drawn(np.random.default_rng(1))
    agreeing = make_consistent(PLANNED, release, impossible=NEVER_MISSING)
    before, after = Comparing.of(PLANNED, release), Comparing.of(PLANNED, agreeing, NEVER_MISSING)
    both = [found.difference(ALL, MEN) for found in (before, after)]
    assert both[1].high - both[1].low < both[0].high - both[0].low
    assert after.difference(MEN, (SEXES, 0)).high == 0  # one and the same number
    assert after.share(WOMEN, ALL).value == Fraction(agreeing.of(WOMEN).value, agreeing.of(ALL).value)


def test_a_band_is_wider_than_each_interval_and_what_is_no_count_is_refused():
    release = drawn(np.random.default_rng(2))
    found = Comparing.of(PLANNED, release)
    low, high = found.simultaneous(SEXES)
    alone = release.of(SEXES).interval
    assert all(
        high - low > one - other
        for high, low, one, other in zip(high[:2], low[:2], alone[1], alone[0], strict=False)
    )
    for wrong in (Total("age"), Marginal(("sex", "age")), (SEXES, 3), SEXES):
        with pytest.raises(BadQuery):
            found.difference(wrong, ALL)
