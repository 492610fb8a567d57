"""What synthetic rows are made of: released marginals, the schema, and the rules that every row keeps."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from entwined.bounds.certificate import read_certificate
from entwined.errors import BadInput
from entwined.mechanisms.marginals.domain import Domain
from entwined.mechanisms.marginals.law import CellLaw
from entwined.mechanisms.marginals.measured import NoisyMarginals
from entwined.mechanisms.marginals.rules import Rules
from entwined.mechanisms.marginals.synthesis import Synthesis
from entwined.schema import Schema, read_schema

NAME: Final = "description"
WRONG: Final = "{} is no description of a synthetic table. Give one that `entwined synth` wrote."


@dataclass(frozen=True, eq=False)
class DescribedTable:
    """Marginals with noise, and what is public beside them."""

    schema: Schema
    measured: NoisyMarginals
    rules: Rules

    @classmethod
    def of(cls, mechanism: Synthesis, measured: NoisyMarginals, schema: Schema) -> Self:
        """What a mechanism gave, with its rules."""
        return cls(schema, measured, mechanism.rules)

    @property
    def domain(self) -> Domain:
        """The columns with their cells."""
        return self.measured.domain

    @property
    def size(self) -> int:
        """About how many rows there are in the table that was described: their number, where it is public."""
        found = self.schema.rows if self.schema.rows is not None else round(self.measured.rows)
        return max(found, 1)

    @cached_property
    def law(self) -> CellLaw:
        """The law of rows that agrees with the marginals and keeps the rules."""
        never = self.rules.empty(self.domain, self.schema)
        pairs = [(min(pair), max(pair)) for pair in self.rules.pairs(self.domain)]
        sizes = self.domain.sizes
        open_pairs = {pair: np.zeros([sizes[at] for at in pair]) for pair in pairs if pair not in never}
        law = self.measured.law(never | open_pairs)
        if not pairs:
            return law
        decided = self.rules.decided(law, self.domain)
        both = {pair: np.maximum(marks, never.get(pair, 0.0)) for pair, marks in decided.items()}
        return self.measured.law(never | both)


def read_description(path: Path, schema: Path | None = None) -> DescribedTable:
    """Read a description that was written, with the schema that lies beside it."""
    document = read_certificate(path)
    mechanism = document.get("certificate", {}).get("mechanism", {})
    if document.get("kind") != Synthesis.kind or mechanism.get("kind") != Synthesis.kind:
        raise BadInput(WRONG.format(str(path)[:200]))
    public = read_schema(schema or path.parent / "schema.toml")
    return _described(document, mechanism, public)


def _described(document: Mapping[str, Any], mechanism: Mapping[str, Any], schema: Schema) -> DescribedTable:
    domain = Domain.from_document(mechanism["columns"], schema)
    measured = NoisyMarginals.from_document(domain, json.loads(document["drawn"]))
    return DescribedTable(schema, measured, Rules.of(mechanism, schema))
