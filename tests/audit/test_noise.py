"""Audits of real draws at ε = 1 with 10^5 samples: what is right passes, noise 10 % too small is caught."""

import math
from fractions import Fraction

import numpy as np
import pytest

from entwined.audit import audit
from entwined.errors import BadInput
from entwined.noise import DiscreteGaussian, DiscreteLaplace, ExponentialChoice
from support.simulated import SAMPLES, simulated_laplace

FALSE_ALARM = 1e-6

LOW_BITS = {f"output divisible by 2^{k}": (lambda x, k=k: x % 2**k == 0) for k in range(1, 9)}
FINE_BITS = {
    f"output a multiple of 2^-{k}": (lambda x, k=k: np.mod(np.ldexp(x.astype(float), k), 1) == 0)
    for k in range(40, 61)
}
FINE_BITS |= {f"{name}, not": (lambda x, holds=holds: ~holds(x)) for name, holds in FINE_BITS.items()}


def outputs(noise, answer, samples=SAMPLES):
    return noise.add(np.full(samples, answer))


def reachable(seen):
    """The event that an output was ever seen for the other answer: the holes of a sampler show here."""
    known = np.unique(seen)
    return {"output seen before": lambda x: np.isin(x, known), "never seen": lambda x: ~np.isin(x, known)}


@pytest.fixture(scope="module")
def laplace_outputs():
    noise = DiscreteLaplace.for_loss(1, Fraction(1))
    return outputs(noise, 0), outputs(noise, 1)


def test_laplace_keeps_its_claim_and_the_audit_comes_close_to_it(laplace_outputs):
    found = audit(*laplace_outputs, LOW_BITS, false_alarm=FALSE_ALARM)
    assert not found.refutes(1.0)
    assert found.epsilon > 0.93
    assert found.false_alarm == FALSE_ALARM
    assert found.samples == 2 * SAMPLES


def test_laplace_a_tenth_too_small_is_caught():
    mutant = DiscreteLaplace(Fraction(9, 10))
    drawn = [outputs(mutant, answer, SAMPLES // 2) for answer in (0, 1)]
    assert audit(*drawn, false_alarm=FALSE_ALARM).refutes(1.0)


def test_laplace_a_little_too_small_is_caught():
    rng = np.random.default_rng(5)
    found = audit(simulated_laplace(0.945, 0, rng), simulated_laplace(0.945, 1, rng), false_alarm=FALSE_ALARM)
    assert found.refutes(1.0)


def test_laplace_has_no_holes(laplace_outputs):
    here, there = laplace_outputs
    events = LOW_BITS | FINE_BITS | reachable(here[:1000])
    assert not audit(here[1000:], there, events, false_alarm=FALSE_ALARM).refutes(1.0)


@pytest.mark.parametrize("law", ["laplace", "normal"])
def test_floating_point_noise_is_caught_by_its_holes(law):
    rng = np.random.default_rng(6)
    here, there = (answer + getattr(rng, law)(0.0, 1.0, SAMPLES) for answer in (0.0, 1.0))
    plain = audit(here, there, false_alarm=FALSE_ALARM, delta=0.0 if law == "laplace" else 0.2)
    holes = audit(here, there, FINE_BITS, false_alarm=FALSE_ALARM, delta=0.0 if law == "laplace" else 0.2)
    assert not plain.refutes(1.0)  # its shape is right
    assert holes.refutes(1.0)  # its bits are not
    assert "2^-" in holes.event


def test_large_answers_do_not_show_in_the_low_bits():
    noise = DiscreteLaplace.for_loss(1, Fraction(1))
    here, there = outputs(noise, 2**60, SAMPLES // 2), outputs(noise, 2**60 + 1, SAMPLES // 2)
    events = LOW_BITS | {"bits below the step of a float": lambda x: x % 256 != 0}
    assert not audit(here, there, events, false_alarm=FALSE_ALARM).refutes(1.0)
    assert np.unique(here % 256).size > 5
    rounded = (
        here.astype(float),
        there.astype(float),
    )  # the mutant that goes through floats loses all its noise
    assert np.unique(rounded[0]).size <= 2


def hockey_stick(scale, epsilon):
    points = np.arange(-200, 201)
    here, there = (np.exp(-((points - shift) ** 2) / (2 * scale**2)) for shift in (0, 1))
    return float(np.maximum(here - math.exp(epsilon) * there, 0).sum() / here.sum())


def test_gaussian_keeps_its_exact_claim_and_the_mutant_does_not():
    delta = hockey_stick(1.0, 1.0)
    events = LOW_BITS | FINE_BITS
    right = [outputs(DiscreteGaussian(Fraction(1)), answer, SAMPLES // 2) for answer in (0, 1)]
    found = audit(*right, events, false_alarm=FALSE_ALARM, delta=delta)
    assert not found.refutes(1.0)
    rng = np.random.default_rng(7)
    points = np.arange(-20, 21)
    weights = np.exp(-(points**2) / (2 * 0.9**2))
    small = [answer + rng.choice(points, SAMPLES // 2, p=weights / weights.sum()) for answer in (0, 1)]
    assert audit(*small, events, false_alarm=FALSE_ALARM, delta=delta).refutes(1.0)


def test_choice_keeps_its_claim_and_the_mutant_does_not():
    here, there = [1, 0, 0, 0], [0, 1, 1, 1]
    samples = 5_000
    pick = ExponentialChoice(Fraction(1, 2))
    drawn = [np.array([pick.choose(utilities) for _ in range(samples)]) for utilities in (here, there)]
    assert not audit(*drawn, false_alarm=FALSE_ALARM).refutes(1.0)
    exact = [ExponentialChoice(Fraction(1)).probabilities(utilities) for utilities in (here, there)]
    worst = max(abs(math.log(p / q)) for p, q in zip(*exact, strict=True))
    assert 1.0 < worst <= 2.0  # the mutant with half the sensitivity leaks this
    rng = np.random.default_rng(12)
    drawn = [rng.choice(4, samples, p=np.array(chances) / math.fsum(chances)) for chances in exact]
    assert audit(*drawn, false_alarm=FALSE_ALARM).refutes(1.0)


def test_the_false_alarm_rate_is_kept():
    rng = np.random.default_rng(8)
    alarms = sum(
        audit(
            simulated_laplace(1.0, 0, rng, 2000), simulated_laplace(1.0, 1, rng, 2000), false_alarm=0.2
        ).refutes(1.0)
        for _ in range(150)
    )
    assert alarms <= 48  # 150 at 0.2: above 48 with probability below 1e-3 even if every limit were exact


def test_equal_samples_prove_nothing():
    rng = np.random.default_rng(9)
    first, second = rng.integers(0, 5, (2, 5000))
    assert audit(first, second).epsilon == 0.0


def test_an_output_that_only_one_table_can_give_proves_a_lot():
    rng = np.random.default_rng(10)
    first, second = rng.integers(0, 5, 20_000), rng.integers(1, 6, 20_000)
    assert audit(first, second).epsilon > 5


def test_what_is_no_audit_is_refused():
    few = np.zeros(50, dtype=int)
    with pytest.raises(BadInput):
        audit(few, few)
    enough = np.zeros((100, 2), dtype=int)
    with pytest.raises(BadInput):
        audit(enough, enough)
    for bad in ({"false_alarm": 0.0}, {"false_alarm": 1.5}, {"delta": 1.0}, {"delta": -0.1}):
        with pytest.raises(BadInput):
            audit(enough[:, 0], enough[:, 1], **bad)
