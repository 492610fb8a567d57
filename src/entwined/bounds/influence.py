"""The influence matrix: message passing made linear, one sparse solve."""

from typing import TYPE_CHECKING, Final

import numpy as np

from entwined.bounds.contraction import tanh_quarter
from entwined.bounds.theorem import theorem
from entwined.dependence import Coupled
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, round_up

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DIRECT = 2_000  # units up to which the system is factorised; beyond it is iterated
TOO_STRONG: Final = "The influences are too strong: their matrix has a spectral radius of 1 or more."


@theorem("any")
def influence_matrix_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage by one linear system over pairwise influences.

    Theorem. For units i and j let Δ_ij be the largest log odds ratio between them while all other units
    are held fixed, and let C_ij = tanh(Δ_ij/4), C_ii = 0. If the spectral radius of C is below 1, then L
    = (I − C)⁻¹ε bounds the leakage of every unit, whatever the adversary knows of each other unit.

    Checked. The factors are read from the model; the solution L is confirmed by (I − C)L ≥ ε, L > 0,
    which also proves that the radius is below 1.

    Trusted. The true law is the model, or a member of the class that it describes. What the adversary
    knows of several other units together, such as whether two of them are equal, is not covered unless it is
    itself a unit of the model.

    Proof. Let f be the likelihood of an output and δ_j the range of log f along unit j, at first ε_j.
    Resample unknown units one at a time from their law given the rest. Resampling j changes the
    expectation by a factor of at most exp(T(δ_j; Δ_ij)) ≤ exp(C_ij δ_j) when it is done with x_i = a
    instead of b; it removes δ_j and adds at most C_kj δ_j to each δ_k. All mass v_j that is ever
    resampled at j satisfies v = ε + Cv, and what remains of f is constant in the end, so the total change
    is at most ε_i + Σ_j C_ij v_j = L_i. Knowing units only removes rows and columns of C,
    and what is known of one unit alone is a weight of its value, which changes no Δ_ij.

    Source. New here in this form; the resampling is that of Dobrushin (1970). Ghosh and Kleinberg (2016),
    "Inferential Privacy Guarantees for Differentially Private Mechanisms", have a bound of this kind.
    """
    from scipy.sparse import coo_array, csr_array

    if model.units > DIRECT and model.couplings.pairwise:
        raise DoesNotApply(
            "It is never below message passing where factors are pairs; left out at this size."
        )
    ends, log_odds = model.pairs
    strength = tanh_quarter(np.minimum(log_odds, 1e3)) * (1 + 8 * ULP)
    rows, columns = np.concatenate([ends, ends[:, ::-1]]).T
    matrix = csr_array(coo_array((np.tile(strength, 2), (rows, columns)), shape=(model.units, model.units)))
    return Leakage(confirmed_solution(matrix, loss.per_unit))


def confirmed_solution(matrix: "csr_array", losses: FloatArray) -> FloatArray:
    """Solve (I − C)L = ε, raise L a little and confirm that it lies above the solution."""
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import cg, splu

    floor = np.maximum(losses, losses.max() * 1e-9)  # zero losses would leave nothing to confirm
    system = eye_array(losses.size, format="csr") - matrix
    if losses.size <= DIRECT:
        try:
            solution = splu(system.tocsc()).solve(floor)
        except RuntimeError:  # its radius is 1 to the last digit
            raise DoesNotApply(TOO_STRONG) from None
    else:
        solution = cg(system, floor, rtol=1e-11, atol=0.0, maxiter=400)[0]
    raised = round_up(solution * (1 + 1e-9), 8)
    degree = float(np.diff(matrix.indptr).max(initial=1))
    short = not np.isfinite(raised).all() or (raised <= 0).any()
    if short or (raised - round_up(matrix @ raised, degree + 2) < floor).any():
        raise DoesNotApply(TOO_STRONG)
    return np.asarray(raised)
