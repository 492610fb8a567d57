"""What a manager reads in a minute: a handful of sentences, in people and right guesses."""

from typing import Final

from entwined.synthetic.inspection import Inspection
from entwined.synthetic.likeness import mean_distance, of_a_hundred
from entwined.synthetic.middles import in_unit
from entwined.synthetic.sweeping import nearest

NUMBER_WORDS: Final = {1: "one column", 2: "two columns", 3: "three columns"}
CLEARLY: Final = 2.0  # times what chance would do


def sentences(found: Inspection) -> list[str]:
    """Say how good the table is, the worst included."""
    said = [_distances(found), _worst(found), _questions(found), _told_apart(found)]
    if found.middles:
        said.insert(3, _middles(found))
    if found.trained is not None:
        said.append(_trained(found))
    if any(one.apart for one in found.swept):
        said.append(_swept(found))
    return [*said, _copied(found)]


def _distances(found: Inspection) -> str:
    parts = [
        f"{of_a_hundred(mean_distance(each))} by {NUMBER_WORDS[ways]}"
        for ways, each in found.marginals.items()
    ]
    chance = [
        of_a_hundred(sum(one.by_chance for one in each) / len(each)) for each in found.marginals.values()
    ]
    return (
        f"Counted, of 100 people so many are in a wrong cell on average: {', '.join(parts)}. If both tables were drawn "
        f"from one population it would be {', '.join(chance)}."
    )


def _swept(found: Inspection) -> str:
    """Which way would have been nearest, at every loss that was tried."""
    parts = []
    for epsilon in sorted({one.epsilon for one in found.swept if one.apart}):
        one = nearest(found.swept, epsilon)
        way = one.mode if one.parents is None else f"{one.mode} with k = {one.parents}"
        far = one.apart[min(1, len(one.apart) - 1)]
        parts.append(f"at ε = {epsilon:g} {way} ({of_a_hundred(far)})")
    ways = NUMBER_WORDS[min(2, len(found.marginals))]
    return f"Tried anew, the fewest of 100 people were in a wrong cell by {ways}: {', '.join(parts)}."


def _worst(found: Inspection) -> str:
    pairs = found.marginals.get(2) or found.marginals[1]
    one = pairs[0]
    off = of_a_hundred(one.distance)
    said = f"The worst table is {' by '.join(one.columns)}: {off} of 100 people are in a wrong cell"
    if one.sample is None:
        return f"{said}."
    return f"{said}, as in a random sample of {_people(one.sample)}."


def _people(number: float) -> str:
    return "1 person" if number < 1.5 else f"{round(number):,} people"  # noqa: PLR2004  (rounds to one)


def _questions(found: Inspection) -> str:
    tables = found.tables
    counts = {
        verdict: sum(one.verdict == verdict for one in tables) for verdict in ("well", "fairly", "badly")
    }
    return (
        f"Of {len(tables):,} tables of one or two columns it answers {counts['well']:,} as well as a sample of as many "
        f"people would, {counts['fairly']:,} fairly and {counts['badly']:,} badly."
    )


def _middles(found: Inspection) -> str:
    badly = [one for one in found.middles if one.verdict == "badly"]
    asked = f"{len(found.middles):,} means and medians of numbers"
    if not badly:
        return f"Of {asked} it answers none badly."
    worst, column = badly[0], found.both.schema.coded(badly[0].column)
    return (
        f"Of {asked} it answers {len(badly):,} badly: the {worst.what} of {worst.column} is "
        f"{in_unit(column, worst.synthetic)} instead of {in_unit(column, worst.real)}."
    )


def _told_apart(found: Inspection) -> str:
    columns, pairs = found.by_columns.right, found.by_pairs.right
    return (
        f"Whether a row is real or synthetic, a classifier says rightly of {100 * columns:.0f} rows in 100 if it looks "
        f"at single columns and of {100 * pairs:.0f} if it looks at pairs; guessing gets 50."
    )


def _trained(found: Inspection) -> str:
    one = found.trained
    if one is None:
        return ""
    return (
        f"Trained on the synthetic table, a model says {one.target} rightly of {100 * one.on_synthetic:.1f} "
        f"(± {100 * one.half_width:.1f}) real people in 100; trained on real rows of {100 * one.on_real:.1f}; always "
        f"the commonest value of {100 * one.constant:.1f}."
    )


def _copied(found: Inspection) -> str:
    one = found.copies
    if not one.unique:
        return "Nobody of the real table is alone in all cells, so nobody can be matched."
    more = "more than" if one.matched > CLEARLY * max(one.unrelated, 1) else "compared with"
    return (
        f"Of {one.unique:,} people who are alone in all their cells, synthetic rows describe {one.matched:,}, {more} "
        f"{one.unrelated:,} whom other real people describe by chance. Attacks are weak evidence: the certificate is "
        "what holds."
    )
