"""Small tables of releases, plans and bounds, as notebooks show them."""

from collections.abc import Sequence
from fractions import Fraction
from functools import singledispatch
from typing import Final

from entwined.bounds import Bound, Calibration, Exposure
from entwined.estimate.answers import Answered, Release
from entwined.estimate.spans import CONFIDENCE, Ranks
from entwined.loss import Loss
from entwined.mechanisms.batch import Batch
from entwined.queries.documents import question_of
from entwined.report.cells import line_of
from entwined.report.claims import Claims
from entwined.report.findings import Cell
from entwined.report.page import rendered
from entwined.report.words import FINEST, figure, noise_words, number, plural, readable
from entwined.request.words import in_words

FEW: Final = 4


@singledispatch
def to_html(shown: object) -> str:
    """Show a release, a plan, a bound or a calibration as a small HTML table."""
    raise TypeError(f"A {type(shown).__name__} has no table. Give a release, a plan, a bound, a calibration.")


@to_html.register
def _release(shown: Release) -> str:
    promise = Claims(shown.certificate)
    caption = f"{plural(len(shown.answers), 'statistic')}, leakage at most {figure(promise.leakage, up=True)}"
    rows = [(in_words(question_of(answer.asked)), *_numbers(answer)) for answer in shown.answers]
    return _table(caption, ("statistic", "value", "95 % interval"), rows)


def _numbers(answer: Answered) -> tuple[str, str]:
    """Write the first few values of an answer, and their intervals."""
    values = answer.value if isinstance(answer.value, tuple) else (answer.value,)
    if isinstance(answer.span, Ranks):
        return line_of(Cell((), (), values[0], None, None))["value"], f"rank ± {answer.span.within:,}"
    lows, highs = (end if isinstance(end, tuple) else (end,) for end in answer.interval or (None,) * 2)
    cells = [Cell((), (), *one) for one in zip(values[:FEW], lows, highs, strict=False)]
    lines = [line_of(cell) for cell in cells]
    more = ["…"] if len(values) > FEW else []
    said = [" to ".join(line["interval"]) for line in lines if line["interval"]]
    marked = [] if answer.usable else ["not usable"]
    return "; ".join([line["value"] for line in lines] + more), "; ".join(said + more + marked)


@to_html.register
def _plan(shown: Batch) -> str:
    caption = f"Planned, not yet charged: leakage at most {figure(float(shown.price.worst), up=True)}"
    rows = [
        (
            in_words(query),
            "; ".join(noise_words(shown.statistics[use].law) for use in uses),
            "; ".join(_reach(shown, use) for use in uses),
        )
        for query, uses in zip(shown.queries, shown.uses, strict=True)
    ]
    return _table(caption, ("statistic", "noise", "noise within, in 95 % of cases"), rows)


def _reach(planned: Batch, use: int) -> str:
    noise = planned.statistics[use].noise
    return "a choice" if noise is None else f"± {figure(noise.half_width(CONFIDENCE))}"


@to_html.register(Bound)
def _bound(shown: Bound[Exposure]) -> str:
    rows = [(shown.theorem.name, figure(shown.leakage.worst, up=True), "the smallest")]
    rows += [
        (
            said.theorem.name,
            "–" if said.leakage is None else figure(said.leakage.worst, up=True),
            said.why_not or "",
        )
        for said in shown.alternatives
    ]
    return _table(f"Leakage under {readable(shown.model.kind)}", ("theorem", "leakage", ""), rows)


@to_html.register(Calibration)
def _calibration(shown: Calibration[Loss]) -> str:
    rows = [
        (
            "largest loss of a unit",
            number(Fraction(float(shown.exposure.per_unit.max())), FINEST, towards=-1),
        ),
        ("leakage", figure(shown.leakage.worst, up=True)),
        ("theorem", shown.theorem.name),
    ]
    return _table(f"Calibrated under {readable(shown.model.kind)}", ("", ""), rows)


def _table(caption: str, headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    shown = [[readable(text) for text in row] for row in rows]
    return rendered("table.html", caption=caption, headings=headings, rows=shown)
