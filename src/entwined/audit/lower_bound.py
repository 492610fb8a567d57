"""A lower bound on the loss of a mechanism, from samples of its output on two neighbouring tables.

A first part of the samples chooses a few events, the rest tests them: an event that has probability at least
p on one table and at most p' on the other proves a loss of log((p − δ)/p'). Both limits are Clopper and
Pearson's, and the false-alarm rate is split over all of them, so whatever the events are, the bound is above
the true loss with at most the probability stated.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv

from entwined.errors import BadInput
from entwined.numbers import FloatArray

Samples: TypeAlias = NDArray[Any]
Event: TypeAlias = Callable[[Samples], NDArray[np.bool_]]

CHOOSING: Final = 4  # one sample in four chooses, the others test
TESTED: Final = 3  # events that go on to the test
CUTS: Final = 64  # thresholds and likelihood ratios that are tried
MOST_ATOMS: Final = 512  # above this many distinct outputs only thresholds are tried
FEWEST: Final = 100


@dataclass(frozen=True, slots=True)
class Audit:
    """What the samples prove: the loss is at least `epsilon`, but for a probability of `false_alarm`."""

    epsilon: float
    event: str
    false_alarm: float
    delta: float
    samples: int

    def refutes(self, claim: float) -> bool:
        """Whether a mechanism that claims this loss is caught."""
        return self.epsilon > claim


def audit(
    first: Samples,
    second: Samples,
    events: Mapping[str, Event] | None = None,
    *,
    false_alarm: float = 1e-6,
    delta: float = 0.0,
) -> Audit:
    """Bound the loss from below by samples of the output on two neighbouring tables.

    `events` adds the caller's own, by name, to the thresholds and likelihood sets that are always tried.
    """
    refuse_samples(first, second, false_alarm, delta)
    choosing = first[: first.size // CHOOSING], second[: second.size // CHOOSING]
    testing = first[first.size // CHOOSING :], second[second.size // CHOOSING :]
    candidates = [*(events or {}).items(), *_thresholds(*choosing), *_likelihood_sets(*choosing)]
    rate = false_alarm / (2 * TESTED)  # two limits for each event that is tested
    promise = _proven([holds for _, holds in candidates], choosing, rate, delta)
    chosen = np.argsort(-promise, axis=None)[:TESTED]
    names, directions = np.unravel_index(chosen, promise.shape)
    proven = _proven([candidates[name][1] for name in names], testing, rate, delta)[
        np.arange(TESTED), directions
    ]
    best = int(np.argmax(proven))
    epsilon = max(float(proven[best]), 0.0)
    return Audit(epsilon, candidates[names[best]][0], false_alarm, delta, first.size + second.size)


def refuse_samples(first: Samples, second: Samples, false_alarm: float, delta: float = 0.0) -> None:
    """Refuse what no audit can be made of."""
    if min(first.size, second.size) < FEWEST or first.ndim != 1 or second.ndim != 1:
        raise BadInput(f"An audit needs two flat arrays of outputs. Give at least {FEWEST} in each.")
    if not (0 < false_alarm < 1 and 0 <= delta < 1):
        raise BadInput(f"False alarm {false_alarm} or δ {delta} is no probability. Give numbers below 1.")


def _proven(events: list[Event], samples: tuple[Samples, Samples], rate: float, delta: float) -> FloatArray:
    """Find the log ratio that each event proves, first over second and second over first."""
    held = np.array(
        [[np.count_nonzero(holds(part)) for part in samples] for holds in events], dtype=np.float64
    )
    drawn = np.array([part.size for part in samples], dtype=np.float64)
    missed = drawn - held
    lowest = np.where(held > 0, betaincinv(np.maximum(held, 1), missed + 1, rate), 0.0)
    highest = np.where(missed > 0, betainccinv(held + 1, np.maximum(missed, 1), rate), 1.0)
    with np.errstate(divide="ignore"):  # an event never seen proves nothing: −∞
        return np.asarray(np.log(np.maximum(lowest - delta, 0.0)) - np.log(highest[:, ::-1]))


def _thresholds(first: Samples, second: Samples) -> Iterator[tuple[str, Event]]:
    """Offer the tails at evenly spaced quantiles: the best events of a noise with a monotone ratio."""
    ordered = np.sort(np.concatenate([first, second]))
    for cut in np.unique(ordered[np.linspace(0, ordered.size - 1, CUTS).astype(int)]).tolist():
        yield f"output ≤ {cut}", partial(np.greater_equal, cut)
        yield f"output ≥ {cut}", partial(np.less_equal, cut)


def _likelihood_sets(first: Samples, second: Samples) -> Iterator[tuple[str, Event]]:
    """Offer sets of outputs in the order of their likelihood ratio: the best events of a choice among few."""
    atoms, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    if atoms.size > MOST_ATOMS:
        return
    counts = [np.bincount(part, minlength=atoms.size) + 0.5 for part in np.split(place, [first.size])]
    ordered = atoms[np.argsort(counts[1] / counts[0])]
    for size in np.unique(np.linspace(1, atoms.size, CUTS).astype(int)).tolist():
        yield f"output among the {size} likeliest", partial(np.isin, test_elements=ordered[:size])
