"""A table of every kind of column, and what describe proposes for it."""

import datetime as dt

import numpy as np

from entwined.schema import Boolean, Categorical, Integer, Moment, Real, Text

ROWS = 400


STORED = {
    "patient_id": ("text", [f"p{n // 3:03d}" for n in range(ROWS)]),
    "note": ("text", [f"free words {n}" for n in range(ROWS)]),
    "age": ("whole", [17 + n * 7 % 74 for n in range(ROWS)]),
    "sex": ("text", [("m", "f", None)[n % 3] for n in range(ROWS)]),
    "smokes": ("truth", [(True, False, None)[n % 3] for n in range(ROWS)]),
    "binary": ("whole", [n % 2 for n in range(ROWS)]),
    "price": ("number", [n * 0.25 - 3 for n in range(ROWS)]),
    "weight": ("number", [50 + 40 * np.sin(n).item() for n in range(ROWS)]),
    "born": ("day", [dt.date(1950, 3, 4) + dt.timedelta(days=97 * n) for n in range(ROWS)]),
    "seen": (
        "moment",
        [dt.datetime(2020, 3, 4, 5) + dt.timedelta(hours=5 * n) for n in range(ROWS)],
    ),
    "empty": ("text", [None] * ROWS),
    "odd": ("text", [*(["7"] * 398), "x", None]),
}


PROPOSED = {
    "patient_id": Text,
    "note": Text,
    "age": Integer("age", 10, 100),
    "sex": Categorical("sex", ("f", "m")),
    "smokes": Boolean,
    "binary": Boolean,
    "price": Real("price", 0, 100, "0.01"),
    "weight": Real("weight", 0, 100, "0.01"),
    "born": Moment("born", "1957-01-01", "2049-12-31"),
    "seen": Moment("seen", "2020-01-01", "2020-12-31 23:59:59", "hour"),
    "empty": Text,
    "odd": Integer("odd", 7, 7),
}
