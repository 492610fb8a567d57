"""The folder a reader gets: a page in words, tables as CSV, everything as JSON, figures as SVG."""

import csv
from collections.abc import Iterable, Sequence
from math import inf, isinf
from pathlib import Path
from typing import Final

from entwined.errors import BadInput
from entwined.papers.folder import made, write_document, write_table, write_text
from entwined.papers.tabular_ddp import NOTICE
from entwined.papers.tabular_ddp.experiments import EPSILONS, PLAIN, WIDTH, WIDTHS, Accuracy, Results, Weighed
from entwined.papers.tabular_ddp.figures import draw_figures
from entwined.papers.tabular_ddp.populations import monty_hall

GAINS: Final = (
    "How many times smaller the noise is than that of plain Laplace; below 1 it is larger. Questions of a chunk with "
    "DS = 0 are published without any noise."
)
SECONDS: Final = (
    "The paper reports about 10 seconds or less at k = 10 and over 100 for the 2020 pilot at k = 15, on fewer "
    "questions, and more for DS than for learning up to k = 10. The exact search here passes over more on its way."
)
LEAKS: Final = (
    "Exact enumeration; the noise is for a promised leakage of 1. The last two columns are the Laplace scale that the "
    "best bound of this package asks for, and the true leakage with it."
)
GAMES: Final = (
    "Every third of the 18 equally likely games. Monty never opens the door that was selected, so the ratio of line 5 "
    "is infinite for both edges; with zeros left out it is 0 for pairs and ln 2 with the other parent held fixed."
)
SLIPS: Final = """\
- Line 1 cuts n columns into ⌊n/k⌋ chunks of at most k: impossible unless k divides n. With ⌈n/k⌉ chunks the
  budgets add up to more than ε by the paper's own count (column *spent* of `sensitivity.csv`).
- Line 5 prints joint probabilities, the text conditional ones; the latter are meant and used here.
- Nearly every chunk has two answers that never occur together. Kept, such a zero makes DS infinite; the paper
  does not say what it does with them. Left out, a column that another one decides gets a coefficient of 0.
- Line 6 adds up all edges. Read so, the noise on the ANES pilots of 2006 and 2020 and the GSS of 2012 is
  *above* that of plain Laplace for every k, and hardly changes with k. The trend that the paper reports (little
  gain at k = 5, often two times and more from k = 10 on, more at 15) comes out, of the readings here, only if DS
  is the largest single coefficient, which its proof does not cover. Nor does the paper say which of a survey's
  columns it kept.
- A coefficient is a log ratio and has no reason to be at most 1, yet it is used as a share of the loss; the
  answer's own share, which is 1, is missing, and so are paths through other columns and across chunks.
- Learning the networks from the rows costs no budget.
- The guarantee is about one answer, not about one respondent, while the Laplace mechanism beside it protects
  respondents.
- Lemma 4 leaves out the factor n/k, and Theorem 6 takes a bound on the sum of the noises for one on the sum of
  their sizes."""


def write(results: Results, folder: Path) -> list[Path]:
    """Write the folder and say which files it has."""
    with made(folder):
        document = {"notice": NOTICE, **results.document()}
        tables = ("accuracy", "seconds", "sensitivity", "leaks")
        return [
            write_text(folder / "report.md", page(results)),
            write_document(folder / "results.json", document),
            *(write_table(folder / f"{name}.csv", document[name]) for name in tables),
            *draw_figures(results, folder),
        ]


