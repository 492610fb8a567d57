"""A corpus of bad files and calls: each one is refused in a line, soon, without a charge and without a word of the rows."""
