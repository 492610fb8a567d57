"""Write the figures that our own code finds into README.md and the pages: `python docs/write_figures.py`.

Each claim is a sentence of a page with places for its figures. Figures come from a run of the calculus or of the demo,
or of long runs from what `python -m bench claims` kept in bench/results/claims.json. A test holds the pages against
them, and refuses a figure that nobody claims.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
RESULTS: Final = ROOT / "bench" / "results" / "claims.json"
SYNTHETIC: Final = RESULTS.with_name("synthetic_tables.json")
ADJUSTED: Final = RESULTS.with_name("adjusted_counts.json")
SHARES: Final = RESULTS.with_name("synthetic_shares.json")
NUMBER: Final = r"[0-9](?:[0-9.,]*[0-9])?"
CODE: Final = re.compile(r"^```.*?^```|`[^`]*`", re.DOTALL | re.MULTILINE)
DECIMAL: Final = re.compile(r"(?<![\w.])[0-9]+\.[0-9]+(?![\w.]*[0-9])")

Figures = Mapping[str, Any]


def chain() -> Figures:
    """A chain of 100 steps: what noise it needs, and what plain noise leaks."""
    import entwined as ew
    from entwined.bounds import NoisySum
    from entwined.bounds.profiles.curves import largest_shift
    from entwined.papers.golden import CASES, METHODS, symmetric_chain

    steps = symmetric_chain(0.1)
    group, quilt, any_known, model = (
        METHODS[way](steps, 1.0) for way in ("group", "Markov quilt", "messages (any)", "transport (model)")
    )
    cases = [
        (METHODS["Markov quilt"], METHODS["messages (any)"], symmetric_chain(flip), target)
        for flip, target in CASES
    ]
    gains = [(of_quilt(one, target) or 0) / (ours(one, target) or 1) for of_quilt, ours, one, target in cases]
    alone = 1 / float(largest_shift(Fraction(1), Fraction(1, 10**6)))
    plain = ew.bound(steps, NoisySum.of([0, 1], 1.0, steps.units), "model").leakage.worst
    return {
        "plain": plain, "group": group, "quilt": quilt, "any": any_known, "model": model,
        "over_quilt": quilt / any_known, "over_group": group / any_known,
        "least": min(gain for gain in gains if gain > 1), "most": max(gains),
        "alone": alone, "all": alone * steps.units**0.5,
    }  # fmt: skip


def noise_chart() -> str:
    """The noise that each bound asks for on a series of days, above what an attack shows to be needed."""
    from entwined.bounds.choose import named
    from entwined.papers.bayesian_dp.count_attack import CountAttack
    from entwined.papers.bayesian_dp.scales import scale_of

    ways = {
        "group": "Group",
        "message passing": "Messages, anything known",
        "markov quilt": "Markov quilt",
        "block messages": "Blocks, any values known",
        "transport": "Transport",
        "block transport": "Blocks, the chain known",
    }
    days = day_by_day()
    scales = {title: scale_of(named(name), days, 1.0) or 0.0 for name, title in ways.items()}
    return bar_chart(scales, "Laplace scale for a leakage of 1", CountAttack.on(days).least_scale(1.0))


def day_by_day() -> Any:
    """A person who is well, unwell or ill, for a year."""
    import numpy as np

    import entwined as ew
    from entwined.dependence import Box

    step = np.array([[0.95, 0.05, 0.0], [0.04, 0.92, 0.04], [0.0, 0.1, 0.9]])
    settled = np.linalg.matrix_power(step, 4096)[0]
    return ew.MarkovChain(365, Box.exact(step), settled / settled.sum())


def months_chart() -> str:
    """What monthly counts leak of a month, and what their losses add up to."""
    import entwined as ew
    from entwined.dependence import Box

    monthly = ew.MarkovChain(60, Box.exact([[0.9, 0.1], [0.2, 0.8]]))
    found = {}
    for months in (12, 24, 60):
        spent = ew.Loss([0.25] * months + [0.0] * (60 - months))
        found[f"{months} months, added up"] = 0.25 * months
        found[f"{months} months, the chain"] = ew.bound(monthly, spent).leakage.worst
    return bar_chart(found, "leakage of counts with a loss of 1/4 a month")


def bar_chart(values: Mapping[str, float], unit: str, limit: float | None = None) -> str:
    """Draw bars as reports do."""
    from entwined.report import charts

    labels = charts.labelled(list(values))
    rows = [
        {"label": label, "value": value, "said": f"{value:.3g}", "kept": "yes"}
        for label, value in zip(labels, values.values(), strict=True)
    ]
    return charts.compared(rows, unit, limit) + "\n"


CHARTS: Final = {"docs/series-noise.svg": noise_chart, "docs/series-months.svg": months_chart}


def pair() -> Figures:
    """Two neighbours who say the same in 99 of 100 streets; and siblings in one noisy sum."""
    import entwined as ew
    from entwined.bounds import NoisyLinear
    from entwined.dependence import BayesNet, Gaussian, Variable

    first = Variable("first", ("no", "yes"), (), [[0.5, 0.5]])
    second = Variable("second", ("no", "yes"), ("first",), [[0.99, 0.01], [0.01, 0.99]])
    street, loss = BayesNet.of([first, second]), ew.Loss.uniform(1, units=2)
    siblings = Gaussian.of([[49, 24.5, 24.5], [24.5, 49, 24.5], [24.5, 24.5, 49]])
    total = NoisyLinear.total(units=3, deviation=5, distance=5, delta="1e-6")
    shifts = [
        one for one in ew.bound(siblings, total).alternatives if one.theorem.name == "noisy linear shift"
    ]
    return {
        "any": ew.bound(street, loss).leakage.worst,
        "model": ew.bound(street, loss, "model").leakage.worst,
        "by_shift": shifts[0].leakage.worst,
    }


def leaning() -> Figures:
    """Twelve units that all lean together a little, by each theorem that has a word on them."""
    from itertools import combinations

    import numpy as np

    import entwined as ew
    from entwined.dependence import Edge, RandomField

    names = [f"u{unit}" for unit in range(12)]
    together = np.exp(0.1 * np.array([[1, -1], [-1, 1]])).tolist()
    field = RandomField.of(dict.fromkeys(names, 2), [Edge(pair, together) for pair in combinations(names, 2)])
    found = ew.bound(field, ew.Loss.uniform("0.2", units=12), "model")
    said = {one.theorem.name: one.leakage.worst for one in found.alternatives if one.leakage is not None}
    said[found.theorem.name] = found.leakage.worst
    return {name.replace(" ", "_"): leakage for name, leakage in said.items()}


def demo() -> Figures:
    """The plan of the demo, as `entwined plan` compares the ways."""
    from entwined.cli.show import about
    from entwined.demo import write_demo
    from entwined.request.outlook import outlook
    from entwined.request.request_file import read_request
    from entwined.schema import read_schema, write_schema

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_demo(folder)
        schema = read_schema(folder / "schema.toml").approve()
        write_schema(schema, folder / "schema.toml")
        plan = outlook(read_request(folder / "release.toml")).document
    heads = ("way", "ε of a unit", "leaks: neighbours", "keeps the promise", "± of Expected vote")
    lines = [
        (
            way["title"] + (" (proposed)" if way["way"] == plan["proposed"] else ""),
            about(way["loss"]),
            about(way["leakage"]["neighbours"]),
            "yes" if way["keeps_promise"] else "NO",
            about(way["statistics"][0]["half_width"]),
        )
        for way in plan["ways"]
        if way["applies"]
    ]
    widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    return {"rows": schema.rows, "table": "\n    ".join(_aligned(line, widths) for line in (heads, *lines))}


def _aligned(line: tuple[str, ...], widths: list[int]) -> str:
    """Write one line of a table as `entwined plan` does: texts to the left, numbers to the right."""
    numeric = re.compile(NUMBER)
    cells = [
        text.rjust(width) if numeric.fullmatch(text) else text.ljust(width)
        for text, width in zip(line, widths, strict=True)
    ]
    return " | ".join(cells).rstrip()


def surveys() -> Figures:
    """The gains on two surveys, from the last long run."""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))["figures"]
    return {f"y{name[-4:]}_{key}": gain for name, gains in found.items() for key, gain in gains.items()}


def synthetic_tables() -> Figures:
    """How far synthetic tables are off, from the last long run, as rows of a table."""
    found = json.loads(SYNTHETIC.read_text(encoding="utf-8"))["figures"]
    lines = []
    for name, told in found.items():
        title = f"{name} ({told['rows']:,} × {told['columns']})"
        for way, figures in told.items():
            if isinstance(figures, dict):
                lines.append([title, way, *_quality(figures)])
    return {"table": "\n".join(f"| {' | '.join(line)} |" for line in lines)}


def synthetic_shares() -> Figures:
    """How far synthetic tables are off as the share for columns alone moves, as rows of a table."""
    found = json.loads(SHARES.read_text(encoding="utf-8"))["figures"]
    lines = []
    for name, told in found.items():
        for way, figures in told.items():
            epsilon, share = (part.split(" = ")[1] for part in way.split(", "))
            lines.append([name, epsilon, share, *(f"{figures[f'{ways}-way']:.5f}" for ways in (1, 2, 3))])
    return {"table": "\n".join(f"| {' | '.join(line)} |" for line in lines)}


def adjusted_counts() -> Figures:
    """Errors of values and adjusted counts by true size, from the last long run, as rows of tables."""
    lines = json.loads(ADJUSTED.read_text(encoding="utf-8"))["figures"]["lines"]
    by_case = {(line["empty"], line["scale"], line["beside"], line["size"]): line for line in lines}
    sizes = sorted({line["size"] for line in lines})

    def entry(column: str, empty: int, scale: str, beside: str, size: int) -> str:
        line = by_case.get((empty, scale, beside, size))
        if line is None:
            return ""
        marked = "*" if column == "adjusted" and line["caveat"] > 0.5 else ""  # noqa: PLR2004  (most releases)
        return f"{line[column]:.2f}{marked} ({line[f'{column}_bias']:+.1f})".replace("-", "−")

    def table(columns: list[tuple[str, int, str, str]]) -> str:
        rows = ([f"{size:,}", *(entry(*column, size) for column in columns)] for size in sizes)
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    beside = ("nothing", "public rows", "count", "marginal", "condition")
    return {
        "by_empty": table(
            [("value", 176, "17", "count"), *(("adjusted", empty, "17", "count") for empty in (0, 26, 176))]
        ),
        "by_beside": table([("adjusted", 176, "17", one) for one in beside]),
        "by_scale": table(
            [(column, 26, scale, "count") for scale in ("2", "0.3") for column in ("value", "adjusted")]
        ),
    }


def _quality(figures: Mapping[str, float]) -> list[str]:
    if not figures:
        return ["not ended"] * 5
    if "stopped after" in figures:
        return ["", "", "", "", f"stopped after {figures['stopped after']:.0f}"]
    off = [f"{figures[f'{ways}-way']:.4f}" for ways in (1, 2, 3)]
    seconds = f"{figures['cpu']:.1f}" if "cpu" in figures else ""
    return [*off, f"{figures['accuracy']:.3f}", f"{seconds} ({figures['runs']:.0f})"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a page, with places for figures of one source; how lines are broken does not matter."""

    page: str
    source: Callable[[], Figures]
    says: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """What finds the sentence, whatever its figures are."""
        parts = []
        for literal, field, spec, _ in Formatter().parse(self.says):
            parts.append(re.sub(r"(?:\\\s|\s)+", r"\\s+", re.escape(literal)))
            parts.append("" if field is None else f"({NUMBER})" if spec else "(.+?)")
        return re.compile("".join(parts), re.DOTALL)

    @property
    def figures(self) -> list[str]:
        """The figures as they are to be written."""
        found = _found(self.source)
        return [
            format(found[field], spec or "") for _, field, spec, _ in Formatter().parse(self.says) if field
        ]


