"""A labelled survey as SPSS holds it: scales with labels at their ends and middle, codes for missing, two forms."""

import numpy as np
import pandas as pd
import pyreadstat

REFUSED = 998
ASIDE = ("respondent_id", "weight", "day", "comment", "version", "nothing")


def write_wave(path, seed, rows, questions):
    """Write one wave of so many questions; `short` is worked out from the first, and form 2 is not asked the last two."""
    draw = np.random.default_rng(seed)
    lean, form = draw.normal(size=rows), draw.integers(1, 3, rows)
    cells = {
        "respondent_id": draw.permutation(rows) + 1000.0,
        "weight": draw.uniform(0.3, 3, rows),
        "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(draw.integers(0, 300, rows), unit="D"),
        "comment": [f"said {number} words" for number in draw.permutation(10 * rows)[:rows]],
        "version": np.full(rows, 3.0),
        "nothing": np.full(rows, np.nan),
        "form": form.astype(float),
    }
    scales = [f"q{number}" for number in range(questions - 4)]
    for number, name in enumerate(scales):
        said = np.clip(np.round(4 + lean * (number % 4) / 2 + draw.normal(0, 1.5, rows)), 1, 7)
        cells[name] = np.where(draw.random(rows) < 0.05, REFUSED, said)
    cells["short"] = np.where(cells["q0"] == REFUSED, REFUSED, np.where(cells["q0"] < 4, 1.0, 2.0))
    for name in ("a", "b"):
        cells[name] = np.where(form == 1, draw.integers(1, 4, rows), -7).astype(float)
    ends = {1: "never", 4: "at times", 7: "always", REFUSED: "refused"}
    asked = {1: "yes", 2: "no", 3: "unsure", -7: "not asked"}
    labels = {name: dict(ends) for name in scales} | {"a": asked, "b": asked}
    labels |= {"form": {1: "A", 2: "B"}, "short": {1: "low", 2: "high"}}
    pyreadstat.write_sav(
        pd.DataFrame(cells),
        str(path),
        column_labels={name: f"How often: topic {name[1:]}" for name in scales},
        variable_value_labels=labels,
        missing_ranges={name: [REFUSED] for name in [*scales, "short"]},
    )
