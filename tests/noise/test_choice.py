"""The exponential mechanism: its law to fifty digits, its ratios on neighbours, its draws bit by bit."""

import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from entwined.errors import BadInput
from entwined.noise import ExponentialChoice, choice
from entwined.noise.exponentials import Powers, exponential

FALSE_ALARM = 1e-6
rates = st.fractions(min_value=Fraction(1, 1000), max_value=20, max_denominator=1000)


def decimal(exact):
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def log_law(rate, utilities, lengths=None):
    """The log of each run's probability; call it with as many digits as are wanted."""
    best = max(utilities)
    logs = [decimal(rate * (u - best)) for u in utilities]
    sizes = lengths or [1] * len(utilities)
    total = sum(size * log.exp() for size, log in zip(sizes, logs, strict=True))
    return [log + Decimal(size).ln() - total.ln() for size, log in zip(sizes, logs, strict=True)]


@given(rates, st.lists(st.integers(-300, 300), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_probabilities_are_those_of_the_law(rate, utilities):
    with localcontext() as context:
        context.prec = 50
        exact = [float(log.exp()) for log in log_law(rate, utilities)]
    assert ExponentialChoice(rate).probabilities(utilities) == pytest.approx(exact, rel=1e-14, abs=1e-320)


@given(rates, st.lists(st.tuples(st.integers(-500, 500), st.integers(-3, 3)), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_neighbours_are_within_the_loss(rate, pairs):
    before = [u for u, _ in pairs]
    after = [u + move for u, move in pairs]
    moves = [move for _, move in pairs]
    monotone = min(moves) >= 0 or max(moves) <= 0
    claim = ExponentialChoice(rate).loss(Fraction(3), monotone=monotone)
    with localcontext() as context:
        context.prec = 50
        ratios = [abs(p - q) for p, q in zip(log_law(rate, before), log_law(rate, after), strict=True)]
        assert max(ratios) <= decimal(claim) + Decimal("1e-40")


def test_the_loss_is_reached_and_half_of_it_is_caught():
    pick = ExponentialChoice(Fraction(1, 2))
    crowd = 10**9
    with localcontext() as context:
        context.prec = 50
        before, after = log_law(pick.rate, [0, 1], [1, crowd]), log_law(pick.rate, [1, 0], [1, crowd])
        ratio, claim = abs(before[0] - after[0]), decimal(pick.loss(Fraction(1)))
        assert claim - Decimal("1e-8") < ratio <= claim
        assert ratio > decimal(
            pick.loss(Fraction(1), monotone=True)
        )  # the mutant that forgets the normaliser


def test_draws_follow_the_law():
    pick = ExponentialChoice.for_loss(1, Fraction(1))
    utilities = [3, 0, 4, 4, -2, 1]
    counts = Counter(pick.choose(utilities) for _ in range(12_000))
    observed = [counts[position] for position in range(len(utilities))]
    assert sum(observed) == 12_000

    def fit(claimed):
        return stats.chisquare(observed, 12_000 * np.array(claimed.probabilities(utilities))).pvalue

    assert fit(pick) > FALSE_ALARM
    for wrong in (Fraction(6, 5), Fraction(4, 5)):  # the draws are the mutant of these claims
        assert fit(ExponentialChoice(pick.rate * wrong)) < FALSE_ALARM


def test_runs_are_a_short_form_of_their_candidates():
    pick = ExponentialChoice(Fraction(1, 3))
    utilities, lengths = [0, 5, 2, 5, 1], [3, 1, 0, 2, 40]
    spread = np.repeat(utilities, lengths)
    long = np.array(pick.probabilities(spread))
    owner = np.repeat(np.arange(5), lengths)
    short = [long[owner == run].sum() for run in range(5)]
    assert pick.probabilities(utilities, lengths) == pytest.approx(short, rel=1e-13, abs=0)
    counts = np.bincount(
        [pick.choose_from_runs(utilities, lengths) for _ in range(8_000)], minlength=spread.size
    )
    assert stats.chisquare(counts, 8_000 * long).pvalue > FALSE_ALARM


def test_an_empty_run_is_never_chosen_however_good():
    pick = ExponentialChoice(Fraction(1))
    assert {pick.choose_from_runs([0, 10**6, 0], [1, 0, 1]) for _ in range(50)} == {0, 1}


def level_at(rate, gaps, sizes, uniform):
    """Where a uniform number falls in the distribution function, with two hundred digits."""
    with localcontext() as context:
        context.prec = 200
        weights = [size * decimal(-rate * gap).exp() for gap, size in zip(gaps, sizes, strict=True)]
        target = decimal(uniform) * sum(weights)
        below = Decimal(0)
        for level, weight in enumerate(weights):
            below += weight
            if target < below:
                return level
        raise AssertionError


@given(
    rates,
    st.lists(st.tuples(st.integers(1, 2000), st.integers(1, 10**6)), min_size=1, max_size=4),
    st.integers(0, 2**192 - 1),
    st.integers(0, 3),
    st.integers(-2, 2),
)
@settings(max_examples=100, deadline=None)
def test_a_draw_is_the_inverse_of_the_distribution_function(rate, levels, uniform, edge, off):
    gaps = [0, *np.cumsum([gap for gap, _ in levels]).tolist()]
    sizes = [7, *(size for _, size in levels)]
    with localcontext() as context:
        context.prec = 200
        weights = [size * decimal(-rate * gap).exp() for gap, size in zip(gaps, sizes, strict=True)]
        boundary = int(sum(weights[: edge + 1]) / sum(weights) * 2**192)
    bits = iter([uniform if off == 0 else min(max(boundary + off, 0), 2**192 - 1)])
    read = []

    def randbits(count):
        read.append((count, next(bits, (2**count) // 3)))
        return read[-1][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice.secrets, "randbits", randbits)
        level = ExponentialChoice(rate)._level(gaps, sizes)
    total, number = 0, 0
    for count, value in read:
        total, number = total + count, number << count | value
    assert level == level_at(rate, gaps, sizes, Fraction(number, 2**total))
    assert level == level_at(
        rate, gaps, sizes, Fraction(number + 1, 2**total) - Fraction(1, 2 ** (total + 99))
    )


def test_a_draw_on_a_boundary_reads_more_bits(monkeypatch):
    asked = []

    def randbits(count):
        asked.append(count)
        return boundary if len(asked) == 1 else 0

    with localcontext() as context:
        context.prec = 200
        boundary = int(2**192 / (1 + decimal(Fraction(-1)).exp()))  # where the first of two levels ends
    monkeypatch.setattr(choice.secrets, "randbits", randbits)
    assert ExponentialChoice(Fraction(1))._level([0, 1], [1, 1]) == 0
    assert asked == [192, 192]


def test_the_far_tail_is_reached_when_the_bits_say_so(monkeypatch):
    monkeypatch.setattr(choice.secrets, "randbits", lambda count: 2**count - 1)
    pick = ExponentialChoice(Fraction(1))
    assert pick.choose([0, -500]) == 1  # probability e^-500: far below what the first 192 bits can see


@pytest.mark.parametrize("size", [10**6, 10**9, 2**61])
def test_huge_utilities_do_not_overflow(size):
    pick = ExponentialChoice.for_loss(1, Fraction(1))
    assert pick.choose([size, -size, size - 1000]) == 0
    assert pick.choose([-size, size, -size]) == 1
    assert pick.probabilities([size, -size, 0]) == [1.0, 0.0, 0.0]
    assert {pick.choose([size] * 3) for _ in range(100)} == {0, 1, 2}


def test_utilities_beyond_the_range_are_put_to_its_end():
    pick = ExponentialChoice(Fraction(1))
    assert pick.probabilities([2**70, 2**80, -(2**90)]) == [0.5, 0.5, 0.0]


def test_losses_are_exact():
    pick = ExponentialChoice.for_loss("0.3", Fraction(7))
    assert pick.loss(Fraction(7)) == Fraction("0.3")
    one_way = ExponentialChoice.for_loss("0.3", Fraction(7), monotone=True)
    assert one_way.loss(Fraction(7), monotone=True) == Fraction("0.3")
    assert pick.loss(Fraction(0)) == 0


@pytest.mark.parametrize(
    ("utilities", "lengths"),
    [([], []), ([1, 2], [1]), ([1], [0]), ([1, 2], [1, -1]), ([1, 1], [2**62, 1]), ([[1], [2]], [[1], [1]])],
)
def test_lists_that_hold_no_candidates_are_refused(utilities, lengths):
    with pytest.raises(BadInput):
        ExponentialChoice(Fraction(1)).choose_from_runs(np.array(utilities, dtype=np.int64), lengths)


@given(rates, st.integers(0, 10**6), st.sampled_from([64, 192, 400]))
@settings(max_examples=200, deadline=None)
def test_enclosures_hold_the_truth(rate, steps, bits):
    with localcontext() as context:
        context.prec = 400
        truth = decimal(-rate * steps).exp() * 2**bits
        found = Powers(rate, bits)(steps)
        assert found.low <= truth <= found.high
        assert found.high - found.low <= 4 * max(steps, 1) * steps.bit_length() + 4
        once = exponential(rate, bits)
        assert once.low <= decimal(-rate).exp() * 2**bits <= once.high
        assert once.high - once.low <= 4


def test_a_quantile_of_a_huge_domain_is_quick_and_near():
    ranks = np.arange(1001)  # a thousand values, a million codes apart
    pick = ExponentialChoice.for_loss(1, Fraction(1), monotone=True)
    found = pick.choose_from_runs(-np.abs(ranks - 500), np.full(1001, 10**6))
    assert abs(found - 500.5e6) < 40e6
    assert math.exp(-30) < FALSE_ALARM  # forty ranks away is beyond e^-30
