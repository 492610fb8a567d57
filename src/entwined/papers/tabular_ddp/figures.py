"""Figures 3, 5, 7, 8 and 9, and the accuracy bounds, drawn as SVG."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from entwined.canonical import Document
from entwined.papers.tabular_ddp.experiments import PLAIN, WIDTH, WIDTHS, Accuracy, Results, Timing
from entwined.papers.tabular_ddp.populations import Population, monty_hall

if TYPE_CHECKING:
    import altair as alt

WARNING: Final = "Reproduction only: as published, Tabular-DDP is not private."
NOT_PRIVATE: Final = ("#b3541e", "#d98e5f", "#efc9ae", "#8c3b0f")
PRIVATE: Final = ("#5b6b78", "#1b6b93", "#2f9e8f", "#7a5195")
PLACES: Final = {"first selection": (0.0, 1.0), "prize": (2.0, 1.0), "opened by Monty": (1.0, 0.0)}


def draw_figures(results: Results, folder: Path) -> list[Path]:
    """Write every figure."""
    drawn = {
        "figure_3_monty_hall": network_figure(monty_hall()),
        "figure_5_accuracy": accuracy_figure(
            results.accuracy, (0.1,), "Figure 5: accuracy for ε = 0.1, k = 10"
        ),
        "figure_7_chunk_size": width_figure(results.accuracy),
        "figure_8_time": time_figure(results.times),
        "figure_9_accuracy": accuracy_figure(
            results.accuracy, (0.1, 1.0, 10.0), "Figure 9: accuracy for ε = 0.1, 1 and 10, k = 10"
        ),
    }
    paths = []
    for name, chart in drawn.items():
        path = folder / f"{name}.svg"
        chart.save(path)
        paths.append(path)
    return paths


def _title(text: str) -> "alt.TitleParams":
    import altair as alt

    return alt.TitleParams(text, subtitle=WARNING, anchor="start", subtitleColor=NOT_PRIVATE[0])


def _colours(rows: Iterable[Accuracy]) -> "alt.Color":
    """Blue and grey for methods with a proof, brown for those without."""
    import altair as alt

    methods = list(dict.fromkeys((row.method, row.private) for row in rows))
    methods.sort(key=lambda one: (not one[1], one[0] != PLAIN))
    proved = iter(PRIVATE * len(methods))
    leaking = iter(NOT_PRIVATE * len(methods))
    colours = [next(proved if private else leaking) for _, private in methods]
    names = [name for name, _ in methods]
    legend = alt.Legend(title=None, orient="bottom", columns=2, labelLimit=400)
    return alt.Color("method:N", scale=alt.Scale(domain=names, range=colours), legend=legend)


def _values(rows: Iterable[Accuracy], widths: Sequence[int | None]) -> list[Document]:
    return [
        {**row._asdict(), "shown": f"{float(f'{row.error:.3g}'):,g}", "panel": f"ε = {row.epsilon:g}"}
        for row in rows
        if row.width in {None, *widths} and 0 < row.error < float("inf")
    ]


def accuracy_figure(rows: Sequence[Accuracy], epsilons: Sequence[float], title: str) -> "alt.TopLevelMixin":
    """Mean L2 error by survey and method, one row of panels an ε."""
    import altair as alt

    values = _values((row for row in rows if row.epsilon in epsilons), [WIDTH])
    least, most = min(row["error"] for row in values) / 3, max(row["error"] for row in values) * 8
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("method:N", title=None, axis=None),
        x=alt.X(
            "error:Q",
            scale=alt.Scale(type="log", domain=[least, most], nice=False),
            axis=alt.Axis(tickCount=4, format=",~g"),
            title="L2 error (less is better)",
        ),
    )
    bars = base.mark_bar().encode(color=_colours(rows), x2=alt.datum(least))
    labels = base.mark_text(align="left", dx=3, fontSize=10).encode(text="shown:N")
    panel = alt.layer(bars, labels).properties(width=230, height=90)
    faceted = panel.facet(
        column=alt.Column("survey:N", title=None, sort=None), row=alt.Row("panel:N", title=None, sort=None)
    )
    return faceted.properties(title=_title(title))


def width_figure(rows: Sequence[Accuracy]) -> "alt.TopLevelMixin":
    """Mean L2 error against the chunk size k for ε = 1."""
    import altair as alt

    chosen = [row for row in rows if row.epsilon == 1.0]
    spread = [row._replace(width=width) for row in chosen for width in ([row.width] if row.width else WIDTHS)]
    base = alt.Chart(alt.InlineData(values=_values(spread, WIDTHS))).encode(
        x=alt.X("width:O", title="chunk size k", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "error:Q", title="L2 error", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(tickCount=5)
        ),
        color=_colours(rows),
    )
    panel = alt.layer(base.mark_line(), base.mark_point(filled=True, size=45)).properties(
        width=210, height=200
    )
    faceted: alt.FacetChart = panel.facet(column=alt.Column("survey:N", title=None, sort=None))
    faceted = faceted.resolve_scale(y="independent")
    return faceted.properties(title=_title("Figure 7: effect of the chunk size for ε = 1"))


def time_figure(rows: Sequence[Timing]) -> "alt.TopLevelMixin":
    """CPU seconds by component and chunk size."""
    import altair as alt

    parts = {
        "learning": "learning the networks",
        "sensitivity": "dependent sensitivity",
        "noise": "drawing the noise",
    }
    values = [
        {"survey": row.survey, "k": row.width, "part": words, "seconds": getattr(row, part)}
        for row in rows
        for part, words in parts.items()
    ]
    panel = (
        alt.Chart(alt.InlineData(values=values))
        .mark_line(point=True)
        .encode(
            x=alt.X("k:O", title="chunk size k", axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "seconds:Q",
                title="CPU seconds",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format="~g", tickCount=5),
            ),
            color=alt.Color(
                "part:N",
                sort=None,
                scale=alt.Scale(range=list(PRIVATE)),
                legend=alt.Legend(title=None, orient="bottom"),
            ),
        )
        .properties(width=210, height=200)
    )
    faceted: alt.FacetChart = panel.facet(column=alt.Column("survey:N", title=None, sort=None))
    return faceted.properties(title=_title("Figure 8: time by component"))


def network_figure(population: Population) -> "alt.TopLevelMixin":
    """A network as names and arrows."""
    import altair as alt

    edges = [
        dict(
            zip(
                ("x", "y", "x2", "y2"),
                (*PLACES[population.names[a]], *PLACES[population.names[b]]),
                strict=True,
            )
        )
        for a, b in population.network.edges
    ]
    nodes = [{"name": name, "x": x, "y": y} for name, (x, y) in PLACES.items()]
    x, y = (alt.Scale(domain=[-0.7, 2.7]), alt.Scale(domain=[-0.3, 1.3]))
    lines = alt.Chart(alt.InlineData(values=edges)).mark_rule(color=PRIVATE[0], strokeWidth=2)
    lines = lines.encode(
        x=alt.X("x:Q", scale=x, axis=None), y=alt.Y("y:Q", scale=y, axis=None), x2="x2:Q", y2="y2:Q"
    )
    place = alt.Chart(alt.InlineData(values=nodes)).encode(
        x=alt.X("x:Q", scale=x, axis=None), y=alt.Y("y:Q", scale=y, axis=None)
    )
    heads = alt.Chart(alt.InlineData(values=edges)).mark_point(
        shape="triangle-down", size=130, filled=True, color=PRIVATE[0], opacity=1
    )
    heads = heads.transform_calculate(x="0.4*datum.x+0.6*datum.x2", y="0.4*datum.y+0.6*datum.y2").encode(
        x=alt.X("x:Q", scale=x, axis=None), y=alt.Y("y:Q", scale=y, axis=None)
    )
    circles = place.mark_point(shape="circle", size=9000, filled=True, color="#dfe9ef", opacity=1)
    names = place.mark_text(fontSize=12).encode(text="name:N")
    chart = alt.layer(lines, heads, circles, names).properties(width=460, height=220)
    return chart.properties(title=_title("Figure 3: the Monty Hall network"))
