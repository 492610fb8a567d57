"""The closed form for Markov chains of Lange et al.: a loss plus a constant of the transition matrix."""

import math

import numpy as np

from entwined.bounds.theorem import theorem
from entwined.dependence import Box, MarkovChain
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, round_up

STATIONARY = 1e-6  # files hold rounded decimals; the proof below does not lean on it


@theorem("any", yields_to=("message passing",))
def markov_closed_form_bound(loss: Loss, model: MarkovChain) -> Leakage:
    """Bound the leakage on a stationary Markov chain by the loss plus 4 ln γ.

    Theorem. Let the units be the steps of a Markov chain whose transition probabilities are all positive and
    whose initial law w is stationary, w P = w. Let γ be the largest entry of P over the smallest. Then for
    every unit i, values a and b, whatever is known of other units one by one, and output set S: Pr[M ∈ S |
    x_i = a, known] ≤ exp(ε_i + 4 ln γ) · Pr[M ∈ S | x_i = b, known].

    Checked. Every transition probability is positive, the initial law is given, and w P = w to six
    digits. For a class of chains γ is the largest upper end over the smallest lower end, and w must lie
    between w times the lower and w times the upper ends.

    Trusted. The steps follow the chain, or a member of the class, and no transition is likelier or rarer
    than it says. What the adversary
    knows of several other units together, such as whether two of them are equal, is not covered unless it is
    itself a unit of the model.

    Proof. The law of the chain is a product of factors, one a step, and changing x_i from a to b touches the
    factor to its past and the factor to its future. Each is a table P, and any log odds ratio ln
    P(a,x)P(b,y)/P(a,y)P(b,x) is at most 2 ln γ. So moving x_i in one factor reweighs the law of the other
    units, given what is known of single ones, by a function whose log has range at most 2 ln γ, and a mean
    under the one law is at most γ² times the mean under the other. Twice that, and ε_i for x_i in the
    mechanism itself, is ε_i + 4 ln γ. It is what message passing gives when each message is replaced by the
    most it can be, so message passing is never worse; the proof needs no stationarity, which the published
    theorem asks for.

    Source. Lange, Guerra-Balboa, Parra-Arnau, Strufe (2025), the Markov model; ε there is the largest of
    the losses.
    """
    low, high = model.transition.low, model.transition.high
    if low.min() == 0:
        raise DoesNotApply("A transition has probability zero, so γ is infinite. The messages cover it.")
    if model.initial is None:
        raise DoesNotApply(
            "The chain has no initial law; this needs a stationary one. Give `initial`, or use the messages."
        )
    if not stationary(model.initial, model.transition):
        raise DoesNotApply(
            "The initial law changes from step to step; this needs a stationary one. The messages cover it."
        )
    return Leakage(round_up(loss.per_unit + 4 * log_ratio(float(high.max()), float(low.min()))))


def stationary(initial: FloatArray, transition: Box) -> bool:
    """Whether one step can leave the initial law as it is."""
    lowest, highest = initial @ transition.low, initial @ transition.high
    return bool(np.all(lowest <= initial + STATIONARY) and np.all(highest >= initial - STATIONARY))


def log_ratio(largest: float, smallest: float) -> float:
    """Give ln γ, rounded up; exactly 0 where all entries are equal."""
    if largest == smallest:
        return 0.0
    return math.log(largest / smallest) * (1 + 4 * ULP) + 4 * ULP
