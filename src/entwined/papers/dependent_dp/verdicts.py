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
from entwined.papers.dependent_dp.inference import Guessed, entropy
from entwined.papers.dependent_dp.noise_factors import EVERYBODY, HOUSEHOLDS, PLAIN, PUBLISHED
from entwined.papers.dependent_dp.towns import LEAST_VISITS, RADIUS

REPRODUCED: Final = "reproduced"
NOT_REPRODUCIBLE: Final = "not reproducible"
WRONG: Final = "wrong"
CLOSE: Final = 5e-4  # three digits
SAME_TABLE: Final = 0.05  # a line of a table is the paper's if it is so near


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
    here, paper = sum(one.people for one in found.regions), sum(one.paper[0] for one in found.regions)
    near = all(abs(one.people / one.paper[0] - 1) <= SAME_TABLE for one in found.regions)
    fewer = ", for the check-ins at hand are a part of the paper's" if here < paper else ""
    beyond = (
        f" By that rule {' and '.join(outside)} should hardly have anybody: they lie outside of the circles."
        if outside
        else ""
    )
    return Judged(
        "Table I",
        REPRODUCED if near else NOT_REPRODUCIBLE,
        f"The rule of at least {LEAST_VISITS} visits within {RADIUS:g} km gives {here:,} people here against "
        f"{paper:,}{fewer}.{beyond}",
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
        _fourth(found),
    ]


def _fourth(found: Reproduction) -> Judged:
    alone, tied = entropy(found.prior.independent), entropy(found.prior.dependent)
    less, more = (float(law[found.prior.truth]) for law in (found.prior.independent, found.prior.dependent))
    return Judged(
        "Figure 4",
        REPRODUCED if tied < alone else NOT_REPRODUCIBLE,
        f"Friends change what is believed of one person from {rounded(alone)} to {rounded(tied)} nats, and the chance "
        f"of the true cell from {rounded(less)} to {rounded(more)}. The weights of Equation 9 are not given; here they "
        "are those of Bayes' rule under Equation 26.",
    )


def chosen(found: Sequence[Guessed], mechanism: str, *, friends: bool, known: float = 1.0) -> list[Guessed]:
    """The attacks of one line of a figure, by ε."""
    return [
        one for one in found if one.mechanism == mechanism and one.friends == friends and one.known == known
    ]


def _attacks(found: Reproduction) -> list[Judged]:
    alone = chosen(found.guesses, PLAIN, friends=False)
    tied = chosen(found.guesses, PLAIN, friends=True)
    better = sum(one.kilometres < other.kilometres for one, other in zip(tied, alone, strict=True))
    return [
        Judged(
            "Figure 5(a)",
            REPRODUCED if better == len(alone) else NOT_REPRODUCIBLE,
            f"Knowing friends brings the guess nearer at {better} of {len(alone)} values of ε "
            f"({rounded(alone[-1].kilometres)} and {rounded(tied[-1].kilometres)} km at the largest).",
        ),
        _fifth(alone, tied),
        _seventh(found),
    ]


def _fifth(alone: Sequence[Guessed], tied: Sequence[Guessed]) -> Judged:
    """Figure 5(b) shows a violation if what the release itself adds is ever above ε."""
    leaked, before, added = (
        max(getattr(one, name) for one in tied) for name in ("leaked", "before", "added")
    )
    shifts = [one.largest_shift / one.epsilon for one in (*tied, *alone)]
    above = sum(shift > 1 + 1e-9 for shift in shifts)
    split = (
        f"With all others known Equation 11 gives {rounded(leaked)} nats, of which {rounded(before)} were known before "
        f"anything was released and at most {rounded(added)} were added; the largest shift of log odds is "
        f"{rounded(max(shifts))} times ε, above ε in {above} of {len(shifts)} cases."
    )
    verdict = REPRODUCED if above else WRONG
    meant = (
        "So the release itself shows more than ε."
        if above
        else "So it does not show a violation: what it shows is the prior, and bits beside an ε in nats."
    )
    return Judged("Figure 5(b)", verdict, f"{split} {meant}")


def _seventh(found: Reproduction) -> Judged:
    """Figures 7 and 10 say that the paper's mechanism keeps the quantity of Equation 11 below ε."""
    shielded = [one for one in found.guesses if one.mechanism == PUBLISHED and one.friends]
    over = [one for one in shielded if one.leaked > one.epsilon]
    shares = sorted({one.known for one in shielded})
    before = [float(np.mean([one.before for one in shielded if one.known == share])) for share in shares]
    each = ", ".join(
        f"{share:.0%} known: {rounded(nats)}" for share, nats in zip(shares, before, strict=True)
    )
    rises = "more known friends, more known before" if before == sorted(before) else "known before in nats"
    above = max(one.added / one.epsilon for one in found.added)
    beyond = sum(one.added > one.certificate + 1e-9 for one in found.added)
    why = (
        f"The same quantity: under the paper's mechanism up to {rounded(max(one.leaked for one in shielded))} nats, "
        f"above ε in {len(over)} of {len(shielded)} cases, where at most "
        f"{rounded(max(one.added for one in shielded))} were added by a release; {rises} ({each}). What dependence "
        f"does add is seen where friends are unknown: up to {rounded(above)} times ε by exact calculation, above the "
        f"bound in {beyond} of {len(found.added)} cases."
    )
    return Judged("Figures 7 and 10", WRONG if over else REPRODUCED, why)


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
