"""A synthetic table beside the real one as a page for the holder: a summary first, then the worst, then everything."""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from entwined.report import charts
from entwined.report.drawings import Drawing
from entwined.report.findings import side_names
from entwined.report.page import rendered
from entwined.report.words import readable
from entwined.synthetic.answering import Verdict
from entwined.synthetic.holders_rows import SideBySide
from entwined.synthetic.inspection import WARNING, Inspection
from entwined.synthetic.likeness import Apart, of_a_hundred
from entwined.synthetic.middles import apart_in_unit, in_unit
from entwined.synthetic.relations import Related
from entwined.synthetic.subgroups import Subgroup
from entwined.synthetic.summing_up import sentences
from entwined.synthetic.sweeping import Swept

FIRST_LINE: Final = f"<!-- {WARNING} -->\n"
MOST_BARS: Final = 12
MOST_LINES: Final = 12
MOST_CELLS: Final = 22
MOST_TILES: Final = 25
MOST_COLUMNS: Final = 60
LONGEST_NAME: Final = 60
PEOPLE: Final = "people of 100 in a wrong cell"

Line: TypeAlias = list[str]


class PairedHistogram(NamedTuple):
    """One column of both tables."""

    title: str
    off: str
    drawing: Drawing


def inspection_page(found: Inspection) -> str:
    """Write all that was found as one HTML file that needs nothing else and says first that it is the holder's."""
    page = rendered(
        "inspection.html",
        many=False,
        title="How good is the synthetic table?",
        warning=WARNING,
        found=found,
        summary=sentences(found),
        facts=_facts(found),
        worst=_worst(found),
        marginals={ways: _lines(each) for ways, each in found.marginals.items()},
        groups=[_group(found.both, one) for one in found.subgroups[:MOST_LINES]],
        questions=_questions(found),
        middles=_middles(found),
        histograms=_histograms(found),
        maps=_maps(found),
        correlations=[_related(one) for one in found.correlations[:MOST_LINES]],
        informations=[_related(one) for one in found.informations[:MOST_LINES]],
        swept=_swept(found.swept),
        sweep_heads=["Way", *(f"ε = {one:g}" for one in sorted({one.epsilon for one in found.swept}))],
        sweep_gaps=list(
            dict.fromkeys(
                f"{_way(one.mode, one.parents)}: {one.why_not}" for one in found.swept if one.why_not
            )
        ),
        left_out=[(_named(name), why) for name, why in found.both.left_out.items()],
    )
    return FIRST_LINE + page


def _named(name: str) -> str:
    return readable(name, LONGEST_NAME)


def _title(columns: Sequence[str]) -> str:
    return " × ".join(map(_named, columns))


def _facts(found: Inspection) -> list[tuple[str, str]]:
    ways = {1: "one column", 2: "two columns", 3: "three columns"}
    facts = [
        (
            f"Of 100 people in a wrong cell, by {ways[way]}",
            of_a_hundred(float(np.mean([one.distance for one in each]))),
        )
        for way, each in found.marginals.items()
    ]
    facts.append(("Rows of 100 told from real ones, by pairs", f"{100 * found.by_pairs.right:.0f}"))
    if found.trained is not None:
        facts.append(
            (
                f"{_named(found.trained.target)} foretold, of 100 people",
                f"{100 * found.trained.on_synthetic:.1f}",
            )
        )
    return facts


def _swept(found: Sequence[Swept]) -> list[Line]:
    """One line a way, a cell an ε."""
    losses = sorted({one.epsilon for one in found})
    ways = {(one.mode, one.parents): None for one in found}
    tried = {(one.mode, one.parents, one.epsilon): one for one in found}
    return [[_way(*way), *(_tried(tried[(*way, epsilon)]) for epsilon in losses)] for way in ways]


def _way(mode: str, parents: int | None) -> str:
    return mode if parents is None else f"{mode}, k = {parents}"


def _tried(one: Swept) -> str:
    return " / ".join(map(of_a_hundred, one.apart)) if one.apart else "–"


def _worst(found: Inspection) -> Drawing:
    each = (found.marginals.get(2) or found.marginals[1])[:MOST_BARS]
    labels = charts.labelled([_title(one.columns) for one in each])
    rows = [
        {
            "label": label,
            "value": 100 * one.distance,
            "low": 100 * one.by_chance,
            "high": 100 * one.by_chance,
        }
        for label, one in zip(labels, each, strict=True)
    ]
    return Drawing(
        charts.bars(rows, PEOPLE),
        "Bars are how many people of 100 would have to move to another cell. The mark is what two samples of one "
        "population would show.",
    )


