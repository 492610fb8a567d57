"""The exact leakage of small models, by linear programs and enumeration: the truth that bounds must meet.

Nothing here comes from the product. A joint law is an array with one axis per unit. Its leakage over all
mechanisms with a given base loss vector is the linear program of the theory page: f(x) is the chance of some
set of outputs, f(x) ≤ exp(ε_j) f(x') where x and x' differ in unit j only, and the ratio of the means of f
given X_i=a and given X_i=b is as large as it can be.

Who knows something of a unit but not its value (a set that it is in, a noisy reading of it) holds the joint law
times a weight of that unit's value: a tilt. Of every tilt of single units the leakage is that of the tilted law
with nothing known. There are too many to try them all, so they are drawn (`draw.tilts`).

Three steps make it small; `test_oracle.py` checks them against the program as it is written above.

Known units. Only f at their known values, and at X_i=a and X_i=b, enters the means. Copied from there to all
other values it breaks no constraint, so only the configurations u of the unknown units count.

Unit i itself. Let g(u) = f(b,u). The choice f(a,u) = exp(ε_i) g(u) is the largest allowed, and it obeys every
constraint that g obeys. So L = ε_i + log max p·g / q·g, where p and q are the laws of u given a and given b,
over all g ≥ 0 with g(u) ≤ exp(d(u,v)) g(v), where d(u,v) adds the losses of units in which u and v differ.

Brackets. From below: g(u) = exp(−d(u,S)) is allowed for every set S. From above: log g has a range of at most
D = Σ ε_j, and under that constraint alone the best g is exp(D) where p/q is large and 1 elsewhere. Where the
two meet (always, with one unknown unit) no program is solved, nor where another secret is known to leak more.

What remains goes to HiGHS, many programs as one block diagonal dual, each in units of the best g known so far
so that large losses do no harm. The result does not rest on the solver's tolerances: its g is mended until it
is allowed, which gives a leakage that some mechanism reaches, and its flow proves a ceiling by weak duality.
The two agree to within GAP or `ArithmeticError` is raised. The former is returned: a bound below it is wrong.

On one core a program with 2^4 unknown configurations takes 0.4 ms in a batch of 50 and 2.9 ms alone; all
secrets of all units of a model of five bits take 32 ms, of an average drawn model 15 ms.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, permutations, product
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linprog

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Knowledge = Literal["values", "model"]
Tilt = Mapping[int, ArrayLike]
Law = Mapping[float, float]

GAP = 1e-8
# (magnification, tolerance): HiGHS takes entries below 1e-9 for zeros, so the chances are magnified
ATTEMPTS = ((1e4, 1e-9), (1e6, 1e-10), (1e2, 1e-10), (1e5, 1e-8), (1.0, 1e-10))


@dataclass(frozen=True)
class Grid:
    """The configurations of the unknown units, and the pairs (tail, head) one replacement apart."""

    distance: Floats
    tail: Integers
    head: Integers


@lru_cache(maxsize=4096)
def _grid(sizes: tuple[int, ...], losses: tuple[float, ...]) -> Grid:
    cells = np.array(list(product(*(range(size) for size in sizes))), dtype=int).T
    differ = cells[:, :, None] != cells[:, None, :]
    tail, head = np.nonzero(differ.sum(axis=0) == 1)
    return Grid(np.tensordot(np.array(losses), differ.astype(float), axes=1), tail, head)


@dataclass(frozen=True)
class Contest:
    """Two laws of the unknown units, the best g known, the log ratio it reaches and the one proved."""

    p: Floats
    q: Floats
    grid: Grid
    best: Floats
    lower: float
    upper: float

    @property
    def gap(self) -> float:
        return abs(self.upper - self.lower)


@dataclass(frozen=True)
class Bracket:
    """Contests over the same unknown units, one a row: an allowed g, what it reaches, and what no g exceeds."""

    p: Floats
    q: Floats
    grid: Grid
    best: Floats
    lower: Floats
    upper: Floats

    def contest(self, row: int) -> Contest:
        laws = self.p[row], self.q[row], self.grid, self.best[row]
        return Contest(*laws, lower=float(self.lower[row]), upper=float(self.upper[row]))


def _bracket(p: Floats, q: Floats, grid: Grid) -> Bracket:
    """Bracket each row of p against the same row of q by the two closed forms."""
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(np.where(p > 0, -p / q, np.where(q > 0, 0.0, np.inf)), axis=1)
    rows = np.arange(len(p))
    allowed = np.exp(-np.minimum.accumulate(grid.distance[order], axis=1))  # by row, set S and configuration
    reached = np.log((allowed @ p[:, :, None]) / (allowed @ q[:, :, None]))[:, :, 0]
    best = reached.argmax(axis=1)
    growth = np.expm1(grid.distance.max())
    above, below = (1 + growth * np.cumsum(law[rows[:, None], order], axis=1) for law in (p, q))
    ceiling = np.log(above / below).max(axis=1)
    return Bracket(p, q, grid, allowed[rows, best], reached[rows, best], ceiling)


def _solved(contests: Sequence[Contest], magnify: float, tolerance: float) -> list[Contest]:
    """Minimise μ under μ q(u) + Σ_{u→v} y_uv − Σ_{v→u} exp(d(u,v)) y_vu ≥ p(u), y ≥ 0, all in one program."""
    rows, columns, values, targets = [], [], [], []
    row = column = 0
    for contest in contests:
        grid, size, edges = contest.grid, len(contest.p), len(contest.grid.tail)
        flow = column + 1 + np.arange(edges)
        gain = np.exp(grid.distance[grid.tail, grid.head]) * contest.best[grid.head] / contest.best[grid.tail]
        rows += [row + np.arange(size), row + grid.tail, row + grid.head]
        columns += [np.full(size, column), flow, flow]
        values += [magnify * _weighed(contest.q, contest.best), np.ones(edges), -gain]
        targets.append(magnify * _weighed(contest.p, contest.best))
        row, column = row + size, column + 1 + edges
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    table = sparse.csr_array(entries, shape=(row, column))
    ratios = [block[0] for block in columns[::3]]
    cost = np.zeros(column)
    cost[ratios] = magnify
    answer = linprog(  # type: ignore[call-overload]  # its stubs do not know sparse tables
        cost,
        A_ub=-table,
        b_ub=-np.concatenate(targets),
        method="highs-ds",
        options={
            "presolve": False,
            "primal_feasibility_tolerance": tolerance,
            "dual_feasibility_tolerance": tolerance,
        },
    )
    if answer.status != 0:
        return list(contests)
    flows = np.maximum(answer.x, 0.0)
    ends = np.cumsum([len(target) for target in targets])[:-1]
    supplied, prices = np.split(table @ flows / magnify, ends), np.split(-answer.ineqlin.marginals, ends)
    parts = zip(contests, flows[ratios], supplied, prices, strict=True)
    return [_certified(*part) for part in parts]


def _weighed(law: Floats, g: Floats) -> Floats:
    return law * g / (law @ g)


def _certified(contest: Contest, multiplier: float, supplied: Floats, price: Floats) -> Contest:
    """Mend the solver's g until it is allowed, and pay for what its flow lacks until it is a proof.

    Where the flow falls short of p(u) by r(u), an allowed g with q·g = 1 gains at most Σ r(u) g(u) by it, and
    g(u) ≤ 1 / Σ_v q(v) exp(−d(u,v)). Flow, shortfall and g are in units of the best g known before.
    """
    p, q, best = contest.p, contest.q, contest.best
    nearness = np.exp(-contest.grid.distance)
    mended = (nearness * (best * np.maximum(price, 1e-12))).max(axis=1)
    reached = float(np.log((p @ mended) / (q @ mended)))
    shortfall = np.maximum(_weighed(p, best) - supplied, 0.0)
    excess = shortfall @ ((q @ best) / best / (nearness @ q))
    ceiling = float(np.log((p @ best) / (q @ best)) + np.log(multiplier + excess))
    if reached > contest.lower:
        contest = replace(contest, best=mended / mended.max(), lower=reached)
    return replace(contest, upper=min(contest.upper, ceiling))


def _settled(contests: Iterable[Contest]) -> list[Contest]:
    """Solve until reached and proved agree: all at once, then the stubborn ones one by one in other units."""
    done = list(contests)
    for attempt, (magnify, tolerance) in enumerate(ATTEMPTS):
        wide = [k for k, contest in enumerate(done) if contest.gap > GAP]
        for batch in [wide] * bool(wide) if attempt == 0 else [[k] for k in wide]:
            for k, contest in zip(batch, _solved([done[k] for k in batch], magnify, tolerance), strict=True):
                done[k] = contest
    widest = max((contest.gap for contest in done), default=0.0)
    if widest > GAP:
        raise ArithmeticError(f"a leakage is known only to within {widest:.1e}: give smaller losses")
    return done


def _checked(joint: ArrayLike, losses: ArrayLike) -> tuple[Floats, Floats]:
    law, loss = np.asarray(joint, dtype=float), np.asarray(losses, dtype=float)
    if loss.shape != (law.ndim,) or not np.isfinite(loss).all() or loss.min() < 0:
        raise ValueError(f"one finite loss for each of {law.ndim} units is needed, not {loss}")
    if not np.isfinite(law).all() or law.min() < 0 or law.sum() <= 0:
        raise ValueError("a joint law has finite chances, none below 0 and not all 0")
    return law, loss


def _laws(joint: Floats, unit: int, unknown: tuple[int, ...]) -> Floats:
    """Give weights of what is unknown, by (values of the known units, value of the unit)."""
    known = tuple(j for j in range(joint.ndim) if j != unit and j not in unknown)
    cells = int(np.prod([joint.shape[j] for j in unknown]))
    return joint.transpose(*known, unit, *unknown).reshape(-1, joint.shape[unit], cells)


def _unknown(units: int, unit: int, knowledge: Knowledge) -> Iterator[tuple[int, ...]]:
    """Give every set of units that the adversary may not know."""
    if knowledge not in {"values", "model"}:
        raise ValueError(f"knowledge is values or model, not {knowledge}")
    others = [j for j in range(units) if j != unit]
    fewest = len(others) if knowledge == "model" else 0
    for count in range(fewest, len(others) + 1):
        yield from combinations(others, count)


def _secrets(joint: Floats, losses: Floats, unit: int, knowledge: Knowledge) -> Iterator[Bracket]:
    """Give every contest about a unit: what is known, and two values that are both possible given that."""
    pairs = np.array(list(permutations(range(joint.shape[unit]), 2))).reshape(-1, 2)
    for unknown in _unknown(joint.ndim, unit, knowledge):
        laws = _laws(joint, unit, unknown)
        totals = laws.sum(axis=2)
        known, pair = np.nonzero((totals[:, pairs] > 0).all(axis=2))
        if len(known):
            p, q = (laws[known, v] / totals[known, v, None] for v in pairs[pair].T)
            yield _bracket(p, q, _grid(*_shape(joint, losses, unknown)))


def _shape(
    joint: Floats, losses: Floats, unknown: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    return tuple(joint.shape[j] for j in unknown), tuple(float(losses[j]) for j in unknown)


def exact_leakage(
    joint: ArrayLike, losses: ArrayLike, unit: int, known: Mapping[int, int], a: int, b: int
) -> float:
    """Give the leakage of one secret, −inf if a or b is impossible given what is known."""
    law, loss = _checked(joint, losses)
    if unit in known:
        raise ValueError(f"unit {unit} is the secret, it cannot be known")
    unknown = tuple(j for j in range(law.ndim) if j != unit and j not in known)
    given = law[tuple(slice(known[j], known[j] + 1) if j in known else slice(None) for j in range(law.ndim))]
    p, q = _laws(given, unit, unknown)[0, [a, b]]
    if not (p.sum() > 0 and q.sum() > 0):
        return float("-inf")
    bracket = _bracket((p / p.sum())[None], (q / q.sum())[None], _grid(*_shape(law, loss, unknown)))
    return float(loss[unit]) + _settled([bracket.contest(0)])[0].lower


def worst_leakages(joint: ArrayLike, losses: ArrayLike, knowledge: Knowledge = "values") -> Floats:
    """Give every unit's largest leakage over all secrets, −inf for a unit that has none."""
    law, loss = _checked(joint, losses)
    return _worst(law, loss, range(law.ndim), knowledge)


