"""The paper's figures drawn again as SVG: lines for theory, crosses for drawn releases, our bounds beside."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from entwined.papers.bayesian_dp.errors import ErrorPoint
from entwined.papers.bayesian_dp.experiments import BayesianFindings

if TYPE_CHECKING:
    import altair as alt

COLOURS: Final = ("#5b6b78", "#b9c4cc", "#b3541e", "#d98e5f", "#1b6b93", "#2f9e8f", "#7a5195")
FIGURES: Final = {
    "error against m": ("m", "how many depend on each other", "linear"),
    "error against ρ": ("rho", "correlation", "log"),
    "error against n": ("n", "steps", "log"),
}
CROSS: Final = "M-1,-1L1,1M1,-1L-1,1"
MOST_PANELS: Final = 3  # in a row


def draw_figures(found: BayesianFindings, folder: Path) -> dict[str, Path]:
    """Write every figure."""
    paths = {}
    for figure, (name, axis, kind) in FIGURES.items():
        points = [one for one in found.errors if one.figure == figure]
        paths[name] = folder / f"error_against_{name}.svg"
        _chart(points, f"95 % {figure}", axis, kind).save(paths[name])
    return paths


def _chart(points: list[ErrorPoint], title: str, axis: str, kind: Any) -> "alt.TopLevelMixin":
    import altair as alt

    methods = list(dict.fromkeys(one.method for one in points))
    values = [one._asdict() for one in points]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X(
            "at:Q",
            title=axis,
            scale=alt.Scale(type=kind, nice=False),
            axis=alt.Axis(format="~s", tickCount=5),
        ),
        color=alt.Color(
            "method:N",
            sort=None,
            scale=alt.Scale(domain=methods, range=list(COLOURS[: len(methods)])),
            legend=alt.Legend(title=None, orient="bottom", columns=3, labelLimit=400),
        ),
    )
    height = alt.Y("theory:Q", title="95 % error", scale=alt.Scale(type="log"), axis=alt.Axis(format="~g"))
    crosses = base.mark_point(shape=CROSS, size=28, strokeWidth=1.2).encode(y=alt.Y("drawn:Q"))
    layered = alt.layer(base.mark_line().encode(y=height), crosses).properties(width=300, height=210)
    faceted: Any = layered.facet(facet=alt.Facet("panel:N", title=None, sort=None), columns=MOST_PANELS)
    faceted = faceted.resolve_scale(y="independent")
    chart: alt.TopLevelMixin = faceted.properties(title=alt.TitleParams(title, anchor="start"))
    return chart
