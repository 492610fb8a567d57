"""The same task in other libraries, each in a virtual environment of its own: noisy counts of 100 groups."""
