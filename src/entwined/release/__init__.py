"""Step 8: the one door out."""

from entwined.release.accountant import Accountant
from entwined.release.answers import Answered, Release
from entwined.release.consistent_release import make_consistent
from entwined.release.declared import Declared
from entwined.release.door import Picking, Table, release
from entwined.release.opening import open_ledger
from entwined.release.plan import Plan, plan
from entwined.release.spans import Around, Between, Ranks
from entwined.release.verification import verify

__all__ = [
    "Accountant",
    "Answered",
    "Around",
    "Between",
    "Declared",
    "Picking",
    "Plan",
    "Ranks",
    "Release",
    "Table",
    "make_consistent",
    "open_ledger",
    "plan",
    "release",
    "verify",
]