def read_beside(path: Path) -> list[Accuracy]:
    """Error figures of other methods, in the columns of `accuracy.csv`; an empty width means no chunks."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [_accuracy(row) for row in csv.DictReader(file)]
    except (OSError, KeyError, TypeError, ValueError, AttributeError):
        columns = ", ".join(Accuracy._fields)
        raise BadInput(f"{path} cannot be read as error figures. Give a CSV file with {columns}.") from None


def _accuracy(row: dict[str, str]) -> Accuracy:
    width = int(row["width"]) if row["width"] else None
    epsilon, error, standard_error = (float(row[name]) for name in ("epsilon", "error", "standard_error"))
    if row["private"] not in {"True", "False"} or not (0 < epsilon < inf and 0 <= error < inf):
        raise ValueError(row)
    private = row["private"] == "True"
    return Accuracy(row["survey"], row["method"], private, width, epsilon, error, standard_error)


def page(results: Results) -> str:
    """The report in words."""
    parts = [
        NOTICE,
        "# Tabular-DDP, reproduced",
        f"Maughan and Near's Algorithm 1 on the surveys below; {results.trials} trials each.",
        _surveys(results),
        "## Figures 5 and 9: L2 error over all histograms, k = 10",
        accuracy_table(results),
        "![Figure 5](figure_5_accuracy.svg)\n\n![Figure 9](figure_9_accuracy.svg)",
        "## Figure 7: the effect of the chunk size",
        GAINS,
        gains_table(results),
        "![Figure 7](figure_7_chunk_size.svg)",
        "## Figure 8: CPU seconds by component",
        SECONDS,
        _times(results),
        "![Figure 8](figure_8_time.svg)",
        "## Lemma 4 and Theorem 6 against simulated noise",
        claims_table(results),
        "## What it leaks",
        LEAKS,
        leaks_table(results),
        _exact(results),
        "## Figures 2 and 3: Monty Hall",
        GAMES,
        _games(),
        "![Figure 3](figure_3_monty_hall.svg)",
        "## Where the paper is ambiguous or wrong",
        SLIPS,
    ]
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in (head, *rows)]
    lines.insert(1, ["---"] * len(head))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def rounded(value: float) -> str:
    """Three digits, and a word for what has none."""
    return "infinite" if isinf(value) else f"{float(f'{value:.3g}'):,g}"


def _surveys(results: Results) -> str:
    rows = [
        [
            one.name,
            str(one.questions),
            str(one.responses),
            f"{one.reported[0]} × {one.reported[1]}" if one.reported else "not in it",
            one.source,
        ]
        for one in results.surveys
    ]
    head = ["survey", "questions", "responses", "in the paper", "source"]
    return (
        _table(head, rows) + "\n\nA question is a column with 2 to 12 different answers, no answer included."
    )


def accuracy_rows(results: Results) -> list[list[str]]:
    """Errors by survey, method and ε for chunks of ten."""
    shown: dict[tuple[str, str, bool], dict[float, float]] = {}
    for row in results.accuracy:
        if row.width in {None, WIDTH}:
            shown.setdefault((row.survey, row.method, row.private), {})[row.epsilon] = row.error
    order = {survey.name: place for place, survey in enumerate(results.surveys)}
    keys = sorted(shown, key=lambda key: (order.get(key[0], len(order)), not key[2], key[1] != PLAIN))
    return [
        [
            key[0],
            key[1],
            "yes" if key[2] else "no",
            *(rounded(shown[key][epsilon]) if epsilon in shown[key] else "–" for epsilon in EPSILONS),
        ]
        for key in keys
    ]


def accuracy_table(results: Results) -> str:
    """The same as a table."""
    head = ["survey", "method", "private", *(f"ε = {epsilon:g}" for epsilon in EPSILONS)]
    return _table(head, accuracy_rows(results))


def gains_table(results: Results) -> str:
    """The readings with a finite DS, their gain over plain Laplace, and how many questions get no noise."""
    rows: dict[tuple[str, str, str], list[Weighed]] = {}
    for one in results.weighed:
        if one.ratio == "pair" and one.zeros != "kept":
            rows.setdefault((one.survey, one.zeros, one.total), []).append(one)
    lines = [
        [
            *key,
            *(rounded(one.gain) for one in found),
            ", ".join(str(one.questions_without_noise) for one in found),
        ]
        for key, found in rows.items()
    ]
    widths = [f"k = {width}" for width in WIDTHS]
    return _table(["survey", "zeros", "DS is the", *widths, "questions without noise"], lines)


def _times(results: Results) -> str:
    rows = [
        [one.survey, str(one.width), f"{one.learning:.3f}", f"{one.sensitivity:.4f}", f"{one.noise:.5f}"]
        for one in results.times
    ]
    return _table(["survey", "k", "learning", "sensitivity", "noise"], rows)


def claims_table(results: Results) -> str:
    """What was claimed, what happened."""
    rows = [
        [
            one.claim,
            str(one.setting.columns),
            str(one.setting.width),
            rounded(one.alpha),
            rounded(one.claimed),
            rounded(one.happened / one.trials),
            "refuted" if one.refuted else "holds",
        ]
        for one in results.verdicts
    ]
    return _table(["bound", "n", "k", "α (in DS/ε)", "claimed chance", "seen", "verdict"], rows)


def leaks_table(results: Results) -> str:
    """Promised 1, and what came of it."""
    rows = [
        [
            one.population,
            one.reading,
            str(one.width),
            rounded(one.sensitivity),
            rounded(one.scale),
            rounded(one.leakage_model),
            rounded(one.leakage_any),
            rounded(one.sound_scale),
            rounded(one.sound_leakage),
        ]
        for one in results.leaks
    ]
    head = ["population", "reading", "k", "DS", "scale", "leaks to who knows the law"]
    return _table([*head, "and any other answers", "sound scale", "leaks then"], rows)


def _exact(results: Results) -> str:
    counts = ", ".join(str(count) for count in results.exact_counts[1])
    return (
        "Exact counts leak to those who know nobody, too. Enumerated over all tables of three respondents with two "
        f"independent bits, the leakage is {rounded(results.exact_counts[0])}: the counts ({counts}) can be published "
        "under one value of the first respondent's bit and not under the other."
    )


def _games() -> str:
    game = monty_hall()
    return _table(game.names, [[str(door + 1) for door in row] for row in game.counts.codes[::3].tolist()])
