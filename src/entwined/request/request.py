"""A request for a release: which table, which questions, how much they may leak; read from a file, no rows."""

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Final

from entwined.bounds import Knowledge
from entwined.errors import BadInput, BadQuery, Refused
from entwined.estimate.compared import WantedComparison
from entwined.forecast.forecast import Assumed
from entwined.forecast.wanted import fitted
from entwined.ledger.calendar import Calendar
from entwined.mechanisms.batch import Batch, plan_batch
from entwined.mechanisms.offered import Offered
from entwined.mechanisms.streams.measures import NoiseOption
from entwined.promise.declared import Declared
from entwined.promise.measure import large_delta
from entwined.promise.promise import Promise, promise_of
from entwined.promise.reserve import Reserve
from entwined.promise.secrets import FIRST_LINE, KeptSecrets
from entwined.promise.whole_persons import with_whole_persons
from entwined.queries import Predicate, Query
from entwined.request.tasks import Task, distinct
from entwined.request.veiled_task import VeiledTask
from entwined.schema import Schema

URL_MARK: Final = "://"
MOST_QUERIES: Final = 1000
EXPLORATORY: Final = "exploratory"


@dataclass(frozen=True, slots=True)
class Question:
    """A query with its name in the report, how it was put, and the half-width that is wanted of it.

    For a quantile `within` is a number of ranks. A name that nobody chose may be numbered.
    """

    name: str
    query: Query
    text: str
    within: Fraction | None = None
    chosen: bool = True
    share: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """What a release is made for: a leakage or a nominal loss, and how it is shared among the questions."""

    leakage: Fraction | None
    loss: Fraction | None
    shares: tuple[Fraction, ...] | None = None


