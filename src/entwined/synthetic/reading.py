"""What a description is of: rows by themselves, or whole households; both make rows up."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

from entwined.bounds.certificate import read_certificate
from entwined.errors import BadInput
from entwined.mechanisms.households.household_tables import HouseholdTables
from entwined.mechanisms.marginals.synthesis import Synthesis
from entwined.schema import Schema, read_schema
from entwined.synthetic.description import WRONG, DescribedTable, read_description
from entwined.synthetic.files import SyntheticRows
from entwined.synthetic.household_rows import DescribedHouseholds
from entwined.synthetic.rows import MadeUpRows

SYNTHETIC: Final = (Synthesis.kind, HouseholdTables.kind)

Described: TypeAlias = DescribedTable | DescribedHouseholds
Making: TypeAlias = Callable[[int | None], SyntheticRows]
"""How so many rows are made; about as many as there are, unless a number is given."""


def read_synthetic(path: Path, schema: Path | None = None) -> Described:
    """Read a description that was written, with the schema that lies beside it."""
    document = read_certificate(path)
    mechanism = document.get("certificate", {}).get("mechanism", {})
    if document.get("kind") != HouseholdTables.kind:
        return read_description(path, schema)
    if mechanism.get("kind") != HouseholdTables.kind:
        raise BadInput(WRONG.format(str(path)[:200]))
    public = read_schema(schema or path.parent / "schema.toml")
    return DescribedHouseholds.from_document(mechanism, json.loads(document["drawn"]), public)


def described(mechanism: Any, drawn: str, schema: Schema) -> Described:
    """Take what a mechanism gave as a description."""
    if isinstance(mechanism, HouseholdTables):
        return DescribedHouseholds.of(mechanism, mechanism.output(drawn.encode()), schema)
    if isinstance(mechanism, Synthesis):
        return DescribedTable.of(mechanism, mechanism.output(drawn.encode()), schema)
    raise BadInput(
        "The request is for no synthetic table. Give a [[mechanism]] of kind synthesis or households."
    )


def making(found: Described) -> Making:
    """Make up so many rows, of households about so many; about as many as there are, unless told."""
    if isinstance(found, DescribedHouseholds):
        return found.made_up
    return lambda many: MadeUpRows(found.schema, found.size if many is None else many, found)
