"""Releases are rehearsed through a door of their own; a planted noise of four fifths is caught, at a stated false-alarm rate."""

import math
from fractions import Fraction

import numpy as np
import pytest

from entwined.audit.gaussian_audit import gaussian_audit
from entwined.audit.rehearsal import MadeUpTable, Rehearsal, audit_batch
from entwined.door.mechanism import Mechanism
from entwined.errors import BadInput
from entwined.queries import Count, Histogram, Median, Total
from entwined.request.verbs import plan
from entwined.schema import Boolean, Cells, Integer, Schema
from support.simulated import simulated_laplace

FALSE_ALARM = 1e-6
COLUMNS = (Boolean("well"), Integer("age", 0, 3))
ROWS = Schema(COLUMNS, neighbours="add_remove", most_rows=1000).approve()
WIDE = Schema((Integer("age", 0, 300),), unit=Cells(), most_rows=1000).approve()


def test_a_release_keeps_its_claim_and_four_fifths_of_its_noise_do_not():
    found = audit_batch(
        plan(ROWS, [Count(where="age >= 2")], loss=1), samples=12_000, false_alarm=FALSE_ALARM
    )
    assert not found.refuted
    assert 0.78 < found.found.epsilon <= 1  # five deviations below what 12,000 samples prove on average
    assert found.catches_planted
    assert found.planted.epsilon > 1
    assert found.control.epsilon < 0.1
    document = found.document
    assert document["false_alarm"] == FALSE_ALARM
    assert (document["refuted"], document["planted"]["caught"]) == (False, True)


def test_gaussian_noise_is_audited_by_one_number():
    batch = plan(WIDE, [Total("age")], loss=8, delta="1e-5")
    found = audit_batch(batch, samples=8_000, false_alarm=FALSE_ALARM)
    assert not found.refuted
    assert 0.7 * found.claimed_mu < found.deviations.mu <= found.claimed_mu
    assert found.planted_deviations.refutes(found.claimed_mu)


def test_chances_of_a_choice_are_those_it_is_drawn_with():
    (one,) = plan(ROWS, [Median("age")], loss=2).statistics
    exact, places = np.array([2, 3, 0, 1]), np.arange(4)[:, None]
    chances = one.law.probabilities(one.choice.scores(exact))
    assert np.exp(one.log_chances(places, exact)) == pytest.approx(chances)


@pytest.mark.slow
def test_a_choice_is_rehearsed_too():
    assert not audit_batch(plan(ROWS, [Median("age")], loss=2), samples=5_000).refuted


def test_a_rehearsal_is_a_mechanism_that_draws_as_a_batch_does():
    batch = plan(ROWS, [Count(where="age >= 2"), Histogram("well")], loss=1)
    rehearsal: Mechanism = Rehearsal(batch, 2_000)
    table = MadeUpTable(ROWS, tuple({"well": 1, "age": age} for age in (0, 3, 3)))
    assert (
        table.keeping("x", 1).answer(rehearsal.needs(ROWS))[0].tolist() == [2] or len(batch.statistics) == 2
    )
    drawn = rehearsal.output(rehearsal.run(table.answer, ROWS))
    exact = table.answer(batch.needs(ROWS))
    for one, numbers, truth in zip(batch.statistics, drawn, exact, strict=True):
        assert numbers.shape == (2_000, truth.size)
        # the mean of 2,000 draws is off by five deviations with a chance below 1e-6
        assert np.abs(numbers.mean(axis=0) - truth).max() < 5 * one.spread / math.sqrt(2_000)
    assert rehearsal.parts(batch.promise) == batch.charged


def test_the_gaussian_audit_is_never_above_the_truth_and_near_it():
    rng = np.random.default_rng(31)
    for mu in (0.6, 1.0, 2.5):
        found = gaussian_audit(rng.normal(mu, 1, 60_000), rng.normal(0, 1, 60_000), false_alarm=FALSE_ALARM)
        assert 0.8 * mu < found.mu <= mu
        assert not found.refutes(mu)
        assert found.refutes(0.8 * mu)
    same = rng.integers(0, 4, (2, 5_000)).astype(float)
    assert gaussian_audit(*same).mu == 0
    with pytest.raises(BadInput):
        gaussian_audit(np.zeros(10), np.zeros(10))


def test_the_gaussian_audit_keeps_its_false_alarm_rate():
    """150 audits of Laplace noise against the least μ that is true of it, at 0.2: above 48 with a chance below 1e-3."""
    rng, true = np.random.default_rng(32), 2 * 0.6160  # Φ⁻¹(e/(1+e)) = 0.616…
    alarms = sum(
        gaussian_audit(
            simulated_laplace(1.0, 1, rng, 2000).astype(float),
            simulated_laplace(1.0, 0, rng, 2000).astype(float),
            false_alarm=0.2,
        ).refutes(true)
        for _ in range(150)
    )
    assert alarms <= 48


def test_audits_that_cannot_be_are_refused():
    batch = plan(ROWS, [Count(where="age >= 2")], loss=1)
    for samples in (10, 10**9):
        with pytest.raises(BadInput, match="samples"):
            audit_batch(batch, samples=samples)
    with pytest.raises(BadInput, match="probability"):
        audit_batch(batch, samples=1_000, false_alarm=3.0)
    assert batch.loss == Fraction(1)
