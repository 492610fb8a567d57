"""Ties as documents: their edges stand in a file beside the model, or are written out in it."""

from pathlib import Path
from typing import Final

from entwined.dependence.edge_columns import COEFFICIENTS
from entwined.dependence.fields import Fields
from entwined.dependence.graph_files import edges_of, filed, inside
from entwined.dependence.ties import GIVEN, Ties
from entwined.errors import BadModel
from entwined.numbers import FloatArray

TABLES: Final = ("kernel", "kernel_back", "distances")
FIELDS: Final = ("edges", *TABLES, "coefficient", "most_ties", "units")


def ties_from(fields: Fields, folder: Path) -> Ties:
    """Read the ties from their file or from the document, and what they say."""
    fields.only(*FIELDS, "edges_digest")
    units = fields.integer("units") if fields.has("units") else None
    given = fields.given("edges", "the name of a file of ties, or a list of them")
    file = inside(given, folder) if isinstance(given, str) else None
    edges = edges_of(fields, file, units, COEFFICIENTS)
    ways = [name for name in ("kernel", "coefficient") if fields.has(name)]
    ways += [] if edges.strengths is None or not len(edges.ends) else ["a column of edges"]
    if len(ways) != 1:
        found = f"are said by {' and by '.join(ways)}" if ways else "are not said"
        raise BadModel(f"The strengths of the ties {found}. {GIVEN}")
    kernel, back, distances = (exact_table(fields, name) for name in TABLES)
    return Ties(
        edges.nodes,
        edges.ends,
        kernel,
        back,
        fields.table("coefficient", 0).high if fields.has("coefficient") else edges.strengths,
        distances,
        fields.integer("most_ties") if fields.has("most_ties") else None,
        fields.source,
        **filed(fields, FIELDS, edges, file, folder),
    )


def exact_table(fields: Fields, name: str) -> FloatArray | None:
    """Read a table of numbers that are known exactly, if it is there."""
    if not fields.has(name):
        return None
    box = fields.table(name, 2)
    if not box.is_exact:
        raise BadModel(f'"{name}" has an interval, which has no meaning here. Give numbers.')
    return box.low
