"""A verdict on every part of the paper, made of what was found."""

from typing import Final

from entwined.papers.attribute_privacy.experiments import MANY, AttributeFindings
from entwined.papers.attribute_privacy.hospital import DELTA, PAPER, READINGS, weight_of_patients
from entwined.papers.dependent_dp.verdicts import NOT_REPRODUCIBLE, REPRODUCED, WRONG, Judged, rounded

CLOSE: Final = 0.06  # 100 runs are this far from their mean now and then
COMPUTED, DECLARED = READINGS


def attribute_verdicts(found: AttributeFindings) -> list[Judged]:
    """One verdict each, in the order of the paper."""
    return [
        _bridge(),
        _theorem_1(found),
        *_releases(found),
        _declared(found),
        _generator(found),
        *_accuracy(found),
        *_example(found),
        _song(found),
        _encoders(),
    ]


def _bridge() -> Judged:
    return Judged(
        "§3, distributional from dataset privacy by an unbiased estimator",
        WRONG,
        "It needs an estimator that is sufficient: of two rows let the first be the estimate and the second the "
        "answer; the estimate says nothing of the answer and the parameter does.",
    )


def _theorem_1(found: AttributeFindings) -> Judged:
    one, fails = found.unequal, min(check.epsilon for check in found.constant if not check.holds)
    return Judged(
        "Theorem 1",
        WRONG,
        "Its constant √(2 ln(1.25/δ)) is proved for ε ≤ 1 alone, and its proof needs equal variances under both "
        "secrets: heights have deviations 3 and 8 in the paper's own class. At ε = 1 the noise is enough all the same "
        f"(δ = {one.slips:.1e}; {rounded(one.analytic)} in place of {rounded(one.classical)} would do), and at ε = "
        f"{fails:g} it is not.",
    )


def _releases(found: AttributeFindings) -> list[Judged]:
    judged = []
    for one in found.releases:
        if one.reading != COMPUTED:
            continue
        expected = next(
            error.expected
            for error in found.errors
            if (error.column, error.reading) == (one.column, COMPUTED)
        )
        printed = PAPER[one.column][1]
        near = abs(expected / printed - 1) < CLOSE if printed else False
        told = (
            f"noise of deviation {rounded(one.classical)}, mean error {expected:.4g} against {printed:g} in 100 runs"
            if printed
            else f"noise of deviation {one.classical:.3g}, where the paper has none: a rounding. Exactly none is needed"
        )
        judged.append(
            Judged(
                f"§4.2, average {one.column}",
                REPRODUCED if near else WRONG,
                f"Sensitivity {one.sensitivity:g}, variance {one.variance:g}: {told}.",
            )
        )
    return judged


def _declared(found: AttributeFindings) -> Judged:
    worst = max(one.slips for one in found.releases if one.reading == COMPUTED)
    needed = ", ".join(
        f"{one.column} {rounded(one.classical)} (exactly calibrated {rounded(one.analytic)})"
        for one in found.releases
        if one.reading == DECLARED
    )
    return Judged(
        "§4.2, max |a − b|",
        WRONG,
        "Shares from (.25, .5) and (.5, .75) are up to .5 apart, not .25. For these the noise of the paper keeps ε = 1 "
        f"at δ = {worst:.2g} only, not {float(DELTA):g}. Needed are {needed}.",
    )


def _generator(found: AttributeFindings) -> Judged:
    (mean, spread), printed = weight_of_patients(), PAPER["weight"][0]
    return Judged(
        "§4.2, the tables",
        NOT_REPRODUCIBLE,
        f"Warning: the generator is not among the laws that are protected under. {' '.join(found.outside)} And its "
        f"average weight is {mean:.1f} ± {spread:.1f}: the printed {printed:g} is {(printed - mean) / spread:.1f} "
        "deviations away.",
    )


def _accuracy(found: AttributeFindings) -> list[Judged]:
    def worst(text: str) -> str:
        chosen = [one for one in found.claims if one.theorem.startswith(text)]
        most = max(chosen, key=lambda one: one.exceeded / one.beta)
        return f"of {MANY:,} draws {most.exceeded:.1%} exceed it where {most.beta:.0%} should"

    right = all(one.holds for one in found.claims if "printed" not in one.theorem)
    return [
        Judged(
            "Theorem 2",
            REPRODUCED if right else WRONG,
            "σ Φ⁻¹(1 − β/2). In the text at hand the root is drawn over the quantile too; read like that it is a slip: "
            f"{worst('Theorem 2 as printed')}.",
        ),
        Judged(
            "Theorem 4",
            WRONG,
            f"A slip: the tail of Laplace noise is β at b ln(1/β), and of ln(1/2β) {worst('Theorem 4 as printed')}. It "
            "also takes the larger of the quilt's and the plain noise where the algorithm takes the smaller.",
        ),
    ]


def _example(found: AttributeFindings) -> list[Judged]:
    tall = [one for one in found.school if one.query == "taller than 66 inches"]
    letter = all((one.by_gender == 0) == (one.gender_shows <= one.epsilon) for one in tall)
    more = [one for one in tall if one.by_gender is None and one.ours == 0]
    both = [one for one in found.school if "and SAT" in one.query]
    never = all(one.by_gender is None or one.by_gender >= one.ours for one in both)
    return [
        Judged(
            "Example 1, heights alone",
            REPRODUCED if letter else WRONG,
            "No noise if e(gender | income) ≤ ε. Heights themselves show less of incomes than gender does, so none is "
            f"needed even above that in {len(more)} of {len(tall)} cases: the best quilt is made of what is asked.",
        ),
        Judged(
            "Example 1, heights and SAT",
            WRONG if never else REPRODUCED,
            "A count that reads a near column moves by n whatever is remote, so Δ_{s}F/(ε − e) is never below Δ_A F/ε, "
            "which Algorithm 2 takes. Quilts pay where remote and near columns are counted apart.",
        ),
    ]


def _song(found: AttributeFindings) -> Judged:
    large = found.students[-1]
    return Judged(
        "§5, what differs from Song, Wang and Chaudhuri",
        REPRODUCED,
        f"Noise of scale {large.value_scale:g}, which hides one student's value, leaks {large.value_leaks:.4g} of the "
        f"parameter among {large.rows:,} students where 1 is wanted. The quilt asks for {large.quilt_scale:,.0f}, the "
        f"Wasserstein mechanism for {large.wasserstein_scale:,.0f}, since it knows how scores are drawn.",
    )


def _encoders() -> Judged:
    return Judged(
        "§1 and §4, variational auto-encoders",
        NOT_REPRODUCIBLE,
        "Out of scope: nothing is proved of it, and an encoder that is fitted to the rows is itself a release.",
    )
