"""The folder a reader gets: one page that needs nothing else, everything as JSON, utility as CSV, figures as SVG."""

from pathlib import Path
from typing import Final

import numpy as np

from entwined.canonical import Document
from entwined.papers.dependent_dp import NOTICE
from entwined.papers.dependent_dp.experiments import Reproduction
from entwined.papers.dependent_dp.figures import draw_figures
from entwined.papers.dependent_dp.utility import EPSILONS
from entwined.papers.dependent_dp.verdicts import rounded, verdicts
from entwined.papers.folder import made, write_document, write_table, write_text
from entwined.papers.page_parts import escape, section, table, whole_page, words

KNOWN_BEFORE: Final = (
    "Equation 11 subtracts a posterior with friends from a prior without. The columns split it: what friends' values "
    "said before anything was released, and what the release added. If all others are known a release of loss ε adds "
    "at most ε, whatever depends on what; unknown others blur the sums, nearly normally (an approximation)."
)
EXACT: Final = (
    "A count with Laplace noise of scale 1/ε, by exact calculation over all outputs: the person with the most friends "
    "in a city of 20 × 20 cells under Equation 26, some of the friends known, and twins of whom one is unknown. In "
    "multiples of ε, beside mean information in nats. Friends are drawn independently given the person, which is what "
    "Equation 14 needs; the bound is that of the messages for such a star."
)
KILOMETRES: Final = (
    "Log odds over a whole city are those of the group. For each kilometre between two places much less leaks: the "
    "bound of places by messages, for a release that loses so much for each kilometre of each person."
)
FACTORS: Final = (
    "How many times more noise each method needs than plain differential privacy, for a leakage of 1. Ties between "
    "friends and between pages have the coefficients of Equation 26; so have people with profiles of cosine above 0.8."
)
TASKS: Final = (
    "Means over runs ± standard error. Clustering: one noisy round of Lloyd from the regions of Table I, share of a "
    "held-out fifth assigned as without noise. Classification: logistic regression with noise in its objective, "
    "accuracy and (area under the curve) on a held-out fifth, another one each time. Degrees: 1 − ‖C − C′‖₁ / "
    "‖C + C′‖₁, each person's own list of ties as their row. Clusters and classifiers have the noise of the "
    "mechanisms here, times the factor."
)
SLIPS: Final = """\
Definition 4 does not say what an adversary knows of the others: Section III has all of them known, Equation 12 none.
With all known nothing more is learned through them; with none known leakages do not add up (Theorem 3).

Theorem 9 needs that, given a person, those tied to that person are independent of each other. Friends of a person are
often friends of each other, in the paper's own data too.

Equation 18 is positive even under independence; Equation 14, exactly, is half of it here.

Equation 6 has noise of scale 1/ε on centroids in the unit cube, and the sensitivity of centroids is not given. Here
sums and counts get noise for a person who leaves one cluster and enters another.

The similarity of Section VII-B divides by sums, so that equal profiles of 14 answers have 1/14: no pair exceeds 0.8.

Adult without missing answers has 30,162 rows, not 30,269; its profiles carry no model in which people who are alike
would depend on each other."""


def write(found: Reproduction, folder: Path) -> list[Path]:
    """Write the folder and say which files it has."""
    with made(folder):
        figures, written = draw_figures(found, folder), document(found)
        paths = [
            write_text(folder / "report.html", page(found, figures)),
            write_document(folder / "results.json", written),
            write_table(folder / "utility.csv", written["utility"]),
        ]
        return [*paths, *figures.values()]


def document(found: Reproduction) -> Document:
    """Everything, the verdicts first."""
    judged = [one._asdict() for one in verdicts(found)]
    return {"notice": NOTICE, "verdicts": judged, **found.document()}


def page(found: Reproduction, figures: dict[str, Path]) -> str:
    """The page with its figures inside."""
    drawn = {name: path.read_text(encoding="utf-8") for name, path in figures.items()}
    parts = [
        f'<p class="notice">{escape(NOTICE)}</p>',
        "<h1>Dependence makes you vulnerable, reproduced</h1>",
        words(f"Liu, Chakraborty and Mittal (NDSS 2016) on the data below; {found.trials} splits or draws."),
        _sources(found),
        *section("Verdicts", "", _verdicts(found)),
        *section("Example 1 and figure 6", "", _separations(found), drawn["figure_6"]),
        *section("Theorems 2 to 6 and 9", "", _claims(found)),
        *section("Table I", "", _regions(found)),
        *section("Figures 2 to 4", "", drawn["figure_2"], drawn["figure_3"], drawn["figure_4"]),
        *section(
            "Figures 5, 7 and 10",
            KNOWN_BEFORE,
            _guesses(found),
            drawn["figure_5"],
            drawn["figure_7"],
            drawn["figure_10"],
        ),
        *section("What a release adds", EXACT, drawn["added"], _added(found)),
        *section("By the kilometre", KILOMETRES, _per_kilometre(found)),
        *section("Noise", FACTORS, _coefficients(found), _methods(found)),
        *section("Figure 8 and Theorem 10", "", drawn["figure_8"], _needed(found)),
        *section("Figure 9", TASKS, drawn["figure_9"], *(_utility(found, task) for task in _tasks(found))),
        *section("Where the paper is unclear or slips", "", *map(words, SLIPS.split("\n\n"))),
    ]
    return whole_page("Dependent DP, reproduced", parts)