def _lines(found: Sequence[Apart]) -> list[Line]:
    return [
        [
            _title(one.columns),
            of_a_hundred(one.distance),
            of_a_hundred(one.by_chance),
            "–" if one.sample is None else f"{max(1, round(one.sample)):,}",
        ]
        for one in found[:MOST_LINES]
    ]


def _group(both: SideBySide, one: Subgroup) -> Line:
    axis = both.axes[both.real.place(one.column)]
    cell = side_names(axis, both.schema)[one.cell][0]
    return [
        f"{_named(one.column)}: {readable(cell, LONGEST_NAME)}",
        f"{one.people:,}",
        f"{one.synthetic_people:,}",
        _named(one.other),
        of_a_hundred(one.distance),
        of_a_hundred(one.by_chance),
    ]


def _questions(found: Inspection) -> dict[Verdict, list[Line]]:
    """Sort questions by how they are answered: of those answered well the best first, of others the worst."""
    asked: dict[Verdict, list[Line]] = {"badly": [], "fairly": [], "well": []}
    for table in found.tables:
        words = f"How many people by {_title(table.columns)}?"
        off = f"{of_a_hundred(table.error)} of 100 people"
        asked[table.verdict].append([words, off, f"± {of_a_hundred(table.by_chance)}"])
    asked["well"].reverse()
    return asked


def _middles(found: Inspection) -> list[Line]:
    """Means and medians in the unit of their column, the worst first."""
    lines = []
    for one in found.middles[:MOST_LINES]:
        column = found.both.schema.coded(one.column)
        values = in_unit(column, one.real), in_unit(column, one.synthetic)
        chance = f"± {apart_in_unit(column, one.chance)}"
        lines.append([f"{one.what} of {_named(one.column)}", *values, chance, one.verdict])
    return lines


def _histograms(found: Inspection) -> list[PairedHistogram]:
    """Draw every column, the worst first."""
    return [_histogram(found.both, one) for one in found.marginals[1][:MOST_COLUMNS]]


def _histogram(both: SideBySide, one: Apart) -> PairedHistogram:
    place = both.real.place(one.columns[0])
    names = [name for name, _ in side_names(both.axes[place], both.schema)]
    counts = [
        np.bincount(codes.values[:, place], minlength=codes.sizes[place]) / codes.rows
        for codes in (both.real, both.synthetic)
    ]
    shown = np.sort(np.argsort(-np.maximum(*counts), kind="stable")[:MOST_CELLS])
    labels = charts.labelled([readable(names[at], LONGEST_NAME) for at in shown])
    rows = [
        {
            "label": label,
            "value": 100 * counts[1][at],
            "low": 100 * counts[0][at],
            "high": 100 * counts[0][at],
        }
        for label, at in zip(labels, shown, strict=True)
    ]
    left = len(names) - len(shown)
    rest = f" {left:,} smaller cells are not drawn." if left else ""
    drawing = Drawing(
        charts.bars(rows, "percent of people"),
        f"Bars are the synthetic table, the mark is the real one.{rest}",
    )
    return PairedHistogram(_title(one.columns), of_a_hundred(one.distance), drawing)


def _maps(found: Inspection) -> list[tuple[str, Drawing]]:
    """Draw what hangs together: below the diagonal the real table, above it the synthetic one; then the difference."""
    real, made = found.information
    if len(real) == 1:
        return []
    worst = np.abs(real - made).max(axis=0) + real.max(axis=0)
    shown = np.sort(np.argsort(-worst, kind="stable")[:MOST_TILES])
    names = [_named(found.both.names[at]) for at in shown]
    real, made = real[np.ix_(shown, shown)], made[np.ix_(shown, shown)]
    both = np.tril(real) + np.triu(made)
    rest = (
        f" Of {len(found.both.names)} columns the {len(shown)} that matter most."
        if len(shown) < len(found.both.names)
        else ""
    )
    caption = (
        "Mutual information of every two columns, in nats: below the diagonal in the real table, above it in the "
        f"synthetic one. What hangs together is not what causes what.{rest}"
    )
    return [
        (
            "What hangs together, real and synthetic",
            Drawing(charts.heat(names, names, list(both.ravel()), "nats"), caption),
        ),
        (
            "What the synthetic table lost or made up",
            Drawing(
                charts.heat(names, names, list(np.abs(real - made).ravel()), "nats apart"),
                "How far the mutual information of every two columns is apart in the two tables.",
            ),
        ),
    ]


def _related(one: Related) -> Line:
    figures = (f"{value:.3f}".replace("-", "−") for value in (one.real, one.synthetic, one.off))
    return [_title(one.columns), *figures]
