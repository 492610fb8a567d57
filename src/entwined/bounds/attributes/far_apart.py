"""The worst that a secret does to one normal answer: how far its mean moves, and how little it varies by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from entwined.bounds.attributes.linked import Linked
from entwined.bounds.attributes.secrets import ColumnSecret


@dataclass(frozen=True, slots=True)
class FarApart:
    """Two normal laws of an answer: means at most `shift` apart, variances at least `least`, at most `excess` apart."""

    shift: Fraction
    least: Fraction
    excess: Fraction = Fraction(0)

    def times(self, factor: Fraction) -> "FarApart":
        """The same of so many times the answer."""
        return FarApart(self.shift * factor, self.least * factor**2, self.excess * factor**2)


def far_apart(secret: ColumnSecret, law: Linked) -> FarApart:
    """Find the worst pair of laws of the mean of a column, over the whole class and every pair of the secret's points.

    The mean moves by slope · (a − b). The variance is linear in the share a between the rows' two variances, so
    it is least at an end of a set; two of them differ by |a − b| times what the rows' variances differ by.
    """
    shift, rows = law.slope.furthest * secret.width, secret.rows
    inside = law.sd
    if law.others_sd is None or secret.figure == "mean":
        lowest = min(inside.low, (law.others_sd or inside).low)
        highest = max(inside.high, (law.others_sd or inside).high)
        excess = Fraction(0) if law.others_sd is None else highest**2 - lowest**2
        return FarApart(shift, lowest**2 / rows, excess / rows)
    others = law.others_sd
    shares = [end / secret.unit for pair in secret.apart for span in pair for end in (span.low, span.high)]
    least = min(share * inside.low**2 + (1 - share) * others.low**2 for share in shares)
    differ = max(abs(inside.high**2 - others.low**2), abs(others.high**2 - inside.low**2))
    return FarApart(shift, least / rows, differ * secret.width / rows)


def worst_of(pairs: Sequence[FarApart]) -> FarApart:
    """One pair that is at least as bad as each of several."""
    return FarApart(
        max(one.shift for one in pairs), min(one.least for one in pairs), max(one.excess for one in pairs)
    )
