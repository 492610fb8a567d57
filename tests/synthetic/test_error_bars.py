"""What may be published about a synthetic table: from the noise alone, and right by simulation."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from entwined.cli.app import app
from entwined.errors import BadInput
from entwined.noise import DiscreteLaplace
from entwined.report.public_word_page import public_word_page
from entwined.synthetic.error_bars import public_word, read_description
from support.source import MODULES, imports
from support.two_tables import noisy_table, word_of

NAMES = ["sex", "work", "age", "town"]


def test_a_table_is_as_good_as_a_sample_that_is_as_far_off():
    """The mean square error of the noise is that of so many people drawn by chance."""
    law, rows = np.array([0.5, 0.3, 0.15, 0.05]), 10_000
    noise = DiscreteLaplace(40)
    rng = np.random.default_rng(0)
    noisy = [noise.add((law * rows).astype(np.int64)) for _ in range(400)]
    (bar,) = public_word(["a"], [noisy_table(["a"], (law * rows).astype(int).tolist(), 40)]).bars
    far = np.mean([((one - law * rows) ** 2).sum() for one in noisy])
    drawn = rng.multinomial(round(bar.sample), law, 400) * rows / round(bar.sample)
    assert ((drawn - law * rows) ** 2).sum(axis=1).mean() == pytest.approx(far, rel=0.25)
    misplaced = np.mean([np.abs(one - law * rows).sum() / 2 / rows for one in noisy])
    assert misplaced <= bar.misplaced < 1.3 * misplaced
    inside = np.mean([np.abs(one - law * rows) <= bar.half_width for one in noisy])
    assert inside >= 0.93


def test_noise_in_the_counts_does_not_flatter_the_sample():
    """Squares of noisy counts are too large by the noise; that is taken out."""
    truth = np.full(400, 5)
    noise = DiscreteLaplace(20)
    said = [
        public_word(["a"], [noisy_table(["a"], noise.add(truth).tolist(), 20)]).bars[0] for _ in range(20)
    ]
    exact = 2000**2 * (1 - 1 / 400) / (400 * float(noise.variance))
    assert np.median([one.sample for one in said]) == pytest.approx(exact, rel=0.35)


def test_relations_are_those_of_some_table():
    word = word_of(NAMES)
    assert word.rows == pytest.approx(100)
    assert word.measured == (("sex", "work"),)
    assert len(word.unmeasured) == 5
    assert word.alone == ("town",)
    assert word.bars[0].columns == ("sex", "work")
    assert public_word(["a"], [noisy_table(["a"], [100, 0], "0.01")]).bars[0].sample is None
    json.dumps(word.document, allow_nan=False)


def test_the_page_says_what_was_measured_and_what_not():
    page = public_word_page(word_of(NAMES))
    assert "Not causal" in page
    assert "Counted in no table: <bdi>town</bdi>" in page
    assert "HOLDER" not in page


def test_nothing_public_is_made_near_rows():
    """No module of the public page imports what reads rows, however far down."""
    todo, seen = ["entwined.report.public_word_page"], set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += [one for one in imports(MODULES[name]) if "synthetic" in one or "learning" in one]
    assert not {"entwined.synthetic.holders_rows", "entwined.synthetic.inspection"} & seen


@pytest.mark.parametrize(
    "document",
    [
        "[",
        "{}",
        '{"columns": [], "tables": []}',
        '{"columns": ["a"], "tables": [{"columns": ["a"], "counts": []}]}',
    ],
)
def test_a_file_that_describes_nothing_is_refused(tmp_path, document):
    (tmp_path / "description.json").write_text(document)
    with pytest.raises(BadInput, match="no tables of noisy counts"):
        read_description(tmp_path / "description.json")


def test_the_command_writes_a_page_that_may_be_published(tmp_path):
    tables = [noisy_table(["sex"], [40, 60], 3)]
    (tmp_path / "description.json").write_text(json.dumps({"columns": NAMES, "tables": tables}))
    words = ["inspect", str(tmp_path), "-o", str(tmp_path / "page.html")]
    done = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["columns_not_measured"] == NAMES[1:]
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["description.json", "page.html"]
    with pytest.raises(BadInput, match="without a description"):
        CliRunner().invoke(app, ["inspect", "rows.csv", "-o", "page.html"], catch_exceptions=False)
    with pytest.raises(BadInput, match="need the real rows"):
        CliRunner().invoke(app, [*words, "--target", "sex"], catch_exceptions=False)
    with pytest.raises(BadInput, match="Give it with --schema"):
        CliRunner().invoke(app, [*words, "--table", "rows.csv"], catch_exceptions=False)
