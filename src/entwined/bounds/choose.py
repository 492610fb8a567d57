"""The smallest valid leakage over all theorems, and what each of the others says."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Generic

from entwined.bounds.affiliation import affiliation_bound
from entwined.bounds.attributes.parameter_quilt import parameter_quilt_bound
from entwined.bounds.blocks import block_messages_bound, block_transport_bound
from entwined.bounds.both_sides import both_sides_of_series_bound
from entwined.bounds.capped_messages import capped_messages_bound
from entwined.bounds.concentrated_group import concentrated_group_bound
from entwined.bounds.elimination import elimination_bound, elimination_without_knowledge_bound
from entwined.bounds.endless import (
    endless_block_messages_bound,
    endless_messages_bound,
    endless_transport_bound,
)
from entwined.bounds.endless_noise import (
    endless_gaussian_messages_bound,
    endless_separable_messages_bound,
)
from entwined.bounds.exposure import Exposure, Given
from entwined.bounds.filled_blanks import blanks_filled_bound
from entwined.bounds.forms import (
    blanks_left_out_bound,
    blanks_left_out_without_knowledge_bound,
    public_form_bound,
    public_form_without_knowledge_bound,
)
from entwined.bounds.gaussian import (
    CLIPPED_THEOREMS,
    GAUSSIAN_THEOREMS,
    METRIC_THEOREMS,
    NOISY_LINEAR_THEOREMS,
)
from entwined.bounds.gaussian_noise import (
    gaussian_group_bound,
    gaussian_messages_bound,
    gaussian_transport_bound,
)
from entwined.bounds.group import group_bound
from entwined.bounds.guarantee import promised
from entwined.bounds.hints import Hint, hints_for
from entwined.bounds.influence import influence_matrix_bound
from entwined.bounds.lazy_symmetric import lazy_symmetric_bound
from entwined.bounds.markov import markov_closed_form_bound
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.nearby import nearby_places_bound, nearby_places_without_knowledge_bound
from entwined.bounds.outside import theorems_of
from entwined.bounds.pair_messages import pair_messages_bound
from entwined.bounds.pairwise import pairwise_bound, pairwise_scale_bound
from entwined.bounds.path_blocks import path_messages_bound, path_transport_bound
from entwined.bounds.places import places_messages_bound, places_transport_bound
from entwined.bounds.quilt import markov_quilt_bound, network_quilt_bound, tree_quilt_bound
from entwined.bounds.scalar import exact_scalar_accountant_bound
from entwined.bounds.separable import (
    separable_group_bound,
    separable_messages_bound,
    separable_transport_bound,
)
from entwined.bounds.separable_blocks import separable_block_messages_bound, separable_block_transport_bound
from entwined.bounds.separable_filled import separable_blanks_filled_bound
from entwined.bounds.separable_forms import (
    separable_blanks_left_out_bound,
    separable_blanks_left_out_without_knowledge_bound,
    separable_public_form_bound,
    separable_public_form_without_knowledge_bound,
)
from entwined.bounds.series_sum import exact_scalar_of_series_bound, wasserstein_of_series_bound
from entwined.bounds.shared_parts import shared_group_bound, shared_messages_bound, shared_transport_bound
from entwined.bounds.theorem import Knowledge, Theorem
from entwined.bounds.ties import ties_and_anything_known_bound, ties_bound, ties_scale_bound
from entwined.bounds.ties_noise import (
    gaussian_ties_and_anything_known_bound,
    gaussian_ties_bound,
    separable_ties_and_anything_known_bound,
    separable_ties_bound,
)
from entwined.bounds.tilted import tilted_transport_bound
from entwined.bounds.transport import transport_bound
from entwined.bounds.walks import self_avoiding_walks_bound
from entwined.bounds.wasserstein import wasserstein_bound
from entwined.dependence import Dependence
from entwined.errors import BadInput, DoesNotApply, NoTheorem
from entwined.loss import Leakage
from entwined.showing import Tabled

NEAREST: Final = 3  # names that are told to who spelt one wrong
ROUNDING: Final = 1e-12  # two leakages this near are the same figure on another machine
THEOREMS: tuple[Theorem, ...] = (
    message_passing_bound,
    pair_messages_bound,
    capped_messages_bound,
    group_bound,
    self_avoiding_walks_bound,
    influence_matrix_bound,
    tilted_transport_bound,
    transport_bound,
    block_messages_bound,
    block_transport_bound,
    path_messages_bound,
    path_transport_bound,
    endless_messages_bound,
    endless_block_messages_bound,
    endless_transport_bound,
    markov_closed_form_bound,
    lazy_symmetric_bound,
    markov_quilt_bound,
    tree_quilt_bound,
    network_quilt_bound,
    elimination_bound,
    elimination_without_knowledge_bound,
    affiliation_bound,
    pairwise_bound,
    pairwise_scale_bound,
    ties_bound,
    ties_and_anything_known_bound,
    ties_scale_bound,
    blanks_left_out_bound,
    blanks_left_out_without_knowledge_bound,
    public_form_bound,
    public_form_without_knowledge_bound,
    *GAUSSIAN_THEOREMS,
    blanks_filled_bound,
    concentrated_group_bound,
    separable_group_bound,
    separable_messages_bound,
    separable_transport_bound,
    separable_block_messages_bound,
    separable_block_transport_bound,
    separable_blanks_left_out_bound,
    separable_blanks_left_out_without_knowledge_bound,
    separable_public_form_bound,
    separable_public_form_without_knowledge_bound,
    shared_group_bound,
    shared_messages_bound,
    shared_transport_bound,
    separable_blanks_filled_bound,
    gaussian_group_bound,
    gaussian_messages_bound,
    gaussian_transport_bound,
    separable_ties_bound,
    separable_ties_and_anything_known_bound,
    gaussian_ties_bound,
    gaussian_ties_and_anything_known_bound,
    endless_separable_messages_bound,
    endless_gaussian_messages_bound,
    exact_scalar_accountant_bound,
    wasserstein_bound,
    exact_scalar_of_series_bound,
    both_sides_of_series_bound,
    wasserstein_of_series_bound,
    *NOISY_LINEAR_THEOREMS,
    *CLIPPED_THEOREMS,
    *METRIC_THEOREMS,
    places_messages_bound,
    places_transport_bound,
    nearby_places_bound,
    nearby_places_without_knowledge_bound,
    parameter_quilt_bound,
)


@dataclass(frozen=True, slots=True)
class Said:
    """What one theorem says of a model: a leakage, or why it does not apply."""

    theorem: Theorem
    leakage: Leakage | None
    why_not: str | None


@dataclass(frozen=True, slots=True, repr=False)
class Bound(Tabled, Generic[Given]):
    """The leakage of an exposure under a model, with the theorem that proves it and what the others say."""

    model: Dependence
    exposure: Given
    knowledge: Knowledge
    theorem: Theorem
    leakage: Leakage
    alternatives: tuple[Said, ...]
    trusting: tuple[str, ...] = ()

    @property
    def guarantee(self) -> str:
        """What is promised, in plain words."""
        return promised(self.leakage.worst, self.knowledge, self.theorem, self.model, self.exposure)

    def hints(self) -> tuple[Hint, ...]:
        """What further knowledge would lower it, each with the figure that `bound` then gives."""
        return hints_for(self, lambda *asked: bound(*asked, trusting=self.trusting).leakage.worst)


def bound(
    model: Dependence, exposure: Given, knowledge: Knowledge = "any", *, trusting: Sequence[str] = ()
) -> Bound[Given]:
    """Bound what an adversary who knows the dependence learns about each unit.

    `trusting` names installed distributions whose own theorems are asked too.

    >>> from entwined.dependence import Box, MarkovChain
    >>> from entwined.loss import Loss
    >>> chain = MarkovChain(100, Box.exact([[0.9, 0.1], [0.1, 0.9]]))
    >>> proved = bound(chain, Loss.uniform(0.1, units=100))
    >>> proved.theorem.name, round(proved.leakage.worst, 3)
    ('message passing', 0.893)
    """
    asked = theorems_taking(type(exposure), trusting)
    said = tuple(ask(theorem, model, exposure, knowledge) for theorem in asked)
    proofs = [(answer, answer.leakage) for answer in said if answer.leakage is not None]
    if not proofs:
        raise NoTheorem(
            f"No theorem bounds this {model.kind} model: "
            + " ".join(f"{answer.theorem.name}: {answer.why_not}" for answer in said)
        )
    best, leakage = _least(proofs)
    others = tuple(answer for answer in said if answer is not best)
    return Bound(model, exposure, knowledge, best.theorem, leakage, others, tuple(trusting))


def _least(proofs: Sequence[tuple[Said, Leakage]]) -> tuple[Said, Leakage]:
    """Give the proof of the least worst leakage; of those that are alike, that with the least in all."""
    for size in (lambda leakage: leakage.worst, lambda leakage: float(leakage.per_unit.sum())):
        if len(proofs) > 1:
            sizes = [size(leakage) for _, leakage in proofs]
            most = min(sizes) * (1 + ROUNDING)
            proofs = [proof for proof, one in zip(proofs, sizes, strict=True) if one <= most]
    return proofs[0]


def theorems_taking(kind: type[Exposure], trusting: Sequence[str] = ()) -> tuple[Theorem, ...]:
    """Give the theorems that start from such exposures, with those of the distributions that are trusted."""
    return tuple(theorem for theorem in known(trusting) if theorem.takes is kind)


def known(trusting: Sequence[str] = ()) -> tuple[Theorem, ...]:
    """Give all theorems of the package, and those of the distributions that are trusted."""
    return (*THEOREMS, *theorems_of(trusting)) if trusting else THEOREMS


def ask(theorem: Theorem, model: Dependence, exposure: Exposure, knowledge: Knowledge) -> Said:
    """Ask one theorem."""
    if not theorem.covers(knowledge):
        return Said(theorem, None, not_covered(theorem))
    try:
        return Said(theorem, theorem(exposure, model), None)
    except DoesNotApply as reason:
        return Said(theorem, None, str(reason))


def not_covered(theorem: Theorem) -> str:
    """Say which adversary a theorem is about."""
    knows = "the values of other units or nothing of them" if theorem.knowledge == "values" else "no values"
    return f"It covers only an adversary who knows {knows}; ask with knowledge {theorem.knowledge!r}."


def named(name: str) -> Theorem:
    """Look a theorem up by its name."""
    for theorem in THEOREMS:
        if theorem.name == name:
            return theorem
    near = get_close_matches(str(name), [known.name for known in THEOREMS], n=NEAREST, cutoff=0.0)
    raise BadInput(
        f"There is no theorem {name!r:.60}. The nearest of {len(THEOREMS)} are: {', '.join(near)}."
    )
