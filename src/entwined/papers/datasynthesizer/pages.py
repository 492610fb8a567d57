"""The folder a reader gets: one page that needs nothing else, everything as JSON, and the modes as CSV."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Final

from entwined.canonical import Document
from entwined.papers.datasynthesizer import NOTICE
from entwined.papers.datasynthesizer.experiments import LectureFound, said
from entwined.papers.datasynthesizer.figures import modes_drawing, network_drawing
from entwined.papers.datasynthesizer.modes import EPSILONS, FREE, ModeTried
from entwined.papers.datasynthesizer.networks import SLIDE_NETWORK, TableCompared
from entwined.papers.datasynthesizer.people import VALUES
from entwined.papers.folder import made, write_document, write_table, write_text
from entwined.papers.page_parts import STYLE

CARD: Final = """
figure.card { max-width: 34rem; margin: 1rem 0; } table { display: block; overflow-x: auto; }
"""
GIVEN: Final = {"sex": (), "age": ("sex",), "edu": ("age", "sex"), "income": ("edu", "age")}
SLIPS: Final = """\
The lecture gives a histogram the sensitivity 1 (one tuple comes or goes) and DataSynthesizer's histogram 2/n (one tuple
is replaced): two neighbour relations in one lecture. Here each promise names one and keeps to it.

"This works because Laplace noise is additive": sequential composition works for any noise, because losses add.

Parallel composition needs more than disjoint inputs: people in different groups who depend on each other speak for each
other. The last line of the four queries says how much.

The slide's 0.59 for men of 31 to 50 is a misprint of 0.50: its row adds up to 1.09.

The slide's network is one of several, and not the one that says most: grown from sex, the best choices without noise go
to income first.

