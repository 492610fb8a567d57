"""Quilts under Gaussian noise: what remote columns show is taken off ε, and noise hides the near ones with a δ.

**Theorem.** Let everything be as for the parameter quilt, but the noise Gaussian of deviation σ, independent for each
number, and let Δ_B be the length (L2) by which the numbers move if the columns of B change as a whole. If for some Q
with e = e_Q(a, b) < ε the noise keeps (ε − e, δ) at a distance of Δ_{A∖Q}, the release keeps (ε, δ) between φ_i = a and
φ_i = b. *Proof.* Given φ_Q the outputs are mixtures, over one law of the columns of Q, of laws at a distance of at most
Δ_{A∖Q}, so E_γ' of what comes out given (a, φ_Q) and given (b, φ_Q) is at most δ at γ' = e^{ε − e}. Since p(φ_Q | b) ≥
e^{−e} p(φ_Q | a): Pr[S | a] − e^ε Pr[S | b] ≤ Σ p(φ_Q | a) (Pr[S | a, φ_Q] − e^{ε − e} Pr[S | b, φ_Q]) ≤ δ. ∎
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from entwined.bounds.attributes.column_query import ColumnQuery
from entwined.bounds.attributes.noisy_columns import NoisyColumns, ValueSets
from entwined.bounds.attributes.quilts import ColumnQuilt, pairs_of, quilts_of, refuse_unknown, secret_places
from entwined.bounds.attributes.two_normals import analytic_ratio
from entwined.dependence import BayesNet
from entwined.errors import BadInput, Unreachable
from entwined.noise.lattice import probability
from entwined.numbers import float_above, float_below, positive_fraction, round_up_float


@dataclass(frozen=True, slots=True)
class GaussianQuiltNoise:
    """The deviation of Gaussian noise that keeps all protected parameters to (ε, δ), and the quilt that needs it."""

    query: ColumnQuery
    epsilon: Fraction
    delta: Fraction
    deviation: float
    quilt: ColumnQuilt


@lru_cache(maxsize=4096)
def deviations_needed(epsilon: float, delta: Fraction) -> float:
    """How many deviations a distance of 1 must be hidden by; asked again and again by quilts that show the same."""
    return analytic_ratio(Fraction(epsilon), delta)


def gaussian_quilt_noise(
    network: BayesNet,
    query: ColumnQuery,
    epsilon: float | str,
    delta: float | str,
    apart: Sequence[ValueSets] = (),
    *,
    averaged: bool = False,
) -> GaussianQuiltNoise:
    """Find the least deviation of Gaussian noise for which quilts keep every secret parameter to (ε, δ)."""
    level, chance = positive_fraction(epsilon, "ε"), probability(delta, "δ")
    asked = NoisyColumns.of(query, 0.0, network.units, apart, averaged=averaged)
    refuse_unknown(network, asked)
    worst: tuple[float, ColumnQuilt] | None = None
    for place in secret_places(network):
        for pair in pairs_of(network, asked, place):
            best = least_deviation(list(quilts_of(network, asked, place, pair)), query, level, chance)
            worst = best if worst is None or best[0] > worst[0] else worst
    if worst is None:
        raise BadInput(
            "No parameter with two possible values is to be protected. Leave one that is a secret."
        )
    if not math.isfinite(worst[0]):
        raise Unreachable(f"No noise keeps {worst[1].column!r:.60} to {epsilon}. Ask for a larger ε.")
    return GaussianQuiltNoise(query, level, chance, *worst)


def least_deviation(
    quilts: Sequence[ColumnQuilt], query: ColumnQuery, epsilon: Fraction, delta: Fraction
) -> tuple[float, ColumnQuilt]:
    """The quilt that needs the least noise; those that could not be it whatever they show are passed over."""
    plain = deviations_needed(float_below(epsilon), delta)
    best = math.inf, quilts[0]
    for quilt in sorted(quilts, key=lambda quilt: query.length_moved_by(quilt.near)):
        length = query.length_moved_by(quilt.near)
        if length * plain >= best[0]:
            break
        left = (
            float_below(epsilon) - float_above(Fraction(quilt.influence))
            if math.isfinite(quilt.influence)
            else -1.0
        )
        if length == 0 and left >= 0:
            return 0.0, quilt
        if left > 0:
            needed = round_up_float(length * deviations_needed(left * (1 - 1e-15), delta))
            best = min(best, (needed, quilt), key=lambda found: found[0])
    return best
