"""How alike members of a family are, learned from a table with a column for each: a Gaussian model of its upper end.

**Theorem.** Let n rows be independent of each other, and let any two of some columns be jointly normal with one
deviation and the correlation ρ, whatever their means. With S the sums of products of centred columns, S_xx + S_yy + 2
S_xy and S_xx + S_yy − 2 S_xy are those of x + y and of x − y, which are independent, of variances in the ratio (1 + ρ)
to (1 − ρ). So their quotient times (1 − ρ)/(1 + ρ) has the law F of n − 1 and n − 1 degrees, and with a chance of at
least 1 − β the odds (1 + ρ)/(1 − ρ) lie between the quotient over f and times f, f the point that F exceeds with a
chance of β/2. Where S is known to lie in a box, by noise on it, the widest of these over the box are taken.

**Theorem.** Of m members any two of whom have the correlation ρ ≥ −1/(m − 1), let k be known and u = m − 1 − k not.
Each of the u moves by ρ/(1 + kρ) with the secret one, so all together move by 1 + u|ρ|/(1 + kρ). For ρ ≥ 0 that grows
with ρ, and is largest for k = 0. So what is bounded by it (the theorems "clipped values" use nothing else of a law) is,
for every ρ between two ends, at most that of the upper end, or of the ρ that moves as far as the lower one if that is
negative.
"""

from itertools import combinations
from typing import Final, NamedTuple

from entwined.bounds.attributes.learned_covariance import Interval, LearnedCovariance
from entwined.dependence import LearnedFrom
from entwined.dependence.families import equal_correlation
from entwined.dependence.gaussian import Gaussian, MaxCorrelation
from entwined.errors import BadModel
from entwined.learning.origin import learned_model

OUTWARD: Final = 1e-9  # quantiles are right to far less
FEWEST: Final = 2


class AlikeEnds(NamedTuple):
    """Between which ends the correlation of any two members lies."""

    low: float
    high: float

    @property
    def size(self) -> float:
        """The largest correlation in size."""
        return max(abs(self.low), abs(self.high))


def alike(learned: LearnedCovariance) -> AlikeEnds:
    """Bound the correlation of every two columns, by the noise on their sums and by the sample."""
    from scipy.stats import f as ratio

    pairs = list(combinations(range(len(learned.columns)), 2))
    missed = float((1 - learned.confidence) / 2 / (2 * len(pairs)))
    reach = float(ratio.isf(missed, learned.rows - 1, learned.rows - 1)) * (1 + OUTWARD)
    ends = [_odds(learned, *pair) for pair in pairs]
    lowest, highest = (
        float(min(one.low for one in ends)) / reach,
        float(max(one.high for one in ends)) * reach,
    )
    return AlikeEnds(*((odds - 1) / (odds + 1) for odds in (lowest, highest)))


def _odds(learned: LearnedCovariance, one: int, other: int) -> Interval:
    """Between which ends the quotient of the sums of squares of x + y and x − y lies."""
    own, both, theirs = learned.scatter[one][one], learned.scatter[one][other], learned.scatter[other][other]
    if own.low + theirs.low <= 2 * both.sizes.high:
        raise BadModel(
            f"By noise and sample {learned.columns[one]!r} and {learned.columns[other]!r} may always agree or always "
            "differ. Spend more on learning, or declare how alike they are."
        )
    spreads = own.low + theirs.low, own.high + theirs.high
    corners = [(spread + 2 * end) / (spread - 2 * end) for spread in spreads for end in both]
    return Interval(min(corners), max(corners))  # it rises or falls in each of the two


def equal_members(found: AlikeEnds, size: int, origin: LearnedFrom) -> Gaussian:
    """Give a law of members any two of whom are equally alike, which moves at least as far as any between the ends."""
    lowest = min(max(-found.low, 0.0), 1 / (_members(size) - 1))  # no law of so many has a lower one
    moved = max((size - 1 - known) * lowest / (1 - known * lowest) for known in range(size - 1))
    furthest = max(found.high, moved / (size - 1))
    return learned_model(equal_correlation(size, furthest * (1 + OUTWARD)), origin)


def members_at_most(found: AlikeEnds, size: int, origin: LearnedFrom) -> MaxCorrelation:
    """Give all laws of members no two of whom are more alike than any of the columns, however they differ."""
    return learned_model(MaxCorrelation(_members(size), found.size), origin)


def _members(size: int) -> int:
    if size < FEWEST:
        raise BadModel(f"A family of {size} members. Give at least {FEWEST}.")
    return size
