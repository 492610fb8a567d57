"""How much the parameters of some columns show of the parameter of another, by exact sums over a network."""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Final

import numpy as np

from entwined.bounds.attributes.network_members import members
from entwined.bounds.kernel import TOO_SMALL
from entwined.bounds.shown_ratios import shown_ratios
from entwined.dependence import BayesNet
from entwined.errors import DoesNotApply
from entwined.numbers import ULP, FloatArray

MOST_TOGETHER: Final = 65_536  # joint values of a network that is multiplied out whole
MOST_CELLS: Final = 2_000_000  # joint values of the columns that are shown
Sets = tuple[tuple[int, ...], ...]


def max_influence(network: BayesNet, column: str, shown: Sequence[str]) -> float:
    """Give the max-influence of one column's parameter on those of others, any two values of it, rounded up.

    >>> from entwined.dependence import Variable
    >>> cause = Variable("income", ("low", "high"), (), [[0.5, 0.5]])
    >>> effect = Variable("sat", ("low", "high"), ("income",), [[0.75, 0.25], [0.25, 0.75]])
    >>> round(max_influence(BayesNet.of([cause, effect]), "income", ["sat"]), 6)   # log 3
    1.098612
    """
    place, others = network.names.index(column), tuple(sorted(map(network.names.index, shown)))
    return float(influences(network, place, others).max(initial=0.0))


@lru_cache(maxsize=20_000)
def influences(network: BayesNet, place: int, shown: tuple[int, ...], sets: Sets | None = None) -> FloatArray:
    """For each two values of a parameter (or sets of them, averaged) the largest log ratio of what is shown.

    Of a class of networks it is that of the worst of them.
    """
    each = (
        _shown(one, place, shown, sets) for one in members(network, place, shown, averaged=sets is not None)
    )
    return np.asarray(np.maximum.reduce(list(each)))


def _shown(network: BayesNet, place: int, shown: tuple[int, ...], sets: Sets | None) -> FloatArray:
    weights = joint_of(network, (place, *shown)).reshape(len(network.values[place]), -1)
    if not shown:
        return np.zeros((len(sets or weights),) * 2)
    if sets is not None:
        weights = np.stack([weights[list(one)].sum(axis=0) for one in sets])
    return shown_ratios(weights, rounding_of(network))


def rounding_of(network: BayesNet) -> float:
    """Bound the relative error of a sum of products of all tables, at most one operation a table and a value each."""
    values = sum(len(values) for values in network.values)
    return 4 * ULP * (2 * network.units + values + 8)


def joint_of(network: BayesNet, places: tuple[int, ...]) -> FloatArray:
    """Give the law of some parameters, one axis each, up to a constant and rounding; of a class that of its middle."""
    sizes = [len(values) for values in network.values]
    if prod(sizes[place] for place in places) > MOST_CELLS:
        raise DoesNotApply(
            f"The parameters of {len(places)} columns have too many joint values to enumerate."
        )
    with np.errstate(under="raise", over="raise"):
        try:
            if prod(sizes) > MOST_TOGETHER:
                return network.member().joint(places, {})
            whole = whole_law(network)
        except FloatingPointError:
            raise DoesNotApply(TOO_SMALL) from None
    kept = whole.sum(axis=tuple(place for place in range(network.units) if place not in places))
    return np.asarray(kept.transpose([sorted(places).index(place) for place in places]))


@lru_cache(maxsize=8)
def whole_law(network: BayesNet) -> FloatArray:
    """Multiply a small network out."""
    law = np.ones([len(values) for values in network.values])
    for scope, table in network.member().tables:
        shape = [law.shape[place] if place in scope else 1 for place in range(law.ndim)]
        law = law * table.transpose(np.argsort(scope)).reshape(shape)
    return law
