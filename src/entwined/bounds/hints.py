"""What further knowledge would lower a bound: each hint with the figure that it would give, worked out by asking again.

    model.narrower()          the law of the first step, a smaller class, a smaller group
    model.ties(worst unit)    the edge on which the bound hangs most, half as strong
    knowledge                 an adversary who knows fewer values
    narrower_exposures        parts that read one unit alone, Gaussian noise, a δ

What helps nothing is no hint. A figure is an example: what is declared decides, and must be true.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import product
from typing import Final, Protocol, TypeAlias

import numpy as np

from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.exposure import Exposure
from entwined.bounds.theorem import KNOWLEDGE, Knowledge, Theorem
from entwined.canonical import Document
from entwined.dependence import Dependence
from entwined.dependence.narrower import Narrower
from entwined.errors import EntwinedError
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, positive_fraction

WORTH: Final = 0.01  # a hint lowers a bound by this share at least
MOST_UNITS: Final = 10_000  # with more, asking again takes long
MOST_UNITS_OF_PROFILES: Final = 60  # the same of noise with a δ
NOT_TRIED: Final = (
    "What further knowledge would be worth is tried, so that this stays quick, for no more than "
    f"{MOST_UNITS:,} units with pure losses and {MOST_UNITS_OF_PROFILES} with a δ."
)
MOST_TIES: Final = 8  # the strongest of a unit are tried one by one
FEW_UNITS: Final = 1_000  # with more, the strongest alone
ALIKE: Final = 1e-9  # leakages that differ by rounding alone
USUAL_DELTA: Final = "1e-6"
KNOWS_LESS: Final[dict[Knowledge, str]] = {
    "values": "that the adversary knows values of other units exactly or not at all (knowledge 'values')",
    "model": "that the adversary knows no values of other units (knowledge 'model')",
}

Asked: TypeAlias = tuple[Dependence, Exposure, Knowledge]
Again: TypeAlias = Callable[[Dependence, Exposure, Knowledge], float]
"""Bound the leakage of something else in the same way."""


class Proved(Protocol):
    """A bound: what it is about, and the theorem that proves it."""

    @property
    def model(self) -> Dependence:
        """What depends on what."""

    @property
    def exposure(self) -> Exposure:
        """What is shown."""

    @property
    def knowledge(self) -> Knowledge:
        """What the adversary knows."""

    @property
    def theorem(self) -> Theorem:
        """What proves it."""

    @property
    def leakage(self) -> Leakage:
        """What leaks at most."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What would be known, the leakage that asking again then gives instead of the one now, and what was asked.

    Of a calibration, `times` is how many times its loss then leaks no more than it does now.
    """

    about: str
    knowing: str
    leakage: float
    now: float
    model: Dependence
    exposure: Exposure
    knowledge: Knowledge
    times: float | None = None

    def __str__(self) -> str:
        """Say it in a sentence."""
        if self.times is not None:
            return f"Knowing {self.knowing}, {self.times:.4g} times the loss would leak no more."
        return f"Knowing {self.knowing}, the leakage would be {self.leakage:.4g} instead of {self.now:.4g}."

    @property
    def document(self) -> Document:
        """The same as a part of a document."""
        return {
            "about": self.about,
            "knowing": self.knowing,
            "leakage": self.leakage,
            "instead_of": self.now,
            **({} if self.times is None else {"times_the_loss": self.times}),
            "says": str(self),
        }


def hints_for(proved: Proved, again: Again, *, noise: bool = True) -> tuple[Hint, ...]:
    """Try what would lower a bound, and give what does, the most helpful first; of the `noise` only if asked."""
    if not are_tried(proved.model, proved.exposure):
        return ()
    found = [hint for hint in _Search(proved, again, noise).found() if hint.leakage < hint.now * (1 - WORTH)]
    return tuple(sorted(found, key=lambda hint: hint.leakage))


def are_tried(model: Dependence, exposure: Exposure) -> bool:
    """Whether asking again is quick enough."""
    return model.units <= (MOST_UNITS if isinstance(exposure, Loss) else MOST_UNITS_OF_PROFILES)


def documents_of(proved: "Hinted") -> list[Document] | None:
    """Give the hints of a bound or a calibration as a part of a document; nothing where they are not tried."""
    return [hint.document for hint in proved.hints()] if are_tried(proved.model, proved.exposure) else None


class Hinted(Proved, Protocol):
    """A bound that gives its hints."""

    def hints(self) -> tuple[Hint, ...]:
        """What further knowledge would be worth."""


@dataclass(frozen=True, slots=True)
class _Search:
    """A bound, and how to ask for another one."""

    proved: Proved
    again: Again
    noise: bool

    @property
    def asked(self) -> Asked:
        return self.proved.model, self.proved.exposure, self.proved.knowledge

    def found(self) -> Iterator[Hint]:
        """Try one thing at a time, and a smaller class against a weaker adversary where both together do more."""
        model, exposure, knowledge = self.asked
        laws = [hint for one in model.narrower() if (hint := self._law(one))]
        weaker = [hint for one in self._weaker() if (hint := self._hint("knowledge", KNOWS_LESS[one], k=one))]
        yield from laws
        yield from _each_better(weaker)
        for one, two in product(laws, weaker[-1:]):
            both = self._hint(one.about, f"{one.knowing}, and {two.knowing}", m=one.model, k=two.knowledge)
            if both is not None and both.leakage < min(one.leakage, two.leakage) * (1 - WORTH):
                yield both
        for knowing, shown in narrower_exposures(exposure) if self.noise else ():
            separate = self._hint("noise", knowing, e=shown)
            yield from () if separate is None else (separate,)
        yield from self._ties(knowledge)

    def _law(self, one: Narrower) -> Hint | None:
        return self._hint(one.about, one.knowing, m=one.model)

    def _weaker(self) -> tuple[Knowledge, ...]:
        return KNOWLEDGE[KNOWLEDGE.index(self.proved.knowledge) + 1 :]

    def _hint(
        self,
        about: str,
        knowing: str,
        *,
        m: Dependence | None = None,
        e: Exposure | None = None,
        k: Knowledge | None = None,
    ) -> Hint | None:
        """Ask again with another model, exposure or adversary; nothing where that has no answer."""
        model, exposure, knowledge = self.asked
        asked = model if m is None else m, exposure if e is None else e, knowledge if k is None else k
        try:
            figure = self.again(*asked)
        except EntwinedError:
            return None
        return Hint(about, knowing, figure, self.proved.leakage.worst, *asked)

    def _ties(self, knowledge: Knowledge) -> Iterator[Hint]:
        """Find the tie of the unit that leaks most whose strength tells most, by the theorem of the bound alone."""
        model, worst = self.proved.model, _worst_unit(self.proved.leakage)
        most = MOST_TIES if model.units <= FEW_UNITS else 1
        ties = sorted(model.ties(worst), key=lambda tie: -tie.log_odds)[:most]
        tried = [(self._by_theorem(one), one) for one in (tie.halved for tie in ties)]
        if tried:
            _, best = min(tried, key=lambda pair: pair[0])
            knowing = f"that {best.knowing} ({model.called(worst)} leaks most)"
            hint = self._hint(best.about, knowing, m=best.model, k=knowledge)
            yield from () if hint is None else (hint,)

    def _by_theorem(self, one: Narrower) -> float:
        try:
            return self.proved.theorem(self.proved.exposure, one.model).worst
        except EntwinedError:
            return float("inf")


def _each_better(hints: list[Hint]) -> Iterator[Hint]:
    """Leave out what a weaker assumption gives as well."""
    least = float("inf")
    for hint in hints:
        if hint.leakage < least * (1 - WORTH):
            yield hint
        least = min(least, hint.leakage)


def _worst_unit(leakage: Leakage) -> int:
    """Say which unit leaks most; a hidden one is no secret."""
    if not leakage.hidden:
        return _first_worst(leakage.per_unit)
    secret = np.delete(np.arange(leakage.per_unit.size), leakage.hidden)
    return int(secret[_first_worst(leakage.per_unit[secret])])


def _first_worst(leakages: FloatArray) -> int:
    """Find the first unit that leaks most, but for rounding."""
    return int(np.argmax(leakages >= leakages.max() * (1 - ALIKE)))


@singledispatch
def narrower_exposures(exposure: Exposure) -> Iterator[tuple[str, Exposure]]:  # noqa: ARG001  (most have none)
    """Give what the same losses would be if more were known of the mechanism, in words."""
    yield from ()


@narrower_exposures.register
def _of_concentrated(exposure: ConcentratedLoss) -> Iterator[tuple[str, Exposure]]:
    if not exposure.gaussian:
        yield "that the noise is Gaussian", replace(exposure, gaussian=True)
    if not exposure.separable and not exposure.shared:
        knowing = "that each part of the release reads one unit alone (separable)"
        yield knowing, replace(exposure, separable=True)


@narrower_exposures.register
def _of_pure(exposure: Loss) -> Iterator[tuple[str, Exposure]]:
    """A pure loss ε is a concentrated one of ε²/2."""
    if exposure.units <= MOST_UNITS_OF_PROFILES and exposure.per_unit.max() > 0:
        rhos = [
            positive_fraction(loss, "Loss") ** 2 / 2 if loss else 0 for loss in exposure.per_unit.tolist()
        ]
        knowing = (
            f"that each part of the release reads one unit alone (separable), with a δ of {USUAL_DELTA} for the "
            "same noise"
        )
        yield knowing, ConcentratedLoss.of(rhos, USUAL_DELTA, separable=True)
