"""Does the model hold? A tree held against richer laws and a strong learner, on the public rows it was learned from.

(a) Rows are held out in turn. How well does each law foretell an answer from the others, and a strong learner? What
    the learner knows beyond the tree, in nats, a real adversary may know as well.
(b) Fitted to all rows, what does the planned noise leak under each of the richer laws? One that fits better and under
    which over a tenth more leaks is needed: the promise has to be kept under it, too. A network of two parents has
    cycles, under which a bound may be far above what leaks: it is shown, and is no part of the verdict. Gaussian noise
    is bounded under it as if every answer told all about every other, for messages of profiles need a forest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeAlias

from entwined.bounds import ConcentratedLoss, Knowledge
from entwined.bounds.affiliation import affiliation_bound
from entwined.bounds.choose import ask
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.separable import (
    separable_group_bound,
    separable_messages_bound,
    separable_transport_bound,
)
from entwined.bounds.theorem import Theorem
from entwined.bounds.transport import transport_bound
from entwined.canonical import fraction_text
from entwined.dependence import BayesNet, ModelCheck, TriedLaw
from entwined.dependence.model_check import MATERIAL
from entwined.errors import BadInput, NoTheorem
from entwined.learning.codes import NOT_ASKED, Codes
from entwined.learning.held_out import Fit, HeldOut, PublicRows, losses_held_out, questions_scored
from entwined.learning.hidden_causes import hidden_root, star
from entwined.learning.models import SMOOTHING, Learned, smoothed, smoothed_tree
from entwined.learning.origin import learned_model
from entwined.learning.strong_learner import NAME, require_learner
from entwined.learning.structure import network
from entwined.loss import Loss
from entwined.progress import report

FEWEST_ROWS: Final = 60
CLASSES: Final = tuple(range(2, 11))
HIDDEN_ROOTS: Final = (2, 5, 10)
TREE: Final = "a tree"
NETWORK: Final = "a network of two parents"
ENOUGH: Final = 0.01  # how closely a price is found
STEPS: Final = 24
THEOREMS: Final[tuple[Theorem, ...]] = (
    message_passing_bound,
    transport_bound,
    affiliation_bound,
    separable_messages_bound,
    separable_transport_bound,
    separable_group_bound,
)

Planned: TypeAlias = Loss | ConcentratedLoss


@dataclass(frozen=True, eq=False)
class Checked:
    """A tree with what its check showed, and the richer laws that must be declared beside it."""

    tree: Learned
    covering: tuple[Learned, ...]
    figures: ModelCheck


@dataclass(frozen=True, eq=False)
class Trial:
    """Laws of the same columns, and noise that is held against each of them."""

    models: Mapping[str, BayesNet]
    planned: Planned
    knowledge: Knowledge
    known: dict[tuple[str, float], tuple[float, str]] = field(default_factory=dict)

    def leaks(self, law: str, multiple: float = 1.0) -> tuple[float, str]:
        """Bound what so many times the planned losses leak under a law, by the best of a few theorems; once."""
        if (law, multiple) not in self.known:
            self.known[law, multiple] = self._leaks(law, multiple)
        return self.known[law, multiple]

    def known_leaks(self, law: str) -> tuple[float | None, str]:
        """The same, or nothing where no theorem that is quick enough bounds it."""
        try:
            return self.leaks(law)
        except NoTheorem:
            return None, ""

    def is_forest(self, law: str) -> bool:
        """Whether a law has no cycles: elsewhere bounds are valid and may be far above what leaks."""
        return self.models[law].couplings.acyclic

    def _leaks(self, law: str, multiple: float) -> tuple[float, str]:
        model = self.models[law]
        losses = (self.planned * multiple).padded(model.units)
        asked = (ask(one, model, losses, self.knowledge) for one in THEOREMS if one.takes is type(losses))
        proved = [(said.leakage.worst, said.theorem.name) for said in asked if said.leakage is not None]
        if not proved:
            raise NoTheorem(f"No theorem bounds what such losses leak under {law}. Plan other noise.")
        return min(proved)

    def price(self, laws: Sequence[str], claimed: float) -> float:
        """Say by what factor noise grows that leaks no more than was claimed under any of these laws."""
        multiple, power = 1.0, 2 if self.planned.delta else 1
        for law in sorted(laws, key=lambda one: -self.leaks(one)[0]):
            leaked = self.leaks(law, multiple)[0]
            for _ in range(STEPS):
                if leaked <= claimed:
                    break
                multiple *= ((1 - ENOUGH) * claimed / leaked) ** power
                leaked = self.leaks(law, multiple)[0]
            else:
                raise NoTheorem(f"No noise was found that leaks {claimed:g} under {law}. Plan other noise.")
        return float((1 / multiple) ** (1 / power))

    def needed(self, candidates: Sequence[TriedLaw], claimed: float) -> tuple[str, ...]:
        """Take the worst law, then the worst that noise for those taken does not cover, until all are covered."""
        taken: list[str] = []
        left = sorted(candidates, key=lambda one: -(one.leakage or 0.0))
        for one in left:
            multiple = self.price(taken, claimed) ** -(2 if self.planned.delta else 1)
            if self.leaks(one.law, multiple)[0] > claimed * (1 + MATERIAL):
                taken.append(one.law)
        return tuple(taken)


def check(
    learned: Learned,
    codes: Codes,
    planned: Planned,
    knowledge: Knowledge,
    *,
    classes: Sequence[int] = CLASSES,
) -> Checked:
    """Hold a tree against latent classes, trees with a hidden root and a strong learner.

    `codes` are the public rows that it was learned from, and `planned` what a release would show of every column.
    """
    refuse_uncheckable(learned.model, codes, planned)
    require_learner()
    laws = laws_tried(classes, learned.smoothing, blanks=bool((codes.values == NOT_ASKED).any()))
    scored = questions_scored(codes)
    scores = losses_held_out(codes, laws, scored, NAME, TREE)
    rows = PublicRows.of(codes)
    fitted = {name: learned.model if name == TREE else fit(rows) for name, fit in laws.items()}
    trial = Trial(fitted, planned, knowledge)
    tried: list[TriedLaw] = []
    for name in fitted:
        report("what leaks under richer laws", len(tried), len(fitted))
        loose = not trial.is_forest(name)
        tried.append(TriedLaw(name, scores[name].answer, scores[name].row, *trial.known_leaks(name), loose))
    figures = _figures(trial, tried, scores, codes)
    names = [codes.names[at] for at in scored]
    pairs = zip(scores[TREE].answers.tolist(), scores[NAME].answers.tolist(), strict=True)
    return _carried(learned, codes, fitted, replace(figures, answers=dict(zip(names, pairs, strict=True))))


def laws_tried(
    classes: Sequence[int], smoothing: float = SMOOTHING, *, blanks: bool = False
) -> dict[str, Fit]:
    """List the laws that are fitted, the tree first; a network of two parents only where all answers are there."""
    laws: dict[str, Fit] = {TREE: lambda rows: smoothed_tree(rows.codes, rows.pairs, smoothing)}
    laws |= {f"{count} latent classes": partial(_star, count) for count in classes}
    roots = [count for count in HIDDEN_ROOTS if count in classes]
    if not blanks:
        laws[NETWORK] = lambda rows: smoothed(rows.codes, network(rows.pairs, 2), smoothing)
    return laws | {f"a tree with a hidden root of {count} classes": partial(_root, count) for count in roots}


def _star(count: int, rows: PublicRows) -> BayesNet:
    return star(rows.answers, count)


def _root(count: int, rows: PublicRows) -> BayesNet:
    return hidden_root(rows.answers, rows.pairs, count)


def refuse_uncheckable(model: BayesNet, codes: Codes, planned: Planned) -> None:
    """Refuse what cannot be held against other laws."""
    if any(len(each) > 1 for each in model.parents) or not all(
        block.table.is_exact for block in model.blocks
    ):
        raise BadInput("A check takes a tree with smoothed counts. Leave --parents and --confidence out.")
    if codes.rows < FEWEST_ROWS or len(codes.names) < 3:  # noqa: PLR2004  (two columns have no common cause to find)
        raise BadInput(
            f"A check of {len(codes.names)} columns on {codes.rows} rows shows nothing. Give three columns and "
            f"{FEWEST_ROWS} rows at least."
        )
    if planned.units != model.units:
        raise BadInput(f"The planned noise is over {planned.units} columns, the model over {model.units}.")


def _figures(trial: Trial, tried: list[TriedLaw], scores: Mapping[str, HeldOut], codes: Codes) -> ModelCheck:
    tree = tried[0]
    claimed = tree.leakage or 0.0
    bounded = [one for one in tried[1:] if one.leakage is not None and not one.loose]
    more = [one for one in bounded if (one.leakage or 0.0) > claimed * (1 + MATERIAL)]
    needed = trial.needed([one for one in more if one.fits_better(tree)], claimed)
    return ModelCheck(
        law=TREE,
        rows=codes.rows,
        knowledge=trial.knowledge,
        claimed=claimed,
        laws=(*tried, TriedLaw(NAME, scores[NAME].answer)),
        needed=needed,
        price=trial.price(needed, claimed),
        price_of_all=trial.price([one.law for one in bounded], claimed),
        answers={},
        questions=len(codes.names),
        delta=fraction_text(trial.planned.delta) if trial.planned.delta else "",
    )


def _carried(learned: Learned, codes: Codes, fitted: Mapping[str, BayesNet], figures: ModelCheck) -> Checked:
    """Let every model that is to be declared carry the figures."""
    tree = replace(learned, model=replace(learned.model, check=figures))
    covering = [
        Learned(
            learned_model(
                replace(fitted[law], check=replace(figures, law=law)), codes.learned_from(learned.table)
            ),
            learned.table,
            learned.rows,
            f"{law}, {SMOOTHING:g} added to every count",
        )
        for law in figures.needed
    ]
    return Checked(tree, tuple(covering), figures)
