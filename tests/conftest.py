"""Tests find nothing that others left, hypothesis tries as much as there is time for, and no processor is wasted."""

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # matrices are small here, and threads wait by spinning
pytest.register_assert_rewrite("support")
from support.other_rows import forget_rows  # noqa: E402  (what is imported before it is registered is not rewritten)

settings.register_profile(
    "every commit", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("every commit")

LONGEST = (  # a file stays in one process and shares its fixtures; those that take long are begun first
    "tables/test_spark.py", "bounds/test_bounds.py", "tables/test_engines.py", "corpus/test_corpus.py", "attack/test_attack.py", "bounds/test_tilted.py",
    "corpus/test_processes.py", "ledger/test_processes.py", "corpus/test_rows.py", "audit/test_door.py", "bounds/test_transport.py", "queries/test_sql.py",
    "door/test_forged_certificates.py", "bounds/test_numerics.py", "noise/test_law.py", "report/test_browser.py", "web/test_pages.py", "web/test_fuzzing.py", "bounds/test_oracle.py", "bounds/test_quilt.py",
    "cli/test_commands.py", "tables/test_sources.py", "survey/test_survey.py", "survey/test_noise_sharing.py", "cli/test_survey_commands.py", "audit/test_noise.py",
    "papers/test_tabular_ddp.py", "papers/test_dependent_dp.py", "estimate/test_spans.py", "forecast/test_forecast.py", "estimate/test_consistent_release.py", "report/test_report.py", "test_docs.py",
)  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def other_rows_of_a_module():
    """Forget what another module released from, before the fixtures that a whole module shares."""
    forget_rows()


@pytest.fixture(autouse=True)
def other_rows():
    """Forget between tests which rows were released from: tests make the same small frames and files."""
    forget_rows()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for examples in the package and the pages alone: tests have none, and looking takes seconds."""
    found = yield
    return [one for one in found if type(one) is pytest.Module]


def pytest_collection_modifyitems(items):
    unstable = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if unstable:
        raise pytest.UsageError(f"A test is named by an address: {unstable[0]}. Give it an id.")
    places = {file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.split("::")[0].removeprefix("tests/"), len(places)))


def pytest_collection_finish():
    gc.collect()
    gc.freeze()  # what was imported stays: no need to look through it again and again
    gc.set_threshold(10_000)