def worst_leakage(joint: ArrayLike, losses: ArrayLike, unit: int, knowledge: Knowledge = "values") -> float:
    """Give one unit's largest leakage over all secrets, −inf if it has none."""
    law, loss = _checked(joint, losses)
    return float(_worst(law, loss, [unit], knowledge)[0])


def _worst(law: Floats, loss: Floats, units: Sequence[int], knowledge: Knowledge) -> Floats:
    return _largest([list(_secrets(law, loss, unit, knowledge)) for unit in units]) + loss[list(units)]


def worst_leakages_by_knowledge(joint: ArrayLike, losses: ArrayLike) -> dict[Knowledge, Floats]:
    """Give `worst_leakages` for both; the secrets of those who know no values are asked about once."""
    law, loss = _checked(joint, losses)
    values = [list(_secrets(law, loss, unit, "values")) for unit in range(law.ndim)]
    rest = [law.size // size for size in law.shape]
    model = [[b for b in each if b.p.shape[1] == cells] for each, cells in zip(values, rest, strict=True)]
    worst = _largest([*values, *model]).reshape(2, -1) + loss
    return {"values": worst[0], "model": worst[1]}


def _largest(brackets_of: Sequence[Sequence[Bracket]]) -> Floats:
    """Give the largest log ratio of each list of brackets, −inf for an empty one; lists may share brackets."""
    best = np.full(len(brackets_of), -np.inf)
    asked: list[tuple[int, tuple[int, int]]] = []
    hopeful: dict[tuple[int, int], Contest] = {}
    for k, brackets in enumerate(brackets_of):
        best[k] = max((bracket.lower.max() for bracket in brackets), default=-np.inf)
        for bracket in brackets:
            for row in np.flatnonzero(bracket.upper > best[k] + GAP).tolist():
                asked.append((k, (id(bracket), row)))
                hopeful[id(bracket), row] = bracket.contest(row)
    settled = dict(zip(hopeful, _settled(hopeful.values()), strict=True))
    for k, contest in asked:
        best[k] = max(best[k], settled[contest].lower)
    return best


def tilted(joint: ArrayLike, tilt: Tilt) -> Floats:
    """Weigh a joint law by what is known of single units: one weight for each value of a unit."""
    law = np.array(joint, dtype=float)
    for unit, weights in tilt.items():
        law *= np.reshape(weights, [-1 if j == unit else 1 for j in range(law.ndim)])
    return law


def tilted_leakages(joint: ArrayLike, losses: ArrayLike, tilts: Sequence[Tilt]) -> Floats:
    """Give every unit's largest leakage to adversaries who each know one of the tilts of the other units."""
    law, loss = _checked(joint, losses)

    def brackets(unit: int) -> Iterator[Bracket]:
        for tilt in tilts:
            others = {j: weights for j, weights in tilt.items() if j != unit}
            yield from _secrets(tilted(law, others), loss, unit, "model")

    return _largest([list(brackets(unit)) for unit in range(law.ndim)]) + loss


def gaussian_factor(
    covariance: ArrayLike, losses: ArrayLike, unit: int, knowledge: Knowledge = "values"
) -> float:
    """Give a Gaussian unit's leakage per unit of distance, the worst over sets of known units."""
    table, loss = np.asarray(covariance, dtype=float), np.asarray(losses, dtype=float)
    factors = [float("-inf")]
    for unknown in _unknown(len(table), unit, knowledge):
        asked = [unit, *unknown]
        known = [j for j in range(len(table)) if j not in asked]
        explained = np.linalg.pinv(table[np.ix_(known, known)], hermitian=True) if known else np.zeros((0, 0))
        across = table[np.ix_(asked, known)]
        column = (table[np.ix_(asked, asked)] - across @ explained @ across.T)[:, 0]
        if column[0] > 1e-12 * table[unit, unit]:  # else what is known fixes the unit: no secret is left
            factors.append(float(loss[unit] + np.abs(column[1:] / column[0]) @ loss[list(unknown)]))
    return max(factors)


def laplace_leakage(law_a: Law, law_b: Law, scale: float, points: int = 20_001) -> float:
    """Give the largest |log ratio| of two laws plus Laplace noise, on the atoms and a fine grid."""
    if not law_a or not law_b:
        return float("-inf")
    atoms = np.array(sorted({*law_a, *law_b}), dtype=float)
    outputs = np.concatenate([atoms, np.linspace(atoms[0] - 3 * scale, atoms[-1] + 3 * scale, points)])
    log_a, log_b = (_log_density(law, outputs, scale) for law in (law_a, law_b))
    return float(np.abs(log_a - log_b).max())


def _log_density(law: Law, outputs: Floats, scale: float) -> Floats:
    atoms = np.array([atom for atom, chance in law.items() if chance > 0], dtype=float)
    chances = np.array([chance for chance in law.values() if chance > 0], dtype=float)
    exponents = np.log(chances) - np.abs(outputs[:, None] - atoms) / scale
    top = exponents.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(exponents - top).sum(axis=1)))


