"""What to expect of a batch before anything is spent: errors, and every way to protect it.

draft: noise and shapes ─> forecast: the error of each answer ─> wanted: the loss that an accuracy takes
ways: plain noise and what it really leaks, and the noise that each theorem asks for
rivals: the same promise otherwise ─> prospects: what each answer will be good for ─> remedies: what would help
"""
