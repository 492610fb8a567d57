"""Which theorem accepts which chain: the paper's table of conditions, asked instead of quoted."""

import math
from typing import Final, NamedTuple

import numpy as np

from entwined.bounds.blocks import block_messages_bound, block_transport_bound
from entwined.bounds.group import group_bound
from entwined.bounds.lazy_symmetric import lazy_symmetric_bound
from entwined.bounds.markov import markov_closed_form_bound
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.quilt import markov_quilt_bound
from entwined.bounds.transport import transport_bound
from entwined.dependence import Box, MarkovChain
from entwined.errors import DoesNotApply
from entwined.loss import Loss

STEPS: Final = 50
VANISHING: Final = 1e-9
THEOREMS: Final = {
    "Chakrabarti et al. (previous)": lazy_symmetric_bound,
    "Lange et al. (the paper's)": markov_closed_form_bound,
    "group": group_bound,
    "Markov quilt": markov_quilt_bound,
    "messages": message_passing_bound,
    "transport": transport_bound,
    "blocks, values known": block_messages_bound,
    "blocks": block_transport_bound,
}


class Acceptance(NamedTuple):
    """What a theorem says of a chain: every leakage above `above` can be had, or why it does not apply."""

    chain: str
    theorem: str
    above: float | None
    why_not: str


def tried_chains() -> dict[str, MarkovChain]:
    """Chains that lack one condition after the other."""
    lazy, restless = (_chain([[1 - flip, flip], [flip, 1 - flip]], [0.5, 0.5]) for flip in (0.2, 0.8))
    walk = [[0.6, 0.4, 0.0], [0.2, 0.6, 0.2], [0.0, 0.4, 0.6]]
    return {
        "binary, symmetric, lazy, stationary": lazy,
        "not lazy": restless,
        "not symmetric": _chain([[0.9, 0.1], [0.3, 0.7]], [0.75, 0.25]),
        "three states": _chain(np.full((3, 3), 0.2) + 0.4 * np.eye(3), [1 / 3] * 3),
        "not stationary": _chain([[0.8, 0.2], [0.2, 0.8]], [0.9, 0.1]),
        "start unknown": MarkovChain(STEPS, lazy.transition),
        "a transition is impossible": _chain(walk, [0.25, 0.5, 0.25]),
        "an interval for the flip": MarkovChain(
            STEPS, Box.read([[[0.75, 0.85], [0.15, 0.25]], [[0.15, 0.25], [0.75, 0.85]]], 2)
        ),
    }


def _chain(step: object, start: list[float]) -> MarkovChain:
    return MarkovChain(STEPS, Box.exact(np.asarray(step, dtype=float)), np.array(start))


def acceptances() -> list[Acceptance]:
    """Ask every theorem of every chain, with a loss that vanishes: what is left is what cannot be had."""
    found = []
    for name, chain in tried_chains().items():
        for said, theorem in THEOREMS.items():
            try:
                above = theorem(Loss.uniform(VANISHING, STEPS), chain).worst
                floor = above if above > math.sqrt(VANISHING) else 0.0
                found.append(Acceptance(name, said, floor, ""))
            except DoesNotApply as reason:
                found.append(Acceptance(name, said, None, str(reason)))
    return found
