"""Whether models that are declared beside each other can all be true.

Ties take those tied to someone to be independent of each other given that one, and all others to say nothing. In a
joint law that joins three or more units there is one given which the others are not independent, and one that joins two
that are not tied speaks for itself. So such laws beside ties are refused: their own bounds are sound, and that of ties
would be too low. The exclusive or of two fair bits is the plainest case: no two of the three say anything about each
other, and two of them say all about the third.
"""

from collections.abc import Sequence
from itertools import permutations
from typing import Final

import numpy as np

from entwined.dependence import BayesNet, Chained, Coupled, Forms, RandomField, Ties
from entwined.errors import Refused
from entwined.numbers import IntArray
from entwined.promise.declared import Declared
from entwined.schema import Schema

PAIR: Final = 2


def refuse_contradictions(declared: Sequence[Declared], schema: Schema) -> None:
    """Refuse ties beside a joint law in which they cannot be what they are taken for."""
    for ties, joint in permutations(declared, 2):
        if isinstance(ties.model, Ties):
            said = _contradiction(ties, ties.model, joint, schema)
            if said:
                raise Refused(
                    f"The model {ties.title!r} takes those tied to one to be independent of each other given that one, "
                    f"and all others to say nothing about it, but in the model {joint.title!r} {said} Leave one of the "
                    "two out: the joint law has bounds of its own."
                )


def _contradiction(ties: Declared, model: Ties, joint: Declared, schema: Schema) -> str:
    law = joint.model.answers if isinstance(joint.model, Forms) else joint.model
    if not isinstance(law, BayesNet | RandomField | Chained):
        return ""
    joined = _largest_joined(law)
    names = joint.variables(schema) if schema.unit.by_column else ()
    if len(joined) > PAIR:
        listed = f" ({', '.join(repr(names[place]) for place in joined[:3].tolist())}, …)" if names else ""
        return f"{len(joined)} units depend on each other{listed}."
    if not names:
        return ""
    own = ties.variables(schema)
    tied = {frozenset(own[end] for end in pair) for pair in model.ends.tolist()}
    for pair in law.couplings.binding.unit.reshape(-1, PAIR).tolist():
        one, other = (names[end] for end in pair)
        if frozenset((one, other)) not in tied:
            return f"{one!r} and {other!r} depend on each other, and they are not tied."
    return ""


def _largest_joined(law: Coupled) -> IntArray:
    """The units of the largest set that depend on each other; hidden ones are no units of a table."""
    labels = np.delete(law.couplings.components, list(law.hidden))
    places = np.delete(np.arange(law.units), list(law.hidden))
    return np.asarray(places[labels == np.bincount(labels).argmax()])
