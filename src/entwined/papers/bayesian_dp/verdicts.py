"""A verdict on every claim of the paper, made of what was found."""

from collections.abc import Callable
from typing import Final

from entwined.papers.bayesian_dp.errors import MODEL, ErrorPoint
from entwined.papers.bayesian_dp.experiments import BayesianFindings
from entwined.papers.bayesian_dp.gaussian import EQUAL, GROUP, LANGE
from entwined.papers.dependent_dp.verdicts import NOT_REPRODUCIBLE, REPRODUCED, WRONG, Judged, rounded

CLOSE: Final = 1e-9
CROSS: Final = 9.0  # over the root of the releases: how far crosses lie above their lines at most
LEVEL: Final = 1.01


def bayesian_verdicts(found: BayesianFindings) -> list[Judged]:
    """One verdict each, in the order of the paper."""
    return [_tight(found), _gaussian(found), _markov(found), _table(found), _real(found), _figures(found)]


def _tight(found: BayesianFindings) -> Judged:
    apart = max(abs(one.leaked - one.bound) for one in found.tight)
    most = max(one.correlation for one in found.tight)
    return Judged(
        "mε without further assumptions",
        REPRODUCED if apart < CLOSE and most < CLOSE else WRONG,
        f"Reached for m = {found.tight[0].records} … {found.tight[-1].records} by records without any correlation: "
        "independent ±1, but rarely all 0. So a largest correlation says nothing of records that are not Gaussian.",
    )


def _gaussian(found: BayesianFindings) -> Judged:
    named = {(one.kin, one.method): one.factor for one in found.means}
    cases = []
    for kin in dict.fromkeys(one.kin for one in found.means):
        lange, ours, group = (named.get((kin, method)) for method in (LANGE, EQUAL, GROUP))
        told = "does not accept it" if lange is None else f"asks for {rounded(lange)} times the noise"
        cases.append(
            f"{kin}: the paper's bound {told}, ours {rounded(ours or 0)}, the group {rounded(group or 0)}"
        )
    kept = not any(one.exceeds for one in found.shifts if one.noise == 1)
    return Judged(
        "Theorem, Gaussian",
        REPRODUCED if kept else WRONG,
        f"It holds; {'; '.join(cases)}. Where it exceeds m the group bound is smaller, which the paper does not say. "
        "The promise is about two values inside the clipping interval only.",
    )


def _markov(found: BayesianFindings) -> Judged:
    above = {one.theorem: one.above for one in found.accepted if one.chain.startswith("binary")}
    return Judged(
        "Theorem, Markov",
        REPRODUCED,
        "It holds, and without the stationary start that it asks for (H2): the messages give it back with every "
        "message at its most. On the laziest chain tried it reaches no leakage below "
        f"{rounded(above['Lange et al. (the paper' + chr(39) + 's)'] or 0)}; the messages reach every one.",
    )


def _table(found: BayesianFindings) -> Judged:
    takes: Callable[[str], int] = lambda start: sum(  # noqa: E731
        one.above is not None for one in found.accepted if one.theorem.startswith(start)
    )
    chains = len({one.chain for one in found.accepted})
    return Judged(
        "Table, previous mechanism and ours",
        REPRODUCED if takes("Chakrabarti") < takes("Lange") < takes("messages") else NOT_REPRODUCIBLE,
        f"Of {chains} chains the previous mechanism accepts {takes('Chakrabarti')}, the paper's {takes('Lange')}, the "
        f"Markov quilt {takes('Markov quilt')}, messages {takes('messages')}. A row is missing there: the quilt of "
        "2017, which asks for neither positive entries nor a stationary start.",
    )


def _real(found: BayesianFindings) -> Judged:
    reached = [one for one in found.scales if one.closed_form is not None]
    ratios = [one.ratio for one in found.scales if one.knowledge == "model"]
    return Judged(
        "Utility on real series",
        REPRODUCED if reached else NOT_REPRODUCIBLE,
        f"The paper's bound reaches {len(reached)} of {len(found.scales)} cases here: 4 ln γ is above the leakage "
        f"wanted wherever a transition is rare. Ours is the least in {sum(one.is_least for one in found.scales)} of "
        f"{len(found.scales)}, and {min(ratios):.2f} to {max(ratios):.2f} times what an attack shows to be needed if "
        "only the chain is known.",
    )


def _figures(found: BayesianFindings) -> Judged:
    long = [one for one in found.errors if one.figure == "error against n"]
    levels = _at(long, MODEL)
    apart = max(one.drawn / one.theory for one in found.errors)
    grows = all(last <= before * LEVEL for before, last in levels)
    return Judged(
        "Figures",
        REPRODUCED if apart < 1 + CROSS / found.releases**0.5 and grows else NOT_REPRODUCIBLE,
        f"Lines and crosses agree: no cross is more than {apart - 1:.1%} above its line. From 10⁵ to 10⁶ steps the "
        "error no longer grows, as the paper says of its own bound.",
    )


def _at(points: list[ErrorPoint], method: str) -> list[tuple[float, float]]:
    """Give the errors of a method at the last two lengths of each panel."""
    panels: dict[str, list[float]] = {}
    for one in points:
        if one.method == method:
            panels.setdefault(one.panel, []).append(one.theory)
    return [(errors[-2], errors[-1]) for errors in panels.values() if len(errors) > 1]
