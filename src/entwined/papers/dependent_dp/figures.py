"""The paper's figures drawn again as SVG, and what a release adds."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from entwined.canonical import Document
from entwined.papers.dependent_dp.experiments import Reproduction
from entwined.papers.dependent_dp.noise_factors import PLAIN, PUBLISHED
from entwined.papers.dependent_dp.towns import SIDE
from entwined.papers.dependent_dp.utility import Utility
from entwined.papers.dependent_dp.verdicts import chosen

if TYPE_CHECKING:
    import altair as alt

COLOURS: Final = ("#5b6b78", "#b3541e", "#1b6b93", "#2f9e8f", "#7a5195", "#d98e5f", "#8c3b0f", "#c7b446")
NUMBERS: Final = ",~r"
SMALL: Final = {"width": 320, "height": 220}


def draw_figures(found: Reproduction, folder: Path) -> dict[str, Path]:
    """Write every figure."""
    drawn = {
        "figure_2": coloured_graph(found),
        "figure_3": distances_figure(found),
        "figure_4": prior_figure(found),
        "figure_5": attack_figure(found),
        "figure_6": separation_figure(found),
        "figure_7": leaked_figure(found, "Figure 7: coefficients 0.8 and 0.9 of the true ones", 1.0),
        "figure_8": reach_figure(found),
        "figure_9": utility_figure(found.utilities),
        "figure_10": known_figure(found),
        "added": added_figure(found),
    }
    paths = {}
    for name, chart in drawn.items():
        paths[name] = folder / f"{name}.svg"
        chart.save(paths[name])
    return paths


def lines(  # noqa: PLR0913  (what a chart of lines is)
    values: list[Document],
    x: str,
    y: str,
    colour: str,
    title: str,
    *,
    log: bool = False,
    panel: str | None = None,
) -> "alt.TopLevelMixin":
    """Lines with points, one colour a kind, panels side by side."""
    import altair as alt

    scale = alt.Scale(type="log", nice=False) if log else alt.Scale(zero=True)
    axis = alt.Axis(format="~g" if log else NUMBERS, tickCount=5)
    chart: Any = alt.Chart(alt.InlineData(values=values)).mark_line(point=alt.OverlayMarkDef(size=25))
    chart = chart.encode(
        x=alt.X(f"{x}:Q", title=x),
        y=alt.Y(f"{y}:Q", title=y, scale=scale, axis=axis),
        color=_colours(list(dict.fromkeys(str(one[colour]) for one in values)), colour),
    ).properties(**SMALL)
    if panel is not None:
        chart = chart.facet(column=alt.Column(f"{panel}:N", title=None, sort=None)).resolve_scale(
            y="independent"
        )
    titled: alt.TopLevelMixin = chart.properties(title=alt.TitleParams(title, anchor="start"))
    return titled


def _colours(kinds: list[str], field: str) -> "alt.Color":
    import altair as alt

    scale = alt.Scale(domain=kinds, range=list((COLOURS * len(kinds))[: len(kinds)]))
    legend = alt.Legend(title=None, orient="bottom", columns=2, labelLimit=400)
    return alt.Color(f"{field}:N", sort=None, scale=scale, legend=legend)


def coloured_graph(found: Reproduction) -> "alt.TopLevelMixin":
    """Figure 2: people, friendships, and the cluster of each person's pattern."""
    import altair as alt

    town = found.data.town
    places = dict(zip(town.hanging_together.tolist(), found.drawn.tolist(), strict=True))
    points = [
        {"x": x, "y": y, "cluster": str(found.colours.clusters[one] + 1)} for one, (x, y) in places.items()
    ]
    ends = [
        dict(zip(("x", "y", "x2", "y2"), (*places[a], *places[b]), strict=True))
        for a, b in town.friends.tolist()
        if a in places
    ]
    x, y = alt.X("x:Q", axis=None), alt.Y("y:Q", axis=None)
    rules = (
        alt.Chart(alt.InlineData(values=ends)).mark_rule(opacity=0.12).encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
    )
    colour = alt.Color("cluster:N", scale=alt.Scale(range=list(COLOURS)), legend=alt.Legend(orient="right"))
    circles = alt.Chart(alt.InlineData(values=points)).mark_circle(size=22).encode(x=x, y=y, color=colour)
    chart: alt.TopLevelMixin = alt.layer(rules, circles).properties(width=560, height=460)
    return chart.properties(
        title=alt.TitleParams(
            "Figure 2: those who hang together, coloured by the cluster of their places", anchor="start"
        )
    )


def distances_figure(found: Reproduction) -> "alt.TopLevelMixin":
    """Figure 3: how many pairs are closer than so many kilometres."""
    values = [
        {"kilometres": max(0.1, float(np.quantile(one, share))), "share of pairs": share, "kind": kind}
        for kind, one in found.distances.items()
        for share in np.linspace(0.02, 0.98, 49).tolist()
    ]
    import altair as alt

    chart = (
        alt.Chart(alt.InlineData(values=values))
        .mark_line()
        .encode(
            x=alt.X("kilometres:Q", scale=alt.Scale(type="log"), axis=alt.Axis(format=NUMBERS, tickCount=5)),
            y=alt.Y("share of pairs:Q"),
            color=alt.Color(
                "kind:N", sort=None, scale=alt.Scale(range=list(COLOURS[1:4])), legend=alt.Legend(title=None)
            ),
        )
        .properties(**SMALL)
    )
    titled: alt.TopLevelMixin = chart.properties(
        title=alt.TitleParams("Figure 3: distance of patterns", anchor="start")
    )
    return titled


