"""Populations of series: steps of a chain, longer than what is kept of them, and what comes later may be known."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from attack.adversary import Hidden, Seen, leakages
from attack.answers import picked_answers
from attack.path import Refusal, prepare, released, request_toml
from attack.tally import Result, worst
from entwined.schema import Categorical, Integer, Schema

STATES = ("low", "middle", "high", "top")
NOTES = ("no", "yes")
MOST_WORLDS = 700


@dataclass(frozen=True, eq=False)
class Chain:
    """How steps follow each other, and what a row shows of its step.

    `missing`: how often a state is not written down, independently of everything, or None where missing is a state
    like any other, the last. `noted`: how often there is a note, by state; a note says nothing else.
    """

    kernel: np.ndarray
    start: np.ndarray
    missing: float | None = None
    noted: np.ndarray | None = None

    @property
    def values(self):
        """How many states have a name."""
        return len(self.start) - (self.missing is None)

    def law(self, length):
        law = np.asarray(self.start)
        for _ in range(length - 1):
            law = law[..., None] * self.kernel
        return law

    def contents(self):
        """What a row may be: its state, how likely it looks so given that, and how it looks."""
        for state in range(len(self.start)):
            looks = (
                [(1.0, state)] if self.missing is None else [(1 - self.missing, state), (self.missing, None)]
            )
            for (chance, shown), note in itertools.product(looks, range(2 if self.noted is not None else 1)):
                more = 1.0 if self.noted is None else abs(1 - note - self.noted[state])
                if chance * more > 0:
                    yield state, chance * more, (shown, note)

    def row(self, look):
        shown, note = look
        state = "" if shown is None or shown >= self.values else STATES[shown]
        return {"state": state, **({} if self.noted is None else {"note": NOTES[note]})}

    def columns(self):
        notes = () if self.noted is None else (Categorical("note", NOTES),)
        return (Categorical("state", STATES[: self.values]), *notes)

    def declared(self, length):
        """The model as a request has it."""
        document = {
            "kind": "markov_chain",
            "length": length,
            "transition": self.kernel.tolist(),
            "initial": self.start.tolist(),
        }
        silent = {} if self.missing is None else {"missing_says_nothing": ["state"]}
        return {"model": document, "columns": ["state"], **silent}


def drawn_chain(rng):
    """A kernel and a start, sharp or dull, and what rows show."""
    count = int(rng.integers(2, 4))
    kernel = rng.dirichlet(np.full(count, 10 ** rng.uniform(-1, 0.7)), size=count) * 0.98 + 0.02 / count
    if rng.random() < 0.5:
        kernel = (kernel + 2 * np.eye(count)) / 3
    kernel /= kernel.sum(axis=1, keepdims=True)
    start = rng.dirichlet(np.full(count, 2.0))
    missing = float(rng.choice([0.0, 0.3])) if rng.random() < 0.5 or count == 2 else None
    noted = rng.random(count) if rng.random() < 0.2 else None
    return Chain(kernel, start, missing, noted)


def worlds(chain, length, there):
    """Everything that a series may be: its rows at the steps that are there, and all its states."""
    contents = list(chain.contents())
    hidden = [(state, 1.0, None) for state in range(len(chain.start))]
    law = chain.law(length)
    found = []
    for one in itertools.product(*(contents if step in there else hidden for step in range(length))):
        weight = law[tuple(state for state, _, _ in one)]
        for _, chance, _ in one:
            weight = weight * chance
        if weight > 0:
            found.append((weight, one))
    return found


def hidden_series(found, length, there):
    """Rows are the secrets; of a step without a row its state may be known."""
    looks = sorted({look for _, one in found for _, _, look in one if look is not None}, key=str)
    units = {
        f"step {step}": np.array(
            [looks.index(one[step][2]) if step in there else one[step][0] for _, one in found]
        )
        for step in range(length)
    }
    weights = np.array([weight for weight, _ in found])
    return Hidden(weights / weights.sum(), units, tuple(f"step {step}" for step in there))


def terms(rng):
    return {
        "leakage": float(rng.choice([0.5, 1.0, 3.0])),
        "knowledge": str(rng.choice(["any", "any", "model"])),
    }


def questions(rng, chain):
    asked = [{"kind": "histogram", "column": "state"}, {"kind": "count", "where": f"state = '{STATES[1]}'"}]
    if chain.noted is not None:
        asked.append({"kind": "count", "where": "note = 'yes'"})
    return asked[: int(rng.integers(1, len(asked) + 1))]


def by_person(rng, folder):
    """Series of many, cut at their end: what is cut off has no loss, but it says what was before."""
    chain, said = drawn_chain(rng), terms(rng)
    kept, each = int(rng.integers(1, 4)), len(list(chain.contents()))
    longest = max(length for length in range(1, kept + 3) if each**length <= MOST_WORLDS)
    kept = min(kept, longest)
    people = [(length, range(length)) for length in range(kept, longest + 1)]
    if said["knowledge"] == "any" and longest > 2:  # a step of which there is no row
        gap = int(rng.integers(longest))
        people.append((longest, [step for step in range(longest) if step != gap]))
    return cut(rng, folder, chain, kept, people, said)


def entered_twice(rng, folder):
    """Series in which some steps were entered twice: the copy of a row says nothing new, and must cost nothing."""
    chain, said = drawn_chain(rng), terms(rng)
    copied = (0, int(rng.integers(0, 3)))
    return cut(rng, folder, chain, int(rng.integers(2, 4)), [(3, range(3))], said, copied)


def cut(rng, folder, chain, kept, people, said, copied=()):
    """Release by a chain of the first steps, and judge by all steps of people with series of several lengths."""
    columns = (Integer("who", 0, 9999), Integer("day", 1, 40), *chain.columns())
    schema = Schema(columns, most_rows=10_000)
    found = [worlds(chain, length, there) for length, there in people]

    def rows(one, there, who):
        steps = [*sorted(there, reverse=True), *copied]
        return [{"who": who, "day": 1 + step, **chain.row(one[step][2])} for step in steps]

    table = [
        row
        for at, ((_, there), mine) in enumerate(zip(people, found, strict=True))
        for row in rows(mine[int(rng.integers(len(mine)))][1], there, at)
    ]
    prepare(folder, schema, table)
    model = {**chain.declared(kept), "by": "who", "order": "day"}
    (folder / "release.toml").write_text(request_toml(questions(rng, chain), [model], cap=10, **said))
    try:
        given = released(folder)
    except Refusal as refusal:
        return Result("series, cut", refused=refusal.why)
    every = [(one, there) for (_, there), mine in zip(people, found, strict=True) for _, one in mine]
    series = [rows(one, there, 100 + at) for at, (one, there) in enumerate(every)]
    exact, read = picked_answers(schema, given.aggregates, series, table, folder, ("who", kept, "day"))
    if not np.array_equal(read, given.exact):
        return Result(
            "series, cut", max(given.claimed().values()), math.inf, about="the door read other rows"
        )
    results, start = [], 0
    for (length, there), mine in zip(people, found, strict=True):
        about, hidden = f"{said} {kept} of {length} {there}", hidden_series(mine, length, there)
        own = exact[start : start + len(mine)]
        results.append(judged("series, cut", rng, hidden, own, given, said, about))
        start += len(mine)
    return results


def judged(kind, rng, hidden, exact, given, said, about):
    truth = leakages(hidden, Seen(exact, given.scales), said["knowledge"], rng)
    claim = max(given.claimed().values())
    return worst(kind, [(claim, max(truth.values()))], about)


def whole(rng, folder):
    """One series: the rows of the table are its steps."""
    chain, said = drawn_chain(rng), terms(rng)
    length, each = int(rng.integers(2, 6)), len(list(chain.contents()))
    while each**length > MOST_WORLDS:
        length -= 1
    schema = Schema(chain.columns(), rows=length, most_rows=length)
    found = worlds(chain, length, range(length))
    tables = [[chain.row(look) for _, _, look in one] for _, one in found]
    prepare(folder, schema, tables[int(rng.integers(len(tables)))])
    (folder / "release.toml").write_text(
        request_toml(questions(rng, chain), [chain.declared(length)], cap=10, **said)
    )
    try:
        given = released(folder)
    except Refusal as refusal:
        return Result("series, whole", refused=refusal.why)
    exact, _ = picked_answers(schema, given.aggregates, tables, [], folder)
    hidden = hidden_series(found, length, range(length))
    return judged("series, whole", rng, hidden, exact, given, said, f"{said} {length}")
