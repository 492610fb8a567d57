"""Questionnaires in several forms, drawn at random, each asking some of the questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from entwined.canonical import Document
from entwined.dependence.bayes_net import BayesNet
from entwined.dependence.learned_from import LearnedFrom
from entwined.dependence.model import Dependence, Source
from entwined.dependence.model_check import ModelCheck
from entwined.dependence.narrower import Tie
from entwined.dependence.product_law import ProductLaw
from entwined.errors import BadModel, DoesNotApply
from entwined.loss import Loss
from entwined.numbers import BoolArray, FloatArray, round_up

Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Forms(Dependence):
    """`answers` is the law of what a respondent would answer to all questions, whatever the form.

    `asked[s, j]` says whether form s asks question j; forms are in the order of the codes of the column `form`.
    The units are the questions in their order, and then the form itself. What stands in the cell of a question
    that was not asked is no answer: it is not among the values of `answers`. With `public`, who had which form is
    known to everybody, and only answers are secret.
    """

    answers: BayesNet
    form: str
    asked: Flags
    public: bool = field(default=False, kw_only=True)
    kind: ClassVar[str] = "forms"
    plural: ClassVar[str] = "questionnaires in forms"

    def __post_init__(self) -> None:
        if self.form in self.answers.names:
            raise BadModel(
                f"The form {self.form!r:.60} is among the questions. Describe the answers without it."
            )
        if self.asked.dtype != np.bool_ or self.asked.shape[1:] != (self.answers.units,):
            raise BadModel(
                "Which form asks what needs one truth value a form and question. Give such a table."
            )
        if not self.asked[:, list(self.answers.hidden)].all():
            raise BadModel("A form leaves out a hidden quantity. No form asks it or leaves it out.")
        if not self.asked.any(axis=0).all():
            name = self.answers.names[int(np.argmin(self.asked.any(axis=0)))]
            raise BadModel(f"No form asks the question {name!r:.60}. Leave it out.")
        self.asked.flags.writeable = False

    @classmethod
    def of(cls, answers: BayesNet, form: str, asked: list[list[str]], *, public: bool = False) -> "Forms":
        """Look up by name which questions each form asks."""
        places = {name: place for place, name in enumerate(answers.names)}
        table = np.zeros((len(asked), answers.units), dtype=np.bool_)
        table[:, list(answers.hidden)] = True  # no form leaves out what is in no table
        for number, names in enumerate(asked):
            for name in names:
                if name not in places:
                    raise BadModel(
                        f"Form {number + 1} asks {name!r:.60}, which is no question of the answers. Describe it."
                    )
                if places[name] in answers.hidden:
                    raise BadModel(f"Form {number + 1} asks {name!r:.60}, which is hidden. Leave it out.")
                if table[number, places[name]]:
                    raise BadModel(f"Form {number + 1} asks {name!r:.60} twice. List it once.")
                table[number, places[name]] = True
        return cls(answers, form, table, public=public)

    @property
    def source(self) -> Source:  # type: ignore[override]  # a model of forms has none beside that of its answers
        """Where the law of the answers comes from."""
        return self.answers.source

    @property
    def learned_from(self) -> LearnedFrom | None:  # type: ignore[override]  # that of its answers
        """What the law of the answers was learned from."""
        return self.answers.learned_from

    @property
    def check(self) -> ModelCheck | None:  # type: ignore[override]  # that of its answers
        """What a check of the law of the answers showed."""
        return self.answers.check

    @property
    def hidden(self) -> tuple[int, ...]:  # type: ignore[override]  # those of its answers
        """What the answers have in common that no question asks."""
        return self.answers.hidden

    @property
    def unprotected(self) -> tuple[int, ...]:
        """What is hidden, and a form that is public."""
        return (*self.hidden, self.units - 1) if self.public else self.hidden

    @property
    def has_values(self) -> bool:
        """It says which values its units take."""
        return True

    @property
    def units(self) -> int:
        """The questions and the form."""
        return self.answers.units + 1

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, the form last."""
        return (*self.answers.names, self.form)

    @property
    def gated(self) -> Flags:
        """Which questions some forms leave out."""
        return np.asarray(~self.asked.all(axis=0))

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        asked = [
            [
                name
                for at, (name, there) in enumerate(zip(self.answers.names, row, strict=True))
                if there and at not in self.hidden
            ]
            for row in self.asked.tolist()
        ]
        public = {"public": True} if self.public else {}
        return {
            "kind": self.kind,
            "form": self.form,
            **public,
            "asked": asked,
            "answers": self.answers.document,
        }

    def group_totals(self, loss: Loss) -> FloatArray:
        """Everything has a bearing on everything that the form decides."""
        return np.full(self.units, round_up(loss.per_unit.sum(), self.units))

    def member(self, values: int = 2) -> ProductLaw:  # noqa: ARG002  (there is none)
        """Refuse: how often each form is drawn is not said."""
        raise DoesNotApply(
            "A questionnaire in forms does not say how often each is drawn. Attack its `answers`."
        )

    def times_as_strong(self, factor: float) -> "Forms":
        """Let the answers depend on each other more."""
        return replace(self, answers=self.answers.times_as_strong(factor))

    def possible(self) -> Sequence[BoolArray]:
        """The answers that no zero rules out; any form."""
        return self.answers.possible()

    def called(self, place: int) -> str:
        """Name a question, or the form."""
        return f"{self.names[place]!r:.60}"

    def ties(self, place: int) -> Iterator[Tie["Forms"]]:
        """Give what ties the answer to a question to others."""
        for tie in self.answers.ties(place) if place < self.answers.units else ():

            def weaker(factor: float, tie: Tie[BayesNet] = tie) -> "Forms":
                return replace(self, answers=tie.times_as_strong(factor))

            yield Tie(tie.name, tie.log_odds, weaker)