def prior_figure(found: Reproduction) -> "alt.TopLevelMixin":
    """Figure 4: what is believed of one person's cell before any release."""
    import altair as alt

    values = [
        {"east": cell % SIDE, "north": cell // SIDE, "chance": float(law[cell]), "prior": name}
        for name, law in (("independent", found.prior.independent), ("with friends", found.prior.dependent))
        for cell in range(SIDE * SIDE)
    ]
    cells = (
        alt.Chart(alt.InlineData(values=values))
        .mark_rect()
        .encode(
            x=alt.X("east:O", axis=None),
            y=alt.Y("north:O", sort="descending", axis=None),
            color=alt.Color("chance:Q", scale=alt.Scale(scheme="blues")),
        )
        .properties(width=220, height=220)
    )
    faceted: Any = cells.facet(column=alt.Column("prior:N", title=None, sort=None))
    chart: alt.TopLevelMixin = faceted.properties(
        title=alt.TitleParams("Figure 4: what is believed of one person before any release", anchor="start")
    )
    return chart


def attack_figure(found: Reproduction) -> "alt.TopLevelMixin":
    """Figure 5: kilometres that a guess misses by, and Equation 11 split into known before and added."""
    values: list[Document] = []
    kinds = (
        ("without friends", chosen(found.guesses, PLAIN, friends=False)),
        ("with friends", chosen(found.guesses, PLAIN, friends=True)),
        ("with friends, half known", chosen(found.guesses, PLAIN, friends=True, known=0.5)),
    )
    for kind, rows in kinds:
        for one in rows:
            values += [
                {"ε": one.epsilon, "value": one.kilometres, "panel": "(a) kilometres off", "kind": kind},
                {"ε": one.epsilon, "value": one.leaked, "panel": "(b) Equation 11, nats", "kind": kind},
                {"ε": one.epsilon, "value": one.added, "panel": "of it added by the release", "kind": kind},
            ]
    values += [
        {"ε": one.epsilon, "value": one.epsilon, "panel": "of it added by the release", "kind": "ε"}
        for one in kinds[0][1]
    ]
    return lines(values, "ε", "value", "kind", "Figure 5: the attack on plain DP", panel="panel")


def leaked_figure(found: Reproduction, title: str, known: float) -> "alt.TopLevelMixin":
    """Equation 11 and what of it was added, for every mechanism."""
    values: list[Document] = []
    for one in found.guesses:
        if one.friends and one.known == known:
            for panel, value in (("Equation 11, nats", one.leaked), ("of it added", one.added)):
                values.append({"ε": one.epsilon, "value": value, "panel": panel, "mechanism": one.mechanism})
    return lines(values, "ε", "value", "mechanism", title, panel="panel")


def known_figure(found: Reproduction) -> "alt.TopLevelMixin":
    """Figure 10: under the paper's mechanism, by how many of the others are known."""
    values: list[Document] = []
    for one in found.guesses:
        if one.friends and one.mechanism in {PLAIN, PUBLISHED}:
            kind = f"{one.mechanism}, {one.known:.0%} known"
            for panel, value in (("Equation 11, nats", one.leaked), ("of it added", one.added)):
                values.append({"ε": one.epsilon, "value": value, "panel": panel, "kind": kind})
    return lines(values, "ε", "value", "kind", "Figure 10: mechanisms, and how many are known", panel="panel")


def separation_figure(found: Reproduction) -> "alt.TopLevelMixin":
    """Figure 6: separations."""
    values: list[Document] = [
        {"ε": one.epsilon, "separation": one.numerical, "query": one.query} for one in found.separations
    ]
    epsilons = sorted({one.epsilon for one in found.separations})
    values += [{"ε": one, "separation": one, "query": "independent, any query"} for one in epsilons]
    return lines(values, "ε", "separation", "query", "Figure 6: two dependent numbers, noise of scale 1/ε")


def reach_figure(found: Reproduction) -> "alt.TopLevelMixin":
    """Figure 8(a): the chance of an error above 1000."""
    values: list[Document] = [
        {"ε": one.epsilon, "chance": max(one.beta, 1e-12), "method": one.method} for one in found.reaches
    ]
    return lines(values, "ε", "chance", "method", "Figure 8: chance of an error above 1000", log=True)


def utility_figure(found: Sequence[Utility]) -> "alt.TopLevelMixin":
    """Figure 9: accuracy of every method on every task."""
    values = [
        {"ε": one.epsilon, "accuracy": one.accuracy, "method": one.method, "task": one.task} for one in found
    ]
    return lines(values, "ε", "accuracy", "method", "Figure 9: accuracy", panel="task")


def added_figure(found: Reproduction) -> "alt.TopLevelMixin":
    """What a plain count adds about one person where those who depend on them are unknown."""
    values: list[Document] = []
    for one in found.added:
        kind = f"{one.known:.0%} known" if one.story == "friends" else "the other unknown"
        if one.story != "friends" and one.known:
            continue
        values.append(
            {"ε": one.epsilon, "added, in ε": one.added / one.epsilon, "who": kind, "story": one.story}
        )
        if not one.known:
            values.append(
                {
                    "ε": one.epsilon,
                    "added, in ε": one.certificate / one.epsilon,
                    "who": "bound",
                    "story": one.story,
                }
            )
    return lines(values, "ε", "added, in ε", "who", "What a plain count adds about one person", panel="story")
