"""Populations that nothing true can be certified of: they have to be refused, and what is not refused is judged."""

import json
import math
from collections import defaultdict

import numpy as np

from attack import budgets, cells, examples, groups
from attack.adversary import leakages
from attack.answers import coded
from attack.forgeries import accepted, claims
from attack.laws import Net, drawn_net
from attack.path import Refusal, prepare, refusing, released, request_toml
from attack.tally import Result, worst
from entwined.dependence import Groups, write_model
from entwined.door import door
from entwined.door.door import Door
from entwined.learning import learn, public_codes
from entwined.learning.private import Budget, learn_privately
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Histogram
from entwined.request.opening import open_ledger
from entwined.request.verbs import release
from entwined.schema import Categorical, Integer, Schema, Text, read_schema
from entwined.tables import open_table

HISTOGRAMS = "histogram"
KEPT = door.Door._kept


def missing_left_out(rng, folder):
    """A model of the answers alone, where it says much that one is missing."""
    names = ("owner", "more0", "more1", "more2")
    tables = [np.array([[0.7, 0.3, 0.0]])] + [
        np.array([[0.0, 0.0, 1.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    ] * 3
    law = Net(names, (3,) * 4, ((), (0,), (0,), (0,)), tuple(tables))
    drawn = cells.Design(law, ("drop",) * 4)
    return cells.declared_of(
        rng,
        folder,
        drawn,
        {"first": law},
        {"leakage": 1.0, "knowledge": "any"},
        written={"first": cells.without_missing(law, names)},
    )


def private_as_pilot(rng, folder):
    """What the model says was counted in the private table itself."""
    drawn = cells.design(rng)
    schema, rows = drawn.schema(60), cells.table_rows(rng, drawn, 60)
    prepare(folder, schema, rows)
    asked = [{"kind": HISTOGRAMS, "column": name} for name in drawn.law.names]
    models = [{"name": "tree", "model": "tree.json"}]
    (folder / "release.toml").write_text(request_toml(asked, models, cap=10, leakage=1.0))
    try:
        with refusing():
            codes = public_codes(str(folder / "table.csv"), read_schema(folder / "schema.toml"))
            write_model(learn(codes, "pilot.csv").model, folder / "tree.json")
        given = released(folder)
    except Refusal as refusal:
        return Result("the private table as the pilot", refused=refusal.why)
    return Result("the private table as the pilot", given.claimed()["tree"], math.inf)


def other_ledger(rng, folder):
    """The same table released under two ledgers, as if nothing had been spent."""
    drawn = cells.design(rng)
    schema, rows = drawn.schema(4), cells.table_rows(rng, drawn, 4)
    prepare(folder, schema, rows)
    (folder / "model.json").write_text(json.dumps(drawn.law.document))
    kind, seen, given = "two ledgers", None, None
    codes, hidden = cells.hidden_respondent(schema, drawn, drawn.law)
    asked = [{"kind": HISTOGRAMS, "column": name} for name in drawn.law.names]
    for turn in range(2):
        said = {"leakage": 1.0, "knowledge": "any", "ledger": f"{turn}.sqlite"}
        models = [{"name": "model", "model": "model.json"}]
        (folder / f"{turn}.toml").write_text(request_toml(asked, models, cap=20, **said))
        try:
            given = released(folder, f"{turn}.toml")
        except Refusal as refusal:
            return Result(kind, refused=refusal.why)
        more = cells.seen_of(given, codes)
        seen = more if seen is None else seen + more
    truth = max(leakages(hidden, seen, "any", rng).values())
    return worst(kind, [(given.total()["model"], truth)])


def another_frame(rng, folder):
    """Two tables in memory, asked the same: each must be answered by its own rows."""
    import pandas as pd

    folder.mkdir(parents=True, exist_ok=True)
    schema = Schema((Categorical("a", ("0", "1")),), rows=2000, most_rows=2000).approve()
    frames = [pd.DataFrame({"a": [value] * 2000}) for value in ("0", "1")]
    kind, found = "two frames", []
    with open_ledger(folder / "ledger.sqlite", schema, cap=10) as ledger:
        for frame in frames:
            with open_table(frame, schema) as table:
                try:
                    with refusing():
                        found.append(release(table, Histogram("a"), ledger=ledger, loss=1).answers[0].value)
                except Refusal as refusal:
                    return Result(kind, refused=refusal.why)
    wrong = any(values[at] < 1000 for at, values in enumerate(found))  # the noise is of scale 2
    return Result(kind, 1.0, math.inf if wrong else 1.0)


def learned_in_households(rng, folder):
    """A model learned with a budget from rows of households larger than declared: what is read must be picked."""
    names = ("home", "a", "b")
    columns = (Integer("home", 0, 3), Categorical("a", ("0", "1")), Categorical("b", ("0", "1")))
    schema = Schema(columns, rows=200, most_rows=200)
    others = [{"home": str(2 + at % 2), "a": "0", "b": "0"} for at in range(100)]
    homes = [[{"home": "1", "a": a, "b": b}] * 100 for a in "01" for b in "01"]
    prepare(folder, schema, homes[3] + others)
    schema = read_schema(folder / "schema.toml")
    models = [Declared(Groups(1), by="home")]
    promise = Promise.of(schema, models)
    kind, budget = "learned in households", Budget.of(8, 1)
    try:
        with (
            refusing(),
            open_table(str(folder / "table.csv"), schema) as table,
            open_ledger(folder / "ledger.sqlite", schema, cap=100, dependence=models) as ledger,
        ):
            learn_privately(Door(table, promise, ledger), budget)
            claim = float(ledger.spent().price.worst)
    except Refusal as refusal:
        return Result(kind, refused=refusal.why)
    told = []  # the parents that were chosen, by all rows of one household that are alike
    for parents in budgets.structures(len(names)):
        codes = [
            [coded(schema, row) for row in read_of(schema, models[0], [*home, *others])] for home in homes
        ]
        told.append(np.ptp([budgets.told(promise, budget, parents, rows) for rows in codes]))
    return Result(kind, claim, float(max(told)))


def read_of(schema, families, rows):
    """The rows that the door lends: of each household as many as the model says, all rows of one being alike here."""
    if door.Door._kept is not KEPT:
        return rows
    kept = defaultdict(list)
    for row in rows:
        kept[row[families.by]].append(row)
    return [row for home in kept.values() for row in home[: families.most]]


def spelled_freely(rng, folder):
    """Households by a text, and nothing said about when two texts are the same."""
    schema = Schema((Text("home"), Categorical("state", groups.STATES)), most_rows=1000)
    values = ({"state": "well"}, {"state": "ill"})
    home = groups.Home(values, 4, False, ("home#", "Home#", " home#", "home# "))
    return groups.households_of(rng, folder, schema, home, 1, {"leakage": 1.0, "knowledge": "any"})


def forgeries_of(rng, folder):
    """A release, and certificates of it that say less than it leaks."""
    law = drawn_net(rng, ("q0", "q1", "q2"), [2, 2, 3], [False] * 3, two_parents=False)
    drawn = cells.Design(law, ("value",) * 3)
    kind, found = "forged certificates", []

    def taken(given):
        found.extend(accepted(given, folder))

    said = {"leakage": 1.0, "knowledge": str(rng.choice(["any", "model"]))}
    (honest,) = cells.declared_of(rng, folder, drawn, {"first": law}, said, then=taken)
    if not found:
        return Result(kind, refused="each forgery is found out")
    name, document = min(found, key=lambda one: min(claims(one[1]).values()))
    return Result(kind, min(claims(document).values()), honest.truth, about=name)


TRAPS = {
    "forged certificates": forgeries_of,
    "missing left out of a model": missing_left_out,
    "the private table as the pilot": private_as_pilot,
    "two ledgers for one table": other_ledger,
    "two frames under one ledger": another_frame,
    "households by a text that is spelled freely": spelled_freely,
    "a blank that is recoded as an answer": examples.recoded_blank,
}
