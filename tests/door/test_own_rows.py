"""What is learned for nothing is not learned from the private rows: they are known again in any order and spelling."""

import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from entwined.dependence import (
    BayesNet,
    Forms,
    LearnedFrom,
    LearningCharge,
    Variable,
    model_from,
    read_model,
    write_model,
)
from entwined.errors import BadModel, HolderError, Refused
from entwined.learning import Codes, learn, learn_with_margin, public_codes
from entwined.learning.chains import CountedMoves
from entwined.learning.series import PublicSeries, public_series
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.promise.trusted import trusted
from entwined.queries import Histogram
from entwined.request.opening import open_ledger
from entwined.request.verbs import release
from entwined.schema import Categorical, Cells, Integer, Person, Rows, Schema, Text, write_schema
from entwined.tables import open_table
from support import engines
from support.other_rows import forget_rows
from support.warm import entwined

COLUMNS = (Categorical("mood", ("good", "bad")), Integer("age", 0, 9), Categorical("kind", ("a", "b", "c")))
SCHEMA = Schema(COLUMNS, unit=Cells(), most_rows=1000).approve()


def drawn(seed, rows=60):
    rng = random.Random(seed)
    return {
        "mood": ("text", [rng.choice(["good", "bad", None]) for _ in range(rows)]),
        "age": ("whole", [rng.choice([1, 5, 9, 12, None]) for _ in range(rows)]),
        "kind": ("text", [rng.choice("abcx") for _ in range(rows)]),
    }


def another(columns, name, at, value):
    """The same rows but for one cell."""
    kind, values = columns[name]
    return columns | {name: (kind, [*values[:at], value, *values[at + 1 :]])}


@pytest.mark.parametrize("engine", engines.LIGHT)
def test_the_same_rows_are_known_again_in_every_engine(engine, tmp_path):
    stored = drawn(1)
    told = public_codes(engines.arrow(stored), SCHEMA).origin
    assert (told.rows, told.columns, told.sizes) == (60, ("age", "kind", "mood"), (11, 4, 3))
    source, _ = engines.LIGHT[engine](stored, tmp_path)
    with open_table(source, SCHEMA) as table:
        assert table.holds(told)
    for at, changed in enumerate(
        (another(stored, "kind", 7, "b" if stored["kind"][1][7] != "b" else "a"), drawn(1, 59))
    ):
        (tmp_path / str(at)).mkdir()
        source, _ = engines.LIGHT[engine](changed, tmp_path / str(at))
        with open_table(source, SCHEMA) as table:
            assert not table.holds(told)


def test_order_spelling_and_further_columns_hide_nothing():
    stored = drawn(2)
    told = public_codes(engines.arrow(stored), SCHEMA).origin
    table = (
        engines.arrow(stored).take(np.random.default_rng(1).permutation(60)).select(["kind", "age", "mood"])
    )
    ages = pa.array([None if age is None else f" {age}.0" for age in table["age"].to_pylist()])
    moods = pa.array([mood or "who knows" for mood in table["mood"].to_pylist()])
    respelled = (
        table.set_column(1, "age", ages)
        .set_column(2, "mood", moods)
        .append_column("more", pa.array(range(60)))
    )
    with open_table(respelled, SCHEMA) as found:
        assert found.holds(told)


def test_all_rows_count_whoever_is_protected():
    stored = drawn(3) | {"who": ("text", ["ann"] * 60)}
    told = public_codes(engines.arrow(stored), SCHEMA).origin
    person = Schema((Text("who", compare="exact"), *COLUMNS), unit=Person("who", 2), neighbours="add_remove")
    assert public_codes(engines.arrow(stored), person).rows == 2
    with open_table(engines.arrow(stored), person) as table:
        assert table.holds(told)


def test_rows_that_are_exchanged_between_columns_are_others():
    """Each column alone holds the same values: only together they differ."""
    stored = drawn(4)
    told = public_codes(engines.arrow(stored), SCHEMA).origin
    moved = stored | {"kind": ("text", [*stored["kind"][1][1:], stored["kind"][1][0]])}
    with open_table(engines.arrow(moved), SCHEMA) as table:
        assert not table.holds(told)
    with open_table(
        engines.arrow(stored), Schema((replace(COLUMNS[0]), Integer("age", 0, 8), COLUMNS[2]))
    ) as table:
        assert not table.holds(told)  # another coding cannot be compared


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    pq.write_table(engines.arrow(drawn(5)), tmp_path / "private.parquet")
    engines.csv_file(drawn(5), tmp_path)
    pq.write_table(engines.arrow(drawn(6)), tmp_path / "pilot.parquet")
    return tmp_path


