"""Keep tests out of the holder's folders, and set how much hypothesis tries."""

import atexit
import os
import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, settings

os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="entwined-state-")  # no test finds what another left
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
pytest.register_assert_rewrite("support")
settings.register_profile(
    "every commit", max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("every commit")
