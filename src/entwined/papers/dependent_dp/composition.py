"""Theorems 2 to 6 of the paper as written, held against exact leakages of small mechanisms.

A mechanism here is a table: the chances of its outputs for every database of a few bits. Its leakage is the paper's
dependent privacy loss, to an adversary who knows the law of the bits and the value of none of the others (`model`), or
of any of them (`any`).
"""

from dataclasses import dataclass
from itertools import combinations, product
from math import exp, inf, log
from typing import Final, NamedTuple

import numpy as np

from entwined.numbers import FloatArray, IntArray

TRIALS: Final = 150


@dataclass(frozen=True, slots=True, eq=False)
class Bits:
    """The chances of all values of n bits, in the order of `databases`."""

    chances: FloatArray

    @property
    def databases(self) -> IntArray:
        """All values, one row each."""
        return np.array(list(product((0, 1), repeat=int(np.log2(len(self.chances))))), np.int64)

    def leakage(self, outputs: FloatArray, knowledge: str = "any") -> float:
        """The largest log ratio of an output's chances given two values of a bit, others known or not."""
        rows = self.databases
        units = rows.shape[1]
        worst = 0.0
        for unit in range(units):
            others = [one for one in range(units) if one != unit]
            sizes = range(units) if knowledge == "any" else (0,)
            for known in (some for size in sizes for some in combinations(others, size)):
                for values in product((0, 1), repeat=len(known)):
                    there = (
                        (rows[:, list(known)] == values).all(axis=1) if known else np.ones(len(rows), bool)
                    )
                    worst = max(worst, self._apart(outputs, there, rows[:, unit]))
        return worst

    def _apart(
        self, outputs: FloatArray, there: "np.ndarray[tuple[int], np.dtype[np.bool_]]", bit: IntArray
    ) -> float:
        weights = [self.chances * there * (bit == value) for value in (0, 1)]
        if not min(one.sum() for one in weights) > 0:
            return 0.0  # a value that cannot be is no secret
        one, other = (weight @ outputs / weight.sum() for weight in weights)
        seen = (one > 0) | (other > 0)
        with np.errstate(divide="ignore"):
            ratios = np.abs(np.log(one[seen]) - np.log(other[seen]))
        return float(ratios.max())


def together(one: FloatArray, other: FloatArray) -> FloatArray:
    """Both outputs of two mechanisms that toss their own coins."""
    return np.asarray((one[:, :, None] * other[:, None, :]).reshape(len(one), -1))


def told_truly(bit: IntArray, epsilon: float) -> FloatArray:
    """Say a bit, truly with a chance of e^ε / (1 + e^ε)."""
    right = 1 / (1 + exp(-epsilon)) if epsilon < inf else 1.0
    return np.stack([np.where(bit == 0, right, 1 - right), np.where(bit == 1, right, 1 - right)], axis=1)


class Claim(NamedTuple):
    """What a theorem of the paper claims of one case, and what is so."""

    theorem: str
    case: str
    claimed: float
    found: float

    @property
    def holds(self) -> bool:
        """Whether the case agrees with the claim."""
        return self.found <= self.claimed + 1e-9


def alike(same: float) -> Bits:
    """Two fair bits that are equal with a chance of `same`."""
    return Bits(np.array([same, 1 - same, 1 - same, same]) / 2)


def claims(generator: np.random.Generator) -> list[Claim]:
    """Every theorem on the cases that decide it."""
    return [*sequential(), *parallel(), *pairwise(), *axioms(generator), *expected_information(generator)]


def sequential() -> list[Claim]:
    """Theorem 3: losses of mechanisms over the same data add up."""
    three = Bits(np.full(8, 1 / 8))
    a, b, c = three.databases.T
    first, second = told_truly(a ^ b ^ c, inf), told_truly(b ^ c, inf)
    blind = [three.leakage(one, "model") for one in (first, second)]
    pair = Bits(np.array([1, 69, 15, 59]) / 144)
    shares = np.array([[4, 1, 96, 7], [11, 4, 85, 18]]) / 100
    noisy = [np.stack([share, 1 - share], axis=1) for share in shares]
    apart = [pair.leakage(one) for one in noisy]
    return [
        Claim(
            "Theorem 3",
            "exclusive or of three fair bits, then of two of them, no value known",
            sum(blind),
            three.leakage(together(first, second), "model"),
        ),
        Claim("Theorem 3", "two dependent bits, any value known", sum(apart), pair.leakage(together(*noisy))),
    ]


