"""Try what people install: the core and each extra, in environments made anew from a wheel of this checkout.

Each goes from a table to a verified release, and does the one thing that its extra is for. Run `make installs`, or this
file with the names of a few extras.
"""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
START = "from entwined.cli import main; main()"
JOURNEY = (
    ("approve", "schema.toml", "--yes"),
    ("plan", "release.toml"),
    ("release", "release.toml", "-o", "out", "--yes"),
    ("verify", "out/certificate.json"),
)
WRITE_SURVEY = """
import pandas, pyreadstat
rows = pandas.DataFrame({"household": [n // 3 for n in range(120)], "vote": [float(n % 2) for n in range(120)]})
pyreadstat.write_sav(rows, "people.sav", variable_value_labels={"vote": {0.0: "no", 1.0: "yes"}})
"""


@dataclass(frozen=True)
class Install:
    """An environment with entwined in it."""

    home: Path

    @classmethod
    def fresh(cls, home, like=None):
        """Make an empty one, or one that begins with the packages of another: pip would only copy them again."""
        venv.create(home, with_pip=False, symlinks=True)
        made = cls(home)
        if like is not None:
            shutil.copytree(like.packages, made.packages, copy_function=os.link, dirs_exist_ok=True)
        return made

    @property
    def packages(self):
        (found,) = self.home.glob("lib/python*/site-packages")
        return found

    def add(self, pip, wanted):
        options = (
            "--quiet",
            "--disable-pip-version-check",
            "--no-compile",
            "--constraint",
            HERE / "constraints.txt",
        )
        done([*pip, "--python", self.home / "bin" / "python", "install", *options, wanted], HERE)

    def python(self, code, *arguments, folder, fails=False):
        return done([self.home / "bin" / "python", "-c", code, *arguments], folder, fails=fails)

    def entwined(self, *arguments, folder, fails=False):
        return self.python(START, *arguments, folder=folder, fails=fails)

    def goes_the_whole_path(self, table, folder):
        self.entwined("init", table, folder=folder)
        said = "".join(self.entwined(*step, folder=folder) for step in JOURNEY)
        must("Valid." in said, said)
        return said, {path.name for path in (folder / "out").iterdir()}


def done(command, folder, *, fails=False):
    """Run a command without the surroundings of this one, and give what it said."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
    ended = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=clean
        | {"XDG_STATE_HOME": str(Path(folder) / "state")},  # what another install released is not ours
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    said = ended.stdout + ended.stderr
    must(bool(ended.returncode) == fails, f"{' '.join(map(str, command[1:]))[:200]}:\n{said}")
    return said


def must(holds, said):
    if not holds:
        sys.exit(said)


def of_core(core, folder):
    _, files = core.goes_the_whole_path("people.csv", folder)
    must("<svg" in (folder / "out" / "report.html").read_text(), "the report has no chart")
    must(
        files
        == {
            "certificate.json",
            "plan.json",
            "release.json",
            "report.html",
            "schema.toml",
            "values.csv",
            "values.parquet",
        },
        files,
    )
    said = core.entwined(
        "release", "release.toml", "-o", "x", "--format", "xlsx", "--yes", folder=folder, fails=True
    )
    must("pip install 'entwined[excel]'" in said, said)
    said = core.entwined("serve", ".", folder=folder, fails=True)
    must("pip install 'entwined[web]'" in said, said)
    for table, extra in (
        ("people.sav", "survey"),
        ("postgresql://127.0.0.1:9/x?table=t", "postgres"),
        ("spark://local?table=t", "spark"),
    ):
        (folder / "people.sav").touch()
        said = core.entwined("describe", table, "-o", "other.toml", folder=folder, fails=True)
        must(f"pip install 'entwined[{extra}]'" in said, said)


def of_demo(demo, folder):
    demo.goes_the_whole_path("people.csv", folder)
    said = demo.entwined("demo", "shown", folder=folder)
    must("Valid." in said and (folder / "shown" / "out" / "report.html").is_file(), said)


def of_excel(excel, folder):
    excel.goes_the_whole_path("people.csv", folder)
    excel.entwined("release", "release.toml", "-o", "book", "--format", "xlsx", "--yes", folder=folder)
    must((folder / "book" / "values.xlsx").is_file(), "there is no workbook")


def of_papers(papers, folder):
    papers.goes_the_whole_path("people.csv", folder)
    papers.entwined("paper", "golden", "-o", "paper", folder=folder)
    must((folder / "paper" / "golden.svg").is_file(), "the figure of the paper is not there")


def of_postgres(postgres, folder):
    postgres.goes_the_whole_path("people.csv", folder)
    postgres.python("import ibis.backends.postgres, psycopg; psycopg.pq.version()", folder=folder)
    said = postgres.entwined(
        "describe", "postgresql://127.0.0.1:9/x?table=t", "-o", "other.toml", folder=folder, fails=True
    )
    must("'t' cannot be opened. Check the URL" in said, said)


def of_sign(sign, folder):
    sign.goes_the_whole_path("people.csv", folder)
    sign.entwined("key", "new", "holder.key", folder=folder)
    sign.entwined("release", "release.toml", "-o", "signed", "--key", "holder.key", "--yes", folder=folder)
    must("Signed with the key" in sign.entwined("verify", "signed/certificate.json", folder=folder), "no key")


def of_spark(spark, folder):
    spark.goes_the_whole_path("people.csv", folder)
    spark.python("import ibis.backends.pyspark, pyspark.sql, entwined.tables.spark", folder=folder)


def of_survey(survey, folder):
    survey.python(WRITE_SURVEY, folder=folder)
    survey.goes_the_whole_path("people.sav", folder)


def of_web(web, folder):
    web.goes_the_whole_path("people.csv", folder)
    web.python("import entwined.web.app, uvicorn", folder=folder)
    said = web.entwined("serve", ".", "--host", "192.0.2.1", folder=folder, fails=True)
    must("exact names" in said, said)


TRIED = {
    "demo": of_demo,
    "excel": of_excel,
    "papers": of_papers,
    "postgres": of_postgres,
    "sign": of_sign,
    "spark": of_spark,
    "survey": of_survey,
    "web": of_web,
}


def write_people(folder):
    folder.mkdir()
    with (folder / "people.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [(number // 3, "mf"[number % 2], 20 + number % 50) for number in range(120)]
        csv.writer(file).writerows([("household", "sex", "age"), *rows])
    return folder


def main():
    """Try them all; the first that fails is the end."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="entwined-installs-") as name:
        place = Path(name)
        venv.create(place / "installer", with_pip=True, symlinks=True)
        pip = (place / "installer" / "bin" / "python", "-m", "pip")
        done(
            [
                *pip,
                "wheel",
                "--quiet",
                "--disable-pip-version-check",
                "--no-deps",
                "--wheel-dir",
                place,
                HERE,
            ],
            HERE,
        )
        (wheel,) = place.glob("entwined-*.whl")
        core = Install.fresh(place / "core")
        core.add(pip, wheel)
        of_core(core, write_people(place / "with core"))
        print(f"core      {time.perf_counter() - begun:5.1f} s", flush=True)
        for extra in sys.argv[1:] or TRIED:
            at = time.perf_counter()
            install = Install.fresh(place / extra, like=core)
            install.add(pip, f"{wheel}[{extra}]")
            TRIED[extra](install, write_people(place / f"with {extra}"))
            shutil.rmtree(install.home)
            print(f"{extra:<9} {time.perf_counter() - at:5.1f} s", flush=True)
    print(f"all       {time.perf_counter() - begun:5.1f} s")


if __name__ == "__main__":
    main()
