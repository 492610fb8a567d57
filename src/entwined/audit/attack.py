"""Run an attack many times, and say in two figures what it learns: what was known before, and what a release added.

They are never mixed. *Known before* compares the attacker's prior (the law and the known values) with the law of the
target alone: no noise changes it. *Added by the release* compares posterior and prior of one attacker: the largest
shift of log odds, and the mean of H(prior) − H(posterior). If all others are known, a release of loss ε adds at most ε
whatever depends on what; if some who depend on the target are unknown it may add more, and never more than the
certificate.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from entwined.audit.attacker import Attacker, Sight
from entwined.audit.guesses import Guesses
from entwined.audit.vectors import NoisyVector, published
from entwined.canonical import Document
from entwined.dependence import ProductLaw
from entwined.errors import BadInput
from entwined.numbers import FloatArray, IntArray
from entwined.progress import report

RELEASES: Final = 200
POPULATIONS: Final = 20
MOST_RELEASES: Final = 1_000_000


class Before(NamedTuple):
    """What was known before anything was published: mean nats, and the largest shift of log odds."""

    nats: float
    log_odds: float


class Gained(NamedTuple):
    """What releases added: mean nats with its standard error, and the largest shift of log odds.

    `log_odds` is the largest that was seen, `at_worst` that over every number that could be the exact answer, too.
    """

    nats: float
    error: float
    log_odds: float
    at_worst: float


class Moment(NamedTuple):
    """One ordinary release: the target's true value, and what was believed of every value before and after."""

    truth: int
    before: tuple[float, ...]
    after: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Attack:
    """What one attacker learned of one target over many releases of generated people."""

    target: int
    known: int
    others: int
    releases: int
    before: Before
    gained: Gained
    guesses: Guesses
    moment: Moment

    @property
    def share(self) -> float:
        """Which part of the other people was known."""
        return self.known / self.others if self.others else 1.0

    @property
    def document(self) -> Document:
        """The attack as JSON; what has no bound is "inf"."""
        return {
            "target": self.target,
            "known": self.known,
            "others": self.others,
            "releases": self.releases,
            "known_before": {**_information(self.before.nats), "log_odds": _finite(self.before.log_odds)},
            "added": {
                **_information(self.gained.nats),
                "standard_error_nats": self.gained.error,
                "largest_log_odds": _finite(self.gained.log_odds),
                "largest_log_odds_at_any_answer": _finite(self.gained.at_worst),
            },
            "guesses": self.guesses.document,
            "moment": {
                "truth": self.moment.truth,
                "before": list(self.moment.before),
                "after": list(self.moment.after),
            },
        }


def attack(  # noqa: PLR0913  (who attacks whom, knowing what, how often)
    law: ProductLaw,
    shown: Sequence[NoisyVector],
    target: int,
    *,
    known: float | Collection[int] = 0.0,
    releases: int = RELEASES,
    populations: int = POPULATIONS,
    believed: ProductLaw | None = None,
    generator: np.random.Generator | None = None,
) -> Attack:
    """Draw people from a law, publish noisy vectors of them, and let an attacker look.

    `known` is the share of the other people whose values the attacker knows (who they are is drawn), or the units
    themselves. `believed` is the law that the attacker takes for true, if it is another one.
    """
    if not 1 <= populations <= releases <= MOST_RELEASES:
        raise BadInput(f"{releases} releases of {populations} populations. Give 1 release at least of each.")
    rng = generator or np.random.default_rng()
    informed = known_units(law, target, known, rng)
    attacker = Attacker(believed or law, tuple(shown), target, informed)
    people, alone = law.draw(populations, rng), law.marginal(target)
    sights: dict[tuple[int, ...], Sight] = {}  # people of whom the same is known are seen alike
    runs = []
    for number, part in enumerate(np.array_split(np.arange(releases), populations)):
        report("attacking", number, populations)
        person = people[number]
        told = tuple(person[list(informed)].tolist())
        sight = sights.setdefault(told, attacker.knowing(person))
        runs.append(_run(sight, np.repeat(person[None], part.size, axis=0), alone, rng))
    guesses = Guesses(
        releases,
        naive=sum(run.releases for run in runs if int(run.sight.prior.argmax()) == run.truth),
        attack=sum(run.hits for run in runs),
        control=sum(run.control for run in runs),
    )
    before = _before(attacker.law.marginal(target), runs)
    others = len(law.people) - 1
    return Attack(target, len(informed), others, releases, before, _gained(runs), guesses, _moment(runs))


