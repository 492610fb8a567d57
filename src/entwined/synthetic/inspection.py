"""Everything that a holder may see of a synthetic table beside the real one. Holder only: it is made without noise."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from entwined.bounds.certificate import read_certificate
from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.learning.codes import Codes
from entwined.learning.pairs import pair_counts
from entwined.mechanisms.marginals.domain import Domain
from entwined.numbers import FloatArray
from entwined.progress import report
from entwined.schema import read_schema
from entwined.synthetic.answering import TableQuestion, tables_asked
from entwined.synthetic.disclosure import Copies, Membership, copies, membership
from entwined.synthetic.holders_rows import SideBySide, held_out, side_by_side
from entwined.synthetic.likeness import Apart, all_apart, mean_distance
from entwined.synthetic.middles import MiddleQuestion, apart_in_unit, in_unit, middles_asked
from entwined.synthetic.relations import Related, correlations, informations
from entwined.synthetic.subgroups import Subgroup, subgroups
from entwined.synthetic.sweeping import Described, Swept, swept
from entwined.synthetic.telling_apart import ToldApart, told_apart
from entwined.synthetic.training import Trained, trained

WARNING: Final = (
    "HOLDER ONLY: made from the real rows without noise and without a charge. Never publish it or send it on."
)
DESCRIPTION: Final = "description.json"
SCHEMA: Final = "schema.toml"
TABLES: Final = ("synthetic.parquet", "synthetic.csv", "synthetic_1.parquet", "synthetic_1.csv")
WAYS: Final = (1, 2, 3)
SHOWN: Final = 25  # of a list of worst ones
STEPS: Final = 8


@dataclass(frozen=True, eq=False)
class Inspection:
    """A synthetic table beside the real one: distances, relations, subgroups, classifiers, attacks."""

    both: SideBySide
    marginals: dict[int, list[Apart]]
    informations: list[Related]
    information: tuple[FloatArray, FloatArray]
    correlations: list[Related]
    subgroups: list[Subgroup]
    by_columns: ToldApart
    by_pairs: ToldApart
    trained: Trained | None
    copies: Copies
    membership: Membership | None
    swept: tuple[Swept, ...] = ()
    """Other losses and parents, where they were asked for."""

    @property
    def tables(self) -> list[TableQuestion]:
        """Tables of one and two columns as questions."""
        return tables_asked([*self.marginals[1], *self.marginals.get(2, [])])

    @property
    def middles(self) -> list[MiddleQuestion]:
        """Means and medians as questions."""
        return middles_asked(*self.both.middles)

    @property
    def document(self) -> Document:
        """All figures, the warning first; of long lists the worst."""
        fields: Document = {
            "holder_only": WARNING,
            "format": "entwined inspection 1",
            "real_rows": self.both.real.rows,
            "synthetic_rows": self.both.synthetic.rows,
            "columns": list(self.both.names),
            "left_out": dict(self.both.left_out),
            "total_variation": {str(ways): _spread(found) for ways, found in self.marginals.items()},
            "mutual_information": [_related(one) for one in self.informations[:SHOWN]],
            "correlations": [_related(one) for one in self.correlations[:SHOWN]],
            "worst_subgroups": [one._asdict() for one in self.subgroups[:SHOWN]],
            "told_apart": {
                "by_columns": self.by_columns._asdict(),
                "by_pairs": self.by_pairs._asdict(),
            },
            "questions": [one._asdict() | {"verdict": one.verdict} for one in self.tables[:SHOWN]],
            "means_and_medians": [self._middle(one) for one in self.middles],
            "copies": self.copies._asdict(),
        }
        fields |= {"sweep": [one.document for one in self.swept]} if self.swept else {}
        fields |= {} if self.trained is None else {"train_on_synthetic": self.trained._asdict()}
        return fields | ({} if self.membership is None else {"membership": self.membership._asdict()})

    def _middle(self, one: MiddleQuestion) -> Document:
        column = self.both.schema.coded(one.column)
        values = {"real": in_unit(column, one.real), "synthetic": in_unit(column, one.synthetic)}
        far = {"off": apart_in_unit(column, one.error), "by_chance": apart_in_unit(column, one.chance)}
        return {"what": one.what, "column": one.column, **values, **far, "verdict": one.verdict}


def inspected(
    both: SideBySide,
    target: str | None = None,
    strangers: Codes | None = None,
    sweep: Described | None = None,
) -> Inspection:
    """Compare two tables in every way; `strangers` are people like those of the real table who were not in it.

    With `sweep` other losses and other parents are tried, too.
    """
    real, made = both.real, both.synthetic
    what = "comparing two tables"
    report(what, 0, STEPS)
    model = None if target is None else trained(real, made, target)
    report(what, 1, STEPS)
    marginals = {ways: all_apart(real, made, ways) for ways in WAYS if ways <= len(both.names)}
    report(what, 3, STEPS)
    pairs = pair_counts(real), pair_counts(made)
    report(what, 4, STEPS)
    groups = subgroups(*pairs)
    by_columns, by_pairs = (told_apart(real, made, pairs=each) for each in (False, True))
    report(what, 6, STEPS)
    found = Inspection(
        both=both,
        marginals=marginals,
        informations=informations(*pairs),
        information=(_off_diagonal(pairs[0].information), _off_diagonal(pairs[1].information)),
        correlations=correlations(real, made, both.ordered) if both.ordered else [],
        subgroups=groups,
        by_columns=by_columns,
        by_pairs=by_pairs,
        trained=model,
        copies=copies(real, made),
        membership=None if strangers is None else membership(real, made, strangers),
    )
    report(what, STEPS, STEPS)
    return found if sweep is None else replace(found, swept=swept(both, sweep))


def _off_diagonal(information: FloatArray) -> FloatArray:
    """Leave out what a column says about itself."""
    shown = information.copy()
    np.fill_diagonal(shown, 0.0)
    return shown


def _spread(found: list[Apart]) -> Document:
    distances = [one.distance for one in found]
    return {
        "marginals": len(found),
        "mean": mean_distance(found),
        "median": float(np.median(distances)),
        "largest": distances[0],
        "by_chance": float(np.mean([one.by_chance for one in found])),
        "worst": [one._asdict() for one in found[:SHOWN]],
    }


def _related(one: Related) -> Document:
    return {**one._asdict(), "off": one.off}


def table_in(place: Path) -> Path:
    """Find the table in what `entwined synth` wrote."""
    if not place.is_dir():
        return place
    there = [place / name for name in TABLES if (place / name).is_file()]
    if not there:
        raise BadInput(
            f"{place} has neither {' nor '.join(TABLES)}. Give a folder of `entwined synth`, or a table."
        )
    return there[0]


def compared(
    synthetic: Path,
    table: str,
    schema: Path | None = None,
    target: str | None = None,
    strangers: str | None = None,
    *,
    sweep: bool = False,
) -> Inspection:
    """Read both tables and compare them, in the cells that were described where a description is at hand."""
    place = synthetic / SCHEMA if schema is None and synthetic.is_dir() else schema
    if place is None:
        raise BadInput("Rows are read under a schema that the holder approved. Give it with --schema.")
    public, axes, known = read_schema(place), None, Described()
    if (synthetic / DESCRIPTION).is_file():
        document = read_certificate(synthetic / DESCRIPTION)
        axes = Domain.from_document(document["certificate"]["mechanism"]["columns"], public).axes
        known = Described.of(document, public) if sweep else known
    both = side_by_side(table, str(table_in(synthetic)), public, axes)
    others = None if strangers is None else held_out(strangers, both)
    return inspected(both, target, others, known if sweep else None)
