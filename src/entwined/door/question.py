"""The name of a question: what is asked of which rows under which promise."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from entwined.canonical import canonical, sha256
from entwined.promise.promise import Promise


def question_of(table: object, promise: Promise, mechanism: Mapping[str, Any]) -> str:
    """Name a question by the version of the rows, the promise and the mechanism; equal ones have equal names.

    A table that does not say which rows it has is never the same twice.
    """
    rows = str(getattr(table, "identity", "") or uuid4().hex)
    return sha256(canonical([rows, promise.identity, dict(mechanism)]))
