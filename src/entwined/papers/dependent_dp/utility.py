"""A line of figure 9: how good what a method releases is, on average over splits or draws."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from entwined.papers.dependent_dp.noise_factors import NoiseMethod
from entwined.progress import report

EPSILONS: Final = tuple(round(0.1 * step, 1) for step in range(1, 11))


class Utility(NamedTuple):
    """A mean over runs with its standard error; the second figure is the area under the curve where there is one."""

    task: str
    method: str
    factor: float
    epsilon: float
    accuracy: float
    standard_error: float
    area: float | None = None


Measure = Callable[[float, np.random.Generator], float]


def averaged(
    task: str, methods: Sequence[NoiseMethod], runs: int, measure: Measure, generator: np.random.Generator
) -> list[Utility]:
    """Measure every method at every ε; `measure` is given the factor over ε and answers with an accuracy."""
    found = []
    for number, method in enumerate(methods):
        report(task, number, len(methods))
        for epsilon in EPSILONS:
            seen = np.array([measure(method.factor / epsilon, generator) for _ in range(runs)])
            spread = float(seen.std(ddof=1) / np.sqrt(runs)) if runs > 1 else 0.0
            found.append(Utility(task, method.name, method.factor, epsilon, float(seen.mean()), spread))
    return found
