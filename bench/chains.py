"""Real chains: the noise that every bound asks for beside what an attack shows to be needed, and how long it takes.

Series are read from ENTWINED_DATA where they are there, else from statsmodels. Limits: no other bound asks for less;
calibration of a chain of 10^6 steps and 51 states 2 s of CPU, exact quilts of 10^5 steps 30 s.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from entwined.bounds.calibrate import calibrate, largest_multiple
from entwined.bounds.chain_quilts import ratios_at_ends
from entwined.bounds.quilt import markov_quilt_bound
from entwined.bounds.theorem import Knowledge
from entwined.dependence import Box, MarkovChain
from entwined.loss import Loss
from entwined.papers.bayesian_dp.gaussian import mean_noises
from entwined.papers.bayesian_dp.kin import kin_at_hand
from entwined.papers.bayesian_dp.scales import TARGETS, ScaleRow, scale_rows
from entwined.papers.bayesian_dp.series import series_at_hand

LONG: Final = 10**6
LONG_QUILT: Final = 10**5
STATES: Final = 51
KNOWN: Final[tuple[Knowledge, ...]] = ("any", "values", "model")


def run() -> dict[str, Any]:
    """Print and return all figures."""
    rows: list[dict[str, Any]] = []
    print("  ".join((*ScaleRow._fields, "ratio", "least")), "  (attack: no bound can be below it)")
    for row in scale_rows(series_at_hand()):
        rows.append({**row._asdict(), "ratio": row.ratio, "least": row.is_least})
        print("  ".join(f"{_shown(value)}" for value in rows[-1].values()), flush=True)
    print(f"ours is the least in {sum(row['least'] for row in rows)} of {len(rows)}")
    means = [one._asdict() for one in mean_noises(kin_at_hand())]
    for one in means:
        print("  ".join(_shown(value) for value in one.values()))
    return {"scales": rows, "means": means, "quilts": quilts(), "calibrations": calibrations()}


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def quilts() -> list[dict[str, Any]]:
    """Turn the Markov quilt round on chains of 10^5 steps, and say whether all quilts that could be best were tried."""
    found = []
    for one in series_at_hand():
        chain = one.chain(smoothed=True, length=LONG_QUILT)
        for target in TARGETS:
            scale, cpu = _timed(partial(_quilt_scale, chain, target))
            exact = scale * target <= ratios_at_ends(chain).reach  # farther ends cost more than the target
            found.append({"series": one.name, "target": target, "scale": scale, "cpu": cpu, "exact": exact})
            print(f"quilt  {one.name}  {target:g}  {scale:.4g}  {cpu:.2f} CPU-s  exact {exact}", flush=True)
    return found


def _quilt_scale(chain: MarkovChain, target: float) -> float:
    shape = Loss.uniform(1, chain.length)
    return 1 / largest_multiple(markov_quilt_bound, chain, shape, target, "model").multiple


def calibrations() -> list[dict[str, Any]]:
    """Calibrate a chain of 10^6 steps and 51 states for each adversary: drawn at random, and the longest at hand."""
    step = np.random.default_rng(1).dirichlet(np.ones(STATES), STATES)
    drawn = MarkovChain(LONG, Box.exact(step), np.full(STATES, 1 / STATES))
    largest = max(series_at_hand(), key=lambda one: one.states)
    found = []
    for name, chain in (("drawn", drawn), (largest.name, largest.chain(smoothed=True, length=LONG))):
        for knowledge in KNOWN:
            made, cpu = _timed(partial(calibrate, chain, 1, knowledge))
            told = {"chain": name, "knowledge": knowledge, "theorem": made.theorem.name, "cpu": cpu}
            found.append({**told, "scale": 1 / made.multiple})
            print("calibration  " + "  ".join(_shown(value) for value in found[-1].values()), flush=True)
    return found


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    return work(), round(time.process_time() - began, 2)