def parallel() -> list[Claim]:
    """Theorem 4: of mechanisms over disjoint parts of the data, the largest loss counts."""
    found = []
    for same in (0.5, 0.75, 0.99):
        law = alike(same)
        parts = [told_truly(bit, 1.0) for bit in law.databases.T]
        claimed = max(law.leakage(one) for one in parts)
        case = f"two bits that are equal with a chance of {same:g}, ε = 1 each"
        found.append(Claim("Theorem 4", case, claimed, law.leakage(together(*parts))))
    return found


def pairwise() -> list[Claim]:
    """Theorem 9: all coefficients are 0 here, so Laplace noise for ε alone should do."""
    rows = Bits(np.ones(8)).databases
    odd = rows[:, 0] ^ rows[:, 1] ^ rows[:, 2]
    law = Bits(np.where(odd == 0, 0.95, 0.05) / 4)
    identity = together(together(*(told_truly(bit, 1.0) for bit in rows.T[:2])), told_truly(rows[:, 2], 1.0))
    case = "two fair bits and their exclusive or, wrong with a chance of 0.05"
    return [
        Claim("Theorem 9", f"{case}, no value known", 1.0, law.leakage(identity, "model")),
        Claim("Theorem 9", f"{case}, any value known", 1.0, law.leakage(identity)),
    ]


def axioms(generator: np.random.Generator) -> list[Claim]:
    """Theorems 5 and 6 on random laws and mechanisms: the case that comes closest to breaking them."""
    closest: dict[str, Claim] = {}
    for _ in range(TRIALS):
        law = Bits(generator.dirichlet(np.full(4, 0.5)))
        one, other = (generator.dirichlet(np.ones(3), 4) for _ in range(2))
        after, share = generator.dirichlet(np.ones(3), 3), generator.random()
        losses = law.leakage(one), law.leakage(other)
        tried = (
            Claim("Theorem 5", "random tables, what was seen passed on", losses[0], law.leakage(one @ after)),
            Claim(
                "Theorem 6",
                "random tables, one of two drawn",
                max(losses),
                law.leakage(share * one + (1 - share) * other),
            ),
        )
        for claim in tried:
            before = closest.get(claim.theorem)
            if before is None or claim.found - claim.claimed > before.found - before.claimed:
                closest[claim.theorem] = claim
    return list(closest.values())


def expected_information(generator: np.random.Generator) -> list[Claim]:
    """Theorem 2: information is bounded by ε in the mean over outputs, not for each of them."""
    values, epsilon = 400, 1.0
    prior = np.full(values, 0.5 / (values - 1))
    prior[0] = 0.5
    likelihood = told_truly((np.arange(values) == 0).astype(np.int64), epsilon)
    means = []
    for _ in range(TRIALS):
        law = generator.dirichlet(np.full(5, 0.5))
        table = generator.dirichlet(np.ones(4), 5)
        loss = float((np.log(table).max(axis=0) - np.log(table).min(axis=0)).max())
        means.append((float(_gains(law, table) @ (law @ table)), loss))
    mean = max(means, key=lambda one: one[0] - one[1])
    single = float(_gains(prior, likelihood).max())
    return [
        Claim("Theorem 2, mean over outputs", "random tables", mean[1], mean[0]),
        Claim("Theorem 2, each output", "400 values, one of them with a chance of ½, ε = 1", epsilon, single),
    ]


def _gains(prior: FloatArray, outputs: FloatArray) -> FloatArray:
    """H(prior) − H(posterior) in nats for every output."""
    joint = prior[:, None] * outputs
    posterior = joint / joint.sum(axis=0)
    logs = np.log(np.where(posterior > 0, posterior, 1.0))
    first = -float((prior * np.log(np.where(prior > 0, prior, 1.0))).sum())
    return np.asarray(first + (posterior * logs).sum(axis=0))


def golden() -> float:
    """Two bits equal with a chance of 0.99, ε = 1 each: 1 + ln((0.99e + 0.01)/(0.01e + 0.99)).

    >>> round(golden(), 4)
    1.9766
    """
    return 1 + log((0.99 * exp(1) + 0.01) / (0.01 * exp(1) + 0.99))
