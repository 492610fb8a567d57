"""How far a Gaussian unit moves the others with it at most: the smallest figure that a theorem proves."""

from typing import Final

import numpy as np

from entwined.bounds.gaussian.classes import correlation_intervals_bound, weak_correlation_bound
from entwined.bounds.gaussian.exact import gaussian_exact_bound
from entwined.bounds.gaussian.max_correlation import max_correlation_bound
from entwined.bounds.gaussian.tree import gaussian_tree_bound
from entwined.bounds.gaussian.variance import gaussian_variance_bound
from entwined.bounds.gaussian.walks import gaussian_walk_bound
from entwined.bounds.theorem import Theorem
from entwined.dependence.gaussian import GaussianLaws
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from entwined.numbers import FloatArray

PER_DISTANCE: Final[tuple[Theorem, ...]] = (
    gaussian_exact_bound,
    gaussian_tree_bound,
    gaussian_walk_bound,
    gaussian_variance_bound,
    max_correlation_bound,
    correlation_intervals_bound,
    weak_correlation_bound,
)


def smallest_shifts(losses: Loss, model: GaussianLaws) -> FloatArray:
    """Bound λ_i + Σ_j λ_j |β_j| for each unit, whatever is known of the others, or say why no theorem does."""
    told, reasons = [], []
    for proved in PER_DISTANCE:
        try:
            told.append(proved(losses, model).per_unit)
        except DoesNotApply as reason:
            reasons.append(f"{proved.name}: {reason}")
    if not told:
        raise DoesNotApply(" ".join(reasons))
    return np.asarray(np.min(told, axis=0))
