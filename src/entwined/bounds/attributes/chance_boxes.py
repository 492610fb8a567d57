"""Chances that a row is counted of which only the ends are known: two laws of the count that are as far apart as any.

**Theorem.** Let rows with the protected value be counted with chances in [l₁, h₁], the others with chances in [l₀, h₀],
each row independently and each with a chance of its own or all with one. Let k < k′ rows have the value, D = k′ − k. Of
the rows that have it either way, and of those that have it neither way, let N₁ and N₀ count those that are kept below,
with a chance of at most τ each that they are fewer than n₁ and n₀. Then E_γ between the laws of the count given k and
k′, with any independent log-concave noise, is at most 2τ more than the largest E_γ between Bin(D, h₁) + C and
Bin(D, l₀) + C, or Bin(D, l₁) + C and Bin(D, h₀) + C, in both orders, where C = Bin(n₁, c₁) + Bin(n₀, c₀).
*Proof.* A row of chance p in [l, h] is counted as one of chance l with weight (1 − p)/(1 − l), and surely otherwise: it
is kept with at least the weight w = 1 − (h − l)/(1 − l). Or, mirrored, as one of chance h with weight p/h ≥ l/h, and
surely not otherwise. Which rows are kept is drawn alike given k and k′, so by joint convexity E_γ is at most its mean
over that; what surely adds to both moves both, and rows beyond n₁ and n₀ are common noise, without which E_γ is not
less. The D rows that differ are, given k′, at most Bin(D, h₁) and at least Bin(D, l₁) in the order of likelihood
ratios, and given k likewise; all laws are log-concave, so the order stays under sums, the best tests are thresholds,
and a threshold tells laws further out better. ∎
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self, TypeAlias

import numpy as np

from entwined.bounds.attributes.secrets import ColumnSecret, Span
from entwined.bounds.attributes.summed_laws import Pair, RowChances, WholeLaw
from entwined.canonical import Document
from entwined.errors import BadModel
from entwined.numbers import ULP, float_above, float_below

TAIL: Final = Fraction(1, 1000)  # the part of δ that too few kept rows may take
BOX: Final = "box"


@dataclass(frozen=True, slots=True)
class ChanceBox:
    """Between which ends the chances lie that rows with the protected value, and that the others, are counted."""

    inside: Span
    others: Span
    in_order: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for span in (self.inside, self.others):
            if span.low < 0 or span.high > 1:
                raise BadModel(f"A chance of {span}. Give numbers from 0 to 1.")

    def apart(self, secret: ColumnSecret, one: int, other: int) -> list[Pair]:
        """Laws of the count that are at least as far apart as any of the class, given two numbers of rows."""
        few, many = sorted((one, other))
        differing, tail = many - few, secret.delta * TAIL / 2
        common = _kept(few, self.inside, tail).plus(_kept(secret.rows - many, self.others, tail))
        missed = common.missed + float_above(2 * tail)
        common = WholeLaw(common.first, common.chances, missed)
        found = []
        for with_value, without in ((self.inside.high, self.others.low), (self.inside.low, self.others.high)):
            found.append(
                (_binomial(differing, with_value).plus(common), _binomial(differing, without).plus(common))
            )
        return found

    @property
    def document(self) -> Document:
        """The ends as JSON."""
        return {BOX: {"inside": self.inside.document, "others": self.others.document}}

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read the ends as they were written."""
        return cls(*(Span.from_document(given[BOX][name]) for name in ("inside", "others")))


Chances: TypeAlias = RowChances | ChanceBox


def chances_from(given: Mapping[str, Any]) -> Chances:
    """Read chances as they were written: exactly, or by their ends."""
    return ChanceBox.from_document(given) if BOX in given else RowChances.from_document(given)


def _kept(rows: int, span: Span, tail: Fraction) -> WholeLaw:
    """The part of what rows add that all chances in a span have in common, the tail of too few rows left out."""
    low, high = span.low, span.high
    ways = [(low, 1 - (high - low) / (1 - low))] if low < 1 else []
    ways += [(high, low / high)] if high > 0 else []
    chance, weight = max(ways, key=lambda way: way[1] * way[0] * (1 - way[0]))
    return _binomial(_at_least(rows, weight, tail), chance)


def _at_least(rows: int, weight: Fraction, tail: Fraction) -> int:
    """A number below which a binomial of these rows and this weight is with at most this chance."""
    from scipy.stats import binom

    if weight == 1:
        return rows
    chance = float_below(weight)
    found = int(binom.ppf(float_below(tail), rows, chance))
    while found > 0 and binom.cdf(found - 1, rows, chance) * (1 + 1e-9) > float_below(tail):
        found -= 1
    return max(found, 0)


def _binomial(rows: int, chance: Fraction) -> WholeLaw:
    return WholeLaw(0, np.array([float(1 - chance), float(chance)]), ULP * 2).times(rows)
