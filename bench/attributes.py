"""Both promises at once on Adult: the share of women hidden, and rows too; noise, certificates, an exact check of each.

On the Adult table if ENTWINED_DATA has it, else on a generated table like it. The laws come from its public other half.
"""

import csv
import gzip
import json
import math
import os
import random
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy import signal, stats

from entwined.request.computed import compute
from entwined.request.request_file import read_request
from entwined.request.verification import verify
from entwined.schema import Boolean, Integer, Schema, write_schema

Row = tuple[str, int, bool]
Slips = Callable[[int, float], dict[str, float]]
"""The exact δ of a secret by the number of rows and the variance of the noise, in whole numbers."""
EPSILON, DELTA, ROW_DELTA = 1.0, 1e-3, 1e-6
HALVES: Final = 2  # a sum of hours is in whole numbers of half hours
APART: Final = (Fraction(3, 10), Fraction(36, 100))
RELEASE: Final = """
table = "adult.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
{rows}

[[query]]
name = "asked"
{query}

[[secret]]
name = "share of women"
column = "sex"
value = "Female"
apart = [[0.30, 0.33], [0.33, 0.36]]
epsilon = 1
delta = 0.001

[[secret.law]]
{law}
"""


def adult() -> tuple[str, list[Row], list[Row]]:
    """Read sex, hours a week and a high income of the Adult table, or make them up."""
    folder = Path(os.environ.get("ENTWINED_DATA", "/nowhere")) / "adult"
    if not folder.exists():
        luck = random.Random(1)  # noqa: S311  (made-up people)
        return "like adult", made_up(luck, 32_561), made_up(luck, 16_281)
    halves = []
    for name in ("train", "test"):
        with gzip.open(folder / f"adult_{name}.csv.gz", "rt") as file:
            halves.append([_row(one) for one in csv.DictReader(file, skipinitialspace=True)])
    return "adult", halves[0], halves[1]


def made_up(luck: random.Random, count: int) -> list[Row]:
    """Make rows like those of Adult."""
    found = []
    for _ in range(count):
        sex = "Female" if luck.random() < 0.331 else "Male"
        hours = round(min(max(luck.gauss(36.4 if sex == "Female" else 42.4, 12), 1), 99))
        found.append((sex, hours, luck.random() < (0.11 if sex == "Female" else 0.306)))
    return found


def _row(given: dict[str, str]) -> Row:
    named = {key.strip().lower().replace("_", "-"): value.strip() for key, value in given.items() if key}
    high = next(value for key, value in named.items() if key in {"income", "class", "salary"})
    return named["sex"], int(named["hours-per-week"]), high.startswith(">50K")


def run() -> dict[str, Any]:
    """Release the number of high incomes, and the mean of hours, with and without rows protected."""
    source, private, public = adult()
    women, others = ([row for row in public if (row[0] == "Female") is female] for female in (True, False))
    chances = [sum(row[2] for row in rows) / len(rows) for rows in (women, others)]
    means = [float(np.mean([row[1] for row in rows])) for rows in (women, others)]
    deviation = min(float(np.std([row[1] for row in rows])) for rows in (women, others))
    count = (
        'kind = "count"\nwhere = "high"',
        f'where = "high"\nchance = {chances[0]:.3f}\nothers_chance = {chances[1]:.3f}',
    )
    gap = means[0] - means[1]
    hours = (
        'kind = "mean"\ncolumn = "hours"',
        (f'column = "hours"\ndifference = [{gap - 1:.2f}, {gap + 1:.2f}]\nsd = {deviation * 0.9:.2f}'),
    )
    rounded = [round(one, 3) for one in chances]
    laws = [
        np.bincount([HALVES * row[1] for row in rows], minlength=199) / len(rows) for rows in (women, others)
    ]
    slips: dict[str, Slips] = {
        "high incomes": lambda total, noise: {"δ of the secret": counted_slip(total, rounded, noise)},
        "mean hours": lambda total, noise: {
            "δ of the secret": summed_slip(
                total, [round(gap - 1, 2), round(gap + 1, 2)], round(deviation * 0.9, 2), noise, HALVES
            ),
            "δ of the secret, hours as in the public half": resampled_slip(total, laws, noise),
        },
    }
    figures: dict[str, Any] = {"source": source, "rows": len(private)}
    for name, (query, law) in {"high incomes": count, "mean hours": hours}.items():
        for rows in ("leakage = 1\ndelta = 1e-6\ncap = 3", 'individuals = "not protected"'):
            figures[f"{name}, {'rows too' if 'leakage' in rows else 'rows not protected'}"] = released(
                private, RELEASE.format(rows=rows, query=query, law=law), slips[name]
            )
    return figures