def test_a_model_of_the_private_rows_is_refused_before_the_charge(files):
    queries = [Histogram("mood")]
    learners = (lambda codes: learn(codes, "public"), lambda codes: learn_with_margin(codes, "public", 0.9))
    for public, fine in (("rows.csv", False), ("pilot.parquet", True)):
        for at, learner in enumerate(learners):
            write_model(learner(public_codes(files / public, SCHEMA)).model, files / "model.json")
            declared = Declared(read_model(files / "model.json"), name="pilot")
            ledger_file, private = files / f"{public}{at}.sqlite", files / f"{public}{at}.private.parquet"
            private.write_bytes((files / "private.parquet").read_bytes())
            forget_rows()  # the copy has a ledger of its own
            with (
                open_table(private, SCHEMA) as table,
                open_ledger(ledger_file, SCHEMA, cap=9, dependence=declared) as ledger,
            ):
                if fine:
                    assert release(table, queries, ledger=ledger, loss=1, dependence=declared)
                else:
                    with pytest.raises(HolderError, match="those of the private table"):
                        release(table, queries, ledger=ledger, loss=1, dependence=declared)
                assert bool(ledger.book.spent().price.nominal) == fine


def test_a_model_file_keeps_what_it_was_learned_from(files):
    model = learn(public_codes(files / "pilot.parquet", SCHEMA), "pilot.parquet").model
    told = {"table": "pilot.parquet", "rows": 60, "contents": model.learned_from.document["contents"]}
    assert model.document["learned_from"] == told
    answers = learn(
        public_codes(files / "pilot.parquet", SCHEMA).only(["mood", "kind"]), "pilot.parquet"
    ).model
    forms = Forms.of(answers, "age", [["mood", "kind"], ["kind"]])
    for one in (model, forms):
        for name in ("model.json", "model.toml"):
            write_model(one, files / name)
            assert read_model(files / name).learned_from == one.learned_from == model.learned_from
    with pytest.raises(BadModel, match=r"\.bif"):
        write_model(model, files / "model.bif")
    for wrong in ({"table": 5}, {"rows": "x"}, {"contents": []}, {"more": 1}):
        text = json.dumps(model.document | {"learned_from": told | wrong})
        (files / "wrong.json").write_text(text, encoding="utf-8")
        with pytest.raises(BadModel):
            read_model(files / "wrong.json")


def test_a_proxy_that_names_no_rows_is_vouched_for():
    variables = [Variable("mood", ("0", "1", "2"), (), [[0.2, 0.3, 0.5]])]
    bare = BayesNet.of(variables, "proxy")
    assert any("vouches" in line for line in trusted(Declared(bare), SCHEMA, "any"))
    named = learn(public_codes(engines.arrow(drawn(7)), SCHEMA), "pilot").model
    assert not any("vouches" in line for line in trusted(Declared(named), SCHEMA, "any"))
    other = Schema((COLUMNS[0], Integer("age", 0, 5), COLUMNS[2]), unit=Rows())
    assert any("vouches" in line for line in trusted(Declared(named), other, "any"))
    assert not any(
        "vouches" in line for line in trusted(Declared(replace(bare, source="declared")), SCHEMA, "any")
    )


def test_a_survey_is_not_planned_with_its_own_rows(files):
    write_schema(SCHEMA, files / "schema.toml")
    for name in ("rows.csv", "pilot.parquet"):
        plan = f"{Path(name).stem}.toml"
        assert (
            entwined(
                "survey", "propose", name, "--schema", "schema.toml", "-o", plan, folder=files
            ).returncode
            == 0
        )
        done = entwined(
            "survey",
            "request",
            plan,
            "--table",
            "private.parquet",
            "--rows",
            "60",
            "-o",
            f"r-{plan}",
            folder=files,
        )
        assert (done.returncode == 0) == (name == "pilot.parquet"), done.stderr
        assert ("those of the private table" in done.stderr) == (name == "rows.csv")


# what a model was learned from, whatever learned it -------------------------------------------


PANEL = Schema(
    (Text("who", compare="exact"), Integer("month", 1, 6), Categorical("state", ("well", "ill"))),
    most_rows=1000,
).approve()


def panel(seed=1, people=40):
    rng = random.Random(seed)
    months = [(f"p{who}", month) for who in range(people) for month in range(1, 7)]
    return {
        "who": ("text", [who for who, _ in months]),
        "month": ("whole", [month for _, month in months]),
        "state": ("text", [rng.choice(["well", "well", "ill"]) for _ in months]),
    }


def written_otherwise(columns):
    """The same rows in another order, their columns too, with numbers as text of another spelling."""
    table = engines.arrow(columns)
    table = table.take(np.random.default_rng(3).permutation(len(table))).select([*columns][::-1])
    months = pa.array([f"0{month}.0" for month in table["month"].to_pylist()])
    return table.set_column(table.column_names.index("month"), "month", months)