def _sources(found: Reproduction) -> str:
    data = found.data
    rows = [
        [one.table, one.source, f"{one.people:,}", f"{one.most_ties:,}", f"{one.component:,}"]
        for one in found.ties
    ]
    rows += [[one.kind, data.twins_source, f"{2 * one.pairs:,}", "1", "2"] for one in data.twins]
    return table(["table", "source", "people", "most ties of one", "largest component"], rows)


def _verdicts(found: Reproduction) -> str:
    judged = verdicts(found)
    return table(["part", "verdict", "why"], judged, [one.verdict.split()[0] for one in judged])


def _separations(found: Reproduction) -> str:
    head = ["query", "ε", "pair's coefficient", "Wasserstein", "by integration", "by hand"]
    return table(head, ([one.query, *(f"{value:.4f}" for value in one[1:])] for one in found.separations))


def _claims(found: Reproduction) -> str:
    rows = [
        [one.theorem, one.case, rounded(one.claimed), rounded(one.found), "holds" if one.holds else "fails"]
        for one in found.claims
    ]
    return table(["theorem", "case", "claimed", "found", ""], rows)


def _regions(found: Reproduction) -> str:
    head = ["region", "km from its city", "people", "visits", "places", "in the paper"]
    rows = [
        [
            one.name,
            f"{one.kilometres:.1f}",
            str(one.people),
            str(one.visits),
            str(one.places),
            " / ".join(map(str, one.paper)),
        ]
        for one in found.regions
    ]
    return table(head, rows)


def _guesses(found: Reproduction) -> str:
    head = [
        "mechanism",
        "friends",
        "ε",
        "known",
        "km off",
        "Equation 11",
        "bits",
        "known before",
        "added",
        "largest shift",
    ]
    rows = [
        [
            one.mechanism,
            "yes" if one.friends else "no",
            f"{one.epsilon:g}",
            f"{one.known:.0%}",
            *(
                f"{value:.3f}"
                for value in (one.kilometres, one.leaked, one.leaked / np.log(2), one.before, one.added)
            ),
            f"{one.largest_shift:.3f}",
        ]
        for one in found.guesses
    ]
    return table(head, rows)


def _added(found: Reproduction) -> str:
    rows = [
        [
            one.story,
            f"{one.epsilon:g}",
            f"{one.known:.0%}",
            str(one.unknown),
            *(f"{value:.4f}" for value in (one.before, one.nats)),
            *(f"{value / one.epsilon:.3f}" for value in (one.added, one.dependent, one.certificate)),
        ]
        for one in found.added
    ]
    return table(
        ["who", "ε", "known", "unknown", "nats before", "nats added", "added", "Equation 14", "bound"], rows
    )


def _per_kilometre(found: Reproduction) -> str:
    rows = [list(map(rounded, one)) for one in found.per_kilometre]
    return table(
        ["loss a kilometre", "leaks at most", "times", "times, median person", "times, a group"], rows
    )


def _coefficients(found: Reproduction) -> str:
    rows = [[f"{one.loss:g}", *(f"{value:.4f}" for value in one[1:])] for one in found.coefficients]
    return table(["loss", "ρ of Equation 14", "ρ of Equation 18", "largest log odds"], rows)


def _methods(found: Reproduction) -> str:
    rows = [
        [table.table, one.name, rounded(one.factor), one.promises]
        for table in found.ties
        for one in table.methods
    ]
    return table(["table", "method", "noise", "what it promises"], rows)


def _needed(found: Reproduction) -> str:
    betas = list(dict.fromkeys(one.beta for one in found.needed))
    names = dict.fromkeys(one.method for one in found.needed)
    rows = [[name, *(rounded(one.epsilon) for one in found.needed if one.method == name)] for name in names]
    return table(["ε for an error below 1000, but for a chance of", *(f"{one:g}" for one in betas)], rows)


def _tasks(found: Reproduction) -> list[str]:
    return list(dict.fromkeys(one.task for one in found.utilities))


def _utility(found: Reproduction, task: str) -> str:
    chosen = [one for one in found.utilities if one.task == task]
    rows = []
    for name in dict.fromkeys(one.method for one in chosen):
        cells = [
            f"{one.accuracy:.3f} ± {one.standard_error:.3f}"
            + ("" if one.area is None else f" ({one.area:.2f})")
            for one in chosen
            if one.method == name
        ]
        rows.append([name, *cells])
    return f"<h3>{escape(task)}</h3>" + table(["method", *(f"ε = {one:g}" for one in EPSILONS)], rows)