def released(rows: list[Row], release: str, slips: Slips) -> dict[str, Any]:
    """Carry out one release in a folder of its own, and check what its certificate says."""
    began = time.process_time()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["XDG_STATE_HOME"] = place  # the same rows are released anew, for measuring alone
        schema = Schema((Integer("hours", 0, 99), Boolean("high")), rows=len(rows)).approve()
        write_schema(schema, folder / "schema.toml")
        (folder / "adult.csv").write_text(
            "hours,high\n" + "".join(f"{one},{high}\n" for _, one, high in rows)
        )
        (folder / "release.toml").write_text(release)
        done = compute(read_request(folder / "release.toml"))
    (found,) = done.found
    variance = float(Fraction(found.certificate["mechanism"]["noise"]["variances"][0]))
    nominal = found.certificate["nominal"]
    exact = (
        {"δ of rows": row_slip(variance, float(Fraction(nominal)), "hours" in release)}
        if "/" in nominal
        else {}
    )
    exact |= slips(len(rows), variance)
    figures = {
        "noise, deviation": found.sheet.document["rows"][0]["deviation of its noise"],
        "leakage of rows": None if "/" not in nominal else float(Fraction(nominal)),
        "valid": verify(json.loads(json.dumps(found.certificate)), schema).valid,
        **exact,
        "CPU seconds": round(time.process_time() - began, 2),
    }
    print(json.dumps(figures, ensure_ascii=False))
    return figures


def row_slip(variance: float, epsilon: float, hours: bool) -> float:  # noqa: FBT001
    """The exact δ of discrete Gaussian noise for the largest move of one row."""
    move = 99 * HALVES if hours else 1
    chances = discrete(variance)
    return float(np.maximum(chances[:-move] - math.exp(epsilon) * chances[move:], 0).sum())


def counted_slip(rows: int, chances: list[float], variance: float) -> float:
    """The exact δ of a count between the furthest shares of women, by laws of scipy's own."""
    laws = []
    for women in ends(rows):
        one, other = (
            stats.binom.pmf(np.arange(count + 1), count, chance)
            for count, chance in zip((women, rows - women), chances, strict=True)
        )
        laws.append(signal.fftconvolve(signal.fftconvolve(one, other), discrete(variance)))
    return told_apart(*laws)


def summed_slip(rows: int, differences: list[float], sd: float, variance: float, times: int) -> float:
    """The exact δ of a sum: normal numbers rounded to what sums can be, wherever their means fall in a cell."""
    scale = times * math.sqrt(rows) * sd
    low, high = ends(rows)
    worst = 0.0
    for difference in differences:
        moved = times * difference * (high - low)
        reach = times * math.ceil((9 * scale + abs(moved)) / times)
        edges = np.arange(-reach - times / 2, reach + times, times)
        for phase in (0.0, times / 4, times / 2):
            laws = []
            for mean in (phase, phase + moved):
                cells = np.zeros(2 * reach + 1)
                cells[::times] = np.diff(stats.norm.cdf(edges, mean, scale))
                laws.append(signal.fftconvolve(cells, discrete(variance)))
            worst = max(worst, told_apart(*laws))
    return worst


def resampled_slip(rows: int, laws: list[Any], variance: float) -> float:
    """The exact δ of a sum of hours drawn by women and others as the public half has them: no normal law is assumed."""
    size = 1 << (len(laws[0]) * rows + 24 * math.isqrt(int(variance))).bit_length()
    one, other = (np.fft.rfft(law, size) for law in laws)
    noise = discrete(variance)
    wrapped = np.zeros(size)
    wrapped[np.arange(len(noise)) - len(noise) // 2] = noise
    drawn = np.fft.rfft(wrapped)
    return told_apart(
        *(np.fft.irfft(one**women * other ** (rows - women) * drawn, size) for women in ends(rows))
    )


def ends(rows: int) -> tuple[int, int]:
    """The furthest numbers of women that must not be told apart."""
    return math.ceil(APART[0] * rows), math.floor(APART[1] * rows)


def discrete(variance: float) -> Any:
    """The chances of discrete Gaussian noise, to twelve deviations."""
    reach = int(12 * math.sqrt(variance))
    chances = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance))
    return chances / chances.sum()


def told_apart(one: Any, other: Any) -> float:
    """E_γ of two laws on the same whole numbers, in both orders."""
    gamma = math.exp(EPSILON)
    return float(max(np.maximum(p - gamma * q, 0).sum() for p, q in ((one, other), (other, one))))
