"""Private computations without their rows: each is a `Mechanism` that the door admits."""
