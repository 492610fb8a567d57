"""The paper has two tables in words and one drawing; these figures show what follows from them."""

from pathlib import Path
from typing import TYPE_CHECKING

from entwined.papers.attribute_privacy.experiments import AttributeFindings
from entwined.papers.dependent_dp.figures import lines

if TYPE_CHECKING:
    import altair as alt


def draw_attribute_figures(found: AttributeFindings, folder: Path) -> dict[str, Path]:
    """Write every figure."""
    drawn = {
        "school": school_figure(found),
        "students": students_figure(found),
        "normal": normal_figure(found),
    }
    paths = {}
    for name, chart in drawn.items():
        paths[name] = folder / f"{name}.svg"
        chart.save(paths[name])
    return paths


def school_figure(found: AttributeFindings) -> "alt.TopLevelMixin":
    """Noise by how closely gender follows income."""
    values = [
        {"gender follows income": one.tie, "Laplace scale": scale, "by": by, "query": one.query}
        for one in found.school
        if one.epsilon == 1.0
        for by, scale in (("the quilt of gender", one.by_gender), ("the best quilt", one.ours))
        if scale is not None
    ]
    title = "Example 1 at ε = 1: a count of 100 students"
    return lines(values, "gender follows income", "Laplace scale", "by", title, panel="query")


def students_figure(found: AttributeFindings) -> "alt.TopLevelMixin":
    """Noise by the number of students."""
    values = [
        {"students": one.rows, "Laplace scale": scale, "by": by}
        for one in found.students
        for by, scale in (
            ("one person's value", one.value_scale),
            ("parameter, quilt", one.quilt_scale),
            ("parameter, Wasserstein", one.wasserstein_scale),
        )
    ]
    return lines(values, "students", "Laplace scale", "by", "Whom noise hides", log=True)


def normal_figure(found: AttributeFindings) -> "alt.TopLevelMixin":
    """Noise by correlation."""
    values = [
        {"correlation": one.correlation, "deviation of the noise": one.analytic, "rows": f"{one.rows:,} rows"}
        for one in found.normal
        if one.rows in {1, 10, 100, 1_000_000}
    ]
    title = "Where no noise is needed: the mean of a column, the mean of another hidden"
    return lines(values, "correlation", "deviation of the noise", "rows", title)
