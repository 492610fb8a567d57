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

from entwined.audit.attacker import Attacker, Looked
from entwined.audit.guesses import Guesses
from entwined.audit.vectors import NoisyNumbers, NoisyVector, published
from entwined.audit.worlds import WorldDrawer
from entwined.canonical import Document
from entwined.dependence import ProductLaw
from entwined.dependence.luck import made_up_luck
from entwined.errors import BadInput
from entwined.numbers import FloatArray, IntArray
from entwined.progress import said

RELEASES: Final = 200
LOOKED_AT: Final = 20  # populations of which every answer is looked at
MOST_RELEASES: Final = 1_000_000


class Before(NamedTuple):
    """What was known before anything was published: mean nats, and the largest shift of log odds."""

    nats: float
    log_odds: float


class Gained(NamedTuple):
    """What releases added: mean nats with its standard error, and the largest shift of log odds.

    `log_odds` is the largest that was seen, `at_worst` that over numbers that could be the exact answer, too.
    """

    nats: float
    error: float
    log_odds: float
    at_worst: float


class OneRelease(NamedTuple):
    """One of the releases: the target's true value, and what was believed of every value before and after."""

    number: int
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
    worlds: int
    before: Before
    gained: Gained
    guesses: Guesses
    ordinary: OneRelease

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
            "exact": not self.worlds,
            "known_before": {**_information(self.before.nats), "log_odds": _finite(self.before.log_odds)},
            "added": {
                **_information(self.gained.nats),
                "standard_error_nats": self.gained.error,
                "largest_log_odds": _finite(self.gained.log_odds),
                "largest_log_odds_at_any_answer": _finite(self.gained.at_worst),
            },
            "guesses": self.guesses.document,
            "ordinary_release": {
                "truth": self.ordinary.truth,
                "before": list(self.ordinary.before),
                "after": list(self.ordinary.after),
            },
        }


def attack(  # noqa: PLR0913  (who attacks whom, knowing what, how often)
    law: ProductLaw,
    shown: Sequence[NoisyNumbers],
    target: int,
    *,
    known: float | Collection[int] = 0.0,
    releases: int = RELEASES,
    believed: ProductLaw | None = None,
    watched: int | None = None,
    worlds: int = 0,
    generator: np.random.Generator | None = None,
) -> Attack:
    """Draw people from a law anew for every release, publish noisy vectors of them, and let an attacker look.

    `known` is the share of the other people whose values the attacker knows (who they are is drawn), or the units
    themselves. `believed` is the law that the attacker takes for true, if it is another one. `watched` is the release
    that is told of; without it one that raises the chance of the truth about as much as others do. With `worlds` the
    attacker draws so many for each value of the target: for functions of people, and never exact.
    """
    if not 1 <= releases <= MOST_RELEASES:
        raise BadInput(f"{releases} releases. Give 1 to {MOST_RELEASES:,}.")
    rng = generator or made_up_luck()
    informed = known_units(law, target, known, rng)
    attacker = _attacker(believed or law, shown, target, informed, worlds, rng)
    people, alone = law.draw(releases, rng), law.marginal(target)
    learned = attacker.learn(people, published(attacker.shown, people, rng))
    without = people.copy()
    without[:, target] = rng.choice(alone.size, size=releases, p=alone)
    control = attacker.learn(people, published(attacker.shown, without, rng))
    return Attack(
        target,
        len(informed),
        len(law.people) - 1,
        releases,
        worlds,
        _before(attacker.law.marginal(target), learned),
        _gained(learned, _at_worst(attacker, people)),
        Guesses.of(people[:, target], learned.prior, learned.posterior, control.posterior),
        _told_of(learned, people[:, target], watched),
    )


def _attacker(
    law: ProductLaw,
    shown: Sequence[NoisyNumbers],
    target: int,
    known: tuple[int, ...],
    worlds: int,
    rng: np.random.Generator,
) -> "Attacker | WorldDrawer":
    """Let somebody look who sums over everything unknown, or who draws worlds."""
    if worlds:
        return WorldDrawer(law, tuple(shown), target, known, worlds, rng)
    sums = tuple(one for one in shown if isinstance(one, NoisyVector))
    if len(sums) < len(shown):
        raise BadInput(
            "A function of people is no sum that can be looked through exactly. Give `worlds` to draw."
        )
    return Attacker(law, sums, target, known)


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


def _before(alone: FloatArray, learned: Looked) -> Before:
    with np.errstate(divide="ignore", invalid="ignore"):
        shifts = np.where(alone > 0, np.log(learned.prior) - np.log(alone), np.nan)
    nats = float(entropy(alone) - entropy(learned.prior).mean())
    return Before(nats, float(spans(shifts).max()))


def _gained(learned: Looked, at_worst: float) -> Gained:
    gains = entropy(learned.prior) - entropy(learned.posterior)
    seen = float(spans(learned.log_shifts).max())
    error = float(gains.std(ddof=1) / math.sqrt(gains.size)) if gains.size > 1 else 0.0
    return Gained(float(gains.mean()), error, seen, max(seen, at_worst))


def _at_worst(attacker: Attacker | WorldDrawer, people: IntArray) -> float:
    """Look at what could be exact answers, for some of the populations: noise shifts log odds most there."""
    worst = 0.0
    told = people[:, list(attacker.known)]
    first = np.sort(np.unique(told, axis=0, return_index=True)[1])[:LOOKED_AT]
    for number in said("attacking", first.tolist()):
        answers = attacker.answers(people[number])
        found = _alike(attacker, people[number]) if answers is None else answers
        same = np.repeat(people[[number]], len(found), axis=0)
        worst = max(worst, float(spans(attacker.learn(same, found).log_shifts).max()))
    return worst


def _alike(attacker: Attacker | WorldDrawer, person: IntArray) -> IntArray:
    """Give the exact answers if everybody who is not known held the same value, for each value."""
    law, values = attacker.law, np.arange(max(attacker.law.sizes))
    same = np.minimum(values[:, None], np.array(law.sizes) - 1)
    same[:, list(attacker.known)] = person[list(attacker.known)]
    return np.concatenate([one.exact(same) for one in attacker.shown], axis=1)


def _told_of(learned: Looked, truth: IntArray, watched: int | None) -> OneRelease:
    every = np.arange(truth.size)
    raised = learned.posterior[every, truth] - learned.prior[every, truth]
    number = int(np.argsort(raised)[truth.size // 2]) if watched is None else watched
    before, after = (tuple(law[number].tolist()) for law in (learned.prior, learned.posterior))
    return OneRelease(number, int(truth[number]), before, after)


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
