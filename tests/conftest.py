"""Make the oracle and the draws importable by the tests, and set how much hypothesis tries."""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="entwined-state-")  # no test finds what another left
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile(
    "every commit", max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("every commit")