DataSynthesizer's description file has histograms beside the network's tables, each with the whole ε: twice what it
says. It reads domains, missing rates and which columns are categorical from the rows for nothing, and its seed is 0."""
RECONSTRUCTION: Final = (
    "Sixty people with one secret bit each, 240 counts of random groups, and whoever solves the equations. With exact "
    "answers all bits are found; with the noise of ε = 1 for all counts together the guess is as good as a coin."
)

AGREEMENT: Final = (
    "With two genders, 1,001 men and 995 women are 1,996 people, and 2,005 were counted: no table has these answers. "
    "The nearest that agree, each weighed by its noise, are those of some table; they cost nothing, being made of what "
    "was released. Synthetic rows agree by themselves. That nobody of 5 works is a rule of a schema, which entwined "
    "synth keeps in every row."
)
NO_COMPAS: Final = (
    "COMPAS is not at hand. The wheel of the package fairness on PyPI brings it (pip install --no-deps fairness, whose "
    "code is not run); then this page has its figures."
)


def write(found: LectureFound, folder: Path) -> list[Path]:
    """Write the folder and say which files it has."""
    with made(folder):
        written = document(found)
        return [
            write_text(folder / "report.html", page(found)),
            write_document(folder / "results.json", written),
            write_table(folder / "modes.csv", written["modes"]),
        ]


def document(found: LectureFound) -> Document:
    """Everything, with the notice first."""
    return {"notice": NOTICE, **found.document()}


def page(found: LectureFound) -> str:
    """The page, drawings inside."""
    names = found.data.codes.names
    parts = [
        f'<p class="notice">{escape(NOTICE)}</p>',
        "<h1>Differential privacy and DataSynthesizer, the lecture that runs</h1>",
        _words(
            f"Stoyanovich, Responsible Data Science, New York University, March 2022. Data: {found.data.source}; "
            f"{found.data.codes.rows:,} people. Means over {found.trials} draws."
        ),
        *_section("Sensitivity, under both neighbour relations", _sensitivities(found)),
        *_section("Four queries", _composed(found)),
        *_section("Answers made to agree", _words(AGREEMENT), _agreed(found)),
        *_section("Why noise: reconstruction", _words(RECONSTRUCTION), _reconstructed(found)),
        *_section(
            "The modes of DataSynthesizer",
            _modes(found.modes),
            f'<figure class="card">{modes_drawing(found.modes, 1.0)}</figure>',
        ),
        *_section("The same on COMPAS", _modes(found.compas) if found.compas else _words(NO_COMPAS)),
        *_section("K = 1 and K = 2: networks that were found", *_structures(found)),
        *_section(
            "The slide's network and its tables",
            network_drawing(SLIDE_NETWORK, names),
            _slide_words(found),
            *(_slide(found, name) for name in VALUES),
        ),
        *_section("Where the lecture is unclear or slips", *map(_words, SLIPS.split("\n\n"))),
    ]
    body = "\n".join(parts)
    seen = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f"{seen}<title>DataSynthesizer, the lecture</title><style>{STYLE}{CARD}</style>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _section(title: str, *parts: str) -> list[str]:
    return [f"<h2>{escape(title)}</h2>", *parts]


def _words(text: str) -> str:
    return f"<p>{escape(text, quote=False)}</p>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return "<table>" + "".join(lines) + "</table>"


def _sensitivities(found: LectureFound) -> str:
    rows = [
        [one.query, one.lecture, f"{one.add_remove:.3g}", f"{one.replace:.3g}", one.remark]
        for one in found.sensitivities
    ]
    return _table(["query", "lecture", "a row comes or goes", "a row is replaced", ""], rows)


def _composed(found: LectureFound) -> str:
    return _table(["rule", "ε", ""], ([one.rule, f"{one.epsilon:.3g}", one.holds] for one in found.composed))


def _agreed(found: LectureFound) -> str:
    rows = [
        [one.query, f"{one.returned:,}", f"{one.estimate:,.1f}", f"{one.consistent:,}"]
        for one in found.agreed
    ]
    return _table(["count of", "returned", "best estimate", "whole and consistent"], rows)


def _reconstructed(found: LectureFound) -> str:
    rows = [
        [f"{one.noise:g}", "∞" if one.epsilon is None else f"{one.epsilon:g}", f"{100 * one.right:.0f}"]
        for one in found.reconstructed
    ]
    return _table(["scale of noise", "ε in all", "bits found, of 100"], rows)


def _modes(tried: Sequence[ModeTried]) -> str:
    rows = [
        [
            one.mode,
            "none" if one.mode == FREE else f"{one.epsilon:g}",
            f"{one.one_way:.2f}",
            f"{one.two_way:.2f}",
            f"{one.three_way:.2f}",
        ]
        for one in tried
        if one.mode != FREE or one.epsilon == EPSILONS[0]
    ]
    return _words(
        "People of 100 who are in a wrong cell, on average over all tables of so many columns."
    ) + _table(["mode", "ε", "one column", "two columns", "three columns"], rows)


def _structures(found: LectureFound) -> list[str]:
    names, parts = found.data.codes.names, []
    for one in found.structures:
        again = ", ".join(f"at ε = {epsilon:g} {share:.0%}" for epsilon, share in one.again.items())
        parts += [
            network_drawing(one.network, names),
            _words(
                f"K = {one.parents}: {said(one.network, names)}. Parents say {one.information:.3f} nats in all; the "
                f"slide's network {found.slide_information:.3f}. With half of ε the same one is found: {again}."
            ),
        ]
    return parts


def _slide_words(found: LectureFound) -> str:
    rounded = sum(one.rounds for one in found.slide)
    near = sum(one.same for one in found.slide) - rounded
    off = ", ".join(f"{found.off[epsilon]:.4f} at ε = {epsilon:g}" for epsilon in reversed(EPSILONS))
    return _words(
        f"{rounded} of {len(found.slide)} numbers of the slide are the data's, rounded to two digits, and {near} more "
        f"less than one off in the second digit. With noise (half of ε for these tables) their mean absolute "
        f"difference from those without is {off}."
    )


def _slide(found: LectureFound, name: str) -> str:
    rows = [
        [*_cell(one), f"{one.slide:.2f}", f"{one.found:.4f}", _verdict(one)]
        for one in found.slide
        if one.column == name
    ]
    return _table([*GIVEN[name], name, "slide", "data, no noise", ""], rows)


def _cell(one: TableCompared) -> list[str]:
    return [VALUES[side][code] for side, code in zip((*GIVEN[one.column], one.column), one.cell, strict=True)]


def _verdict(one: TableCompared) -> str:
    if one.is_misprint and not one.rounds:
        return "misprint"
    return "same" if one.rounds else "rounded otherwise" if one.same else "differs"
