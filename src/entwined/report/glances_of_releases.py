"""What is seen of plans, releases, answers, certificates of releases, budgets and open doors."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from entwined.door.certificate import Sealed
from entwined.door.door import Door, Passed
from entwined.errors import BadInput
from entwined.estimate.answers import Answered, Release
from entwined.estimate.quality import quality_counts
from entwined.estimate.spans import CONFIDENCE
from entwined.ledger import History
from entwined.mechanisms.batch import Batch
from entwined.report.cells import line_of
from entwined.report.claims import Claims
from entwined.report.findings import Cell, Finding, findings
from entwined.report.glance import MOST_BARS, MOST_LINES, Dot, Glance, glance
from entwined.report.model_checks import failed_in
from entwined.report.values import arrow_table
from entwined.report.words import figure, noise_words, plural, readable
from entwined.request.desk import Purse

if TYPE_CHECKING:
    pass

FEW: Final = 3  # numbers of a statistic that are shown where there are many statistics
LONGEST_NAME: Final = 60


@glance.register
def _release(shown: Release) -> Glance:
    promise = Claims(shown.certificate) if shown.certificate else None
    leaks = "" if promise is None else f", leakage at most {figure(promise.leakage, up=True)}"
    caption = f"{plural(len(shown.answers), 'statistic')}{leaks}"
    if shown.schema is None:
        return Glance(f"{caption}; give its schema to name its cells: release.under(schema)", {})
    failed = failed_in(shown.certificate["models"]) if shown.certificate else ()
    alarms = (*failed, *(warning.text for warning in shown.warnings))
    counted = shown.certificate.get("counted_rows", ())
    return replace(_numbers(caption, named_findings(shown), alarms), notes=tuple(counted))


@glance.register
def _answer(shown: Answered) -> Glance:
    if shown.schema is None:
        told = {"value": [str(shown.value)], "interval": [str(shown.interval)]}
        return Glance("An answer without the schema that names its cells", told)
    finding = Finding(shown.name, shown, shown.schema)
    return _numbers(f"{finding.name or finding.question}: {finding.question}", (finding,), ())


def _numbers(caption: str, found: tuple[Finding, ...], alarms: tuple[str, ...]) -> Glance:
    """One line a number where there are few, else one a statistic with the first of its numbers."""
    total = sum(map(_size, found))
    few = total <= MOST_LINES
    lines = _each(found) if few or len(found) == 1 else map(_together, found)
    shown = list(islice(lines, MOST_LINES))
    names, values, intervals, adjusted, quality = zip(*shown, strict=True) if shown else ((),) * 5
    beside = {"adjusted": adjusted} if any(adjusted) else {}
    return Glance(
        caption,
        {"statistic": names, "value": values, "95 % interval": intervals, **beside, "quality": quality},
        total if few or len(found) == 1 else len(found),
        lambda: arrow_table(found),
        alarms,
        bars=list(islice(_bars(found), MOST_BARS)),
        axis=readable(found[0].unit, LONGEST_NAME)
        if len({one.unit for one in found}) == 1
        else "released numbers",
    )


def _size(one: Finding) -> int:
    return one.size + (one.of_people is not None)


def _cells(one: Finding) -> Iterator[Cell]:
    yield from one.cells()
    if one.of_people is not None:
        yield one.of_people


def _line(one: Finding, cell: Cell) -> tuple[str, str, str, str]:
    line = line_of(cell)
    rank = "" if one.ranks is None else f"rank ± {one.ranks:,}"
    said = " to ".join(line["interval"]) if line["interval"] else rank
    return line["value"], said, line.get("adjusted", ""), cell.quality


def _each(found: tuple[Finding, ...]) -> Iterator[tuple[str, str, str, str, str]]:
    for one in found:
        for cell in _cells(one):
            yield (_name(one, cell), *_line(one, cell))


def _name(one: Finding, cell: Cell) -> str:
    return readable(one.name, LONGEST_NAME) + (f" · {readable(cell.name, LONGEST_NAME)}" if cell.name else "")


def _together(one: Finding) -> tuple[str, str, str, str, str]:
    """The first numbers of a statistic, each with the name of its cell."""
    cells = list(islice(_cells(one), FEW))
    more = ["…"] if _size(one) > FEW else []
    lines = [(readable(cell.name, LONGEST_NAME // 2), *_line(one, cell)) for cell in cells]
    values = [f"{name}: {value}" if name else value for name, value, *_ in lines]
    return (
        readable(one.name, LONGEST_NAME),
        "; ".join(values + more),
        "; ".join([line[2] for line in lines] + more),
        "; ".join([line[3] for line in lines] + more) if lines[0][3] else "",
        quality_counts(one.levels),
    )


def _bars(found: tuple[Finding, ...]) -> Iterator[Dot]:
    for one in found:
        for cell in _cells(one):
            numbers = [cell.value, cell.low, cell.high]
            value, low, high = (float(end) if isinstance(end, int | Fraction) else None for end in numbers)
            if value is not None:
                yield Dot(
                    _name(one, cell) if len(found) > 1 else readable(cell.name or one.name), value, low, high
                )


def named_findings(shown: Release) -> tuple[Finding, ...]:
    """Name the answers of a release: as they were called, else by what was asked."""
    schema = shown.schema
    if schema is None:
        raise BadInput(
            "This release was read from a file, and does not know its schema. Give it: release.under(schema)."
        )
    names = shown.names or tuple(Finding("", answer, schema).question for answer in shown.answers)
    return findings(shown, names, schema)


def to_cells(shown: object) -> tuple[Cell, ...]:
    """Give the numbers of an answer, each with the names of its cell."""
    if not isinstance(shown, Answered) or shown.schema is None:
        raise BadInput("This answer does not know its schema. Take it from its release: release['name'].")
    return tuple(Finding(shown.name, shown, shown.schema).cells())


@glance.register
def _plan(shown: Batch) -> Glance:
    noise = ["; ".join(noise_words(shown.statistics[use].law) for use in uses) for uses in shown.uses]
    names = [query.words for query in shown.queries]
    reach = [[_reach(shown, use) for use in uses] for uses in shown.uses]
    said = ["; ".join("a choice" if one is None else f"± {figure(one)}" for one in each) for each in reach]
    hints = [f"{name}: {hint}" for name, found in shown.hints().items() for hint in found]
    return Glance(
        f"Planned, not yet charged: leakage at most {figure(float(shown.price.worst), up=True)}",
        {"statistic": names, "noise": noise, "noise within, in 95 % of cases": said},
        alarms=shown.promise.failures,
        notes=hints,
        bars=[Dot(name, each[0]) for name, each in zip(names, reach, strict=True) if each[0] is not None],
        axis="noise within, in 95 % of cases",
    )


def _reach(planned: Batch, use: int) -> float | None:
    noise = planned.statistics[use].noise
    return None if noise is None else float(noise.half_width(CONFIDENCE))


@glance.register
def _purse(shown: Purse) -> Glance:
    price = shown.spent
    spent = {"nominal ε": float(price.nominal)} | {
        f"leakage under {name}": float(amount) for name, amount in price.leakage.items()
    }
    told = {**spent, "cap": float(shown.cap), "left": shown.left}
    bars = [Dot(name, amount) for name, amount in {**spent, "cap": float(shown.cap)}.items()]
    return Glance(
        str(shown).capitalize(),
        {"what": tuple(told), "amount": tuple(told.values())},
        bars=bars,
        axis="spent",
    )


@glance.register
def _history(shown: History) -> Glance:
    last = shown.charges[::-1]
    worst = [float(entry.price.worst) for entry in shown.charges]
    return Glance(
        f"{plural(len(last), 'charge')}, the last first",
        {
            "entry": [entry.position for entry in last],
            "time": [str(entry.fields["time"]) for entry in last],
            "analyst": [str(entry.fields["analyst"]) for entry in last],
            "outcome": shown.outcomes[::-1],
            "spent after": worst[::-1],
        },
        bars=[Dot(f"entry {one.position}", amount) for one, amount in zip(last, worst[::-1], strict=True)][
            ::-1
        ],
        axis="spent after each charge",
    )


@glance.register(Passed)
def _passed(shown: "Passed[Any]") -> Glance:
    told: Mapping[str, object] = {
        "output": readable(repr(shown.output)),
        "spent since": float(shown.price.worst),
        "certificate": shown.certificate["says"],
    }
    return Glance("What passed the door", {"what": tuple(told), "says": tuple(told.values())})


@glance.register
def _sealed(shown: Sealed) -> Glance:
    """The promise of each model, and what everything released amounts to."""
    claims = Claims(shown)
    models = claims.models
    return Glance(
        shown["says"],
        {
            "model": [readable(model["name"]) for model in models],
            "leakage": [float(model["certificate"]["leakage"]) for model in models],
            "theorem": [model["certificate"]["theorem"]["name"] for model in models],
        },
        notes=[
            f"Everything released so far leaks at most {figure(claims.total, up=True)} of {figure(claims.cap)}.",
            *(f"Trusted: {sentence}" for sentence in shown["trusted"]),
        ],
        bars=[Dot(readable(model["name"]), float(model["certificate"]["leakage"])) for model in models],
        axis="leakage",
    )


@glance.register
def _door(shown: Door) -> Glance:
    seen = glance(shown.promise)
    columns = plural(len(shown.promise.schema.columns), "column")
    caption = f"An open door to a table of {columns}. {seen.caption}"
    return Glance(caption, seen.columns, alarms=seen.alarms)
