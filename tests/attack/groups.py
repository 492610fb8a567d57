"""Populations of rows in households and of persons: any law whatever ties the rows of one household together."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from attack.adversary import Hidden, Seen, leakages
from attack.answers import picked_answers
from attack.path import Refusal, prepare, released, request_toml
from attack.tally import Result, worst
from entwined.schema import Categorical, Integer, Person, Rows, Schema, Text

LAWS = 4
OTHER_ROWS = "the door read other rows than it may"
STATES = ("well", "ill", "so so")


@dataclass(frozen=True, eq=False)
class Home:
    """A household: the values that each of its rows may have, None for a row that is not there, and spellings."""

    values: tuple
    members: int
    absent: bool
    spellings: tuple

    def worlds(self):
        each = [*self.values, None] if self.absent else list(self.values)
        return list(itertools.product(range(len(each)), repeat=self.members)), each

    def rows(self, numbers, each, home):
        return [
            {"home": spelling.replace("#", str(home)), **each[number]}
            for number, spelling in zip(numbers, self.spellings, strict=True)
            if each[number] is not None
        ]


def drawn_values(rng, columns):
    """A few records that a row may be."""
    known = list(itertools.product(STATES[: int(rng.integers(2, 4))], range(2 if columns > 1 else 1)))
    chosen = rng.choice(len(known), min(len(known), int(rng.integers(2, 4))), replace=False)
    return tuple(
        {"state": known[one][0], **({"age": known[one][1]} if columns > 1 else {})} for one in chosen
    )


def laws(rng, sizes):
    """Laws that tie rows together: all alike, and drawn ones, sharp or dull."""
    alike = np.zeros(sizes)
    for value in range(min(sizes)):
        alike[(value,) * len(sizes)] = rng.random() + 0.1
    yield alike
    for _ in range(LAWS - 1):
        yield rng.dirichlet(np.full(int(np.prod(sizes)), 10 ** rng.uniform(-1.5, 0.5))).reshape(sizes) + 1e-9


def questions(rng, columns):
    asked = [{"kind": "histogram", "column": "state"}, {"kind": "count", "where": "state = 'ill'"}]
    if columns > 1:
        asked += [{"kind": "total", "column": "age"}, {"kind": "marginal", "of": ["state", "age"]}]
    count = int(rng.integers(1, len(asked) + 1))
    return [asked[one] for one in sorted(rng.choice(len(asked), count, replace=False))]


STYLES = {  # spellings of one household
    "number": (Integer("home", 0, 9999), ("#", "0#", "00#", "#.0", " #", "# ", "+#")),
    "loose": (Text("home", compare="loose"), ("ab #", "aB #", " ab   #", "AB # ", "Ab\t#")),
    "exact": (Text("home", compare="exact"), ("ab #", " ab #", "ab # ")),
}


def drawn_schema(rng, columns, style="number", **more):
    states = Categorical("state", STATES, missing=str(rng.choice(["value", "drop"])))
    ages = (Integer("age", 0, 1, missing=str(rng.choice(["value", "drop"]))),) if columns > 1 else ()
    return Schema((STYLES[style][0], states, *ages), most_rows=1000, **more)


def spellings(rng, members, style, *, varied):
    styles = STYLES[style][1]
    return tuple(str(rng.choice(styles)) if varied else styles[0] for _ in range(members))


def households(rng, folder):
    """Rows by household, at times more of them than declared, or with the household spelled in several ways."""
    columns = int(rng.integers(1, 3))
    largest = int(rng.integers(1, 4))
    neighbours = str(rng.choice(["replace", "add_remove"]))
    style = str(rng.choice(list(STYLES), p=[0.5, 0.3, 0.2]))
    schema = drawn_schema(rng, columns, style, neighbours=neighbours)
    values = drawn_values(rng, columns)
    members = int(rng.integers(1, 5 if len(values) > 2 else 6))
    home = Home(
        values, members, neighbours == "add_remove", spellings(rng, members, style, varied=rng.random() < 0.5)
    )
    said = {"leakage": float(rng.choice([0.5, 1.0, 3.0])), "knowledge": str(rng.choice(["any", "model"]))}
    return households_of(rng, folder, schema, home, largest, said)


def households_of(rng, folder, schema, home, largest, said):
    """Release by households, and judge by some laws of one."""
    numbers, each = home.worlds()
    others = [{"home": "7", **home.values[0]}, {"home": "", **home.values[-1]}]
    table = home.rows(numbers[int(rng.integers(len(numbers)))], each, 8) + others
    prepare(folder, schema, table)
    model = {"model": {"kind": "groups", "largest": largest}, "by": "home"}
    asked = questions(rng, len(home.values[0]))
    (folder / "release.toml").write_text(request_toml(asked, [model], cap=10, **said))
    kind = f"households, {schema.neighbours}"
    try:
        given = released(folder)
    except Refusal as refusal:
        return Result(kind, refused=refusal.why)
    worlds = [home.rows(one, each, 100 + at) for at, one in enumerate(numbers)]
    exact, there = picked_answers(schema, given.aggregates, worlds, table, folder, ("home", largest, None))
    about = f"{said} {home.members} of {largest} {home.spellings}"
    claim = max(given.claimed().values())
    if not np.array_equal(there, given.exact):
        return Result(kind, claim, math.inf, about=f"{OTHER_ROWS} {about}")
    return [
        worst(kind, [(claim, one) for one in truth.values()], about)
        for truth in truths(rng, home, numbers, each, exact, given, said)
    ]


def truths(rng, home, numbers, each, exact, given, said):
    """The truth under some laws of the household, each a population of its own."""
    cells = np.array(numbers)
    units = {f"row {at}": cells[:, at] for at in range(home.members)}
    for law in laws(rng, [len(each)] * home.members):
        hidden = Hidden(law.ravel() / law.sum(), units, tuple(units))
        yield leakages(hidden, Seen(exact, given.scales), said["knowledge"], rng)


def persons(rng, folder):
    """Persons with several rows; all rows of one are the secret, or one that is not there."""
    columns, most = int(rng.integers(1, 3)), int(rng.integers(1, 4))
    neighbours = str(rng.choice(["replace", "add_remove"]))
    style = str(rng.choice(list(STYLES), p=[0.5, 0.3, 0.2]))
    schema = drawn_schema(rng, columns, style, neighbours=neighbours, unit=Person("home", most))
    values = drawn_values(rng, columns)
    members = int(rng.integers(1, 5))
    home = Home(values, members, True, spellings(rng, members, style, varied=rng.random() < 0.5))
    numbers, each = home.worlds()
    table = [*home.rows(numbers[0], each, 8), {"home": "", **values[0]}, {"home": "9", **values[-1]}]
    prepare(folder, schema, table)
    said = {"loss": float(rng.choice([0.5, 1.0, 3.0]))}
    (folder / "release.toml").write_text(request_toml(questions(rng, columns), [], cap=10, **said))
    try:
        given = released(folder)
    except Refusal as refusal:
        return Result("persons", refused=refusal.why)
    worlds = [home.rows(one, each, 100 + at) for at, one in enumerate(numbers)]
    exact, there = picked_answers(schema, given.aggregates, worlds, table, folder)
    pairs = [(nominal(given), apart(rng, numbers, exact, given, neighbours))]
    about = f"{members} rows of {most}, {home.spellings}, {neighbours}"
    if not np.array_equal(there, given.exact):
        return Result("persons", pairs[0][0], math.inf, about=f"{OTHER_ROWS} {about}")
    return worst("persons", pairs, about)


def nominal(given):
    top, bottom = map(int, given.certificate["nominal"].split("/"))
    return top / bottom


def apart(rng, numbers, exact, given, neighbours):
    """How far two records of one person move the odds; with add or remove, a record and nothing."""
    seen = Seen(exact, given.scales).moving()
    if not seen.exact.shape[1]:
        return 0.0
    logs = seen.likelihoods(seen.outputs(rng))
    if neighbours == "replace":
        return float(np.ptp(logs, axis=1).max())
    nothing = int(np.array(numbers).sum(axis=1).argmax())  # every row has the last number: none is there
    return float(np.abs(logs - logs[:, nothing, None]).max())


def alone(rng, folder):
    """Rows without any model: each is a unit of its own."""
    columns = int(rng.integers(1, 3))
    neighbours = str(rng.choice(["replace", "add_remove"]))
    schema = drawn_schema(rng, columns, neighbours=neighbours, unit=Rows())
    values = drawn_values(rng, columns)
    table = [{"home": "1", **value} for value in values]
    prepare(folder, schema, table)
    said = {"loss": float(rng.choice([0.5, 1.0, 3.0]))}
    (folder / "release.toml").write_text(request_toml(questions(rng, columns), [], cap=10, **said))
    try:
        given = released(folder)
    except Refusal as refusal:
        return Result("rows alone", refused=refusal.why)
    numbers = [(at,) for at in range(len(values) + 1)]
    exact, there = picked_answers(schema, given.aggregates, [*([row] for row in table), []], table, folder)
    assert np.array_equal(there, given.exact)
    if neighbours == "replace":
        exact, numbers = exact[:-1], numbers[:-1]
    return worst("rows alone", [(nominal(given), apart(rng, numbers, exact, given, neighbours))], neighbours)
