"""Read [[secret]] of release.toml: which facts about whole columns are kept, and under which laws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from entwined.bounds.attributes.chance_boxes import ChanceBox, Chances
from entwined.bounds.attributes.guarded import Guarded
from entwined.bounds.attributes.guards import SecretGuard
from entwined.bounds.attributes.joint_secrets import TOGETHER
from entwined.bounds.attributes.learned_covariance import LearnedCovariance
from entwined.bounds.attributes.linked import Linked, from_covariance
from entwined.bounds.attributes.noisy_columns import ValueSets
from entwined.bounds.attributes.quilt_guard import ParameterSecret, QuiltGuard
from entwined.bounds.attributes.secrets import ColumnSecret, Span, pairs_of
from entwined.bounds.attributes.summed_laws import RowChances
from entwined.dependence import model_from, read_model
from entwined.errors import BadInput
from entwined.numbers import positive_fraction
from entwined.promise.secrets import NOT_PROTECTED, KeptSecrets
from entwined.queries import parse
from entwined.request.joint_secrets_file import (
    Known,
    exact_numbers,
    listed,
    read_correlation,
    read_covariance,
    read_together,
)
from entwined.schema import Schema
from entwined.schema.raw import is_text, is_whole

ABOUT_SECRET: Final = (
    "name", "column", "value", "figure", "apart", "rows", "epsilon", "delta", "reading", "level", "law", "correlation",
    "covariance", "truth", "network", "together",
)  # fmt: skip
ABOUT_PARAMETER: Final = ("name", "column", "apart", "rows", "epsilon", "delta", "reading", "network")
ABOUT_COLUMN: Final = ("column", "difference", "slope", "means", "sd", "others_sd")
ABOUT_COUNT: Final = ("where", "chance", "others_chance", "adds", "others_add", "probability")


@dataclass(frozen=True, slots=True)
class ReadSecrets:
    """The secrets of a file, and how truths that were declared beside them lie outside their laws."""

    kept: KeptSecrets
    warnings: tuple[str, ...] = ()


def read_secrets(
    given: Sequence[Mapping[str, Any]],
    schema: Schema,
    individuals: object,
    known: Known,
    folder: Path = Path(),
) -> ReadSecrets | None:
    """Read all secrets of a file; none gives none."""
    if individuals not in (None, NOT_PROTECTED):
        raise BadInput(f'individuals = {individuals!r:.60}. Leave it out, or give "{NOT_PROTECTED}".')
    if not given:
        if individuals is not None:
            raise BadInput(
                f'individuals = "{NOT_PROTECTED}" and no [[secret]]: nothing would be protected. Give secrets, or '
                "leave it out."
            )
        return None
    guards: list[SecretGuard] = []
    warnings: list[str] = []
    for number, one in enumerate(given, start=1):
        known(one, ABOUT_SECRET, f"[[secret]] {number}")
        if "network" in one:
            guards.append(_by_network(one, schema, folder, known))
            continue
        if TOGETHER in one:
            guards.append(read_together(one, _rows(one, schema), known))
            continue
        guard = _guarded(one, schema, folder, known)
        guards.append(guard)
        for truth in listed(one, "truth"):
            warnings += [
                f"Secret {guard.secret.title!r}: what is declared as true is outside the laws it is kept under. "
                f"{line} The "
                "promise does not hold for it."
                for line in guard.outside(_linked(truth, known))
            ]
    return ReadSecrets(KeptSecrets(tuple(guards), individuals is None), tuple(warnings))


def _guarded(given: Mapping[str, Any], schema: Schema, folder: Path, known: Known) -> Guarded:
    secret = _secret(given, schema)
    linked: list[Linked] = []
    counted: list[tuple[str, Chances]] = []
    for law in listed(given, "law"):
        if "where" in law:
            counted.append((parse(str(law["where"]), schema).text, _chances(law, known)))
        else:
            linked.append(_linked(law, known))
    told = read_correlation(given)
    joint = given.get("covariance")
    if isinstance(joint, str) and not linked and told is None:
        learned = LearnedCovariance.read(folder / joint)
        return Guarded(secret, learned.linked(secret.column), tuple(counted), None, learned.words)
    if joint is not None:
        columns, matrix = read_covariance(None if linked or told else joint, secret.title)
        found = from_covariance(secret.column, columns, matrix)
        linked, told = list(found.columns), found.correlation
    return Guarded(secret, tuple(linked), tuple(counted), told)


def _by_network(given: Mapping[str, Any], schema: Schema, folder: Path, known: Known) -> QuiltGuard:
    """Read a secret about the law that a column is drawn by, with the network of laws that it is kept under."""
    known(given, ABOUT_PARAMETER, "A secret with a network")
    for key in ("column", "epsilon"):
        if key not in given:
            raise BadInput(f"A secret has no {key}. Give it: column and epsilon are needed.")
    network, column = given["network"], str(given["column"])
    model = model_from(network, folder) if isinstance(network, dict) else read_model(folder / str(network))
    secret = ParameterSecret(
        column,
        _value_pairs(column, given.get("apart", [])),
        _rows(given, schema),
        positive_fraction(given["epsilon"], "epsilon"),
        positive_fraction(given["delta"], "delta") if "delta" in given else Fraction(0),
        given.get("reading", "worst point"),
        str(given.get("name", "")),
    )
    return QuiltGuard.of(secret, model)


def _value_pairs(column: str, pairs: object) -> tuple[ValueSets, ...]:
    if not isinstance(pairs, list):
        raise BadInput(f'apart = {pairs!r:.60}. Give a list of pairs, such as apart = [[["low"], ["high"]]].')
    return tuple(_value_sets(column, pair) for pair in pairs)


def _value_sets(column: str, pair: object) -> ValueSets:
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(one, list) for one in pair):  # noqa: PLR2004
        raise BadInput(
            f"apart has {pair!r:.60} for {column!r:.60}. Give pairs of sets of the network's values, such as "
            'apart = [[["low"], ["high"]]].'
        )
    one, other = (tuple(map(str, side)) for side in pair)
    return ValueSets(column, one, other)


def _rows(given: Mapping[str, Any], schema: Schema) -> int:
    rows = given.get("rows", schema.rows)
    if not is_whole(rows):
        raise BadInput(
            "A secret needs rows, the public number of rows. Give rows = 500, or declare it in the schema."
        )
    return int(rows)


def _secret(given: Mapping[str, Any], schema: Schema) -> ColumnSecret:
    rows = _rows(given, schema)
    for key in ("column", "apart", "epsilon", "delta"):
        if key not in given:
            raise BadInput(f"A secret has no {key}. Give it: column, apart, epsilon and delta are needed.")
    return ColumnSecret(
        str(given["column"]),
        given.get("figure", "share"),
        pairs_of(given["apart"]),
        rows,
        positive_fraction(given["epsilon"], "epsilon"),
        positive_fraction(given["delta"], "delta"),
        str(given.get("value", "")),
        given.get("reading", "worst point"),
        given.get("level", "table"),
        str(given.get("name", "")),
    )


def _linked(given: Mapping[str, Any], known: Known) -> Linked:
    known(given, ABOUT_COLUMN, "A law of a column")
    if (
        not is_text(given.get("column"))
        or "sd" not in given
        or len(given.keys() & {"difference", "slope", "means"}) != 1
    ):
        raise BadInput(
            "A law of a column needs its column, its sd, and one of difference (of means, with the value less the "
            "others), "
            "slope, or means = {inside = [...], others = [...]}."
        )
    column, sd, others = str(given["column"]), given["sd"], given.get("others_sd")
    if "means" in given:
        if not isinstance(given["means"], dict) or given["means"].keys() != {"inside", "others"}:
            raise BadInput(
                f"means = {given['means']!r:.60}. Give means = {{inside = [40, 41], others = [42, 43]}}."
            )
        return Linked.between(column, given["means"]["inside"], given["means"]["others"], sd, others)
    slope = given["difference"] if "difference" in given else given["slope"]
    return Linked(column, Span.of(slope), Span.of(sd), None if others is None else Span.of(others))


def _chances(given: Mapping[str, Any], known: Known) -> Chances:
    known(given, ABOUT_COUNT, "A law of rows with a condition")
    probability = given.get("probability")
    certain = None if probability is None else exact_numbers([probability], "probability")[0]
    if "adds" in given or "others_add" in given:
        adds, others_add = (exact_numbers(given.get(key), key) for key in ("adds", "others_add"))
        return RowChances(adds, others_add, certain)
    if "chance" not in given or "others_chance" not in given:
        raise BadInput(
            "A law of rows with a condition needs chance = 0.3 and others_chance = 0.1. Give both."
        )
    inside, others = (Span.of(given[key]) for key in ("chance", "others_chance"))
    if inside.is_point and others.is_point:
        return RowChances.counting(inside.low, others.low, certain)
    return ChanceBox(inside, others)
