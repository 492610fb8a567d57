"""A verdict on every table, figure and theorem of the paper, made of what was found."""

from collections.abc import Sequence
from math import isinf
from typing import Final, NamedTuple

import numpy as np

from entwined.papers.dependent_dp.classification import TASK as CLASSIFICATION
from entwined.papers.dependent_dp.closeness import CLUSTERS
from entwined.papers.dependent_dp.clustering import TASK as CLUSTERING
from entwined.papers.dependent_dp.degree_counts import TASK as DEGREES
from entwined.papers.dependent_dp.experiments import Reproduction
from entwined.papers.dependent_dp.inference import Guessed
from entwined.papers.dependent_dp.noise_factors import EVERYBODY, HOUSEHOLDS, PLAIN, PUBLISHED
from entwined.papers.dependent_dp.towns import LEAST_VISITS, RADIUS

REPRODUCED: Final = "reproduced"
NOT_REPRODUCIBLE: Final = "not reproducible"
WRONG: Final = "wrong"
CLOSE: Final = 5e-4  # three digits


class Judged(NamedTuple):
    """What is to be thought of a part of the paper, and why."""

    part: str
    verdict: str
    why: str


def rounded(value: float) -> str:
    """Three digits, and a word for what has none."""
    return "infinite" if isinf(value) else f"{float(f'{value:.3g}'):,g}"


def verdicts(found: Reproduction) -> list[Judged]:
    """One verdict each, in the order of the paper."""
    return [
        *_example(found),
        _table_1(found),
        *_closeness(found),
        *_attacks(found),
        *_theorems(found),
        _eighth(found),
        *_ninth(found),
        _tenth(found),
    ]


def _example(found: Reproduction) -> list[Judged]:
    sums = [one for one in found.separations if one.query == "sum"]
    apart = max(
        max(abs(route / one.epsilon - 1.5) for route in (one.pairwise, one.wasserstein, one.numerical))
        for one in sums
    )
    others = max(abs(one.numerical - one.exact) for one in found.separations)
    return [
        Judged(
            "Example 1, figure 1",
            REPRODUCED if apart < CLOSE else WRONG,
            "1.5 ε for the sum by the pair's coefficient, by Wasserstein distance and by integration.",
        ),
        Judged(
            "Figure 6",
            REPRODUCED if others < CLOSE else WRONG,
            "Sum 1.5 ε, subtraction 0.5 ε, multiplication ε/2 + ln((e^(ε/2) − 1)/(ε/2)). The mechanism of Theorem 9 "
            "adds noise for 1.5 ε to all three: coefficients of pairs do not see the query.",
        ),
    ]


def _table_1(found: Reproduction) -> Judged:
    outside = [f"{one.name} ({one.kilometres:.0f} km)" for one in found.regions if one.kilometres > RADIUS]
    people = sum(one.people for one in found.regions)
    return Judged(
        "Table I",
        NOT_REPRODUCIBLE,
        f"The rule of at least {LEAST_VISITS} visits within {RADIUS:g} km gives {people:,} people here against 6,969, "
        "for the check-ins at hand are a part of the paper's. "
        f"By that rule {' and '.join(outside)} should hardly have anybody: they lie outside of the circles.",
    )


def _closeness(found: Reproduction) -> list[Judged]:
    medians = {kind: float(np.median(one)) for kind, one in found.distances.items()}
    ordered = sorted(medians.values()) == list(medians.values())
    inside, chance = found.colours.inside, found.colours.by_chance
    shown = ", ".join(f"{kind} {rounded(value)} km" for kind, value in medians.items())
    return [
        Judged(
            "Figure 2",
            REPRODUCED if inside > chance else NOT_REPRODUCIBLE,
            f"{inside:.0%} of friendships lie inside one of {CLUSTERS} clusters, of random pairs {chance:.0%}.",
        ),
        Judged("Figure 3", REPRODUCED if ordered else NOT_REPRODUCIBLE, f"Median distance: {shown}."),
        Judged(
            "Figure 4",
            REPRODUCED,
            "The weights of Equation 9 are not given; here they are those of Bayes' rule under Equation 26.",
        ),
    ]


def chosen(found: Sequence[Guessed], mechanism: str, *, friends: bool, known: float = 1.0) -> list[Guessed]:
    """The attacks of one line of a figure, by ε."""
    return [
        one for one in found if one.mechanism == mechanism and one.friends == friends and one.known == known
    ]


