"""Populations of respondents whose answers depend on each other; each answer is a unit.

The hidden respondent is one row of a few. What is asked about anybody else only shifts the answers.
"""

import itertools
import json
from dataclasses import dataclass, replace

import numpy as np

from attack.adversary import Hidden, Seen, leakages
from attack.answers import contribution, write_csv
from attack.laws import Net, counted, drawn_net, fitted, net_from
from attack.path import Refusal, prepare, refusing, released, request_toml
from attack.tally import Result, worst
from entwined.cli import survey as survey_command
from entwined.cli.arguments import Knowledge
from entwined.dependence import write_model
from entwined.learning import learn, public_codes
from entwined.schema import Categorical, Cells, Schema, read_schema

PILOT = 400
SMOOTHING = 1.0
LOST = 0.3  # how often an answer is missing that says nothing by that
BLANK = "not asked"


@dataclass(frozen=True, eq=False)
class Design:
    """A questionnaire: how many values each question has, what becomes of missing answers, and what is beside.

    `recoded` names a question that another column tells more coarsely; `form` says which questions only those with
    form A are asked. Of `silent` questions it is trusted that it says nothing if an answer is missing, and it is true.
    """

    law: Net
    missing: tuple
    recoded: str = ""
    form: tuple = ()
    public: bool = False
    silent: tuple = ()

    @property
    def levels(self):
        return [size - 1 for size in self.law.sizes]

    def schema(self, rows):
        columns = []
        for name, levels, missing in zip(self.law.names, self.levels, self.missing, strict=True):
            values = tuple(map(str, range(levels)))
            columns.append(
                Categorical(name, (*values, BLANK) if name in self.form else values, missing=missing)
            )
        if self.recoded:
            columns.append(
                Categorical(
                    "short", ("low", "high"), missing=self.missing[self.law.names.index(self.recoded)]
                )
            )
        if self.form:
            columns.append(Categorical("form", ("A", "B")))
        return Schema(tuple(columns), unit=Cells(), rows=rows, most_rows=rows)

    def row(self, codes, form="A"):
        """Write the answers of a respondent down, as the file has them."""
        row = {
            name: BLANK if name in self.form and form == "B" else "" if code == levels else str(code)
            for name, code, levels in zip(self.law.names, codes, self.levels, strict=True)
        }
        if self.recoded:
            code = codes[self.law.names.index(self.recoded)]
            top = self.levels[self.law.names.index(self.recoded)]
            unasked = self.recoded in self.form and form == "B"
            row["short"] = "high" if unasked else "" if code == top else "low" if code == 0 else "high"
        return {**row, "form": form} if self.form else row


def design(rng, *, surveys=False):
    """Draw a questionnaire."""
    count = int(rng.integers(2, 5)) if not surveys else int(rng.integers(3, 5))
    levels = [int(rng.integers(2, 4)) for _ in range(count)]
    may_miss = rng.random(count) < 0.4
    names = [f"q{at}" for at in range(count)]
    law = drawn_net(rng, names, levels, may_miss)
    missing = tuple(str(one) for one in rng.choice(["value", "drop"], count))
    wide = [name for name, level in zip(names, levels, strict=True) if level > 2]
    recoded = str(rng.choice(wide)) if wide and rng.random() < 0.6 else ""
    form = ()
    if surveys and rng.random() < 0.5:
        form = tuple(name for name in names if name != recoded)[:2]
        law = unmissed(law, form)
    return Design(law, missing, recoded, form, public=bool(form) and bool(rng.random() < 0.4))


def unmissed(law, names):
    """The same law with nothing missing in some columns and in what they depend on."""
    tables = []
    for name, table in zip(law.names, law.tables, strict=True):
        clean = np.array(table)
        if name in names:
            clean[:, -1] = 0
            clean += np.where(clean.sum(axis=1, keepdims=True) == 0, 1.0, 0.0) * (
                np.arange(clean.shape[1]) == 0
            )
        tables.append(clean / clean.sum(axis=1, keepdims=True))
    return replace(law, tables=tuple(tables))


def table_rows(rng, drawn, rows):
    joint = drawn.law.joint()
    cells = list(itertools.product(*(range(size) for size in joint.shape)))
    chosen = rng.choice(len(cells), rows, p=joint.ravel() / joint.sum())
    return [drawn.row(cells[one], "AB"[int(rng.integers(2))]) for one in chosen]