def chain_joint(initial: ArrayLike, transition: ArrayLike, length: int) -> Floats:
    """Give the joint law of a Markov chain's first states, one axis a time step."""
    step = np.asarray(transition, dtype=float)
    joint = np.asarray(initial, dtype=float)
    for _ in range(length - 1):
        joint = joint[..., None] * step
    return joint


def count_law(
    initial: ArrayLike, transition: ArrayLike, length: int, unit: int, value: int, weights: ArrayLike
) -> dict[float, float]:
    """Give the law of Σ_t weight(state at t) given one state, path by path: empty if that is impossible.

    The weights are one for each value, or a row of them for each time step.
    """
    joint = chain_joint(initial, transition, length)
    each = np.broadcast_to(np.asarray(weights, dtype=float), (length, joint.shape[0]))
    total = sum(np.ix_(*each), start=np.zeros(()))
    given = [slice(None)] * unit + [value]
    chances, totals = joint[tuple(given)].ravel(), np.round(total[tuple(given)].ravel(), 9)
    if chances.sum() <= 0:
        return {}
    atoms, where = np.unique(totals, return_inverse=True)
    law = np.bincount(where, chances / chances.sum())
    return {float(atom): float(chance) for atom, chance in zip(atoms, law, strict=True) if chance > 0}
