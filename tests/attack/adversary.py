"""What an adversary who sees everything released really learns, by enumeration.

Everything hidden is one of finitely many *worlds* with a known law. In each world every unit has a value and the exact
answers are known; the noise is discrete Laplace of the released scales. The adversary may know of every other unit its
value, a set that it is in, or anything else that was seen of that unit alone: all of these tilt the law of the worlds by
a product of one function a unit. What is found is reached by some adversary, so it is never more than the truth.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np

OUTPUTS = 512  # released vectors that are looked at, if there are more
TILTS = 24  # things that an adversary may know, each time
ROUNDS = 12  # of improving what was found, as long as it gets better
BETTER = 1e-6
LEAST = 1e-12  # a value less likely than this, given what is known, is left out


@dataclass(frozen=True, eq=False)
class Hidden:
    """Worlds, how likely each is, the value of every unit in each, and which units are secrets.

    What is `public` everybody knows. Values are numbers from 0. In a unit of `blanks` one value says that it was not
    asked: nobody knows of it something that leaves this open and yet tells of the answer.
    """

    weights: np.ndarray
    units: dict
    secrets: tuple
    public: tuple = ()
    blanks: dict = field(default_factory=dict)

    def sizes(self):
        return {name: int(values.max()) + 1 for name, values in self.units.items()}


@dataclass(frozen=True, eq=False)
class Seen:
    """The exact answers in each world, and the scale of the noise of each number.

    `told` is the log likelihood in each world of what else was seen, such as a choice.
    """

    exact: np.ndarray
    scales: np.ndarray
    told: np.ndarray | float = 0.0

    def __add__(self, other):
        exact = np.hstack([self.exact, other.exact])
        return Seen(exact, np.concatenate([self.scales, other.scales]), self.told + other.told)

    def moving(self):
        """Leave out numbers that are the same in all worlds."""
        moves = np.ptp(self.exact, axis=0) > 0
        return Seen(self.exact[:, moves], self.scales[moves], self.told)

    def likelihoods(self, outputs):
        """Log likelihoods, one row an output, but for a constant of each output."""
        if (
            outputs.size
            and min(outputs.min(), self.exact.min()) >= 0
            and max(outputs.max(), self.exact.max()) <= 1
        ):
            rates = 1 / self.scales  # |z − e| is z + e − 2ze for zeros and ones
            logs = 2 * (outputs * rates) @ self.exact.T - (outputs @ rates)[:, None] - self.exact @ rates
        else:
            logs = np.zeros((len(outputs), len(self.exact)))
            for at, scale in enumerate(self.scales):
                logs -= np.abs(outputs[:, at, None] - self.exact[:, at]) / scale
        logs += self.told
        return logs - logs.max(axis=1, keepdims=True)

    def outputs(self, rng):
        """All vectors between the least and the greatest exact answers, or some of them."""
        low, high = self.exact.min(axis=0), self.exact.max(axis=0)
        if np.prod(high - low + 1.0) <= OUTPUTS:
            ranges = [range(int(a), int(b) + 1) for a, b in zip(low, high, strict=True)]
            return np.array(list(itertools.product(*ranges)), dtype=float).reshape(-1, len(low))
        drawn = rng.integers(low.astype(int), high.astype(int) + 1, size=(OUTPUTS, len(low)))
        at_truth = self.exact[rng.integers(len(self.exact), size=OUTPUTS // 8)]
        return np.unique(np.vstack([drawn, at_truth]), axis=0).astype(float)

    def beside(self, output):
        """Vectors that differ from one in one number."""
        low, high = self.exact.min(axis=0).astype(int), self.exact.max(axis=0).astype(int)
        changes = ((at, value) for at in range(len(output)) for value in range(low[at], high[at] + 1))
        found = [output, *(np.where(np.arange(len(output)) == at, value, output) for at, value in changes)]
        return np.array(found, dtype=float)


def leakages(hidden, seen, knowledge, rng):
    """The most that is found of every secret unit."""
    seen = seen.moving()
    if not seen.exact.shape[1] and not np.ptp(seen.told):
        return dict.fromkeys(hidden.secrets, 0.0)
    outputs = seen.outputs(rng)
    chances = np.exp(seen.likelihoods(outputs))
    return {unit: Search(hidden, seen, unit, knowledge, rng).run(outputs, chances) for unit in hidden.secrets}


@dataclass(frozen=True, eq=False)
class Search:
    """The search for the worst output and the worst thing to know, about one unit."""

    hidden: Hidden
    seen: Seen
    unit: str
    knowledge: str
    rng: np.random.Generator

    def run(self, outputs, chances):
        known = self.first()
        best, at, output = self.best(known, chances)
        for _ in range(ROUNDS):
            before = best
            if self.knowledge == "any" and self.others:
                near = [known[at], *(self.changed(known[at]) for _ in range(TILTS // 4))]
                found, place, where = self.best(near, chances)
                if found > best:
                    best, known, at, output = found, near, place, where
            beside = self.seen.beside(outputs[output])
            closer = np.exp(self.seen.likelihoods(beside))
            found, _, where = self.best([known[at]], closer)
            if found > best:
                best, output = found, len(outputs)
                outputs, chances = np.vstack([outputs, beside[where]]), np.vstack([chances, closer[where]])
            if best <= before * (1 + BETTER):
                break
        return best

    def first(self):
        public = self.hidden.public
        sizes = self.hidden.sizes()
        told = itertools.product(*(np.eye(sizes[name]) for name in public))
        starts = [dict(zip(public, each, strict=True)) for each in told]
        if self.knowledge == "model":
            return starts
        more = [{**starts[self.rng.integers(len(starts))], **self.drawn()} for _ in range(TILTS)]
        return starts + more

    def drawn(self):
        sizes = self.hidden.sizes()
        if self.rng.random() < 0.25:  # the same of all others
            alike = drawn_knowledge(self.rng, max(sizes.values()))
            return {name: self.allowed(name, alike[: sizes[name]]) for name in self.others}
        return {name: self.told(name) for name in self.others}

    def told(self, name):
        return self.allowed(name, drawn_knowledge(self.rng, self.hidden.sizes()[name]))

    def allowed(self, name, weights):
        """Make of what is known of a unit with blanks something that says whether it is one, or nothing."""
        blank = self.hidden.blanks.get(name)
        if blank is None or (weights == weights[0]).all():
            return weights
        there = np.arange(len(weights)) != blank
        return np.where(there, weights, 0.0) if weights[there].any() else 1.0 - there

    @property
    def others(self):
        return [name for name in self.hidden.units if name != self.unit and name not in self.hidden.public]

    def changed(self, known):
        name = self.others[self.rng.integers(len(self.others))]
        return {**known, name: self.told(name)}

    def best(self, known, chances):
        """The largest log odds, with the number of what is known and of the output."""
        hidden = self.hidden
        tilts = np.tile(hidden.weights, (len(known), 1))
        for at, each in enumerate(known):
            for name, weights in each.items():
                tilts[at] *= weights[hidden.units[name]]
        values = np.eye(hidden.sizes()[self.unit])[hidden.units[self.unit]].T
        laws = tilts[:, None, :] * values[None]
        mass = laws.sum(axis=2, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.log(laws / mass @ chances.T)
        there = mass[:, :, 0] > LEAST * mass.sum(axis=(1, 2))[:, None]
        high = np.where(there[:, :, None], odds, -np.inf).max(axis=1)
        low = np.where(there[:, :, None], odds, np.inf).min(axis=1)
        gain = np.where(there.any(axis=1)[:, None], high - low, 0.0)
        at, output = np.unravel_index(int(gain.argmax()), gain.shape)
        return float(gain[at, output]), int(at), int(output)


def drawn_knowledge(rng, size):
    """What is known of one unit: nothing, a value, a set of values, or something that depends on it."""
    kind = rng.choice(["nothing", "value", "set", "hint"], p=[0.35, 0.25, 0.25, 0.15])
    if kind == "value":
        return np.eye(size)[rng.integers(size)]
    if kind == "set":
        return (rng.random(size) < 0.5).astype(float)
    if kind == "hint":
        return 10 ** rng.uniform(-3, 0, size)
    return np.ones(size)
