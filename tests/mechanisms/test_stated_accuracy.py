"""Accuracies that mechanisms state, worked out a second time from their noise."""

from fractions import Fraction

import numpy as np
import pytest

from entwined.mechanisms.clusters import Rounds
from entwined.mechanisms.households.household_tables import HouseholdTables
from entwined.mechanisms.households.masses import parts_of
from entwined.mechanisms.k_means import KMeans
from entwined.mechanisms.marginals.domain import Domain
from entwined.mechanisms.marginals.measured import NoisyMarginals
from entwined.mechanisms.marginals.meter import Noted, Transcript
from entwined.mechanisms.offered import settled
from entwined.noise import DiscreteGaussian, DiscreteLaplace
from entwined.promise.promise import Promise
from entwined.schema import Categorical, Integer, Real, Schema
from support.census import ROLES, census_schema

PLACES = Schema((Real("x", 0, 10, step="0.01"), Real("y", 0, 10, step="0.01")), most_rows=4000).approve()
MEAN_OF_NORMAL = (2 / np.pi) ** 0.5  # of the size of a number of deviation 1


def laplace_reach(scale, confidence):
    """The least h with P(|Z| ≤ h) of at least so much, for P(z) in proportion to exp(−|z|/scale)."""
    keep = np.exp(-1 / scale)
    beyond = 2 * keep ** (np.arange(int(5 * scale) + 5) + 1) / (1 + keep)  # P(|Z| > h)
    return int(np.argmax(beyond <= 1 - confidence))


@pytest.mark.parametrize("loss", [1, 3])
def test_the_size_of_a_cluster_is_stated_with_the_reach_of_its_noise_in_rows(loss):
    promise = Promise.of(PLACES)
    mechanism = KMeans.of(promise, ["x", "y"], 3, 1, loss)
    rounds = Rounds(mechanism.space, mechanism.space.spread(3), mechanism.weight, mechanism.noise)
    drawn = [value for rows in (900, 40, 2000) for value in (rows * mechanism.weight, 0, 0)]
    found = rounds.clusters([drawn])
    noise = laplace_reach(float(mechanism.noise.scale), 0.95)
    assert found.reach == -(-noise // mechanism.weight)
    assert found.reach > 1
    assert sorted(found.sizes) == [40, 900, 2000]
    low, high = (found.sheet.headings.index(name) for name in ("rows from", "rows to"))
    for size, row in zip(found.sizes, found.sheet.rows, strict=True):
        assert (row[low], row[high]) == (max(size - found.reach, 0), size + found.reach)


def noted(scope, counts, noise):
    return Noted(scope, np.array(counts), noise)


def test_the_share_of_rows_misplaced_is_half_of_what_noise_adds_up_to_over_the_cells():
    """Half: a row in the wrong cell is missing in one and too many in another. For every table of several."""
    schema = Schema(
        (Integer("age", 0, 19), Categorical("town", ("a", "b")), Categorical("sex", ("f", "m"))),
        most_rows=10_000,
    ).approve()
    wide, narrow = DiscreteLaplace(Fraction(40)), DiscreteGaussian.of_variance(Fraction(25))
    tables = [
        noted((0,), [100] * 21, wide),
        noted((1,), [1000, 1050, 50], narrow),
        noted((1, 2), [233, 234, 233] * 3, wide),
    ]
    found = NoisyMarginals(Domain.of(schema), Transcript(tables, {}, []))
    rng = np.random.default_rng(1)
    for (one, share), cells, deviation in zip(
        found.errors(),
        (21, 3, 9),
        (float(wide.variance) ** 0.5, 5.0, float(wide.variance) ** 0.5),
        strict=True,
    ):
        stated = MEAN_OF_NORMAL * deviation * cells / 2 / found.rows
        assert share == pytest.approx(stated, rel=0.02)
        moved = np.abs(rng.normal(0, deviation, (4000, cells))).sum(axis=1).mean() / 2 / found.rows
        assert share == pytest.approx(moved, rel=0.05)
        assert one.counts.size == cells
    drowned = NoisyMarginals(
        Domain.of(schema), Transcript([noted((1,), [5, 5, 0], DiscreteLaplace(Fraction(10**6)))], {}, [])
    )
    assert [share for _, share in drowned.errors()] == [1.0]


def test_what_a_plan_of_households_states_is_the_noise_of_each_table_in_households():
    promise = Promise.of(census_schema())
    mechanism = settled(HouseholdTables, promise, ROLES, loss=2)
    whole = parts_of(mechanism.seating)
    sheet = mechanism.expected()
    assert sheet.headings[2:] == (
        "cells, at most",
        "deviation of a count",
        "± (95 %)",
        "households misplaced, at most",
    )
    for _, many, cells, deviation, reach, misplaced in sheet.rows:
        scale = (1 + (1 + 2 * (deviation * whole) ** 2) ** 0.5) / 2  # about, of a discrete Laplace law
        assert many >= 1
        assert reach == pytest.approx(laplace_reach(scale, 0.95) / whole, rel=0.01)
        assert misplaced == pytest.approx(MEAN_OF_NORMAL * deviation * cells / 2, rel=0.02)
