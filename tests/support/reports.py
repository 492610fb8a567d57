"""Releases to be shown, of ordinary names and of names that mean harm."""

import math
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd

from entwined.dependence import Groups
from entwined.door.witnessed import witness_of
from entwined.estimate.quality import Quality
from entwined.ledger import Ledger
from entwined.promise.declared import Declared
from entwined.promise.measure import PURE, Concentrated
from entwined.promise.promise import Promise
from entwined.queries import Count, GroupBy, Histogram, Marginal, Mean, Median, Total, Variance, parse
from entwined.request.verbs import release
from entwined.schema import Boolean, Categorical, Cells, Integer, Moment, Real, Schema, Text
from entwined.schema.unit import unit_from
from entwined.tables import open_table

SURVEY = Schema(
    (
        Categorical(
            "region",
            tuple("12345"),
            labels=("North", "East", "South", "West", "Capital"),
            label="Region of residence",
        ),
        Categorical("sex", ("f", "m"), labels=("Women", "Men"), missing="drop"),
        Integer("age", 18, 97, label="Age in years", bands={"stage": {"under <65>": 18, "65 & more": 65}}),
        Real("income", Fraction(0), Fraction(10_000), Fraction(1, 2), label="Monthly income"),
        Boolean("voted"),
        Moment("asked", datetime(1996, 10, 1), datetime(1996, 12, 31), bands={"month": "month"}),
        Integer("hours", 0, 9, missing="drop"),
        Text("household", compare="exact"),
    ),
    neighbours="add_remove",
    most_rows=10_000,
).approve()


QUERIES = {
    "People by region": Histogram("region"),
    "Voters by region and sex": GroupBy(("region", "sex"), where=parse("voted = true", SURVEY)),
    "Age, year by year": Histogram("age"),
    "Age in tens": Histogram("age", 8),
    "People asked": Count(),
    "Mean age": Mean("age"),
    "Median income": Median("income"),
    "Income by region": GroupBy(("region",), "income"),
    "Total age": Total("age"),
    "Mean day": Mean("asked"),
    "Spread of age": Variance("age"),
    "Region, sex and vote": Marginal(("region", "sex", "voted")),
    "Region and hours": Marginal(("region", "hours")),
    "Age in bands": Histogram("stage").bound(SURVEY),
    "Sex by month": Marginal(("month", "sex")).bound(SURVEY),
}


HOUSEHOLDS = Declared(Groups(4), by="household", name="households")


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    '=HYPERLINK("http://example.org")',
    "two\nlines\r\nand a tab\t",
    "\u202egnihtemos\u202c עברית العربية",
    "]]></svg><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "x" * 900,
    "@datum.value + toString(1)",
    "-1 && rm",
]


def people(rows=900):
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "region": rng.choice(list("12345"), rows),
            "sex": rng.choice(["f", "m"], rows),
            "age": np.clip(rng.normal(48, 17, rows).round(), 18, 97).astype(int),
            "income": np.clip(rng.lognormal(7.6, 0.5, rows), 0, 10_000).round(0),
            "voted": rng.random(rows) < 0.72,
            "asked": pd.Timestamp("1996-10-01") + pd.to_timedelta(rng.integers(0, 91, rows), unit="D"),
            "hours": rng.integers(0, 10, rows),
            "household": [f"h{at // 3}" for at in range(rows)],
        }
    )


def released(
    folder,
    schema=SURVEY,
    queries=None,
    frame=None,
    dependence=(HOUSEHOLDS,),
    leakage="2",
    measure=PURE,
    **given,
):
    """Make a real release, with the documents that go with it."""
    queries = QUERIES if queries is None else queries
    asked = list(queries.values())
    folder.mkdir(exist_ok=True)
    accountant = Promise.of(schema, dependence, measure=measure)
    terms = {"leakage": leakage, "dependence": dependence, "delta": getattr(measure, "delta", None)}
    with (
        Ledger.create(folder / "ledger.db", Fraction(4), accountant, anchor=folder / "anchor") as ledger,
        open_table(people() if frame is None else frame, schema) as table,
    ):
        witness_of(table).bind(ledger.book, other_rows=True)  # the same rows are made for many releases
        found = release(table, asked, **terms, ledger=ledger)
    names = list(queries)
    outlook = outlook_of(names, asked, found.certificate)
    return SimpleNamespace(
        release=found, names=names, schema=schema, outlook=outlook | given, budget=outlook["budget"]
    )


