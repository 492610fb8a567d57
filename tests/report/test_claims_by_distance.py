"""Promises about values by their distance, in words for who is in the table."""

from fractions import Fraction

from entwined.dependence import Groups
from entwined.dependence.families import equal_correlation
from entwined.ledger import Ledger
from entwined.promise.declared import Declared
from entwined.promise.promise import promise_of
from entwined.queries import Mean
from entwined.report.claims import Claims, model_words
from entwined.request.verbs import release
from entwined.schema import Integer, Schema, Text
from support.memory_table import MemoryTable


def test_a_promise_by_distance_says_so_to_who_is_in_the_table(tmp_path):
    """Which values, how many of a family count, and an adversary who knows other values exactly or not at all."""
    columns = Text("family", compare="exact"), Integer("height", 140, 200)
    schema = Schema(columns, rows=6).approve()
    kin = {"by": "family", "columns": ("height",), "missing_says_nothing": ("height",)}
    rows = [{"family": f"f{n // 3}", "height": 160 + n} for n in range(6)]
    for models, secret in (
        ([Declared(equal_correlation(3, 0.5), **kin)], "any two values between 140 and 200"),
        ([Declared(equal_correlation(3, 0.5), **kin), Groups(3)], "what the row about you says"),
    ):
        with Ledger.create(
            tmp_path / secret[:8], Fraction(1), promise_of(schema, models), tmp_path / secret[:9]
        ) as ledger:
            found = release(
                MemoryTable(schema, rows), Mean("height"), leakage=1, dependence=models, ledger=ledger
            )
        claims = Claims(found.certificate)
        assert secret in claims.secret
        assert "each exactly or not at all" in claims.adversary
        assert claims.counted_rows[0].startswith(
            "Rows that share a value of 'family' count for at most 3 rows;"
        )
        assert "height of groups of at most 3" in model_words(claims.models[0]["declared"])
