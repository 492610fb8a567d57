"""The path that a holder takes: files in a folder, a request, a release, a certificate that is verified."""

import json
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from attack.answers import scales, write_csv
from entwined.errors import EntwinedError
from entwined.mechanisms import batch
from entwined.request.fulfil import fulfil
from entwined.request.request_file import read_request
from entwined.request.verification import verify
from entwined.schema import read_schema, write_schema


class Refusal(Exception):  # noqa: N818  (it is no error)
    """The path ended before anything was released."""

    @property
    def why(self):
        return str(self)


@dataclass(frozen=True, eq=False)
class Given:
    """What came out of a request: the certificate as a file has it, what was asked and its noise, what was read."""

    document: dict
    certificate: dict
    aggregates: tuple
    scales: np.ndarray
    exact: np.ndarray
    numbers: tuple

    @property
    def models(self):
        return self.certificate["models"]

    def claimed(self):
        """By model the largest leakage that this release is said to have."""
        return {one["name"]: one["certificate"]["leakage"] for one in self.models}

    def total(self):
        """By model what all releases so far are said to leak."""
        return {name: float(amount) for name, amount in self._total["leakage"].items()}

    def per_unit(self):
        """By model the leakage of each of its units."""
        return {one["name"]: one["certificate"]["per_unit"] for one in self.models}

    @property
    def _total(self):
        return self.certificate["total"]


@contextmanager
def refusing():
    """Turn whatever is refused into one kind of end."""
    try:
        yield
    except EntwinedError as wrong:
        raise Refusal(f"{type(wrong).__name__}: {wrong}") from wrong


def prepare(folder, schema, rows, name="table.csv"):
    """Write the private table and the approved schema."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / name, schema.names, rows)
    write_schema(schema.approve(), folder / "schema.toml")


def request_toml(queries, models, *, table="table.csv", ledger="ledger.sqlite", **more):
    """Write a request: queries and models as mappings of their keys."""
    fields = {"table": table, "schema": "schema.toml", "ledger": ledger, **more}
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    for kind, entries in (("dependence", models), ("query", queries)):
        for entry in entries:
            lines += ["", f"[[{kind}]]", *(f"{key} = {_inline(value)}" for key, value in entry.items())]
    return "\n".join(lines) + "\n"


def _inline(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value)


def released(folder, name="release.toml"):
    """Go through the door as `entwined release` does, and verify what came out as `entwined verify` does."""
    with refusing():
        request = read_request(folder / name)
        planned = request.plan()
        with spying() as read:
            done = fulfil(request, planned)
    document = json.loads(json.dumps(done.release.document()))
    certificate = document["certificate"]
    verdict = verify(certificate, read_schema(folder / "schema.toml"), folder, release=document)
    assert verdict.valid, verdict.why
    laws = {one.law for one in planned.statistics}
    assert laws == {law for answer in done.release.answers for law in answer.noise}
    return Given(
        document,
        certificate,
        planned.needs(planned.schema),
        scales(planned.statistics),
        np.concatenate(read[-1]).astype(float) if read else np.zeros(0),
        tuple(number for answer in done.release.answers for row in answer.numbers for number in row),
    )


@contextmanager
def spying():
    """Write down the exact answers that the door draws noise for."""
    seen, draw = [], batch.draw

    def spy(statistics, exact):
        seen.append([np.asarray(one) for one in exact])
        return draw(statistics, exact)

    batch.draw = spy
    try:
        yield seen
    finally:
        batch.draw = draw
