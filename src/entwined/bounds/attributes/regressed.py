"""Coefficients of a linear regression whose rows are secret: slopes leave as they are, the intercept with noise.

**Theorem.** Let rows (y, x, z) be jointly normal and independent of each other, and the secret the mean of z over the n
rows. Let b be made of the centred rows alone, as least-squares slopes of y on x are, rounded or not, and let
w = Σ (y − bᵀx) over the rows. Then b has the same law whatever the mean of z is; and given b and a mean a of z, w is
normal with mean n(c + (s_y − bᵀs_x) a) and variance n (1, −b) V (1, −b)ᵀ, where s are the slopes of y and x in z and
V is the covariance of a row given its z. So b needs no noise, and noise for w that is chosen by b, to keep (ε, δ) for
this shift and variance, keeps (ε, δ) for b and w together.
*Proof.* The mean of independent normal rows is independent of the centred rows, so (ȳ, x̄, z̄) is independent of b.
Given z̄ = a, ȳ and x̄ are normal with slopes s in a, and with covariance V/n, whatever b is. With P(b) free of a,
E_γ of (b, w) is the mean over b of E_γ of w given b, each at most δ. ∎

It fails where rows are not jointly normal: of a share of rows with a value, the spread of z tells the share, and slopes
tell that spread. So a secret about a share or a count is refused, and so is a mean whose column is not declared
normal together with the others.

Rows on a grid are not normal either. Values that vary by less than a step are refused. Beyond that it is believed, and
said, that the grid does not matter: whole rows about their mean have that mean's place between two steps in them, so
slopes of few rows have some of it (16 rows that vary by a step: for means half a step apart their laws differ by 0.1).
Where the mean of all rows varies by a step or more given the secret, λ of the covariance in squared steps over n,
that place is uniform up to 2d exp(−2π²λ), whatever the mean is, and nothing is left of it.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from entwined.bounds.attributes.far_apart import FarApart
from entwined.bounds.attributes.linked import Linked
from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.errors import Refused
from entwined.numbers import float_below

LOST: Final = 1e-9  # of an eigenvalue, more than rounding takes
MOST_BITS: Final = 46
Correlation = Mapping[tuple[str, str], Fraction]


def require_jointly_normal(secret: ColumnSecret, laws: Sequence[Linked]) -> None:
    """Refuse laws of which the theorem says nothing."""
    alone = len({law.column for law in laws}) == len(laws)
    if secret.figure != "mean" or secret.level != "table" or not alone or any(law.sufficient for law in laws):
        raise Refused(
            f"The secret {secret.title!r} is not the mean of a column that is declared jointly normal with those of "
            "the regression, and otherwise slopes may tell it. Declare covariance = {columns = [...], matrix = "
            '[[...]]} for a secret with figure = "mean", or ask for means.'
        )


def combined(
    secret: ColumnSecret,
    laws: Mapping[str, Linked],
    correlation: Correlation | None,
    weights: Mapping[str, Fraction],
) -> FarApart:
    """The worst that a secret mean does to a weighted sum of columns over the rows; exact where laws are points.

    The protected column itself has slope 1 and no spread of its own. Where deviations are spans, the variance is at
    least that of the least ones times the least eigenvalue of the correlation.
    """
    own = weights.get(secret.column, Fraction(0))
    others = {name: weight for name, weight in weights.items() if name != secret.column and weight}
    ends = [
        sorted((weight * laws[name].slope.low, weight * laws[name].slope.high))
        for name, weight in others.items()
    ]
    low, high = (own + sum((end[side] for end in ends), Fraction(0)) for side in (0, 1))
    shift = max(abs(low), abs(high)) * secret.width * secret.rows
    return FarApart(shift, _least_variance(laws, correlation, others) * secret.rows)


def _least_variance(
    laws: Mapping[str, Linked], correlation: Correlation | None, weights: Mapping[str, Fraction]
) -> Fraction:
    """The least variance that a weighted sum of one row's values can have given the protected one."""
    if correlation is None or not weights:
        return Fraction(0)
    scaled = {name: weight * laws[name].sd.low for name, weight in weights.items()}
    if all(laws[name].sd.is_point for name in weights):
        products = (
            scaled[one] * scaled[other] * correlation[one, other] for one in weights for other in weights
        )
        return max(sum(products, Fraction(0)), Fraction(0))
    table = np.array([[float(correlation[one, other]) for other in weights] for one in weights])
    least = max(float(np.linalg.eigvalsh(table).min()) - LOST, 0.0)
    return Fraction(float_below(Fraction(least))) * sum((one**2 for one in scaled.values()), Fraction(0))


def fineness(rows: int, widest: int) -> int:
    """How many parts of a step slopes are rounded to: well within what they vary by, public, and of few enough digits.

    Where the target varies by a step or more, a slope varies by at least 1/√n over the widest column's steps.

    >>> fineness(400, 300)
    524288
    """
    wanted = math.ceil(math.log2(64 * math.sqrt(rows) * widest))
    return 1 << max(min(wanted, MOST_BITS - math.ceil(math.log2(rows * widest))), 1)
