"""Drawings of the page: networks as boxes and arrows, and how far each mode is off."""

from collections.abc import Sequence
from typing import Final

from markupsafe import escape

from entwined.papers.datasynthesizer.modes import ModeTried
from entwined.papers.datasynthesizer.networks import Dag
from entwined.report import charts

NOT_CAUSAL: Final = "Not a causal graph: arrows say in which order columns are drawn, not what causes what."
BOX: Final = (86, 30)
STEP: Final = 128
LIFT: Final = 34
BASE: Final = 76


def network_drawing(network: Dag, names: Sequence[str]) -> str:
    """Draw columns in their order, with an arrow from each parent; farther ones go above."""
    place = {column: at for at, (column, _) in enumerate(network.parents)}
    arrows, boxes = [], []
    for column, parents in network.parents:
        x = place[column] * STEP + 8
        boxes.append(
            f'<rect x="{x}" y="{BASE}" width="{BOX[0]}" height="{BOX[1]}" rx="6" fill="#eaf1f7" stroke="#2a6592"/>'
            f'<text x="{x + BOX[0] / 2}" y="{BASE + 20}" text-anchor="middle">{escape(names[column])}</text>'
        )
        arrows += [_arrow(place[parent], place[column]) for parent in parents]
    wide = STEP * len(network.parents)
    head = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8Z" fill="#22303c"/></marker></defs>'
    )
    return (
        f'<figure class="card"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {BASE + BOX[1] + 4}" '
        f'role="img" aria-label="network" font-family="system-ui, sans-serif" font-size="14">{head}'
        f"{''.join(arrows)}{''.join(boxes)}"
        f"</svg><figcaption>{NOT_CAUSAL}</figcaption></figure>"
    )


def _arrow(start: int, end: int) -> str:
    """An arrow to the next box, or one over those between."""
    apart = end - start
    if apart == 1:
        path = f"M{start * STEP + 8 + BOX[0]} {BASE + BOX[1] / 2}H{end * STEP + 6}"
    else:
        one, other = (at * STEP + 8 + BOX[0] / 2 for at in (start, end))
        top = BASE - LIFT * (apart - 1)
        path = f"M{one} {BASE}C{one} {top} {other} {top} {other - 4} {BASE - 2}"
    return f'<path d="{path}" fill="none" stroke="#22303c" stroke-width="1.4" marker-end="url(#tip)"/>'


def modes_drawing(tried: Sequence[ModeTried], epsilon: float) -> str:
    """Bars of how far tables of two columns are off at one ε."""
    chosen = [one for one in tried if one.epsilon == epsilon]
    labels = charts.labelled([one.mode for one in chosen])
    rows = [{"label": label, "value": one.two_way} for label, one in zip(labels, chosen, strict=True)]
    return charts.bars(rows, f"people of 100 in a wrong cell, two columns, ε = {epsilon:g}")