@dataclass(frozen=True, eq=False)
class Request:
    """Everything that a release depends on but the rows; valid from birth.

    Without a `cap` or a `calendar` those of its ledger are meant. Without questions and tasks it is the terms alone,
    under which something else may be asked.
    `leakage` or `loss` says how much the batch may cost. With neither, every question says how exact its
    answer has to be, and the batch costs what that takes. `rows` is about how many rows there are, in the
    holder's words: it only serves to predict the errors of means, variances and quantiles. `impossible` are conditions
    that no row meets, by the holder's word: numbers that agree are made so that none does. Where `secrets` are kept the
    questions are one task. A `reserve` is what may ever be shown of each column, in as many batches as fit;
    `comparisons` are made of the answers, for nothing.
    """

    table: str
    schema: Schema
    ledger: str
    questions: tuple[Question, ...]
    leakage: Fraction | None = None
    loss: Fraction | None = None
    cap: Fraction | None = None
    calendar: Calendar | None = None
    dependence: tuple[Declared, ...] = ()
    knowledge: Knowledge = "any"
    delta: Fraction | None = None
    consistent: bool = True
    impossible: tuple[Predicate, ...] = ()
    title: str = ""
    rows: int | None = None
    folder: Path = Path()
    tasks: tuple[Task, ...] = ()
    secrets: KeptSecrets | None = None
    reserve: Reserve | None = None
    noise: str = ""
    warnings: tuple[str, ...] = ()
    comparisons: tuple[WantedComparison, ...] = ()

    def __post_init__(self) -> None:
        self.schema.require_approval()
        if len(self.questions) + len(self.tasks) > MOST_QUERIES:
            raise BadQuery(f"A release of {len(self.questions)} queries. Ask 1 to {MOST_QUERIES:,}.")
        object.__setattr__(self, "questions", _distinct(self.questions))
        object.__setattr__(self, "tasks", distinct(self.tasks))
        self._require_amounts()
        for question in self.questions:
            question.query.check(self.schema)
        asked = {question.name: question.query.bound(self.schema) for question in self.questions}
        for wish in self.comparisons:
            wish.check(asked, self.schema)
        self._promised(self.delta)  # it refuses models that do not fit the schema

    def _require_amounts(self) -> None:
        """Refuse amounts that are not what the questions need."""
        if self.questions and self.secrets is not None:
            raise BadInput("Where secrets are kept the questions leave as one task. Give them as one.")
        if not self.questions and (self.leakage is not None or self.loss is not None):
            raise BadInput(
                "A leakage or a loss is for the queries, and there is none. Give each mechanism its own."
            )
        if self.leakage is not None and self.loss is not None:
            raise BadInput("Both a leakage and a loss are given. Keep one of them.")
        if self.leakage is None and self.loss is None and not all(one.within for one in self.questions):
            raise BadInput(
                "Neither a leakage nor a loss is given, and not every query says `within`. "
                "Give leakage = 1.0, or say of every query how exact it has to be."
            )
        if self.questions and self.delta is not None and self.leakage is None and self.loss is None:
            raise BadInput(
                "What an accuracy costs is not worked out for Gaussian noise. Give a leakage or a loss."
            )

    @property
    def is_exploratory(self) -> bool:
        """Whether a model was learned from the private rows for nothing: then this is for planning only."""
        return any(one.model.source == EXPLORATORY for one in self.dependence)

    @cached_property
    def supposed(self) -> tuple[Declared, ...]:
        """The models, as they would be if each were public; the door takes them only as they are."""
        return tuple(
            replace(one, model=replace(one.model, source="declared"))  # type: ignore[type-var]  # all are dataclasses
            if one.model.source == EXPLORATORY
            else one
            for one in self.dependence
        )

    @property
    def declared(self) -> tuple[Declared, ...]:
        """The models as they were given, one for each that prices are asked under."""
        return with_whole_persons(self.dependence, self.schema)

    @property
    def promise(self) -> Promise:
        """What prices are asked of: with the δ that was given, unless a lone stream is more accurate without."""
        option = self._chosen_noise
        return self._promised(self.delta) if option is None else option.promise

    @cached_property
    def noise_options(self) -> tuple[NoiseOption, ...]:
        """The kinds of noise that a lone stream may have under the δ that was given, the most accurate first."""
        if self.delta is None or self.questions or len(self.tasks) != 1 or self.secrets or self.reserve:
            return ()
        return self.tasks[0].noise_options([self._promised(None), self._promised(self.delta)])

    @property
    def _chosen_noise(self) -> NoiseOption | None:
        """The most accurate kind of noise, if there is a choice."""
        return next((option for option in self.noise_options if option.stream is not None), None)

    def _promised(self, delta: Fraction | None) -> Promise:
        return promise_of(self.schema, self.supposed, self.knowledge, delta, self.secrets, self.reserve)

    @property
    def first_lines(self) -> tuple[str, ...]:
        """What is said before anything else: that individuals are not protected, and what was warned of."""
        unprotected = () if self.promise.protects_individuals else (FIRST_LINE,)
        return (*unprotected, *filter(None, [self.delta_warning]), *self.warnings)

    @property
    def delta_warning(self) -> str:
        """Warn of a δ that is too large for the number of rows, as it is public or expected."""
        return large_delta(self.delta, self.schema.rows if self.schema.rows is not None else self.rows)

    @cached_property
    def mechanisms(self) -> tuple[Offered, ...]:
        """The mechanisms that are asked for, each with its noise worked out."""
        option, promise = self._chosen_noise, self.promise
        if option is not None and option.stream is not None:
            return (option.stream,)
        return tuple(task.settled(promise) for task in self.tasks)

    @property
    def queries(self) -> tuple[Query, ...]:
        """What is asked, in order."""
        return tuple(question.query for question in self.questions)

    @property
    def assumed(self) -> Assumed:
        """What predictions rest on beside the noise."""
        return Assumed.of(self.schema, self.rows, consistent=self.consistent, impossible=self.impossible)

    @property
    def source(self) -> str:
        """Where the rows are: a URL, or a path from here."""
        return self._placed(self.table)

    @property
    def place(self) -> str:
        """Where the ledger is: a URL, or a path from here."""
        return self._placed(self.ledger)

    def _placed(self, given: str) -> str:
        return given if URL_MARK in given else str(self.folder / given)

    @property
    def _shares(self) -> tuple[Fraction, ...] | None:
        """How the loss is shared, where a question says so; 1 for those that do not."""
        if all(question.share is None for question in self.questions):
            return None
        return tuple(question.share or Fraction(1) for question in self.questions)

    @cached_property
    def terms(self) -> Terms:
        """What the door is asked for; where only accuracies are wanted, the loss they take and its shares."""
        if self.leakage is not None or self.loss is not None:
            return Terms(self.leakage, self.loss, self._shares)
        wanted = [(one.query, one.within) for one in self.questions if one.within is not None]
        found = fitted(self.promise, wanted, self.assumed)
        return Terms(None, found.loss, found.shares)

    def require_queries(self, purpose: str) -> None:
        """Refuse a purpose that is about noisy numbers where a request has only mechanisms."""
        if not self.questions:
            kinds = ", ".join(dict.fromkeys(task.kind.kind for task in self.tasks)) or "nothing"
            raise Refused(
                f"Only the numbers of [[query]] sections can be {purpose}, and this request has none: it asks for "
                f"{kinds}. Add a [[query]]."
            )

    def plan(self) -> Batch:
        """Work out noise, charges and price; no row is read."""
        self.require_queries("planned together")
        terms = self.terms
        return plan_batch(
            self.promise,
            self.queries,
            leakage=terms.leakage,
            loss=terms.loss,
            shares=terms.shares,
            noise=self.noise,
        )

    def asking(
        self, questions: tuple[Question, ...], leakage: Fraction | None, loss: Fraction | None
    ) -> "Request":
        """Ask the same table something else; where secrets are kept, it leaves as one task."""
        if self.secrets is not None:
            asked = {question.name: question.query.by_public_rows(self.schema) for question in questions}
            return replace(self, tasks=(VeiledTask.of(asked, leakage, loss),))
        return replace(self, questions=questions, leakage=leakage, loss=loss, tasks=(), comparisons=())


def _distinct(questions: tuple[Question, ...]) -> tuple[Question, ...]:
    """Number names that nobody chose where they are the same, and refuse chosen ones that are."""
    taken = Counter(question.name for question in questions if question.chosen)
    for name, times in taken.most_common(1):
        if times > 1:
            raise BadQuery(f"{times} queries are called {name!r:.100}. Give each a name of its own.")
    found = []
    for question in questions:
        name, turn = question.name, 1
        while not question.chosen and name in taken:
            turn += 1
            name = f"{question.name} {turn}"
        taken[name] += 1
        found.append(replace(question, name=name, chosen=True))
    return tuple(found)
