"""The folder a reader gets: one page that needs nothing else, everything as JSON, figures as SVG."""

import json
from pathlib import Path
from typing import Final

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.papers.attribute_privacy import NOTICE
from entwined.papers.attribute_privacy.experiments import AttributeFindings
from entwined.papers.attribute_privacy.figures import draw_attribute_figures
from entwined.papers.attribute_privacy.verdicts import attribute_verdicts
from entwined.papers.dependent_dp.verdicts import rounded
from entwined.papers.page_parts import escape, section, table, whole_page, words

READINGS: Final = (
    "The paper computes with |a − b| ≤ 0.25 and declares sets whose points are up to 0.5 apart. Both are shown: its "
    "noise by √(2 ln(1.25/δ)), the exactly calibrated one, and the δ that its noise keeps at ε = 1 for what it "
    "declares. Beside that, what its constant keeps of δ = 0.001 at larger ε."
)
SCHOOL: Final = (
    "Figure 1 with made-up numbers: parameters of gender follow those of incomes with the stated chance. “Gender” is "
    "the quilt of Example 1, “Algorithm 2” the best of all published quilts, “here” the best set of asked columns, "
    "each pair of values with its own."
)
STUDENTS: Final = (
    "A count of SAT scores above 1300. Noise for one student's value is that of Song's quilt; what it leaks of the "
    "parameter of incomes is summed exactly. The quilt knows parameters alone; the Wasserstein mechanism knows the law "
    "of the count, for certain or with δ = 0.001."
)
NORMAL: Final = (
    "Both columns have variance 1, two points of the hidden mean are 1 apart, ε = 1, δ = 0.001. More rows need more "
    "noise: they tell the hidden mean better."
)
DIFFERENCES: Final = """\
Influence is measured between parameters, not between values: who hides a value of one person may show the parameter.

Sensitivity is that of whole columns, for which a Lipschitz constant of one value says nothing: a count has n.

Only near columns that the query reads count, not all near ones. Taken further: quilts of asked columns are the best."""


def write(found: AttributeFindings, folder: Path) -> list[Path]:
    """Write the folder and say which files it has."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        figures = draw_attribute_figures(found, folder)
        text = json.dumps(document(found), ensure_ascii=False, allow_nan=False, indent=1)
        paths = [folder / "report.html", folder / "results.json"]
        for path, content in zip(paths, (page(found, figures), text + "\n"), strict=True):
            path.write_text(content, encoding="utf-8")
        return [*paths, *figures.values()]
    except OSError as reason:
        raise BadInput(
            f"{folder} cannot be written: {reason.strerror}. Give a folder you may write to."
        ) from None


def document(found: AttributeFindings) -> Document:
    """Everything, the verdicts first."""
    judged = [one._asdict() for one in attribute_verdicts(found)]
    return {"notice": NOTICE, "verdicts": judged, **found.document()}


def page(found: AttributeFindings, figures: dict[str, Path]) -> str:
    """The page with its figures inside."""
    drawn = {name: path.read_text(encoding="utf-8") for name, path in figures.items()}
    judged = attribute_verdicts(found)
    kinds = [one.verdict.split()[0] for one in judged]
    parts = [
        f'<p class="notice">{escape(NOTICE)}</p>',
        "<h1>Attribute privacy, reproduced</h1>",
        words(
            f"Zhang, Ohrimenko and Cummings (FAccT 2022); noise drawn {found.runs:,} times, as in the paper."
        ),
        *section("Verdicts", "", table(["part", "verdict", "why"], judged, kinds)),
        *section("§4.2: three averages", READINGS, _releases(found), _errors(found), _constant(found)),
        *section("Theorems 2 and 4", "", _claims(found)),
        *section("Example 1", SCHOOL, drawn["school"], _school(found)),
        *section("Values or parameters", STUDENTS, drawn["students"], _students(found)),
        *map(words, DIFFERENCES.split("\n\n")),
        *section("Where no noise is needed", NORMAL, drawn["normal"], _normal(found)),
    ]
    return whole_page("Attribute privacy, reproduced", parts)


def _releases(found: AttributeFindings) -> str:
    head = [
        "average",
        "reading",
        "sensitivity",
        "variance",
        "noise of the paper",
        "exactly",
        "δ of the former",
    ]
    rows = [
        [one.column, one.reading, *(f"{value:.4g}" for value in one[2:7])]
        for one in (*found.releases, found.unequal)
    ]
    return table(head, rows)


def _errors(found: AttributeFindings) -> str:
    rows = [
        [one.column, one.reading, f"{one.runs:,}", *(f"{value:.4g}" for value in one[3:])]
        for one in found.errors
    ]
    return table(["average", "reading", "runs", "mean error", "expected", "drawn average"], rows)


def _constant(found: AttributeFindings) -> str:
    rows = [
        [f"{one.epsilon:g}", f"{one.slips:.2g}", "holds" if one.holds else "fails"] for one in found.constant
    ]
    return table(["ε", "δ that the paper's constant keeps", ""], rows)


def _claims(found: AttributeFindings) -> str:
    rows = [
        [
            one.theorem,
            f"{one.beta:g}",
            f"{one.distance:.4g}",
            f"{one.exceeded:.4f}",
            "holds" if one.holds else "fails",
        ]
        for one in found.claims
    ]
    return table(["theorem", "β", "distance", "exceeded", ""], rows)


def _school(found: AttributeFindings) -> str:
    head = ["query", "tie", "ε", "e(gender)", "e(height)", "gender", "Algorithm 2", "here"]
    rows = [
        [
            one.query,
            *(f"{value:g}" for value in (one.tie, one.epsilon)),
            *(f"{value:.4f}" for value in (one.gender_shows, one.height_shows)),
            "none" if one.by_gender is None else rounded(one.by_gender),
            rounded(one.published),
            rounded(one.ours),
        ]
        for one in found.school
    ]
    return table(head, rows)


def _students(found: AttributeFindings) -> str:
    head = ["students", "one value", "leaks", "quilt", "leaks", "Wasserstein", "with δ", ""]
    rows = [
        [f"{one.rows:,}", *(f"{value:.4g}" for value in one[1:7]), one.with_delta_noise]
        for one in found.students
    ]
    return table(head, rows)


def _normal(found: AttributeFindings) -> str:
    rows = [
        [
            f"{one.correlation:g}",
            f"{one.rows:,}",
            f"{one.analytic:.4g}",
            f"{one.classical:.4g}",
            f"{one.free_up_to:,}",
        ]
        for one in found.normal
    ]
    return table(["correlation", "rows", "noise", "noise of the paper", "none up to"], rows)
