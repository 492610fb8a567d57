"""SQL that says more than can be promised, reaches for other tables, or is none."""

# ruff: noqa: S608  (texts are put together here to be refused, or run on made-up rows)

from corpus.case import Case, each

TEXTS = [
    "", " ", ";", "--", "/*", "SELECT", "SELECT *", "SELECT * FROM t", "SELECT who FROM t", "SELECT age FROM t", "SELECT 1", "SELECT 1 FROM t", "SELECT count(*)",
    "SELECT count(*) FROM t; DROP TABLE t", "SELECT count(*) FROM t; SELECT count(*) FROM t", "SELECT count(*) FROM other", "SELECT count(*) FROM t, t",
    "SELECT count(*) FROM t JOIN t u ON true", "SELECT count(*) FROM t UNION SELECT count(*) FROM t", "SELECT count(*) FROM (SELECT * FROM t)", "WITH x AS (SELECT 1) SELECT count(*) FROM t",
    "SELECT count(*) FROM read_csv('/etc/passwd')", "SELECT count(*) FROM '/etc/passwd'", 'SELECT count(*) FROM "survey.csv"', "SELECT count(*) FROM main.t", "SELECT count(*) FROM information_schema.tables",
    "SELECT count(*) FROM glob('/*')", "SELECT count(*) FROM read_text('survey.csv')", "SELECT content FROM read_blob('survey.csv')",
    "COPY t TO 'trapped'", "COPY (SELECT 1) TO 'trapped'", "ATTACH 'trapped'", "INSTALL httpfs", "LOAD httpfs", "PRAGMA enable_profiling", "SET memory_limit = '1GB'", "EXPORT DATABASE 'trapped'",
    "CREATE TABLE x AS SELECT 1", "DROP TABLE t", "DELETE FROM t", "INSERT INTO t VALUES (1)", "UPDATE t SET age = 1", "TRUNCATE t", "ALTER TABLE t ADD x int", "GRANT ALL ON t TO public", "EXPLAIN SELECT count(*) FROM t",
    "EXPLAIN ANALYZE SELECT count(*) FROM t", "DESCRIBE t", "SHOW TABLES", "CALL x()", "VACUUM", "BEGIN", "COMMIT", "EXECUTE x", "PREPARE x AS SELECT 1", "DO $$ $$", "LISTEN x", "SUMMARIZE t",
    "SELECT count(*) FROM t WHERE", "SELECT count(*) FROM t WHERE age", "SELECT count(*) FROM t WHERE age / 0 > 1", "SELECT count(*) FROM t WHERE 1 = 1", "SELECT count(*) FROM t WHERE error('x')",
    "SELECT count(*) FROM t WHERE CAST(who AS INT) > 1", "SELECT count(*) FROM t WHERE who = 'x'", "SELECT count(*) FROM t WHERE who LIKE '%'", "SELECT count(*) FROM t WHERE regexp_matches(region, '(a+)+$')",
    "SELECT count(*) FROM t WHERE age IN (SELECT age FROM t)", "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM t)", "SELECT count(*) FROM t WHERE age = (SELECT max(age) FROM t)",
    "SELECT count(*) FROM t WHERE age > income", "SELECT count(*) FROM t WHERE age + 1 > 2", "SELECT count(*) FROM t WHERE nothing > 1", "SELECT count(*) FROM t WHERE age > 'x'", "SELECT count(*) FROM t WHERE age > 1e999999999",
    "SELECT count(*) FROM t WHERE random() < 0.5", "SELECT count(*) FROM t WHERE pg_sleep(10) IS NULL", "SELECT count(*) FROM t WHERE age > ?", "SELECT count(*) FROM t WHERE age > $1", "SELECT count(*) FROM t WHERE age > :x",
    "SELECT count(*) FROM t WHERE CASE WHEN age > 1 THEN error('x') ELSE true END", "SELECT count(*) FROM t WHERE age > 5 AND age < 3", "SELECT count(*) FROM t WHERE current_date > 1",
    "SELECT sum(age * 2) FROM t", "SELECT sum(1 / (age - 5)) FROM t", "SELECT sum(CASE WHEN who = 'x' THEN 1e9 ELSE 0 END) FROM t", "SELECT sum(who) FROM t", "SELECT avg(region) FROM t", "SELECT sum(*) FROM t", "SELECT count(DISTINCT who) FROM t",
    "SELECT count(age, income) FROM t", "SELECT sum(age) FILTER (WHERE age > 1) FROM t", "SELECT sum(age) OVER () FROM t", "SELECT first(who) FROM t", "SELECT any_value(who) FROM t", "SELECT string_agg(who, ',') FROM t", "SELECT list(who) FROM t",
    "SELECT mode(who) FROM t", "SELECT arg_max(who, age) FROM t", "SELECT histogram(who) FROM t", "SELECT approx_count_distinct(who) FROM t", "SELECT stddev(age) FROM t", "SELECT variance(age) FROM t", "SELECT corr(age, income) FROM t", "SELECT sum(age) / count(*) FROM t",
    "SELECT count(*) + 1 FROM t", "SELECT -count(*) FROM t", "SELECT max(who) FROM t", "SELECT quantile_cont(age, 2) FROM t", "SELECT quantile_cont(age, -0.5) FROM t", "SELECT quantile_cont(age, nan) FROM t", "SELECT quantile_cont(age, age) FROM t",
    "SELECT count(*) FROM t GROUP BY who", "SELECT who, count(*) FROM t GROUP BY who", "SELECT region, count(*) FROM t", "SELECT count(*) FROM t GROUP BY 1", "SELECT count(*) FROM t GROUP BY ALL", "SELECT count(*) FROM t GROUP BY age + 1",
    "SELECT count(*) FROM t GROUP BY ROLLUP (region)", "SELECT count(*) FROM t GROUP BY GROUPING SETS ((region))", "SELECT count(*) FROM t GROUP BY region HAVING count(*) > 5", "SELECT count(*) FROM t ORDER BY 1", "SELECT count(*) FROM t LIMIT 1", "SELECT DISTINCT count(*) FROM t",
    "SELECT count(*) FROM t TABLESAMPLE 10%", "SELECT count(*) FROM t USING SAMPLE 10 (reservoir, 42)", "SELECT count(*) INTO x FROM t", "SELECT count(*) FROM t FOR UPDATE", "SELECT count(*) FROM t QUALIFY true", "SELECT count(*) FROM t WINDOW w AS ()", "SELECT count(*), count(*) FROM t",
    "SELECT avg(age) FROM t GROUP BY income", "SELECT count(*) AS a, sum(age) AS a FROM t", "SELECT count(*) FROM t AS OF '2020'", "SELECT TOP 1 count(*) FROM t", "FROM t", "FROM t SELECT count(*)", "TABLE t", "VALUES (1)",
    "select count(*) from t where age > 1 --", "SELECT /* x */ count(*) FROM t WHERE /*! 1=1 */ age", "SELECT count(*) FROM t\0", "SELECT count(*) FROM t WHERE region = 'a\0'", "ＳＥＬＥＣＴ count(*) FROM t", "SELECT count(*) FROM t WHERE аge > 1", "sElEcT \u202e count(*) FROM x",
    "SELECT seed(1), count(*) FROM t", "SELECT setseed(0.5)", "SELECT count(*) FROM t WHERE age > 1 OPTION (SEED 1)",
]  # fmt: skip
LARGE = [
    ("200 kB", "SELECT count(*) FROM t WHERE age > 1" + " " * 200_000),
    ("10,000 brackets", "SELECT count(*) FROM t WHERE " + "(" * 10_000 + "age > 1" + ")" * 10_000),
    ("open brackets", "SELECT count(*) FROM t WHERE " + "(" * 20_000),
    ("10,000 NOTs", "SELECT count(*) FROM t WHERE " + "NOT " * 10_000 + "age > 1"),
    (
        "5,000 ORs of two",
        "SELECT count(*) FROM t WHERE "
        + " OR ".join(f"(age = {at % 100} AND income = {at})" for at in range(5000)),
    ),
    ("a text of 100,000 letters", "SELECT count(*) FROM t WHERE region = '" + "x" * 100_000 + "'"),
    ("a number of 10,000 digits", "SELECT count(*) FROM t WHERE age > " + "9" * 10_000),
    ("a column of 10,000 letters", f"SELECT sum({'x' * 10_000}) FROM t"),
    (
        "500 aggregates",
        "SELECT " + ", ".join(f"quantile_cont(age, 0.{at:04})" for at in range(500)) + " FROM t",
    ),
    ("an IN of 20,000", "SELECT count(*) FROM t WHERE age IN (" + ", ".join(["1"] * 20_000) + ")"),
    ("CASE in CASE", "SELECT count(*) FROM t WHERE " + "CASE WHEN true THEN " * 2000 + "1" + " END" * 2000),
    ("subqueries", "SELECT count(*) FROM " + "(SELECT * FROM " * 1000 + "t" + ")" * 1000),
    ("minus signs", "SELECT count(*) FROM t WHERE age > " + "- " * 20_000 + "1"),
    ("quotes", "SELECT count(*) FROM t WHERE region = " + "'" * 30_001),
    ("comments", "SELECT count(*) FROM t " + "/*" * 20_000),
    ("commas", "SELECT " + "," * 20_000 + " FROM t"),
]
GIVEN = [
    *((f"{text[:60]!r} of {len(text)}", text, "") for text in TEXTS),
    *((name, text, "") for name, text in LARGE),
]
CASES: list[Case] = [
    *each(
        "SQL",
        GIVEN,
        lambda place, text: ["sql", "--yes", "--request", place.request(), "--loss=0.5", "--", text],
    ),
    *each(
        "SQL in a request",
        [one for one in GIVEN if "\0" not in one[1]][::6],
        lambda place, text: place.release(query={"sql": text}),
    ),
    *each(
        "SQL by options",
        [
            ("no schema", ["--table", "survey.csv", "--ledger", "ledger.sqlite"], "--schema"),
            ("no table", ["--schema", "schema.toml", "--ledger", "ledger.sqlite"], "--table"),
            ("no ledger", ["--schema", "schema.toml", "--table", "survey.csv"], "--ledger"),
            (
                "no cap",
                ["--schema", "schema.toml", "--table", "survey.csv", "--ledger", "ledger.sqlite"],
                "cap",
            ),
            (
                "a table of no kind",
                ["--schema", "schema.toml", "--table", "a'b", "--ledger", "ledger.sqlite", "--cap", "1"],
                "",
            ),
            (
                "an empty ledger name",
                ["--schema", "schema.toml", "--table", "survey.csv", "--ledger", "", "--cap", "1"],
                "--ledger",
            ),
            (
                "a ledger in a file",
                [
                    "--schema",
                    "schema.toml",
                    "--table",
                    "survey.csv",
                    "--ledger",
                    "survey.csv/x",
                    "--cap",
                    "1",
                ],
                "",
            ),
            (
                "the table as ledger",
                ["--schema", "schema.toml", "--table", "survey.csv", "--ledger", "survey.csv", "--cap", "1"],
                "",
            ),
            (
                "the schema as model",
                [
                    "--schema",
                    "schema.toml",
                    "--table",
                    "survey.csv",
                    "--ledger",
                    "l.sqlite",
                    "--cap",
                    "1",
                    "--model",
                    "schema.toml",
                ],
                "",
            ),
            (
                "the table as schema",
                ["--schema", "survey.csv", "--table", "survey.csv", "--ledger", "l.sqlite", "--cap", "1"],
                "",
            ),
            ("no request", [], "release.toml"),
            ("a request that is not there", ["--request", "nothing.toml"], "no such file"),
            (
                "a ledger URL of another kind",
                ["--schema", "schema.toml", "--table", "survey.csv", "--ledger", "mysql://x/y", "--cap", "1"],
                "",
            ),
        ],
        lambda _, more: ["sql", "--yes", "SELECT count(*) FROM t", "--loss", "1", *more],
    ),
]