@cache
def _found(source: Callable[[], Figures]) -> Figures:
    return source()


CLAIMS: Final = (
    Claim("README.md", chain, "(what it really leaks: {plain:.1f}) | 1 |"),
    Claim("README.md", chain, "the usual remedy | {group:.0f} |"),
    Claim("README.md", chain, "Markov quilt mechanism (2017) | {quilt:.1f} |"),
    Claim("README.md", chain, "adversary knows any other values | **{any:.1f}** |"),
    Claim("README.md", chain, "adversary knows the model only | **{model:.1f}** |"),
    Claim("README.md", demo, "For {rows:d} voters"),
    Claim("README.md", demo, "it says:\n\n{table}\n\n`out/report.html`"),
    Claim(
        "README.md",
        surveys,
        "L2 error at leakage 1 is {y2006_laplace:.2f} (2006) and {y2020_laplace:.2f} (2020; "
        "{y2020_laplace_public_form:.2f} if it is public",
    ),
    Claim(
        "README.md",
        surveys,
        "for whole rows is {y2006_plain_gaussian:.2f} and {y2020_plain_gaussian:.2f} times below plain Laplace",
    ),
    Claim(
        "README.md",
        surveys,
        "another {y2006_gaussian_any:.2f} (2006) and {y2020_gaussian_any:.2f} (2020) times below that; "
        "{y2006_gaussian_model:.2f} and {y2020_gaussian_model:.2f} (blanks filled by draws) times",
    ),
    Claim(
        "README.md",
        surveys,
        "of the pilot, {y2006_gaussian_any:.2f} and {y2006_gaussian_model:.2f} are "
        "{y2006_gaussian_any_smoothed_by_a_quarter:.2f} and {y2006_gaussian_model_smoothed_by_a_quarter:.2f}.",
    ),
    Claim("docs/stories.md", pair, "learns up to {any:.3f} about each of them"),
    Claim("docs/stories.md", pair, "the street alone learns {model:.4f},"),
    Claim("docs/stories.md", chain, "multiplies the noise by {group:.0f}."),
    Claim("docs/stories.md", chain, "brings it down to {quilt:.1f}."),
    Claim(
        "docs/stories.md",
        chain,
        "That is {over_quilt:.1f} times less noise than the quilt, {over_group:.0f} times less than the group",
    ),
    Claim("docs/stories.md", chain, "From {least:.1f} to {most:.1f} times less noise against"),
    Claim(
        "docs/stories.md", chain, "One step alone would need {alone:.1f}, all steps as one group {all:.0f}."
    ),
    Claim("docs/synthetic.md", synthetic_tables, "|---|---|---|---|---|---|---|\n{table}\n\nFair's survey"),
    Claim(
        "docs/synthetic.md",
        synthetic_shares,
        "| table | ε | `alone` | 1-way | 2-way | 3-way |\n|---|---|---|---|---|---|\n{table}\n\nSo a column",
    ),
    Claim(
        "docs/adjusted.md",
        adjusted_counts,
        "176 empty cells |\n|---|---|---|---|---|\n{by_empty}\n\nWith 176",
    ),
    Claim(
        "docs/adjusted.md",
        adjusted_counts,
        "half the cells |\n|---|---|---|---|---|---|\n{by_beside}\n\nWith 26",
    ),
    Claim("docs/adjusted.md", adjusted_counts, "scale 0.3 |\n|---|---|---|---|---|\n{by_scale}\n\nIntervals"),
    Claim("docs/streams.md", chain, "if one mechanism read all steps, {alone:.1f} for one step alone)"),
    Claim(
        "docs/series.md",
        leaning,
        "leak {affiliation:.3f}, where self-avoiding walks say {self_avoiding_walks:.3f}, messages "
        "{message_passing:.3f} and the group {group:.1f}.",
    ),
    Claim("docs/models.md", pair, "what moves alone it would be {by_shift:.1f} here"),
)
GIVEN: Final = {
    "README.md": {"0.9", "3.11", "0.5", "2.0"},  # a law of a chain, Python, log odds of a model, a licence
    "docs/adjusted.md": {"1.05", "0.3"},  # the error that is tolerated, a scale of noise
    "docs/adding-model.md": {"1.0"},  # twice a loss of 0.5
    "docs/python.md": {"97.5"},  # a confidence to be given
    "docs/schema-file.md": {"998.0"},  # a code of a survey
    "docs/stories.md": {"0.9"},
    "docs/theorems.md": {"1.1", "1.9", "2.14"},  # numbers of other people's theorems
    "docs/tutorial.md": {"0.5"},  # the leakage asked for
}
"""Numbers with a point that we put in ourselves, or that others found."""


