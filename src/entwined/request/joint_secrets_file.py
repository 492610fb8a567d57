"""Read a [[secret]] over several protected columns: [[secret.together]] names them, laws have a slope in each."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from entwined.bounds.attributes.joint_secrets import TOGETHER, JointGuard, JointLaw, JointSecret
from entwined.bounds.attributes.secrets import ColumnSecret, Span, pairs_of
from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.numbers import positive_fraction

ABOUT_JOINT: Final = ("name", TOGETHER, "rows", "epsilon", "delta", "law", "correlation", "covariance")
ABOUT_PART: Final = ("column", "value", "figure", "apart")
ABOUT_LAW: Final = ("column", "slopes", "sd")
Known: TypeAlias = Callable[[Mapping[str, Any], Sequence[str], str], None]
"""How keys are checked: the fields, those that are known, and what has them."""


def read_together(given: Mapping[str, Any], rows: int, known: Known) -> JointGuard:
    """Read one secret over several columns, with the laws of others given all of them."""
    known(given, ABOUT_JOINT, "A secret over several columns")
    secret = JointSecret(
        tuple(_part(one, given, rows, known) for one in listed(given, TOGETHER)), str(given.get("name", ""))
    )
    joint = given.get("covariance")
    if joint is not None:
        alone = "law" not in given and "correlation" not in given
        return JointGuard.from_covariance(secret, *read_covariance(joint if alone else None, secret.title))
    names = [one.column for one in secret.parts]
    return JointGuard(
        secret, tuple(_law(one, names, known) for one in listed(given, "law")), read_correlation(given)
    )


def _part(one: Mapping[str, Any], given: Mapping[str, Any], rows: int, known: Known) -> ColumnSecret:
    """Read one of the columns, with the ε and δ that are given once."""
    known(one, ABOUT_PART, "A column of a secret over several")
    for key, where in (("column", one), ("apart", one), ("epsilon", given), ("delta", given)):
        if key not in where:
            raise BadInput(
                f"A secret over several columns has no {key}. Give column and apart of each, and one ε and δ."
            )
    return ColumnSecret(
        str(one["column"]),
        one.get("figure", "share"),
        pairs_of(one["apart"]),
        rows,
        positive_fraction(given["epsilon"], "epsilon"),
        positive_fraction(given["delta"], "delta"),
        str(one.get("value", "")),
    )


def _law(one: Mapping[str, Any], names: Sequence[str], known: Known) -> JointLaw:
    known(one, ABOUT_LAW, "A law of a column given several")
    slopes = one.get("slopes")
    if not isinstance(slopes, dict) or slopes.keys() != set(names) or "sd" not in one or "column" not in one:
        example = ", ".join(f"{name} = [-1, 1]" for name in names)
        raise BadInput(f"A law given several columns needs column, sd and slopes = {{{example}}}. Give them.")
    return JointLaw(str(one["column"]), tuple(Span.of(slopes[name]) for name in names), Span.of(one["sd"]))


def read_correlation(given: Mapping[str, Any]) -> tuple[tuple[Fraction, ...], ...] | None:
    """Read how columns correlate in a row, exactly."""
    rows = given.get("correlation")
    if rows is None:
        return None
    if not isinstance(rows, list):
        raise BadInput(f"correlation = {rows!r:.60}. Give rows of numbers, such as [[1, 0.2], [0.2, 1]].")
    table = tuple(exact_numbers(row, "correlation") for row in rows)
    if any(len(row) != len(table) for row in table):
        raise BadInput(f"correlation = {rows!r:.60}. Give as many numbers in each row as there are rows.")
    return table


def exact_numbers(given: object, key: str) -> tuple[Fraction, ...]:
    """Read a list of numbers exactly."""
    numbers = given if isinstance(given, list) else [None]  # which is no number
    try:
        return tuple(Fraction(str(number)) for number in numbers)
    except (ValueError, ZeroDivisionError):
        raise BadInput(f"{key} = {given!r:.60}. Give a list of numbers, such as [0.1, 0.2].") from None


def read_covariance(given: object, title: str) -> tuple[Any, Any]:
    """Read the columns and the matrix of a covariance that is written out."""
    if not isinstance(given, dict) or given.keys() != {"columns", "matrix"}:
        raise BadInput(
            f"The secret {title!r:.60}: give covariance = {{columns = [...], matrix = [[...]]}}, or a file that was "
            "learned, alone, without other laws."
        )
    return given["columns"], given["matrix"]


def listed(given: Mapping[str, Any], key: str) -> list[Document]:
    """Read a list of tables."""
    found = given.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise BadInput(f"{key} is not a list of tables. Start each one with [[secret.{key}]].")
    return found
