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

**Theorem (rows on a grid).** Let rows stand on steps: what is read is round(Y) in d columns, none of them protected, Y
jointly normal with z. Let λ be at most the least eigenvalue of V in squared steps, over n, θ = Σ exp(−2π²λk²) over all
whole k, and h = θ^d − 1 < 1. Then slopes of the rounded rows keep log((1 + h)/(1 − h)) by themselves, and with w whose
noise keeps (ε, δ) given them that much more than ε, at (1 + h)δ.
*Proof.* With u the rounding errors, uniform in a cube, a table r of rows has the chance of E_u of the density of Y at
r + u: a function of r + u about its mean, in which the secret is not, times the density of N(sa, V/n) at the mean of
r + u. Tables that lie alike about their mean are whole steps apart, and over all whole steps that density sums to
Σ_k exp(−2π² kᵀVk/n) cos(2πk·x), within 1 ± h whatever x is. So the law of how rows lie about their mean is within
1 ± h of one without the secret. P(b, w) ≤ (1 + h) Q(b) P(w | b), and the same from below, is the rest. ∎

It is paid for. A coarse grid is refused: 16 rows that vary by a step, with means half a step apart, have slopes whose
laws are 0.1 apart. So is the protected column itself, which has no spread given its own mean: whole numbers about
their mean tell on which part of a step it lies.
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


def least_spread(
    laws: Mapping[str, Linked], correlation: Correlation | None, steps: Mapping[str, Fraction]
) -> float:
    """A number that no eigenvalue of the covariance of columns is below, given the protected one, in squared steps."""
    if correlation is None:
        return 0.0
    scaled = np.array([float(laws[name].sd.low / step) for name, step in steps.items()])
    table = np.array([[float(correlation[one, other]) for other in steps] for one in steps])
    if all(laws[name].sd.is_point for name in steps):
        spread = table * np.outer(scaled, scaled)
        return max(float(np.linalg.eigvalsh(spread).min()) - LOST * float(np.trace(spread)), 0.0)
    return max(float(np.linalg.eigvalsh(table).min()) - LOST, 0.0) * float(scaled.min()) ** 2 * (1 - LOST)


def told_by_grid(spread: float, rows: int, sides: int) -> float:
    """H of the theorem, rounded up: by which part the law of slopes may depend on the secret, 1 if more.

    >>> told_by_grid(100.0, 100, 3) < 1e-7 < told_by_grid(20.0, 100, 3)
    True
    """
    each = math.exp(-2 * math.pi**2 * spread / rows)
    theta = 2 * each / (1 - each) if each < 1 else math.inf  # k² ≥ k
    return min(math.expm1(sides * math.log1p(theta)) * (1 + LOST) if theta < 1 else 1.0, 1.0)


def fineness(rows: int, widest: int) -> int:
    """How many parts of a step slopes are rounded to: well within what they vary by, public, and of few enough digits.

    Where the target varies by a step or more, a slope varies by at least 1/√n over the widest column's steps.

    >>> fineness(400, 300)
    524288
    """
    wanted = math.ceil(math.log2(64 * math.sqrt(rows) * widest))
    return 1 << max(min(wanted, MOST_BITS - math.ceil(math.log2(rows * widest))), 1)
