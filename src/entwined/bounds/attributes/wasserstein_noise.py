"""The Wasserstein mechanism for any secret: noise for how far its values move the law of an answer.

**Theorem.** Let F have the law p given one value of a secret and q given another, and let m(x, y) carry p into q. With
independent noise Z and E_γ(P‖Q) = sup_S P(S) − γQ(S), γ = e^ε: E_γ(F + Z | one ‖ F + Z | other) ≤ Σ m(x, y) E_γ(x + Z ‖
y + Z). If that is at most δ, in both orders, for all pairs of values and all laws that are held for possible, the
release keeps (ε, δ). *Proof.* F + Z given one value is the mixture Σ m(x, y) (x + Z), given the other it is
Σ m(x, y) (y + Z), and E_γ is jointly convex. Mass that is given up counts as 1, the most that E_γ can be. ∎

At a distance z: Laplace noise of scale b on a number has E_γ = 1 − exp((ε − z/b)/2) for z > εb, else 0: where the
ratio exceeds γ, x > (z + εb)/2, one law has 1 − exp((ε − z/b)/2)/2, the other γ⁻¹ exp((ε − z/b)/2)/2. On vectors of L1
distance z any two events have ratios of at most e^{z/b} either way, so p ≤ e^{z/b} q and 1 − q ≤ e^{z/b} (1 − p), and
p − γq is at most (e^{z/b} − γ)/(e^{z/b} + 1). Gaussian noise of deviation σ, on vectors at L2 distance z too, has
Φ(z/2σ − εσ/z) − γΦ(−z/2σ − εσ/z). With δ = 0 Laplace noise of W_∞/ε is left: Song, Wang, Chaudhuri (2017).

**By Rényi divergence** (`renyi_deviation`). E_Q[(dP/dQ)^α] is jointly convex too, so for Gaussian noise it is at most
R = Σ m(x, y) exp(α(α − 1)(x − y)²/2σ²), an exponential α-Wasserstein moment; and (t − γ)₊ ≤ t^α γ^{1−α}
(α − 1)^{α−1}/α^α, with equality at t = γα/(α − 1), so that δ = R γ^{1−α} (α − 1)^{α−1}/α^α. The same holds distance by
distance, so for one release the first bound is never the larger; it stands here to compare with what is published.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

import numpy as np

from entwined.bounds.attributes.moves import CarriedMass, VectorLaw, misplaced, vector_ways, ways
from entwined.bounds.attributes.two_normals import told_apart
from entwined.bounds.wasserstein import SHARE, FiniteLaw, farthest_move
from entwined.errors import BadInput, Unreachable
from entwined.noise.lattice import probability
from entwined.numbers import FloatArray, float_below, positive_fraction, round_up_float

LEAST_DELTA: Final = Fraction(1, 10**10)  # floats add up masses to some 10⁻¹²
HALVINGS: Final = 80
CLOSE: Final = 1e-9
ORDERS: Final = np.concatenate([np.linspace(1.05, 10, 180), np.geomspace(10, 2000, 120)])
LawPair = tuple[FiniteLaw, FiniteLaw]
VectorPair = tuple[VectorLaw, VectorLaw]
Apartness = Callable[[FloatArray, float], FloatArray]


@dataclass(frozen=True, slots=True)
class LawNoise:
    """Noise that keeps a secret to (ε, δ): of which law, and of which scale (a deviation for Gaussian noise)."""

    noise: Literal["Laplace", "Gaussian"]
    scale: float

    @property
    def deviation(self) -> float:
        """Its standard deviation, to compare with."""
        return self.scale * math.sqrt(2) if self.noise == "Laplace" else self.scale


def laplace_for_laws(pairs: Sequence[LawPair], epsilon: float | str) -> LawNoise:
    """Give Laplace noise that keeps ε for certain: the ∞-Wasserstein distance over ε, rounding paid for.

    >>> near = FiniteLaw.of([0, 1], [0.5, 0.5]), FiniteLaw.of([1, 2], [0.5, 0.5])
    >>> round(laplace_for_laws([near], 0.5).scale, 6)
    2.0
    """
    level = float_below(positive_fraction(epsilon, "ε"))
    moved, left = max((farthest_move(*pair) for pair in pairs), default=0.0), level - 1.1 * SHARE
    if moved > 0 and left <= 0:
        raise Unreachable(f"ε = {level:g} is below the 1e-08 set aside for rounding. Ask for more.")
    return LawNoise("Laplace", round_up_float(moved / left, 8) if moved > 0 else 0.0)


def noise_for_laws(
    pairs: Sequence[LawPair],
    epsilon: float | str,
    delta: float | str,
    kinds: Sequence[str] = ("Laplace", "Gaussian"),
) -> LawNoise:
    """Find the noise of least deviation that keeps (ε, δ) for every pair of laws of a number, 0 if none is needed."""
    level, chance = asked(epsilon, delta)
    carried = [tuple(ways(*pair, chance)) for pair in pairs]
    found = (
        [LawNoise("Laplace", least_scale(carried, chance, laplace_apart(level)))]
        if "Laplace" in kinds
        else []
    )
    if "Gaussian" in kinds:
        found.append(LawNoise("Gaussian", least_scale(carried, chance, gaussian_apart(level))))
    return min(found, key=lambda noise: noise.deviation)


def told_as_they_are(one: FiniteLaw, other: FiniteLaw, level: float) -> float:
    """E_γ of two laws without noise, the larger of both orders, rounded up.

    >>> near = FiniteLaw.of([0, 1], [0.5, 0.5]), FiniteLaw.of([0, 1], [0.6, 0.4])
    >>> round(told_as_they_are(*near, 0.1), 6)    # 0.5 − 0.4 e^0.1
    0.057932
    """
    atoms = np.union1d(one.atoms, other.atoms)
    each = [np.zeros(atoms.size), np.zeros(atoms.size)]
    for masses, law in zip(each, (one, other), strict=True):
        masses[np.searchsorted(atoms, law.atoms)] = np.exp(law.logs)
    over = [np.maximum(p - math.exp(level) * q, 0.0).sum() for p, q in (each, each[::-1])]
    return float(max(over)) * (1 + CLOSE) + misplaced(*each)


def noise_for_vectors(pairs: Sequence[VectorPair], epsilon: float | str, delta: float | str) -> LawNoise:
    """Bound the noise on each number of a vector that keeps (ε, δ): that of least deviation of those proved."""
    level, chance = asked(epsilon, delta)
    by_sum = [tuple(vector_ways(*pair, norm=1)) for pair in pairs]
    by_length = [tuple(vector_ways(*pair, norm=2)) for pair in pairs]
    laplace = LawNoise("Laplace", least_scale(by_sum, chance, pure_apart(level)))
    gaussian = LawNoise("Gaussian", least_scale(by_length, chance, gaussian_apart(level)))
    return min(laplace, gaussian, key=lambda noise: noise.deviation)


def renyi_deviation(pairs: Sequence[LawPair], epsilon: float | str, delta: float | str) -> float:
    """Give the deviation of Gaussian noise that the exponential α-Wasserstein moment asks for, at the best order α."""
    level, chance = asked(epsilon, delta)
    carried = [tuple(ways(*pair, chance)) for pair in pairs]

    def apart(distances: FloatArray, scale: float) -> FloatArray:
        shape = (ORDERS.size, distances.size)
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.broadcast_to((distances / scale) ** 2 / 2, shape)
            logs = ORDERS[:, None] * (ORDERS[:, None] - 1) * spread + renyi_constant(level)[:, None]
            return np.where(spread == 0, np.exp(renyi_constant(level))[:, None], np.exp(logs))

    return least_scale(carried, chance, apart)


def renyi_constant(level: float) -> FloatArray:
    """The log of γ^{1−α} (α − 1)^{α−1}/α^α for every order."""
    less = ORDERS - 1
    return np.asarray(-less * level + less * np.log(less) - ORDERS * np.log(ORDERS))


def asked(epsilon: float | str, delta: float | str) -> tuple[float, float]:
    """Read ε and δ; a δ that rounding could fill is refused."""
    chance = probability(delta, "δ")
    if chance < LEAST_DELTA:
        raise BadInput(
            f"δ = {float(chance):g} is below {float(LEAST_DELTA):g}, what sums of chances are right to. Give a larger "
            "one, or ask for Laplace noise without δ."
        )
    return float_below(positive_fraction(epsilon, "ε")), float_below(chance)


def laplace_apart(level: float) -> Apartness:
    """E_γ of Laplace noise on a number, by distance and scale."""

    def apart(distances: FloatArray, scale: float) -> FloatArray:
        return np.asarray(-np.expm1(np.minimum((level - distances / scale) / 2, 0.0)))

    return apart


def pure_apart(level: float) -> Apartness:
    """E_γ of whatever loses distance / scale for certain."""

    def apart(distances: FloatArray, scale: float) -> FloatArray:
        loss = np.minimum(distances / scale, 700.0)
        return np.asarray(np.maximum(np.exp(loss) - math.exp(level), 0.0) / (np.exp(loss) + 1))

    return apart


def gaussian_apart(level: float) -> Apartness:
    """E_γ of Gaussian noise, by distance and deviation."""

    def apart(distances: FloatArray, scale: float) -> FloatArray:
        moved = distances > 0
        found = np.where(np.isinf(distances), 1.0, 0.0)
        inner = moved & np.isfinite(distances)
        spread = np.minimum((scale / distances[inner]) ** 2, 1e200)
        found[inner] = told_apart(level, 1.0, spread, spread)
        return found

    return apart


def slips(moves: CarriedMass, apart: Apartness, scale: float) -> float:
    """The δ that a way to carry the laws proves for noise of a scale, the best order of several if there are some."""
    each = np.atleast_2d(apart(moves.distances, scale))
    with np.errstate(invalid="ignore"):
        total = np.where(moves.masses > 0, moves.masses * each, 0.0).sum(axis=1)
    return float(np.nanmin(total)) * (1 + CLOSE) + moves.misplaced


def least_scale(carried: Sequence[Iterable[CarriedMass]], chance: float, apart: Apartness) -> float:
    """The least scale at which every pair has a way that proves δ, rounded up; 0 if no noise is needed."""
    return max((min(scale_for(moves, chance, apart) for moves in each) for each in carried), default=0.0)


def scale_for(moves: CarriedMass, chance: float, apart: Apartness) -> float:
    """The least scale for one way; infinite if it gives up more than δ."""
    finite = moves.distances[np.isfinite(moves.distances)]
    farthest = float(finite.max(initial=0.0))
    lost = math.fsum(moves.masses[moves.distances > 0]) * (1 + CLOSE) + moves.misplaced
    if lost <= chance:
        return 0.0
    high = max(farthest, 1e-300)
    for _ in range(HALVINGS):
        if slips(moves, apart, high) <= chance:
            break
        high *= 2
    else:
        return math.inf
    low = 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle > 0 and slips(moves, apart, middle) <= chance:
            high = middle
        else:
            low = middle
        if high - low <= CLOSE * high:
            break
    return high
