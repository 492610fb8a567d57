"""Where the bits come from: the operating system, fresh in every process and thread, with nothing to seed."""

import ast
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import entwined
from entwined.noise import DiscreteGaussian, DiscreteLaplace, ExponentialChoice

ROOT = Path(entwined.__file__).parent
PATH_OF_A_RELEASE = ["noise", "release", "ledger", "tables", "queries", "schema"]
TOYS = {"random", "numpy.random"}

FORKED = """
import os, sys, warnings
from fractions import Fraction
warnings.simplefilter("ignore")
import numpy as np
from entwined.noise import DiscreteLaplace, DiscreteGaussian, ExponentialChoice
laplace, gaussian = DiscreteLaplace(Fraction(2**40)), DiscreteGaussian(Fraction(2**40))
pick, toy = ExponentialChoice(Fraction(1)), np.random.default_rng()
warm = laplace.add([0]), gaussian.add([0]), pick.choose([0] * 8), toy.integers(9)   # all before the fork
for child in range(6):
    if os.fork() == 0:
        row = [*laplace.add(np.zeros(3, dtype=np.int64)), *gaussian.add([0, 0])]
        row += [pick.choose_from_runs([0], [2**62]), toy.integers(2**62)]
        os.write(1, (" ".join(map(str, row)) + "\\n").encode())
        os._exit(0)
for child in range(6):
    os.wait()
"""

SEEDED = """
import random
from fractions import Fraction
import numpy as np
random.seed(0)
np.random.seed(0)
from entwined.noise import DiscreteLaplace, DiscreteGaussian, ExponentialChoice
toy = np.random.randint(2**62)
row = [*DiscreteLaplace(Fraction(2**40)).add([0, 0]), *DiscreteGaussian(Fraction(2**40)).add([0])]
print(*row, ExponentialChoice(Fraction(1)).choose_from_runs([0], [2**62]), toy)
"""


def toys_in(source):
    """The places where a source text reaches for a generator that is no cryptographic one."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name in TOYS]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found += [node.module] if node.module in TOYS else []
            found += [
                "numpy.random" for alias in node.names if (node.module, alias.name) == ("numpy", "random")
            ]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found += ["numpy.random"] if (node.value.id in {"np", "numpy"} and node.attr == "random") else []
    return found


@pytest.mark.parametrize(
    "planted",
    [
        "import random",
        "import random as dice",
        "from random import Random",
        "import numpy.random",
        "from numpy import random",
        "from numpy.random import default_rng",
        "import numpy as np\nx = np.random.default_rng(0)",
        "def f():\n    import random\n    return random.random()",
    ],
)
def test_the_check_sees_what_it_looks_for(planted):
    assert toys_in(planted)


def test_no_release_path_uses_a_toy_generator():
    sources = [path for part in PATH_OF_A_RELEASE for path in (ROOT / part).rglob("*.py")]
    assert any("noise" in path.parts for path in sources)
    assert {
        str(path.relative_to(ROOT)): toys for path in sources if (toys := toys_in(path.read_text("utf-8")))
    } == {}
    assert not toys_in("import secrets\nx = secrets.randbits(3)\nself.random = 1")


def run(script, **environment):
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | environment)
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


def test_forked_workers_draw_differently():
    rows = run(FORKED)
    assert len(rows) == 6
    ours = [number for row in rows for number in row[:-1]]
    assert len(set(ours)) == len(ours) == 36
    assert (
        len({row[-1] for row in rows}) == 1
    )  # numpy's generator, warm before the fork, draws the same in all


def test_fresh_processes_and_seeds_around_us_change_nothing():
    seeds = {"PYTHONHASHSEED": "0", "OPENDP_SEED": "0", "ENTWINED_SEED": "0", "SEED": "0"}
    rows = [run(SEEDED, **seeds)[0] for _ in range(3)]
    ours = [number for row in rows for number in row[:-1]]
    assert len(set(ours)) == len(ours) == 12
    assert len({row[-1] for row in rows}) == 1  # the seeds did reach numpy


def test_threads_draw_differently():
    laplace, gaussian = DiscreteLaplace(Fraction(2**40)), DiscreteGaussian(Fraction(2**40))
    pick = ExponentialChoice(Fraction(1))

    def work(_):
        return [
            *laplace.add(np.zeros(5, dtype=np.int64)),
            *gaussian.add([0]),
            pick.choose_from_runs([0], [2**62]),
        ]

    with ThreadPoolExecutor(8) as pool:
        drawn = [int(number) for row in pool.map(work, range(40)) for number in row]
    assert (
        len(set(drawn)) >= len(drawn) - 1
    )  # 240 draws at this scale: a chance repeat has probability below 1e-7
