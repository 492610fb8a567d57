"""`entwined bound` on large models: seconds and gigabytes; limits are 20 s and 4 GiB on two cores."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import command
from entwined.dependence.places import CityGrid, friends_places

UNITS = 1_000_000
EDGES = 5_000_000
PEOPLE = 200_000
TIES = 1_000_000


def chain(folder: Path, rng: np.random.Generator) -> None:
    """A chain of 10^6 steps with 51 states."""
    table = rng.dirichlet(np.ones(51), 51)
    write(
        folder,
        {"kind": "markov_chain", "length": UNITS, "initial": [1 / 51] * 51, "transition": table.tolist()},
    )


def graph(folder: Path, rng: np.random.Generator) -> None:
    """A graph with 10^6 nodes and 5·10^6 edges."""
    keys = np.zeros(0, np.int64)
    while keys.size < EDGES:
        ends = np.sort(rng.integers(0, UNITS, (EDGES, 2)), axis=1)
        ends = ends[ends[:, 0] < ends[:, 1]]
        keys = np.unique(np.concatenate([keys, ends[:, 0] * UNITS + ends[:, 1]]))
    keys = rng.permutation(keys)[:EDGES]
    write_edges(folder, np.stack(np.divmod(keys, UNITS), axis=1))
    write(folder, {"kind": "graph", "edges": "edges.csv", "log_odds": 0.4})


def people(folder: Path, rng: np.random.Generator) -> None:
    """A network of 200,000 people with 10^6 ties: limit 10 s of CPU."""
    write_edges(folder, drawn_ties(rng))
    write(folder, {"kind": "graph", "edges": "edges.csv", "log_odds": 0.4})


def ties(folder: Path, rng: np.random.Generator) -> None:
    """The same people tied one by one, with the places of a city of 20 × 20 cells as values: limit 10 s of CPU."""
    write_edges(folder, drawn_ties(rng))
    kernel = friends_places(CityGrid(20, 20).distances())
    write(folder, {"kind": "ties", "edges": "edges.csv", "kernel": kernel.tolist()})


def drawn_ties(rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A million pairs of people."""
    ends = np.sort(rng.integers(0, PEOPLE, (TIES + TIES // 10, 2)), axis=1)
    return rng.permutation(np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0))[:TIES]


def network(folder: Path, rng: np.random.Generator) -> None:
    """A Bayesian network of 400 five-valued variables with two parents each."""
    variables: list[dict[str, Any]] = []
    for place in range(400):
        parents = rng.choice(place, min(2, place), replace=False).tolist()
        table = rng.dirichlet(np.full(5, 20.0), 5 ** len(parents))
        variables.append(
            {
                "name": f"v{place}",
                "values": list("abcde"),
                "parents": [f"v{parent}" for parent in parents],
                "table": table.tolist(),
            }
        )
    write(folder, {"kind": "bayes_net", "variables": variables})


def tree(folder: Path, rng: np.random.Generator) -> None:
    """A tree of 10^6 nodes, as an edge list."""
    child = np.arange(1, UNITS)
    parent = (rng.random(UNITS - 1) * child).astype(np.int64)
    write_edges(folder, np.stack([parent, child], axis=1))
    write(folder, {"kind": "graph", "edges": "edges.csv", "log_odds": 1.5})


def path_tree(folder: Path, rng: np.random.Generator) -> None:
    """A tree of 10^6 nodes that is nearly a path."""
    child = np.arange(1, UNITS)
    parent = np.maximum(0, child - rng.integers(1, 3, UNITS - 1))
    write_edges(folder, np.stack([parent, child], axis=1))
    write(folder, {"kind": "graph", "edges": "edges.csv", "log_odds": 1.5})


def field_tree(folder: Path, rng: np.random.Generator) -> None:
    """A tree of 10^6 binary variables, as a random field with a potential an edge."""
    parents = (rng.random(UNITS - 1) * np.arange(1, UNITS)).astype(np.int64).tolist()
    potentials = rng.uniform(0.5, 2.0, (UNITS - 1, 2, 2)).round(3).tolist()
    edges = [
        {"between": [f"x{parent}", f"x{child}"], "potential": potential}
        for child, (parent, potential) in enumerate(zip(parents, potentials, strict=True), 1)
    ]
    write(
        folder,
        {"kind": "random_field", "variables": {f"x{place}": 2 for place in range(UNITS)}, "edges": edges},
    )


def write(folder: Path, document: dict[str, Any]) -> None:
    """Write the model file."""
    (folder / "model.json").write_text(json.dumps(document))


def write_edges(folder: Path, ends: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    """Write the edge file."""
    import pyarrow as pa
    from pyarrow import csv

    csv.write_csv(pa.table({"source": ends[:, 0], "target": ends[:, 1]}), folder / "edges.csv")


MODELS: tuple[Callable[[Path, np.random.Generator], None], ...] = (
    chain,
    graph,
    people,
    ties,
    network,
    tree,
    path_tree,
    field_tree,
)


def run() -> list[dict[str, Any]]:
    """Measure each model, and the start of the command."""
    figures = []
    for model in MODELS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            model(folder, np.random.default_rng(1))
            for options in ([], ["--knowledge", "model"]):
                taken = command(["bound", "model.json", "--loss", "0.1", "--json", *options], folder)
                found = json.loads(taken.output)
                figures.append(
                    {
                        "model": model.__name__,
                        "knowledge": options[-1] if options else "any",
                        "seconds": round(taken.wall, 2),
                        "cpu": round(taken.cpu, 2),
                        "gigabytes": round(taken.gigabytes, 2),
                        "leakage": found["leakage"],
                        "theorem": found["theorem"],
                    }
                )
                print("  ".join(f"{key} {value}" for key, value in figures[-1].items()), flush=True)
    taken = command(["--help"], Path())
    figures.append({"model": "--help", "seconds": round(taken.wall, 2), "cpu": round(taken.cpu, 2)})
    print(f"--help  cpu {taken.cpu:.2f}")
    return figures