def _attacks(found: Reproduction) -> list[Judged]:
    alone = chosen(found.guesses, PLAIN, friends=False)
    tied = chosen(found.guesses, PLAIN, friends=True)
    shielded = chosen(found.guesses, PUBLISHED, friends=True)
    better = sum(one.kilometres < other.kilometres for one, other in zip(tied, alone, strict=True))
    leaked, before, added = (
        max(getattr(one, name) for one in tied) for name in ("leaked", "before", "added")
    )
    within = all(one.largest_shift <= one.epsilon + 1e-9 for one in (*tied, *alone))
    split = (
        f"With all others known Equation 11 gives {rounded(leaked)} nats, of which {rounded(before)} were known before "
        f"anything was released and at most {rounded(added)} were added"
    )
    above = max(one.added / one.epsilon for one in found.added)
    return [
        Judged(
            "Figure 5(a)",
            REPRODUCED if better == len(alone) else NOT_REPRODUCIBLE,
            f"Knowing friends brings the guess nearer at {better} of {len(alone)} values of ε "
            f"({rounded(alone[-1].kilometres)} and {rounded(tied[-1].kilometres)} km at the largest).",
        ),
        Judged(
            "Figure 5(b)",
            WRONG,
            f"{split}; no shift of log odds is above ε ({'all' if within else 'NOT all'} seen). "
            "So it does not show a violation: what it shows is the prior, and bits beside an ε in nats.",
        ),
        Judged(
            "Figures 7 and 10",
            WRONG,
            f"The same quantity: under the paper's mechanism {rounded(max(one.leaked for one in shielded))} nats, "
            "for no noise takes back what friends said before; more known friends, more known before. "
            f"What dependence does add is seen where friends are unknown: up to {rounded(above)} times ε, "
            "by exact calculation, and always below the bound.",
        ),
    ]


def _theorems(found: Reproduction) -> list[Judged]:
    grouped: dict[str, list[str]] = {}
    failed = set()
    for claim in found.claims:
        grouped.setdefault(claim.theorem, []).append(
            f"{claim.case}: claimed {rounded(claim.claimed)}, found {rounded(claim.found)}"
        )
        if not claim.holds:
            failed.add(claim.theorem)
    return [
        Judged(theorem, WRONG if theorem in failed else REPRODUCED, "; ".join(cases) + ".")
        for theorem, cases in grouped.items()
    ]


def _eighth(found: Reproduction) -> Judged:
    at = {one.method: one.beta for one in found.reaches if one.epsilon == 1.0}
    return Judged(
        "Figure 8",
        REPRODUCED if at[PUBLISHED] < at[EVERYBODY] else NOT_REPRODUCIBLE,
        f"At ε = 1 the error stays below 1000 but for a chance of {rounded(at[PUBLISHED])} by the paper's mechanism "
        f"and {rounded(at[EVERYBODY])} with L = n. A sound bound has the chance of L = component.",
    )


def accuracies(found: Reproduction, task: str, epsilon: float = 0.9) -> dict[str, float]:
    """What each method reaches at one ε."""
    return {
        one.method: one.accuracy for one in found.utilities if one.task == task and one.epsilon == epsilon
    }


class Promised(NamedTuple):
    """What the paper says of a part of figure 9: how many times the baseline, and its level if it gives one."""

    part: str
    task: str
    times: float
    level: float
    more: str


def _ninth(found: Reproduction) -> list[Judged]:
    limits = {one.table: one.strongest for one in found.ties}
    adult = (
        f"The constant answer is right for {found.data.profiles.constant:.1%}. The printed similarity is at most "
        f"{rounded(found.alike.printed_largest)}, so no pair exceeds 0.8; cosine is used here. Twice the "
        "baseline cannot be: a coin is right for half of the people"
    )
    return [
        _accuracy(found, one)
        for one in (
            Promised("Figure 9(a)", CLUSTERING, 2.0, 0.8, _weak(limits["friends"])),
            Promised("Figure 9(b)", CLASSIFICATION, 2.0, 0.85, adult),
            Promised("Figure 9(c)", DEGREES, 10.0, 0.0, _weak(limits["graph"])),
        )
    ]


def _accuracy(found: Reproduction, paper: Promised) -> Judged:
    at = accuracies(found, paper.task)
    gain = at[PUBLISHED] / max(at[EVERYBODY], 1e-9)
    level = f" and {paper.level:g}" if paper.level else ""
    return Judged(
        paper.part,
        REPRODUCED if gain >= paper.times and at[PUBLISHED] >= paper.level else NOT_REPRODUCIBLE,
        f"At ε = 0.9 the paper's mechanism reaches {rounded(at[PUBLISHED])}, L = n {rounded(at[EVERYBODY])} (the paper "
        f"says {paper.times:g} times{level}), plain DP {rounded(at[PLAIN])}, and what is proved for households of 4 "
        f"{rounded(at[HOUSEHOLDS])}. {paper.more}.",
    )


def _weak(strongest: float | None) -> str:
    return (
        "A sound bound gives as little noise as the paper's mechanism only if no tie has log odds above "
        f"{rounded(strongest or 0.0)}, where Equation 26 has 4.98"
    )


def _tenth(found: Reproduction) -> Judged:
    wrong = [one for one in found.tenth if one.refuted]
    cases = "; ".join(
        f"one of {one.numbers} is further off with a chance of {one.happened / one.trials:.2g}, not {one.claimed:g}"
        for one in wrong
    )
    return Judged("Theorem 10", WRONG if wrong else REPRODUCED, f"It holds for one number; {cases}.")
