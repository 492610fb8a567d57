"""What to expect of a batch before anything is spent: errors, and every way to protect it."""
