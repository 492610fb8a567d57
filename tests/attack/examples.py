"""Populations made so that one thing matters: what is not covered there shows at once, and by much."""

import numpy as np

from attack import cells, series
from attack.laws import Net


def follow_ups(rng, folder):
    """A question, and others that only those are asked who said yes to it: who was not, has no answer there."""
    names = ("owner", *(f"more{at}" for at in range(6)))
    tables = [np.array([[0.7, 0.3, 0.0]])]
    tables += [np.array([[0.0, 0.0, 1.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]) for _ in names[1:]]
    law = Net(names, (3,) * len(names), ((), *([(0,)] * (len(names) - 1))), tuple(tables))
    drawn = cells.Design(law, ("drop",) * len(names))
    asked = [{"kind": "histogram", "column": name} for name in names]
    return cells.learned_of(rng, folder, drawn, {"leakage": 1.0, "knowledge": "any"}, asked)


def rarely_alike(columns=5):
    """Answers 0 and 1 go with the same answer next to them, but next to most answers is a 2, whatever they are."""
    names = tuple(f"q{at}" for at in range(columns))
    next_one = np.array(
        [
            [0.0198, 0.0002, 0.98, 0.0],
            [0.0002, 0.0198, 0.98, 0.0],
            [0.01, 0.01, 0.98, 0.0],
            [0.01, 0.01, 0.98, 0.0],
        ]
    )
    parents = ((), *((at,) for at in range(columns - 1)))
    return Net(names, (4,) * columns, parents, (next_one[-1:], *([next_one] * (columns - 1))))


def known_class(rng, folder):
    """Of every answer it is known, as from recoded columns, whether it is a 2: of those that are not, all are alike."""
    law = rarely_alike()
    drawn = cells.Design(law, ("value",) * len(law.names), recoded="q0")
    return cells.declared_of(rng, folder, drawn, {"first": law}, {"leakage": 1.0, "knowledge": "any"})


def known_end(rng, folder):
    """A step after those that are kept is known, and it tells what the last one kept is."""
    kernel = np.array(
        [
            [0.02, 0.0002, 0.68, 0.2998],
            [0.0002, 0.02, 0.68, 0.2998],
            [0.01, 0.01, 0.97999, 0.00001],
            [0.0005, 0.0005, 0.998, 0.001],
        ]
    )
    said = {"leakage": 1.0, "knowledge": "any"}
    chain = series.Chain(kernel, np.array([0.3, 0.3, 0.3, 0.1]), missing=0.0)
    return series.cut(rng, folder, chain, 2, [(3, range(3))], said)


def recoded_blank(rng, folder):
    """A question of one form, and a column that has the same answer for those who were not asked and some who were."""
    first, free = np.array([[0.08, 0.92, 0.0]]), np.array([[0.5, 0.5, 0.0]])
    alike = np.array([[0.98, 0.02, 0.0], [0.02, 0.98, 0.0], [0.5, 0.5, 0.0]])
    law = Net(("q0", "q1", "q2", "q3"), (3, 3, 3, 3), ((), (), (0,), ()), (first, free, alike, free))
    drawn = cells.Design(law, ("value",) * 4, recoded="q0", form=("q0", "q1", "q3"))
    return cells.survey_of(rng, folder, drawn, {"leakage": 1.0, "knowledge": "any"})
