"""The golden table: the Laplace noise that a sum over a binary chain of 100 steps needs."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from entwined.bounds.calibrate import largest_multiple
from entwined.bounds.group import group_bound
from entwined.bounds.markov import markov_closed_form_bound
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.quilt import markov_quilt_bound
from entwined.bounds.scalar import least_scale
from entwined.bounds.theorem import Theorem
from entwined.bounds.transport import transport_bound
from entwined.dependence import Box, MarkovChain
from entwined.errors import Unreachable
from entwined.loss import Loss

LENGTH = 100
CASES = ((0.10, 0.2), (0.10, 1.0), (0.25, 1.0), (0.25, 5.0), (0.40, 1.0))


class GoldenRow(NamedTuple):
    """One way to protect a chain, and the noise it needs; None where it cannot reach the target."""

    flip: float
    target: float
    method: str
    scale: float | None


def symmetric_chain(flip: float) -> MarkovChain:
    """A fair binary chain that changes state with the given probability."""
    return MarkovChain(LENGTH, Box.exact([[1 - flip, flip], [flip, 1 - flip]]), np.array([0.5, 0.5]))


def scale_by(theorem: Theorem) -> Callable[[MarkovChain, float], float | None]:
    """The Laplace scale for a sum of sensitivity 1 that a theorem asks for."""

    def scale(chain: MarkovChain, target: float) -> float | None:
        try:
            return (
                1
                / largest_multiple(
                    theorem, chain, Loss.uniform(1, chain.units), target, theorem.knowledge
                ).multiple
            )
        except Unreachable:
            return None

    return scale


METHODS: dict[str, Callable[[MarkovChain, float], float | None]] = {
    "group": scale_by(group_bound),
    "Markov, Lange et al.": scale_by(markov_closed_form_bound),
    "Markov quilt": scale_by(markov_quilt_bound),
    "messages (any)": scale_by(message_passing_bound),
    "transport (model)": scale_by(transport_bound),
    "exact count (model)": lambda chain, target: least_scale(chain, [0, 1], target),
    "no dependence": lambda _, target: 1 / target,
}


def golden_rows() -> Iterator[GoldenRow]:
    """Compute the table."""
    for flip, target in CASES:
        for method, scale in METHODS.items():
            yield GoldenRow(flip, target, method, scale(symmetric_chain(flip), target))


def show(rows: list[GoldenRow]) -> None:
    """Print the table, one line a method."""
    from rich.console import Console
    from rich.table import Table

    title = f"Laplace scale that a sum over a binary chain of {LENGTH} steps needs"
    shown = Table(title=title, title_justify="left", show_edge=False, pad_edge=False)
    shown.add_column("flip probability\nleakage wanted", no_wrap=True)
    for flip, target in CASES:
        shown.add_column(f"{flip:.2f}\n{target:g}", justify="right", no_wrap=True)
    for method in METHODS:
        scales = [row.scale for row in rows if row.method == method]
        shown.add_row(method, *("infeasible" if scale is None else f"{scale:.2f}" for scale in scales))
    Console().print(shown)


def chart(rows: list[GoldenRow], path: Path) -> None:
    """Draw the table as one small panel a case, noise on a logarithmic scale."""
    import altair as alt

    values = [
        {
            "case": f"flip {row.flip:.2f}, leakage {row.target:g}",
            "method": row.method,
            "scale": row.scale,
            "shown": f"{row.scale:.3g}",
        }
        for row in rows
        if row.scale is not None
    ]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("method:N", sort=list(METHODS), title=None),
        x=alt.X(
            "scale:Q",
            scale=alt.Scale(type="log", domain=[0.1, 1000]),
            title="Laplace scale (less is better)",
        ),
    )
    bars = base.mark_bar().encode(
        x2=alt.datum(0.1),
        color=alt.condition(
            "indexof(datum.method, 'any') > 0 || indexof(datum.method, 'model') > 0",
            alt.value("#1b6b93"),
            alt.value("#b9c4cc"),
        ),
    )
    labels = base.mark_text(align="left", dx=3, fontSize=10).encode(text="shown:N")
    panel = alt.layer(bars, labels).properties(width=260, height=150)
    faceted = panel.facet(facet=alt.Facet("case:N", title=None, sort=None), columns=2).properties(
        title="How much noise does a chain of 100 dependent steps need?"
    )
    faceted.save(path)
