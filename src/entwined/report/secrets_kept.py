"""Secrets about whole columns for people: what an observer cannot tell, and how well the best one guesses."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from entwined.bounds.attributes.guards import SecretGuard
from entwined.bounds.attributes.together import curve, observer, parity_gap, veil_from
from entwined.promise.secrets import FIRST_LINE, KeptSecrets
from entwined.queries.documents import as_written
from entwined.report import charts
from entwined.report.claims import BELIEFS, after, share
from entwined.report.drawings import Drawing
from entwined.report.words import figure, readable
from entwined.schema import Schema

EPSILONS: Final = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
FALSE_ALARMS: Final = tuple(at / 100 for at in range(101))


@dataclass(frozen=True, slots=True)
class SecretShown:
    """One secret in words, with the beliefs that it allows and the curve of the best observer."""

    title: str
    words: str
    factor: str
    delta: str
    reading: str
    not_in_table: bool
    beliefs: tuple[tuple[str, str], ...]
    parity: str
    promised_parity: str
    best: Drawing


@dataclass(frozen=True, slots=True)
class SecretsShown:
    """What a page says about secrets: first that individuals are not protected, if so."""

    first_line: str
    secrets: tuple[SecretShown, ...]


def secrets_shown(certificate: Mapping[str, Any], schema: Schema) -> SecretsShown | None:
    """Read the secrets of a certificate for people; none if it has none."""
    if "secrets" not in certificate:
        return None
    kept = KeptSecrets.from_document(certificate["secrets"])
    first = "" if kept.individuals else FIRST_LINE
    return SecretsShown(first, tuple(_shown(one, certificate["mechanism"], schema) for one in kept.guards))


def _shown(guard: SecretGuard, mechanism: Mapping[str, Any], schema: Schema) -> SecretShown:
    secret = guard.secret
    epsilon = float(secret.epsilon)
    return SecretShown(
        title=readable(secret.title),
        words=readable(secret.words, 300),
        factor=figure(math.exp(epsilon), up=True),
        delta=figure(float(secret.delta), up=True) if secret.delta else "",
        reading=secret.reading,
        not_in_table=secret.column not in schema.names,
        beliefs=tuple((f"{100 * one:.0f} %", share(after(one, epsilon))) for one in BELIEFS),
        parity=figure(100 * _gap(guard, mechanism, schema), up=True),
        promised_parity=figure(100 * parity_gap(epsilon, float(secret.delta)), up=True),
        best=_best(guard, mechanism, schema),
    )


def _best(guard: SecretGuard, mechanism: Mapping[str, Any], schema: Schema) -> Drawing:
    """Draw how often the best observer finds one of the two out, by how often it is claimed falsely."""
    right = observer(*_told(guard, mechanism, schema), FALSE_ALARMS)
    rows = [
        {"at": 100 * one, "value": 100 * found, "low": 100 * one, "high": 100 * found}
        for one, found in zip(FALSE_ALARMS, right, strict=True)
    ]
    svg = charts.line(rows, "false alarms, in percent", "found out, in percent", dated=False)
    return Drawing(
        svg,
        "How often the best observer finds out that one of the two is so, at most, by how often it is claimed when "
        "the other "
        "is so. The band begins at what guessing gives.",
    )


def _gap(guard: SecretGuard, mechanism: Mapping[str, Any], schema: Schema) -> float:
    """How much more often a decision falls for one of the two, by all that is known of the noise."""
    deltas, epsilons = _told(guard, mechanism, schema)
    return min(parity_gap(*pair) for pair in zip(epsilons, deltas, strict=True))


def _told(
    guard: SecretGuard, mechanism: Mapping[str, Any], schema: Schema
) -> tuple[list[float], Sequence[float]]:
    """The δ at some ε: those of the noise as it is, or what is promised alone where noise is chosen by what leaves."""
    if "noise" not in mechanism:
        return [float(guard.secret.delta)], [float(guard.secret.epsilon)]
    sums = [as_written(one["query"]).plain(schema) for one in mechanism["asked"]]
    noise = veil_from(mechanism["noise"])
    return curve(guard, [one for one in sums if one is not None], noise, EPSILONS), EPSILONS
