"""Laws over a few answers: drawn at random, read from a model as a certificate holds it, and fitted to a pilot."""

import itertools
import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Net:
    """Answers that depend on up to two others before them: of each its parents and one row of chances for each of
    their joint values, the last parent fastest."""

    names: tuple
    sizes: tuple
    parents: tuple
    tables: tuple

    def joint(self):
        """The chance of all answers together, one axis an answer."""
        law = np.ones(self.sizes)
        for at, (above, table) in enumerate(zip(self.parents, self.tables, strict=True)):
            shape = [self.sizes[one] for one in (*above, at)]
            order = np.argsort([*above, at])
            axes = [self.sizes[one] if one in (*above, at) else 1 for one in range(len(self.sizes))]
            law = law * np.asarray(table).reshape(shape).transpose(order).reshape(axes)
        return law

    @property
    def document(self):
        """The same as a model file; values are named by their codes."""
        return {
            "kind": "bayes_net",
            "variables": [
                {
                    "name": name,
                    "values": [str(code) for code in range(size)],
                    "parents": [self.names[one] for one in above],
                    "table": np.asarray(table).tolist(),
                }
                for name, size, above, table in zip(
                    self.names, self.sizes, self.parents, self.tables, strict=True
                )
            ],
        }

    @property
    def field(self):
        """The same as a model file of pairs, if it is one tree: the law of the root goes with the first pair."""
        if sorted(map(len, self.parents)) != [0] + [1] * (len(self.names) - 1) or len(self.names) < 2:
            return None
        edges = []
        for at, above in enumerate(self.parents):
            if above:
                chances = np.asarray(self.tables[at])
                weight = (
                    1.0 if edges else np.asarray(self.tables[0])[0][:, None]
                )  # the first has the root above
                potential = (chances * weight).tolist()
                edges.append({"between": [self.names[above[0]], self.names[at]], "potential": potential})
        return {
            "kind": "random_field",
            "variables": dict(zip(self.names, self.sizes, strict=True)),
            "edges": edges,
        }


def net_from(document):
    """Read a network of exact chances as a certificate holds it."""
    variables = document["variables"]
    names = tuple(one["name"] for one in variables)
    places = {name: at for at, name in enumerate(names)}
    return Net(
        names,
        tuple(len(one["values"]) for one in variables),
        tuple(tuple(places[name] for name in one["parents"]) for one in variables),
        tuple(np.array(one["table"], dtype=float) for one in variables),
    )


def drawn_net(rng, names, levels, may_miss, follow_ups=0.3, *, two_parents=True):
    """Draw a law over values and missing, which is the last code of each: 0 where nothing is ever missing.

    A follow-up is missing exactly where its first parent does not have some value, or is missing itself.
    """
    sizes = tuple(level + 1 for level in levels)
    two = two_parents and rng.random() < 0.3
    parents, tables = [], []
    for at, size in enumerate(sizes):
        count = 0 if at == 0 else min(at, 2 if two and at > 1 else 1)
        above = tuple(int(one) for one in rng.choice(at, count, replace=False)) if count else ()
        rows = math.prod(sizes[one] for one in above)
        sharp = np.exp(rng.uniform(np.log(0.15), np.log(3)))
        table = rng.dirichlet(np.full(size, sharp), size=rows) * 0.98 + 0.02 / size
        if not may_miss[at]:
            table[:, -1] = 0
        elif above and rng.random() < follow_ups:
            asked = int(rng.integers(levels[above[0]]))
            first = np.repeat(np.arange(sizes[above[0]]), rows // sizes[above[0]])
            table[first == asked, -1] = 0
            table[first != asked] = np.eye(size)[-1]
        parents.append(above)
        tables.append(table / table.sum(axis=1, keepdims=True))
    return Net(tuple(names), sizes, tuple(parents), tuple(tables))


def counted(law, rows):
    """As many rows of each kind as the law says, the rest by the largest remainders."""
    exact = law.ravel() * rows
    counts = np.floor(exact).astype(int)
    counts[np.argsort(counts - exact, kind="stable")[: rows - counts.sum()]] += 1
    cells = itertools.product(*(range(size) for size in law.shape))
    return [cell for cell, count in zip(cells, counts, strict=True) for _ in range(count)]


def fitted(names, sizes, parents, codes, smoothing):
    """The network of this shape over all codes of a pilot, −1 for those who were not asked."""
    tables = []
    for at, above in enumerate(parents):
        scope = (*above, at)
        asked = (codes[:, scope] >= 0).all(axis=1)
        counts = np.zeros([sizes[one] for one in scope])
        np.add.at(counts, tuple(codes[asked][:, scope].T), 1.0)
        counts = counts.reshape(-1, sizes[at]) + smoothing
        tables.append(counts / counts.sum(axis=1, keepdims=True))
    return Net(tuple(names), tuple(sizes), tuple(parents), tuple(tables))
