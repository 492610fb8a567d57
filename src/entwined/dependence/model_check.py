"""What a check of a model on public data showed: figures that stand beside what must be believed."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from entwined.canonical import Document
from entwined.errors import BadModel
from entwined.showing import Tabled

MATERIAL: Final = 0.1
"""A richer law that fits better is needed if the same noise leaks more under it by this share."""
ADVERSARIES: Final = ("any", "model")
WHAT: Final = '"check"'


@dataclass(frozen=True, slots=True)
class TriedLaw:
    """A law fitted to public rows: its log loss on rows held out, in nats, and what the planned noise leaks under it.

    `answer` is the loss of an answer given all the others, `row` that of a whole row. A learner that predicts single
    answers is no law of rows, and nothing bounds what leaks under it. A bound is `loose` where a law has cycles.
    """

    law: str
    answer: float
    row: float | None = None
    leakage: float | None = None
    theorem: str = ""
    loose: bool = False

    def fits_better(self, other: "TriedLaw") -> bool:
        """Whether it predicts rows held out better than another law, by the row or by the answer."""
        rows = self.row is not None and other.row is not None and self.row < other.row
        return rows or self.answer < other.answer

    @property
    def document(self) -> Document:
        """The figures; what there is none of is left out."""
        given = {"law": self.law, "answer": self.answer, "row": self.row, "leakage": self.leakage}
        found = {key: value for key, value in given.items() if value is not None}
        found |= {"theorem": self.theorem} if self.theorem else {}
        return found | ({"loose": True} if self.loose else {})


@dataclass(frozen=True, slots=True, repr=False)
class ModelCheck(Tabled):
    """`laws` begins with the model that was checked; `law` says which of them this file holds.

    The planned noise leaks `claimed` under the first (at `delta`, where it is Gaussian) and more than that under
    those that are `needed`; noise that leaks no more under these is `price` times as large, under all `price_of_all`.
    `answers` gives by question the loss of the model and of the `learner`.
    """

    law: str
    rows: int
    knowledge: str
    claimed: float
    laws: tuple[TriedLaw, ...]
    needed: tuple[str, ...]
    price: float
    price_of_all: float
    answers: Mapping[str, tuple[float, float]]
    questions: int
    delta: str = ""

    def __post_init__(self) -> None:
        named = [one.law for one in self.laws]
        if not self.laws or len(set(named)) < len(named) or not {self.law, *self.needed} <= set(named):
            raise BadModel(
                f"{WHAT} names a law twice, or one that it has no figures of. Learn the model again."
            )
        if self.knowledge not in ADVERSARIES or self.law not in (self.laws[0].law, *self.needed):
            raise BadModel(f"{WHAT} is of another model or adversary. Learn the model again.")

    @property
    def tree(self) -> TriedLaw:
        """The model that was checked."""
        return self.laws[0]

    @property
    def richer(self) -> int:
        """How many other laws were tried."""
        return sum(one.row is not None and not one.loose for one in self.laws[1:])

    @property
    def learner(self) -> TriedLaw | None:
        """The strong learner, which is no law of rows."""
        return next((one for one in self.laws if one.row is None), None)

    def of(self, law: str) -> TriedLaw:
        """Look a law up."""
        return next(one for one in self.laws if one.law == law)

    def lacking(self, laws: Iterable[str]) -> tuple[str, ...]:
        """Name the needed laws that are not among these."""
        there = set(laws)
        return tuple(one for one in self.needed if one not in there)

    @property
    def alone(self) -> str:
        """What must be said of the tree where it stands alone; nothing if it passed."""
        if self.law != self.tree.law or not self.needed:
            return ""
        worst = self._worst(self.needed)
        return (
            f"On its own this model failed its check: noise that leaks {self.claimed:.4g} under it leaks up to "
            f"{worst.leakage or math.inf:.4g} under a law that fits the public rows better, {worst.law}. "
        )

    def _worst(self, laws: Iterable[str]) -> TriedLaw:
        return max((self.of(law) for law in laws), key=lambda one: one.leakage or 0.0)

    def failed(self, title: str, lacking: Iterable[str]) -> str:
        """Say that a model failed its check, and where."""
        worst = self._worst(lacking)
        return (
            f"THE MODEL FAILED ITS CHECK: noise that leaks {self.claimed:.4g} under {title} leaks up to "
            f"{worst.leakage or math.inf:.4g} under a law that fits the public rows better and is not declared: "
            f"{worst.law}."
        )

    @property
    def words(self) -> tuple[str, ...]:
        """What was found, one sentence each."""
        worst = max(
            (one for one in self.laws[1:] if one.leakage is not None and not one.loose),
            key=lambda one: one.leakage or 0.0,
            default=None,
        )
        said = [*self._of_learner()]
        if worst is not None:
            fit = "fits" if worst.fits_better(self.tree) else "does not fit"
            said.append(
                f"Noise that leaks {self.claimed:.4g} under {self.tree.law} leaks at most {worst.leakage:.4g} under "
                f"the worst of {self.richer} richer laws, {worst.law}: it {fit} the rows better."
            )
        said += self._of_cycles()
        if self.needed:
            said.append(
                f"To be covered, {', '.join(self.needed)} must be declared beside {self.tree.law}: it takes "
                f"{self.price:.3g} times the noise."
            )
        said.append(
            f"Noise that leaks no more under any law tried is {self.price_of_all:.3g} times as large."
        )
        return tuple(said)

    def _of_cycles(self) -> Iterable[str]:
        """Say why a bound under a law with cycles is loose; it is no part of the verdict."""
        for one in self.laws[1:]:
            if one.loose and one.leakage is not None:
                why = (
                    "profiles are passed on through forests alone, so every answer is taken to tell all about every "
                    "other"
                    if self.delta
                    else "what comes back around a cycle is counted again"
                )
                yield (
                    f"Under {one.law} the bound is {one.leakage:.4g}, by the theorem {one.theorem!r}, and loose: its "
                    f"answers hang together in cycles, and {why}. Nothing above or below rests on it."
                )

    def _of_learner(self) -> Iterable[str]:
        if self.learner is None:
            return
        beyond = self.tree.answer - self.learner.answer
        more = f"{beyond:.3g} nats beyond the model" if beyond > 0 else "nothing beyond the model"
        yield (
            f"On {self.rows:,} public rows, held out in turn, the model foretells an answer from the others with a log "
            f"loss of {self.tree.answer:.3g} nats, {self.learner.law} with {self.learner.answer:.3g} (over "
            f"{len(self.answers):,} of {self.questions:,} questions): an adversary knows {more}."
        )

    @property
    def document(self) -> Document:
        """The same as a part of a model document."""
        return {
            "law": self.law,
            "rows": self.rows,
            "knowledge": self.knowledge,
            "claimed": self.claimed,
            **({"delta": self.delta} if self.delta else {}),
            "laws": [one.document for one in self.laws],
            "needed": list(self.needed),
            "price": self.price,
            "price_of_all": self.price_of_all,
            "questions": self.questions,
            "answers": {name: list(pair) for name, pair in self.answers.items()},
        }

    @classmethod
    def from_document(cls, given: Any) -> Self:
        """Read the figures back; what is not as it was written is refused."""
        try:
            found = cls(
                law=given["law"],
                rows=int(given["rows"]),
                knowledge=given["knowledge"],
                claimed=_number(given["claimed"]),
                laws=tuple(_law(one) for one in given["laws"]),
                needed=tuple(map(str, given["needed"])),
                price=_number(given["price"]),
                price_of_all=_number(given["price_of_all"]),
                answers={str(name): _pair(given["answers"][name]) for name in given["answers"]},
                questions=int(given["questions"]),
                delta=given.get("delta", ""),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise BadModel(
                f"{WHAT} is not what `entwined learn --check` wrote. Learn the model again."
            ) from None
        if found.document != given:
            raise BadModel(f"{WHAT} has a part that nobody wrote there. Learn the model again.")
        return found


def failures(models: Sequence[tuple[str, object, ModelCheck]]) -> tuple[str, ...]:
    """Say which models, given by title, origin and check, failed it with no model of that origin to cover them."""
    said = []
    for title, origin, check in models:
        lacking = check.lacking(one.law for _, other, one in models if other == origin)
        said += [check.failed(title, lacking)] if lacking and check.law == check.tree.law else []
    return tuple(said)


def _law(given: Any) -> TriedLaw:
    row, leakage = (None if given.get(name) is None else _number(given[name]) for name in ("row", "leakage"))
    said, loose = str(given.get("theorem", "")), given.get("loose") is True
    return TriedLaw(str(given["law"]), _number(given["answer"]), row, leakage, said, loose)


def _pair(given: Any) -> tuple[float, float]:
    one, other = given
    return _number(one), _number(other)


def _number(given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < math.inf:
        raise ValueError(given)
    return float(given)
