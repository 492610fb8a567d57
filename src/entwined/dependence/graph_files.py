"""Graphs as documents: their edges stand in a file beside the model, or are written out in it."""

import hashlib
import math
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from entwined.dependence.contents import read_bytes
from entwined.dependence.edge_columns import LOG_ODDS
from entwined.dependence.edge_labels import Numbered
from entwined.dependence.edged import Edged, refuse_repeats
from entwined.dependence.edges import MOST_BYTES, EdgeList, read_edges, refuse_negative
from entwined.dependence.fields import Fields, refuse_types
from entwined.dependence.graph import Graph
from entwined.dependence.nested import numbers, shown
from entwined.errors import BadModel
from entwined.numbers import FloatArray, IntArray

FIELDS = ("edges", "log_odds", "units", "most_ties", "edges_digest")


def graph_from(fields: Fields, folder: Path) -> Graph:
    """Read the edges from their file or from the document, and how strong they are."""
    fields.only(*FIELDS)
    units = fields.integer("units") if fields.has("units") else None
    common = strength_of(fields) if fields.has("log_odds") else None
    given = fields.given("edges", "the name of a file of edges, or a list of them")
    file = inside(given, folder) if isinstance(given, str) else None
    edges = edges_of(fields, file, units, LOG_ODDS)
    strengths = edges.strengths[:, 0] if edges.strengths is not None else common
    if strengths is None:
        raise BadModel(
            'The strength of the edges is missing. Give "log_odds" in the model or as a column of its edges.'
        )
    most_ties = fields.integer("most_ties") if fields.has("most_ties") else None
    said = filed(fields, FIELDS[:-1], edges, file, folder)
    return Graph(edges.nodes, edges.ends, strengths, fields.source, most_ties=most_ties, **said)


def filed(
    fields: Fields, names: Sequence[str], edges: EdgeList, file: Path | None, folder: Path
) -> dict[str, Any]:
    """Note what the model said of its edges, if they stand in a file, and what they are called there."""
    if file is None:
        return {"edges_digest": edges.digest, "label": edges.label}
    said = {name: fields.values[name] for name in names if fields.has(name)}
    said["edges"] = file.relative_to(folder.resolve()).as_posix()
    return {
        "fields": tuple(said.items()),
        "edges_digest": edges.digest,
        "edges_file": file,
        "label": edges.label,
    }


def strength_of(fields: Fields) -> FloatArray:
    """Read one strength for all edges; of an interval the upper end is the worst."""
    box = fields.table("log_odds", 0)
    if box.low < 0:
        raise BadModel(
            f'"log_odds" is {float(box.low):g}, below zero. Give the largest size of the log odds ratio.'
        )
    return np.asarray(box.high)


def edges_of(fields: Fields, file: Path | None, units: int | None, wanted: Sequence[str]) -> EdgeList:
    """Read the edges from their file, if it is still the same, or from the document."""
    if file is not None:
        edges = edges_in(file, units, wanted)
    else:
        edges = edges_written(
            fields.entries("edges", "the name of a file, or a list of edges"), units, wanted
        )
    refuse_changed(fields, edges.digest)
    return edges


def edges_in(path: Path, units: int | None, wanted: Sequence[str]) -> EdgeList:
    """Read the edge file that a model names."""
    try:
        return read_edges(path, units, wanted)
    except BadModel as wrong:
        raise BadModel(f'The edge file "{path.name:.200}": {wrong}') from None


def inside(name: str, folder: Path) -> Path:
    """Find a file by its name in a folder, refusing names that lead out of it."""
    try:
        path = (folder / name).resolve()
        outside = not name or not path.is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        raise BadModel(
            f'"edges" is {shown(name)}, which is no file name. Give the name of the edge file.'
        ) from None
    if outside:
        raise BadModel(
            f'"edges" is {shown(name)}, which leads out of the folder of the model. Put the file beside it.'
        )
    return path


def edges_written(given: list[Any], units: int | None, wanted: Sequence[str]) -> EdgeList:
    """Read edges written out as [node, node] or [node, node, strength …], nodes being whole numbers."""
    strength = wanted[0].replace("_", " ")
    refuse_types(given, list, lambda place: f"Edge {place + 1}", f"two nodes, or two nodes and a {strength}")
    lengths = set(map(len, given))
    width = len(given[0]) if given else 3
    possible = range(2, 3 + len(wanted))
    if lengths - {width} or width not in possible:
        place = next(place for place, edge in enumerate(given) if len(edge) != width or width not in possible)
        entries = f"Edge {place + 1} has {len(given[place])} entries"
        raise BadModel(f"{entries}. Give each edge as two nodes, or each as two nodes and a {strength}.")
    flat = list(chain.from_iterable(given))
    first, second = (whole_numbers(flat[end::width]) for end in (0, 1))
    nodes = Numbered.of(first, second, units)
    refuse_repeats(nodes.ends, nodes.nodes, nodes.label)
    if width == 2:  # noqa: PLR2004  (no strength)
        return EdgeList(nodes.nodes, nodes.ends, None, "", nodes.label)
    found = []
    for place in range(2, width):
        column = [math.inf if entry == "inf" else entry for entry in flat[place::width]]
        found.append(numbers(column, f"A {strength} of an edge"))
        refuse_negative(found[-1], wanted[place - 2])
    return EdgeList(nodes.nodes, nodes.ends, np.column_stack(found), "", nodes.label)


def whole_numbers(nodes: list[Any]) -> IntArray:
    """Read nodes that are whole numbers."""
    refuse_types(nodes, int, lambda place: f"An end of edge {place + 1}", "a whole number")
    try:
        return np.array(nodes, dtype=np.int64)
    except OverflowError:
        raise BadModel("A node has a number of more than 18 digits. Number the nodes from 0.") from None


def refuse_changed(fields: Fields, digest: str) -> None:
    """Refuse an edge file that is not the one the model was written for."""
    if fields.has("edges_digest") and fields.text("edges_digest") != digest:
        said = f'its SHA-256 is not the "edges_digest" {fields.text("edges_digest"):.64}'
        raise BadModel(f"The edges are not those the model was written for: {said}. Bring back the file.")


def named_from(model: Edged, folder: Path) -> str | None:
    """Name the edge file of a model as a document in this folder would, if it is there and unchanged."""
    if model.edges_file is None:
        return None
    try:
        file = model.edges_file.resolve()
        if not file.is_relative_to(folder.resolve()):
            file = inside(str(dict(model.fields)["edges"]), folder)
        unchanged = hashlib.sha256(read_bytes(file, MOST_BYTES)).hexdigest() == model.edges_digest
        return file.relative_to(folder.resolve()).as_posix() if unchanged else None
    except (BadModel, OSError):
        return None
