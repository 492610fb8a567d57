"""pyagrum: greedy search for a network of ten columns at a time."""

import sys
import time

import numpy as np
import pandas as pd
import pyagrum as gum

codes = np.load(sys.argv[1])
frame = pd.DataFrame({f"q{n}": codes[:, n].astype(str) for n in range(codes.shape[1])})
began = time.process_time()
for first in range(0, codes.shape[1], 10):
    learner = gum.BNLearner(frame.iloc[:, first : first + 10])  # type: ignore[no-untyped-call]  # it has no types
    learner.useGreedyHillClimbing()
    learner.learnBN()
print(time.process_time() - began)
