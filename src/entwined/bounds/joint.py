"""The whole joint law of each small connected component of a model."""

from dataclasses import dataclass
from math import prod

import numpy as np

from entwined.bounds.kernel import TOO_SMALL
from entwined.dependence import BayesNet, Box, Coupled, MarkovChain, RandomField
from entwined.dependence.factors import Factors
from entwined.errors import DoesNotApply
from entwined.numbers import FloatArray


@dataclass(frozen=True, eq=False, slots=True)
class Joint:
    """The law of some units, one axis a unit, without the values that never occur."""

    units: tuple[int, ...]
    law: FloatArray


def component_joints(model: Coupled, most_units: int, most_cells: int) -> list[Joint]:
    """Multiply the factors of each component, if each is small enough and the law is known."""
    labels = model.couplings.components
    counts = np.bincount(labels)
    if counts.max() > most_units:
        raise DoesNotApply(
            f"Units depend on each other in sets too large to enumerate ({counts.max()} units)."
        )
    blocks, sizes = factors_of(model)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(counts)[:-1])
    if max(prod(sizes[unit] for unit in units.tolist()) for units in members) > most_cells:
        raise DoesNotApply("Units that depend on each other have too many joint values to enumerate.")
    laws = [np.ones([sizes[unit] for unit in units.tolist()]) for units in members]
    place = np.empty(model.units, np.int64)
    for units in members:
        place[units] = np.arange(units.size)
    with np.errstate(under="raise", over="raise"):
        try:
            for block in blocks:
                for scope, table in zip(block.scope.tolist(), block.table.low, strict=True):
                    multiply(laws, labels.tolist(), place.tolist(), scope, table)
            return [possible(tuple(units.tolist()), law) for units, law in zip(members, laws, strict=True)]
        except FloatingPointError:
            raise DoesNotApply(TOO_SMALL) from None


def multiply(
    laws: list[FloatArray], labels: list[int], place: list[int], scope: list[int], table: FloatArray
) -> None:
    """Multiply one factor into the law of its component; one that binds nothing may reach over several."""
    for component in {labels[unit] for unit in scope}:
        inside = [axis for axis, unit in enumerate(scope) if labels[unit] == component]
        outside = tuple(axis for axis in range(len(scope)) if axis not in inside)
        part = (
            table.max(axis=outside) if outside else table
        )  # the factor splits, so any slice is the part up to scale
        axes = [place[scope[axis]] for axis in inside]
        law = laws[component]
        shape = [law.shape[axis] if axis in axes else 1 for axis in range(law.ndim)]
        laws[component] = law * part.transpose(np.argsort(axes)).reshape(shape)


def possible(units: tuple[int, ...], law: FloatArray) -> Joint:
    """Scale to 1 and leave out values of probability zero: they are no secrets and show nothing."""
    total = law.sum()
    if not total > 0:
        raise DoesNotApply("The factors rule out every joint value, so there is no law to speak of.")
    law = law / total
    for axis in range(law.ndim):
        others = tuple(other for other in range(law.ndim) if other != axis)
        law = np.compress(law.sum(axis=others) > 0, law, axis=axis)
    return Joint(units, law)


def factors_of(model: Coupled) -> tuple[tuple[Factors, ...], list[int]]:
    """All factors of a model whose law is fully known, with the number of values of each unit."""
    if isinstance(model, BayesNet):
        blocks, sizes = model.blocks, [len(values) for values in model.values]
    elif isinstance(model, RandomField):
        blocks, sizes = model.blocks, list(model.sizes)
    elif isinstance(model, MarkovChain) and model.initial is not None:
        steps = np.arange(model.length - 1)
        moves = np.broadcast_to(model.transition.low, (steps.size, *model.transition.shape))
        start = Factors(np.array([[0]]), Box.exact(model.initial[None]), conditional=True)
        chain = Factors(np.stack([steps, steps + 1], axis=1), Box.exact(moves), conditional=True)
        blocks, sizes = (start, chain), [model.states] * model.length
        if not model.transition.is_exact:
            raise DoesNotApply("The class has many members; enumeration needs one law.")
    else:
        raise DoesNotApply(
            "It needs one joint law, and this model leaves it open (no initial law, or only strengths)."
        )
    if not all(block.table.is_exact for block in blocks):
        raise DoesNotApply("The class has many members; enumeration needs one law.")
    return blocks, sizes