def known_units(
    law: ProductLaw, target: int, known: float | Collection[int], generator: np.random.Generator
) -> tuple[int, ...]:
    """Draw who is known, where only a share is given."""
    if isinstance(known, Collection):
        return tuple(sorted(set(known)))
    if not 0 <= known <= 1:
        raise BadInput(f"A share of {known} of the others is known. Give 0 to 1.")
    others = [unit for unit in law.people if unit != target]
    count = round(known * len(others))
    return tuple(sorted(generator.permutation(others)[:count].tolist()))


@dataclass(frozen=True, eq=False, slots=True)
class _Run:
    """What was seen of one population."""

    sight: Sight
    truth: int
    shifts: FloatArray
    posteriors: FloatArray
    control: int

    @property
    def releases(self) -> int:
        return len(self.shifts)

    @property
    def hits(self) -> int:
        return int((self.posteriors.argmax(axis=1) == self.truth).sum())

    @property
    def gains(self) -> FloatArray:
        return entropy(self.sight.prior) - entropy(self.posteriors)


def _run(sight: Sight, people: IntArray, alone: FloatArray, rng: np.random.Generator) -> _Run:
    """Publish one population many times, with its target and with a stranger in the target's place."""
    target, shown = sight.attacker.target, sight.attacker.shown
    truth = int(people[0, target])
    shifts = sight.log_shifts(published(shown, people, rng))
    without = people.copy()
    without[:, target] = rng.choice(alone.size, size=len(people), p=alone)
    told = sight.posteriors(sight.log_shifts(published(shown, without, rng)))
    control = int((told.argmax(axis=1) == truth).sum())
    return _Run(sight, truth, shifts, sight.posteriors(shifts), control)


def _before(alone: FloatArray, runs: Sequence[_Run]) -> Before:
    priors = np.array([run.sight.prior for run in runs])
    with np.errstate(divide="ignore", invalid="ignore"):
        shifts = np.where(alone > 0, np.log(priors) - np.log(alone), np.nan)
    nats = float(entropy(alone) - entropy(priors).mean())
    return Before(nats, float(spans(shifts).max()))


def _gained(runs: Sequence[_Run]) -> Gained:
    seen = max(float(spans(run.shifts).max()) for run in runs)
    looks = {id(run.sight): run.sight for run in runs}.values()
    worst = max(
        (float(spans(sight.log_shifts(sight.answers)).max()) for sight in looks if sight.answers is not None),
        default=seen,
    )
    gains = np.concatenate([run.gains for run in runs])
    means = np.array([run.gains.mean() for run in runs])
    error = float(means.std(ddof=1) / math.sqrt(means.size)) if means.size > 1 else math.nan
    return Gained(float(gains.mean()), error, seen, max(seen, worst))


def _moment(runs: Sequence[_Run]) -> Moment:
    """Take the release of the first population that shows its target's value about as well as others do."""
    first = runs[0]
    told = first.posteriors[:, first.truth]
    middle = int(np.argsort(told)[told.size // 2])
    return Moment(first.truth, tuple(first.sight.prior.tolist()), tuple(first.posteriors[middle].tolist()))


def spans(logs: FloatArray) -> FloatArray:
    """How far apart the largest and the least shift of a row are: the shift of the log odds of two values."""
    return np.asarray(np.nanmax(logs, axis=-1) - np.nanmin(logs, axis=-1))


def entropy(law: FloatArray) -> FloatArray:
    """The entropy of each row in nats."""
    logs = np.log(law, where=law > 0, out=np.zeros_like(law))
    return np.asarray(-(law * logs).sum(axis=-1))


def _information(nats: float) -> Document:
    return {"nats": nats, "bits": nats / math.log(2)}


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"
