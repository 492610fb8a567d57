"""Questionnaires in several forms, drawn at random, each asking some of the questions."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from entwined.dependence import BayesNet, Dependence, Source
from entwined.errors import BadModel
from entwined.loss import Loss
from entwined.numbers import FloatArray, round_up

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Forms(Dependence):
    """`answers` is the law of what a respondent would answer to all questions, whatever the form.

    `asked[s, j]` says whether form s asks question j. `filling[j]` is the public law that blanks of question j are
    filled by, if they are. The units are the questions in their order, and then the form itself.
    """

    answers: BayesNet
    form: str
    asked: Flags
    filling: tuple[FloatArray, ...] = ()
    kind: ClassVar[str] = "forms"
    plural: ClassVar[str] = "questionnaires in forms"

    def __post_init__(self) -> None:
        if self.form in self.answers.names:
            raise BadModel(f"The form {self.form!r} is among the questions. Learn from the questions alone.")
        if self.asked.dtype != np.bool_ or self.asked.shape[1:] != (self.answers.units,):
            raise BadModel(
                "Which form asks what needs one truth value a form and question. Give such a table."
            )
        if not self.asked.any(axis=0).all():
            name = self.answers.names[int(np.argmin(self.asked.any(axis=0)))]
            raise BadModel(f"No form asks the question {name!r}. Leave it out.")
        sizes = [len(values) for values in self.answers.values]
        if self.filling and [law.shape for law in self.filling] != [(size,) for size in sizes]:
            raise BadModel("The laws that fill blanks do not fit the questions. Give one chance an answer.")

    @property
    def source(self) -> Source:  # type: ignore[override]  # where the law of the answers comes from
        """Where the law of the answers comes from."""
        return self.answers.source

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
    def document(self) -> dict[str, Any]:
        """The model as fields of a file."""
        asked = [
            [name for name, there in zip(self.answers.names, row, strict=True) if there]
            for row in self.asked.tolist()
        ]
        filling = {"filling": [law.tolist() for law in self.filling]} if self.filling else {}
        return {
            "kind": self.kind,
            "form": self.form,
            "asked": asked,
            "answers": self.answers.document,
            **filling,
        }

    def group_totals(self, loss: Loss) -> FloatArray:
        """Everything has a bearing on everything that the form decides."""
        return np.full(self.units, round_up(loss.per_unit.sum(), self.units))