def outlook_of(names, asked, certificate):
    """A plan's document as the outlook writes it."""

    def expected(scale):
        return {
            "noise": [{"law": "discrete Laplace", "scale": "2/1"}],
            "scale": scale,
            "mean_error": scale,
            "half_width": 3 * scale,
            "accuracy": [{"alpha": 3 * scale, "beta": 0.05}, {"alpha": 4.6 * scale, "beta": 0.01}],
            "exact": True,
            "assumes": None,
        }

    ranks = {
        "noise": [{"law": "exponential choice", "rate": "1/2"}],
        "scale": None,
        "mean_error": None,
        "half_width": None,
        "accuracy": [],
    }
    nominal = float(Fraction(certificate["nominal"]))
    models = {model["name"]: model["certificate"]["leakage"] for model in certificate["models"]}
    crossing = {"cap": 2.0, "holds_up_to": 0.0, "and_beyond": False}

    def way(name, title, loss, times, keeps):
        return {
            "way": name,
            "title": title,
            "theorem": None if name == "plain" else name,
            "loss": loss,
            "loss_of_each_statistic": loss,
            "leakage": {model: amount * times for model, amount in models.items()},
            "keeps_promise": keeps,
            "applies": True,
            "why": f"It is {title}.",
            "statistics": [
                ranks | {"ranks_within": 70} if query.kind == "quantile" else expected(20 / times)
                for query in asked
            ],
        }

    unfit = {"way": "message passing", "title": "Message passing", "theorem": "message passing", "loss": None}
    unfit |= {
        "leakage": {},
        "keeps_promise": False,
        "applies": False,
        "why": "Not about groups.",
        "statistics": [],
    }
    return {
        "format": "entwined plan 2",
        "title": "Election survey 1996",
        "unit": certificate["unit"],
        "neighbours": certificate["neighbours"],
        "knowledge": certificate["knowledge"],
        "rows": None,
        "models": [
            {
                "name": model["name"],
                "kind": "groups",
                "source": "declared",
                "curve": model["curve"] | crossing,
            }
            for model in certificate["models"]
        ],
        "asked": {"leakage": 2.0},
        "ways": [
            way("plain", unit_from(certificate["unit"]).plain, nominal * 4, 4, False),
            way("group", "Group privacy", nominal, 1, True),
            unfit,
        ],
        "statistics": [
            {
                "name": name,
                "query": {},
                "sql_or_text": str(query)[:50],
                "cells": 1,
                "wanted": 30 if at == 0 else None,
                "quality": "publish",
                "reason": None,
                "thresholds": "Counts from 148 on can be published, from 73 with care.",
            }
            for at, (name, query) in enumerate(zip(names, asked, strict=True))
        ],
        "quality": {
            "summary": f"{len(names)} of {len(names)} statistics can be published.",
            "warning": None,
            "best": None,
            "helps": [],
        },
        "proposed": "group",
        "because": "It is the least noise that keeps the promise.",
        "budget": {
            "ledger": "ledger.db",
            "cap": 4.0,
            "spent": {"nominal": 0.0, "leakage": dict.fromkeys(models, 0.0)},
            "after": {"nominal": nominal, "leakage": models},
            "left": 2.0,
            "refused": None,
        },
    }


def hostile(tmp_path, title=""):
    columns = tuple(
        Categorical(name, tuple(HOSTILE), labels=tuple(HOSTILE[::-1]), label=name * 3) for name in HOSTILE[:4]
    )
    schema = Schema(
        (*columns, Categorical("value", ("a", "b")), Integer("'", -3, 30)), most_rows=1000
    ).approve()
    frame = pd.DataFrame(
        {column.name: ["a"] * 20 for column in columns} | {"value": ["a"] * 20, "'": range(20)}
    )
    queries = {name: Histogram(column.name) for name, column in zip(HOSTILE, columns, strict=False)}
    queries |= {HOSTILE[4]: Marginal(("value", HOSTILE[0])), HOSTILE[7] * 11: Histogram("'")}
    queries |= {HOSTILE[5]: Median("'", where=parse("value = 'a'", schema)), HOSTILE[6]: Mean("'")}
    model = Declared(Groups(2), name=HOSTILE[0])
    return released(tmp_path / "of", schema, queries, frame, (model,), title=title or HOSTILE[1])


SCALE = (
    "Strongly agree", "Agree", "Neither agree nor disagree", "Disagree", "Strongly disagree", "Do not know or refused",
    "Cannot choose between them", "Was never asked about it before",
)  # fmt: skip
TOPICS = {"pol": "Trust in institutions", "med": "Media", "hea": "Health and care", "wrk": "Work", "eco": ""}


def questionnaire(folder, answers=6, rows=600):
    """Release a survey of five topics with twelve questions each, one answer of which is protected."""
    codes = [str(at) for at in range(answers)]
    columns = tuple(
        Categorical(
            f"{stem}_{at:02d}",
            tuple(codes),
            labels=SCALE[:answers],
            label=f"{topic}: how much do you trust number {at} of those that you named before?"
            if topic
            else "",
            missing="drop",
        )
        for stem, topic in TOPICS.items()
        for at in range(12)
    )
    schema = Schema(columns, unit=Cells(), rows=rows, most_rows=rows).approve()
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({one.name: rng.binomial(answers - 1, 0.3, rows).astype(str) for one in columns})
    queries = {f"histogram of {one.name}": Histogram(one.name) for one in columns}
    of_a_person = Declared(Groups(len(columns)), name="answers of a person")
    measure = Concentrated(Fraction(1, 10**6))
    made = released(folder, schema, queries, frame, (of_a_person,), leakage="4", measure=measure)
    for told, column in zip(made.outlook["statistics"], columns, strict=True):
        told |= {"label": column.label, "sql_or_text": told["name"], "query": {"column": column.name}}
    return made


def repeated(made, size):
    """The same answers again and again, as if so many had been asked for."""
    times_over = -(-size // len(made.names))
    release = replace(made.release, answers=(made.release.answers * times_over)[:size])
    statistics = (made.outlook["statistics"] * times_over)[:size]
    ways = [way | {"statistics": (way["statistics"] * times_over)[:size]} for way in made.outlook["ways"]]
    outlook = made.outlook | {"statistics": statistics, "ways": ways}
    names = (made.names * times_over)[:size]
    return SimpleNamespace(**vars(made) | {"release": release, "names": names, "outlook": outlook})


def marked(made, place, why):
    """The same release, none of whose numbers can be published in one answer."""
    answers = [*made.release.answers]
    size = len(answers[place].levels)
    answers[place] = replace(answers[place], quality=Quality((math.inf,) * size, why))
    statistics = [dict(one) for one in made.outlook["statistics"]]
    statistics[place] |= {"quality": "not", "reason": why}
    given = {
        "release": replace(made.release, answers=tuple(answers)),
        "outlook": made.outlook | {"statistics": statistics},
    }
    return SimpleNamespace(**vars(made) | given)
