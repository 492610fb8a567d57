"""Populations of series: steps of a chain, longer than what is kept of them, and what comes later may be known."""

import itertools

import numpy as np

from attack.adversary import Hidden, Seen, leakages
from attack.answers import picked_answers
from attack.path import Refusal, prepare, released, request_toml
from attack.tally import Result, worst
from entwined.schema import Categorical, Integer, Schema

STATES = ("low", "middle", "high", "top")


def drawn_chain(rng, values):
    """A kernel and a start, sharp or dull."""
    kernel = rng.dirichlet(np.full(values, 10 ** rng.uniform(-1, 0.7)), size=values) * 0.98 + 0.02 / values
    if rng.random() < 0.5:
        kernel = (kernel + 2 * np.eye(values)) / 3
    kernel /= kernel.sum(axis=1, keepdims=True)
    start = rng.dirichlet(np.full(values, 2.0))
    return kernel, start


def chain_law(kernel, start, length):
    law = np.asarray(start)
    for _ in range(length - 1):
        law = law[..., None] * kernel
    return law


def by_person(rng, folder):
    """Series of many, cut at their end: what is cut off has no loss, but it says what was before."""
    values = int(rng.integers(2, 4))
    kept = int(rng.integers(1, 4))
    length = int(kept + rng.integers(0, 3 if values > 2 else 4))
    length = min(length, 5 if values == 2 else 4)
    kept = min(kept, length)
    kernel, start = drawn_chain(rng, values)
    said = {"leakage": float(rng.choice([0.5, 1.0, 3.0])), "knowledge": str(rng.choice(["any", "any", "model"]))}
    return cut(rng, folder, kernel, start, kept, length, said)


def cut(rng, folder, kernel, start, kept, length, said):
    """Release by a chain of the first steps, and judge by all of them."""
    values = len(start)
    columns = (Integer("who", 0, 9999), Integer("day", 1, 40), Categorical("state", STATES[:values]))
    schema = Schema(columns, most_rows=1000)
    states = list(itertools.product(range(values), repeat=length))

    def rows(one, who):
        return [{"who": who, "day": 1 + day, "state": STATES[state]} for day, state in enumerate(one)][::-1]

    prepare(folder, schema, rows(states[int(rng.integers(len(states)))], 7) + rows(states[0], 3))
    document = {"kind": "markov_chain", "length": kept, "transition": kernel.tolist(), "initial": start.tolist()}
    model = {"model": document, "by": "who", "order": "day"}
    asked = [{"kind": "histogram", "column": "state"}, {"kind": "count", "where": f"state = '{STATES[1]}'"}]
    count = int(rng.integers(1, 3))
    (folder / "release.toml").write_text(request_toml(asked[:count], [model], cap=10, **said))
    try:
        given = released(folder)
    except Refusal as refusal:
        return Result("series, cut", refused=refusal.why)
    worlds = [rows(one, 100 + at) for at, one in enumerate(states)]
    exact = picked_answers(schema, given.aggregates, worlds, folder, ("who", kept, "day"))
    law = chain_law(kernel, start, length)
    return judged("series, cut", rng, law, exact, given, said, f"{said} {kept} of {length}")


def judged(kind, rng, law, exact, given, said, about):
    cells = np.array(list(itertools.product(*(range(size) for size in law.shape))))
    units = {f"step {at}": cells[:, at] for at in range(law.ndim)}
    hidden = Hidden(law.ravel() / law.sum(), units, tuple(units))
    truth = leakages(hidden, Seen(exact, given.scales), said["knowledge"], rng)
    claim = max(given.claimed().values())
    return worst(kind, [(claim, max(truth.values()))], about)


def whole(rng, folder):
    """One series: the rows of the table are its steps."""
    values = int(rng.integers(2, 4))
    length = int(rng.integers(2, 6 if values == 2 else 5))
    kernel, start = drawn_chain(rng, values)
    schema = Schema((Categorical("state", STATES[:values]),), rows=length, most_rows=length)
    states = list(itertools.product(range(values), repeat=length))
    rows = [[{"state": STATES[state]} for state in one] for one in states]
    prepare(folder, schema, rows[int(rng.integers(len(rows)))])
    said = {"leakage": float(rng.choice([0.5, 1.0, 3.0])), "knowledge": str(rng.choice(["any", "any", "model"]))}
    document = {"kind": "markov_chain", "length": length, "transition": kernel.tolist(), "initial": start.tolist()}
    asked = [{"kind": "histogram", "column": "state"}, {"kind": "count", "where": f"state = '{STATES[1]}'"}]
    (folder / "release.toml").write_text(request_toml(asked[: int(rng.integers(1, 3))], [{"model": document}], cap=10, **said))
    try:
        given = released(folder)
    except Refusal as refusal:
        return Result("series, whole", refused=refusal.why)
    exact = picked_answers(schema, given.aggregates, rows, folder)
    return judged("series, whole", rng, chain_law(kernel, start, length), exact, given, said, f"{said} {length}")