def pilot_rows(drawn):
    """A public table of the same law; forms in turn, so that they say nothing."""
    rows = []
    for cell in counted(drawn.law.joint(), PILOT // 2 if drawn.form else PILOT):
        rows += [drawn.row(cell, form) for form in ("AB" if drawn.form else "A")]
    return rows


def queries(rng, names):
    """Draw questions: a histogram of each column, at times one of two together or a count instead."""
    asked = [{"kind": "histogram", "column": name} for name in names]
    kind = rng.random()
    if kind < 0.2:
        pair = [str(one) for one in rng.choice(names, 2, replace=False)]
        asked[0] = {"kind": "marginal", "of": pair}
    elif kind < 0.4:
        pair = [str(one) for one in rng.choice([name for name in names if name != "short"], 2, replace=False)]
        asked[0] = {"kind": "count", "where": f"{pair[0]} = '0' or {pair[1]} = '1'"}
    elif kind < 0.5:
        asked = asked[1:]
    return asked


def terms(rng):
    return {
        "leakage": float(rng.choice([0.5, 1.0, 2.0, 4.0, 50.0], p=[0.2, 0.4, 0.2, 0.15, 0.05])),
        "knowledge": str(rng.choice(["any", "any", "any", "model"])),
    }


def hidden_respondent(schema, drawn, law):
    """Everything that one respondent may have answered: worlds of rows, and each cell of the row as a unit."""
    worlds, weights = [], []
    joint = law.joint()
    places = [drawn.law.names.index(name) for name in drawn.silent]
    for cell in itertools.product(*(range(size) for size in joint.shape)):
        for lost in itertools.product((False, True), repeat=len(places)) if joint[cell] > 0 else ():
            shown = list(cell)
            for place, is_lost in zip(places, lost, strict=True):
                shown[place] = drawn.levels[place] if is_lost else shown[place]
            worlds.append(drawn.row(shown))
            weights.append(joint[cell] * np.prod([LOST if one else 1 - LOST for one in lost]))
    codes = [{column.name: column.encode(row[column.name]) for column in schema.columns} for row in worlds]
    units = {name: np.array([row[name] for row in codes]) for name in schema.names}
    return codes, Hidden(np.array(weights), units, schema.names)


def seen_of(given, codes):
    known = {}
    rows = []
    for row in codes:
        key = tuple(row.values())
        if key not in known:
            known[key] = contribution(given.aggregates, row)
        rows.append(known[key])
    return Seen(np.array(rows), given.scales)


def check_engine(given, schema, rows):
    """What the door read is what plain arithmetic gives."""
    codes = [{column.name: column.encode(row[column.name]) for column in schema.columns} for row in rows]
    assert np.array_equal(given.exact, sum(contribution(given.aggregates, row) for row in codes))


def declared(rng, folder):
    """A model that the holder wrote down; at times two, one of which is about another population."""
    drawn = design(rng)
    if rng.random() < 0.25:
        drawn = silenced(rng, drawn)
    laws = {"first": drawn.law}
    if not drawn.silent and rng.random() < 0.25:
        other = drawn_net(rng, drawn.law.names, drawn.levels, [True] * len(drawn.levels))
        laws["second"] = other
    return declared_of(rng, folder, drawn, laws, terms(rng), queries(rng, drawn.law.names))


def silenced(rng, drawn, missing=None):
    """The same questions, some of which are answered by all, but not all answers were written down."""
    may = [name for name, kept in zip(drawn.law.names, drawn.missing, strict=True) if missing in (None, kept)]
    names = tuple(name for name in may if rng.random() < 0.6) or tuple(may[:1])
    return replace(drawn, law=unmissed(drawn.law, names), silent=names)


def without_missing(law, names):
    """The law over the values alone of some answers."""
    tables, cut = [], [size - (name in names) for name, size in zip(law.names, law.sizes, strict=True)]
    for at, table in enumerate(law.tables):
        scope = (*law.parents[at], at)
        inner = np.asarray(table).reshape([law.sizes[one] for one in scope])
        inner = inner[tuple(slice(cut[one]) for one in scope)].reshape(-1, cut[at])
        total = inner.sum(axis=1, keepdims=True)
        tables.append(np.where(total > 0, inner / np.where(total > 0, total, 1.0), 1 / cut[at]))
    return replace(law, sizes=tuple(cut), tables=tuple(tables))


def declared_of(rng, folder, drawn, laws, said, asked=None, written=None, then=None):
    """Release by models as they are written down, and judge each by its own law."""
    schema, rows = drawn.schema(4), table_rows(rng, drawn, 4)
    prepare(folder, schema, rows)
    for name, law in (written or laws).items():
        model = without_missing(law, drawn.silent)
        field = model.field if rng.random() < 0.2 else None
        (folder / f"{name}.json").write_text(json.dumps(field or model.document))
    silent = {"missing_says_nothing": list(drawn.silent)} if drawn.silent else {}
    models = [{"name": name, "model": f"{name}.json", **silent} for name in laws]
    asked = asked or [{"kind": "histogram", "column": name} for name in drawn.law.names]
    (folder / "release.toml").write_text(request_toml(asked, models, cap=1000, **said))
    kind = (
        "several models" if len(laws) > 1 else "missing says nothing" if drawn.silent else "cells, declared"
    )
    try:
        given = released(folder)
    except Refusal as refusal:
        return Result(kind, refused=refusal.why)
    check_engine(given, schema, rows)
    if then:
        then(given)
    return [judged_by(kind, rng, schema, drawn, given, said, name, law) for name, law in laws.items()]


def judged_by(kind, rng, schema, drawn, given, said, name, law):
    """Compare what is claimed of each column under one model with the truth under its law."""
    codes, hidden = hidden_respondent(schema, drawn, law)
    truth = leakages(hidden, seen_of(given, codes), said["knowledge"], rng)
    own = dict(zip(law.names, given.per_unit()[name], strict=True))
    pairs = [(own.get(unit, given.claimed()[name]), found) for unit, found in truth.items()]
    return worst(kind, pairs, f"{said} {drawn.missing}")


def learned(rng, folder):
    """A model learned from a public pilot with `entwined learn`."""
    drawn = design(rng)
    asked = queries(rng, [*drawn.law.names, *(["short"] if drawn.recoded and rng.random() < 0.5 else [])])
    return learned_of(rng, folder, drawn, terms(rng), asked, parents=int(rng.integers(1, 3)))


def learned_of(rng, folder, drawn, said, asked, parents=1):
    """Learn, release and judge."""
    schema, rows = drawn.schema(4), table_rows(rng, drawn, 4)
    prepare(folder, schema, rows)
    pilot = pilot_rows(drawn)
    write_csv(folder / "pilot.csv", schema.names, pilot)
    models = [{"name": "tree", "model": "tree.json"}]
    (folder / "release.toml").write_text(request_toml(asked, models, cap=1000, **said))
    try:
        with refusing():
            codes = public_codes(folder / "pilot.csv", read_schema(folder / "schema.toml"))
            found = learn(codes, "pilot.csv", parents=parents, smoothing=SMOOTHING)
            write_model(found.model, folder / "tree.json")
        given = released(folder)
    except Refusal as refusal:
        return Result("cells, learned", refused=refusal.why)
    check_engine(given, schema, rows)
    return judged("cells, learned", rng, schema, drawn, given, pilot, said)


def judged(kind, rng, schema, drawn, given, pilot, said):
    """Compare what is claimed of each column with the truth."""
    if "answers" not in given.models[0]["declared"]["model"]:  # no form was confirmed: a blank is an answer
        drawn = replace(drawn, form=(), public=False)
    drawn = replace(drawn, silent=tuple(given.models[0]["declared"].get("missing_says_nothing", ())))
    net = truth_of(schema, drawn, given, pilot)
    codes, hidden = hidden_answers(schema, drawn, net)
    truth = leakages(hidden, seen_of(given, codes), said["knowledge"], rng)
    (model,) = given.models
    top, document = model["certificate"]["leakage"], model["declared"]["model"]
    names = [one["name"] for one in document.get("answers", document)["variables"]]
    names += [document["form"]] if "form" in document else []
    own = dict(zip(names, model["certificate"]["per_unit"], strict=True))
    pairs = [(own.get(unit, top), found) for unit, found in truth.items()]
    return worst(kind, pairs, f"{said} {drawn.missing} {drawn.form}")


def truth_of(schema, drawn, given, pilot):
    """The law that the certificate is about: the model, if it has all codes of its columns, else that of the pilot."""
    declared = given.models[0]["declared"]
    document = declared["model"]
    net = net_from(document.get("answers", document))
    sizes = tuple(schema.coded(name).size - (name in drawn.form) for name in net.names)
    if drawn.silent:
        return net
    if sizes != net.sizes:
        return drawn.law
    full = fitted(net.names, sizes, net.parents, pilot_codes(schema, drawn, net.names, pilot), SMOOTHING)
    assert all(map(np.allclose, full.tables, net.tables))
    return net


def pilot_codes(schema, drawn, names, pilot):
    """The codes of a pilot; a blank is no answer, and codes above it move down."""
    codes = np.array([[schema.coded(name).encode(row[name]) for name in names] for row in pilot])
    for at, name in enumerate(names):
        if name in drawn.form:
            blank = schema.coded(name).values.index(BLANK)
            codes[:, at] = np.where(codes[:, at] == blank, -1, codes[:, at] - (codes[:, at] > blank))
    return codes


def surveyed(rng, folder):
    """All questions of a survey, planned with a pilot and what the holder confirmed of its design."""
    drawn = design(rng, surveys=True)
    return survey_of(rng, folder, silenced(rng, drawn, "drop") if rng.random() < 0.3 else drawn, terms(rng))


def survey_of(rng, folder, drawn, said):
    """Propose, confirm, ask, release and judge."""
    schema, rows = drawn.schema(4), table_rows(rng, drawn, 4)
    prepare(folder, schema, rows)
    pilot = pilot_rows(drawn)
    write_csv(folder / "pilot.csv", schema.names, pilot)
    kind = "survey in forms" if drawn.form else "survey"
    try:
        with refusing():
            survey_command.propose(
                folder / "pilot.csv", folder / "schema.toml", folder / "survey.toml", as_document=True
            )
            confirm(folder / "survey.toml", drawn)
            survey_command.request(
                folder / "survey.toml", folder / "release.toml", "table.csv", rows=4, leakage=said["leakage"],
                cap=1000.0, ledger="ledger.sqlite", knowledge=Knowledge(said["knowledge"]), as_document=True,
            )  # fmt: skip
        given = released(folder)
    except Refusal as refusal:
        return Result(kind, refused=refusal.why)
    check_engine(given, schema, rows)
    return judged(kind, rng, schema, drawn, given, pilot, said)


def confirm(path, drawn):
    """Confirm what holds by design: the recoding, and the form that was drawn at random."""
    said = []
    for block in path.read_text().split("\n\n"):
        of_form = "[[form]]" in block and 'column = "form"' in block and drawn.form
        of_short = (
            "[[decided]]" in block and 'column = "short"' in block and f'by = "{drawn.recoded}"' in block
        )
        silent = "[[missing]]" in block and any(f'column = "{name}"' in block for name in drawn.silent)
        yes = of_form or of_short or silent
        said.append(block.replace("confirmed = false", "confirmed = true") if yes else block)
        if of_form and drawn.public:
            said[-1] = said[-1].replace("public = false", "public = true")
    path.write_text("\n\n".join(said))


def hidden_answers(schema, drawn, net):
    """Everything a respondent may have answered and been asked, with the recoded column beside it."""
    joint = net.joint()
    codes, weights = [], []
    forms = (0, 1) if drawn.form else (0,)
    chances = (1 - LOST, LOST)
    for cell in itertools.product(*(range(size) for size in joint.shape)):
        for form, *lost in itertools.product(forms, *[(0, 1)] * len(drawn.silent)):
            gone = {name for name, is_lost in zip(drawn.silent, lost, strict=True) if is_lost}
            codes.append(_shown(schema, drawn, dict(zip(net.names, cell, strict=True)), form, gone))
            weights.append(joint[cell] / len(forms) * np.prod([chances[one] for one in lost]))
    units = {name: np.array([row[name] for row in codes]) for name in codes[0]}
    public = ("form",) if drawn.public and drawn.form else ()
    blanks = {name: schema.coded(name).values.index(BLANK) for name in drawn.form}
    secrets = tuple(name for name in units if name not in public)
    return codes, Hidden(np.array(weights), units, secrets, public, blanks)


def _shown(schema, drawn, answers, form, gone):
    """The codes of the row in which these answers are written down, some of them gone."""
    row = {}
    for name, code in answers.items():
        column = schema.coded(name)
        row[name] = column.missing_code if name in gone else code
        if name in drawn.form:
            blank = column.values.index(BLANK)
            row[name] = blank if form else row[name] if name in gone else code + (code >= blank)
    if drawn.recoded in row and "short" not in row:
        missing = row[drawn.recoded] == schema.coded(drawn.recoded).missing_code
        row["short"] = schema.coded("short").missing_code if missing else int(row[drawn.recoded] > 0)
    return {**row, "form": form} if drawn.form and "form" not in row else row
