"""A survey's histograms planned as a whole: what is merged, what is left out or filled, and how losses are shared.

The error counted is the expected squared distance of all histograms from the true ones, every column and every
cell of it, whether it is released itself or worked out from what is.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Final, TypeAlias

import numpy as np

from entwined.bounds import Knowledge
from entwined.bounds.allocate import Shared
from entwined.bounds.filled_blanks import laws_of_columns
from entwined.bounds.profiles.curves import largest_shift
from entwined.dependence import BayesNet, Forms
from entwined.errors import BadInput, Refused
from entwined.learning.check import Checked
from entwined.learning.codes import Codes
from entwined.learning.models import SMOOTHING, Learned, learn
from entwined.noise.lattice import probability
from entwined.numbers import FloatArray
from entwined.queries import FilledHistogram, Histogram, Query
from entwined.queries.predicate import codes_in
from entwined.schema import Schema
from entwined.showing import Glimpse, Seen, Tabled
from entwined.survey.sense import Blank, Decided, Form
from entwined.survey.sharing import OnForms, OnTree, UnderNoise

MOVED: Final = 2.0  # changing an answer moves two cells of a histogram by one each
OF_SCALE: Final = 2.0  # the variance of Laplace noise is twice its squared scale
WEIGHED: Final = 10**12  # the sum of the weights by which blanks are filled, about
PLAIN: Final = "plain {} noise"
GROUPED: Final = "Gaussian noise with all answers as one group"

UNSURE: Final = 0.15  # what is foretold of an error may be so much too large

Weights: TypeAlias = dict[str, float]


@dataclass(frozen=True, eq=False, repr=False)
class Survey(Seen):
    """A public table of the same questions, and what the holder confirmed about them.

    `decided` columns are worked out from others, and `form` says who was asked what; with `public_form` everybody
    may know who that was, and only answers are secret. Missing is an answer, the last of each column, but for those
    of `missing_says_nothing`; histograms of `dropped` columns do not count it. With `checked` the tree is the one that
    was held against richer laws, and those that it needs are declared beside it.
    """

    pilot: Codes
    table: str
    decided: tuple[Decided, ...] = ()
    form: Form | None = None
    smoothing: float = SMOOTHING
    public_form: bool = False
    missing_says_nothing: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    checked: Checked | None = None

    def __post_init__(self) -> None:
        away = {one.column for one in self.decided}
        if any(one.by in away for one in self.decided):
            raise BadInput("A column decides another and is decided itself. Confirm one of the two.")
        if self.form is not None and self.form.column in away:
            raise BadInput(f"The form {self.form.column!r} is worked out from a question. Keep it.")
        for name in self.unsaid:
            if name in self.blanks and self._is_missing(self.blanks[name]):
                raise BadInput(
                    f"Where {name!r} is missing the form did not ask it, so that it says something. Do not "
                    "confirm that it says nothing."
                )

    @property
    def glimpse(self) -> Glimpse:
        """What is seen of it at a glance."""
        caption = (
            f"Survey of {len(self.pilot.names)} columns, {len(self.released)} with a histogram, {len(self.decided)} "
            "worked out from others"
        )
        return Glimpse(
            caption, {"column": self.released, "answers": [self.cells[name] for name in self.released]}
        )

    @cached_property
    def released(self) -> tuple[str, ...]:
        """The columns with a histogram of their own, the form last."""
        away = {one.column for one in self.decided} | ({self.form.column} if self.form else set())
        return (*(name for name in self.pilot.names if name not in away), *self._form)

    @property
    def _form(self) -> tuple[str, ...]:
        return (self.form.column,) if self.form else ()

    @cached_property
    def blanks(self) -> Mapping[str, Blank]:
        """The questions among those released that some forms do not ask."""
        found = self.form.blanks if self.form else ()
        return {one.column: one for one in found if one.column in self.released}

    def _is_missing(self, blank: Blank) -> bool:
        return blank.code == self.pilot.sizes[self.pilot.place(blank.column)] - 1

    @cached_property
    def unsaid(self) -> tuple[str, ...]:
        """The questions of the model from which missing is left out."""
        away = {*self._form, *(one.column for one in self.decided)}
        return tuple(name for name in self.missing_says_nothing if name not in away)

    @cached_property
    def cells(self) -> Mapping[str, int]:
        """How many answers the histogram of each column counts."""
        sizes = zip(self.pilot.names, self.pilot.sizes, strict=True)
        return {name: size - (name in self.dropped) for name, size in sizes}

    @cached_property
    def learned(self) -> Learned:
        """The tree of the questions, learned from those who were asked."""
        if self.checked is not None:
            return self.checked.tree
        return learn(self.answered, self.table, smoothing=self.smoothing)

    @cached_property
    def answered(self) -> Codes:
        """The answers that the tree is learned from."""
        questions = [name for name in self.released if name not in self._form]
        codes = self.pilot.only(questions).without_missing(self.unsaid)
        return codes.without_blanks({name: one.code for name, one in self.blanks.items()})

    @cached_property
    def forms(self) -> Forms | None:
        """The questionnaire in forms, if it is one."""
        return None if self.form is None else self._in_forms(self.learned.model, self.form)

    def _in_forms(self, answers: BayesNet, form: Form) -> Forms:
        return replace(forms_of(answers, form, self.pilot), public=self.public_form)

    @cached_property
    def beside(self) -> tuple[tuple[str, BayesNet | Forms], ...]:
        """The richer laws that have to be declared beside the tree, by title."""
        needed = self.checked.covering if self.checked is not None else ()
        form = self.form
        return tuple(
            (one.title, one.model if form is None else self._in_forms(one.model, form)) for one in needed
        )

    def terms(self, knowledge: Knowledge, *, filled: bool = False) -> OnTree | OnForms:
        """Say what histograms leak against such an adversary."""
        if self.forms is None:
            return OnTree(self.learned.model, knowledge)
        if not filled:
            return OnForms(self.forms, knowledge)
        laws = laws_of_columns(self.learned.model)
        return OnForms(replace(self.forms, public=False), knowledge, laws)

    def weights(self, *, filled: bool = False) -> FloatArray:
        """Count, for each histogram released, the cells of all histograms in which its noise ends up."""
        uses = Counter(one.by for one in self.decided)
        counted = {name: blank for name, blank in self.blanks.items() if blank.code < self.cells[name]}
        found: Weights = {
            name: float((self.cells[name] - (name in counted)) * (1 + uses[name])) for name in self.released
        }
        for name, blank in counted.items():
            spread = float(np.sum(self.fillings[name] ** 2)) if filled else 0.0
            others = sum(code not in blank.asked for code in range(self.cells[blank.by]))
            found[blank.by] += others * (1 + spread) * (1 + uses[name])
        return np.array([found[name] for name in self.released])

    @cached_property
    def fillings(self) -> Mapping[str, FloatArray]:
        """The laws by which blanks are filled."""
        if not self.blanks:
            return {}
        laws = dict(zip(self.learned.model.names, laws_of_columns(self.learned.model), strict=True))
        return {name: laws[name] for name in self.blanks}

    def filled_variance(self, rows: int) -> float:
        """Give the squared error that filling blanks at random adds, in a table of so many rows."""
        total = 0.0
        for name, blank in self.blanks.items():
            share_of_blanks = np.mean(self.pilot.values[:, self.pilot.place(name)] == blank.code)
            law = self.fillings[name]
            total += rows * float(share_of_blanks) * float(np.sum(law * (1 - law)))
        return total


@dataclass(frozen=True, eq=False, repr=False)
class SurveyPlan(Tabled):
    """Losses for a survey's histograms, and how good the histograms will be beside plain noise.

    With a `delta` the noise is Gaussian and the losses are ρ: a histogram has noise of variance 1/ρ.
    """

    survey: Survey
    knowledge: Knowledge
    target: float
    rows: int
    filled: bool
    shared: Shared = field(repr=False)
    delta: Fraction | None = None

    @property
    def glimpse(self) -> Glimpse:
        """What is seen of it at a glance."""
        caption = (
            f"Plan of {len(self.losses)} histograms for a leakage of {self.target:.4g}: errors {self.gain:.3g} times "
            f"smaller than with {self.plain_noise}"
        )
        word = "loss" if self.delta is None else "ρ"
        return Glimpse(caption, {"histogram": tuple(self.losses), word: tuple(self.losses.values())}, word)

    @property
    def losses(self) -> Mapping[str, float]:
        """The loss of every histogram released, or its ρ."""
        return dict(zip(self.survey.released, self.shared.losses.tolist(), strict=True))

    @property
    def model(self) -> BayesNet | Forms:
        """What depends on what, as a release takes it."""
        return self.survey.forms or self.survey.learned.model

    @property
    def laws(self) -> tuple[tuple[str, BayesNet | Forms], ...]:
        """Every law that is declared, by title."""
        return ((self.survey.learned.title, self.model), *self.survey.beside)

    def questions(self, schema: Schema) -> tuple[tuple[Query, ...], tuple[Fraction, ...]]:
        """Put the histograms as queries with their shares of the loss, for the door.

        A question that some forms do not ask is asked for only where the form asks it, or its blanks are filled.
        """
        asked: list[Query] = []
        for name in self.survey.released:
            blank = self.survey.blanks.get(name)
            if blank is None:
                asked.append(Histogram(name))
            elif self.filled:
                asked.append(FilledHistogram(name, self.weights_filling(blank, schema)))
            else:
                size = schema.coded(blank.by).size
                where = codes_in(blank.by, size, tuple(_runs(blank.asked)))
                asked.append(Histogram(name, where=where))
        return tuple(asked), tuple(map(Fraction, self.shared.losses.tolist()))

    def weights_filling(self, blank: Blank, schema: Schema) -> tuple[int, ...]:
        """Give every answer a whole number in proportion to its chance, and the blank none."""
        if self.delta is None:
            raise Refused("The door fills blanks with Gaussian noise alone. Give a delta, or simulate.")
        column, law = schema.coded(blank.column), self.survey.fillings[blank.column].tolist()
        without = {blank.code, *([column.missing_code] if blank.column in self.survey.unsaid else ())}
        codes = [code for code in range(column.size) if code not in without]
        if len(codes) != len(law):
            raise BadInput(
                f"The answers to {blank.column!r} are not those of the pilot. Plan with the schema of the pilot."
            )
        chances = dict(zip(codes, law, strict=True))
        return tuple(
            round(chances[code] * WEIGHED) or 1 if code in chances else 0 for code in range(column.size)
        )

    @property
    def squared_error(self) -> float:
        """The expected squared error of all histograms."""
        filled = self.survey.filled_variance(self.rows) if self.filled else 0.0
        if self.delta is not None:
            return MOVED / 2 * self.shared.cost + filled  # σ² = squared change / 2ρ
        return OF_SCALE * MOVED**2 * self.shared.cost + filled

    @cached_property
    def plain_errors(self) -> Mapping[str, float]:
        """The same for the same promise as if all answers were one: every histogram gets an equal part."""
        cells = self.survey.cells
        scale = MOVED * len(cells) / self.target
        found = {PLAIN.format("Laplace"): OF_SCALE * scale**2 * sum(cells.values())}
        if self.delta is not None:
            shift = self.row_shift(self.delta)
            found[PLAIN.format("Gaussian")] = self.row_noise_error(self.delta)
            roots = np.sqrt(self.survey.weights()).sum()  # the best share of one ρ for all
            found[GROUPED] = MOVED * float(roots) ** 2 / shift**2
        return found

    def row_shift(self, delta: Fraction) -> float:
        """By how many deviations of its noise a row may move all histograms for the same leakage at δ."""
        return largest_shift(Fraction(self.target), delta)

    def row_noise_error(self, delta: Fraction) -> float:
        """Give the squared error with plain Gaussian noise for whole rows."""
        cells = self.survey.cells
        return MOVED * len(cells) / self.row_shift(delta) ** 2 * sum(cells.values())

    def leakage(self, finer: float) -> float:
        """Say what all histograms would leak if their noise were so many times finer, by the tree."""
        terms = self.survey.terms(self.knowledge, filled=self.filled)
        noisy = terms if self.delta is None else UnderNoise(terms, self.delta)
        checked = self.survey.checked
        price = checked.figures.price if checked is not None and checked.covering else 1.0
        return noisy.leakage(self.shared.losses * (price * finer) ** (2 / noisy.power)).worst

    @property
    def plain_noise(self) -> str:
        """The plain noise that is best for the same promise."""
        errors = {noise: error for noise, error in self.plain_errors.items() if noise != GROUPED}
        return min(errors, key=errors.__getitem__)

    @property
    def plain_squared_error(self) -> float:
        """The squared error with it."""
        return self.plain_errors[self.plain_noise]

    @property
    def gain(self) -> float:
        """How many times smaller the L2 error is than with plain noise."""
        return float(np.sqrt(self.plain_squared_error / self.squared_error))


def plan_survey(  # noqa: PLR0913  (a plan is described by so many public choices)
    survey: Survey,
    leakage: float,
    knowledge: Knowledge,
    rows: int,
    *,
    at_the_door: bool = False,
    delta: float | str | Fraction | None = None,
    fill: bool = True,
) -> SurveyPlan:
    """Share a total leakage among the histograms of a survey; `rows` is the public number of respondents.

    With a `delta` the noise is Gaussian. Blanks are left out or, unless `fill` says no, filled, whichever makes the
    smaller error; the door fills them with Gaussian noise alone.
    """
    miss = None if delta is None else probability(delta, "δ")
    secret = survey.forms is not None and not survey.public_form
    can_fill = fill and secret and knowledge == "model" and not (at_the_door and miss is None)
    plans: list[SurveyPlan] = []
    for filled in (True, False) if can_fill else (False,):
        terms = survey.terms(knowledge, filled=filled)
        noisy = terms if miss is None else UnderNoise(terms, miss)
        weights, plan = (
            survey.weights(filled=filled),
            partial(SurveyPlan, survey, knowledge, leakage, rows, filled),
        )
        about = plan(noisy.foretold(weights, leakage), miss) if plans else None
        if about is None or about.squared_error <= plans[0].squared_error * (1 + UNSURE):
            plans.append(plan(noisy.shared(weights, leakage), miss))
    return min(plans, key=lambda one: one.squared_error)


def _runs(codes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Join neighbouring codes to ranges."""
    first = last = None
    for code in codes:
        if last is not None and code == last + 1:
            last = code
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = code
    if first is not None and last is not None:
        yield first, last


def forms_of(answers: BayesNet, form: Form, codes: Codes) -> Forms:
    """Say which form asks what, as the holder confirmed it; `codes` has the form's column."""
    asked = np.ones((codes.sizes[codes.place(form.column)], answers.units), dtype=bool)
    for blank in form.blanks:
        if blank.column in answers.names:
            at = answers.names.index(blank.column)
            asked[:, at] = np.isin(np.arange(len(asked)), blank.asked)
    return Forms(answers, form.column, asked)
