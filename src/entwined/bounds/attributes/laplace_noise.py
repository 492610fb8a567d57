"""Laplace noise on whole numbers that keeps secret parameters for certain, without a δ: the quilts as published.

The proof is that of the theorem "parameter quilt", which asks of noise only that answers d apart give any output with
chances within a factor of exp(d/scale): discrete Laplace noise does. With a scale of its own for each answer, what
near columns show is the sum of what they move each answer by over its scale.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from entwined.bounds.attributes.guards import SecretGuard
from entwined.bounds.attributes.quilt_guard import QuiltGuard
from entwined.bounds.attributes.quilts import pairs_of, quilts_of
from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadNoise, Refused, Unreachable
from entwined.noise.laplace import DiscreteLaplace
from entwined.numbers import float_above, float_below, round_up_float
from entwined.queries.plain import PlainSum

WHOLE: Final = Fraction(1, 1000)
SCALES: Final = "scales"


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """The scale of each answer's own draw; 0 where it has none."""

    own: tuple[Fraction, ...]
    direction: ClassVar[tuple[int, ...]] = ()
    along: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        if min(self.own) < 0:
            raise BadNoise("Noise has a scale below zero. Settle it again.")

    @property
    def is_none(self) -> bool:
        """Whether there is none at all."""
        return not any(self.own)

    @property
    def laws(self) -> list[DiscreteLaplace | None]:
        """The law of each answer's noise; none where there is none."""
        return [DiscreteLaplace(one) if one else None for one in self.own]

    total_laws = laws

    def at_least(self, scales: Sequence[Fraction]) -> Self:
        """Raise the draws to at least these scales."""
        return type(self)(tuple(map(max, self.own, scales)))

    @property
    def document(self) -> Document:
        """The noise as JSON."""
        return {SCALES: list(map(fraction_text, self.own))}

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read noise as it was written."""
        return cls(tuple(map(fraction_from, given[SCALES])))


def is_pure(guards: Sequence[SecretGuard]) -> bool:
    """Whether secrets are kept for certain; refuse some that are and some that are not."""
    kept = {not guard.secret.delta for guard in guards}
    if len(kept) > 1:
        raise Refused(
            "Some secrets have a δ and some have none, and one noise does not keep both. Give all of them one, or none."
        )
    return kept == {True}


def least_laplace(guards: Sequence[SecretGuard], asked: Sequence[PlainSum]) -> LaplaceNoise:
    """The least noise, of one scale for all answers, that keeps every secret for certain."""
    scale = max((_least_scale(_quilted(guard), asked) for guard in guards), default=Fraction(0))
    return LaplaceNoise((Fraction(math.ceil(scale / WHOLE)) * WHOLE,) * len(asked))


def shown_of(guard: SecretGuard, asked: Sequence[PlainSum], noise: LaplaceNoise) -> float:
    """What answers with this noise show of a secret at most, over all of its pairs, each with its best quilt."""
    quilted = _quilted(guard)
    query = quilted.query(asked)
    if query is None:
        return 0.0
    exposed, place = quilted.exposed(query), quilted.network.names.index(quilted.secret.column)
    worst = 0.0
    for pair in pairs_of(quilted.network, exposed, place):
        each = quilts_of(quilted.network, exposed, place, pair)
        worst = max(worst, min(quilt.influence + _moved(quilted, asked, quilt.near, noise) for quilt in each))
    return round_up_float(worst, 2)


def _moved(guard: QuiltGuard, asked: Sequence[PlainSum], near: Sequence[str], noise: LaplaceNoise) -> float:
    """What near columns show through the noise: the sum of their moves over the scales."""
    total = Fraction(0)
    for one, scale in zip(asked, noise.own, strict=True):
        moved = guard.moved(one, near)
        if moved and not scale:
            return math.inf
        total += moved / scale if moved else 0
    return float_above(total)


def _least_scale(guard: QuiltGuard, asked: Sequence[PlainSum]) -> Fraction:
    """The least scale of all answers for one secret, each pair of values with its best quilt."""
    query, needed = guard.query(asked), 0.0
    if query is None:
        return Fraction(0)
    target = float_below(guard.secret.epsilon) * (1 - 1e-12)
    exposed, place = guard.exposed(query), guard.network.names.index(guard.secret.column)
    for pair in pairs_of(guard.network, exposed, place):
        needed = max(needed, min(one.scale(target) for one in quilts_of(guard.network, exposed, place, pair)))
    if not math.isfinite(needed):
        raise Unreachable(f"No noise keeps the secret {guard.secret.title!r}. Ask for a larger ε.")
    return Fraction(needed) * (1 + Fraction(1, 10**9))


def _quilted(guard: SecretGuard) -> QuiltGuard:
    if not isinstance(guard, QuiltGuard):
        raise Refused(
            f"The secret {guard.secret.title!r} is kept for certain only where a network says what shows it. Give a "
            "delta."
        )
    return guard
