"""Small households by hand: odd ones made up, and what they add to a table, one household after another."""

from fractions import Fraction

import numpy as np

from entwined.mechanisms.households.masses import asked, masses, parts_of
from entwined.mechanisms.households.seating import Seating
from entwined.schema import Categorical, Integer, Text
from entwined.tables import open_table
from support import lots
from support.census import ROLES, census_schema

SMALL = (
    Text("home", compare="exact"),
    Categorical("relation", ("head", "partner", "child", "lodger")),
    Integer("age", 0, 9),
    Categorical("region", ("n", "s")),
)
ALWAYS = ["head", "head", "partner", "child", "child", "lodger", None, "martian"]


def some_rows(rng, homes=6, longest=5):
    """Rows of a few households, some without a head, with two, too large, or without an id."""
    rows = []
    for at in range(homes):
        rows += [
            {
                "home": None if at == 5 else f"h{at}",
                "relation": ALWAYS[rng.integers(len(ALWAYS))],
                "age": [0, 3, 9, 50, None][rng.integers(5)],
                "region": ["n", "s", None][rng.integers(3)],
            }
            for _ in range(rng.integers(1, longest + 1))
        ]
    return rows


def by_hand(rows, schema, seating, sides):
    """One household after another, in exact fractions."""
    sizes = [seating.size(place) for place in sides]
    found = np.zeros(sizes, object)
    homes = {}
    for row in rows:
        if row["home"] is not None:
            homes.setdefault(row["home"], []).append(
                {one.name: one.encode(row[one.name]) for one in schema.columns[1:]}
            )
    for home, members in homes.items():
        contents = [tuple(one.values()) for one in members]
        add_household(found, seated(lots.in_order(schema, home, members, contents), seating), seating, sides)
    return found.reshape(-1)


def seated(members, seating):
    """Members by kind, no more than count: heads first, then by lot; without roles the least of them is the head."""
    seats = seating.seats
    kind_of = {code: kind for kind, codes in enumerate(seats.codes) for code in codes}
    if seats.role is None:
        kept = sorted(members[: seats.most], key=lambda one: tuple(one.values()))
        kinds = [0, *[1] * (len(kept) - 1)]
    else:
        kind = {id(one): kind_of.get(one["relation"], seats.kinds - 1) for one in members}
        kept = sorted(members, key=lambda one: kind[id(one)])[: seats.most]
        kinds = [kind[id(one)] for one in kept]
    sat = {kind: [] for kind in range(seats.kinds)}
    for kind, one in zip(kinds, kept, strict=True):
        if kind not in seats.singles or not sat[kind]:
            sat[kind].append(one)
    return sat


def add_household(found, sat, seating, sides):
    if not sat[0]:
        return
    counts = [len(sat[kind]) for kind in range(1, seating.seats.kinds)]
    place = list(seating.compositions).index(np.ravel_multi_index(counts, seating.seats.shape))
    home = (place, seating.types[place])
    member = max(kind for kind, _ in sides)
    for one in sat[member] if member > 0 else [None]:
        cell = tuple(
            home[at]
            if kind == -1
            else seating.domain.axes[at].cell((one if kind else sat[0][0])[seating.domain.names[at]])
            for kind, at in sides
        )
        found[cell] += Fraction(parts_of(seating), max(len(sat[member]), 1) if member > 0 else 1)


def check_seats(keep, folder):
    """Hold the tables of households that an engine counts against those by hand."""
    schema = census_schema(3, columns=SMALL)
    rows = some_rows(np.random.default_rng(4), 12)
    kinds = {"home": "text", "relation": "text", "age": "whole", "region": "text"}
    source, _ = keep({name: (kind, [row[name] for row in rows]) for name, kind in kinds.items()}, folder)
    with open_table(source, schema) as table:
        for given in (ROLES, {"shared": ["region"]}):
            seating = Seating.of(given, schema)
            several = (*seating.alone[:4], *seating.alone[-2:], *seating.pairs[:2], *seating.pairs[-3:])
            found = table.answer([asked(seating, one) for one in several])
            for sides, counts in zip(several, found, strict=True):
                assert (
                    masses(seating, sides, counts).tolist() == by_hand(rows, schema, seating, sides).tolist()
                )