@pytest.mark.parametrize("margin", [False, True], ids=["smoothed", "intervals"])
@pytest.mark.parametrize("form", ["same file", "another order and spelling", "parquet", "other rows"])
def test_a_chain_of_the_private_rows_is_refused_before_the_charge(tmp_path, form, margin):
    public, _ = engines.csv_file(panel(), tmp_path)
    moves = CountedMoves.of(public_series(public, PANEL, state="state", order="month", by="who"), "rows.csv")
    learned = moves.with_margin(6, "0.9") if margin else moves.smoothed(6)
    write_model(learned.model, tmp_path / "chain.json")
    chain = Declared(read_model(tmp_path / "chain.json"), by="who", order="month", columns=("state",))
    source = {
        "same file": public,
        "another order and spelling": written_otherwise(panel()),
        "parquet": tmp_path / "rows.parquet",
        "other rows": engines.arrow(panel(2)),
    }[form]
    pq.write_table(engines.arrow(panel()), tmp_path / "rows.parquet")
    with (
        open_table(source, PANEL) as table,
        open_ledger(tmp_path / "ledger.sqlite", PANEL, cap=9, dependence=chain) as ledger,
    ):
        if form == "other rows":
            assert release(table, Histogram("state"), ledger=ledger, loss=1, dependence=chain)
            return
        with pytest.raises(HolderError, match="those of the private table"):
            release(table, Histogram("state"), ledger=ledger, loss=1, dependence=chain)
        assert ledger.spent().parts == ()


def test_every_learner_says_what_its_model_was_learned_from(tmp_path):
    """From a table, from a part of one, and from codes or series that never were in one."""
    codes = public_codes(engines.arrow(drawn(8)), SCHEMA)
    bare = Codes.of(dict(zip(codes.names, codes.sizes, strict=True)), codes.values)
    half = codes.some(np.arange(codes.rows) % 2 == 0)
    for rows in (codes, bare, half, codes.only(codes.names)):
        for found in (learn(rows, "t"), learn_with_margin(rows, "t", "0.9")):
            assert found.model.learned_from == replace(codes.origin, table="t"), "a part stands for the whole"
            assert found.model.source == "proxy"
    assert learn(codes, "t", planning_only=True).model.source == "exploratory"
    moves = CountedMoves.of(PublicSeries.of([(0, 0, 1), (0, 1, 0), (0, 2, 1)], 2), "t")
    assert moves.smoothed(3).model.learned_from.rows == 3
    endless = model_from({**moves.smoothed(3).model.document, "kind": "markov_chain"}, tmp_path)
    assert endless.learned_from == moves.smoothed(3).model.learned_from


def test_a_model_learned_with_a_budget_needs_its_charge(tmp_path):
    law = learn(public_codes(engines.arrow(drawn(8)), SCHEMA), "t").model
    bare = replace(law, source="learned", learned_from=None)
    with pytest.raises(Refused, match="does not name its charge"):
        Declared(bare).check(SCHEMA)
    with open_ledger(tmp_path / "ledger.sqlite", SCHEMA, cap=99) as ledger:
        own, head = ledger.id, ledger.head().receipt
        for at, (named, receipt, fine) in enumerate(
            ((own, head, True), (own, "7:" + 16 * "0", False), (own, "x", False), ("another", "x", True))
        ):
            charge = LearningCharge(named, receipt)
            write_model(replace(bare, learned_from=LearnedFrom("t", charge=charge)), tmp_path / "model.json")
            declared = Declared(read_model(tmp_path / "model.json"), name=f"mine {at}")
            book = ledger.migrate(Promise.of(SCHEMA, [declared]), Fraction(99))
            before = book.spent().parts
            with open_table(engines.arrow(drawn(9)), SCHEMA) as table:
                if fine:
                    assert release(table, Histogram("kind"), ledger=book, loss=1, dependence=declared)
                    continue
                with pytest.raises(Refused, match=r"no entry .* Nothing was charged"):
                    release(table, Histogram("age"), ledger=book, loss=1, dependence=declared)
                assert book.spent().parts == before


@pytest.mark.parametrize("contents", [{}, {"charge": {"ledger": "x"}}, {"rows": 3}, {"contents": {}}])
def test_an_origin_that_names_neither_rows_nor_a_charge_is_refused(contents):
    with pytest.raises(BadModel):
        model_from(
            {"kind": "markov_chain", "length": 3, "transition": [[0.5, 0.5]] * 2, "source": "learned"}
            | {"learned_from": {"table": "t"} | contents},
            Path(),
        )
    with pytest.raises(BadModel, match="either the fingerprint"):
        LearnedFrom("t")
