"""diffprivlib: a histogram with declared edges."""

import sys
import time

import numpy as np
from diffprivlib import tools

codes = np.load(sys.argv[1])
best = float("inf")
for _ in range(5):
    began = time.perf_counter()
    tools.histogram(codes, epsilon=1.0, bins=100, range=(0, 100))
    best = min(best, time.perf_counter() - began)
print(best)
