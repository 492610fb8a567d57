"""Several releases of one table: what they leak together is what the last certificate says of the total."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np

from attack.adversary import Hidden, Seen, leakages
from attack.answers import contribution, scales
from attack.cells import design, hidden_respondent, queries, seen_of, table_rows
from attack.laws import drawn_net, net_from
from attack.path import Refusal, prepare, refusing, released, request_toml
from attack.tally import Result, worst
from entwined.dependence import write_model
from entwined.door.door import Door
from entwined.learning import private
from entwined.learning.private import Budget, learn_privately
from entwined.ledger import Ledger
from entwined.mechanisms.structure_search import StructureSearch
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Marginal
from entwined.request.opening import open_ledger
from entwined.request.request_file import read_request
from entwined.request.verbs import plan
from entwined.schema import Categorical, Cells, Schema, read_schema
from entwined.tables import open_table


def several(rng, folder):
    """Two or three requests under one ledger, some of them for the same numbers."""
    drawn = design(rng)
    schema, rows = drawn.schema(4), table_rows(rng, drawn, 4)
    prepare(folder, schema, rows)
    (folder / "model.json").write_text(json.dumps(drawn.law.document))
    knowledge = str(rng.choice(["any", "any", "model"]))
    seen = given = None
    kind = "several releases"
    codes, hidden = hidden_respondent(schema, drawn, drawn.law)
    for turn in range(int(rng.integers(2, 4))):
        said = {"leakage": float(rng.choice([0.3, 0.5, 1.0])), "knowledge": knowledge}
        models = [{"name": "model", "model": "model.json"}]
        (folder / f"{turn}.toml").write_text(
            request_toml(queries(rng, drawn.law.names), models, cap=20, **said)
        )
        try:
            given = released(folder, f"{turn}.toml")
        except Refusal as refusal:
            return Result(kind, refused=refusal.why)
        if len(given.exact):  # what was asked before is answered as before, and tells nothing new
            more = seen_of(given, codes)
            seen = more if seen is None else seen + more
    truth = leakages(hidden, seen, knowledge, rng)
    claim = given.total()["model"]
    return worst(kind, [(claim, max(truth.values()))], f"{knowledge} {drawn.missing}")


def learned_first(rng, folder):
    """The model learned from the private rows with a budget, and then a release by it: both are seen."""
    budget = Budget.of(
        str(rng.choice(["0.5", "2", "4"])), str(rng.choice(["4", "8"]))
    )  # below that all is noise
    return learned_of(rng, folder, budget, int(rng.integers(2, 4)))


def sharply_chosen(rng, folder):
    """Parents that are chosen with a large budget, next to which all else is little."""
    return learned_of(rng, folder, Budget.of("60", "0.5"), 3)


def learned_of(rng, folder, budget, count):
    """Learn with a budget, release and judge."""
    names = [f"q{at}" for at in range(count)]
    schema = Schema(tuple(Categorical(name, ("0", "1")) for name in names), unit=Cells(), rows=6, most_rows=6)
    rows = [{name: str(rng.choice(["0", "1", "1", ""])) for name in names} for _ in range(6)]
    prepare(folder, schema, rows)
    schema = read_schema(folder / "schema.toml")
    knowledge = str(rng.choice(["any", "model"]))
    kind = "learned with a budget"
    try:
        with refusing():
            found = learned_in(folder, schema, budget, knowledge)
            write_model(found.model, folder / "tree.json")
        asked = [{"kind": "histogram", "column": name} for name in names]
        models = [{"name": "tree", "model": "tree.json"}]
        (folder / "release.toml").write_text(
            request_toml(asked, models, cap=200, leakage=float(rng.choice([0.5, 1.0])), knowledge=knowledge)
        )
        given = released(folder)
    except Refusal as refusal:
        return Result(kind, refused=refusal.why)
    net = net_from(given.models[0]["declared"]["model"])
    cells = np.array(list(itertools.product(range(3), repeat=count)))
    codes = [dict(zip(names, row, strict=True)) for row in cells.tolist()]
    hidden = Hidden(net.joint().ravel(), {name: cells[:, at] for at, name in enumerate(names)}, tuple(names))
    others = [
        {column.name: column.encode(row[column.name]) for column in schema.columns} for row in rows[:-1]
    ]
    seen = seen_of(given, codes) + learning_seen(schema, budget, net.parents, others, codes)
    truth = max(leakages(hidden, seen, knowledge, rng).values())
    return worst(kind, [(given.total()["tree"], truth)], f"{budget} {knowledge}")


def learned_in(folder, schema, budget, knowledge):
    """Learn, charged in the ledger of the release that comes after."""
    with (
        open_table(str(folder / "table.csv"), schema) as table,
        open_ledger(folder / "ledger.sqlite", schema, cap=200, knowledge=knowledge) as ledger,
    ):
        door = Door(table, Promise.of(schema, knowledge=knowledge), ledger)
        found = learn_privately(door, budget).smoothed(1)
        go_on(ledger, Promise.of(schema, [Declared(found.model, name="tree")], knowledge))
    return found


def go_on(ledger, accountant):
    """Price everything spent by the model that was learned."""
    ledger.migrate(accountant, ledger.cap)


def learning_seen(schema, budget, parents, others, codes):
    """What learning shows of the hidden row: the parents that it chose, and noisy tables."""
    asked = [
        Marginal(tuple(schema.names[one] for one in (*each, column))) for column, each in enumerate(parents)
    ]
    planned = plan(schema, asked, loss=budget.tables)
    exact = np.array([contribution(planned.needs(schema), row) for row in codes])
    logs = np.array([told(Promise.of(schema), budget, parents, [*others, row]) for row in codes])
    return Seen(exact, scales(planned.statistics), logs)


def told(promise, budget, parents, rows):
    """The log chance that these parents are chosen from these rows."""
    scale = private._noise_scale(promise.schema, budget)
    searching = StructureSearch.of(promise, 1, budget.structure, scale)
    search = searching.search
    counts = {
        scope: sum(contribution([table], row) for row in rows)
        .astype(np.int64)
        .reshape([search.sizes[one] for one in scope])
        for scope, table in zip(search.scopes, searching.needs(promise.schema), strict=True)
    }
    return chosen(search, float(searching.choice.rate), counts, parents)


def structures(columns):
    """All trees that a search may end with."""
    found = [((),)]
    for _ in range(columns - 1):
        found = [(*one, (parent,)) for one in found for parent in range(columns)]
    return [one for one in found if _is_tree(one)]


def _is_tree(parents):
    for at in range(1, len(parents)):
        seen, place = set(), at
        while place and place not in seen:
            seen.add(place)
            place = parents[place][0]
        if place:
            return False
    return True


def chosen(search, rate, counts, parents):
    """The log chance that the search ends with these parents: all ways to get there."""
    ways = []
    waiting = [()]
    while waiting:
        path = waiting.pop()
        logs, turns = [], iter(path)

        def choose(utilities, logs=logs, turns=turns, path=path):
            scores = np.array(utilities, dtype=float) * rate
            scores -= scores.max() + math.log(np.exp(scores - scores.max()).sum())
            taken = next(turns, None)
            if taken is None:
                waiting.extend((*path, at) for at in range(len(utilities)))
                raise StopIteration
            logs.append(scores[taken])
            return taken

        try:
            found = search.run(counts, choose)
        except StopIteration:
            continue
        if found == parents:
            ways.append(sum(logs))
    top = max(ways)
    return top + math.log(sum(math.exp(way - top) for way in ways))


def migrated(rng, folder):
    """A release by one model, and then one by another in the same ledger: the total is by the last."""
    drawn = design(rng)
    schema, rows = drawn.schema(4), table_rows(rng, drawn, 4)
    prepare(folder, schema, rows)
    schema = read_schema(folder / "schema.toml")
    kind, seen, given, before = "migrated", None, None, None
    for turn in range(2):
        law = drawn.law if turn else drawn_net(rng, drawn.law.names, drawn.levels, [True] * len(drawn.levels))
        knowledge = str(rng.choice(["any", "any", "model"]))
        (folder / f"{turn}.json").write_text(json.dumps(law.document))
        terms = {"leakage": float(rng.choice([0.3, 0.5, 1.0])), "knowledge": knowledge}
        models = [{"name": f"model {turn}", "model": f"{turn}.json"}]
        text = request_toml(queries(rng, drawn.law.names), models, cap=1000, **terms)
        (folder / f"{turn}.toml").write_text(text)
        codes, hidden = hidden_respondent(schema, drawn, law)
        try:
            with refusing():
                accountant = read_request(folder / f"{turn}.toml").promise
                if before is not None:
                    with Ledger.open(folder / "ledger.sqlite", Fraction(1000), before) as ledger:
                        go_on(ledger, accountant)
            before = accountant
            given = released(folder, f"{turn}.toml")
        except Refusal as refusal:
            return Result(kind, refused=refusal.why)
        more = seen_of(given, [{name: row[name] for name in schema.names} for row in cells_of(schema, drawn)])
        seen = more if seen is None else seen + more
    worlds = cells_of(schema, drawn)
    keep = [worlds.index(row) for row in codes]
    seen = Seen(seen.exact[keep], seen.scales)
    truth = leakages(hidden, seen, knowledge, rng)
    return worst(kind, [(given.total()["model 1"], max(truth.values()))], f"{knowledge} {drawn.missing}")


def cells_of(schema, drawn):
    """The codes of every row that is possible under some law."""
    cells = itertools.product(*(range(size) for size in drawn.law.sizes))
    rows = (drawn.row(cell) for cell in cells)
    return [{column.name: column.encode(row[column.name]) for column in schema.columns} for row in rows]
