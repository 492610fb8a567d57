"""pgmpy: the Chow-Liu tree of all columns."""

import sys
import time

import numpy as np
import pandas as pd
from pgmpy.estimators import TreeSearch  # type: ignore[import-not-found]  # it lives in an environment of its own

codes = np.load(sys.argv[1])[
    :, :50
]  # its time grows with the square of the columns: fifty of them, scaled up
columns = np.load(sys.argv[1]).shape[1]
frame = pd.DataFrame({f"q{n}": codes[:, n] for n in range(codes.shape[1])})
began = time.process_time()
TreeSearch(frame, root_node="q0", n_jobs=1).estimate(estimator_type="chow-liu", show_progress=False)
print((time.process_time() - began) * (columns / codes.shape[1]) ** 2)
