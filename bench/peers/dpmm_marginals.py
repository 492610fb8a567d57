"""dpmm: private-pgm's MST or AIM on cells that are coded already, its domain given, AIM's law of some megabytes."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from dpmm.models.aim import AIMGM  # type: ignore[import-not-found]  # it lives in an environment of its own
from dpmm.models.mst import MSTGM  # type: ignore[import-not-found]

folder, name, epsilon, delta = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
columns, megabytes = int(sys.argv[5]), float(sys.argv[6])
sizes = dict(list(json.loads((folder / "sizes.json").read_text()).items())[:columns])
cells = np.load(folder / "cells.npy")[:, :columns]
frame = pd.DataFrame(cells, columns=list(sizes))
made = {"mst": MSTGM, "aim": AIMGM}[name]
options = {"n_iters": 1000, "n_jobs": 1, "max_model_size": megabytes} if name == "aim" else {}
model = made(epsilon=epsilon, delta=delta, domain=sizes, **options)
model.set_domain(sizes)
model.set_random_state(np.random.RandomState())
model.fit(frame)
drawn = model.generate(n_records=len(cells))
np.save(folder / "made.npy", drawn[list(sizes)].to_numpy().astype(np.int64))
