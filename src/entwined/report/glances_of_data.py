"""What is seen of schemas, models, checks of models and promises."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from entwined.dependence import Coupled, Dependence, ModelCheck
from entwined.promise.promise import Promise
from entwined.report.claims import SOURCES
from entwined.report.glance import MOST_LINES, Dot, Glance, glance
from entwined.report.words import plural, readable
from entwined.schema import Coded, Column, Schema

if TYPE_CHECKING:
    import pyarrow as pa

FEW: int = 4


@glance.register
def _schema(shown: Schema) -> Glance:
    state = "approved" if shown.approved else "not approved"
    caption = f"Schema of {plural(len(shown.columns), 'column')}, {state}; protects {shown.unit.words}" + (
        "" if shown.declared_most_rows is None else f", {shown.declared_most_rows:,} rows at most"
    )
    return Glance(
        caption,
        {
            "column": shown.names,
            "type": [column.kind for column in shown.columns],
            "values": [column.levels if isinstance(column, Coded) else None for column in shown.columns],
            "such as": [_such_as(column) for column in shown.columns],
            "label": [column.label for column in shown.columns],
        },
    )


def _such_as(column: Column) -> str:
    """Name the first values of a column, or its ends."""
    if not isinstance(column, Coded) or column.levels == 0:
        return ""
    codes = range(column.levels) if column.levels <= FEW else (0, 1, column.levels - 1)
    said = [str(column.value(code)) for code in codes]
    return ", ".join(said if column.levels <= FEW else [*said[:2], "…", said[-1]])


@glance.register
def _model(shown: Dependence) -> Glance:
    words = f"{readable(shown.kind)} of {plural(shown.units, 'unit')}, {SOURCES[shown.source]}"
    checked = [] if shown.check is None else list(shown.check.words)
    if isinstance(shown, Coupled):
        return _coupled(words, shown, checked)
    fields = {"kind": shown.kind, "units": shown.units, "source": shown.source, "strength": shown.strength}
    return Glance(words, {"what": tuple(fields), "says": tuple(fields.values())}, notes=checked)


def _coupled(words: str, shown: Coupled, notes: list[str]) -> Glance:
    """The strongest pairs of units; the frame has every one."""
    ends, odds = shown.pairs
    strongest = np.argsort(-odds, kind="stable")[:MOST_LINES]
    named = _named(shown, ends[strongest].tolist())
    amounts = odds[strongest].tolist()

    def whole() -> "pa.Table":
        import pyarrow as pa

        first, second = zip(*_named(shown, ends.tolist()), strict=True) if len(ends) else ((), ())
        return pa.table({"unit": first, "other": second, "log odds": odds})

    first, second = zip(*named, strict=True) if named else ((), ())
    caption = f"{words}; {plural(len(ends), 'pair')} depend on each other, the strongest first"
    bars = [
        Dot(f"{one}, {two}", amount)
        for (one, two), amount in zip(named, amounts, strict=True)
        if amount < np.inf
    ]
    columns = {"unit": first, "other": second, "log odds": amounts}
    return Glance(caption, columns, len(ends), whole, notes=notes, bars=bars, axis="log odds")


def _named(shown: Dependence, pairs: Iterable[list[int]]) -> list[tuple[str, str]]:
    return [(shown.called(one).strip("'"), shown.called(two).strip("'")) for one, two in pairs]


@glance.register
def _check(shown: ModelCheck) -> Glance:
    return Glance(
        f"The model {readable(shown.law)} held against others on {shown.rows:,} public rows",
        {
            "law": [one.law for one in shown.laws],
            "loss of an answer": [one.answer for one in shown.laws],
            "leakage": [one.leakage for one in shown.laws],
            "needed": [one.law in shown.needed for one in shown.laws],
        },
        notes=shown.words,
        bars=[Dot(one.law, one.leakage) for one in shown.laws if one.leakage is not None],
        axis="leakage of the planned noise",
    )


@glance.register
def _promise(shown: Promise) -> Glance:
    models = [one for one, _ in shown.judges.values()]
    delta = "" if shown.measure.delta is None else f", but for a chance of {float(shown.measure.delta):.3g}"
    return Glance(
        f"A promise for {shown.schema.unit.words}, knowledge {shown.knowledge!r}{delta}",
        {
            "model": tuple(shown.judges),
            "kind": [one.model.kind for one in models],
            "units": [one.model.units for one in models],
            "source": [one.model.source for one in models],
        },
        alarms=shown.failures,
    )
