"""A count that leaves beside other answers: how far it moves, however a row's values go with its being counted.

**Theorem.** Let D rows have the protected value given one point of a secret and not given the other, and let a row add
0 to m to a count, with means that differ by at most q between rows with the value and the others. Normal values of
columns have one covariance either way. Then the tables given both points can be drawn together so that sums of columns
differ by the difference of their means, and the count by at most Dq + m√(2D ln(2/τ)), but for a chance τ. So
independent noise that keeps (ε, δ − τ) for answers this far apart keeps (ε, δ).
*Proof.* All rows but D are drawn once for both. Of those D, what values differ by from their means is drawn once for
both, and then, given that, what each adds to the count, for either point by its own law: it is known of that law only
that its mean over all values is what was declared. The D differences are independent, each between −m and m, with means
of at most q: Hoeffding's inequality. The rest is joint convexity of E_γ. For points that are closer together the moves
are in the convex hull of these and their mirror images, where convex forms are not larger. ∎

The spread that the data have by themselves is not counted here. A count that leaves alone is worked out exactly.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from entwined.bounds.attributes.chance_boxes import ChanceBox, Chances
from entwined.bounds.attributes.secrets import ColumnSecret

TAIL: Final = Fraction(1, 50)  # the part of δ that is given for tails
OVER: Final = 1 + 1e-12


def tail_of(secret: ColumnSecret, counts: int) -> Fraction:
    """The chance that is given for the tail of each of several counts."""
    return secret.delta * TAIL / max(counts, 1)


def moved_count(secret: ColumnSecret, laws: Sequence[Chances], tail: Fraction) -> tuple[float, float]:
    """Between which ends a count moves, towards more rows with the value, but for a chance; any law may be true.

    >>> from entwined.bounds.attributes.summed_laws import RowChances
    >>> women = ColumnSecret.of("sex", [0.25, 0.75], rows=400, epsilon=1, delta="0.01", value="f")
    >>> [round(one) for one in moved_count(women, [RowChances.counting("0.3", "0.1")], Fraction(1, 10**4))]
    [-23, 103]
    """
    rows = max(_most_apart(secret, pair) for pair in range(len(secret.apart)))
    ends = []
    for law in laws:
        low, high, most = _differences(law)
        far = most * math.sqrt(2 * rows * math.log(2 / float(tail))) * OVER
        ends.append((float(rows * low) - far, float(rows * high) + far))
    return min(low for low, _ in ends), max(high for _, high in ends)


def _most_apart(secret: ColumnSecret, pair: int) -> int:
    """By how many rows two points of a pair of sets differ at most."""
    one, other = (secret.counts(span) for span in secret.apart[pair])
    return max(abs(one[-1] - other[0]), abs(other[-1] - one[0]))


def _differences(law: Chances) -> tuple[Fraction, Fraction, int]:
    """Between which ends means differ, and the most that a row adds."""
    if isinstance(law, ChanceBox):
        return law.inside.low - law.others.high, law.inside.high - law.others.low, 1
    apart = sum(
        (
            number * (one - other)
            for number, (one, other) in enumerate(zip(law.inside, law.others, strict=True))
        ),
        Fraction(0),
    )
    return apart, apart, len(law.inside) - 1
