"""Certificates held against each other and against the ledger: whether they tell of one history.

A certificate names its ledger, the entry that the ledger had come to, and everything charged up to there. Losses
only grow, and an entry has one hash: a second budget, a ledger put back, and a total that was talked down all
make two certificates contradict each other.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from entwined.bounds import Verdict
from entwined.ledger import Book, Part
from entwined.ledger.canonical import canonical, sha256


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
    at = f"entry {first['position']}"
    if first["position"] != second["position"]:
        at = f"the entries {first['position']} and {second['position']}"
    elif first["hash"] != second["hash"] or before["losses_so_far"] != after["losses_so_far"]:
        return f"Of {at} of the ledger they say different things: these are two histories."
    if before["total"]["cap"] != after["total"]["cap"]:
        return f"At {at} of the ledger they state different caps: these are two histories."
    so_far = {row[0]: Part.from_row(tuple(row)) for row in after["losses_so_far"]}
    for row in before["losses_so_far"]:
        part, later = Part.from_row(tuple(row)), so_far.get(row[0])
        if later is None or later.one < part.one or later.both < part.both:
            return (
                f"Between {at} of the ledger a loss became smaller, which none does: these are two histories."
            )
    return None


def wrong_in_ledger(certificate: Mapping[str, Any], book: Book) -> str | None:
    """Say how a certificate is not what the ledger at hand says, if so; the whole chain is walked."""
    named, totals = certificate["ledger"], sha256(canonical(certificate["losses_so_far"]))
    first = book.first().fields
    if first["ledger"] != named["id"] or first["cap"] != certificate["total"]["cap"]:
        return "It is from another ledger than this one, or states another cap."
    for entry in book.history():
        if entry.position == named["position"]:
            right = entry.hash == named["hash"] and entry.fields["totals"] == totals
            return None if right else f"Entry {entry.position} of the ledger says something else."
    return f"The ledger has no entry {named['position']}: it is an old copy, or the certificate is forged."
