"""How far apart the outputs of small questionnaires in forms are, exactly: E_γ of every secret.

Nothing here comes from the product. Complete answers and forms are enumerated; a point is a form and an answer to
every question. A part is a channel with a row an answer and one more, the last, for a blank; the form's has a row a
form. Blanks are left out (the last row is read) or filled by a draw from a law a question.
"""

from dataclasses import dataclass, field
from itertools import combinations, permutations, product

import numpy as np

from support.hockey_sticks import stick

BLANK = -1


@dataclass(frozen=True, eq=False)
class Worst:
    """A curve: the largest E_γ of some pairs of laws."""

    sticks: object

    def at(self, excess):
        return self.sticks(1 + np.asarray(excess)) * (1 + 1e-14)


def channel_curve(rows):
    """The worst pair of rows of a channel."""

    def sticks(gammas):
        gap = rows[:, None, None, :] - gammas[:, None] * rows[None, :, None, :]
        return np.maximum(gap, 0.0).sum(axis=-1).max(axis=(0, 1))

    return Worst(sticks)


@dataclass
class Questionnaire:
    """A joint law of the answers, which form asks what, the chances of forms, and the channels, the form's last.

    `read` says which form is read where, if less is read than is asked.
    """

    joint: np.ndarray
    asked: np.ndarray
    forms: np.ndarray
    channels: list
    filling: list = field(default_factory=list)
    read: np.ndarray | None = None

    def __post_init__(self):
        self.read = self.asked if self.read is None else self.read
        answers = list(np.ndindex(*self.joint.shape))
        self.points = [(s, y) for s in range(len(self.forms)) for y in answers]
        self.chance = np.array([self.forms[s] * self.joint[y] for s, y in self.points])
        self.cells = np.array(
            [[v if self.asked[s, j] else BLANK for j, v in enumerate(y)] + [s] for s, y in self.points]
        )
        self.outputs = np.array([self.output(s, y).ravel() for s, y in self.points])

    def output(self, form, answers):
        """The law of all that is released at a point."""
        law = self.channels[-1][form]
        for j, value in enumerate(answers):
            if self.read[form, j]:
                row = self.channels[j][value]
            else:
                row = self.filling[j] @ self.channels[j][:-1] if self.filling else self.channels[j][-1]
            law = np.multiply.outer(law, row)
        return law

    def moved(self, gammas):
        """E_γ of all parts for the worst two forms and answers that stay the same."""
        size, each = len(self.forms), self.outputs.reshape(len(self.forms), -1, self.outputs.shape[1])
        pairs = ((s, t) for s, t in product(range(size), repeat=2) if s != t)
        sticks = [
            stick(one, other, gammas) for s, t in pairs for one, other in zip(each[s], each[t], strict=True)
        ]
        return np.max(sticks, axis=0)

    def weights(self, rng, knowledge, public):
        """For each secret cell what can be known of the others, as a weight of every point."""
        units = self.cells.shape[1]
        for cell in range(units - public):
            others = [j for j in range(units) if j != cell]
            if knowledge == "model":
                sets = [(units - 1,)] if public else [()]
            else:
                sets = [known for r in range(units) for known in combinations(others, r)]
                sets = [known for known in sets if units - 1 in known] if public else sets
            for known in sets:
                for values in {tuple(row) for row in self.cells[:, known].tolist()}:
                    there = (self.cells[:, known] == np.array(values)).all(axis=1)
                    yield cell, self.chance * there
            if knowledge == "any" and not public:
                yield cell, self.chance * self.tilt(rng, cell)

    def tilt(self, rng, cell):
        """Something known of some cells: that one is blank, or that it is not and a weight of its answer."""
        weight = np.ones(len(self.points))
        at = self.cells[rng.integers(len(self.points))]
        for j in range(self.joint.ndim):
            if j != cell and rng.random() < 0.5:
                soft = rng.random(self.joint.shape[j]) ** 3
                mine = self.cells[:, j]
                weight *= mine == BLANK if at[j] == BLANK else np.where(mine == BLANK, 0.0, soft[mine])
        return weight

    def sticks(self, gammas, knowledge="any", public=False, rng=None):
        """For each secret its cell and E_γ of all that is released."""
        for cell, there in self.weights(rng or np.random.default_rng(0), knowledge, public):
            secrets = sorted(set(self.cells[there > 0, cell].tolist()))
            each = [there * (self.cells[:, cell] == secret) for secret in secrets]
            laws = [weight @ self.outputs / weight.sum() for weight in each]
            for one, other in permutations(laws, 2):
                yield cell, stick(one, other, gammas)
