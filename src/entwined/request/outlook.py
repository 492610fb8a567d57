"""The outlook of a request: what each way to protect it would cost and give, and what the ledger will say."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from entwined.bounds import Bound, Curve, Exposure
from entwined.bounds.drivers import says_no_more_than_the_group, spread_words
from entwined.bounds.theorem import ROUNDING
from entwined.canonical import Document
from entwined.errors import BadNoise
from entwined.estimate.quality import TableSize
from entwined.forecast.draft import Draft
from entwined.forecast.forecast import Forecast, forecasts
from entwined.forecast.prospects import Prospects, prospects
from entwined.forecast.rivals import Rival, rivals
from entwined.forecast.ways import Crossing, Way, reasons
from entwined.mechanisms.batch import Batch
from entwined.numbers import float_below
from entwined.progress import said
from entwined.promise.counted_rows import counted_rows
from entwined.promise.declared import Declared
from entwined.promise.ruled_out import ruled_out
from entwined.queries import Query
from entwined.request.bill import bill_of
from entwined.request.funds import Funds, funds_of
from entwined.request.request import Request
from entwined.request.tasks_outlook import planned as planned_tasks
from entwined.schema import Schema

FORMAT: Final = "entwined plan 2"
ONE_BATCH: Final = (
    "the promise is for one batch, so ask for everything at once: the ledger refuses a second one"
)
ONLY_NUMBER: Final = (
    "by itself it leaks no more because it is one number and nothing else; beside any other release everything is "
    "priced by its losses, and this number counts for {more:.4g} in it"
)
RESERVED: Final = (
    "the ledger is charged once for all that is reserved, and this takes a part of it: "
    "entwined budget says what is left"
)
OUT_OF_REACH: Final = "Its noise would be finer or coarser than integers allow."


@dataclass(frozen=True, eq=False)
class Outlook:
    """Every way to protect a request with the errors to expect, and the one proposed; no row was read."""

    request: Request
    planned: Batch
    ways: tuple[tuple[Way, tuple[Forecast, ...]], ...]
    proposed: Way
    because: str
    funds: Funds
    curves: Mapping[str, Curve]
    rivals: tuple[Rival, ...] = ()

    @property
    def forecasts(self) -> tuple[Forecast, ...]:
        """What to expect of each question on the proposed way, in the order asked."""
        return next(found for way, found in self.ways if way is self.proposed)

    @cached_property
    def prospects(self) -> Prospects:
        """What each answer will be good for on the proposed way, and what would help."""
        return prospects(
            self.planned,
            [query.bound(self.request.schema) for query in self.request.queries],
            self.forecasts,
            TableSize.of(self.request.schema, self.request.rows),
            leakage=self.request.leakage,
            beside=self.rivals,
            wanted=[question.within for question in self.request.questions],
        )

    @property
    def document(self) -> Document:
        """The outlook as JSON."""
        schema = self.request.schema
        return {
            "format": FORMAT,
            "title": self.request.title,
            "unit": schema.unit.document,
            "neighbours": schema.neighbours,
            "knowledge": self.request.knowledge,
            "delta": None if self.request.delta is None else float(self.request.delta),
            "consistent": self.request.consistent,
            "rows": self.request.assumed.rows,
            "models": list(self._models()),
            "first_lines": list(self.request.first_lines),
            "failed_checks": list(self.planned.promise.failures),
            "counted_rows": list(counted_rows(self.planned.promise)),
            "asked": _asked(self.request),
            "ways": [_way(way, found) for way, found in self.ways],
            "statistics": list(_statistics(self.request, self.prospects)),
            "quality": self.prospects.document,
            "proposed": self.proposed.name,
            "because": self.because,
            "rivals": [one.document for one in self.rivals],
            "budget": self.funds.document,
            **({"mechanisms": planned_tasks(self.request)} if self.request.tasks else {}),
        }

    @cached_property
    def bounds(self) -> dict[str, Bound[Exposure]]:
        """What the planned noise leaks of every unit, under each model."""
        return self.planned.promise.bounds(self.planned.promise.base(self.planned.charged))

    def _models(self) -> Iterator[Document]:
        hints = self.planned.hints()
        for name, one in zip(self.planned.promise.judges, self.request.declared, strict=True):
            told = {"name": name, "kind": one.model.kind, "source": one.model.source}
            checked = {} if one.model.check is None else {"check": one.model.check.document}
            helping = {"hints": [hint.document for hint in hints.get(name, ())]}
            more = {
                "spread": self.bounds[name].leakage.spread,
                "remarks": list(self._remarks(name, one)),
            }
            yield told | checked | {"curve": self.curves[name].document} | helping | more

    def _remarks(self, name: str, declared: Declared) -> Iterator[str]:
        """Say what a theorem rests on beside its model, where a network forgets nothing, and whom the noise is for."""
        theorem, model = self.bounds[name].theorem, declared.model
        ways = {way.name: way.nominal for way, _ in self.ways if way.applies}
        group, messages = ways.get("group"), ways.get("message passing")
        if theorem.about.assuming:
            told = (("messages along the same ties", messages), ("group", group))
            own = self.proposed.nominal
            times = [
                f"{own / nominal:.3g} times the noise by the {called}" for called, nominal in told if nominal
            ]
            yield f"What {theorem.name!r} rests on, first of all: {theorem.trusted}"
            if times:
                yield f"Without that the same promise would take {' and '.join(times)}."
        if group and messages:
            said = says_no_more_than_the_group(model, group / messages, 1.0)
            yield from [said] if said else []
        yield from spread_words(self.bounds[name].leakage)
        yield from filter(None, [ruled_out(declared, self.request.schema)])


def outlook(request: Request, *, brief: bool = False, decided: bool = False) -> Outlook:
    """Look ahead: plan the request, compare the ways to protect it, and ask the ledger what would be left.

    A brief look leaves out what another kind of noise would give, which takes longest. Where it is `decided` which
    way is gone, errors are predicted on that one alone.
    """
    planned = request.plan()
    ways = Crossing(planned, request.leakage).ways()
    proposed = next(way for way in ways if way.each is planned.loss)
    batch = Draft.of(planned)
    found = [
        _forecast(way, batch, request, planned, errors=way is proposed or not decided)
        for way in said("comparing ways to protect", ways)
    ]
    others = () if request.leakage is None or brief else tuple(rivals(planned, request.leakage))
    better = [one.words for one in others if one.is_better]
    alone = [ONE_BATCH] * planned.promise.is_for_one_batch + [RESERVED] * (request.reserve is not None)
    alone += _only_number(planned)
    because = "; ".join([*reasons(ways, proposed, settled=request.leakage is None), *better, *alone])
    funds = funds_of(request, bill_of(request, planned))
    return Outlook(
        request,
        planned,
        tuple(found),
        proposed,
        because[:1].upper() + because[1:] + ".",
        funds,
        _curves(request, planned, funds),
        others,
    )


def _only_number(planned: Batch) -> Iterator[str]:
    """Say what a number will count for once it is not the only one, where it is priced as if it were."""
    promise = planned.promise
    more = float(max(promise.by_losses(promise.base(planned.charged)).values(), default=0))
    if more > planned.price.worst * (1 + ROUNDING):
        yield ONLY_NUMBER.format(more=more)


def _curves(request: Request, planned: Batch, funds: Funds) -> dict[str, Curve]:
    """Ask what the batch leaks if dependence is stronger, and where it breaks what was asked or else the cap."""
    cap = funds.cap if request.leakage is None else request.leakage
    promise = planned.promise
    return promise.curves(promise.base(planned.charged), None if cap is None else float_below(cap))


def _forecast(
    way: Way, batch: Draft, request: Request, planned: Batch, *, errors: bool
) -> tuple[Way, tuple[Forecast, ...]]:
    """Predict the errors on one way, in the order of the questions, if they are wanted."""
    if way.each is None:
        return way, ()
    try:
        noisy = batch.at(way.each / planned.loss)
        if not errors:
            return way, ()
        found = forecasts(noisy, request.assumed)
    except BadNoise:
        return Way(way.name, OUT_OF_REACH, made_for=way.made_for), ()
    by_text = {query.fingerprint: one for query, one in zip(batch.queries, found, strict=True)}
    return way, tuple(by_text[question.query.fingerprint] for question in request.questions)


def _asked(request: Request) -> Document:
    if request.leakage is not None:
        return {"leakage": float(request.leakage)}
    return {"within": True} if request.loss is None else {"loss": float(request.loss)}


def _way(way: Way, found: tuple[Forecast, ...]) -> Document:
    return {
        "way": way.name,
        "title": way.title,
        "theorem": None if way.name == "plain" else way.name,
        "loss": way.nominal if way.applies else None,
        "loss_of_each_statistic": None if way.each is None else float(way.each),
        "leakage": dict(way.leakage),
        "keeps_promise": way.keeps_promise,
        "applies": way.applies,
        "why": way.why,
        "made_for": way.made_for,
        "statistics": [one.document for one in found],
    }


def _statistics(request: Request, found: Prospects) -> Iterator[Document]:
    for question, good in zip(request.questions, found.answers, strict=True):
        asked = question.query.statistics(request.schema)
        yield {
            "name": question.name,
            "label": _label(question.query, request.schema),
            "query": json.loads(question.query.fingerprint),
            "sql_or_text": question.text,
            "cells": 1 if asked[0].selects else asked[0].aggregate.cells,
            "wanted": None if question.within is None else float(question.within),
            **good.document,
        }


def _label(query: Query, schema: Schema) -> str | None:
    """Give the label of the one column that a statistic is about, if it has one."""
    label = schema.column(query.values[0]).label if len(query.values) == 1 else None
    return label or None
