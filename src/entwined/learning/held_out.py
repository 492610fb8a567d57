"""How well laws foretell rows that they were not fitted to, beside a strong learner; log losses in nats."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from entwined.dependence import BayesNet
from entwined.learning.beliefs import beliefs
from entwined.learning.codes import NOT_ASKED, Codes
from entwined.learning.hidden_causes import Answers
from entwined.learning.pairs import PairCounts, pair_counts
from entwined.learning.strong_learner import foretold
from entwined.numbers import FloatArray
from entwined.progress import report

FOLDS: Final = 3
SCORED: Final = 32  # questions that are scored: half of them tell most, half are spread over the rest


@dataclass(frozen=True, eq=False)
class PublicRows:
    """Public rows, counted once for all laws that are fitted to them."""

    codes: Codes
    answers: Answers
    pairs: PairCounts

    @classmethod
    def of(cls, codes: Codes) -> "PublicRows":
        """Count them."""
        return cls(codes, Answers.of(codes), pair_counts(codes))


Fit: TypeAlias = Callable[[PublicRows], BayesNet]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The mean log loss of a row, and of each scored answer given the others; a learner has none of rows."""

    row: float | None
    answers: FloatArray

    @property
    def answer(self) -> float:
        """The mean over the scored questions."""
        return float(self.answers.mean())


def questions_scored(codes: Codes, most: int = SCORED) -> tuple[int, ...]:
    """Choose questions: half are those with the strongest ties, the others are spread over the rest."""
    told = pair_counts(codes).information.copy()
    np.fill_diagonal(told, 0.0)
    order = np.argsort(-told.max(axis=1, initial=0.0), kind="stable")
    strongest, rest = order[: most // 2], order[most // 2 :]
    step = max(1, -(-len(rest) // (most - most // 2)))
    return tuple(sorted([*strongest.tolist(), *rest[::step].tolist()]))


def losses_held_out(
    codes: Codes, laws: Mapping[str, Fit], scored: Sequence[int], learner: str, beside: str
) -> dict[str, HeldOut]:
    """Fit each law to all rows but those of a fold, score it on these, and go on to the next fold.

    The `learner` is scored under its own name; it knows what the law `beside` it says. Every third row is in one
    fold, so that files in some order are cut fairly.
    """
    fold = np.arange(codes.rows) % FOLDS
    places, turns = list(scored), FOLDS * (len(laws) + 1)
    rows, sums = dict.fromkeys(laws, 0.0), dict.fromkeys([*laws, learner], np.zeros(len(places)))
    for turn in range(FOLDS):
        seen, rest = PublicRows.of(codes.some(fold != turn)), codes.some(fold == turn)
        for at, (name, fit) in enumerate(laws.items()):
            report("rows held out", turn * (len(laws) + 1) + at, turns)
            found = beliefs(fit(seen), rest)
            rows[name] += float(found.rows.sum())
            sums[name] = sums[name] + found.answers[:, places].sum(axis=0)
            if name == beside:
                told = foretold(seen.codes, rest, places, seen.pairs.information, found.answers)
                sums[learner] = sums[learner] + told.sum(axis=0)
    asked = np.maximum((codes.values[:, places] != NOT_ASKED).sum(axis=0), 1)
    scores = {name: HeldOut(-rows[name] / codes.rows, -sums[name] / asked) for name in laws}
    return scores | {learner: HeldOut(None, -sums[learner] / asked)}
