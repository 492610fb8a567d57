"""The folder a reader gets: one page that needs nothing else, everything as JSON, chains as CSV, figures as SVG."""

from pathlib import Path
from typing import Final

from entwined.canonical import Document
from entwined.papers.bayesian_dp import NOTICE
from entwined.papers.bayesian_dp.experiments import BayesianFindings
from entwined.papers.bayesian_dp.figures import draw_figures
from entwined.papers.bayesian_dp.gaussian import BELIEFS
from entwined.papers.bayesian_dp.scales import KNOWS, ScaleRow
from entwined.papers.bayesian_dp.verdicts import bayesian_verdicts
from entwined.papers.dependent_dp.verdicts import rounded
from entwined.papers.folder import made, write_document, write_table, write_text
from entwined.papers.page_parts import escape, section, table, whole_page, words

TIGHT: Final = (
    "With probability 1 − η all records are independent ±1, with probability η all are 0: no two are correlated. One "
    "output has a chance in proportion to exp(ε · zeros), which one record changes by a factor of e^ε. What it says of "
    "one record is mε, exactly: who learns that one is 0 knows all."
)
THEOREMS: Final = (
    "Gaussian: for an ε-ℓ₁-private mechanism, jointly Gaussian values of equal variance and ρ(m − 2) < 1, the leakage "
    "of two values x and x′ is at most (m²/(4(1/ρ − m + 2)) + 1) ε |x − x′|; with values clipped to an interval of "
    "length M it is at most M times as much for two values inside. Markov: for an ε-DP mechanism, all transitions "
    "positive (H1) and a stationary start (H2), it is at most ε + 4 ln γ, γ the largest entry over the smallest."
)
ACCEPTED: Final = (
    "Each theorem was asked about each chain with a loss that vanishes. A number is the leakage above which it speaks; "
    "“every” means that every leakage above 0 can be had."
)
SCALES: Final = (
    "Laplace scale for a sum that each step changes by at most 1. The adversary knows the chain, or any values too, or "
    "anything of single steps. The quilt speaks of the first only. Attack: below this scale an explicit count, with "
    "sets chosen step by step, leaks more than is wanted, so no bound can ask for less. Who may know anything of "
    "single steps may know of each that it was in one of two states, and looks at a chain that hardly ever moves."
)
MEANS: Final = (
    "For a leakage of 1: the deviation of the noise of a mean, and what 95 of 100 errors stay below."
)
SHIFTS: Final = (
    "Sums of a family with Laplace noise that promises a leakage of 1, and an adversary who knows the values of some: "
    "the largest log ratio of its beliefs about one member, over all releases, with that noise and with 0.8 of it."
)
FIGURES: Final = (
    "Lines: theory. Crosses: upper ends of 95 % intervals from drawn releases. Where a method has no line it does not "
    "accept the law, or does not reach the leakage."
)


def write(found: BayesianFindings, folder: Path) -> list[Path]:
    """Write the folder and say which files it has."""
    with made(folder):
        figures = draw_figures(found, folder)
        return [
            write_text(folder / "report.html", page(found, figures)),
            write_document(folder / "results.json", document(found)),
            write_table(folder / "chains.csv", document(found)["scales"]),
            *figures.values(),
        ]


def document(found: BayesianFindings) -> Document:
    """Everything, the verdicts first."""
    judged = [one._asdict() for one in bayesian_verdicts(found)]
    return {"notice": NOTICE, "verdicts": judged, **found.document()}


def page(found: BayesianFindings, figures: dict[str, Path]) -> str:
    """The page with its figures inside."""
    drawn = [path.read_text(encoding="utf-8") for path in figures.values()]
    judged = bayesian_verdicts(found)
    parts = [
        f'<p class="notice">{escape(NOTICE)}</p>',
        "<h1>Balancing privacy and utility in correlated data, reproduced</h1>",
        words(
            "Lange, Guerra-Balboa, Parra-Arnau and Strufe (2025) on the data below; "
            f"{found.releases:,} releases a cross."
        ),
        _sources(found),
        *section(
            "Verdicts",
            "",
            table(["part", "verdict", "why"], judged, [one.verdict.split()[0] for one in judged]),
        ),
        *section("Any dependence: mε", TIGHT, _tight(found)),
        *section("The two theorems", THEOREMS),
        *section("Previous mechanism and ours", ACCEPTED, _accepted(found)),
        *section("Real series", SCALES, scale_table(found.scales)),
        *section("Families and twins", MEANS, _means(found)),
        *section("Beliefs", SHIFTS, _shifts(found)),
        *section("Figures", FIGURES, *drawn),
    ]
    return whole_page("Bayesian DP, reproduced", parts)


def _sources(found: BayesianFindings) -> str:
    rows = [[one.name, one.source, f"{one.length:,} steps, {one.states} states"] for one in found.data.series]
    rows += [
        [one.name, one.source, f"{one.people:,} people, up to {one.most} together"] for one in found.data.kin
    ]
    return table(["data", "source", "size"], rows)


def _tight(found: BayesianFindings) -> str:
    rows = [
        [
            str(one.records),
            *(f"{value:.6g}" for value in (one.epsilon, one.correlation, one.leaked, one.bound)),
        ]
        for one in found.tight
    ]
    return table(["m", "ε", "largest correlation", "leaked", "mε"], rows)


def _accepted(found: BayesianFindings) -> str:
    theorems = list(dict.fromkeys(one.theorem for one in found.accepted))
    rows = []
    for chain in dict.fromkeys(one.chain for one in found.accepted):
        said = {one.theorem: one for one in found.accepted if one.chain == chain}
        rows.append([chain, *(_reach(said[name].above, said[name].why_not) for name in theorems)])
    return table(["chain", *theorems], rows)


def _reach(above: float | None, why_not: str) -> str:
    if above is None:
        return f"no: {why_not.split('. ', maxsplit=1)[0]}."
    return f"above {rounded(above)}" if above else "every"


def scale_table(rows: list[ScaleRow]) -> str:
    """The noise on real chains, one row a chain, adversary and leakage."""
    shown = [
        [
            f"{one.series}, {one.counts}",
            KNOWS[one.knowledge],
            f"{one.target:g}",
            *("" if scale is None else rounded(scale) for scale in (one.group, one.closed_form, one.quilt)),
            rounded(one.ours),
            one.theorem,
            rounded(one.attack),
            f"{one.ratio:.2f}",
        ]
        for one in rows
    ]
    head = [
        "series",
        "adversary knows",
        "leakage",
        "group",
        "Lange et al.",
        "quilt",
        "ours",
        "by",
        "attack",
        "ratio",
    ]
    return table(head, shown)


def _means(found: BayesianFindings) -> str:
    rows = [
        [
            one.kin,
            str(one.together),
            f"{one.correlation:g}",
            one.method,
            BELIEFS[one.method],
            *map(rounded, (one.factor, one.deviation, one.error)),
        ]
        for one in found.means
    ]
    head = ["kin", "m", "ρ", "method", "what must be believed", "times the noise", "deviation", "95 % error"]
    return table(head, rows)


def _shifts(found: BayesianFindings) -> str:
    rows = [
        [
            str(one.together),
            f"{one.correlation:g}",
            str(one.known),
            f"{one.noise:g}",
            f"{one.seen:.4f}",
            f"{one.promised:g}",
            "exceeds it" if one.exceeds else "within",
        ]
        for one in found.shifts
    ]
    return table(["m", "ρ", "known", "noise", "largest shift", "promised", ""], rows)
