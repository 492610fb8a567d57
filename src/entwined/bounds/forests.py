"""The forests of models without cycles, and how much of each neighbour's law another unit can move."""

from entwined.bounds.kernel import Forest, Link, breadth_first, frontiers_of
from entwined.bounds.profiles.passing import Sways
from entwined.bounds.profiles.sway import RowsSway, Sway, TiltSway
from entwined.dependence import Coupled, Couplings
from entwined.errors import DoesNotApply

MOST_ENTRIES = 20_000


def tilted_forest(model: Coupled) -> tuple[Forest, Sways]:
    """The forest of a model and how far each neighbour is tilted at most."""
    if not model.couplings.acyclic:
        raise DoesNotApply(
            "Units depend on each other in a cycle, and these messages need a forest of factors."
        )
    return factor_forest(model.couplings.binding)


def known_forest(model: Coupled) -> tuple[Forest, Sways]:
    """The tree of a model and the law of each neighbour."""
    forest, frontiers = frontiers_of(model)
    return forest, {link: RowsSway(frontier) for link, frontier in frontiers.items()}


def factor_forest(graph: Couplings) -> tuple[Forest, Sways]:
    """Units and, after them, factors of three units or more as the nodes; what a factor passes on is tilted."""
    if graph.unit.size > MOST_ENTRIES:
        raise DoesNotApply(f"{graph.unit.size:,} units in factors take long; the most is {MOST_ENTRIES:,}.")
    inside: dict[int, list[tuple[int, float]]] = {}
    for unit, factor, odds in zip(
        graph.unit.tolist(), graph.factor.tolist(), graph.log_odds.tolist(), strict=True
    ):
        inside.setdefault(factor, []).append((unit, odds))
    links: list[Link] = []
    sways: dict[Link, Sway] = {}
    nodes = graph.units
    for entries in inside.values():
        if len(entries) == 2:  # noqa: PLR2004  (a pair needs no node between)
            (one, mine), (other, its) = entries
            links.append((one, other))
            sways |= {(other, one): TiltSway(mine), (one, other): TiltSway(its)}
        else:
            links += [(unit, nodes) for unit, _ in entries]
            sways |= {(nodes, unit): TiltSway(odds) for unit, odds in entries}
            nodes += 1
    order, parent = breadth_first(nodes, links)
    return Forest(order, parent, (), {}, 0.0), sways
