"""Certificates held against each other and against the ledger: whether they tell of one history.

A certificate names its ledger, the entry that the ledger had come to, and everything charged up to there. Losses
only grow, and an entry has one hash: a second budget, a ledger put back, and a total that was talked down all
make two certificates contradict each other.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from entwined.bounds import Verdict
from entwined.canonical import Document
from entwined.ledger import Book
from entwined.promise.part import Part
from entwined.promise.places import key_of, place_of
from entwined.promise.totals import Totals
from entwined.queries import everything
from entwined.request.rebuilding import is_charge_of
from entwined.schema.schema import digest_of

PROMISED: Final = ("schema", "knowledge", "delta", "measure", "secrets", "reserve")
"""What a certificate says of its promise beside the models, as a ledger says it."""


def one_history(certificates: Sequence[Mapping[str, Any]]) -> Verdict:
    """Say whether certificates, each of them valid, can belong to one history."""
    ids = sorted({one["ledger"]["id"] for one in certificates})
    if len(ids) > 1:
        named = ", ".join(f"{name[:8]}…" for name in ids[:5])
        return Verdict(
            valid=False,
            why=f"They are from {len(ids)} ledgers ({named}). If they are of one table, it has had a budget in "
            "each, and no total here holds for all of them.",
        )
    ordered = sorted(certificates, key=lambda one: int(one["ledger"]["position"]))
    for before, after in pairwise(ordered):
        wrong = _contradiction(before, after)
        if wrong:
            return Verdict(valid=False, why=wrong)
    ends = ", ".join(str(one["ledger"]["position"]) for one in ordered)
    return Verdict(
        valid=True,
        why=f"They can belong to one history, as the ledger {ids[0][:8]}… had it at its entries {ends}; the "
        "total of the last one holds for all of them.",
    )


def _contradiction(before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """Say how two certificates of one ledger contradict each other, if they do."""
    first, second = before["ledger"], after["ledger"]
    if first["position"] == second["position"]:
        same = all(before[part] == after[part] for part in ("ledger", "losses_so_far", "total", "schema"))
        at = f"entry {first['position']}"
        return None if same else f"Of {at} of the ledger they say different things: these are two histories."
    if first["hash"] == second["hash"] or not _never_less(before, after):
        at = f"the entries {first['position']} and {second['position']}"
        return f"Between {at} of the ledger a loss became smaller, which none does: these are two histories."
    return None


def _never_less(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether no loss became smaller; under other terms a condition may have been given up for all rows."""
    was, now = _parts(before), _parts(after)
    given_up: defaultdict[str, Fraction] = defaultdict(Fraction)
    for key, part in was.items():
        later = now.get(key)
        if later is None or later.one < part.one or later.both < part.both:
            place = place_of(key)
            whole = key_of(everything(), place.column or None, place.together, place.filling)
            given_up[whole] += max(part.one, part.both)
    if given_up and _terms(before) == _terms(after):
        return False
    for key, least in given_up.items():
        first, last = was.get(key), now.get(key)
        one, both = (first.one, first.both) if first else (Fraction(0), Fraction(0))
        if last is None or last.one < one + least or last.both < both + least:
            return False
    return True


def _terms(certificate: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Name the schema and the models of a certificate."""
    return certificate["schema"], [one["declared"] for one in certificate["models"]]


def _parts(certificate: Mapping[str, Any]) -> dict[str, Part]:
    return {row[0]: Part.from_row(tuple(row)) for row in certificate["losses_so_far"]}


def wrong_in_ledger(certificate: Mapping[str, Any], book: Book) -> str | None:
    """Say how a certificate is not what the ledger at hand says, if so; the whole chain is walked."""
    named, totals = certificate["ledger"], Totals.of(map(tuple, certificate["losses_so_far"])).digest
    if book.first().fields["ledger"] != named["id"]:
        return "It is from another ledger than this one."
    cap, since, charged = "", 0, False
    for entry in book.history():
        if "cap" in entry.fields:  # the first entry and migrations set it, with the promise
            cap, since = entry.fields["cap"], entry.position
        charged = charged or is_charge_of(certificate, entry)
        if entry.position == named["position"]:
            right = entry.hash == named["hash"] and entry.fields["totals"] == totals
            if not (right and cap == certificate["total"]["cap"]):
                return f"Entry {entry.position} of the ledger says something else."
            if _promise_in(certificate) != _promise_of(book.promised(since)):
                return "The ledger was kept under another promise than it says."
            return None if charged else "The ledger has no charge for what it says was asked."
    return f"The ledger has no entry {named['position']}: it is an old copy, or the certificate is forged."


def _promise_in(certificate: Mapping[str, Any]) -> Document:
    """The promise that a certificate is made under, its schema by the digest."""
    said = {key: certificate[key] for key in PROMISED if key in certificate}
    return said | {"models": [one["declared"] for one in certificate["models"]]}


def _promise_of(terms: Mapping[str, Any]) -> Document:
    """The promise of a ledger in the same words."""
    return {**terms, "schema": digest_of(terms["schema"])}
