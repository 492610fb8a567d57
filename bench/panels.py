"""A count every month for five years: what leaks under the chain, beside what user-level privacy adds up to.

The panel is drawn from a known monthly chain, some people come late and some months are missing. Every count passes the
door, so the figures are those of the ledger.
"""

import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

import entwined
from entwined.dependence import Box, MarkovChain
from entwined.promise.declared import Declared
from entwined.schema import Categorical, Integer, Schema, Text

MONTHS: Final = 60
PEOPLE: Final = 300
LOSS: Final = Fraction(1, 4)
SHOWN: Final = (1, 3, 12, 24, 36, 60)
STEP: Final = np.array([[0.9, 0.1], [0.2, 0.8]])
START: Final = np.array([2 / 3, 1 / 3])


def run() -> dict[str, Any]:
    """Release sixty counts under both knowledges, and print the ledger's figures."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        for knowledge in ("any", "model"):
            folder = Path(place) / knowledge
            folder.mkdir()
            figures[knowledge] = released(folder, knowledge)
            print(f"knowledge {knowledge}: months, under the chain, counted for a whole person")
            for month, leaked, whole in figures[knowledge]["ledger"]:
                print(f"  {month:3} {leaked:8.4f} {whole:8.2f}")
            scales = figures[knowledge]["scales"]
            print(f"  all sixty within leakage 1: noise of scale {scales[0]:.2f}, by persons {scales[1]:.0f}")
    return figures


def released(folder: Path, knowledge: Any) -> dict[str, Any]:
    """Give what the ledger says after some months, and the noise of sixty counts that leak 1 together."""
    (folder / "panel.csv").write_text(drawn())
    columns = Text("who", compare="exact"), Integer("month", 1, MONTHS), Categorical("state", ("well", "ill"))
    schema = Schema(columns, most_rows=PEOPLE * MONTHS).approve()
    chain = MarkovChain(MONTHS, Box.exact(STEP), START)
    panel = Declared(chain, by="who", order="month", panel=True, missing_says_nothing=("state",))
    counts = [entwined.Count(where=f"state = 'ill' and month = {at}") for at in range(1, MONTHS + 1)]
    ledger = []
    with entwined.open(
        folder / "panel.csv",
        schema,
        dependence=panel,
        ledger=folder / "ledger.sqlite",
        cap=60,
        knowledge=knowledge,
    ) as door:
        for month, count in enumerate(counts, start=1):
            door.release(count, loss=LOSS)
            if month in SHOWN:
                spent = door.ledger.spent()
                whole = door.promise.series_in_all(spent.parts) or Fraction(0)
                ledger.append((month, float(spent.price.worst), float(whole)))
        planned = door.plan(counts, leakage=1)
        scale = float(planned.statistics[0].law.scale)  # type: ignore[union-attr]  # counts have noise added
    return {"ledger": ledger, "scales": [scale, float(MONTHS)]}


def drawn() -> str:
    """Draw people month by month, each time others; one in five comes late, and one row in twenty is missing."""
    rng, lines = np.random.default_rng(), ["who,month,state"]
    for who in range(PEOPLE):
        ill, first = rng.random() < START[1], int(rng.integers(1, 25)) if rng.random() < 0.2 else 1
        for month in range(1, MONTHS + 1):
            if month >= first and rng.random() < 0.95:
                lines.append(f"p{who},{month},{'ill' if ill else 'well'}")
            ill = rng.random() < STEP[int(ill), 1]
    return "\n".join(lines) + "\n"
