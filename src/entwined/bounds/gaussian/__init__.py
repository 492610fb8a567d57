"""What Gaussian units can leak: the theorems, and the group figure that is none of them.

exact                      known covariance, up to 16 units together: the exact leakage
tree                       known covariance of a tree: exact, any number of units
walks                      known covariance, influence not too strong: often exact
variance                   known covariance, however strong the dependence
classes                    bounded correlations: the worst law
max_correlation            one bound for all correlations: the worst law in closed form
regression                 an adversary who knows no values: exact, any number of units
linear                     weighted sums with Gaussian noise: exact, the spread of the unknown counted
linear_shift               the same without the spread: any number of units, bounded correlations
clipped                    sums of values clipped to public bounds, with either noise: what a release is made of
metric                     losses by distance in, leakage by distance out: Bayesian metric privacy
shifts                     the smallest figure of those above
distances                  what they all ask to be believed
knowledge                  computes: every set of known units at once
series                     computes: sums over walks and inverses, rounding counted
"""

from typing import Final

from entwined.bounds.gaussian.classes import correlation_intervals_bound, weak_correlation_bound
from entwined.bounds.gaussian.clipped import clipped_values_bound, clipped_values_without_knowledge_bound
from entwined.bounds.gaussian.exact import gaussian_exact_bound
from entwined.bounds.gaussian.linear import noisy_linear_bound, noisy_linear_without_knowledge_bound
from entwined.bounds.gaussian.linear_shift import (
    noisy_linear_shift_bound,
    noisy_linear_shift_without_knowledge_bound,
)
from entwined.bounds.gaussian.max_correlation import lange_max_correlation_bound, max_correlation_bound
from entwined.bounds.gaussian.metric import (
    gaussian_metric_bound,
    gaussian_metric_without_knowledge_bound,
)
from entwined.bounds.gaussian.regression import gaussian_regression_bound
from entwined.bounds.gaussian.tree import gaussian_tree_bound
from entwined.bounds.gaussian.variance import gaussian_variance_bound
from entwined.bounds.gaussian.walks import gaussian_influence_bound, gaussian_walk_bound
from entwined.bounds.theorem import Theorem
from entwined.loss import Loss
from entwined.numbers import round_up_float

GAUSSIAN_THEOREMS: Final[tuple[Theorem, ...]] = (
    gaussian_exact_bound,
    gaussian_tree_bound,
    gaussian_walk_bound,
    gaussian_influence_bound,
    gaussian_variance_bound,
    max_correlation_bound,
    lange_max_correlation_bound,
    correlation_intervals_bound,
    weak_correlation_bound,
    gaussian_regression_bound,
)
NOISY_LINEAR_THEOREMS: Final[tuple[Theorem, ...]] = (
    noisy_linear_bound,
    noisy_linear_without_knowledge_bound,
    noisy_linear_shift_bound,
    noisy_linear_shift_without_knowledge_bound,
)
METRIC_THEOREMS: Final[tuple[Theorem, ...]] = (
    gaussian_metric_bound,
    gaussian_metric_without_knowledge_bound,
)
CLIPPED_THEOREMS: Final[tuple[Theorem, ...]] = (
    clipped_values_bound,
    clipped_values_without_knowledge_bound,
)


def group_factor_at_diameter(loss: Loss) -> float:
    """Give the leakage of clipped units per unit of their interval's length, for its two ends as the secret.

    Where every value is clipped to an interval of length M, no unit moves by more than M, whatever it depends
    on: the leakage of any secret is at most M Σ ε_j. That is a bound for two values at distance M. For two
    values at a smaller distance d it is no bound of d Σ ε_j: given what is known, one unit can move another
    by more than its own distance.
    """
    return round_up_float(float(loss.per_unit.sum()), loss.units)