def corrected(name: str, text: str) -> str:
    """Give a page with its figures as they are found now."""
    for claim in CLAIMS:
        if claim.page != name:
            continue
        (match,) = _matches(claim, text)
        for place, figure in reversed(list(enumerate(claim.figures, 1))):
            text = text[: match.start(place)] + figure + text[match.end(place) :]
    return text


def _matches(claim: Claim, text: str) -> list[re.Match[str]]:
    found = list(claim.pattern.finditer(text))
    if len(found) != 1:
        raise SystemExit(
            f"{claim.page} says {len(found)} times: {claim.says!r}. Change the claim or the page."
        )
    return found


def unclaimed(name: str, text: str) -> Iterator[str]:
    """Find figures with a point, outside code, that no claim covers and that nobody put in."""
    covered = [
        match.span() for claim in CLAIMS if claim.page == name for match in claim.pattern.finditer(text)
    ]
    code = [match.span() for match in CODE.finditer(text)]
    for figure in DECIMAL.finditer(text):
        known = any(start <= figure.start() < end for start, end in covered + code)
        if not known and figure[0] not in GIVEN.get(name, ()):
            yield figure[0]


if __name__ == "__main__":
    for changed in dict.fromkeys(claim.page for claim in CLAIMS):
        place = ROOT / changed
        place.write_text(corrected(changed, place.read_text(encoding="utf-8")), encoding="utf-8")
    for chart, draw in CHARTS.items():
        (ROOT / chart).write_text(draw(), encoding="utf-8")
