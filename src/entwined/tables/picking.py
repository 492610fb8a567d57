"""Which rows count where a group has more of them than its bound, as SQL: a sample that every engine draws alike.

Each row of a group draws a lot (`lots`): of the public key, the group's id as it is compared, the row's own codes and
ids, and its number among the equal rows of its group. The rows with the smallest lots count, as many as the bound says.

Theorem. Which rows of a group count is a function of that group's rows alone. If a row of it is replaced, at most one
of those that count is replaced; if one enters or leaves, one of them enters or leaves, or is replaced, or none changes.

Proof. Number the equal rows of a group 1, 2, …: the group is then a set of pairs of a row's content and a number. A row
that enters beside m equal ones adds the pair of number m + 1, and one that leaves takes the last pair away, so that no
other pair changes. Every pair has a lot of its own that nothing else in the table has a say in; equal lots are ordered
by content, then by number. So the pairs are ordered alike in every table, and the first k of a set in a fixed order
count. If one element enters the set, it is among the first k and puts at most one other out, or it is not and nothing
changes; if one leaves, that backwards. If one is replaced, take it out and put the other in: if the first was kept, the
next in line moves up and is the last that is kept, and goes again if the other comes before it. So at most one of the
first k is replaced. Of a group that is replaced whole, at most k rows that count change, for there are at most k.

What the sample is about. If the lots were drawn at random, every k of the n pairs of a group would be equally likely.
So each row counts with the probability min(1, k / n), whatever it holds: counts, totals and shares of the sample are on
average those of all rows, each weighted by min(1, k / n). Equal rows draw different lots, or nine equal rows out of ten
would all be kept or all be left out.
"""

from dataclasses import dataclass

from entwined.tables.engine import Dialect, Kind
from entwined.tables.lots import lot_of, quoted, spelled, whole_text
from entwined.tables.steps import Steps


@dataclass(frozen=True, slots=True)
class Lots:
    """How the rows of a statement draw lots: by which key, and by which columns of codes and of ids."""

    key: str
    codes: tuple[str, ...]
    ids: tuple[tuple[str, Kind], ...]
    dialect: Dialect

    def rows(self, source: str, who: Kind) -> Steps:
        """Add to the rows that have a `who` their lot, and their place among the rows of their group by content."""
        content = ", ".join((*self.codes, *(name for name, _ in self.ids))) or "who"
        window = f"(PARTITION BY who ORDER BY {content})"
        place, copy = f"ROW_NUMBER() OVER {window}", f"ROW_NUMBER() OVER {window} - RANK() OVER {window} + 1"
        own = [whole_text(code, self.dialect) for code in self.codes]
        own += [spelled(name, kind, self.dialect) for name, kind in self.ids]
        parts = [quoted(self.key), spelled("who", who, self.dialect), *own, whole_text("copy", self.dialect)]
        return [
            ("numbered", f"SELECT {source}.*, {place} AS place, {copy} AS copy FROM {source} WHERE who IS NOT NULL"),
            ("drawn", f"SELECT numbered.*, {lot_of(parts, self.dialect)} AS lot FROM numbered"),
        ]  # fmt: skip

    def person(self, home: Kind, who: Kind) -> str:
        """Write the lot of a person in a group: by both ids alone, so that it stays whatever the person's rows hold."""
        ids = spelled("home", home, self.dialect), spelled("who", who, self.dialect)
        return lot_of([quoted(self.key), *ids], self.dialect)


def few_rows(lots: Lots, source: str, who: Kind, most: int, before: str = "") -> Steps:
    """Keep at most so many rows a group, by their lots; those come first that the number `before` puts first.

    A number made of a row's own codes is part of its content, so that the order stays one of pairs, and the theorem
    holds with it.
    """
    order = ", ".join((*filter(None, [before]), "lot", "place"))
    return [*lots.rows(source, who), *first("drawn", "picked", "who", order, most)]


def few_steps(lots: Lots, source: str, who: Kind, step: str, missing: int, most: int) -> Steps:
    """Keep one row a step of each series, by its lot, and of each series the first steps.

    Which steps are kept depends on the column of steps alone, which is public. They are the first, and no sample: a
    chain is a law of steps that follow each other, and its length and beginning are what a model knows of.
    """
    return [
        *lots.rows(source, who),
        *first("drawn", "steps", f"who, {step}", "lot, place", 1, f"{step} <> {missing}"),
        *first("steps", "picked", "who", step, most),
    ]


def few_persons(lots: Lots, home: Kind, who: Kind, most: int, *, by_step: bool) -> Steps:
    """Keep at most so many persons a group, each with all rows that were picked of them; nobody without a group.

    A person's lot hangs on the group's id and the person's own. So which persons of a group count depends on who is in
    it, and not on what their rows hold: other rows of a person change that person's rows alone. If a person enters or
    leaves, at most one other leaves or enters, as in the theorem above with persons for pairs. Only a person who moves
    to another group, which is public, replaces one in each.

    In a series persons are steps: one a step, by lot, and the first steps. Which steps those are is public.
    """
    persons = "turn_picked = 1 AND home IS NOT NULL"
    drawn = f"SELECT picked.*, {lots.person(home, who)} AS lot_of_person FROM picked WHERE {persons}"
    steps: Steps = [("persons", drawn)]
    if by_step:
        steps += first("persons", "takers", "home, step_of", "lot_of_person, who", 1, "step_of IS NOT NULL")
        turn = "ROW_NUMBER() OVER (PARTITION BY home ORDER BY step_of) AS seat"
        steps.append(("places", f"SELECT who AS person, {turn} FROM takers"))
    else:
        turn = "ROW_NUMBER() OVER (PARTITION BY home ORDER BY lot_of_person, who) AS seat"
        steps.append(("places", f"SELECT who AS person, {turn} FROM persons"))
    return [
        *steps,
        ("at_home", f"SELECT picked.* FROM picked JOIN places ON who = person WHERE seat <= {most}"),
    ]


def first(rows: str, name: str, shared: str, order: str, most: int, where: str = "") -> Steps:
    """Keep the first rows of those that share something."""
    turn = f"ROW_NUMBER() OVER (PARTITION BY {shared} ORDER BY {order}) AS turn_{name}"
    inside = f" WHERE {where}" if where else ""
    return [
        (f"turns_{name}", f"SELECT {rows}.*, {turn} FROM {rows}{inside}"),
        (name, f"SELECT * FROM turns_{name} WHERE turn_{name} <= {most}"),
    ]
